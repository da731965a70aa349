//! Loops that change vectors element by element.

use super::lanes::{add_columns, factor, times};
use crate::Scalar;
use crate::simd::{Part, Vector};
use crate::vector::planes::planes;

/// Vectors per pass of a loop that changes one vector.
const VECTORS_PER_PASS: usize = 4;

/// x *= c.
pub struct ScaleVector<T> {
    pub n: usize,
    pub c: T,
    pub x: *mut T,
}

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for ScaleVector<T> {
    type Output = ();

    /// # Safety
    /// The addresses are valid as the head of [`loops`](super) requires.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) {
        let (reals, x) = (self.n * planes::<T>(), self.x.cast::<T::Real>());
        let mut i = 0;
        // SAFETY: x has n elements, and every lane accessed is one of them.
        unsafe {
            let c = factor::<T, V>(isa, self.c, false);
            while i + VECTORS_PER_PASS * V::LANES <= reals {
                for u in 0..VECTORS_PER_PASS {
                    let at = x.add(i + u * V::LANES);
                    times::<T, V>(V::load(isa, at), c).store(at);
                }
                i += VECTORS_PER_PASS * V::LANES;
            }
            while i < reals {
                let end = V::LANES.min(reals - i);
                times::<T, V>(V::load_lanes(isa, x.add(i), 0, end), c).store_lanes(x.add(i), 0, end);
                i += V::LANES;
            }
        }
    }
}

/// y += c[0] x[0] + c[1] x[1] and so on; `conj` says which vectors x are conjugated.
pub struct Add<T, const K: usize> {
    pub n: usize,
    pub c: [T; K],
    pub x: [*const T; K],
    pub conj: [bool; K],
    pub y: *mut T,
}

impl<T: Scalar, V: Vector<Real = T::Real>, const K: usize> Part<V> for Add<T, K> {
    type Output = ();

    /// # Safety
    /// The addresses are valid as the head of [`loops`](super) requires.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) {
        // SAFETY: every vector has n elements.
        unsafe {
            let mut c = [[V::splat(isa, T::Real::ZERO); 2]; K];
            for (k, c) in c.iter_mut().enumerate() {
                *c = factor::<T, V>(isa, self.c[k], self.conj[k]);
            }
            let reals = self.n * planes::<T>();
            add_columns::<T, V, K, VECTORS_PER_PASS>(reals, cast(self.x), c, self.y.cast());
        }
    }
}

/// Casts addresses of scalars to addresses of reals.
#[inline(always)]
pub(crate) fn cast<T: Scalar, const K: usize>(x: [*const T; K]) -> [*const T::Real; K] {
    let mut out = [std::ptr::null(); K];
    for k in 0..K {
        out[k] = x[k].cast();
    }
    out
}

/// Exchanges x and y.
pub struct Swap<R> {
    pub reals: usize,
    pub x: *mut R,
    pub y: *mut R,
}

impl<R, V: Vector<Real = R>> Part<V> for Swap<R> {
    type Output = ();

    /// # Safety
    /// The addresses are valid as the head of [`loops`](super) requires.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) {
        let Self { reals, x, y } = self;
        let mut i = 0;
        // SAFETY: x and y have `reals` reals each, and every lane accessed is one of them.
        unsafe {
            while i + 2 * V::LANES <= reals {
                for u in 0..2 {
                    let (x, y) = (x.add(i + u * V::LANES), y.add(i + u * V::LANES));
                    let (of_x, of_y) = (V::load(isa, x), V::load(isa, y));
                    of_y.store(x);
                    of_x.store(y);
                }
                i += 2 * V::LANES;
            }
            while i < reals {
                let end = V::LANES.min(reals - i);
                let (of_x, of_y) = (V::load_lanes(isa, x.add(i), 0, end), V::load_lanes(isa, y.add(i), 0, end));
                of_y.store_lanes(x.add(i), 0, end);
                of_x.store_lanes(y.add(i), 0, end);
                i += V::LANES;
            }
        }
    }
}

/// (x, y) = (h[0] x + h[1] y, h[2] x + h[3] y).
pub struct Rotate<R> {
    pub reals: usize,
    pub h: [R; 4],
    pub x: *mut R,
    pub y: *mut R,
}

impl<R: Copy, V: Vector<Real = R>> Part<V> for Rotate<R> {
    type Output = ();

    /// # Safety
    /// The addresses are valid as the head of [`loops`](super) requires.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) {
        let Self { reals, h, x, y } = self;
        let mut i = 0;
        // SAFETY: x and y have `reals` reals each, and every lane accessed is one of them.
        unsafe {
            let h = [V::splat(isa, h[0]), V::splat(isa, h[1]), V::splat(isa, h[2]), V::splat(isa, h[3])];
            while i + 2 * V::LANES <= reals {
                for u in 0..2 {
                    let (x, y) = (x.add(i + u * V::LANES), y.add(i + u * V::LANES));
                    let (of_x, of_y) = (V::load(isa, x), V::load(isa, y));
                    of_y.mul(h[1]).mul_add(of_x, h[0]).store(x);
                    of_y.mul(h[3]).mul_add(of_x, h[2]).store(y);
                }
                i += 2 * V::LANES;
            }
            while i < reals {
                let end = V::LANES.min(reals - i);
                let (of_x, of_y) = (V::load_lanes(isa, x.add(i), 0, end), V::load_lanes(isa, y.add(i), 0, end));
                of_y.mul(h[1]).mul_add(of_x, h[0]).store_lanes(x.add(i), 0, end);
                of_y.mul(h[3]).mul_add(of_x, h[2]).store_lanes(y.add(i), 0, end);
                i += V::LANES;
            }
        }
    }
}
