//! The primitives that the protocols are written against: the standard library's, or loom's when the crate is built with
//! `--cfg loom` to explore every interleaving of them.

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

/// The guarded value, also after a panic of another holder: what these locks guard is consistent between any two statements.
#[inline]
pub(crate) fn held<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}

/// Locks what others hold for some microseconds, mostly: looks for it again and again for about as long. Whoever sleeps must be woken by the one
/// who holds it, who is at something urgent.
pub(crate) fn lock_soon<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    try_lock_soon(mutex).unwrap_or_else(|| held(mutex.lock()))
}

/// The same; none if it is held for longer.
pub(crate) fn try_lock_soon<T>(mutex: &std::sync::Mutex<T>) -> Option<std::sync::MutexGuard<'_, T>> {
    /// A look and a pause take 20 to 70 nanoseconds.
    const LOOKS: usize = 300;
    for _ in 0..LOOKS {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(guard)) => return Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
        }
    }
    None
}

/// Stands between two sequentially consistent accesses that rely on their total order. It is nothing: the accesses themselves
/// have that order. Only loom, which takes them for acquire and release, needs to be told, by a fence.
#[inline]
pub(crate) fn total_order() {
    #[cfg(loom)]
    fence(Ordering::SeqCst);
}

/// Asks for the lines of the cache that a value is in, which is to be used soon, and which another core has written: they come meanwhile.
#[inline]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        let at = std::ptr::from_ref(value).cast::<i8>();
        for line in 0..size_of::<T>() / 64 {
            // SAFETY: a prefetch has no effect that a program could see, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_ET0>(at.wrapping_add(64 * line)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Waits a moment for another thread's next few instructions.
#[cfg(not(loom))]
#[inline]
pub(crate) fn relax() {
    std::hint::spin_loop();
    // The other thread may have been preempted on this very core; a spinning thread must not keep it from running. A yield
    // costs a microsecond, and this is reached about never.
    std::thread::yield_now();
}

#[cfg(loom)]
pub(crate) fn relax() {
    loom::thread::yield_now();
}
