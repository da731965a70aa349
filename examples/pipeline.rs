//! An image pipeline, written as serial code, that processes several frames at the same time.
//!
//! ```text
//! cargo run --release --example pipeline
//! ```
//!
//! Each frame is decoded, blurred and searched for edges. The edges are counted in a histogram over all frames,
//! compared with the best frame so far, and written to `pipeline.pgm` in order. Every iteration uses the same three
//! buffers. They allow renaming, so the next frame is decoded into a new buffer while the last one is still in use. The
//! remaining hazards order the stages of a frame, and the writes of the frames.

use std::{
    error::Error,
    fs::File,
    io::{self, BufWriter, Write},
};
use superscalar::{
    Reduction, Runtime, TaskSpec,
    recording::{ChromeTrace, Recording},
};
use superscalar_traces::{Trace, analysis::Analysis};

const WIDTH: usize = 320;
const HEIGHT: usize = 240;
const FRAMES: usize = 48;
const STAGES: usize = 6;
const FRAMES_IN_FLIGHT: usize = 6;
const FILE: &str = "pipeline.pgm";

type Image = Vec<u8>;
type Histogram = [u64; 256];

/// The sum of histograms.
struct Sum;

impl Reduction<Histogram> for Sum {
    fn identity() -> Histogram {
        [0; 256]
    }

    fn combine(into: &mut Histogram, part: Histogram) {
        into.iter_mut().zip(part).for_each(|(into, part)| *into += part);
    }
}

/// The frame with the strongest edges so far, the first of several equal ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Best {
    frame: usize,
    strength: u64,
}

