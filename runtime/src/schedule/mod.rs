//! Which ready task runs next, and where.
//!
//! A [`Policy`] holds the tasks that are ready and not taken. It decides the order; it does not decide readiness, sleep, or
//! who waits for whom. Adding a policy is one file here (or outside, through [`Builder::custom_policy`]).
//!
//! [`Builder::custom_policy`]: crate::Builder::custom_policy

#![forbid(unsafe_code)]

mod fifo;
mod foreign;
mod lanes;
mod outlook;
mod priority;
mod work_stealing;

pub use fifo::Fifo;
pub(crate) use foreign::Foreign;
pub(crate) use outlook::HostAlone;
pub use outlook::{Forecast, Moves, Outlook, Resource};
pub use priority::Priority;
pub use work_stealing::WorkStealing;

use crate::recording::TaskId;
use std::{
    num::NonZeroU64,
    sync::{Mutex, MutexGuard, PoisonError, TryLockError},
};

/// Where a thread that runs or inserts tasks sits: workers come first, counted from zero, then threads that came from
/// outside, then the threads that issue to devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place(pub u32);

/// A task that is ready, as a policy sees it. It cannot be copied, so that no policy runs a task twice.
#[derive(Debug)]
pub struct ReadyTask {
    id: TaskId,
    /// The priority, and below it twice the slot and one: not zero, so a task or none are two words, which stay in registers.
    rest: NonZeroU64,
}

const _: () = assert!(size_of::<Option<ReadyTask>>() == 16);

impl ReadyTask {
    #[inline]
    pub(crate) fn new(id: TaskId, priority: i32, slot: u32) -> Self {
        debug_assert!(slot <= u32::MAX >> 1);
        Self { id, rest: NonZeroU64::MIN | u64::from(priority.cast_unsigned()) << 32 | u64::from(slot << 1) }
    }

    /// The task's serial number: smaller ones were inserted earlier.
    #[must_use]
    pub fn id(&self) -> TaskId {
        self.id
    }

    /// Its priority; larger is more urgent.
    #[must_use]
    pub fn priority(&self) -> i32 {
        ((self.rest.get() >> 32) as u32).cast_signed()
    }

    #[inline]
    pub(crate) fn slot(&self) -> u32 {
        self.rest.get() as u32 >> 1
    }
}

/// Which tasks a thread that asks for one can take.
#[derive(Clone, Copy, Default)]
pub struct Want<'a> {
    pub(crate) accepts: Option<&'a dyn Fn(&ReadyTask) -> bool>,
    pub(crate) outlook: Option<&'a dyn Outlook>,
    pub(crate) is_hasty: bool,
}

impl<'a> Want<'a> {
    /// Tasks that `accepts` says.
    pub(crate) fn of(accepts: &'a dyn Fn(&ReadyTask) -> bool) -> Self {
        Self { accepts: Some(accepts), outlook: None, is_hasty: false }
    }

    /// Any task will do.
    pub const ANY: Want<'static> = Want { accepts: None, outlook: None, is_hasty: false };

    /// Whether any task will do, which a policy may use for a faster way.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.accepts.is_none()
    }

    /// Whether the thread will ask again soon, so that a share that is busy may be passed over.
    #[must_use]
    pub fn is_hasty(&self) -> bool {
        self.is_hasty
    }

    /// What the policy may ask. None where the runtime has no devices, and of one that ends: then no task is to be kept for
    /// somebody else.
    #[must_use]
    pub fn outlook(&self) -> Option<&'a dyn Outlook> {
        self.outlook
    }

    /// The same, with answers to what the policy may ask.
    pub(crate) fn with(self, outlook: Option<&'a dyn Outlook>) -> Self {
        Self { outlook, ..self }
    }

    /// Locks a share of tasks, or passes it over (`None`) if it is busy and the thread is hasty: were it to queue for the lock, its
    /// owner would pay a system call to hand it over.
    pub(crate) fn lock<'m, T>(&self, share: &'m Mutex<T>) -> Option<MutexGuard<'m, T>> {
        if !self.is_hasty {
            return Some(share.lock().unwrap_or_else(PoisonError::into_inner));
        }
        match share.try_lock() {
            Ok(tasks) => Some(tasks),
            Err(TryLockError::Poisoned(tasks)) => Some(tasks.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The same, for a thread that will ask again soon.
    pub(crate) fn hasty(&self) -> Self {
        Self { is_hasty: true, ..*self }
    }

    /// Whether the thread can take this task.
    #[must_use]
    pub fn accepts(&self, task: &ReadyTask) -> bool {
        self.accepts.is_none_or(|accepts| accepts(task))
    }
}

/// Holds the tasks that are ready and not taken.
///
/// Every call may come from any thread. A policy belongs to one runtime, keeps each task that is pushed until it is taken, once,
/// and gives it only to a thread that [accepts](Want::accepts) it. A task that is given to the wrong thread is kept for the
/// right one; one that is given to another runtime goes back, and its scope returns an error of kind
/// [`Refused`](crate::ErrorKind::Refused). A task that a policy never gives is never run. A policy must not panic: tasks could
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
