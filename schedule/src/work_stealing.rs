//! Work stealing: each worker runs its own tasks, newest first, and steals when it has none.

use super::{
    Outlook, Place, Policy, ReadyTask, Resource, TaskFilter,
    stealing_queues::{Order, StealingQueues},
};

/// A worker runs the newest of its own tasks, whose data are still in its cache. When it has none, it steals the oldest
/// tasks of another worker. Priorities are ignored.
pub struct WorkStealing(StealingQueues<1>);

impl WorkStealing {
    /// Creates a policy for this number of places.
    #[must_use]
    pub fn new(places: usize) -> Self {
        Self(StealingQueues::new(places, Order::NewestFirst))
    }
}

impl Policy for WorkStealing {
    fn name(&self) -> &'static str {
        "work-stealing"
    }

    fn weighs(&self) -> bool {
        false
    }

    fn push(&self, by: Place, task: ReadyTask, _: &dyn Outlook) -> Option<Resource> {
        self.0.push(by, 0, task);
        None
    }

    fn take(&self, by: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        self.0.take_own(by, want)
    }

    fn steal(&self, by: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        self.0.others(by).find_map(|victim| self.0.steal(by, victim, want))
    }

    fn hands_over(&self, _: Place, _: &ReadyTask) -> bool {
        // It would be the newest of the worker's own tasks, and so the next.
        true
    }
}
