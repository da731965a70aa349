//! Buffers that a thread packs into, kept between calls so that the steady state allocates nothing.
//!
//! A kernel that calls another one while it holds a buffer takes a second: a thread owns as many buffers as its kernels
//! nest. The block sizes bound most buffers (to a few MiB). What is copied as a whole needs its full size: a panel of
//! LU or QR, a small triangle, a block of reflectors.

use crate::{Scalar, pages::ask_for_large};
use std::cell::Cell;
use std::marker::PhantomData;

/// A cache line, to which packed vectors are aligned.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct CacheLine([u8; 64]);

impl CacheLine {
    pub const ZERO: Self = Self([0; 64]);
}

thread_local! {
    /// The buffers not in use, the latest returned on top, so that nested kernels get the same buffers again. Freed by
    /// the thread's destructors; a kernel that runs later (in an `atexit` handler) allocates a buffer of its own.
    static FREE: Cell<Vec<Vec<CacheLine>>> = const { Cell::new(Vec::new()) };
}

/// An element type of scratch.
///
/// # Safety
/// Every bit pattern is a valid value, and the alignment is at most that of a cache line.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: a scalar is one real number or two: plain old data of at most eight bytes' alignment.
unsafe impl<T: Scalar> Plain for T {}
// SAFETY: every pattern of 32 bits is a number, aligned to four bytes.
unsafe impl Plain for u32 {}
// SAFETY: every pattern of 32 bits is a number, aligned to four bytes.
unsafe impl Plain for i32 {}

/// Scratch of one kernel call, returned to the thread when dropped.
///
/// This is a guard because a closure's body would be compiled outside the function that enables the vector instructions
/// (see [`simd`](crate::simd)).
pub(crate) struct Workspace<T> {
    lines: Vec<CacheLine>,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: Plain> Workspace<T> {
    /// Returns scratch of `len` elements, aligned to a cache line, with arbitrary contents.
    pub fn take(len: usize) -> Self {
        let kept = FREE.try_with(|place| {
            let mut free = place.take();
            let lines = free.pop();
            place.set(free);
            lines
        });
        let mut lines = kept.ok().flatten().unwrap_or_default();
        let needed = (len * size_of::<T>()).div_ceil(size_of::<CacheLine>());
        if lines.len() < needed {
            lines.reserve_exact(needed - lines.len());
            ask_for_large(lines.spare_capacity_mut());
            lines.resize(needed, CacheLine::ZERO);
        }
        Self { lines, len, elements: PhantomData }
    }

    /// Returns the elements of the scratch.
    pub fn elements(&mut self) -> &mut [T] {
        let start = self.lines.as_mut_ptr().cast::<T>();
        // SAFETY: `lines` is initialized memory of at least `len` elements and aligned for every Plain type, of which
        // each bit pattern is a value; the exclusive borrow of self prevents aliasing.
        unsafe { std::slice::from_raw_parts_mut(start, self.len) }
    }
}

impl<T> Drop for Workspace<T> {
    fn drop(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        let _ = FREE.try_with(|place| {
            let mut free = place.take();
            free.push(lines);
            place.set(free);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_scratch_is_reused() {
        let place = |scratch: &mut Workspace<f64>| scratch.elements().as_ptr() as usize;
        let nested = || {
            let (mut outer, mut inner) = (Workspace::<f64>::take(100), Workspace::<f64>::take(50));
            outer.elements().fill(1.0);
            inner.elements().fill(2.0);
            assert!(outer.elements().iter().all(|&x| x == 1.0));
            // Buffers return in the reverse order of their use.
            let places = (place(&mut outer), place(&mut inner));
            drop(inner);
            places
        };
        let first = nested();
        assert_eq!((first.0 % 64, first.1 % 64), (0, 0));
        assert_eq!(nested(), first);
    }
}
