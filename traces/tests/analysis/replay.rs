use super::run::Run;
use superscalar_schedule::PolicyName;
use superscalar_traces::{
    LaneKind, Trace,
    analysis::replay::{Costs, Replay, WhatIf, WhatIfError},
};

/// Returns a replay without costs, so that results are sums of lengths.
fn free(trace: &Trace) -> Replay {
    Replay::new(trace).with_costs(Costs::default())
}

fn workers(workers: usize) -> WhatIf {
    WhatIf { workers: Some(workers), speedups: Vec::new() }
}

/// Task 1, then 2 to 5 in parallel, then 6.
fn fork() -> Trace {
    let run = Run::workers(2).task("panel", 0, 0, 100);
    let updates = [(0, 100), (1, 100), (0, 150), (1, 150)];
    let run =
        updates.into_iter().fold(run, |run, (lane, at_ns)| run.task("update", lane, at_ns, at_ns + 50).after(&[1]));
    run.task("panel", 0, 200, 300).after(&[2, 3, 4, 5]).trace()
}

#[test]
fn workers_and_kernels() {
    let replay = free(&fork());
    let makespan = |question: &WhatIf| replay.predict(question).unwrap().makespan_ns;
    assert_eq!(makespan(&WhatIf::default()), 300);
    assert_eq!([1, 2, 3, 4, 64].map(|count| makespan(&workers(count))), [400, 300, 300, 250, 250]);
    let faster = WhatIf { workers: Some(2), speedups: vec![("panel".to_owned(), 2.0)] };
    let prediction = replay.predict(&faster).unwrap();
    assert_eq!((prediction.makespan_ns, prediction.path_ns, prediction.speedup), (200, 150, 1.5));
    assert_eq!((prediction.utilisation, prediction.path_share), (300.0 / 400.0, 0.75));
    assert_eq!(prediction.question, "2 workers, panel 2 x");
}

#[test]
fn questions_without_an_answer() {
    let replay = free(&fork());
    let asked = |kernel: &str, factor| {
        replay.predict(&WhatIf { workers: None, speedups: vec![(kernel.to_owned(), factor)] }).unwrap_err()
    };
    let known = vec!["panel".to_owned(), "update".to_owned()];
    assert_eq!(asked("gemm", 2.0), WhatIfError::UnknownKernel { name: "gemm".to_owned(), known });
    assert!(matches!(asked("panel", 0.0), WhatIfError::Factor { .. }));
    assert!(matches!(asked("panel", f64::NAN), WhatIfError::Factor { .. }));
    assert_eq!(replay.predict(&workers(0)).unwrap_err(), WhatIfError::Workers(0));
    assert_eq!(
        replay.predict(&workers(1 << 20)).unwrap_err().to_string(),
        "1048576 workers requested; expected 1 to 4096"
    );
}

#[test]
fn urgent_tasks_come_first() {
    // A long chain follows the last of three tasks: running that one first hides the chain behind the others.
    let run = |priority| {
        Run::workers(2)
            .task("a", 0, 0, 50)
            .task("b", 1, 0, 50)
            .task("c", 0, 50, 100)
            .with(|task| task.priority = priority)
            .task("d", 0, 100, 200)
            .with(|task| task.priority = priority)
            .after(&[3])
            .trace()
    };
    let makespan = |priority| free(&run(priority)).predict(&WhatIf::default()).unwrap().makespan_ns;
    assert_eq!((makespan(0), makespan(1)), (200, 150));
}

/// The policy named in the file is used: a lane takes its own tasks first, then another lane's.
#[test]
fn policy_of_the_run_is_used() {
    let order = |policy: &str| {
        let run = (0..4).fold(Run::workers(2), |run, at| run.task("a", 0, 10 * at, 10 * at + 10));
        let mut trace = run.task("b", 1, 0, 10).with(|task| task.priority = 1).trace();
        trace.facts.push(("policy".to_owned(), policy.to_owned()));
        let plan = free(&trace).plan(&workers(1)).unwrap();
        plan.iter().map(|planned| trace.tasks[planned.task as usize].id).collect::<Vec<_>>()
    };
    assert_eq!(order("fifo"), [1, 2, 3, 4, 5]);
    assert_eq!(order("work-stealing"), [5, 4, 3, 2, 1]);
    assert_eq!(order("priority"), [5, 1, 2, 3, 4]);
    assert_eq!(order("an unknown policy"), order("priority"));
}

/// A run with devices names a policy for devices. The replay gives each group of lanes a policy of its own.
#[test]
fn every_policy_is_replayed() {
    for policy in PolicyName::ALL {
        let mut trace = Run::workers(2)
            .lane("queue 0", "sim:0", LaneKind::Queue)
            .task("gemm", 2, 0, 100)
            .task("potrf", 0, 100, 150)
            .after(&[1])
            .task("trsm", 1, 100, 170)
            .after(&[1])
            .task("gemm", 2, 170, 270)
            .after(&[2, 3])
            .trace();
        trace.facts.push(("policy".to_owned(), policy.to_string()));
        let makespan = |question: &WhatIf| free(&trace).predict(question).unwrap().makespan_ns;
        assert_eq!([makespan(&WhatIf::default()), makespan(&workers(1))], [270, 320], "{policy}");
    }
}

