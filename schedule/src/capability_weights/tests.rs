//! Shares, homes, panels, priorities, and who leaves what to whom.

use crate::{
    BlasLevel, CapabilityWeights, Place, Policy, ReadyTask, Resource, TaskId, Want,
    outlook_mock::{Mock, Ran, Work, share},
};

const HOST: Resource = Resource::HOST;
const FAST: Resource = Resource(1);
const SLOW: Resource = Resource(2);
const NEVER: f64 = 1e9;

fn ran_all(mock: &Mock, policy: &CapabilityWeights, depth: usize, count: u64) -> Vec<Ran> {
    let takes_ns = |task: u64, on: Resource| {
        mock.works.borrow()[&TaskId(task)].forecasts[usize::from(on.0)].map_or(0, |it| it.computation_ns as u64)
    };
    let ran = mock.run(policy, depth, takes_ns);
    let mut tasks: Vec<u64> = ran.iter().map(|one| one.task).collect();
    tasks.sort_unstable();
    assert_eq!(tasks, (1..=count).collect::<Vec<_>>(), "each ran once");
    ran
}

/// Pushes equal tasks, which take so long on each resource, and runs them; the devices take up to two ahead.
fn equal(workers: usize, ns: &[f64], count: u64) -> Vec<Ran> {
    let mock = Mock::new(workers, ns.len() as u16 - 1);
    let policy = CapabilityWeights::new(mock.places());
    (1..=count).for_each(|id| mock.push(&policy, id, 0, Work::taking(ns)));
    ran_all(&mock, &policy, 2, count)
}

fn makespan(ran: &[Ran]) -> u64 {
    ran.iter().map(|one| one.end_ns).max().unwrap_or(0)
}

#[test]
fn shares_follow_the_weights() {
    let ran = equal(1, &[NEVER, 800.0, 1000.0, 1600.0], 230);
    for (device, expected) in [100, 80, 50].into_iter().enumerate() {
        let on = Resource::device(device as u16);
        assert!(share(&ran, on).abs_diff(expected) <= 1, "{} on {on:?} instead of {expected}", share(&ran, on));
    }
    assert_eq!(share(&ran, HOST), 0);
}

#[test]
fn a_slow_device_never_takes_the_last_task() {
    for count in 1..60 {
        let alone = makespan(&equal(1, &[NEVER, 100.0], count));
        let ran = equal(1, &[NEVER, 100.0, 730.0], count);
        assert!(makespan(&ran) <= alone, "{count} tasks: {} instead of {alone}", makespan(&ran));
        assert!(share(&ran, SLOW) > 0 || count < 8, "{count} tasks");
    }
}

#[test]
fn a_worker_helps_only_where_it_holds_nobody_up() {
    for workers in 1..4 {
        for count in 1..60 {
            let alone = makespan(&equal(workers, &[NEVER, 100.0], count));
            let ran = equal(workers, &[900.0, 100.0], count);
            assert!(makespan(&ran) <= alone, "{count} tasks, {workers} workers");
            assert!(share(&ran, HOST) > 0 || count < 12, "{count} tasks");
        }
    }
}

#[test]
fn a_device_that_proves_slower_than_thought_loses_its_tasks() {
    let mock = Mock::new(1, 2);
    let policy = CapabilityWeights::new(mock.places());
    (1..=40).for_each(|id| mock.push(&policy, id, 0, Work::taking(&[NEVER, 100.0, 100.0])));
    // In truth the second takes ten times as long.
    let ran = mock.run(&policy, 2, |_, on| if on == SLOW { 1000 } else { 100 });
    assert_eq!(ran.len(), 40);
    assert!(share(&ran, SLOW) <= 6, "{} on the slow one", share(&ran, SLOW));
    assert!(makespan(&ran) <= 5000, "{}", makespan(&ran));
}

