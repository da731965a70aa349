//! A wrapper for custom policies, which must not panic.

use crate::{
    panics::abort_on_panic,
    recording::TaskId,
    schedule::{Outlook, Place, Policy, ReadyTask, Resource, TaskFilter},
};

/// Ends the process if the policy panics, because tasks that it holds may be lost without notice.
pub(super) struct AbortingPolicy(pub(super) Box<dyn Policy>);

const WHY: &str = "a policy has panicked, and may have lost tasks";

impl Policy for AbortingPolicy {
    fn name(&self) -> &'static str {
        abort_on_panic(WHY, || self.0.name())
    }

    fn push(&self, by: Place, task: ReadyTask, outlook: &dyn Outlook) -> Option<Resource> {
        abort_on_panic(WHY, || self.0.push(by, task, outlook))
    }

    fn take(&self, by: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        abort_on_panic(WHY, || self.0.take(by, want))
    }

    fn steal(&self, by: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        abort_on_panic(WHY, || self.0.steal(by, want))
    }

    fn ended(&self, tasks: &[TaskId], outlook: &dyn Outlook) -> bool {
        abort_on_panic(WHY, || self.0.ended(tasks, outlook))
    }

    fn is_late(&self, on: Resource, outlook: &dyn Outlook) -> bool {
        abort_on_panic(WHY, || self.0.is_late(on, outlook))
    }

    fn weighs(&self) -> bool {
        abort_on_panic(WHY, || self.0.weighs())
    }

    fn follows_homes(&self) -> bool {
        abort_on_panic(WHY, || self.0.follows_homes())
    }

    fn hands_over(&self, by: Place, task: &ReadyTask) -> bool {
        abort_on_panic(WHY, || self.0.hands_over(by, task))
    }
}
