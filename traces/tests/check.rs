//! For each rule, a trace that satisfies it and one that violates only this rule.

use std::path::PathBuf;
use std::process::{Command, Output};
use superscalar_traces::check::{Rule, Severity, Verdict, check, check_reading};
use superscalar_traces::read::ReadOptions;
use superscalar_traces::{
    Activity, ActivityKind, Counter, Hazard, HazardEdge, Lane, LaneKind, Outcome, Plan, Task, TileIndex, Trace,
};

fn task(id: u64, lane: u32, start_ns: u64, end_ns: u64) -> Task {
    Task {
        id,
        kernel: 0,
        site: None,
        lane,
        start_ns,
        end_ns,
        inserted_ns: Some(start_ns / 2),
        priority: 0,
        index: TileIndex::default(),
        outcome: Outcome::Completed,
        level: 0,
        flops: 0.0,
        bytes: 0.0,
    }
}

fn plan() -> Plan {
    let traffic = vec![(0, 64)];
    Plan { name: 1, site: None, start_ns: 0, inserted_ns: Some(9), predicted_ns: 500, tile: vec![8, 8], traffic }
}

/// Lane 0 is a worker, lane 1 a queue, lane 2 a link. Tasks 0 to 3 form a chain of hazards.
fn consistent() -> Trace {
    let lane = |name: &str, kind| Lane { name: name.to_owned(), process: "p".to_owned(), kind };
    let transfer = Activity {
        kind: ActivityKind::Transfer,
        name: 0,
        lane: 2,
        start_ns: 0,
        end_ns: 50,
        bytes: 64,
        link: Some((1, 2)),
        task: Some(0),
    };
    Trace {
        lanes: vec![lane("worker 0", LaneKind::Worker), lane("queue 0", LaneKind::Queue), lane("link", LaneKind::Link)],
        kernels: vec!["gemm".to_owned()],
        names: ["host to cuda:0", "host", "cuda:0"].map(str::to_owned).to_vec(),
        tasks: vec![task(0, 0, 100, 200), task(1, 0, 200, 300), task(2, 1, 300, 400), task(3, 1, 400, 500)],
        hazards: (0..3).map(|from| HazardEdge { from, to: from + 1, kind: Hazard::RaW, datum: 1 }).collect(),
        activities: vec![transfer, Activity { start_ns: 60, end_ns: 70, ..transfer }],
        counters: vec![
            Counter { name: "ready tasks".to_owned(), samples: vec![(0, 1.0), (10, 2.0), (10, 0.0)] },
            Counter { name: "bytes host to cuda:0".to_owned(), samples: vec![(50, 64.0), (70, 128.0)] },
        ],
        plans: vec![plan()],
        facts: vec![("tasks".to_owned(), "4".to_owned())],
        ..Trace::default()
    }
}

/// Returns the rules that a change to the consistent trace violates.
fn broken(change: impl FnOnce(&mut Trace)) -> Vec<Rule> {
    let mut trace = consistent();
    change(&mut trace);
    rules(&check(&trace))
}

fn rules(verdict: &Verdict) -> Vec<Rule> {
    let faults = verdict.findings().iter().filter(|finding| finding.severity == Severity::Fault);
    let mut rules: Vec<Rule> = faults.map(|finding| finding.rule).collect();
    rules.dedup();
    assert_eq!(verdict.is_consistent(), rules.is_empty());
    rules
}

#[test]
fn consistent_trace_has_no_findings() {
    let verdict = check(&consistent());
    assert!(verdict.findings().is_empty(), "{:?}", verdict.findings());
    assert!(check(&Trace::default()).is_consistent());
}

#[test]
fn places_exist() {
    assert_eq!(broken(|trace| trace.tasks[0].lane = 3), [Rule::Places]);
    assert_eq!(broken(|trace| trace.tasks[0].kernel = 1), [Rule::Places]);
    assert_eq!(broken(|trace| trace.tasks[0].site = Some(0)), [Rule::Places]);
    assert_eq!(broken(|trace| trace.activities[0].name = 3), [Rule::Places]);
    assert_eq!(broken(|trace| trace.activities[0].link = Some((0, 3))), [Rule::Places]);
    assert_eq!(broken(|trace| trace.hazards[0].to = 4), [Rule::Places]);
    assert_eq!(broken(|trace| trace.plans[0].name = 3), [Rule::Places]);
    assert_eq!(broken(|trace| trace.plans[0].site = Some(0)), [Rule::Places]);
    assert_eq!(broken(|trace| trace.plans[0].traffic[0].0 = 3), [Rule::Places]);
}