/// The maximum number of workers is replayed in seconds.
#[test]
fn thousands_of_workers_are_fast() {
    let run = (0..5000).fold(Run::workers(8), |run, at| run.task("a", at % 8, 100 * at as u64, 100 * at as u64 + 100));
    let start = std::time::Instant::now();
    let most = free(&run.trace()).predict(&workers(Replay::WORKERS_MAX)).unwrap();
    assert_eq!(most.makespan_ns, 200);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn inserting_worker_runs_no_task() {
    let insertions = |run: Run| {
        (0..4).fold(run, |run, task| run.task("a", 1, 100 + 100 * task, 200 + 100 * task).inserted(100 * task))
    };
    let trace = insertions(Run::workers(2)).trace();
    let costs = Costs { insertion: true, ..Costs::default() };
    let replay = Replay::new(&trace).with_costs(costs);
    // The last task is inserted 300 after the first; a free worker takes it at once.
    assert_eq!(replay.predict(&workers(2)).unwrap().makespan_ns, 400);
    // The only worker first inserts all four, and starts its first task then.
    assert_eq!(replay.predict(&workers(1)).unwrap().makespan_ns, 400);
    assert_eq!(free(&trace).predict(&workers(4)).unwrap().makespan_ns, 100);
}

#[test]
fn full_window_lets_inserter_run_tasks() {
    // One worker, a window of 2: insert, insert, run until an eighth (one task) is free, insert, ….
    let run = Run::workers(1)
        .task("a", 0, 20, 120)
        .inserted(0)
        .task("a", 0, 130, 230)
        .inserted(10)
        .task("a", 0, 240, 340)
        .inserted(130)
        .task("a", 0, 340, 440)
        .inserted(240);
    let trace = run.window(2).trace();
    let replay = Replay::new(&trace).with_costs(Costs { insertion: true, ..Costs::default() });
    assert_eq!(replay.predict(&WhatIf::default()).unwrap().makespan_ns, 100 + 10 + 100 + 10 + 100 + 100);
}

#[test]
fn waits_of_the_program_are_replayed() {
    // Two scopes: the second begins 50 after the first has ended.
    let run = Run::workers(1)
        .task("a", 0, 10, 110)
        .inserted(0)
        .task("a", 0, 110, 210)
        .inserted(10)
        .task("b", 0, 260, 360)
        .inserted(260);
    let replay = Replay::new(&run.trace()).with_costs(Costs { insertion: true, ..Costs::default() });
    assert_eq!(replay.predict(&WhatIf::default()).unwrap().makespan_ns, 350);
    assert_eq!(replay.predict(&workers(2)).unwrap().makespan_ns, 100 + 10 + 50 + 100);
}

#[test]
fn costs_are_measured_between_tasks() {
    let run = (0..10).fold(Run::workers(1), |run, task| run.task("a", 0, 110 * task, 110 * task + 100));
    let replay = Replay::new(&run.trace());
    assert_eq!(replay.costs(), Costs { dispatch_ns: 10, wake_ns: 0, insertion: true });
    assert_eq!(replay.predict(&WhatIf::default()).unwrap().makespan_ns, 10 * 100 + 9 * 10);
}

#[test]
fn wake_time_is_measured_on_idle_lanes() {
    let run = Run::workers(2).task("a", 0, 0, 100).task("b", 1, 0, 10).task("c", 1, 107, 120).after(&[1]);
    assert_eq!(Replay::new(&run.trace()).costs().wake_ns, 7);
}

#[test]
fn queues_keep_their_tasks() {
    let run = Run::workers(2)
        .lane("queue 0", "cuda:0", LaneKind::Queue)
        .task("gemm", 2, 0, 100)
        .task("gemm", 2, 100, 200)
        .task("potrf", 0, 200, 250)
        .after(&[2]);
    let replay = free(&run.trace());
    assert_eq!(replay.workers(), 2);
    assert_eq!(replay.predict(&workers(16)).unwrap().makespan_ns, 250, "more workers do not help a queue");
}

#[test]
fn nested_tasks_belong_to_the_outer() {
    let run = Run::workers(1).task("outer", 0, 0, 100).task("inner", 0, 20, 80).task("last", 0, 100, 150).after(&[1]);
    let replay = free(&run.trace());
    assert_eq!(replay.predict(&WhatIf::default()).unwrap().makespan_ns, 150);
    let faster = WhatIf { workers: None, speedups: vec![("inner".to_owned(), 3.0)] };
    assert_eq!(replay.predict(&faster).unwrap().makespan_ns, 40 + 20 + 50);
}

#[test]
fn deadlocked_program_continues() {
    // The second scope's insertion comes after a wait, but an earlier task waits for that task: no single thread
    // inserts like this.
    let run = Run::workers(1)
        .task("a", 0, 10, 100)
        .inserted(0)
        .task("b", 0, 200, 300)
        .inserted(5)
        .after(&[3])
        .task("c", 0, 110, 200)
        .inserted(105)
        .window(1);
    let replay = Replay::new(&run.trace());
    assert!(replay.predict(&workers(1)).unwrap().makespan_ns >= 280);
}
