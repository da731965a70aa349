//! Demand, locality, stealing.

use crate::{
    DemandDriven, Place, Policy, ReadyTask, Resource, TaskId, Want,
    outlook_mock::{Mock, Work, share},
};

const NEVER: f64 = 1e9;

fn local(work: Work, device: u16, locality: u32) -> Work {
    work.with(Resource::device(device), |forecast| forecast.locality = locality)
}

#[test]
fn who_demands_more_gets_more() {
    let mock = Mock::new(1, 3);
    let policy = DemandDriven::default();
    (1..=230).for_each(|id| mock.push(&policy, id, 0, Work::taking(&[NEVER, 1.0, 1.0, 1.0]).not_on(Resource::HOST)));
    // The forecasts say nothing of it.
    let ran = mock.run(&policy, 1, |_, on| [0, 800, 1000, 1600][usize::from(on.0)]);
    assert_eq!(ran.len(), 230);
    for (device, expected) in [100, 80, 50].into_iter().enumerate() {
        let found = share(&ran, Resource::device(device as u16));
        assert!(found.abs_diff(expected) <= 1, "{found} instead of {expected}");
    }
}

#[test]
fn among_equals_the_one_with_the_most_at_hand() {
    let mock = Mock::new(1, 1);
    let policy = DemandDriven::default();
    for (id, priority, locality) in [(1, 0, 0), (2, 0, 3), (3, 1, 0), (4, 0, 6), (5, 0, 3)] {
        mock.push(&policy, id, priority, local(Work::taking(&[NEVER, 1.0]), 0, locality));
    }
    assert_eq!(mock.take(&policy, mock.device(0)), Some(3));
    assert_eq!(mock.take(&policy, mock.device(0)), Some(4));
    // It is counted anew: by now the device has what the first needs.
    let first = mock.works.borrow()[&TaskId(1)].clone();
    mock.works.borrow_mut().insert(TaskId(1), local(first, 0, 4));
    let rest: Vec<_> = (0..4).map(|_| mock.take(&policy, mock.device(0))).collect();
    assert_eq!(rest, [Some(1), Some(2), Some(5), None]);
}

#[test]
fn a_station_is_stolen_from_when_the_queue_is_empty() {
    let mock = Mock::new(1, 2);
    let policy = DemandDriven::default();
    (1..=5).for_each(|id| mock.push(&policy, id, i32::from(id == 5), Work::taking(&[1.0, 1.0, 1.0])));
    // It reserves the others, too.
    assert_eq!(mock.take(&policy, mock.device(0)), Some(5));
    assert_eq!(mock.take(&policy, mock.device(1)), Some(4));
    assert_eq!(mock.take(&policy, Place(0)), Some(3));
    mock.push(&policy, 6, 0, Work::taking(&[1.0, 1.0, 1.0]));
    assert_eq!(mock.take(&policy, Place(0)), Some(6), "one of the queue comes before one of a station");
    assert_eq!(mock.take(&policy, mock.device(0)), Some(1));
}

#[test]
fn what_a_device_alone_has_is_updated_there() {
    let mock = Mock::new(1, 2);
    let policy = DemandDriven::default();
    let owned = || Work::taking(&[1.0, 1.0, 1.0]).owned_by(Resource::device(1));
    mock.push(&policy, 1, 0, owned());
    mock.push(&policy, 2, 0, Work::taking(&[1.0, 1.0, 1.0]));
    assert_eq!(mock.take(&policy, mock.device(0)), Some(2));
    assert_eq!(mock.take(&policy, mock.device(0)), None, "its last one is left to the owner");
    assert_eq!(mock.take(&policy, Place(0)), None);
    mock.push(&policy, 3, 0, owned());
    assert_eq!(mock.take(&policy, mock.device(0)), Some(3), "of two, one can be had");
    assert_eq!(mock.take(&policy, mock.device(1)), Some(1));
    mock.push(&policy, 4, 0, owned().not_on(Resource::device(1)));
    assert_eq!(mock.take(&policy, Place(0)), Some(4), "who can not run it owns nothing");
}

#[test]
fn a_full_station_of_tasks_for_later_is_no_obstacle() {
    let mock = Mock::new(1, 1);
    let policy = DemandDriven::default();
    (1..=30).for_each(|id| mock.push(&policy, id, 0, Work::taking(&[1.0, 1.0])));
    let accepts = |task: &ReadyTask| task.id() == TaskId(30);
    let want = &Want::of(&accepts).with(Some(&mock));
    assert_eq!(policy.take(mock.device(0), want).map(|task| task.id().0), Some(30));
}

#[test]
fn a_worker_takes_the_most_urgent_whoever_else_could() {
    let mock = Mock::new(1, 1);
    let policy = DemandDriven::default();
    let host_only = || Work::taking(&[1.0, 1.0]).not_on(Resource::device(0));
    mock.push(&policy, 1, 0, host_only());
    mock.push(&policy, 2, 2, Work::taking(&[1.0, 1.0]));
    mock.push(&policy, 3, 1, host_only());
    mock.push(&policy, 4, 0, Work::taking(&[1.0, 1.0]));
    let order: Vec<_> = (0..5).map(|_| mock.take(&policy, Place(0))).collect();
    assert_eq!(order, [Some(2), Some(3), Some(1), Some(4), None]);
}

#[test]
fn without_devices_it_is_one_queue_by_priority_and_age() {
    let mock = Mock::new(2, 0);
    let policy = DemandDriven::default();
    for (id, priority) in [(1, 0), (2, 3), (3, 0), (4, 3)] {
        mock.push(&policy, id, priority, Work::taking(&[1.0]));
    }
    let order: Vec<_> = (0..5).map(|at| policy.take(Place(at % 2), &Want::ANY).map(|task| task.id().0)).collect();
    assert_eq!(order, [Some(2), Some(4), Some(1), Some(3), None]);
}
