//! Tests of shares, homes, panels, priorities and stealing.

use crate::{
    BlasLevel, CapabilityWeights, Place, Policy, ReadyTask, Resource, TaskFilter, TaskId,
    outlook_mock::{FinishedTask, MockOutlook, MockTask, count_on},
};

const HOST: Resource = Resource::HOST;
const FAST: Resource = Resource(1);
const SLOW: Resource = Resource(2);
const NEVER: f64 = 1e9;

fn ran_all(mock: &MockOutlook, policy: &CapabilityWeights, depth: usize, count: u64) -> Vec<FinishedTask> {
    let takes_ns = |task: u64, on: Resource| {
        mock.tasks.borrow()[&TaskId(task)].forecasts[usize::from(on.0)].map_or(0, |it| it.computation_ns as u64)
    };
    let ran = mock.run(policy, depth, takes_ns);
    let mut tasks: Vec<u64> = ran.iter().map(|one| one.task).collect();
    tasks.sort_unstable();
    assert_eq!(tasks, (1..=count).collect::<Vec<_>>(), "each ran once");
    ran
}

/// Pushes equal tasks with these times, by resource, and runs them; devices take up to two ahead.
fn equal(workers: usize, ns: &[f64], count: u64) -> Vec<FinishedTask> {
    let mock = MockOutlook::new(workers, ns.len() as u16 - 1);
    let policy = CapabilityWeights::new(mock.places());
    (1..=count).for_each(|id| mock.push(&policy, id, 0, MockTask::with_times_ns(ns)));
    ran_all(&mock, &policy, 2, count)
}

fn makespan(ran: &[FinishedTask]) -> u64 {
    ran.iter().map(|one| one.end_ns).max().unwrap_or(0)
}

#[test]
fn shares_follow_the_weights() {
    let ran = equal(1, &[NEVER, 800.0, 1000.0, 1600.0], 230);
    for (device, expected) in [100, 80, 50].into_iter().enumerate() {
        let on = Resource::device(device as u16);
        assert!(count_on(&ran, on).abs_diff(expected) <= 1, "{} on {on:?} instead of {expected}", count_on(&ran, on));
    }
    assert_eq!(count_on(&ran, HOST), 0);
}

#[test]
fn slow_device_never_takes_the_last_task() {
    for count in 1..60 {
        let alone = makespan(&equal(1, &[NEVER, 100.0], count));
        let ran = equal(1, &[NEVER, 100.0, 730.0], count);
        assert!(makespan(&ran) <= alone, "{count} tasks: {} instead of {alone}", makespan(&ran));
        assert!(count_on(&ran, SLOW) > 0 || count < 8, "{count} tasks");
    }
}

#[test]
fn worker_help_never_delays_the_end() {
    for workers in 1..4 {
        for count in 1..60 {
            let alone = makespan(&equal(workers, &[NEVER, 100.0], count));
            let ran = equal(workers, &[900.0, 100.0], count);
            assert!(makespan(&ran) <= alone, "{count} tasks, {workers} workers");
            assert!(count_on(&ran, HOST) > 0 || count < 12, "{count} tasks");
        }
    }
}

#[test]
fn slower_device_than_forecast_loses_its_tasks() {
    let mock = MockOutlook::new(1, 2);
    let policy = CapabilityWeights::new(mock.places());
    (1..=40).for_each(|id| mock.push(&policy, id, 0, MockTask::with_times_ns(&[NEVER, 100.0, 100.0])));
    // In truth the second device takes ten times as long.
    let ran = mock.run(&policy, 2, |_, on| if on == SLOW { 1000 } else { 100 });
    assert_eq!(ran.len(), 40);
    assert!(count_on(&ran, SLOW) <= 6, "{} on the slow one", count_on(&ran, SLOW));
    assert!(makespan(&ran) <= 5000, "{}", makespan(&ran));
}

