//! Tests the written trace by reading it with the checker in `format.rs`.

use crate::format::{self, Model};
use crate::samples::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::panic::Location;
use superscalar_recording::*;

fn written(recording: &Recording) -> (ChromeWritten, Model) {
    let mut bytes = Vec::new();
    let written = ChromeTrace::new(recording).write(&mut bytes).expect("a valid recording");
    assert_eq!(written.bytes, bytes.len() as u64);
    (written, format::check(&bytes))
}

fn task_of(model: &Model, slice: usize) -> u64 {
    model.slices[slice].arguments["task"].as_u64().expect("a task number")
}

#[test]
fn empty_recording_is_a_valid_trace() {
    let (written, model) = written(&Recording::default());
    assert_eq!((written.slices, written.arrows, written.samples), (0, 0, 0));
    assert!(model.processes.is_empty());
}

#[test]
fn slices_have_all_arguments() {
    let mut gemm = task(7, "gemm", TileIndex::from([4, 2, 1]));
    (gemm.flops, gemm.bytes, gemm.priority, gemm.inserted_ns) = (3e6, 1.5e5, -3, 1_000_500);
    gemm.level = Some(BlasLevel::Three);
    let recording = Recording {
        lanes: workers(1),
        tasks: vec![gemm],
        spans: vec![span(7, 0, 1_234_567, 1_334_567)],
        ..Recording::default()
    };
    let (_, model) = written(&recording);
    let slice = &model.slices[0];
    assert_eq!((slice.start_ns, slice.end_ns), (1_234_567, 1_334_567));
    let site = format!("{}:{}", file!(), gemm.site.line());
    let expected = json!({
        "task": 7, "outcome": "completed", "inserted": 1000.5, "index": [4, 2, 1], "priority": -3, "BLAS level": 3,
        "flops": 3_000_000, "GFLOP/s": 30.0, "bytes": 150_000, "site": site,
    });
    assert_eq!(Value::Object(slice.arguments.clone()), expected);
}

#[test]
fn cancelled_tasks_are_drawn_with_arrows() {
    let mut recording = Recording {
        lanes: workers(1),
        tasks: (0..4).map(|id| task(id, "step", TileIndex::NONE)).collect(),
        hazards: (1..4).map(|id| hazard(id - 1, id, Hazard::RaW)).collect(),
        spans: vec![span(0, 0, 0, 100)],
        ..Recording::default()
    };
    recording.spans[0].outcome = Outcome::Failed;
    for id in 1..4 {
        let outcome = Outcome::Cancelled;
        recording.spans.push(Span { outcome, ..span(id, 0, 100, 100) });
    }
    let (written, model) = written(&recording);
    assert_eq!((written.arrows, written.hazards_left_out), (3, 0));
    let starts: Vec<u64> = model.slices.iter().map(|slice| slice.start_ns).collect();
    assert_eq!(starts, [0, 100, 103, 106]);
}

#[test]
fn arrows_attach_where_slices_are_uncovered() {
    // Worker 0 runs other tasks while it waits within task 1: task 2 at the very start and task 3 at the very end.
    let recording = Recording {
        lanes: workers(2),
        tasks: (0..5).map(|id| task(id, "step", TileIndex::NONE)).collect(),
        hazards: vec![hazard(0, 1, Hazard::RaW), hazard(1, 4, Hazard::WaR)],
        spans: vec![
            span(0, 1, 0, 10),
            span(1, 0, 10, 100),
            span(2, 0, 10, 30),
            span(3, 0, 80, 100),
            span(4, 1, 100, 110),
        ],
        ..Recording::default()
    };
    let (written, model) = written(&recording);
    assert_eq!((written.arrows, written.hazards_left_out), (2, 0));
    assert_eq!(model.threads.len(), 2);
    let moments: Vec<_> = model.arrows.iter().map(|a| (a.leaves_ns, a.enters_ns)).collect();
    assert_eq!(moments, [(9, 31), (79, 101)]);
}

