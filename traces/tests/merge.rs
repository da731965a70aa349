//! Merged traces are consistent and complete, and keep the objects of different files apart.

mod written;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use superscalar_traces::check::check_reading;
use superscalar_traces::merge::{MergeOptions, TimeOrigin, merge};
use superscalar_traces::read::{ReadOptions, Reading};
use superscalar_traces::{
    Activity, ActivityKind, Counter, Hazard, HazardEdge, Lane, LaneKind, Outcome, Plan, Task, TileIndex, Trace,
};
use written::{Form, written};

/// Returns an empty folder for this test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A chain of tasks on one worker and their transfer, starting at `start_ns`.
fn chain(tasks: u64, start_ns: u64) -> Trace {
    let lane = |name: &str, kind| Lane { name: name.to_owned(), process: "machine".to_owned(), kind };
    let task = |id: u64| Task {
        id,
        kernel: 0,
        site: Some(0),
        lane: 0,
        start_ns: start_ns + 100 * id,
        end_ns: start_ns + 100 * id + 90,
        inserted_ns: Some(start_ns + id),
        priority: 1,
        index: TileIndex::new(&[7]).unwrap(),
        outcome: Outcome::Completed,
        level: 3,
        flops: 5.0,
        bytes: 6.0,
    };
    let transfer = Activity {
        kind: ActivityKind::Transfer,
        name: 0,
        lane: 1,
        start_ns: start_ns + 5,
        end_ns: start_ns + 10,
        bytes: 8,
        link: Some((1, 2)),
        task: Some(1),
    };
    Trace {
        lanes: vec![lane("worker 0", LaneKind::Worker), lane("host to cuda:0", LaneKind::Link)],
        kernels: vec!["gemm".to_owned()],
        sites: vec!["a.rs:1".to_owned()],
        names: ["copy", "host", "cuda:0"].map(str::to_owned).to_vec(),
        tasks: (0..tasks).map(task).collect(),
        hazards: (1..tasks as u32)
            .map(|to| HazardEdge { from: to - 1, to, kind: Hazard::RaW, datum: to % 3 })
            .collect(),
        activities: vec![transfer],
        plans: Vec::new(),
        counters: vec![Counter { name: "bytes host to cuda:0".to_owned(), samples: vec![(start_ns + 10, 8.0)] }],
        facts: vec![("tasks".to_owned(), tasks.to_string()), ("machine".to_owned(), "a \"laptop\"".to_owned())],
        window: Some(9),
        dropped: 0,
        hazards_left_out: 0,
    }
}

/// Merges these texts as files with these names.
fn merged(case: &str, files: &[(&str, String)], options: MergeOptions) -> (Reading, String) {
    let folder = folder(case);
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.join(name)).collect();
    for (path, (_, text)) in paths.iter().zip(files) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mut out = Vec::new();
    merge(&paths, &mut out, &options).unwrap();
    let text = String::from_utf8(out).unwrap();
    serde_json::from_str::<serde::de::IgnoredAny>(&text).unwrap();
    (ReadOptions::default().read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}")), text)
}

fn assert_consistent(reading: &Reading) {
    let verdict = check_reading(reading);
    assert!(verdict.is_consistent(), "{:?}", verdict.findings());
}