impl Best {
    fn offer(&mut self, frame: usize, strength: u64) {
        if strength > self.strength || (strength == self.strength && frame < self.frame) {
            *self = Self { frame, strength };
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // The window limits how far insertion runs ahead, and thereby the number of buffers. A datum has at most eight.
    let rt = Runtime::builder().window(STAGES * FRAMES_IN_FLIGHT).trace(true).build()?;
    let film: Vec<Vec<u8>> = (0..FRAMES).map(|frame| encode(&scene(frame))).collect();
    let (mut out, mut histogram, mut best) = (BufWriter::new(File::create(FILE)?), [0; 256], Best::default());
    let [mut gray, mut smooth, mut edges] = [(); 3].map(|()| blank());
    rt.scope(|s| {
        let (out, histogram, best) = (s.lend(&mut out), s.lend(&mut histogram), s.lend(&mut best));
        let [gray, smooth, edges] = [&mut gray, &mut smooth, &mut edges].map(|image| s.lend(image).renaming(blank));
        let rows = s.scratch(|| vec![0_u16; WIDTH * HEIGHT]);
        for (frame, code) in film.iter().enumerate() {
            let task = |name| TaskSpec::new(name).index(frame as u32);
            s.spawn(task("decode"), gray.write(), |gray| decode(code, gray));
            s.spawn(task("blur"), (gray.read(), smooth.write(), rows.access()), |(gray, smooth, rows)| {
                blur(gray, smooth, rows);
            });
            s.spawn(task("edge"), (smooth.read(), edges.write()), |(smooth, edges)| edge(smooth, edges));
            s.spawn(task("histogram"), (edges.read(), histogram.reduce(Sum)), |(edges, part)| count(edges, part));
            // The result does not depend on the order of the frames, so these accesses commute.
            s.spawn(task("best"), (edges.read(), best.commute()), move |(edges, best)| {
                best.offer(frame, strength(edges));
            });
            // A write may fail; the scope then returns the error with the name of the task.
            s.spawn(task("write"), (edges.read(), out.read_write()), |(edges, out)| write_pgm(out, edges));
        }
    })?;
    out.flush()?;

    let (expected, counts, winner) = serial(&film);
    if std::fs::read(FILE)? != expected || histogram != counts || best != winner {
        return Err("the pipeline's result differs from the serial one".into());
    }
    println!("{FILE}: {FRAMES} frames of {WIDTH} x {HEIGHT}, equal to the serial program's byte by byte");
    println!("histogram: {} pixels; strongest edges in frame {}", histogram.iter().sum::<u64>(), best.frame);
    report(&rt.take_recording().unwrap_or_default(), rt.workers())
}

/// Runs the same program without tasks.
fn serial(film: &[Vec<u8>]) -> (Vec<u8>, Histogram, Best) {
    let [mut gray, mut smooth, mut edges] = [(); 3].map(|()| blank());
    let (mut out, mut histogram, mut best) = (Vec::new(), [0; 256], Best::default());
    let mut rows = vec![0; WIDTH * HEIGHT];
    for (frame, code) in film.iter().enumerate() {
        decode(code, &mut gray);
        blur(&gray, &mut smooth, &mut rows);
        edge(&smooth, &mut edges);
        count(&edges, &mut histogram);
        best.offer(frame, strength(&edges));
        write_pgm(&mut out, &edges).unwrap_or_else(|_| unreachable!("writing into a vector succeeds"));
    }
    (out, histogram, best)
}

/// Prints how many frames were in the pipeline at the same time, and how many tasks ran at the same time.
fn report(recording: &Recording, workers: usize) -> Result<(), Box<dyn Error>> {
    let mut ends = Vec::new();
    for frame in 0..FRAMES {
        let of_frame = |task: &&superscalar::recording::TaskRecord| task.index.as_slice() == [frame as u32];
        let ids: Vec<_> = recording.tasks.iter().filter(of_frame).map(|task| task.id).collect();
        let spans = || recording.spans.iter().filter(|span| ids.contains(&span.task));
        let (begin, end) = (spans().map(|span| span.start_ns).min(), spans().map(|span| span.end_ns).max());
        ends.extend(begin.map(|at| (at, 1)).into_iter().chain(end.map(|at| (at, -1))));
    }
    ends.sort_unstable();
    let in_flight = ends.iter().scan(0, |now, (_, step)| {
        *now += step;
        Some(*now)
    });
    println!("frames in flight: up to {}", in_flight.max().unwrap_or(0));

    let mut trace = Vec::new();
    ChromeTrace::new(recording).write(&mut trace)?;
    let Analysis { overview, parallelism, .. } = Analysis::new(&Trace::read(&*trace)?);
    println!(
        "{:.1} ms of work in {:.1} ms: {:.2} of {workers} workers busy",
        overview.work_ns as f64 * 1e-6,
        overview.wall_ns as f64 * 1e-6,
        parallelism.achieved
    );
    let possible = parallelism.average;
    println!("the hazards alone would allow {possible:.1}: the average parallelism of the recorded graph");
    Ok(())
}

fn blank() -> Image {
    vec![0; WIDTH * HEIGHT]
}

/// Returns the image of a bright disc that moves over a coarse gradient.
fn scene(frame: usize) -> Image {
    let angle = frame as f64 * 0.13;
    let (x0, y0) = (160.0 + 110.0 * angle.cos(), 120.0 + 70.0 * (1.7 * angle).sin());
    let radius = 20.0 + frame as f64 / 2.0;
    let pixel = |at: usize| {
        let (x, y) = ((at % WIDTH) as f64, (at / WIDTH) as f64);
        let inside = (x - x0).powi(2) + (y - y0).powi(2) < radius * radius;
        if inside { 240 } else { (x / 32.0) as u8 * 8 + (y / 24.0) as u8 * 6 }
    };
    (0..WIDTH * HEIGHT).map(pixel).collect()
}

/// Encodes an image as run lengths: pairs of a count and a value.
fn encode(image: &[u8]) -> Vec<u8> {
    let runs = image.chunk_by(|a, b| a == b).flat_map(|run| run.chunks(255));
    runs.flat_map(|run| [run.len() as u8, run[0]]).collect()
}

fn decode(code: &[u8], image: &mut Image) {
    image.clear();
    for run in code.chunks_exact(2) {
        image.resize(image.len() + usize::from(run[0]), run[1]);
    }
}

/// Computes the mean of 7 x 7 neighbours from sums along rows and then along columns. Pixels near the border are zero.
fn blur(from: &[u8], to: &mut [u8], rows: &mut [u16]) {
    const REACH: usize = 3;
    const SIDE: usize = 2 * REACH + 1;
    for y in 0..HEIGHT {
        for x in REACH..WIDTH - REACH {
            let at = y * WIDTH + x;
            rows[at] = from[at - REACH..=at + REACH].iter().map(|&pixel| u16::from(pixel)).sum();
        }
    }
    to.fill(0);
    for y in REACH..HEIGHT - REACH {
        for x in REACH..WIDTH - REACH {
            let sum: u32 = (y - REACH..=y + REACH).map(|y| u32::from(rows[y * WIDTH + x])).sum();
            to[y * WIDTH + x] = (sum / (SIDE * SIDE) as u32) as u8;
        }
    }
}

/// Computes the length of the gradient of the brightness with Sobel masks.
fn edge(from: &[u8], to: &mut [u8]) {
    let at = |x: usize, y: usize| i32::from(from[y * WIDTH + x]);
    to.fill(0);
    for y in 1..HEIGHT - 1 {
        for x in 1..WIDTH - 1 {
            let column = |x| at(x, y - 1) + 2 * at(x, y) + at(x, y + 1);
            let row = |y| at(x - 1, y) + 2 * at(x, y) + at(x + 1, y);
            let (dx, dy) = (column(x + 1) - column(x - 1), row(y + 1) - row(y - 1));
            to[y * WIDTH + x] = f64::from(dx * dx + dy * dy).sqrt().min(255.0) as u8;
        }
    }
}

fn count(image: &[u8], into: &mut Histogram) {
    image.iter().for_each(|&pixel| into[usize::from(pixel)] += 1);
}

fn strength(image: &[u8]) -> u64 {
    image.iter().map(|&pixel| u64::from(pixel)).sum()
}

/// Writes one frame in the portable graymap format, which allows several frames in a file.
fn write_pgm(out: &mut impl Write, image: &[u8]) -> io::Result<()> {
    write!(out, "P5\n{WIDTH} {HEIGHT}\n255\n")?;
    out.write_all(image)
}
