//! Properties of every run.

use super::run::Run;
use proptest::prelude::*;
use superscalar_traces::{
    ActivityKind, Hazard, HazardEdge, Outcome, Task, Trace,
    analysis::{
        Analysis,
        replay::{Costs, Replay, WhatIf},
    },
};

/// A task of a consistent run: lane, pause before it, length, time between its insertion and its start, its
/// predecessors among the tasks before it, priority.
type Drawn = (u32, u64, u64, u64, Vec<prop::sample::Index>, i32);

fn drawn(lanes: u32) -> impl Strategy<Value = Drawn> {
    let predecessors = prop::collection::vec(any::<prop::sample::Index>(), 0..4);
    (0..lanes, 0_u64..50, 0_u64..100, 0_u64..80, predecessors, -9..10_i32)
}

/// A run that a runtime could record: no task begins before its predecessors have ended, before its insertion, or
/// before the previous task of its lane has ended.
fn consistent() -> impl Strategy<Value = Trace> {
    consistent_below(60)
}

/// Like [`consistent`], with fewer than `tasks_end` tasks.
fn consistent_below(tasks_end: usize) -> impl Strategy<Value = Trace> {
    (1_u32..5).prop_flat_map(move |lanes| {
        let tasks = prop::collection::vec(drawn(lanes), 0..tasks_end);
        (Just(lanes), tasks, prop::option::of(1_u64..20)).prop_map(|(lanes, tasks, window)| run(lanes, &tasks, window))
    })
}

fn run(lanes: u32, tasks: &[Drawn], window: Option<u64>) -> Trace {
    let mut run = Run::workers(lanes as usize);
    let mut free_ns = vec![0; lanes as usize];
    let mut ends_ns: Vec<u64> = Vec::new();
    for (lane, pause_ns, length_ns, before_ns, predecessors, priority) in tasks {
        let after: Vec<usize> = match ends_ns.len() {
            0 => Vec::new(),
            count => predecessors.iter().map(|index| index.index(count)).collect(),
        };
        let released_ns = after.iter().map(|&task| ends_ns[task]).max().unwrap_or(0);
        let start_ns = u64::max(free_ns[*lane as usize], released_ns) + pause_ns;
        let end_ns = start_ns + length_ns;
        free_ns[*lane as usize] = end_ns;
        ends_ns.push(end_ns);
        let after: Vec<u32> = after.into_iter().map(|task| task as u32 + 1).collect();
        let kernel = ["gemm", "trsm", "potrf"][ends_ns.len() % 3];
        run = run.task(kernel, *lane, start_ns, end_ns).inserted(start_ns.saturating_sub(*before_ns)).after(&after);
        run = run.with(|task| task.priority = *priority);
    }
    Trace { window, ..run.trace() }
}

/// A run that the model's types allow, including inconsistent ones: overlapping tasks, cycles of hazards, hazards on
/// missing tasks.
fn strange() -> impl Strategy<Value = Trace> {
    let task = (0_u32..5, 0_u64..200, 0_u64..100, prop::option::of(0_u64..300), 0_u8..4);
    let activity = (0_usize..5, 0_u32..5, 0_u64..200, 0_u64..100, prop::option::of(0_u64..30));
    let hazards = prop::collection::vec((0_u32..40, 0_u32..40), 0..80);
    let samples = prop::collection::vec((0_u64..300, 0.0..5.0_f64), 0..20);
    let activities = prop::collection::vec(activity, 0..20);
    (prop::collection::vec(task, 0..30), activities, hazards, samples).prop_map(
        |(tasks, activities, hazards, mut samples)| {
            let mut run = Run::workers(3);
            for (lane, start_ns, length_ns, inserted_ns, outcome) in tasks {
                run = run.task("k", lane, start_ns, start_ns + length_ns).with(|task| {
                    task.inserted_ns = inserted_ns;
                    task.outcome = [Outcome::Completed, Outcome::Failed, Outcome::Panicked, Outcome::Cancelled]
                        [usize::from(outcome)];
                });
            }
            let kinds = [
                (ActivityKind::Stall, "data"),
                (ActivityKind::Stall, "window full"),
                (ActivityKind::Transfer, "host to cuda:0"),
                (ActivityKind::Eviction, "workers"),
                (ActivityKind::Allocation, "cuda:0"),
            ];
            for (kind, lane, start_ns, length_ns, task) in activities {
                let (kind, name) = kinds[kind];
                run = run.activity(kind, name, lane, start_ns, start_ns + length_ns);
                run = run.with_activity(|activity| activity.task = task);
            }
            samples.sort_by_key(|sample| sample.0);
            let mut trace = run.counter("ready tasks", &samples).window(3).trace();
            let hazard = |&(from, to): &(u32, u32)| HazardEdge { from, to, kind: Hazard::WaR, datum: 0 };
            trace.hazards = hazards.iter().map(hazard).collect();
            trace
        },
    )
}

/// Checks that the parts of each lane add up to the makespan, and that its gaps cover its idle time in order and
/// without overlap.
fn parts_add_up(trace: &Trace) {
    let analysis = Analysis::new(trace);
    let wall_ns = trace.wall_ns();
    for row in analysis.lanes.rows.iter().chain(&analysis.lanes.processes) {
        assert_eq!(row.busy_ns + row.communication_ns + row.other_ns, wall_ns, "{row:?}");
    }
    for row in &analysis.lanes.rows {
        let gaps = analysis.gaps.of_lane(row.lane);
        assert_eq!(gaps.iter().map(|gap| gap.length_ns()).sum::<u64>(), wall_ns - row.busy_ns);
        assert_eq!(row.idle.iter().map(|total| total.time_ns).sum::<u64>(), wall_ns - row.busy_ns);
        assert!(gaps.windows(2).all(|pair| pair[0].end_ns <= pair[1].start_ns), "{gaps:?}");
        assert!(gaps.iter().all(|gap| gap.start_ns < gap.end_ns), "{gaps:?}");
    }
    assert_eq!(analysis.gaps.total_ns, analysis.gaps.all.iter().map(|gap| gap.length_ns()).sum::<u64>());
    let text = analysis.to_string();
    assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
    serde_json::to_string(&analysis).expect("an analysis can be written as JSON");
}

