//! A lock that knows whether the current thread holds it. Foreign code called under the lock may re-enter the runtime.

use crate::sync::held;
use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicUsize, Ordering},
};

/// A mutex that records its holder; see the [module](self) documentation.
#[derive(Default)]
pub(crate) struct HolderLock {
    lock: Mutex<()>,
    /// The thread that holds the lock, as given by [`this_thread`]; zero if there is none.
    holder: AtomicUsize,
}

/// Holds the lock until it is dropped.
pub(crate) struct HolderGuard<'a> {
    holder: &'a AtomicUsize,
    _lock: MutexGuard<'a, ()>,
}

impl HolderLock {
    /// Takes the lock, which the calling thread must not hold already.
    pub(crate) fn lock(&self) -> HolderGuard<'_> {
        let (lock, holder) = (held(self.lock.lock()), &self.holder);
        holder.store(this_thread(), Ordering::Relaxed);
        HolderGuard { holder, _lock: lock }
    }

    /// Returns whether the calling thread holds the lock.
    pub(crate) fn is_held_by_this_thread(&self) -> bool {
        self.holder.load(Ordering::Relaxed) == this_thread()
    }
}

impl Drop for HolderGuard<'_> {
    fn drop(&mut self) {
        // Cleared before the lock is released, which happens after this function.
        self.holder.store(0, Ordering::Relaxed);
    }
}

/// Returns an address that identifies this thread while it lives.
fn this_thread() -> usize {
    thread_local! {
        static HERE: u8 = const { 0 };
    }
    HERE.with(|here| std::ptr::from_ref(here).addr())
}
