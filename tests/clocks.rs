//! Tests that a recorded program runs in the same order in the runtime's real time and in the replay's virtual time.
//!
//! On one worker the order depends on the policy alone, and not on the machine's clock.

use superscalar::{PolicyName, Runtime, TaskSpec, recording::ChromeTrace};
use superscalar_traces::{
    Trace,
    analysis::replay::{Costs, Replay, WhatIf},
};

/// Fewer tasks than fit into the window: the time at which the inserting thread notices ends of tasks must not matter.
const TASKS: u64 = 200;

/// A pseudorandom generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }
}

/// Runs a program of tasks that each update one of a few data and read others, with different priorities.
fn run_once(policy: PolicyName, seed: u64) -> Trace {
    let runtime =
        Runtime::builder().workers(1).policy(policy).window(2 * TASKS as usize).trace(true).build().expect("a thread");
    let mut numbers = Numbers(seed);
    let mut data = vec![0_u64; 2 + numbers.below(30) as usize];
    let scope = runtime.scope(|s| {
        let handles: Vec<_> = data.iter_mut().map(|datum| s.lend(datum)).collect();
        let count = handles.len() as u64;
        for at in 0..TASKS {
            let (to, from, other) = (numbers.below(count), numbers.below(count), numbers.below(count));
            let priority = [0, 0, 0, 1, 3, -2][numbers.below(6) as usize];
            let task = TaskSpec::new("task").priority(priority);
            let (to, from, other) = (&handles[to as usize], &handles[from as usize], &handles[other as usize]);
            let body = move |(to, from): (&mut u64, &u64)| *to = to.wrapping_mul(3).wrapping_add(*from + at);
            match (std::ptr::eq(to, from), std::ptr::eq(to, other) || std::ptr::eq(from, other)) {
                (true, _) => s.spawn(task, to.read_write(), move |to| *to = to.wrapping_mul(5).wrapping_add(at)),
                (false, true) => s.spawn(task, (to.read_write(), from.read()), body),
                (false, false) => {
                    s.spawn(task, (to.read_write(), from.read(), other.read()), move |(to, from, other)| {
                        *to = to.wrapping_mul(7).wrapping_add(from ^ other)
                    })
                }
            };
        }
    });
    scope.expect("tasks that do not fail");
    let (recording, mut text) = (runtime.take_recording().expect("it is recorded"), Vec::new());
    ChromeTrace::new(&recording).write(&mut text).expect("a vector takes it");
    Trace::read(&text[..]).expect("a trace")
}

/// Returns a run in which one thread inserted all tasks and then ran them. While a runtime starts, its worker may begin
/// before the inserting thread and run tasks at the same time; such a run is repeated.
fn run(policy: PolicyName, seed: u64) -> Trace {
    let is_serial = |trace: &Trace| {
        let inserted_ns = trace.tasks.iter().filter_map(|task| task.inserted_ns).max();
        let (lane, start_ns) = (trace.tasks[0].lane, trace.tasks[0].start_ns);
        inserted_ns.is_some_and(|last_ns| last_ns <= start_ns) && trace.tasks.iter().all(|task| task.lane == lane)
    };
    let mut runs = (0..100).map(|_| run_once(policy, seed));
    runs.find(is_serial).expect("a run on one thread")
}

/// Returns the numbers of the tasks in the order of the run, and in that of the replay.
fn orders(trace: &Trace) -> (Vec<u64>, Vec<u64>) {
    assert_eq!(trace.tasks.len() as u64, TASKS);
    // In the run, all tasks were inserted before the first ran; so are they in the replay.
    let replay = Replay::new(trace).with_costs(Costs::default());
    let plan = replay.plan(&WhatIf { workers: Some(1), speedups: Vec::new() }).expect("a plan");
    let replayed = plan.iter().map(|planned| trace.tasks[planned.task as usize].id);
    (trace.tasks.iter().map(|task| task.id).collect(), replayed.collect())
}

fn same_order(policy: PolicyName) {
    for seed in 0..20 {
        let (recorded, replayed) = orders(&run(policy, seed));
        assert_eq!(recorded, replayed, "{policy:?}, program {seed}");
    }
}

#[test]
fn fifo() {
    same_order(PolicyName::Fifo);
}

#[test]
fn work_stealing() {
    same_order(PolicyName::WorkStealing);
}

#[test]
fn priority() {
    same_order(PolicyName::Priority);
}

#[test]
fn another_policy_has_another_order() {
    let mut trace = run(PolicyName::WorkStealing, 0);
    trace.facts.retain(|(key, _)| key != "policy");
    let (recorded, replayed) = orders(&trace);
    assert_ne!(recorded, replayed);
}
