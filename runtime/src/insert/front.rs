//! Insertion outside of scopes, and of handles that several threads share. The front lock serializes it.

use super::Inserter;
use crate::{
    error::Error,
    recording::{Stall, TaskId},
    shared::{GUESTS_MAX, Shared},
    worker::{Waiting, current_task},
};
use std::{
    sync::{TryLockError, atomic::Ordering},
    time::Duration,
};

/// How often a further thread that waits for background tasks checks whether they are done.
const FRONT_POLL_PAUSE: Duration = Duration::from_micros(100);

impl Shared {
    /// Inserts at the front. The caller may already hold the front lock, because user code that runs during an
    /// insertion may drop a handle. (The insertion does not name that handle: named handles are borrowed.)
    pub(crate) fn at_front<R>(&self, insert: impl FnOnce(&Inserter<'_>) -> R) -> R {
        let _front = (!self.is_at_front()).then(|| self.lock_front());
        let (seat, scope) = (&self.seats[(self.workers + GUESTS_MAX) as usize], self.front_scope());
        let inserter = Inserter::at_front(self, seat, scope);
        let result = insert(&inserter);
        self.front.inserted.fetch_add(inserter.inserted(), Ordering::Relaxed);
        result
    }

    /// Waits until every task inserted at the front so far is done, running tasks meanwhile. Returns the first failure
    /// since the last call.
    pub(crate) fn wait_front(&self) -> Result<(), Error> {
        if current_task(self) != TaskId(0) {
            return Err(Error::refused(
                "`Runtime::wait` was called inside a task's body, which cannot wait for tasks outside it",
            ));
        }
        self.help_front_until(self.inserted_at_front(), None);
        self.front_scope().take_failure().map_or(Ok(()), |failure| Err(Error::failure(failure)))
    }

    /// Waits until the front's window has room, running tasks meanwhile. The caller must not hold the front lock, which
    /// these tasks may need.
    pub(crate) fn await_front_room(&self) {
        let inserted = self.inserted_at_front();
        // Other threads insert too, so more tasks may be done by now than were inserted when the count was read.
        if inserted.saturating_sub(self.front_scope().done()) >= self.window {
            self.help_front_until(inserted - self.window + self.window.div_ceil(8), Some(Stall::WindowFull));
        }
    }

    fn help_front_until(&self, target: u64, stall: Option<Stall>) {
        let scope = self.front_scope();
        self.with_thread_context(|context| {
            let within = self.is_guest(context.seat).then_some(scope);
            while scope.done() < target {
                match self.front.waiting.try_lock() {
                    Err(TryLockError::WouldBlock) => {}
                    Ok(_) | Err(TryLockError::Poisoned(_)) => {
                        return self.help_until(context.seat, &Waiting { scope, target, within, stall });
                    }
                }
                // Another thread waits already, and a scope has at most one registered waiter. That thread may wait for
                // tasks that only this thread can run, so this thread runs tasks too, and polls.
                if !self.run_one(context.seat, within) {
                    self.stalled(context.seat, stall, || std::thread::sleep(FRONT_POLL_PAUSE));
                }
            }
        })
    }
}
