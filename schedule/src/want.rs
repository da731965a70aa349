//! Which tasks a thread can take.

use super::{Outlook, ReadyTask, held};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Which tasks a thread that asks for one can take.
#[derive(Clone, Copy, Default)]
pub struct Want<'a> {
    accepts: Option<&'a dyn Fn(&ReadyTask) -> bool>,
    outlook: Option<&'a dyn Outlook>,
    is_hasty: bool,
}

impl<'a> Want<'a> {
    /// The tasks for which `accepts` returns true.
    #[must_use]
    pub fn of(accepts: &'a dyn Fn(&ReadyTask) -> bool) -> Self {
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
    #[must_use]
    pub fn with(self, outlook: Option<&'a dyn Outlook>) -> Self {
        Self { outlook, ..self }
    }

    /// Locks a share of tasks, or passes it over (`None`) if it is busy and the thread is hasty: were it to queue for the lock, its
    /// owner would pay a system call to hand it over.
    pub(crate) fn lock<'m, T>(&self, share: &'m Mutex<T>) -> Option<MutexGuard<'m, T>> {
        if !self.is_hasty {
            return Some(held(share.lock()));
        }
        match share.try_lock() {
            Ok(tasks) => Some(tasks),
            Err(TryLockError::Poisoned(tasks)) => Some(tasks.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The same, with whether the thread will [ask again soon](Self::is_hasty).
    #[must_use]
    pub fn hasty(self, is_hasty: bool) -> Self {
        Self { is_hasty, ..self }
    }

    /// Whether the thread can take this task.
    #[must_use]
    pub fn accepts(&self, task: &ReadyTask) -> bool {
        self.accepts.is_none_or(|accepts| accepts(task))
    }
}
