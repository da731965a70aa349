//! The tasks that a thread can take.

use super::{Outlook, ReadyTask, held};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// The tasks that a thread can take when it asks a policy for one.
#[derive(Clone, Copy, Default)]
pub struct TaskFilter<'a> {
    accepts: Option<&'a dyn Fn(&ReadyTask) -> bool>,
    outlook: Option<&'a dyn Outlook>,
    is_hasty: bool,
}

impl<'a> TaskFilter<'a> {
    /// Accepts the tasks for which `accepts` returns true.
    #[must_use]
    pub fn of(accepts: &'a dyn Fn(&ReadyTask) -> bool) -> Self {
        Self { accepts: Some(accepts), outlook: None, is_hasty: false }
    }

    /// Accepts any task.
    pub const ANY: TaskFilter<'static> = TaskFilter { accepts: None, outlook: None, is_hasty: false };

    /// Returns whether any task is accepted, for which a policy may have a faster path.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.accepts.is_none()
    }

    /// Returns whether the thread will ask again soon, so that the policy may skip a queue whose lock is contended.
    #[must_use]
    pub fn is_hasty(&self) -> bool {
        self.is_hasty
    }

    /// Returns the outlook for the policy's queries. `None` if the runtime has no devices, and while a runtime ends;
    /// the policy must then keep no task for another resource.
    #[must_use]
    pub fn outlook(&self) -> Option<&'a dyn Outlook> {
        self.outlook
    }

    /// Sets the outlook for the policy's queries.
    #[must_use]
    pub fn with(self, outlook: Option<&'a dyn Outlook>) -> Self {
        Self { outlook, ..self }
    }

    /// Locks a queue, or returns `None` if it is contended and the thread is hasty. If a hasty thread blocked, the
    /// current holder would need a system call to pass the lock on.
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

    /// Sets whether the thread will [ask again soon](Self::is_hasty).
    #[must_use]
    pub fn hasty(self, is_hasty: bool) -> Self {
        Self { is_hasty, ..self }
    }

    /// Returns whether the thread can take this task.
    #[must_use]
    pub fn accepts(&self, task: &ReadyTask) -> bool {
        self.accepts.is_none_or(|accepts| accepts(task))
    }
}
