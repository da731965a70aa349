//! The buffer that a thread packs into: kept between calls, so that the steady state allocates nothing.
//!
//! Its size is bounded by the blocking of the kernels (a few MiB), not by the matrices.

use crate::Real;
use std::cell::Cell;
use std::marker::PhantomData;

/// A cache line: what packed vectors are aligned to.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Line([u8; 64]);

impl Line {
    pub const ZERO: Self = Self([0; 64]);
}

thread_local! {
    static LINES: Cell<Vec<Line>> = const { Cell::new(Vec::new()) };
}

/// Scratch of one kernel call, given back to the thread when dropped.
///
/// A guard and not a closure: a closure's body would be compiled outside of the function that enables the vector
/// instructions (see [`simd`](crate::simd)).
pub(super) struct Workspace<R> {
    lines: Vec<Line>,
    len: usize,
    reals: PhantomData<R>,
}

impl<R: Real> Workspace<R> {
    /// Scratch of `len` reals, aligned to a cache line, holding arbitrary numbers.
    ///
    /// Taking while another is in use is allowed, at the price of an allocation.
    pub fn take(len: usize) -> Self {
        let mut lines = LINES.take();
        let needed = (len * size_of::<R>()).div_ceil(size_of::<Line>());
        if lines.len() < needed {
            lines.resize(needed, Line::ZERO);
        }
        Self { lines, len, reals: PhantomData }
    }

    /// The scratch.
    pub fn reals(&mut self) -> &mut [R] {
        let start = self.lines.as_mut_ptr().cast::<R>();
        // SAFETY: the lines are initialized memory of at least `len` reals, aligned for any real; every bit pattern is a
        // valid f32 or f64 (the only types that are Real); the borrow of self keeps others away.
        unsafe { std::slice::from_raw_parts_mut(start, self.len) }
    }
}

impl<R> Drop for Workspace<R> {
    fn drop(&mut self) {
        LINES.set(std::mem::take(&mut self.lines));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_is_kept_and_may_be_nested() {
        let first = Workspace::<f64>::take(100).reals().as_ptr() as usize;
        assert_eq!(first % 64, 0);
        let mut outer = Workspace::<f32>::take(50);
        let x = outer.reals();
        assert_eq!((x.as_ptr() as usize, x.len()), (first, 50));
        x.fill(1.0);
        Workspace::<f32>::take(10).reals().fill(2.0);
        assert!(x.iter().all(|&v| v == 1.0));
    }
}
