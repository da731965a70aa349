//! Parts that make one number of vectors.

use super::lanes::{add, dot_columns, exchanged};
use crate::simd::{Part, Vector};
use crate::vector::planes::planes;
use crate::{Real, Scalar};

/// Partial results, so that an operation does not wait for the one before.
const PARTS: usize = 4;

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
    /// What the head of [`loops`](super) says of its vectors and its matrix.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) -> T {
        let reals = self.n * planes::<T>();
        // SAFETY: n elements are there in each vector.
        unsafe { dot_columns::<T, V, 1, PARTS>(isa, reals, [self.x.cast()], self.y.cast(), self.conj)[0] }
    }
}

/// The sum of all moduli.
pub struct AbsSum<R> {
    pub reals: usize,
    pub x: *const R,
}

impl<R: Real, V: Vector<Real = R>> Part<V> for AbsSum<R> {
    type Output = R;

    /// # Safety
    /// What the head of [`loops`](super) says of its vectors and its matrix.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) -> R {
        let Self { reals, x } = self;
        let mut i = 0;
        // SAFETY: so many reals are there.
        unsafe {
            let mut sums = [V::splat(isa, R::ZERO); PARTS];
            while i + PARTS * V::LANES <= reals {
                for (u, sum) in sums.iter_mut().enumerate() {
                    *sum = add::<R, V>(*sum, V::load(isa, x.add(i + u * V::LANES)).abs());
                }
                i += PARTS * V::LANES;
            }
            while i < reals {
                sums[0] = add::<R, V>(sums[0], V::load_lanes(isa, x.add(i), 0, V::LANES.min(reals - i)).abs());
                i += V::LANES;
            }
            add::<R, V>(add::<R, V>(sums[0], sums[1]), add::<R, V>(sums[2], sums[3])).sum()
        }
    }
}

/// The largest |re| + |im|, and the block of elements in which it is found first. NaN is passed over.
pub struct Largest<T> {
    pub n: usize,
    pub x: *const T,
}

/// What [`Largest`] finds: less than zero if there is no number.
pub struct LargestOf<R> {
    pub size: R,
    /// The first element of the block.
    pub start: usize,
}

/// Rounds of a block.
const ROUNDS: usize = 8;

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for Largest<T> {
    type Output = LargestOf<T::Real>;

    /// # Safety
    /// What the head of [`loops`](super) says of its vectors and its matrix.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) -> LargestOf<T::Real> {
        let (reals, x) = (self.n * planes::<T>(), self.x.cast::<T::Real>());
        let mut best = LargestOf { size: -T::Real::ONE, start: 0 };
        let mut first = 0;
        while first < reals {
            let end = reals.min(first + ROUNDS * PARTS * V::LANES);
            // SAFETY: n elements are there, and all lanes are theirs.
            let size = unsafe { largest_of_block::<T, V>(isa, first, end, x) };
            if size > best.size {
                best = LargestOf { size, start: first / planes::<T>() };
            }
            first = end;
        }
        best
    }
}

/// The largest size among reals first .. end.
///
/// # Safety
/// They are there.
#[inline(always)]
unsafe fn largest_of_block<T: Scalar, V: Vector<Real = T::Real>>(
    isa: V::Isa,
    first: usize,
    end: usize,
    x: *const T::Real,
) -> T::Real {
    let mut i = first;
    // SAFETY: all lanes are before `end`, and reals first .. end are there.
    unsafe {
        let none = V::splat(isa, -T::Real::ONE);
        let mut most = [none; PARTS];
        while i + PARTS * V::LANES <= end {
            for (u, most) in most.iter_mut().enumerate() {
                *most = larger::<T, V>(*most, V::load(isa, x.add(i + u * V::LANES)));
            }
            i += PARTS * V::LANES;
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

/// Lane by lane the larger one of `most` and the sizes of x.
#[inline(always)]
fn larger<T: Scalar, V: Vector<Real = T::Real>>(most: V, x: V) -> V {
    let parts = x.abs();
    let size = if T::COMPLEX { add::<T, V>(parts, exchanged::<T, V>(parts)) } else { parts };
    V::larger((most, most), (size, size)).0
}
