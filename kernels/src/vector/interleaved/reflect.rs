//! Elementary reflectors H = I - tau v vᴴ of small matrices, one per lane: making one, and applying one.
//!
//! The conventions are those of [`panels`](crate::vector): beta is real and has the opposite sign of the real part of
//! the first element, and v begins with an implicit one.

use super::Interleaved;
use super::number::{
    get, minus_product, plus_product, plus_square, product, put, reciprocal, sign, with_sign, within, zero,
};
use crate::simd::{Part, Vector};
use crate::{Real as _, Scalar};

/// C = (I - by v vᴴ) C, for v of m rows and n columns of C.
pub(super) struct Reflect<T: Scalar> {
    pub v: Interleaved<T::Real>,
    pub c: Interleaved<T::Real>,
    pub shape: (usize, usize),
    pub tau: *const T::Real,
    /// Whether `by` is conj(tau) instead of tau.
    pub conj: bool,
}

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for Reflect<T> {
    type Output = ();

    /// # Safety
    /// v has m rows in its first column, at least one, and C has this shape; they do not overlap.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) {
        let n = self.shape.1;
        for j in (0..n).step_by(4) {
            let c = self.c.from(0, j);
            // SAFETY: the columns are inside of C.
            unsafe {
                match n - j {
                    1 => columns::<T, V, 1>(isa, &self, c),
                    2 => columns::<T, V, 2>(isa, &self, c),
                    3 => columns::<T, V, 3>(isa, &self, c),
                    _ => columns::<T, V, 4>(isa, &self, c),
                }
            }
        }
    }
}

/// Applies the reflector to N columns.
///
/// # Safety
/// Same as for [`Reflect`]; C has N columns.
#[inline(always)]
unsafe fn columns<T, V, const N: usize>(isa: V::Isa, work: &Reflect<T>, c: Interleaved<T::Real>)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let Reflect { v, shape: (m, _), tau, conj, .. } = work;
    let (conj_v, conj_tau) = (sign::<T, V>(isa, true), sign::<T, V>(isa, *conj));
    // Sums of odd and of even rows of a real type do not wait for each other; complex sums are two already.
    let mut sums = [[zero::<T, V>(isa); N]; 2];
    // SAFETY: the rows and columns are inside of the matrices.
    unsafe {
        for s in 0..N {
            sums[0][s] = get::<T, V>(isa, c.at(0, s));
        }
        let mut i = 1;
        while i < *m {
            for half in 0..2 {
                if i + half < *m {
                    let kept = if T::COMPLEX { 0 } else { half };
                    let x = with_sign::<T, V>(get::<T, V>(isa, v.at(i + half, 0)), conj_v);
                    for s in 0..N {
                        let y = get::<T, V>(isa, c.at(i + half, s));
                        sums[kept][s] = plus_product::<T, V>(sums[kept][s], x, y);
                    }
                }
            }
            i += 2;
        }
        let by = with_sign::<T, V>(get::<T, V>(isa, *tau), conj_tau);
        let mut y = [zero::<T, V>(isa); N];
        for s in 0..N {
            let sum = if T::COMPLEX { sums[0][s] } else { [sums[0][s][0].add(sums[1][s][0]), sums[0][s][1]] };
            y[s] = product::<T, V>(sum, by);
            let x = get::<T, V>(isa, c.at(0, s));
            let top = x[0].sub(y[s][0]);
            put::<T, V>([top, if T::COMPLEX { x[1].sub(y[s][1]) } else { top }], c.at(0, s));
        }
        for i in 1..*m {
            let x = get::<T, V>(isa, v.at(i, 0));
            for s in 0..N {
                let at = c.at(i, s);
                put::<T, V>(minus_product::<T, V>(get::<T, V>(isa, at), x, y[s]), at);
            }
        }
    }
}

/// Makes the reflector of the first column of A: stores beta and v over it, and tau. Returns `ordinary` where the sum
/// of squares is in range.
///
/// # Safety
/// A has m rows, at least one, and a column. There is room for tau.
#[inline(always)]
pub(super) unsafe fn make_reflector<T, V>(
    isa: V::Isa,
    a: Interleaved<T::Real>,
    m: usize,
    tau: *mut T::Real,
    ordinary: V,
) -> V
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (nothing, one) = (V::splat(isa, T::Real::ZERO), V::splat(isa, T::Real::ONE));
    let least = T::Real::MIN_POSITIVE / (T::EPSILON * T::EPSILON);
    let range = (least, T::Real::ONE / least);
    // SAFETY: the rows are inside of A, and there is room for tau.
    unsafe {
        let alpha = get::<T, V>(isa, a.at(0, 0));
        if m == 1 && !T::COMPLEX {
            put::<T, V>(zero::<T, V>(isa), tau);
            return ordinary;
        }
        let mut sums = [nothing; 2];
        let mut i = 1;
        while i < m {
            sums[0] = plus_square::<T, V>(sums[0], get::<T, V>(isa, a.at(i, 0)));
            if i + 1 < m {
                sums[1] = plus_square::<T, V>(sums[1], get::<T, V>(isa, a.at(i + 1, 0)));
            }
            i += 2;
        }
        let squares = sums[0].add(sums[1]);
        let norm2 = plus_square::<T, V>(squares, alpha);
        let known = ordinary;
        let below = if m == 1 { nothing.mul_add(alpha[1], alpha[1]) } else { squares };
        let mut ordinary = within::<T, V>(below, range, within::<T, V>(norm2, range, known));
        let norm = norm2.sqrt();
        let beta = nothing.select_greater(alpha[0], norm, nothing.sub(norm));
        let over = one.div(beta);
        let imaginary = if T::COMPLEX { nothing.mul_sub(alpha[1], over) } else { nothing };
        let mut by = [beta.sub(alpha[0]).mul(over), imaginary];
        let mut top = beta;
        if m == 1 {
            // The last row of a complex type: a number without an imaginary part needs no reflector.
            let size = alpha[1].abs();
            ordinary = size.select_greater(nothing, ordinary, known);
            top = size.select_greater(nothing, beta, alpha[0]);
            by = [size.select_greater(nothing, by[0], nothing), size.select_greater(nothing, by[1], nothing)];
        }
        put::<T, V>(by, tau);
        let scale = reciprocal::<T, V>([alpha[0].sub(beta), alpha[1]]);
        put::<T, V>([top, nothing], a.at(0, 0));
        for i in 1..m {
            put::<T, V>(product::<T, V>(get::<T, V>(isa, a.at(i, 0)), scale), a.at(i, 0));
        }
        ordinary
    }
}