/// Returns the length of the longest path from a task, by exhaustive search.
fn longest_from(trace: &Trace, task: u32) -> u64 {
    let next = trace.hazards.iter().filter(|hazard| hazard.from == task);
    let rest = next.map(|hazard| longest_from(trace, hazard.to)).max();
    trace.tasks[task as usize].length_ns() + rest.unwrap_or(0)
}

#[test]
fn zero_length_task_is_not_nested() {
    let run = Run::workers(1).task("before", 0, 0, 1);
    let run = run.task("no time", 0, 1, 1).after(&[1]).task("behind", 0, 1, 2).after(&[2]);
    let trace = run.trace();
    let replay = Replay::new(&trace).with_costs(Costs::default());
    let prediction = replay.predict(&WhatIf { workers: Some(100), speedups: Vec::new() }).unwrap();
    assert_eq!((prediction.makespan_ns, Analysis::new(&trace).path.length_ns), (2, 2));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn consistent_runs_add_up(trace in consistent()) {
        parts_add_up(&trace);
    }

    #[test]
    fn inconsistent_runs_add_up(trace in strange()) {
        parts_add_up(&trace);
    }

    #[test]
    fn bounds_are_below_the_makespan(trace in consistent()) {
        let analysis = Analysis::new(&trace);
        prop_assert!(analysis.path.length_ns <= trace.wall_ns());
        prop_assert!(analysis.bounds.bound_ns <= trace.wall_ns(), "{:?}", analysis.bounds);
        prop_assert_eq!(analysis.path.length_ns, analysis.bounds.path_ns);
        prop_assert_eq!(analysis.path.length_ns, analysis.parallelism.path_ns);
        let area: f64 = analysis.parallelism.profile.iter().map(|s| s.width * (s.end_ns - s.start_ns) as f64).sum();
        prop_assert!((area - analysis.parallelism.work_ns as f64).abs() < 1e-6 * area + 1e-6);
        let blamed: u64 = analysis.path.blame.iter().map(|blame| blame.time_ns).sum();
        prop_assert_eq!(blamed, analysis.path.length_ns);
    }

    #[test]
    fn critical_path_is_the_longest_path(trace in consistent_below(12)) {
        let path = Analysis::new(&trace).path;
        let longest = (0..trace.tasks.len() as u32).map(|task| longest_from(&trace, task)).max();
        prop_assert_eq!(path.length_ns, longest.unwrap_or(0));
        let along: u64 = path.tasks.iter().map(|&task| trace.tasks[task as usize].length_ns()).sum();
        prop_assert_eq!(along, path.length_ns);
    }

    #[test]
    fn path_follows_hazards(trace in consistent()) {
        let path = Analysis::new(&trace).path;
        for pair in path.tasks.windows(2) {
            prop_assert!(trace.hazards.iter().any(|hazard| hazard.from == pair[0] && hazard.to == pair[1]));
        }
    }

    #[test]
    fn replay_respects_the_bounds(
        trace in consistent(),
        workers in 1_usize..9,
        dispatch_ns in 0_u64..20,
        insertion: bool,
    ) {
        let replay = Replay::new(&trace).with_costs(Costs { dispatch_ns, wake_ns: 5, insertion });
        let prediction = replay.predict(&WhatIf { workers: Some(workers), speedups: Vec::new() }).unwrap();
        let work_ns: u64 = trace.tasks.iter().map(|task| task.length_ns()).sum();
        prop_assert!(prediction.makespan_ns >= work_ns.div_ceil(workers as u64));
        prop_assert!(prediction.makespan_ns >= Analysis::new(&trace).path.length_ns);
    }

    #[test]
    fn one_worker_takes_the_total_work(trace in consistent()) {
        let replay = Replay::new(&trace).with_costs(Costs::default());
        let prediction = replay.predict(&WhatIf { workers: Some(1), speedups: Vec::new() }).unwrap();
        prop_assert_eq!(prediction.makespan_ns, trace.tasks.iter().map(|task| task.length_ns()).sum::<u64>());
    }

    #[test]
    fn unlimited_workers_take_the_critical_path(trace in consistent()) {
        let replay = Replay::new(&trace).with_costs(Costs::default());
        let prediction = replay.predict(&WhatIf { workers: Some(100), speedups: Vec::new() }).unwrap();
        prop_assert_eq!(prediction.makespan_ns, Analysis::new(&trace).path.length_ns);
    }

    #[test]
    fn doubled_speed_halves_the_time(trace in consistent()) {
        let even = |task: &Task| Task { end_ns: task.start_ns + task.length_ns() / 2 * 2, ..*task };
        let even = Trace { tasks: trace.tasks.iter().map(even).collect(), ..trace };
        let replay = Replay::new(&even).with_costs(Costs::default());
        let ask = |speedups: Vec<(String, f64)>| {
            replay.predict(&WhatIf { workers: Some(2), speedups }).unwrap().makespan_ns
        };
        let all = even.kernels.iter().map(|kernel| (kernel.clone(), 2.0)).collect();
        prop_assert_eq!(2 * ask(all), ask(Vec::new()));
    }
}