#[test]
fn panels_stay_on_the_host_unless_a_device_is_faster_with_what_must_be_moved() {
    let mock = Mock::new(2, 1);
    let policy = CapabilityWeights::new(mock.places());
    let panel = |device_ns: f64, moved_ns: f64| {
        let work = Work::taking(&[1000.0, device_ns]).level(BlasLevel::Two).homed(FAST);
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
fn a_panel_that_is_not_the_host_s_goes_home() {
    let mock = Mock::new(1, 2);
    let policy = CapabilityWeights::new(mock.places());
    let panel = |ns: &[f64]| Work::taking(ns).level(BlasLevel::Two).homed(SLOW);
    // Another device would be faster, but all that its home is to be faster than is the host.
    mock.push(&policy, 1, 0, panel(&[1000.0, 100.0, 500.0]));
    assert_eq!(mock.take(&policy, mock.device(0)), None);
    assert_eq!(mock.take(&policy, mock.device(1)), Some(1));
    mock.push(&policy, 2, 0, panel(&[400.0, 100.0, 500.0]));
    assert_eq!(mock.take(&policy, mock.device(1)), None);
    assert_eq!(mock.take(&policy, Place(0)), Some(2));
}

#[test]
fn near_is_what_needs_little_for_the_work_that_it_is() {
    let mock = Mock::new(1, 1);
    let policy = CapabilityWeights::new(mock.places());
    let moved =
        |ns: f64, moved_ns: f64| Work::taking(&[NEVER, ns]).with(FAST, |forecast| forecast.communication_ns = moved_ns);
    // Smaller from task to task, as what is left of a matrix is; the last one has its data from others.
    for (id, part) in [(1, 1.0), (2, 0.8), (3, 0.6)] {
        mock.push(&policy, id, 0, moved(100.0 * part, 400.0 * part));
    }
    mock.push(&policy, 4, 0, moved(100.0, 200.0));
    let order: Vec<u64> = ran_all(&mock, &policy, 1, 4).iter().map(|one| one.task).collect();
    assert_eq!(order, [4, 1, 2, 3]);
}

/// At home on the first device: it takes 100 there, and so long until data from host memory have come.
fn dealt(from_host_ns: Option<f64>) -> Work {
    Work::taking(&[NEVER, 100.0]).homed(FAST).with(FAST, |forecast| {
        (forecast.communication_ns, forecast.from_host) = (from_host_ns.unwrap_or(0.0), from_host_ns.is_some());
    })
}

#[test]
fn data_that_were_dealt_are_sent_for_ahead_and_hold_up_nobody() {
    let mock = Mock::new(1, 1);
    let policy = CapabilityWeights::new(mock.places());
    let take = || mock.take(&policy, mock.device(0));
    (1..=3).for_each(|id| mock.push(&policy, id, 0, dealt(None)));
    (4..=9).for_each(|id| mock.push(&policy, id, 0, dealt(Some(400.0))));
    mock.push(&policy, 10, 0, dealt(None));
    // Four keep the link busy. Meanwhile there is what has its data, in its order.
    let taken: Vec<_> = (0..8).map_while(|_| take()).collect();
    assert_eq!(taken, [4, 5, 6, 7, 1, 2, 3, 10]);
    assert_eq!(take(), None, "more would only stand in the queues");
    policy.ended(&[TaskId(1)], &mock);
    assert_eq!(take(), None, "it did not wait for the host");
    policy.ended(&[TaskId(4)], &mock);
    assert_eq!((take(), take()), (Some(8), None));
    // What has come by now is like what was there.
    mock.works.borrow_mut().insert(TaskId(9), dealt(None));
    assert_eq!(take(), Some(9));
}

#[test]
fn what_is_on_its_way_is_waited_for_only_if_there_is_nothing_else() {
    let mock = Mock::new(1, 1);
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
fn urgent_tasks_are_taken_wherever_their_data_are() {
    let mock = Mock::new(1, 1);
    let policy = CapabilityWeights::new(mock.places());
    (1..=6).for_each(|id| mock.push(&policy, id, 1, dealt(Some(400.0))));
    mock.push(&policy, 7, 0, dealt(None));
    let taken: Vec<_> = (0..7).filter_map(|_| mock.take(&policy, mock.device(0))).collect();
    assert_eq!(taken, [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn where_memory_is_short_nothing_is_sent_for_ahead() {
    let mock = Mock::new(1, 1);
    let policy = CapabilityWeights::new(mock.places());
    mock.has_room.set(false);
    (1..=3).for_each(|id| mock.push(&policy, id, 0, dealt(None)));
    (4..=9).for_each(|id| mock.push(&policy, id, 0, dealt(Some(400.0))));
    let taken: Vec<_> = (0..9).filter_map(|_| mock.take(&policy, mock.device(0))).collect();
    assert_eq!(taken, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn the_last_free_worker_is_left_to_the_next_panel() {
    let helps = |panel_ns: f64| {
        let mock = Mock::new(1, 1);
        let policy = CapabilityWeights::new(mock.places());
        for id in 1..=20 {
            mock.push(&policy, id, 0, Work::taking(&[panel_ns, NEVER]).level(BlasLevel::Two));
            assert_eq!(mock.take(&policy, Place(0)), Some(id));
            policy.ended(&[TaskId(id)], &mock);
        }
        // Ten updates: the device is through with them in 1000, the host with one in 500.
        (21..=30).for_each(|id| mock.push(&policy, id, 0, Work::taking(&[500.0, 100.0])));
        mock.take(&policy, Place(0)).is_some()
    };
    assert!(helps(100.0));
    assert!(!helps(600.0));
}

#[test]
fn data_that_were_dealt_keep_no_faster_host_idle() {
    const COUNT: u64 = 240;
    for device_ns in [2.0, 10.0, 40.0, 49.0, 51.0, 60.0, 100.0, 300.0, 1000.0, 5000.0] {
        let mock = Mock::new(2, 1);
        let policy = CapabilityWeights::new(mock.places());
        (1..=COUNT).for_each(|id| mock.push(&policy, id, 0, Work::taking(&[100.0, device_ns]).homed(FAST)));
        let took_ns = makespan(&ran_all(&mock, &policy, 2, COUNT)) as f64;
        let better_ns = COUNT as f64 * device_ns.min(50.0);
        assert!(took_ns <= 1.05 * better_ns, "{device_ns}: {took_ns} instead of {better_ns}");
    }
}

#[test]
fn data_that_were_dealt_to_the_host_are_updated_there() {
    let mock = Mock::new(3, 1);
    let policy = CapabilityWeights::new(mock.places());
    (1..=3).for_each(|id| mock.push(&policy, id, 0, Work::taking(&[100.0, 10.0]).homed(HOST)));
    assert_eq!(mock.take(&policy, mock.device(0)), None);
    assert_eq!(mock.take(&policy, Place(0)), Some(1));
}

#[test]
fn data_that_were_dealt_are_updated_at_home() {
    let mock = Mock::new(1, 2);
    let policy = CapabilityWeights::new(mock.places());
    (1..=10).for_each(|id| mock.push(&policy, id, 0, Work::taking(&[NEVER, 100.0, 1000.0]).homed(SLOW)));
    assert_eq!(mock.take(&policy, mock.device(0)), None);
    assert_eq!(mock.take(&policy, mock.device(1)), Some(1));
    // One that can not run at home goes where it can.
    mock.push(&policy, 11, 0, Work::taking(&[NEVER, 100.0, 1000.0]).homed(SLOW).not_on(SLOW));
    assert_eq!(mock.take(&policy, mock.device(0)), Some(11));
}

#[test]
fn what_is_there_already_need_not_be_moved() {
    let mock = Mock::new(1, 2);
    let policy = CapabilityWeights::new(mock.places());
    for id in 1..=8 {
        let elsewhere = if id % 2 == 0 { FAST } else { SLOW };
        let work = Work::taking(&[NEVER, 100.0, 100.0]);
        mock.push(&policy, id, 0, work.with(elsewhere, |forecast| forecast.communication_ns = 150.0));
    }
    let ran = ran_all(&mock, &policy, 2, 8);
    for one in ran {
        assert_eq!(one.on, if one.task % 2 == 0 { SLOW } else { FAST }, "{one:?}");
    }
}

#[test]
fn the_urgent_come_first_and_among_equals_the_oldest() {
    let mock = Mock::new(1, 1);
    let policy = CapabilityWeights::new(mock.places());
    for (id, priority) in [(1, 0), (2, 5), (3, 0), (4, 9), (5, 5)] {
        mock.push(&policy, id, priority, Work::taking(&[NEVER, 100.0]));
    }
    let order: Vec<u64> = ran_all(&mock, &policy, 1, 5).iter().map(|one| one.task).collect();
    assert_eq!(order, [4, 2, 5, 1, 3]);
}

#[test]
fn a_slow_worker_takes_the_last_of_a_queue_and_not_the_urgent() {
    let mock = Mock::new(2, 1);
    let policy = CapabilityWeights::new(mock.places());
    (1..=30).for_each(|id| mock.push(&policy, id, i32::from(id < 4), Work::taking(&[500.0, 100.0]).homed(FAST)));
    assert_eq!(mock.take(&policy, Place(0)), None, "they are at home where they are");
    (31..=60).for_each(|id| mock.push(&policy, id, i32::from(id < 34), Work::taking(&[NEVER, 100.0])));
    assert_eq!(mock.take(&policy, Place(0)), None, "the device is through with them before");
    // The worker proves to be faster than was thought, though not as fast as the device.
    for work in mock.works.borrow_mut().values_mut() {
        work.forecasts[0] = Work::taking(&[2900.0]).forecasts[0];
    }
    assert_eq!(mock.take(&policy, Place(0)), Some(60));
    assert_eq!(mock.take(&policy, mock.device(0)), Some(1));
}

#[test]
fn workers_that_could_add_next_to_nothing_leave_the_work_to_devices() {
    for (host_ns, helps) in [(100.0 * 2.0 * 15.0, true), (100.0 * 2.0 * 25.0, false)] {
        let ran = equal(2, &[host_ns, 100.0], 200);
        assert_eq!(share(&ran, HOST) > 0, helps, "a worker takes {host_ns} ns");
    }
}

#[test]
fn tasks_of_a_resource_that_is_gone_are_anybodys() {
    let mock = Mock::new(1, 2);
    let policy = CapabilityWeights::new(mock.places());
    (1..=4).for_each(|id| mock.push(&policy, id, 0, Work::taking(&[NEVER, 100.0, 90.0]).homed(FAST)));
    assert_eq!(mock.take(&policy, mock.device(1)), None);
    for work in mock.works.borrow_mut().values_mut() {
        work.forecasts[1] = None;
    }
    assert_eq!(mock.take(&policy, mock.device(1)), Some(1));
    assert!(mock.take(&policy, Place(0)).is_some());
}

#[test]
fn what_comes_for_a_resource_counts_at_once() {
    let mock = Mock::new(1, 2);
    let policy = CapabilityWeights::new(mock.places());
    // Only the faster device can do these; with them to do, it would come to the next one later than the other.
    (1..=3).for_each(|id| mock.push(&policy, id, 0, Work::taking(&[NEVER, 100.0, 150.0]).not_on(HOST).not_on(SLOW)));
    mock.push(&policy, 4, 0, Work::taking(&[NEVER, 100.0, 150.0]));
    assert_eq!(mock.take(&policy, mock.device(1)), Some(4));
    assert_eq!(mock.take(&policy, mock.device(1)), None);
    mock.push(&policy, 5, 7, Work::taking(&[NEVER, 100.0, 150.0]).not_on(HOST).not_on(SLOW));
    let order: Vec<_> = (0..5).map(|_| mock.take(&policy, mock.device(0))).collect();
    assert_eq!(order, [Some(5), Some(1), Some(2), Some(3), None]);
}

#[test]
fn who_clears_up_gets_everything() {
    let mock = Mock::new(1, 1);
    let policy = CapabilityWeights::new(mock.places());
    (1..=3).for_each(|id| mock.push(&policy, id, 0, Work::taking(&[NEVER, 100.0])));
    // Nobody else's, and on their way to their stations still.
    (4..=6).for_each(|id| mock.push(&policy, id, 0, Work::taking(&[NEVER, 100.0]).not_on(HOST)));
    let accepts = |task: &ReadyTask| task.id().0 != 5;
    for id in [1, 2, 3, 4, 6] {
        assert_eq!(policy.take(Place(0), &Want::of(&accepts)).map(|task| task.id().0), Some(id));
    }
    assert!(policy.take(Place(0), &Want::of(&accepts)).is_none());
    assert_eq!(policy.take(Place(0), &Want::ANY).map(|task| task.id().0), Some(5));
    assert!(policy.take(Place(0), &Want::ANY).is_none());
}

#[test]
fn a_task_that_comes_back_is_not_counted_twice() {
    for work in [Work::taking(&[NEVER, 100.0]), Work::taking(&[NEVER, 100.0]).not_on(HOST)] {
        let mock = Mock::new(1, 1);
        let policy = CapabilityWeights::new(mock.places());
        for _ in 0..50 {
            mock.push(&policy, 1, 0, work.clone());
            assert_eq!(mock.take(&policy, mock.device(0)), Some(1));
        }
        assert_eq!(policy.state().stations[1].wait_ns(0.0, 0.0), 100.0);
    }
}

#[test]
fn without_devices_it_is_the_policy_of_priorities() {
    let mock = Mock::new(2, 0);
    let policy = CapabilityWeights::new(mock.places());
    for (id, priority) in [(1, 0), (2, 3), (3, 0)] {
        mock.push(&policy, id, priority, Work::taking(&[1.0]));
    }
    let order: Vec<_> = (0..4).map(|_| policy.take(Place(0), &Want::ANY).map(|task| task.id().0)).collect();
    assert_eq!(order, [Some(2), Some(1), Some(3), None]);
}
