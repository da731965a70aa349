//! Vectors for any processor: arrays that the compiler vectorises as far as the target allows.

use super::{Part, Vector};
use std::ops::{Add, Mul, Neg, Sub};

/// Four reals.
#[derive(Clone, Copy)]
pub struct Portable<R>([R; 4]);

/// What is asked of a real, whose default is zero.
pub trait Plain:
    Copy + Default + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
}

impl Plain for f32 {}
impl Plain for f64 {}

impl<R: Plain> Portable<R> {
    #[inline(always)]
    fn zip(self, a: Self, b: Self, f: impl Fn(R, R, R) -> R) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], a.0[i], b.0[i])))
    }
}

// Without a fused instruction `mul_add` is a library call, tens of times slower than the two roundings taken here.
impl<R: Plain> Vector for Portable<R> {
    type Real = R;
    const LANES: usize = 4;
    const SQUARE: usize = 4;

    #[inline(always)]
    unsafe fn splat(x: R) -> Self {
        Self([x; 4])
    }
    #[inline(always)]
    unsafe fn load(from: *const R) -> Self {
        // SAFETY: the caller gives LANES reals.
        Self(unsafe { from.cast::<[R; 4]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut R) {
        // SAFETY: the caller gives room for LANES reals.
        unsafe { to.cast::<[R; 4]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn load_lanes(from: *const R, first: usize, end: usize) -> Self {
        let mut x = [R::default(); 4];
        for (i, x) in x.iter_mut().enumerate() {
            if first <= i && i < end {
                // SAFETY: the caller gives these lanes.
                *x = unsafe { *from.wrapping_add(i) };
            }
        }
        Self(x)
    }
    #[inline(always)]
    unsafe fn store_lanes(self, to: *mut R, first: usize, end: usize) {
        for (i, x) in self.0.into_iter().enumerate() {
            if first <= i && i < end {
                // SAFETY: the caller gives room for these lanes.
                unsafe { *to.wrapping_add(i) = x };
            }
        }
    }
    #[inline(always)]
    unsafe fn mul(self, by: Self) -> Self {
        self.zip(by, by, |x, y, _| x * y)
    }
    #[inline(always)]
    unsafe fn mul_add(self, a: Self, b: Self) -> Self {
        self.zip(a, b, |x, a, b| x + a * b)
    }
    #[inline(always)]
    unsafe fn mul_sub(self, a: Self, b: Self) -> Self {
        self.zip(a, b, |x, a, b| x - a * b)
    }
    #[inline(always)]
    unsafe fn abs(self) -> Self {
        self.zip(self, self, |x, _, _| if x < R::default() { -x } else { x })
    }
    #[inline(always)]
    unsafe fn larger(best: (Self, Self), x: (Self, Self)) -> (Self, Self) {
        let pick = |i: usize| if x.0.0[i] > best.0.0[i] { (x.0.0[i], x.1.0[i]) } else { (best.0.0[i], best.1.0[i]) };
        (Self(std::array::from_fn(|i| pick(i).0)), Self(std::array::from_fn(|i| pick(i).1)))
    }
    #[inline(always)]
    unsafe fn blend(self, other: Self, first: usize, end: usize) -> Self {
        Self(std::array::from_fn(|i| if first <= i && i < end { other.0[i] } else { self.0[i] }))
    }
    #[inline(always)]
    unsafe fn sum(self) -> R {
        (self.0[0] + self.0[2]) + (self.0[1] + self.0[3])
    }
    #[inline(always)]
    unsafe fn lane(self, i: usize) -> R {
        self.0[i]
    }
    #[inline(always)]
    unsafe fn interleave(re: Self, im: Self) -> (Self, Self) {
        let pair = |i: usize| [re.0[i], im.0[i], re.0[i + 1], im.0[i + 1]];
        (Self(pair(0)), Self(pair(2)))
    }
    #[inline(always)]
    unsafe fn swap_pairs(self) -> Self {
        Self([self.0[1], self.0[0], self.0[3], self.0[2]])
    }
    #[inline(never)]
    unsafe fn call<P: Part<Self>>(part: P) -> P::Output {
        // SAFETY: the caller's promises.
        unsafe { part.run() }
    }
    #[inline(always)]
    unsafe fn transpose(from: *const R, from_step: usize, to: *mut R, to_step: usize) {
        for i in 0..4 {
            for j in 0..4 {
                // SAFETY: the caller gives a square of four.
                unsafe { *to.add(j * to_step + i) = *from.add(i * from_step + j) };
            }
        }
    }
    #[inline(always)]
    unsafe fn transpose_four(from: *const R, from_step: usize, to: *mut R, to_step: usize) {
        // SAFETY: the caller's promises; these are all rows.
        unsafe { Self::transpose(from, from_step, to, to_step) }
    }
}
