//! Insertion from outside of scopes, and of handles that several threads share: one at a time.

use super::Inserter;
use crate::{
    error::Error,
    recording::{Stall, TaskId},
    shared::{GUESTS, Shared},
    worker::{Waiting, current_task},
};
use std::{
    sync::{TryLockError, atomic::Ordering},
    time::Duration,
};

/// How often a second thread that waits for background tasks looks whether they are done.
const FRONT_LOOK: Duration = Duration::from_micros(100);

impl Shared {
    /// Inserts at the front: from outside of any scope; or further down, where foreign code that is called there drops a handle.
    /// (That is none of those that are named there: they are borrowed.)
    pub(crate) fn at_front<R>(&self, insert: impl FnOnce(&Inserter<'_>) -> R) -> R {
        let _front = (!self.is_at_front()).then(|| self.lock_front());
        let (seat, scope) = (&self.seats[(self.workers + GUESTS) as usize], self.front_scope());
        let inserter = Inserter::at_front(self, seat, scope);
        let result = insert(&inserter);
        self.front.inserted.fetch_add(inserter.inserted(), Ordering::Relaxed);
        result
    }

    /// Waits, working, until every task inserted at the front so far is done; returns the first failure since the last call.
    pub(crate) fn wait_front(&self) -> Result<(), Error> {
        if current_task(self) != TaskId(0) {
            return Err(Error::refused("a task's body can not wait for the tasks around it"));
        }
        self.help_front_until(self.inserted_at_front(), None);
        self.front_scope().take_failure().map_or(Ok(()), |failure| Err(Error::failure(failure)))
    }

    /// Waits, working, until the front's window has room. Not while holding the front lock: the tasks run meanwhile may need
    /// it.
    pub(crate) fn await_front_room(&self) {
        let inserted = self.inserted_at_front();
        // Other threads insert, too, and more may be done by now than was inserted a moment ago.
        if inserted.saturating_sub(self.front_scope().done()) >= self.window {
            self.help_front_until(inserted - self.window + self.window.div_ceil(8), Some(Stall::WindowFull));
        }
    }

    fn help_front_until(&self, target: u64, stall: Option<Stall>) {
        let scope = self.front_scope();
        self.with_entry(|entry| {
            let within = self.is_guest(entry.seat).then_some(scope);
            while scope.done() < target {
                match self.front.waiting.try_lock() {
                    Err(TryLockError::WouldBlock) => {}
                    Ok(_) | Err(TryLockError::Poisoned(_)) => {
                        return self.help_until(entry.seat, &Waiting { scope, target, within, stall });
                    }
                }
                // Another thread waits already, and a scope knows one waiter. What it waits for may depend on tasks that only
                // this thread can run, so this one works, too, and looks again every now and then.
                if !self.run_one(entry.seat, within) {
                    self.stalled(entry.seat, stall, || std::thread::sleep(FRONT_LOOK));
                }
            }
        })
    }
}