#[test]
fn crossing_span_moves_to_another_row() {
    let recording = Recording {
        lanes: workers(1),
        spans: vec![span(0, 0, 0, 10), span(1, 0, 9, 20), span(2, 0, 20, 30)],
        ..Recording::default()
    };
    let (_, model) = written(&recording);
    let names: Vec<&str> = model.threads.values().map(String::as_str).collect();
    assert_eq!(names, ["worker 0", "worker 0 (2)"]);
    assert_eq!(model.slices[0].thread, model.slices[2].thread);
    assert_ne!(model.slices[0].thread, model.slices[1].thread);
}

#[test]
fn activities_have_all_arguments() {
    let (host, gpu) = (NodeId(0), NodeId(1));
    let at = |lane, start_ns, kind| Activity {
        kind,
        lane,
        start_ns,
        end_ns: start_ns + 10,
        task: Some(TaskId(5)),
        datum: Some(3),
    };
    let mut lanes = workers(1);
    lanes.push(Lane { name: "host to cuda:0".to_owned(), kind: LaneKind::Link, process: "links".to_owned() });
    let stall = Activity { task: None, datum: None, ..at(0, 0, ActivityKind::Stall(Stall::WindowFull)) };
    let recording = Recording {
        lanes,
        nodes: ["host", "cuda:0"].map(str::to_owned).into(),
        activities: vec![
            stall,
            at(0, 20, ActivityKind::Allocation { node: gpu, bytes: 64 }),
            at(1, 40, ActivityKind::Eviction { node: gpu, bytes: 128 }),
            // Crosses the previous one, so it needs an additional row.
            at(1, 45, ActivityKind::Transfer { from: host, to: gpu, bytes: 256 }),
        ],
        counters: [Counter::LinkBytes { from: host, to: gpu }, Counter::NodeBytes(gpu)]
            .map(|counter| CounterSample { counter, at_ns: 50, value: 256 })
            .into(),
        ..Recording::default()
    };
    let mut json = Vec::new();
    let written = ChromeTrace::new(&recording).write(&mut json).expect("a valid recording");
    assert_eq!((written.slices, written.activities, written.samples), (0, 4, 2));
    let model = format::check(&json);
    let found: Vec<_> = model
        .slices
        .iter()
        .map(|slice| (&*slice.category, &*slice.name, Value::Object(slice.arguments.clone())))
        .collect();
    let expected = [
        ("stall", "window full", json!({})),
        ("allocation", "cuda:0", json!({"bytes": 64, "task": 5, "datum": 3})),
        ("eviction", "cuda:0", json!({"bytes": 128, "task": 5, "datum": 3})),
        ("transfer", "host to cuda:0", json!({"bytes": 256, "from": "host", "to": "cuda:0", "task": 5, "datum": 3})),
    ];
    assert_eq!(found, expected);
    let rows: Vec<_> =
        model.threads.values().zip(model.kinds.values()).map(|(name, kind)| (&**name, &**kind)).collect();
    assert_eq!(rows, [("worker 0", "worker"), ("host to cuda:0", "link"), ("host to cuda:0 (2)", "link")]);
    let text = String::from_utf8_lossy(&json);
    assert!(text.contains("\"name\":\"bytes host to cuda:0\"") && text.contains("\"name\":\"bytes in cuda:0\""));
}

