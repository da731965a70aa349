//! The synchronization primitives that the protocols are written against. They are those of the standard library, or
//! loom's when the crate is built with `--cfg loom` to explore every interleaving.

#[cfg(not(loom))]
pub(crate) use std::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering, fence},
};

#[cfg(loom)]
pub(crate) use loom::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering, fence},
};

use std::sync::{LockResult, PoisonError, TryLockError};

/// Returns the guarded value, also after another holder has panicked: the data behind these locks are consistent
/// between any two statements.
#[inline]
pub(crate) fn held<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}

/// Locks a mutex that is usually held for a few microseconds: spins for about that long before it blocks. A blocked
/// thread would have to be woken by the holder, which is doing urgent work.
pub(crate) fn lock_spinning<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    try_lock_spinning(mutex).unwrap_or_else(|| held(mutex.lock()))
}

/// Like [`lock_spinning`], but returns `None` instead of blocking.
pub(crate) fn try_lock_spinning<T>(mutex: &std::sync::Mutex<T>) -> Option<std::sync::MutexGuard<'_, T>> {
    /// One attempt and one pause take 20 to 70 nanoseconds together.
    const ATTEMPTS: usize = 300;
    for _ in 0..ATTEMPTS {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(guard)) => return Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
        }
    }
    None
}

/// Separates two sequentially consistent accesses that rely on their total order. It compiles to nothing, because the
/// accesses themselves have that order; loom treats them as acquire and release, and needs a fence.
#[inline]
pub(crate) fn total_order() {
    #[cfg(loom)]
    fence(Ordering::SeqCst);
}

/// Prefetches for writing the cache lines of a value that another core has written and that is used soon.
#[inline]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        let at = std::ptr::from_ref(value).cast::<i8>();
        for line in 0..size_of::<T>().div_ceil(64) {
            // SAFETY: a prefetch has no effect that a program could observe, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_ET0>(at.wrapping_add(64 * line)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Pauses until another thread has executed its next few instructions.
#[cfg(not(loom))]
#[inline]
pub(crate) fn relax() {
    std::hint::spin_loop();
    // The other thread may have been preempted on this core, and a spinning thread must not keep it from running. A
    // yield takes about a microsecond, and this function is almost never called.
    std::thread::yield_now();
}

#[cfg(loom)]
pub(crate) fn relax() {
    loom::thread::yield_now();
}
