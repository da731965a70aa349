//! Draws a trace as an SVG picture with a lane for each worker and a colour for each kernel. It made the picture in the
//! README.
//!
//! ```text
//! cargo run --release --example cholesky -- --n 2048 --nb 256
//! cargo run --release --example draw_trace -- cholesky.trace.json --out cholesky.svg
//! ```
//!
//! The input is the Chrome trace that any program writes with `SUPERSCALAR_TRACE=file.json`. The picture shows only
//! slices; use a trace viewer for arrows and counters. With `--copies` it also shows the copies between memories, in a
//! colour for each sender.

use clap::Parser;
use serde_json::Value;
use std::{collections::BTreeMap, error::Error, fmt::Write, fs, path::PathBuf};

const WIDTH: f64 = 1000.0;
/// The space for the names of lanes: alone, and with their device.
const MARGINS: [f64; 2] = [70.0, 160.0];
const LANE: f64 = 40.0;
/// Colours that colour-blind readers can distinguish: those of Okabe and Ito, and four of Tol's.
const COLOURS: [&str; 11] = [
    "#0072b2", "#d55e00", "#009e73", "#e69f00", "#56b4e9", "#cc79a7", "#f0e442", "#bbbbbb", "#332288", "#882255",
    "#999933",
];

/// Draws a Chrome trace as an SVG picture.
#[derive(Parser)]
struct Arguments {
    /// The trace.
    #[arg(default_value = "cholesky.trace.json")]
    trace: PathBuf,
    /// File for the picture.
    #[arg(long, default_value = "cholesky.svg")]
    out: PathBuf,
    /// Also draws the program's own spans.
    #[arg(long)]
    host: bool,
    /// Also draws the copies between memories.
    #[arg(long)]
    copies: bool,
}

/// A lane of the trace: its process id and thread id.
type LaneId = (u64, u64);

/// The data of a slice that the picture shows.
struct Slice {
    name: String,
    index: String,
    lane: LaneId,
    start_us: f64,
    length_us: f64,
    /// The number of slices of its lane that enclose it.
    depth: usize,
}