/// Plans that overlap are drawn beside each other.
#[test]
fn plans_have_all_arguments() {
    let (host, gpu) = (NodeId(0), NodeId(1));
    let traffic = vec![(host, gpu, 256), (gpu, host, 64)];
    let prediction = Prediction { name: "gemm", time_ns: 2_345_678, tile: vec![48, 32, 16], traffic };
    let site = Location::caller();
    let plan = PlanRecord { prediction, site, lane: 0, start_ns: 1000, inserted_ns: 5000 };
    let bare = Prediction { name: "gemm", time_ns: 2_000_000, ..Prediction::default() };
    let later = PlanRecord { prediction: bare, start_ns: 900_000, ..plan.clone() };
    let mut recording = Recording {
        lanes: vec![Lane { name: "plans".to_owned(), kind: LaneKind::Host, process: "plans".to_owned() }],
        nodes: ["host", "cuda:0"].map(str::to_owned).into(),
        plans: vec![plan, later],
        ..Recording::default()
    };
    let (written, model) = written(&recording);
    assert_eq!(written.plans, 2);
    assert_eq!(model.threads.values().collect::<Vec<_>>(), ["plans", "plans (2)"]);
    let [first, second] = &model.slices[..] else { panic!("{:?}", model.slices) };
    assert_eq!((&*first.category, &*first.name, first.start_ns, first.end_ns), ("plan", "gemm", 1000, 2_346_678));
    let site = format!("{}:{}", file!(), site.line());
    let bytes = json!({"host to cuda:0": 256, "cuda:0 to host": 64});
    let expected =
        json!({"predicted ms": 2.345, "inserted": 5.0, "tile": [48, 32, 16], "bytes": bytes, "site": site.clone()});
    assert_eq!(Value::Object(first.arguments.clone()), expected);
    let expected = json!({"predicted ms": 2.0, "inserted": 5.0, "bytes": {}, "site": site});
    assert_eq!(Value::Object(second.arguments.clone()), expected);

    recording.lanes.clear();
    let error = ChromeTrace::new(&recording).write(io::sink()).expect_err("no such lane");
    assert!(error.to_string().contains("a plan (gemm) is on lane 0"), "{error}");
}

#[test]
fn invalid_recordings_are_refused() {
    let mut recording = Recording { lanes: workers(1), spans: vec![span(3, 1, 0, 10)], ..Recording::default() };
    let error = ChromeTrace::new(&recording).write(io::sink()).expect_err("no such lane");
    assert!(error.to_string().contains("task #3 is on lane 1"), "{error}");
    recording.spans = vec![span(3, 0, 10, 9)];
    let error = ChromeTrace::new(&recording).write(io::sink()).expect_err("ends too early");
    assert!(error.to_string().contains("before its start"), "{error}");
    let kind = ActivityKind::Stall(Stall::Data);
    let activities = vec![Activity { kind, lane: 2, start_ns: 0, end_ns: 1, task: None, datum: None }];
    let recording = Recording { lanes: workers(1), activities, ..Recording::default() };
    let error = ChromeTrace::new(&recording).write(io::sink()).expect_err("no such lane");
    assert!(error.to_string().contains("an activity (stall) is on lane 2"), "{error}");
}

/// A writer that accepts a number of bytes, then fails.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.0.min(bytes.len());
        self.0 -= room;
        if room == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(room)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn write_errors_are_reported_at_any_byte() {
    let recording = Recording {
        lanes: workers(1),
        spans: (0..5_000).map(|id| span(id, 0, id, id + 1)).collect(),
        ..Recording::default()
    };
    let whole = ChromeTrace::new(&recording).write(io::sink()).expect("fits").bytes as usize;
    assert!(whole > 300_000, "{whole} bytes do not fill the buffer several times");
    for room in [0, 1, 65_536, 100_000, whole - 1] {
        let error = ChromeTrace::new(&recording).write(Full(room)).expect_err("does not fit");
        let kind = error.io().map(io::Error::kind);
        assert_eq!(kind, Some(io::ErrorKind::StorageFull), "{room} bytes of room");
    }
    assert!(ChromeTrace::new(&recording).write(Full(whole)).is_ok());
}