#[test]
fn merged_trace_contains_all_files() {
    let first = written(&chain(4, 1000), Form::default());
    let second = written(&chain(6, 77_000), Form { facts_first: true, hidden_hazards: true, ..Form::default() });
    let files = [("a.json", first), ("b/a.json", second)];
    let (reading, _) = merged("whole", &files, MergeOptions::default());
    assert_consistent(&reading);
    let trace = &reading.trace;
    let ids: Vec<u64> = trace.tasks.iter().map(|task| task.id).collect();
    assert_eq!(ids, (0..10).collect::<Vec<_>>());
    assert_eq!(trace.hazards.len(), 3 + 5);
    assert!(trace.hazards.iter().all(|hazard| (hazard.from < 4) == (hazard.to < 4)), "no hazard between files");
    let data = |of_first: bool| -> BTreeSet<u32> {
        let hazards = trace.hazards.iter().filter(|hazard| (hazard.to < 4) == of_first && hazard.datum > 0);
        hazards.map(|hazard| hazard.datum).collect()
    };
    assert!(data(true).is_disjoint(&data(false)), "the files' data are different ones");
    assert_eq!(trace.activities.iter().map(|transfer| transfer.task).collect::<Vec<_>>(), [Some(1), Some(5)]);
    assert_eq!(trace.tasks[4].start_ns, 77_000);
    let lanes: Vec<_> = trace.lanes.iter().map(|lane| (&*lane.process, &*lane.name)).collect();
    let expected = [("a: machine", "worker 0"), ("a: machine", "host to cuda:0")];
    assert_eq!(lanes[..2], expected);
    assert_eq!(lanes[2..], expected.map(|(_, name)| ("a 2: machine", name)));
    let counters: Vec<&str> = trace.counters.iter().map(|counter| &*counter.name).collect();
    assert_eq!(counters, ["a: bytes host to cuda:0", "a 2: bytes host to cuda:0"]);
    let fact = |key: &str| trace.facts.iter().find(|fact| fact.0 == key).map(|fact| &*fact.1);
    assert_eq!((fact("tasks"), fact("complete")), (Some("10"), Some("true")));
    assert_eq!((fact("a: tasks"), fact("a 2: machine")), (Some("4"), Some("a \"laptop\"")));
    assert_eq!((fact("a 2: window"), trace.window), (Some("9"), None));
}

#[test]
fn aligned_files_begin_at_zero() {
    let files = [
        ("a.json", written(&chain(2, 1000), Form::default())),
        ("b.json", written(&chain(2, 77_123), Form::default())),
    ];
    let options = MergeOptions { time_origin: TimeOrigin::Aligned, ..MergeOptions::default() };
    let (reading, _) = merged("aligned", &files, options);
    assert_consistent(&reading);
    let times: Vec<_> = reading.trace.tasks.iter().map(|task| (task.start_ns, task.inserted_ns)).collect();
    assert_eq!(times, [(0, Some(0)), (0, Some(0)), (100, Some(1)), (100, Some(1))]);
    assert!(reading.trace.counters.iter().all(|counter| counter.samples == [(10, 8.0)]));
    assert!(reading.trace.facts.contains(&("b: moved by".to_owned(), "77.123".to_owned())));
    assert!(reading.trace.activities.iter().all(|activity| activity.start_ns == 5));
}

#[test]
fn plans_are_moved_with_their_tasks() {
    let run = |start_ns: u64| {
        let (inserted_ns, predicted_ns, traffic) = (Some(start_ns + 9), 1000, vec![(0, 8)]);
        let plan = Plan { name: 0, site: Some(0), start_ns, inserted_ns, predicted_ns, tile: vec![7, 8], traffic };
        written(&Trace { plans: vec![plan], ..chain(2, start_ns) }, Form::default())
    };
    let options = MergeOptions { time_origin: TimeOrigin::Aligned, ..MergeOptions::default() };
    let (reading, _) = merged("plans", &[("a.json", run(1000)), ("b.json", run(77_123))], options);
    assert_consistent(&reading);
    let plans = &reading.trace.plans;
    assert_eq!((plans.len(), &plans[0]), (2, &plans[1]));
    assert_eq!((plans[0].start_ns, plans[0].inserted_ns, plans[0].predicted_ns), (0, Some(9), 1000));
}