#[test]
fn time_goes_forward() {
    assert_eq!(broken(|trace| trace.tasks[3].end_ns = 399), [Rule::Length]);
    assert_eq!(broken(|trace| trace.activities[1].end_ns = 59), [Rule::Length]);
    assert_eq!(broken(|trace| trace.tasks[0].inserted_ns = Some(101)), [Rule::Insertion]);
    assert_eq!(broken(|trace| trace.tasks[0].inserted_ns = None), []);
    assert_eq!(broken(|trace| trace.counters[0].samples[0].0 = 11), [Rule::Counter]);
    assert_eq!(broken(|trace| trace.counters[0].samples[0].1 = -0.5), [Rule::Counter]);
    assert_eq!(broken(|trace| trace.counters[0].samples[0].1 = f64::NAN), [Rule::Counter]);
}

#[test]
fn a_task_occurs_once() {
    let verdict = {
        let mut trace = consistent();
        trace.tasks.push(task(3, 0, 600, 700));
        trace.facts.clear();
        check(&trace)
    };
    assert_eq!(rules(&verdict), [Rule::Once]);
    assert_eq!((verdict.findings()[0].task, verdict.fault_count()), (Some(3), 1));
}

#[test]
fn later_task_starts_after_earlier_ends() {
    let early = |task: usize, by_ns: u64| move |trace: &mut Trace| trace.tasks[task].start_ns -= by_ns;
    assert_eq!(broken(early(1, 1)), [Rule::Hazard]);
    assert_eq!(broken(early(2, 1)), [Rule::Hazard]);
    // Clocks of devices may differ by the tolerance stated in the file; those of workers may not differ.
    let tolerant = |trace: &mut Trace| trace.facts.push(("clock tolerance".to_owned(), "0.005".to_owned()));
    for (task, by_ns, expected) in [(2, 5, &[][..]), (2, 6, &[Rule::Hazard]), (3, 5, &[]), (1, 1, &[Rule::Hazard])] {
        let change = |trace: &mut Trace| {
            tolerant(trace);
            early(task, by_ns)(trace);
        };
        assert_eq!(broken(change), expected, "task {task} by {by_ns} ns");
    }
    // A cancelled task never ran. A slice drawn with two nanoseconds may have had zero length.
    let cancelled = |trace: &mut Trace| (trace.tasks[1].outcome, trace.tasks[1].start_ns) = (Outcome::Cancelled, 150);
    assert_eq!(broken(cancelled), []);
    let drawn = |trace: &mut Trace| (trace.tasks[0].start_ns, trace.tasks[0].end_ns) = (200, 202);
    assert_eq!(broken(drawn), []);
}

#[test]
fn hazards_follow_the_serial_program() {
    let swapped = |trace: &mut Trace| (trace.tasks[1].id, trace.tasks[2].id) = (2, 1);
    assert_eq!(broken(swapped), [Rule::SerialOrder]);
    let back = |trace: &mut Trace| {
        trace.hazards.push(HazardEdge { from: 3, to: 1, kind: Hazard::WaR, datum: 0 });
        // All tasks have the same time; otherwise the later one of two would begin too early.
        trace.tasks.iter_mut().for_each(|task| (task.start_ns, task.end_ns) = (300, 300));
    };
    assert_eq!(broken(back), [Rule::SerialOrder, Rule::Cycle]);
    let mut trace = consistent();
    back(&mut trace);
    let verdict = check(&trace);
    let cycle = verdict.findings().iter().find(|finding| finding.rule == Rule::Cycle).unwrap();
    assert!(matches!(cycle.task, Some(1..=3)), "task 0 is not on the cycle: {cycle}");
    assert!(cycle.text.contains("3 tasks"), "{cycle}");
}

#[test]
fn sums_agree() {
    assert_eq!(broken(|trace| trace.facts[0].1 = "5".to_owned()), [Rule::TaskCount]);
    assert_eq!(broken(|trace| trace.facts[0].1 = "many".to_owned()), [Rule::TaskCount]);
    assert_eq!(broken(|trace| trace.activities[0].bytes = 63), [Rule::LinkBytes]);
    assert_eq!(broken(|trace| trace.activities[0].link = None), [Rule::Transfer, Rule::LinkBytes]);
    assert_eq!(broken(|trace| trace.counters[1].name = "cuda: bytes host to cuda:1".to_owned()), [Rule::LinkBytes]);
    // No counter, no rule.
    assert_eq!(broken(|trace| drop(trace.counters.pop())), []);
}