#[test]
fn largest_times_do_not_overflow() {
    let recording = Recording {
        lanes: workers(1),
        spans: vec![span(0, 0, 0, u64::MAX), span(1, 0, u64::MAX, u64::MAX), span(2, 0, u64::MAX, u64::MAX)],
        ..Recording::default()
    };
    let mut bytes = Vec::new();
    let written = ChromeTrace::new(&recording).write(&mut bytes).expect("still a recording");
    assert_eq!(written.slices, 3);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_recordings_are_valid_traces(recording in any_recording()) {
        let (written, model) = written(&recording);
        prop_assert_eq!(written.slices as usize, recording.spans.len());
        let slices = recording.spans.len() + recording.activities.len() + recording.plans.len();
        prop_assert_eq!(model.slices.len(), slices);
        prop_assert_eq!(written.activities as usize, recording.activities.len());
        prop_assert_eq!(written.plans as usize, recording.plans.len());
        prop_assert_eq!(model.samples, recording.counters.len());
        let hazards = recording.hazards.len() as u64;
        prop_assert_eq!(written.arrows + written.hazards_hidden + written.hazards_left_out, hazards);
        prop_assert_eq!(model.hidden.len() as u64, written.hazards_hidden);
        prop_assert_eq!(model.arrows.len() as u64, written.arrows);
        prop_assert_eq!(&model.other_data["records dropped"], &json!(recording.dropped));
        prop_assert_eq!(&model.other_data["notice 1"], &json!(recording.notices[0]));

        prop_assert_eq!(&model.other_data["complete"], &json!(true));
        prop_assert_eq!(&model.other_data["window"], &json!(99));
        prop_assert_eq!(&model.other_data["workers"], &json!(2));
        prop_assert_eq!(&model.other_data["policy"], &json!(recording.policy));
        prop_assert_eq!(model.other_data.get("whole from").is_some(), recording.dropped > 0);

        // No hazard between tasks that ran is missing.
        let ran = |id: TaskId| recording.spans.iter().any(|span| span.task == id);
        let mut expected: Vec<_> = recording.hazards.iter()
            .filter(|hazard| ran(hazard.from) && ran(hazard.to))
            .map(|hazard| (hazard.hazard.name().to_owned(), hazard.from.0, hazard.to.0))
            .collect();
        let arrows = model.arrows.iter().map(|arrow| (arrow.name.clone(), arrow.tasks.0, arrow.tasks.1));
        let mut found: Vec<_> = model.hidden.iter().cloned().chain(arrows).collect();
        expected.sort_unstable();
        found.sort_unstable();
        prop_assert_eq!(found, expected);

        // Spans with an inside are drawn unchanged, the others two nanoseconds long.
        let mut drawn: Vec<_> = model.slices.iter()
            .filter(|slice| slice.category == "task" && slice.end_ns - slice.start_ns > 2)
            .map(|slice| (slice.arguments["task"].as_u64(), slice.start_ns, slice.end_ns))
            .collect();
        let mut spans: Vec<_> = recording.spans.iter()
            .filter(|span| span.end_ns - span.start_ns > 2)
            .map(|span| (Some(span.task.0), span.start_ns, span.end_ns))
            .collect();
        drawn.sort_unstable();
        spans.sort_unstable();
        prop_assert_eq!(drawn, spans);

        // Every arrow connects the tasks of a hazard with the same name.
        for arrow in &model.arrows {
            let (from, to) = (task_of(&model, arrow.from), task_of(&model, arrow.to));
            prop_assert_eq!((from, to), arrow.tasks);
        }
        // Every name is escaped correctly.
        for slice in model.slices.iter().filter(|slice| slice.category == "task") {
            let id = slice.arguments["task"].as_u64();
            let record = recording.tasks.iter().find(|task| Some(task.id.0) == id);
            prop_assert_eq!(slice.name.as_str(), record.map_or("task", |task| task.name));
        }
    }

    #[test]
    fn correct_runs_have_all_arrows(run in any_run(60)) {
        let (written, model) = written(&run);
        prop_assert_eq!(written.hazards_left_out, 0);
        prop_assert_eq!(model.threads.len(), run.lanes.len());
        for (arrow, hazard) in model.arrows.iter().zip(&run.hazards) {
            prop_assert_eq!(task_of(&model, arrow.from), hazard.from.0);
            prop_assert_eq!(task_of(&model, arrow.to), hazard.to.0);
            prop_assert_eq!(arrow.leaves_ns + 1, model.slices[arrow.from].end_ns);
            let consumer = &model.slices[arrow.to];
            prop_assert_eq!(arrow.enters_ns, consumer.start_ns + 1);
        }
    }
}
