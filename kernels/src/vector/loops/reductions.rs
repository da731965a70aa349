//! Loops that reduce vectors to one number.

use super::lanes::{add, dot_columns, exchanged};
use crate::simd::{Part, Vector};
use crate::vector::planes::planes;
use crate::{Real, Scalar};

/// Independent partial results, so that an operation does not wait for the preceding one.
const PARTIAL_SUMS: usize = 4;

/// The sum of all x y, or of all conj(x) y.
pub struct Dot<T> {
    pub n: usize,
    pub conj: bool,
    pub x: *const T,
    pub y: *const T,
}

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for Dot<T> {
    type Output = T;

    /// # Safety
    /// The addresses are valid as the head of [`loops`](super) requires.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) -> T {
        let reals = self.n * planes::<T>();
        // SAFETY: x and y have n elements each.
        unsafe { dot_columns::<T, V, 1, PARTIAL_SUMS>(isa, reals, [self.x.cast()], self.y.cast(), self.conj)[0] }
    }
}

/// The sum of the absolute values of all reals.
pub struct AbsSum<R> {
    pub reals: usize,
    pub x: *const R,
}

impl<R: Real, V: Vector<Real = R>> Part<V> for AbsSum<R> {
    type Output = R;

    /// # Safety
    /// The addresses are valid as the head of [`loops`](super) requires.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) -> R {
        let Self { reals, x } = self;
        let mut i = 0;
        // SAFETY: x has `reals` reals, and every lane accessed is one of them.
        unsafe {
            let mut sums = [V::splat(isa, R::ZERO); PARTIAL_SUMS];
            while i + PARTIAL_SUMS * V::LANES <= reals {
                for (u, sum) in sums.iter_mut().enumerate() {
                    *sum = add::<R, V>(*sum, V::load(isa, x.add(i + u * V::LANES)).abs());
                }
                i += PARTIAL_SUMS * V::LANES;
            }
            while i < reals {
                sums[0] = add::<R, V>(sums[0], V::load_lanes(isa, x.add(i), 0, V::LANES.min(reals - i)).abs());
                i += V::LANES;
            }
            add::<R, V>(add::<R, V>(sums[0], sums[1]), add::<R, V>(sums[2], sums[3])).sum()
        }
    }
}

/// The largest |re| + |im|, and the first block of elements that contains it. NaN is ignored.
pub struct Largest<T> {
    pub n: usize,
    pub x: *const T,
}

/// The result of [`Largest`]. `size` is negative if every element is NaN.
pub struct LargestBlock<R> {
    pub size: R,
    /// The first element of the block.
    pub start: usize,
}

/// Passes over the partial results per block.
const PASSES_PER_BLOCK: usize = 8;

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for Largest<T> {
    type Output = LargestBlock<T::Real>;

    /// # Safety
    /// The addresses are valid as the head of [`loops`](super) requires.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) -> LargestBlock<T::Real> {
        let (reals, x) = (self.n * planes::<T>(), self.x.cast::<T::Real>());
        let mut best = LargestBlock { size: -T::Real::ONE, start: 0 };
        let mut first = 0;
        while first < reals {
            let end = reals.min(first + PASSES_PER_BLOCK * PARTIAL_SUMS * V::LANES);
            // SAFETY: x has n elements, and `end` is at most their number of reals.
            let size = unsafe { largest_of_block::<T, V>(isa, first, end, x) };
            if size > best.size {
                best = LargestBlock { size, start: first / planes::<T>() };
            }
            first = end;
        }
        best
    }
}

/// Returns the largest size among reals first .. end.
///
/// # Safety
/// x has at least `end` reals.
#[inline(always)]
unsafe fn largest_of_block<T: Scalar, V: Vector<Real = T::Real>>(
    isa: V::Isa,
    first: usize,
    end: usize,
    x: *const T::Real,
) -> T::Real {
    let mut i = first;
    // SAFETY: every lane accessed is in first .. end, which x has.
    unsafe {
        let none = V::splat(isa, -T::Real::ONE);
        let mut most = [none; PARTIAL_SUMS];
        while i + PARTIAL_SUMS * V::LANES <= end {
            for (u, most) in most.iter_mut().enumerate() {
                *most = larger::<T, V>(*most, V::load(isa, x.add(i + u * V::LANES)));
            }
            i += PARTIAL_SUMS * V::LANES;
        }
        while i < end {
            most[0] = larger::<T, V>(most[0], V::load_lanes(isa, x.add(i), 0, V::LANES.min(end - i)));
            i += V::LANES;
        }
        let [a, b, c, d] = most;
        let (a, c) = (V::larger((a, a), (b, b)).0, V::larger((c, c), (d, d)).0);
        let most = V::larger((a, a), (c, c)).0;
        let mut size = most.lane(0);
        for lane in 1..V::LANES {
            let other = most.lane(lane);
            size = if other > size { other } else { size };
        }
        size
    }
}

/// Returns, lane by lane, the maximum of `most` and the sizes of x.
#[inline(always)]
fn larger<T: Scalar, V: Vector<Real = T::Real>>(most: V, x: V) -> V {
    let parts = x.abs();
    let size = if T::COMPLEX { add::<T, V>(parts, exchanged::<T, V>(parts)) } else { parts };
    V::larger((most, most), (size, size)).0
}