#[test]
fn numbers_are_unique() {
    // Events of another program: words instead of numbers, no process, other kinds of ids.
    let other = r#"[{"ph":"X","name":"a","ts":1,"dur":2},{"ph":"B","name":"b","pid":"x","tid":"y","ts":1},
        {"ph":"E","pid":"x","tid":"y","ts":2},{"ph":"b","id":"0x1","cat":"c","name":"d","pid":7,"tid":7,"ts":3},
        {"ph":"X","name":"a","pid":7,"tid":7,"ts":1,"dur":2}"#;
    let files = [("a.json", other.to_owned()), ("b.json", other.to_owned())];
    let (reading, text) = merged("numbers", &files, MergeOptions::default());
    assert_consistent(&reading);
    assert_eq!(reading.trace.lanes.len(), 6);
    assert_eq!(reading.trace.activities.len(), 6);
    assert_eq!(reading.trace.lanes.iter().filter(|lane| lane.process == "a").count(), 3);
    let events: serde_json::Value = serde_json::from_str(&text).unwrap();
    let events = events["traceEvents"].as_array().unwrap();
    let numbers = |key: &str| -> BTreeSet<u64> { events.iter().filter_map(|event| event[key].as_u64()).collect() };
    let (processes, threads) = (numbers("pid"), numbers("tid"));
    assert_eq!((processes.len(), threads.len()), (6, 6));
    assert!(processes.is_disjoint(&threads));
    let ids: Vec<&str> = events.iter().filter_map(|event| event["id"].as_str()).collect();
    assert_eq!(ids, ["a: 0x1", "b: 0x1"]);
}

#[test]
fn merged_traces_can_be_merged() {
    let file = written(&chain(3, 10), Form::default());
    let (_, once) = merged("again", &[("a.json", file.clone()), ("b.json", file.clone())], MergeOptions::default());
    let (reading, _) = merged("again", &[("ab.json", once), ("c.json", file)], MergeOptions::default());
    assert_consistent(&reading);
    assert_eq!((reading.trace.tasks.len(), reading.trace.lanes.len()), (9, 6));
    assert_eq!(reading.trace.lanes[0].process, "ab: a: machine");
}

#[test]
fn truncated_files_are_refused_or_merged_partly() {
    let whole = written(&chain(3, 10), Form::default());
    let cut = whole[..whole.len() / 2].to_owned();
    let folder = folder("cut");
    let path = folder.join("cut.json");
    std::fs::write(&path, &cut).unwrap();
    let error = merge(&[path], &mut Vec::new(), &MergeOptions::default()).unwrap_err().to_string();
    assert!(error.contains("cut.json: line") && error.contains(&format!("(byte {})", cut.len())), "{error}");
    let options = MergeOptions { whole_events: true, ..MergeOptions::default() };
    let (reading, _) = merged("cut", &[("cut.json", cut), ("whole.json", whole)], options);
    assert_consistent(&reading);
    let tasks = reading.trace.tasks.len();
    assert!((3..=6).contains(&tasks), "{tasks}");
    assert!(reading.trace.facts.contains(&("complete".to_owned(), "false".to_owned())));
}

#[test]
fn output_is_replaced_at_the_end() {
    let folder = folder("command");
    let (good, bad) = (folder.join("good.json"), folder.join("bad.json"));
    let text = written(&chain(3, 10), Form::default());
    std::fs::write(&good, &text).unwrap();
    std::fs::write(&bad, "{\"traceEvents\":[7]}").unwrap();
    let run = |files: &[&PathBuf], out: &PathBuf| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_superscalar-trace"));
        command.arg("merge").args(files).arg("-o").arg(out).output().unwrap()
    };
    let output = run(&[&good, &bad], &good);
    assert!(!output.status.success());
    assert!(
        String::from_utf8(output.stderr).unwrap().contains("bad.json: line 1, column 17"),
        "the file and the place"
    );
    assert_eq!(std::fs::read_to_string(&good).unwrap(), text, "nothing has been overwritten");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "and no temporary file is left");
    // The output may be one of the inputs.
    let output = run(&[&good, &good], &good);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(Trace::open(&good).unwrap().tasks.len(), 6);
}
