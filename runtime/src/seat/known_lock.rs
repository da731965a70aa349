//! A lock whose holder can ask whether it has it: foreign code that is called meanwhile may come back.

use crate::sync::held;
use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicUsize, Ordering},
};

/// See the module's head.
#[derive(Default)]
pub(crate) struct KnownLock {
    lock: Mutex<()>,
    /// The thread that has it, by [`this_thread`]; zero: none.
    holder: AtomicUsize,
}

/// The lock is held until this is dropped.
pub(crate) struct KnownGuard<'a> {
    holder: &'a AtomicUsize,
    _lock: MutexGuard<'a, ()>,
}

impl KnownLock {
    /// Takes the lock. The thread does not have it.
    pub(crate) fn lock(&self) -> KnownGuard<'_> {
        let (lock, holder) = (held(self.lock.lock()), &self.holder);
        holder.store(this_thread(), Ordering::Relaxed);
        KnownGuard { holder, _lock: lock }
    }

    /// Whether the thread has it.
    pub(crate) fn is_mine(&self) -> bool {
        self.holder.load(Ordering::Relaxed) == this_thread()
    }
}

impl Drop for KnownGuard<'_> {
    fn drop(&mut self) {
        // The lock goes after this.
        self.holder.store(0, Ordering::Relaxed);
    }
}

/// An address that no other thread has while this one lives.
fn this_thread() -> usize {
    thread_local! {
        static HERE: u8 = const { 0 };
    }
    HERE.with(|here| std::ptr::from_ref(here).addr())
}