#[test]
fn panel_runs_on_host_unless_device_is_faster() {
    let mock = MockOutlook::new(2, 1);
    let policy = CapabilityWeights::new(mock.places());
    let panel = |device_ns: f64, moved_ns: f64| {
        let work = MockTask::with_times_ns(&[1000.0, device_ns]).level(BlasLevel::Two).homed(FAST);
        work.with(FAST, |forecast| forecast.communication_ns = moved_ns)
    };
    mock.push(&policy, 1, 0, panel(500.0, 600.0));
    assert_eq!(mock.take(&policy, mock.device(0)), None);
    assert_eq!(mock.take(&policy, Place(0)), Some(1));
    mock.push(&policy, 2, 0, panel(500.0, 300.0));
    assert_eq!(mock.take(&policy, Place(1)), None);
    assert_eq!(mock.take(&policy, mock.device(0)), Some(2));
}

#[test]
fn panel_not_run_on_host_goes_home() {
    let mock = MockOutlook::new(1, 2);
    let policy = CapabilityWeights::new(mock.places());
    let panel = |ns: &[f64]| MockTask::with_times_ns(ns).level(BlasLevel::Two).homed(SLOW);
    // Another device would be faster, but only its home is compared with the host.
    mock.push(&policy, 1, 0, panel(&[1000.0, 100.0, 500.0]));
    assert_eq!(mock.take(&policy, mock.device(0)), None);
    assert_eq!(mock.take(&policy, mock.device(1)), Some(1));
    mock.push(&policy, 2, 0, panel(&[400.0, 100.0, 500.0]));
    assert_eq!(mock.take(&policy, mock.device(1)), None);
    assert_eq!(mock.take(&policy, Place(0)), Some(2));
}

#[test]
fn copies_are_compared_relative_to_computation() {
    let mock = MockOutlook::new(1, 1);
    let policy = CapabilityWeights::new(mock.places());
    let moved = |ns: f64, moved_ns: f64| {
        MockTask::with_times_ns(&[NEVER, ns]).with(FAST, |forecast| forecast.communication_ns = moved_ns)
    };
    // Each task is smaller than the one before, as at the end of a factorization; the last one has its data from other
    // places.
    for (id, part) in [(1, 1.0), (2, 0.8), (3, 0.6)] {
        mock.push(&policy, id, 0, moved(100.0 * part, 400.0 * part));
    }
    mock.push(&policy, 4, 0, moved(100.0, 200.0));
    let order: Vec<u64> = ran_all(&mock, &policy, 1, 4).iter().map(|one| one.task).collect();
    assert_eq!(order, [4, 1, 2, 3]);
}

/// A task with its home on the first device: it takes 100 there, after data from host memory that arrive in this time.
fn dealt(from_host_ns: Option<f64>) -> MockTask {
    MockTask::with_times_ns(&[NEVER, 100.0]).homed(FAST).with(FAST, |forecast| {
        (forecast.communication_ns, forecast.from_host) = (from_host_ns.unwrap_or(0.0), from_host_ns.is_some());
    })
}

#[test]
fn dealt_data_are_fetched_ahead() {
    let mock = MockOutlook::new(1, 1);
    let policy = CapabilityWeights::new(mock.places());
    let take = || mock.take(&policy, mock.device(0));
    (1..=3).for_each(|id| mock.push(&policy, id, 0, dealt(None)));
    (4..=9).for_each(|id| mock.push(&policy, id, 0, dealt(Some(400.0))));
    mock.push(&policy, 10, 0, dealt(None));
    // Four tasks keep the link busy. Meanwhile tasks whose data are there run in their order.
    let taken: Vec<_> = (0..8).map_while(|_| take()).collect();
    assert_eq!(taken, [4, 5, 6, 7, 1, 2, 3, 10]);
    assert_eq!(take(), None, "more would only wait in the queues");
    policy.ended(&[TaskId(1)], &mock);
    assert_eq!(take(), None, "the ended task did not wait for the host");
    policy.ended(&[TaskId(4)], &mock);
    assert_eq!((take(), take()), (Some(8), None));
    // Data that have arrived count as data that were there.
    mock.tasks.borrow_mut().insert(TaskId(9), dealt(None));
    assert_eq!(take(), Some(9));
}

