//! Work stealing: each worker its own tasks, newest first; who has none steals.

use super::{
    Outlook, Place, Policy, ReadyTask, Resource, Want,
    lanes::{Lanes, Order},
};

/// A worker runs the newest of its own tasks, whose data are still in its cache; when it has none, it steals the oldest of
/// another's. Priorities are ignored.
pub struct WorkStealing(Lanes<1>);

impl WorkStealing {
    /// A policy for so many places.
    #[must_use]
    pub fn new(places: usize) -> Self {
        Self(Lanes::new(places, Order::NewestFirst))
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

    fn take(&self, by: Place, want: &Want<'_>) -> Option<ReadyTask> {
        self.0.take_own(by, want)
    }

    fn steal(&self, by: Place, want: &Want<'_>) -> Option<ReadyTask> {
        self.0.others(by).find_map(|victim| self.0.steal(by, victim, want))
    }

    fn hands_over(&self, _: Place, _: &ReadyTask) -> bool {
        // It would be the newest of its own, and so the next.
        true
    }
}
