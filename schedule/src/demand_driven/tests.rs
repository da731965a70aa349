//! Tests of demand, locality and stealing.

use crate::{
    DemandDriven, Place, Policy, ReadyTask, Resource, TaskFilter, TaskId,
    outlook_mock::{MockOutlook, MockTask, count_on},
};

const NEVER: f64 = 1e9;

fn local(work: MockTask, device: u16, locality: u32) -> MockTask {
    work.with(Resource::device(device), |forecast| forecast.locality = locality)
}

#[test]
fn shares_follow_the_demand() {
    let mock = MockOutlook::new(1, 3);
    let policy = DemandDriven::default();
    (1..=230).for_each(|id| {
        mock.push(&policy, id, 0, MockTask::with_times_ns(&[NEVER, 1.0, 1.0, 1.0]).not_on(Resource::HOST))
    });
    // The forecasts do not show the different speeds.
    let ran = mock.run(&policy, 1, |_, on| [0, 800, 1000, 1600][usize::from(on.0)]);
    assert_eq!(ran.len(), 230);
    for (device, expected) in [100, 80, 50].into_iter().enumerate() {
        let found = count_on(&ran, Resource::device(device as u16));
        assert!(found.abs_diff(expected) <= 1, "{found} instead of {expected}");
    }
}

#[test]
fn locality_decides_among_equals() {
    let mock = MockOutlook::new(1, 1);
    let policy = DemandDriven::default();
    for (id, priority, locality) in [(1, 0, 0), (2, 0, 3), (3, 1, 0), (4, 0, 6), (5, 0, 3)] {
        mock.push(&policy, id, priority, local(MockTask::with_times_ns(&[NEVER, 1.0]), 0, locality));
    }
    assert_eq!(mock.take(&policy, mock.device(0)), Some(3));
    assert_eq!(mock.take(&policy, mock.device(0)), Some(4));
    // The points are counted anew: by now the device has the data of the first task.
    let first = mock.tasks.borrow()[&TaskId(1)].clone();
    mock.tasks.borrow_mut().insert(TaskId(1), local(first, 0, 4));
    let rest: Vec<_> = (0..4).map(|_| mock.take(&policy, mock.device(0))).collect();
    assert_eq!(rest, [Some(1), Some(2), Some(5), None]);
}

#[test]
fn empty_queue_allows_stealing_from_stations() {
    let mock = MockOutlook::new(1, 2);
    let policy = DemandDriven::default();
    (1..=5).for_each(|id| mock.push(&policy, id, i32::from(id == 5), MockTask::with_times_ns(&[1.0, 1.0, 1.0])));
    // It reserves the other tasks too.
    assert_eq!(mock.take(&policy, mock.device(0)), Some(5));
    assert_eq!(mock.take(&policy, mock.device(1)), Some(4));
    assert_eq!(mock.take(&policy, Place(0)), Some(3));
    mock.push(&policy, 6, 0, MockTask::with_times_ns(&[1.0, 1.0, 1.0]));
    assert_eq!(mock.take(&policy, Place(0)), Some(6), "the queue comes before a station");
    assert_eq!(mock.take(&policy, mock.device(0)), Some(1));
}

#[test]
fn owned_data_are_updated_by_their_owner() {
    let mock = MockOutlook::new(1, 2);
    let policy = DemandDriven::default();
    let owned = || MockTask::with_times_ns(&[1.0, 1.0, 1.0]).owned_by(Resource::device(1));
    mock.push(&policy, 1, 0, owned());
    mock.push(&policy, 2, 0, MockTask::with_times_ns(&[1.0, 1.0, 1.0]));
    assert_eq!(mock.take(&policy, mock.device(0)), Some(2));
    assert_eq!(mock.take(&policy, mock.device(0)), None, "the owner's last task is not stolen");
    assert_eq!(mock.take(&policy, Place(0)), None);
    mock.push(&policy, 3, 0, owned());
    assert_eq!(mock.take(&policy, mock.device(0)), Some(3), "one of two tasks can be stolen");
    assert_eq!(mock.take(&policy, mock.device(1)), Some(1));
    mock.push(&policy, 4, 0, owned().not_on(Resource::device(1)));
    assert_eq!(mock.take(&policy, Place(0)), Some(4), "a device that cannot run the task does not own it");
}

#[test]
fn full_station_does_not_block() {
    let mock = MockOutlook::new(1, 1);
    let policy = DemandDriven::default();
    (1..=30).for_each(|id| mock.push(&policy, id, 0, MockTask::with_times_ns(&[1.0, 1.0])));
    let accepts = |task: &ReadyTask| task.id() == TaskId(30);
    let want = &TaskFilter::of(&accepts).with(Some(&mock));
    assert_eq!(policy.take(mock.device(0), want).map(|task| task.id().0), Some(30));
}

#[test]
fn worker_takes_the_most_urgent_task() {
    let mock = MockOutlook::new(1, 1);
    let policy = DemandDriven::default();
    let host_only = || MockTask::with_times_ns(&[1.0, 1.0]).not_on(Resource::device(0));
    mock.push(&policy, 1, 0, host_only());
    mock.push(&policy, 2, 2, MockTask::with_times_ns(&[1.0, 1.0]));
    mock.push(&policy, 3, 1, host_only());
    mock.push(&policy, 4, 0, MockTask::with_times_ns(&[1.0, 1.0]));
    let order: Vec<_> = (0..5).map(|_| mock.take(&policy, Place(0))).collect();
    assert_eq!(order, [Some(2), Some(3), Some(1), Some(4), None]);
}

#[test]
fn without_devices_it_is_one_queue() {
    let mock = MockOutlook::new(2, 0);
    let policy = DemandDriven::default();
    for (id, priority) in [(1, 0), (2, 3), (3, 0), (4, 3)] {
        mock.push(&policy, id, priority, MockTask::with_times_ns(&[1.0]));
    }
    let order: Vec<_> = (0..5).map(|at| policy.take(Place(at % 2), &TaskFilter::ANY).map(|task| task.id().0)).collect();
    assert_eq!(order, [Some(2), Some(4), Some(1), Some(3), None]);
}
