//! Tests reports as files and in a browser.
//!
//! `tests/report_works.py` controls the browser. It skips with a note if Chromium is missing, and fails instead if
//! `REQUIRE_CHROME=1` is set.

use std::{fs, io, path::PathBuf, process::Command};
use superscalar_traces::{analysis::Analysis, report::Report, *};

const MS: u64 = 1_000_000;
/// A name that would run a script or end its element if it were not escaped.
const HOSTILE: &str =
    r#"</script><script>window.ran=1</script><img src=x onerror="window.ran=2"><!--<script>{{names}}'&amp;"#;

fn lane(name: &str, process: &str, kind: LaneKind) -> Lane {
    Lane { name: name.to_owned(), process: process.to_owned(), kind }
}

/// A task of kernel `id % 3` at 100 ms and later.
fn task(id: u64, lane: u32, start_ns: u64, length_ns: u64) -> Task {
    let start_ns = 100 * MS + start_ns;
    Task {
        id,
        kernel: (id % 3) as u32,
        site: Some(0),
        lane,
        start_ns,
        end_ns: start_ns + length_ns,
        inserted_ns: Some(start_ns - MS),
        priority: -(id as i32),
        index: TileIndex::new(&[id as u32 / 3, 1]).expect("two indices"),
        outcome: Outcome::Completed,
        level: 3,
        flops: 2e9,
        bytes: 1e6,
    }
}

fn activity(kind: ActivityKind, name: u32, lane: u32, start_ns: u64, length_ns: u64) -> Activity {
    let start_ns = 100 * MS + start_ns;
    let is_moving = kind == ActivityKind::Transfer;
    let (bytes, link) = if is_moving { (1 << 20, Some((1, 2))) } else { (0, None) };
    Activity { kind, name, lane, start_ns, end_ns: start_ns + length_ns, bytes, link, task: Some(4) }
}

/// A run with every kind of object: two workers, a queue, a link, a host thread, nested tasks, failures, hostile names.
fn everything() -> Trace {
    let mut tasks: Vec<Task> = (0..30).map(|id| task(id, (id % 3) as u32, id / 3 * 3 * MS, 2 * MS)).collect();
    tasks[20].outcome = Outcome::Failed;
    tasks[23] = Task { outcome: Outcome::Cancelled, end_ns: tasks[23].start_ns, ..tasks[23] };
    tasks.push(task(30, 0, MS / 2, MS));
    tasks.push(Task { inserted_ns: None, site: None, level: 0, flops: 0.0, ..task(31, 1, 31 * MS, MS / 4) });
    tasks.sort_by_key(|task| (task.start_ns, task.id));
    let place = |id: u64| tasks.iter().position(|task| task.id == id).expect("is there") as u32;
    let hazard = |from, to, kind, datum| HazardEdge { from: place(from), to: place(to), kind, datum };
    let mut hazards = vec![
        hazard(1, 7, Hazard::RaW, 5),
        hazard(2, 7, Hazard::WaR, 9),
        hazard(2, 7, Hazard::WaW, 6),
        hazard(7, 12, Hazard::RaW, 5),
    ];
    hazards.extend((4..9).map(|step| hazard(3 * step, 3 * step + 3, Hazard::RaW, 1)));
    hazards.sort_by_key(|hazard| (hazard.to, hazard.from));
    Trace {
        lanes: vec![
            lane("worker 0", "workers", LaneKind::Worker),
            lane("<b>worker</b> 1", "workers", LaneKind::Worker),
            lane("queue 0", "cuda:0", LaneKind::Queue),
            lane("host to cuda:0", "links", LaneKind::Link),
            lane("main", "threads", LaneKind::Host),
        ],
        kernels: vec!["gemm".to_owned(), HOSTILE.to_owned(), "trsm".to_owned()],
        sites: vec![format!("src/{HOSTILE}.rs:3")],
        names: ["data", "host", "cuda:0", "<b>moved</b>", "fill"].map(str::to_owned).into(),
        activities: vec![
            activity(ActivityKind::Host, 4, 4, 0, 20 * MS),
            activity(ActivityKind::Transfer, 3, 3, MS, 2 * MS),
            activity(ActivityKind::Stall, 0, 0, 2 * MS, MS),
            activity(ActivityKind::Eviction, 2, 2, 5 * MS, MS / 2),
            activity(ActivityKind::Allocation, 2, 2, 5 * MS + MS / 2, MS / 4),
            activity(ActivityKind::Transfer, 3, 3, 6 * MS, 2 * MS),
        ],
        counters: vec![
            Counter {
                name: HOSTILE.to_owned(),
                samples: (0..40).map(|at| ((100 + at) * MS, (at % 7) as f64)).collect(),
            },
            Counter {
                name: "load".to_owned(),
                samples: (0..40).map(|at| ((100 + at) * MS, at as f64 / 3.0)).collect(),
            },
        ],
        facts: vec![(HOSTILE.to_owned(), HOSTILE.to_owned())],
        window: Some(64),
        tasks,
        hazards,
        ..Trace::default()
    }
}

