//! Puts a thread to sleep until another thread wakes it.

use crate::sync::{AtomicU32, Condvar, Mutex, Ordering, held};

const EMPTY: u32 = 0;
const WOKEN: u32 = 1;
const PARKED: u32 = 2;

/// A binary token: [`wake`](Self::wake) sets it, and [`park`](Self::park) sleeps until it is set and then clears it.
///
/// Any number of threads may wake; only one may park. A wake-up before the park is not lost, and several count as one.
pub(crate) struct Parker {
    state: AtomicU32,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Parker {
    pub(crate) fn new() -> Self {
        Self { state: AtomicU32::new(EMPTY), lock: Mutex::new(()), changed: Condvar::new() }
    }

    /// Sleeps until woken.
    pub(crate) fn park(&self) {
        if self.state.swap(EMPTY, Ordering::AcqRel) == WOKEN {
            return;
        }
        let mut guard = held(self.lock.lock());
        if self.state.compare_exchange(EMPTY, PARKED, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            while self.state.load(Ordering::Acquire) == PARKED {
                guard = held(self.changed.wait(guard));
            }
        }
        // A swap, not a store: it also acquires the effects that precede a wake-up which arrives at this point.
        self.state.swap(EMPTY, Ordering::AcqRel);
    }

    /// Wakes the thread that parks here, now or next.
    pub(crate) fn wake(&self) {
        if self.state.swap(WOKEN, Ordering::AcqRel) == PARKED {
            // Taking the lock ensures that a thread between its check of the state and its wait does not miss the
            // notification.
            drop(held(self.lock.lock()));
            self.changed.notify_one();
        }
    }
}
