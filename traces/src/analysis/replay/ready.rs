//! Ready tasks of like lanes, held by the runtime's own policy.

use superscalar_schedule::{Fifo, HostAlone, Place, Policy, Priority, ReadyTask, TaskId, Want, WorkStealing};

/// The ready tasks of a group of lanes, each by its number in the order of insertion.
pub(super) struct Ready {
    policy: Box<dyn Policy>,
    lanes: HostAlone,
    count: usize,
}

/// The policy of this name for so many lanes. Those that weigh sides against each other leave no choice within one: there the more urgent
/// task goes first, and then the older one, as under `priority`.
fn policy(name: &str, lanes: usize) -> Box<dyn Policy> {
    match name {
        "fifo" => Box::new(Fifo::default()),
        "work-stealing" => Box::new(WorkStealing::new(lanes)),
        _ => Box::new(Priority::new(lanes)),
    }
}

impl Ready {
    pub(super) fn new(name: &str, lanes: usize) -> Self {
        Self { policy: policy(name, lanes), lanes: HostAlone { workers: lanes }, count: 0 }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// A task has become ready at a lane.
    pub(super) fn push(&mut self, lane: u32, priority: i32, number: u32) {
        let task = ReadyTask::simulated(TaskId(number.into()), priority);
        self.policy.push(Place(lane), task, &self.lanes);
        self.count += 1;
    }

    /// Whether a lane may run this task next, which it has made ready.
    pub(super) fn hands_over(&self, lane: u32, priority: i32, number: u32) -> bool {
        self.policy.hands_over(Place(lane), &ReadyTask::simulated(TaskId(number.into()), priority))
    }

    /// The task that a lane runs next.
    pub(super) fn take(&mut self, lane: u32) -> Option<u32> {
        let place = Place(lane);
        let task = self.policy.take(place, &Want::ANY).or_else(|| self.policy.steal(place, &Want::ANY))?;
        self.count -= 1;
        Some(task.id().0 as u32)
    }
}
