//! Arithmetic on one number of each matrix of a group: a vector of real parts, and one of imaginary parts, which code
//! for real types does not touch.

use super::Interleaved;
use crate::Scalar;
use crate::simd::Vector;

/// One number of each matrix.
pub(super) type Number<V> = [V; 2];

/// Returns a number whose parts are all zero.
#[inline(always)]
pub(super) fn zero<T: Scalar, V: Vector<Real = T::Real>>(isa: V::Isa) -> Number<V> {
    [V::splat(isa, T::Real::ZERO); 2]
}

/// Returns the same number for all matrices.
#[inline(always)]
pub(super) fn same<T: Scalar, V: Vector<Real = T::Real>>(isa: V::Isa, x: T) -> Number<V> {
    [V::splat(isa, x.re()), V::splat(isa, x.im())]
}

/// # Safety
/// The number at `from` is valid for reads.
#[inline(always)]
pub(super) unsafe fn get<T: Scalar, V: Vector<Real = T::Real>>(isa: V::Isa, from: *const T::Real) -> Number<V> {
    // SAFETY: the caller guarantees a vector for each plane.
    unsafe {
        let re = V::load(isa, from);
        [re, if T::COMPLEX { V::load(isa, from.add(V::LANES)) } else { re }]
    }
}

/// # Safety
/// The number at `to` is valid for writes.
#[inline(always)]
pub(super) unsafe fn put<T: Scalar, V: Vector<Real = T::Real>>(x: Number<V>, to: *mut T::Real) {
    // SAFETY: the caller guarantees room for a vector for each plane.
    unsafe {
        x[0].store(to);
        if T::COMPLEX {
            x[1].store(to.add(V::LANES));
        }
    }
}

/// Multiplies the imaginary part by `sign`: -1 gives the conjugate, 1 the number itself.
#[inline(always)]
pub(super) fn with_sign<T: Scalar, V: Vector<Real = T::Real>>(x: Number<V>, sign: V) -> Number<V> {
    if T::COMPLEX { [x[0], x[1].mul(sign)] } else { x }
}

/// Returns the sign for [`with_sign`].
#[inline(always)]
pub(super) fn sign<T: Scalar, V: Vector<Real = T::Real>>(isa: V::Isa, conj: bool) -> V {
    V::splat(isa, if conj { -T::Real::ONE } else { T::Real::ONE })
}

/// Returns acc + x y.
#[inline(always)]
pub(super) fn plus_product<T: Scalar, V: Vector<Real = T::Real>>(
    acc: Number<V>,
    x: Number<V>,
    y: Number<V>,
) -> Number<V> {
    let re = acc[0].mul_add(x[0], y[0]);
    if T::COMPLEX { [re.mul_sub(x[1], y[1]), acc[1].mul_add(x[0], y[1]).mul_add(x[1], y[0])] } else { [re, acc[1]] }
}

/// Returns acc - x y.
#[inline(always)]
pub(super) fn minus_product<T: Scalar, V: Vector<Real = T::Real>>(
    acc: Number<V>,
    x: Number<V>,
    y: Number<V>,
) -> Number<V> {
    let re = acc[0].mul_sub(x[0], y[0]);
    if T::COMPLEX { [re.mul_add(x[1], y[1]), acc[1].mul_sub(x[0], y[1]).mul_sub(x[1], y[0])] } else { [re, acc[1]] }
}

/// Returns x y.
#[inline(always)]
pub(super) fn product<T: Scalar, V: Vector<Real = T::Real>>(x: Number<V>, y: Number<V>) -> Number<V> {
    let re = x[0].mul(y[0]);
    if T::COMPLEX { [re.mul_sub(x[1], y[1]), x[0].mul(y[1]).mul_add(x[1], y[0])] } else { [re, re] }
}

/// Returns x times a real factor.
#[inline(always)]
pub(super) fn times<T: Scalar, V: Vector<Real = T::Real>>(x: Number<V>, by: V) -> Number<V> {
    let re = x[0].mul(by);
    [re, if T::COMPLEX { x[1].mul(by) } else { re }]
}

/// Returns x - y.
#[inline(always)]
pub(super) fn minus<T: Scalar, V: Vector<Real = T::Real>>(x: Number<V>, y: Number<V>) -> Number<V> {
    let re = x[0].sub(y[0]);
    [re, if T::COMPLEX { x[1].sub(y[1]) } else { re }]
}

/// Returns acc + |x|².
#[inline(always)]
pub(super) fn plus_square<T: Scalar, V: Vector<Real = T::Real>>(acc: V, x: Number<V>) -> V {
    let re = acc.mul_add(x[0], x[0]);
    if T::COMPLEX { re.mul_add(x[1], x[1]) } else { re }
}

/// Returns |re| + |im|.
#[inline(always)]
pub(super) fn size<T: Scalar, V: Vector<Real = T::Real>>(x: Number<V>) -> V {
    if T::COMPLEX { x[0].abs().add(x[1].abs()) } else { x[0].abs() }
}

/// Returns 1 / x for ordinary numbers.
#[inline(always)]
pub(super) fn reciprocal<T: Scalar, V: Vector<Real = T::Real>>(x: Number<V>) -> Number<V> {
    let isa = x[0].isa();
    let one = V::splat(isa, T::Real::ONE);
    if T::COMPLEX {
        let by = one.div(plus_square::<T, V>(V::splat(isa, T::Real::ZERO), x));
        [x[0].mul(by), V::splat(isa, T::Real::ZERO).mul_sub(x[1], by)]
    } else {
        let re = one.div(x[0]);
        [re, re]
    }
}

/// Returns `ordinary` where x is between the limits, and zero elsewhere.
#[inline(always)]
pub(super) fn within<T: Scalar, V: Vector<Real = T::Real>>(x: V, range: (T::Real, T::Real), ordinary: V) -> V {
    let isa = x.isa();
    let (least, most) = (V::splat(isa, range.0), V::splat(isa, range.1));
    let zero = V::splat(isa, T::Real::ZERO);
    x.select_greater(least, most.select_greater(x, ordinary, zero), zero)
}

/// Returns `ordinary` where all elements of an m x n matrix are finite, and zero elsewhere.
///
/// # Safety
/// The matrix has m rows and n columns.
#[inline(always)]
pub(super) unsafe fn finite<T: Scalar, V: Vector<Real = T::Real>>(
    isa: V::Isa,
    x: Interleaved<T::Real>,
    (m, n): (usize, usize),
    ordinary: V,
) -> V {
    let zero = V::splat(isa, T::Real::ZERO);
    let mut sums = [zero; 2];
    for j in 0..n {
        for i in 0..m {
            // SAFETY: (i, j) is an element.
            let x = unsafe { get::<T, V>(isa, x.at(i, j)) };
            // Zero times Inf is NaN.
            sums[0] = sums[0].mul_add(x[0], zero);
            if T::COMPLEX {
                sums[1] = sums[1].mul_add(x[1], zero);
            }
        }
    }
    let sum = sums[0].add(sums[1]);
    V::splat(isa, T::Real::ONE).select_greater(sum, ordinary, zero)
}
