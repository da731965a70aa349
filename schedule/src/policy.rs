//! The policy trait.

use super::{Outlook, Place, ReadyTask, Resource, TaskFilter, TaskId};

/// A scheduling policy: holds the tasks that are ready and not taken.
///
/// Any thread may make any call at any time. A policy belongs to one runtime. It keeps each pushed task until the
/// task is taken, once, and gives it only to a thread that [accepts](TaskFilter::accepts) it. The runtime checks the
/// answers of custom policies: a task given to the wrong thread is kept for the right one; a task given to another
/// runtime goes back, and its scope returns an error of kind `Refused`; a [simulated](ReadyTask::simulated) task
/// given to a runtime is dropped, and the policy is asked again. A task that a policy never gives is never run. A
/// policy must not panic: a panic ends the process, because tasks may be lost, for which scopes would wait forever.
///
/// `take` and `steal` together find a task if `want` accepts a task that was pushed before the calls (in the sense of
/// *happens before*) and not taken. The sleep protocol relies on this. Only a hasty caller may get `None` because a
/// lock is contended.
///
/// If there are devices ([`TaskFilter::outlook`] says so), a policy may keep a task for a [`Resource`]: the task is
/// then found by that resource's threads, but not by others. After the push, at least one of these threads looks for
/// a task: either the push wakes it, or it has work in flight and looks when that ends. A policy that keeps tasks
/// must meet two conditions. A resource with nothing in flight gets the tasks kept for it; and tasks kept for a
/// resource that cannot run them any more ([`Outlook::forecast`] returns `None`) are available to all.
pub trait Policy: Send + Sync {
    /// Returns the policy's name, as used in settings and traces.
    fn name(&self) -> &'static str;

    /// Adds a task that has become ready; `by` is the place of the thread that made it ready. A task that was taken may
    /// be pushed again.
    ///
    /// Returns the resource that the task is kept for, if no other resource will find it while that one can run it;
    /// then only that resource is woken. Returns `None` if others may get the task, and always if there are no devices.
    fn push(&self, by: Place, task: ReadyTask, outlook: &dyn Outlook) -> Option<Resource>;

    /// Takes the next task for the thread at `by` without stealing.
    fn take(&self, by: Place, want: &TaskFilter<'_>) -> Option<ReadyTask>;

    /// Steals a task for the thread at `by`, which has no task of its own.
    fn steal(&self, by: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        let _ = (by, want);
        None
    }

    /// Informs the policy that tasks have ended. They were taken from it, or never given to it. Called only if there
    /// are devices. Returns whether idle resources should look again, because tasks kept for another resource may now
    /// be available to them.
    fn ended(&self, tasks: &[TaskId], outlook: &dyn Outlook) -> bool {
        let _ = (tasks, outlook);
        false
    }

    /// Returns whether other resources should look again because this one is late: tasks kept for it may now be
    /// available to them. Called from time to time while a device has work in flight.
    fn is_late(&self, on: Resource, outlook: &dyn Outlook) -> bool {
        let _ = (on, outlook);
        false
    }

    /// Returns whether the policy itself considers which resources are too slow for a task. If not, the runtime does:
    /// a slow resource does not [accept](TaskFilter::accepts) a task while a far faster one can run it. This changes
    /// with the measurements and with the work in flight, so the policy must show a task to every resource that [can
    /// run it](Outlook::is_for_devices).
    fn weighs(&self) -> bool {
        true
    }

    /// Returns whether tasks run at their [home](Outlook::home), in the order of their priorities, if it can run them.
    fn follows_homes(&self) -> bool {
        false
    }

    /// Returns whether the thread at `by` may run this task, which it has just made ready, without pushing it first.
    fn hands_over(&self, by: Place, task: &ReadyTask) -> bool {
        let _ = (by, task);
        false
    }
}
