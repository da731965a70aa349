//! Vectors for any processor: arrays that the compiler vectorizes as far as the target allows.

use super::{Baseline, Part, Rows, Vector};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A vector of four reals.
#[derive(Clone, Copy)]
pub struct Portable<R>([R; 4]);

/// The operations that a real type needs; its default is zero.
pub trait PortableReal:
    Copy
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    fn root(self) -> Self;
}

impl PortableReal for f32 {
    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }
}

impl PortableReal for f64 {
    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }
}

impl<R: PortableReal> Portable<R> {
    /// Makes a vector from its lanes. They are written out, because a loop over them would have to be unrolled in each
    /// of the thousands of places where a kernel computes. With loops, the code of these vectors was 18 % larger in the
    /// dev profile.
    #[inline(always)]
    fn of_lanes(lane: impl Fn(usize) -> R) -> Self {
        Self([lane(0), lane(1), lane(2), lane(3)])
    }

    #[inline(always)]
    fn zip(self, a: Self, b: Self, f: impl Fn(R, R, R) -> R) -> Self {
        Self::of_lanes(|i| f(self.0[i], a.0[i], b.0[i]))
    }
}

// Multiply-adds round twice here: without a fused instruction `mul_add` is a library call, tens of times slower.
impl<R: PortableReal> Vector for Portable<R> {
    type Real = R;
    type Isa = Baseline;
    const LANES: usize = 4;
    const SQUARE: usize = 4;

    #[inline(always)]
    fn splat(_isa: Baseline, x: R) -> Self {
        Self([x; 4])
    }
    #[inline(always)]
    fn isa(self) -> Baseline {
        Baseline::PROOF
    }
    #[inline(always)]
    unsafe fn load(_isa: Baseline, from: *const R) -> Self {
        // SAFETY: the caller guarantees LANES reals, which is four.
        Self(unsafe { from.cast::<[R; 4]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut R) {
        // SAFETY: the caller guarantees room for LANES reals, which is four.
        unsafe { to.cast::<[R; 4]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn load_lanes(_isa: Baseline, from: *const R, first: usize, end: usize) -> Self {
        let mut x = [R::default(); 4];
        for (i, x) in x.iter_mut().enumerate() {
            if first <= i && i < end {
                // SAFETY: lane i is one of first .. end, which the caller guarantees.
                *x = unsafe { *from.wrapping_add(i) };
            }
        }
        Self(x)
    }
    #[inline(always)]
    unsafe fn store_lanes(self, to: *mut R, first: usize, end: usize) {
        for (i, x) in self.0.into_iter().enumerate() {
            if first <= i && i < end {
                // SAFETY: lane i is one of first .. end, for which the caller guarantees room.
                unsafe { *to.wrapping_add(i) = x };
            }
        }
    }
    #[inline(always)]
    fn add(self, x: Self) -> Self {
        self.zip(x, x, |x, y, _| x + y)
    }
    #[inline(always)]
    fn sub(self, x: Self) -> Self {
        self.zip(x, x, |x, y, _| x - y)
    }
    #[inline(always)]
    fn div(self, by: Self) -> Self {
        self.zip(by, by, |x, y, _| x / y)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.zip(self, self, |x, _, _| x.root())
    }
    #[inline(always)]
    fn select_greater(self, limit: Self, yes: Self, no: Self) -> Self {
        Self(std::array::from_fn(|i| if self.0[i] > limit.0[i] { yes.0[i] } else { no.0[i] }))
    }
    #[inline(always)]
    fn mul(self, by: Self) -> Self {
        self.zip(by, by, |x, y, _| x * y)
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        self.zip(a, b, |x, a, b| x + a * b)
    }
    #[inline(always)]
    fn mul_sub(self, a: Self, b: Self) -> Self {
        self.zip(a, b, |x, a, b| x - a * b)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.zip(self, self, |x, _, _| if x < R::default() { -x } else { x })
    }
    #[inline(always)]
    fn larger(best: (Self, Self), x: (Self, Self)) -> (Self, Self) {
        let pick = |i: usize| if x.0.0[i] > best.0.0[i] { (x.0.0[i], x.1.0[i]) } else { (best.0.0[i], best.1.0[i]) };
        (Self::of_lanes(|i| pick(i).0), Self::of_lanes(|i| pick(i).1))
    }
    #[inline(always)]
    fn blend(self, other: Self, first: usize, end: usize) -> Self {
        Self::of_lanes(|i| if first <= i && i < end { other.0[i] } else { self.0[i] })
    }
    #[inline(always)]
    fn sum(self) -> R {
        (self.0[0] + self.0[2]) + (self.0[1] + self.0[3])
    }
    #[inline(always)]
    fn lane(self, i: usize) -> R {
        self.0[i]
    }
    #[inline(always)]
    fn interleave(re: Self, im: Self) -> (Self, Self) {
        let pair = |i: usize| [re.0[i], im.0[i], re.0[i + 1], im.0[i + 1]];
        (Self(pair(0)), Self(pair(2)))
    }
    #[inline(always)]
    fn swap_pairs(self) -> Self {
        Self([self.0[1], self.0[0], self.0[3], self.0[2]])
    }
    #[inline(never)]
    unsafe fn enter<P: Part<Self>>(part: P) -> P::Output {
        // SAFETY: the caller guarantees what the part requires, and every processor has the baseline.
        unsafe { part.run(Baseline::PROOF) }
    }
    #[inline(always)]
    unsafe fn transpose_rows(_isa: Baseline, from: impl Rows<R>, to: impl Rows<R>) {
        for i in 0..4 {
            for j in 0..4 {
                // SAFETY: i and j are less than four, so both squares have this element.
                unsafe { *to.row(j).add(i) = *from.row(i).add(j) };
            }
        }
    }
    #[inline(always)]
    unsafe fn transpose_four(isa: Baseline, from: *const R, from_step: usize, to: *mut R, to_step: usize) {
        // SAFETY: a square has four rows, so four rows are a whole square.
        unsafe { Self::transpose(isa, from, from_step, to, to_step) }
    }
}