/// A run like a factorization with small tiles, with three hazards into each task.
fn large(tasks: u64, lanes: u64) -> Trace {
    let mut state = 1_u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut trace = Trace { kernels: ["gemm", "trsm", "syrk", "potrf"].map(str::to_owned).into(), ..Trace::default() };
    trace.sites = vec!["dla/src/cholesky/potrf.rs:99".to_owned()];
    trace.lanes = (0..lanes).map(|at| lane(&format!("worker {at}"), "workers", LaneKind::Worker)).collect();
    let mut free_ns = vec![0; lanes as usize];
    for id in 0..tasks {
        let lane = (0..lanes as usize).min_by_key(|&lane| free_ns[lane]).expect("a lane");
        let start_ns = free_ns[lane] + random(400);
        // Sometimes a lane waits long; otherwise the tasks have very different lengths.
        let length_ns = if random(50) == 0 { 200_000 + random(100_000) } else { 2_000 + random(20_000) };
        free_ns[lane] = start_ns + length_ns + if random(1000) == 0 { 500_000 } else { 100 };
        let kernel = [0, 0, 0, 0, 0, 0, 1, 1, 2, 3][random(10) as usize];
        let index =
            TileIndex::new(&[random(200) as u32, random(200) as u32, random(200) as u32]).expect("three indices");
        let made = task(id, lane as u32, start_ns, length_ns);
        trace.tasks.push(Task {
            kernel,
            index,
            priority: random(5) as i32,
            flops: 1e6 * f64::from(kernel + 1),
            ..made
        });
    }
    trace.tasks.sort_by_key(|task| (task.start_ns, task.id));
    let mut places = vec![0; tasks as usize];
    trace.tasks.iter().enumerate().for_each(|(place, task)| places[task.id as usize] = place as u32);
    // The predecessors are far enough back to have ended, so the graph is possible.
    for (to, datum) in (0..tasks).flat_map(|to| [2, 9, 40].map(|back| (to, back))) {
        let back = lanes * 20 + random(lanes * datum);
        if let Some(from) = to.checked_sub(back) {
            let kind = [Hazard::RaW, Hazard::WaR, Hazard::WaW][random(3) as usize];
            let (from, to) = (places[from as usize], places[to as usize]);
            trace.hazards.push(HazardEdge { from, to, kind, datum: random(20_000) as u32 });
        }
    }
    trace.hazards.sort_by_key(|hazard| (hazard.to, hazard.from));
    let samples = (0..tasks / 2).map(|at| (100 * MS + at * 4_000, random(500) as f64));
    trace.counters.push(Counter { name: "ready tasks".to_owned(), samples: samples.collect() });
    trace
}

fn page(trace: &Trace, name: &str) -> String {
    let mut page = Vec::new();
    let analysis = Analysis::new(trace);
    Report::new(trace, &analysis).title(name).file(format!("{name}.json")).write(&mut page).expect("memory");
    String::from_utf8(page).expect("UTF-8")
}

/// Writes a page and the expected values, and tests it in a browser.
fn work_with(name: &str, page: &str, known: &serde_json::Value) -> io::Result<()> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.html"));
    fs::write(&path, page)?;
    fs::write(path.with_extension("json"), known.to_string())?;
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/report_works.py");
    match Command::new("python3").arg(script).arg(&path).output() {
        Ok(output) => {
            println!("{}", String::from_utf8_lossy(&output.stdout));
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}\n{error}", String::from_utf8_lossy(&output.stdout));
        }
        Err(error) => {
            println!("SKIPPED: no python3 ({error})");
            assert!(std::env::var_os("REQUIRE_CHROME").is_none_or(|value| value != "1"));
        }
    }
    Ok(())
}