#[test]
fn dropped_records_are_a_note() {
    let mut trace = consistent();
    trace.dropped = 2;
    trace.facts[0].1 = "6".to_owned();
    trace.activities.pop();
    let verdict = check(&trace);
    assert!(verdict.is_consistent());
    let notes: Vec<Rule> = verdict.findings().iter().map(|finding| finding.rule).collect();
    assert_eq!(notes, [Rule::LinkBytes, Rule::Completeness]);
    // No more tasks can be missing than were dropped.
    trace.facts[0].1 = "7".to_owned();
    assert_eq!(rules(&check(&trace)), [Rule::TaskCount]);
}

#[test]
fn all_findings_are_counted() {
    let mut trace = consistent();
    trace.counters[0].samples = (0..1000).map(|at_ns| (at_ns, -1.0)).collect();
    let verdict = check(&trace);
    assert_eq!((verdict.faults_of(Rule::Counter), verdict.fault_count()), (1000, 1000));
    assert!(verdict.findings().len() < 50);
}

/// The event of a task on thread 1.
fn event(id: u64, start_us: u64, length_us: u64) -> String {
    format!(
        concat!(
            r#"{{"ph":"X","cat":"task","name":"gemm","pid":1,"tid":1,"ts":{start_us},"dur":{length_us},"#,
            r#""args":{{"task":{id}}}}}"#
        ),
        id = id,
        start_us = start_us,
        length_us = length_us
    )
}

#[test]
fn slices_of_a_thread_nest() {
    let rules_of = |events: &[String]| {
        let text = format!("[{}]", events.join(","));
        rules(&check_reading(&ReadOptions::default().read(text.as_bytes()).unwrap()))
    };
    // Beside each other, nested, at either end of the outer one, in any order, of length zero at a boundary.
    let nested = [event(4, 10, 0), event(1, 0, 5), event(2, 5, 5), event(0, 0, 10), event(3, 3, 1), event(5, 10, 10)];
    assert_eq!(rules_of(&nested), []);
    for crossing in [event(9, 5, 6), event(9, 15, 10)] {
        let mut events = nested.to_vec();
        events.push(crossing);
        assert_eq!(rules_of(&events), [Rule::Nesting]);
        // On its own thread it crosses nothing.
        let last = events.last_mut().unwrap();
        *last = last.replace("\"tid\":1", "\"tid\":2");
        assert_eq!(rules_of(&events), []);
    }
}

#[test]
fn counter_times_ascend() {
    let sample = |at_us| format!(r#"{{"ph":"C","name":"ready tasks","pid":1,"ts":{at_us},"args":{{"value":1}}}}"#);
    let text = format!("[{},{},{}]", sample(5), sample(4), sample(6));
    let reading = ReadOptions::default().read(text.as_bytes()).unwrap();
    assert_eq!(reading.trace.counters[0].samples, [(4000, 1.0), (5000, 1.0), (6000, 1.0)]);
    assert_eq!(rules(&check_reading(&reading)), [Rule::Counter]);
}

/// Runs the command on a file with this text.
fn command(name: &str, text: &str, arguments: &[&str]) -> Output {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    let command = env!("CARGO_BIN_EXE_superscalar-trace");
    Command::new(command).arg("check").arg(&path).args(arguments).output().unwrap()
}

#[test]
fn exit_status_of_the_command() {
    let good = format!("{{\"traceEvents\":[{},{}]}}", event(0, 0, 5), event(1, 5, 5));
    let output = command("check-good.json", &good, &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains("consistent: 2 tasks, 0 hazard arrows"), "{text}");

    let output = command("check-bad.json", &good.replace("\"task\":1", "\"task\":0"), &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.starts_with("fault: task 0: it has 2 slices\n"), "{text}");

    let cut = &good[..good.len() - 10];
    let output = command("check-cut.json", cut, &[]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains(&format!("(byte {})", cut.len())), "{text}");
    let output = command("check-cut.json", cut, &["--whole-events"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout).unwrap().contains("1 tasks"));

    let absent =
        Command::new(env!("CARGO_BIN_EXE_superscalar-trace")).args(["check", "no such file"]).output().unwrap();
    assert_eq!(absent.status.code(), Some(2));
}