#[test]
fn arriving_data_are_waited_for_last() {
    let mock = MockOutlook::new(1, 1);
    let policy = CapabilityWeights::new(mock.places());
    let take = || mock.take(&policy, mock.device(0));
    mock.push(&policy, 1, 0, dealt(Some(0.0)));
    mock.push(&policy, 2, 0, dealt(Some(0.0)));
    mock.push(&policy, 3, 0, dealt(None));
    assert_eq!((take(), take()), (Some(3), Some(1)));
    assert_eq!(take(), None);
    policy.ended(&[TaskId(1)], &mock);
    assert_eq!(take(), Some(2));
}

#[test]
fn urgency_overrides_data_location() {
    let mock = MockOutlook::new(1, 1);
    let policy = CapabilityWeights::new(mock.places());
    (1..=6).for_each(|id| mock.push(&policy, id, 1, dealt(Some(400.0))));
    mock.push(&policy, 7, 0, dealt(None));
    let taken: Vec<_> = (0..7).filter_map(|_| mock.take(&policy, mock.device(0))).collect();
    assert_eq!(taken, [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn nothing_is_fetched_ahead_without_room() {
    let mock = MockOutlook::new(1, 1);
    let policy = CapabilityWeights::new(mock.places());
    mock.has_room.set(false);
    (1..=3).for_each(|id| mock.push(&policy, id, 0, dealt(None)));
    (4..=9).for_each(|id| mock.push(&policy, id, 0, dealt(Some(400.0))));
    let taken: Vec<_> = (0..9).filter_map(|_| mock.take(&policy, mock.device(0))).collect();
    assert_eq!(taken, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn last_free_worker_waits_for_panel() {
    let helps = |panel_ns: f64| {
        let mock = MockOutlook::new(1, 1);
        let policy = CapabilityWeights::new(mock.places());
        for id in 1..=20 {
            mock.push(&policy, id, 0, MockTask::with_times_ns(&[panel_ns, NEVER]).level(BlasLevel::Two));
            assert_eq!(mock.take(&policy, Place(0)), Some(id));
            policy.ended(&[TaskId(id)], &mock);
        }
        // Ten updates: the device finishes all of them in 1000 ns, and the host finishes one in 500 ns.
        (21..=30).for_each(|id| mock.push(&policy, id, 0, MockTask::with_times_ns(&[500.0, 100.0])));
        mock.take(&policy, Place(0)).is_some()
    };
    assert!(helps(100.0));
    assert!(!helps(600.0));
}

#[test]
fn dealt_data_keep_no_faster_host_idle() {
    const COUNT: u64 = 240;
    for device_ns in [2.0, 10.0, 40.0, 49.0, 51.0, 60.0, 100.0, 300.0, 1000.0, 5000.0] {
        let mock = MockOutlook::new(2, 1);
        let policy = CapabilityWeights::new(mock.places());
        (1..=COUNT).for_each(|id| mock.push(&policy, id, 0, MockTask::with_times_ns(&[100.0, device_ns]).homed(FAST)));
        let took_ns = makespan(&ran_all(&mock, &policy, 2, COUNT)) as f64;
        let better_ns = COUNT as f64 * device_ns.min(50.0);
        assert!(took_ns <= 1.05 * better_ns, "{device_ns}: {took_ns} instead of {better_ns}");
    }
}

#[test]
fn host_home_is_respected() {
    let mock = MockOutlook::new(3, 1);
    let policy = CapabilityWeights::new(mock.places());
    (1..=3).for_each(|id| mock.push(&policy, id, 0, MockTask::with_times_ns(&[100.0, 10.0]).homed(HOST)));
    assert_eq!(mock.take(&policy, mock.device(0)), None);
    assert_eq!(mock.take(&policy, Place(0)), Some(1));
}

#[test]
fn device_home_is_respected() {
    let mock = MockOutlook::new(1, 2);
    let policy = CapabilityWeights::new(mock.places());
    (1..=10).for_each(|id| mock.push(&policy, id, 0, MockTask::with_times_ns(&[NEVER, 100.0, 1000.0]).homed(SLOW)));
    assert_eq!(mock.take(&policy, mock.device(0)), None);
    assert_eq!(mock.take(&policy, mock.device(1)), Some(1));
    // A task that cannot run at home goes elsewhere.
    mock.push(&policy, 11, 0, MockTask::with_times_ns(&[NEVER, 100.0, 1000.0]).homed(SLOW).not_on(SLOW));
    assert_eq!(mock.take(&policy, mock.device(0)), Some(11));
}

#[test]
fn data_at_hand_attract_tasks() {
    let mock = MockOutlook::new(1, 2);
    let policy = CapabilityWeights::new(mock.places());
    for id in 1..=8 {
        let elsewhere = if id % 2 == 0 { FAST } else { SLOW };
        let work = MockTask::with_times_ns(&[NEVER, 100.0, 100.0]);
        mock.push(&policy, id, 0, work.with(elsewhere, |forecast| forecast.communication_ns = 150.0));
    }
    let ran = ran_all(&mock, &policy, 2, 8);
    for one in ran {
        assert_eq!(one.on, if one.task % 2 == 0 { SLOW } else { FAST }, "{one:?}");
    }
}

#[test]
fn order_is_priority_then_insertion() {
    let mock = MockOutlook::new(1, 1);
    let policy = CapabilityWeights::new(mock.places());
    for (id, priority) in [(1, 0), (2, 5), (3, 0), (4, 9), (5, 5)] {
        mock.push(&policy, id, priority, MockTask::with_times_ns(&[NEVER, 100.0]));
    }
    let order: Vec<u64> = ran_all(&mock, &policy, 1, 5).iter().map(|one| one.task).collect();
    assert_eq!(order, [4, 2, 5, 1, 3]);
}

#[test]
fn slow_worker_steals_the_last_task() {
    let mock = MockOutlook::new(2, 1);
    let policy = CapabilityWeights::new(mock.places());
    (1..=30)
        .for_each(|id| mock.push(&policy, id, i32::from(id < 4), MockTask::with_times_ns(&[500.0, 100.0]).homed(FAST)));
    assert_eq!(mock.take(&policy, Place(0)), None, "the tasks are at home on the device");
    (31..=60).for_each(|id| mock.push(&policy, id, i32::from(id < 34), MockTask::with_times_ns(&[NEVER, 100.0])));
    assert_eq!(mock.take(&policy, Place(0)), None, "the device finishes all tasks sooner");
    // The worker proves to be faster than forecast, but not as fast as the device.
    for task in mock.tasks.borrow_mut().values_mut() {
        task.forecasts[0] = MockTask::with_times_ns(&[2900.0]).forecasts[0];
    }
    assert_eq!(mock.take(&policy, Place(0)), Some(60));
    assert_eq!(mock.take(&policy, mock.device(0)), Some(1));
}

#[test]
fn slow_workers_leave_all_work_to_devices() {
    for (host_ns, helps) in [(100.0 * 2.0 * 15.0, true), (100.0 * 2.0 * 25.0, false)] {
        let ran = equal(2, &[host_ns, 100.0], 200);
        assert_eq!(count_on(&ran, HOST) > 0, helps, "a worker takes {host_ns} ns");
    }
}

#[test]
fn tasks_of_lost_resource_are_released() {
    let mock = MockOutlook::new(1, 2);
    let policy = CapabilityWeights::new(mock.places());
    (1..=4).for_each(|id| mock.push(&policy, id, 0, MockTask::with_times_ns(&[NEVER, 100.0, 90.0]).homed(FAST)));
    assert_eq!(mock.take(&policy, mock.device(1)), None);
    for task in mock.tasks.borrow_mut().values_mut() {
        task.forecasts[1] = None;
    }
    assert_eq!(mock.take(&policy, mock.device(1)), Some(1));
    assert!(mock.take(&policy, Place(0)).is_some());
}

#[test]
fn bound_arrivals_count_at_once() {
    let mock = MockOutlook::new(1, 2);
    let policy = CapabilityWeights::new(mock.places());
    // Only the faster device can run these. With them assigned to it, it would finish the next task later than the
    // other device.
    (1..=3).for_each(|id| {
        mock.push(&policy, id, 0, MockTask::with_times_ns(&[NEVER, 100.0, 150.0]).not_on(HOST).not_on(SLOW))
    });
    mock.push(&policy, 4, 0, MockTask::with_times_ns(&[NEVER, 100.0, 150.0]));
    assert_eq!(mock.take(&policy, mock.device(1)), Some(4));
    assert_eq!(mock.take(&policy, mock.device(1)), None);
    mock.push(&policy, 5, 7, MockTask::with_times_ns(&[NEVER, 100.0, 150.0]).not_on(HOST).not_on(SLOW));
    let order: Vec<_> = (0..5).map(|_| mock.take(&policy, mock.device(0))).collect();
    assert_eq!(order, [Some(5), Some(1), Some(2), Some(3), None]);
}

#[test]
fn clearing_up_takes_every_task() {
    let mock = MockOutlook::new(1, 1);
    let policy = CapabilityWeights::new(mock.places());
    (1..=3).for_each(|id| mock.push(&policy, id, 0, MockTask::with_times_ns(&[NEVER, 100.0])));
    // Bound to the device, and still in the inbox.
    (4..=6).for_each(|id| mock.push(&policy, id, 0, MockTask::with_times_ns(&[NEVER, 100.0]).not_on(HOST)));
    let accepts = |task: &ReadyTask| task.id().0 != 5;
    for id in [1, 2, 3, 4, 6] {
        assert_eq!(policy.take(Place(0), &TaskFilter::of(&accepts)).map(|task| task.id().0), Some(id));
    }
    assert!(policy.take(Place(0), &TaskFilter::of(&accepts)).is_none());
    assert_eq!(policy.take(Place(0), &TaskFilter::ANY).map(|task| task.id().0), Some(5));
    assert!(policy.take(Place(0), &TaskFilter::ANY).is_none());
}

#[test]
fn returned_task_is_counted_once() {
    for task in [MockTask::with_times_ns(&[NEVER, 100.0]), MockTask::with_times_ns(&[NEVER, 100.0]).not_on(HOST)] {
        let mock = MockOutlook::new(1, 1);
        let policy = CapabilityWeights::new(mock.places());
        for _ in 0..50 {
            mock.push(&policy, 1, 0, task.clone());
            assert_eq!(mock.take(&policy, mock.device(0)), Some(1));
        }
        assert_eq!(policy.state().stations[1].wait_ns(0.0, 0.0), 100.0);
    }
}

#[test]
fn without_devices_it_acts_like_priority() {
    let mock = MockOutlook::new(2, 0);
    let policy = CapabilityWeights::new(mock.places());
    for (id, priority) in [(1, 0), (2, 3), (3, 0)] {
        mock.push(&policy, id, priority, MockTask::with_times_ns(&[1.0]));
    }
    let order: Vec<_> = (0..4).map(|_| policy.take(Place(0), &TaskFilter::ANY).map(|task| task.id().0)).collect();
    assert_eq!(order, [Some(2), Some(1), Some(3), None]);
}