#[test]
fn report_works_in_a_browser() -> io::Result<()> {
    let known = serde_json::json!({
        "task": {
            "number": 7,
            "text": format!("{HOSTILE} (2, 1)"),
            "facts": ["began6.00 ms", "ended8.00 ms", "inserted5.00 ms", "length2.000 ms",
                "waited from insertion1.000 ms", "priority-7", "work2 Gflop", "rate1000 GFLOP/s",
                "last predecessor ended4.000 ms before it began", "WaR WaW on 6, 9", "RaW on 5", "outcomecompleted",
                "in the raw filets 106000.000", format!("sitesrc/{HOSTILE}.rs:3"), "bytes1 MB", "BLAS level3"],
            "predecessors": [1, 2],
            "successors": [12],
        },
        "searches": {
            "gemm": 11, "GEMM (2, 1)": 1, "(2, 1)": 3, "(2": 3, "(": 32, "#7": 1, "#99": 0, "failed": 1, "cancelled": 1,
            "trsm": 10, ".rs:3": 31, "no such kernel": 0, "<img": 32, "(2, 1, 1)": 0,
        },
        "text": [HOSTILE, "<b>worker</b> 1", "2 tasks did not complete"],
    });
    work_with("report-of-everything", &page(&everything(), HOSTILE), &known)
}

/// A quarter of a million tasks by default (`REPORT_TASKS=1000000` for more), and three times as many hazards.
#[test]
fn large_report_is_small_and_fast() -> io::Result<()> {
    let tasks = std::env::var("REPORT_TASKS").map_or(250_000, |tasks| tasks.parse().expect("a number of tasks"));
    let trace = large(tasks, 64);
    let page = page(&trace, "many tasks");
    let section = |name: &str| {
        let (_, rest) = page.split_once(&format!("id=\"section-{name}\">")).expect("the section is there");
        rest.split_once('<').expect("the section ends").0.len()
    };
    let per_task = (section("classes") + section("costs") + section("tasks")) as f64 / tasks as f64;
    let per_hazard = section("hazards") as f64 / trace.hazards.len() as f64;
    println!("{per_task:.1} bytes a task, {per_hazard:.1} a hazard, {} in all", page.len());
    assert!(per_task <= 30.0, "{per_task} bytes a task");
    assert!(per_hazard <= 8.0, "{per_hazard} bytes a hazard");
    let last = trace.tasks.iter().find(|task| task.id == tasks - 1).expect("is there");
    let place = trace.tasks.iter().position(|task| task.id == tasks - 1).expect("is there") as u32;
    let into = trace.hazards.iter().filter(|hazard| hazard.to == place);
    let predecessors: std::collections::BTreeSet<u64> =
        into.map(|hazard| trace.tasks[hazard.from as usize].id).collect();
    let known = serde_json::json!({
        "task": {
            "number": last.id,
            "text": format!("{} {}", trace.kernels[last.kernel as usize], last.index),
            "predecessors": predecessors,
            "successors": [],
        },
        "searches": {
            "potrf.rs": tasks,
            "#123456": 1,
            "gemm": trace.tasks.iter().filter(|task| task.kernel == 0).count(),
        },
        "frame_ms_max": 250,
        "load_ms_max": 15_000,
    });
    work_with("report-of-many-tasks", &page, &known)
}

#[test]
fn small_traces_have_reports() {
    let lanes_only = Trace { lanes: vec![lane("worker 0", "workers", LaneKind::Worker)], ..Trace::default() };
    let one = Trace { kernels: vec!["one".to_owned()], ..lanes_only.clone() };
    let one = Trace { tasks: vec![Task { kernel: 0, site: None, ..task(u64::MAX, 0, 0, 0) }], ..one };
    for trace in [Trace::default(), lanes_only, one] {
        let page = page(&trace, "little");
        assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    }
}

/// Names are escaped in HTML, and in the script's data nothing can end the script.
#[test]
fn names_are_escaped() {
    let page = page(&everything(), HOSTILE);
    assert!(!page.contains("<img") && !page.contains("<b>") && !page.contains("window.ran=1</script>"));
    let scripts = page.matches("<script").count();
    assert_eq!(scripts, page.matches("</script>").count());
    assert_eq!(scripts, 10, "two scripts, names and seven sections");
}

#[test]
fn page_is_deterministic() {
    let trace = everything();
    assert!(page(&trace, "a") == page(&trace, "a"));
}

/// The page fetches nothing: its only addresses are links to viewers.
#[test]
fn page_links_only_to_viewers() {
    let page = page(&everything(), "a");
    let addresses: Vec<&str> = page.match_indices("://").map(|(at, _)| &page[at.saturating_sub(6)..at + 19]).collect();
    for address in &addresses {
        assert!(address.contains("https://ui.perfetto.dev") || address.contains("chrome://tracing"), "{address}");
    }
    assert!(addresses.len() >= 3);
}
