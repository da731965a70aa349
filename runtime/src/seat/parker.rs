//! Puts one thread to sleep until another wakes it.

use crate::sync::{AtomicU32, Condvar, Mutex, Ordering, held};

const EMPTY: u32 = 0;
const WOKEN: u32 = 1;
const PARKED: u32 = 2;

/// A binary token: [`wake`](Self::wake) puts it down, [`park`](Self::park) sleeps until it is there and takes it up.
///
/// Any number of threads may wake, one may park. A wake before the park is not lost; several count as one.
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
        // A swap, not a store: a wake that comes now is taken up with the last one, with all that its sender did before.
        self.state.swap(EMPTY, Ordering::AcqRel);
    }

    /// Wakes the thread that parks here, now or next.
    pub(crate) fn wake(&self) {
        if self.state.swap(WOKEN, Ordering::AcqRel) == PARKED {
            // The lock is taken and released so that a thread between its look at the state and its wait is not missed.
            drop(held(self.lock.lock()));
            self.changed.notify_one();
        }
    }
}