impl Slice {
    fn end_us(&self) -> f64 {
        self.start_us + self.length_us
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let text = fs::read_to_string(&arguments.trace)
        .map_err(|error| format!("{}: {error} (the cholesky example writes one)", arguments.trace.display()))?;
    let trace: Value = serde_json::from_str(&text)?;
    let events = trace["traceEvents"].as_array().ok_or("the file has no list `traceEvents`")?;
    let hosts: Vec<LaneId> =
        events.iter().filter(|event| arguments.host && event["args"]["kind"] == "host").filter_map(lane).collect();
    let is_drawn = |event: &&Value| {
        event["cat"] == "task"
            || arguments.copies && event["cat"] == "transfer"
            || lane(event).is_some_and(|lane| hosts.contains(&lane))
    };
    let slices = events.iter().filter(|event| event["ph"] == "X").filter(is_drawn).filter_map(slice).collect();
    let slices = nested(slices);
    let lanes = lane_names(events, &slices, arguments.copies);
    let picture = draw(&slices, &lanes, MARGINS[usize::from(arguments.copies)])?;
    if slices.is_empty() {
        return Err("the trace has no tasks".into());
    }
    if picture.matches("<title>").count() != slices.len() {
        return Err("a slice is missing in the picture".into());
    }
    fs::write(&arguments.out, &picture)?;
    let (out, count) = (arguments.out.display(), slices.len());
    println!("{out}: {count} slices on {} lanes, {} bytes", lanes.len(), picture.len());
    Ok(())
}

fn slice(event: &Value) -> Option<Slice> {
    let index =
        event["args"]["index"].as_array().map_or(Vec::new(), |index| index.iter().map(Value::to_string).collect());
    let sender = event["args"]["from"].as_str().filter(|_| event["cat"] == "transfer");
    let name = sender.map_or_else(|| event["name"].as_str().map(escape), |from| Some(format!("from {}", short(from))));
    Some(Slice {
        name: name?,
        index: index.join(" "),
        lane: lane(event)?,
        start_us: event["ts"].as_f64()?,
        length_us: event["dur"].as_f64()?,
        depth: 0,
    })
}

/// Sorts the slices so that each follows those that enclose it, and sets their depths.
fn nested(mut slices: Vec<Slice>) -> Vec<Slice> {
    let order = |a: &Slice, b: &Slice| {
        a.lane.cmp(&b.lane).then(a.start_us.total_cmp(&b.start_us)).then(b.length_us.total_cmp(&a.length_us))
    };
    slices.sort_by(order);
    let mut around: Vec<(LaneId, f64)> = Vec::new();
    for slice in &mut slices {
        around.retain(|&(lane, end_us)| lane == slice.lane && end_us > slice.start_us);
        slice.depth = around.len();
        around.push((slice.lane, slice.end_us()));
    }
    slices
}

fn lane(event: &Value) -> Option<LaneId> {
    Some((event["pid"].as_u64()?, event["tid"].as_u64()?))
}

/// Returns the first two parts of a device's name, such as `cuda:0`.
fn short(device: &str) -> String {
    let name = device.split(' ').next().unwrap_or_default();
    escape(&name.splitn(3, ':').take(2).collect::<Vec<_>>().join(":"))
}

/// Returns the lanes that have slices, with their names where the trace states them, after their device's if asked for.
fn lane_names(events: &[Value], slices: &[Slice], with_device: bool) -> BTreeMap<LaneId, String> {
    let mut lanes: BTreeMap<_, _> = slices.iter().map(|slice| (slice.lane, String::new())).collect();
    for event in events.iter().filter(|event| event["name"] == "thread_name") {
        if let (Some(id), Some(name)) = (lane(event), event["args"]["name"].as_str()) {
            let is_device = |event: &&Value| event["name"] == "process_name" && event["pid"] == id.0;
            let device = events.iter().find(is_device).and_then(|event| event["args"]["name"].as_str());
            let device = device.filter(|_| with_device).map_or(String::new(), |device| short(device) + ": ");
            lanes.entry(id).and_modify(|known| *known = device + &escape(name));
        }
    }
    lanes
}

fn draw(slices: &[Slice], lanes: &BTreeMap<LaneId, String>, margin: f64) -> Result<String, std::fmt::Error> {
    let begin = slices.iter().map(|slice| slice.start_us).fold(f64::INFINITY, f64::min);
    let end = slices.iter().map(Slice::end_us).max_by(f64::total_cmp).unwrap_or(begin);
    let scale = (WIDTH - margin - 10.0) / (end - begin).max(1.0);
    let height = 40.0 + LANE * lanes.len() as f64 + 30.0;
    let mut svg =
        format!("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' font-family='sans-serif'>\n");
    writeln!(svg, "<rect width='{WIDTH}' height='{height}' fill='white'/>")?;
    let colours = colours(slices);
    for (at, (name, colour)) in colours.iter().enumerate() {
        let x = margin + ((WIDTH - margin) / colours.len() as f64).min(110.0) * at as f64;
        writeln!(svg, "<rect x='{x}' y='10' width='14' height='14' fill='{colour}'/>")?;
        writeln!(svg, "<text x='{}' y='22' font-size='14'>{name}</text>", x + 20.0)?;
    }
    for (row, (id, name)) in lanes.iter().enumerate() {
        let y = 35.0 + LANE * row as f64;
        writeln!(svg, "<text x='4' y='{}' font-size='13'>{name}</text>", y + 0.6 * LANE)?;
        for slice in slices.iter().filter(|slice| slice.lane == *id) {
            let (x, width) = (margin + (slice.start_us - begin) * scale, slice.length_us * scale);
            let inset = (10.0 * slice.depth as f64).min(LANE - 16.0);
            let (colour, y, tall) = (colours[slice.name.as_str()], y + inset, LANE - 6.0 - inset);
            write!(svg, "<rect x='{x:.1}' y='{y}' width='{width:.1}' height='{tall}' fill='{colour}' stroke='white'")?;
            writeln!(svg, " stroke-width='.5'><title>{} {}</title></rect>", slice.name, slice.index)?;
        }
    }
    draw_axis(&mut svg, (end - begin) * 1e-3, scale * 1e3, (margin, height))?;
    svg.push_str("</svg>\n");
    Ok(svg)
}

/// Returns a colour for each name, in alphabetical order.
fn colours(slices: &[Slice]) -> BTreeMap<&str, &'static str> {
    let names: BTreeMap<&str, ()> = slices.iter().map(|slice| (slice.name.as_str(), ())).collect();
    names.into_keys().zip(COLOURS.into_iter().cycle()).collect()
}

/// Draws an axis with about eight marks at round numbers of milliseconds.
fn draw_axis(svg: &mut String, length_ms: f64, scale: f64, (margin, height): (f64, f64)) -> std::fmt::Result {
    let rough = (length_ms / 8.0).max(1e-3);
    let decade = 10f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|factor| factor * decade).into_iter().find(|step| *step >= rough).unwrap_or(rough);
    for mark in 0..=(length_ms / step) as usize {
        let (ms, y) = (mark as f64 * step, height - 25.0);
        let x = margin + ms * scale;
        writeln!(svg, "<path d='M{x:.1} {y}v6' stroke='black'/>")?;
        writeln!(svg, "<text x='{x:.1}' y='{}' font-size='12' text-anchor='middle'>{ms} ms</text>", y + 20.0)?;
    }
    Ok(())
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
