//! Recorded predictions.

use std::time::Instant;
use superscalar_runtime::{
    Runtime,
    recording::{NodeId, PlanRecord, Prediction, TaskRecord},
};

fn prediction() -> Prediction {
    let traffic = vec![(NodeId(0), NodeId(1), 64)];
    Prediction { name: "double", time_ns: 100, tile: vec![8], traffic }
}

/// Inserts planned tasks from one line of the program, a plan for each task.
#[track_caller]
fn run(rt: &Runtime, plans: usize) {
    let mut x = 1_u64;
    rt.scope(|s| {
        let x = s.lend(&mut x);
        for _ in 0..plans {
            let since = Instant::now();
            s.spawn("double", x.read_write(), |x| *x = x.wrapping_mul(2));
            s.record_plan(since, prediction);
        }
    })
    .expect("no task fails");
}

#[test]
fn plans_are_recorded_around_their_tasks() {
    let rt = Runtime::builder().workers(2).trace(true).build().expect("a runtime");
    run(&rt, 3);
    let mut recording = rt.take_recording().expect("a recording");
    recording.plans.sort_by_key(|plan| plan.start_ns);
    assert_eq!(recording.plans.len(), 3);
    for (plan, task) in recording.plans.iter().zip(&recording.tasks) {
        let (PlanRecord { start_ns, inserted_ns, lane, .. }, TaskRecord { inserted_ns: at_ns, .. }) = (plan, task);
        assert_eq!(plan.prediction, prediction());
        assert!(start_ns <= at_ns && at_ns <= inserted_ns, "{plan:?} {task:?}");
        assert_eq!(recording.lanes[*lane as usize].name, "plans");
        assert_eq!(plan.site.file(), task.site.file());
    }
    // A recording without plans has no lane for them.
    run(&rt, 0);
    let recording = rt.take_recording().expect("a recording");
    assert!(recording.lanes.iter().all(|lane| lane.name != "plans"), "{:?}", recording.lanes);
}

#[test]
fn oldest_plans_are_dropped_and_counted() {
    let rt = Runtime::builder().workers(1).window(64).trace(true).trace_memory(1).build().expect("a runtime");
    const PLANS: usize = 20_000;
    run(&rt, PLANS);
    let recording = rt.take_recording().expect("a recording");
    let kept = recording.plans.len();
    assert!(kept > 100 && kept < PLANS, "{kept} plans were kept");
    assert!(recording.dropped as usize > PLANS - kept, "{} records were dropped", recording.dropped);
    let newest = recording.plans.iter().filter(|plan| plan.inserted_ns > recording.whole_from_ns).count();
    assert!(newest > 100, "only {newest} plans are newer than what was dropped");
}

#[test]
fn plans_are_not_made_without_a_recorder() {
    let rt = Runtime::builder().workers(1).trace(false).build().expect("a runtime");
    rt.scope(|s| s.record_plan(Instant::now(), || unreachable!("nothing is recorded"))).expect("no task fails");
}
