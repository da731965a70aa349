//! The buffers that a thread packs into: kept between calls, so that the steady state allocates nothing.
//!
//! A kernel that calls another while it holds one takes a second: there are as many as kernels are nested. Most sizes
//! are bounded by the blocking of the kernels (a few MiB). What is copied as a whole takes as much as it is large: a
//! panel of LU or QR, a small triangle, a block of reflectors.

use crate::{Scalar, pages::ask_for_large};
use std::cell::Cell;
use std::marker::PhantomData;

/// A cache line: what packed vectors are aligned to.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Line([u8; 64]);

impl Line {
    pub const ZERO: Self = Self([0; 64]);
}

thread_local! {
    /// Those that are not in use; the one given back last is on top, so that each kernel finds the one that fits it.
    /// They go when the thread's destructors run: a kernel that is called later (by an `atexit` handler) has a buffer
    /// for itself alone.
    static FREE: Cell<Vec<Vec<Line>>> = const { Cell::new(Vec::new()) };
}

/// A type of scratch.
///
/// # Safety
/// Every pattern of bits is a value of it, and it is aligned no more than a cache line is.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: a scalar is one real number or two: plain old data of at most eight bytes' alignment.
unsafe impl<T: Scalar> Plain for T {}
// SAFETY: every pattern of 32 bits is a number, aligned to four bytes.
unsafe impl Plain for u32 {}

/// Scratch of one kernel call, given back to the thread when dropped.
///
/// A guard and not a closure: a closure's body would be compiled outside of the function that enables the vector
/// instructions (see [`simd`](crate::simd)).
pub(crate) struct Workspace<T> {
    lines: Vec<Line>,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: Plain> Workspace<T> {
    /// Scratch of `len` elements, aligned to a cache line, holding arbitrary numbers.
    pub fn take(len: usize) -> Self {
        let kept = FREE.try_with(|place| {
            let mut free = place.take();
            let lines = free.pop();
            place.set(free);
            lines
        });
        let mut lines = kept.ok().flatten().unwrap_or_default();
        let needed = (len * size_of::<T>()).div_ceil(size_of::<Line>());
        if lines.len() < needed {
            lines.reserve_exact(needed - lines.len());
            ask_for_large(lines.spare_capacity_mut());
            lines.resize(needed, Line::ZERO);
        }
        Self { lines, len, elements: PhantomData }
    }

    /// The scratch.
    pub fn elements(&mut self) -> &mut [T] {
        let start = self.lines.as_mut_ptr().cast::<T>();
        // SAFETY: the lines are initialized memory of at least `len` elements, aligned for any that is Plain,
        // of which every bit pattern is a value; the borrow of self keeps others away.
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
    fn scratch_is_kept_however_deep() {
        let place = |scratch: &mut Workspace<f64>| scratch.elements().as_ptr() as usize;
        let nested = || {
            let (mut outer, mut inner) = (Workspace::<f64>::take(100), Workspace::<f64>::take(50));
            outer.elements().fill(1.0);
            inner.elements().fill(2.0);
            assert!(outer.elements().iter().all(|&x| x == 1.0));
            // The inner one goes back first.
            let places = (place(&mut outer), place(&mut inner));
            drop(inner);
            places
        };
        let first = nested();
        assert_eq!((first.0 % 64, first.1 % 64), (0, 0));
        assert_eq!(nested(), first);
    }
}
