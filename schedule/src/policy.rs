//! What a policy is.

use super::{Outlook, Place, ReadyTask, Resource, TaskId, Want};

/// Holds the tasks that are ready and not taken.
///
/// Every call may come from any thread. A policy belongs to one runtime, keeps each task that is pushed until it is taken, once,
/// and gives it only to a thread that [accepts](Want::accepts) it. A task that is given to the wrong thread is kept for the
/// right one; one that is given to another runtime goes back, and its scope returns an error of kind
/// `Refused`. A task that a policy never gives is never run; a
/// [simulated](ReadyTask::simulated) one that it gives to a runtime is dropped, and the policy is asked again. A policy must not panic: tasks could
/// be lost, and the scope that waits for them, so a panic ends the process.
///
/// `take` and `steal` together find a task if one that `want` accepts was pushed before the calls (in the sense of *happens
/// before*) and not taken: the sleep protocol relies on it, so a policy answers `None` because a lock was busy only to the
/// hasty.
///
/// Where there are devices ([`Want::outlook`] says), a policy may keep a task for a [`Resource`]: it then finds it for that
/// resource's threads, but not for others. Some thread of that resource has looked after the push, or will: the push has woken one, or
/// it has work in flight and looks when that ends. So two things are asked of a policy that keeps tasks. A resource with nothing in flight
/// gets what is kept for it; and what is kept for a resource that can not run it any more
/// ([`Outlook::forecast`] says none) is anybody's.
pub trait Policy: Send + Sync {
    /// The policy's name, as settings and traces give it.
    fn name(&self) -> &'static str;

    /// A task has become ready; `by` is where that was found out. One that was taken may come back.
    ///
    /// Returns the resource that the task is kept for, if no other will find it as long as that one can run it: then nobody else is woken for it.
    /// None where others may get it, and always where there are no devices.
    fn push(&self, by: Place, task: ReadyTask, outlook: &dyn Outlook) -> Option<Resource>;

    /// The task that the thread at `by` should run next, if it need not be taken from another's share.
    fn take(&self, by: Place, want: &Want<'_>) -> Option<ReadyTask>;

    /// A task from another's share, for the thread at `by`, which has none.
    fn steal(&self, by: Place, want: &Want<'_>) -> Option<ReadyTask> {
        let _ = (by, want);
        None
    }

    /// Tasks that were taken from the policy, or were never given to it, have ended, as somebody has just noticed. Told only where there are
    /// devices. Says whether idle resources should look again, since tasks that were kept from them may be theirs now.
    fn ended(&self, tasks: &[TaskId], outlook: &dyn Outlook) -> bool {
        let _ = (tasks, outlook);
        false
    }

    /// Whether others should look again because this resource is late: tasks that were kept for it may be theirs now. Asked now and then
    /// while a device has work in flight.
    fn is_late(&self, on: Resource, outlook: &dyn Outlook) -> bool {
        let _ = (on, outlook);
        false
    }

    /// Whether it weighs by itself who is too slow for a task. Where it does not, the runtime keeps tasks from those who would take too long
    /// for them: they do not [accept](Want::accepts) such a task while a resource that can run it is far faster. That can change with what is
    /// measured and with how much is in flight, so a policy shows a task to everybody who [can run it](Outlook::is_for_devices).
    fn weighs(&self) -> bool {
        true
    }

    /// Whether the thread at `by` may run this task, which it has just made ready, without pushing it first.
    fn hands_over(&self, by: Place, task: &ReadyTask) -> bool {
        let _ = (by, task);
        false
    }
}
