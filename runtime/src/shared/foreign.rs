//! A policy of the user's, which must not panic.

use crate::{
    panics::one_way,
    recording::TaskId,
    schedule::{Outlook, Place, Policy, ReadyTask, Resource, Want},
};

/// Ends the process where the policy panics: what it was given may be lost then, and nobody knows.
pub(super) struct Foreign(pub(super) Box<dyn Policy>);

const WHY: &str = "a policy has panicked, and may have lost tasks";

impl Policy for Foreign {
    fn name(&self) -> &'static str {
        one_way(WHY, || self.0.name())
    }

    fn push(&self, by: Place, task: ReadyTask, outlook: &dyn Outlook) -> Option<Resource> {
        one_way(WHY, || self.0.push(by, task, outlook))
    }

    fn take(&self, by: Place, want: &Want<'_>) -> Option<ReadyTask> {
        one_way(WHY, || self.0.take(by, want))
    }

    fn steal(&self, by: Place, want: &Want<'_>) -> Option<ReadyTask> {
        one_way(WHY, || self.0.steal(by, want))
    }

    fn ended(&self, tasks: &[TaskId], outlook: &dyn Outlook) -> bool {
        one_way(WHY, || self.0.ended(tasks, outlook))
    }

    fn is_late(&self, on: Resource, outlook: &dyn Outlook) -> bool {
        one_way(WHY, || self.0.is_late(on, outlook))
    }

    fn weighs(&self) -> bool {
        one_way(WHY, || self.0.weighs())
    }

    fn hands_over(&self, by: Place, task: &ReadyTask) -> bool {
        one_way(WHY, || self.0.hands_over(by, task))
    }
}
