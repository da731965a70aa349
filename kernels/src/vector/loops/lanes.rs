//! Vector operations of the loops: scalars as factors, columns added to a vector, products of columns and a vector.
//!
//! `reals` counts the reals of a vector of numbers: two for each complex one.

use crate::Scalar;
use crate::simd::Vector;

/// Returns a vector with a in even lanes and b in odd ones.
#[inline(always)]
pub(crate) fn alternate<V: Vector>(isa: V::Isa, a: V::Real, b: V::Real) -> V {
    V::interleave(V::splat(isa, a), V::splat(isa, b)).0
}

/// Returns the factors that give c x, or c conj(x): one for x, and one for x with its parts exchanged.
#[inline(always)]
pub(crate) fn factor<T: Scalar, V: Vector<Real = T::Real>>(isa: V::Isa, c: T, conj: bool) -> [V; 2] {
    if !T::COMPLEX {
        [V::splat(isa, c.re()); 2]
    } else if conj {
        [alternate(isa, c.re(), -c.re()), V::splat(isa, c.im())]
    } else {
        [V::splat(isa, c.re()), alternate(isa, -c.im(), c.im())]
    }
}

/// Returns c x, or c conj(x).
#[inline(always)]
pub(crate) fn times<T: Scalar, V: Vector<Real = T::Real>>(x: V, c: [V; 2]) -> V {
    if T::COMPLEX { x.mul(c[0]).mul_add(x.swap_pairs(), c[1]) } else { x.mul(c[0]) }
}

/// Returns y + c x, or y + c conj(x).
#[inline(always)]
pub(crate) fn plus<T: Scalar, V: Vector<Real = T::Real>>(y: V, x: V, c: [V; 2]) -> V {
    let y = y.mul_add(x, c[0]);
    if T::COMPLEX { y.mul_add(x.swap_pairs(), c[1]) } else { y }
}

/// Adds a x to the sums of products, given x and x with its parts exchanged.
#[inline(always)]
pub(crate) fn accumulate<T: Scalar, V: Vector<Real = T::Real>>(sums: [V; 2], a: V, x: V, exchanged: V) -> [V; 2] {
    [sums[0].mul_add(a, x), if T::COMPLEX { sums[1].mul_add(a, exchanged) } else { sums[1] }]
}

/// Returns x with its parts exchanged, or x itself for a real type.
#[inline(always)]
pub(crate) fn exchanged<T: Scalar, V: Vector<Real = T::Real>>(x: V) -> V {
    if T::COMPLEX { x.swap_pairs() } else { x }
}

/// Returns the sum of the products a x, or conj(a) x, from the sums in the lanes.
#[inline(always)]
pub(crate) fn total<T: Scalar, V: Vector<Real = T::Real>>(sums: [V; 2], conj: bool) -> T {
    let isa = sums[0].isa();
    if !T::COMPLEX {
        return T::from_real(sums[0].sum());
    }
    // Lanes of the first sum hold re re (even) and im im (odd), of the second re im and im re.
    let one = T::Real::ONE;
    let signs = alternate::<V>(isa, one, -one);
    if conj {
        T::from_parts(sums[0].sum(), sums[1].mul(signs).sum())
    } else {
        T::from_parts(sums[0].mul(signs).sum(), sums[1].sum())
    }
}

/// Returns x + y.
#[inline(always)]
pub(crate) fn add<T: Scalar, V: Vector<Real = T::Real>>(x: V, y: V) -> V {
    x.mul_add(y, V::splat(x.isa(), T::Real::ONE))
}

/// y += c[0] a[0] + c[1] a[1] and so on, U vectors at a time.
///
/// # Safety
/// There are `reals` reals at each address.
#[inline(always)]
pub(crate) unsafe fn add_columns<T, V, const K: usize, const U: usize>(
    reals: usize,
    a: [*const T::Real; K],
    c: [[V; 2]; K],
    y: *mut T::Real,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let isa = c[0][0].isa();
    let mut i = 0;
    // SAFETY: every lane accessed is below `reals`, the length at each address.
    unsafe {
        while i + U * V::LANES <= reals {
            for u in 0..U {
                let at = i + u * V::LANES;
                let mut sum = V::load(isa, y.add(at));
                for k in 0..K {
                    sum = plus::<T, V>(sum, V::load(isa, a[k].add(at)), c[k]);
                }
                sum.store(y.add(at));
            }
            i += U * V::LANES;
        }
        while i < reals {
            let end = V::LANES.min(reals - i);
            let mut sum = V::load_lanes(isa, y.add(i), 0, end);
            for k in 0..K {
                sum = plus::<T, V>(sum, V::load_lanes(isa, a[k].add(i), 0, end), c[k]);
            }
            sum.store_lanes(y.add(i), 0, end);
            i += V::LANES;
        }
    }
}

/// Returns the products of K columns, or of their conjugates, with x, U vectors at a time.
///
/// # Safety
/// There are `reals` reals at each address.
#[inline(always)]
pub(crate) unsafe fn dot_columns<T, V, const K: usize, const U: usize>(
    isa: V::Isa,
    reals: usize,
    a: [*const T::Real; K],
    x: *const T::Real,
    conj: bool,
) -> [T; K]
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let mut i = 0;
    // SAFETY: every lane accessed is below `reals`, the length at each address.
    unsafe {
        let zero = V::splat(isa, T::Real::ZERO);
        let mut sums = [[[zero; 2]; K]; U];
        while i + U * V::LANES <= reals {
            for (u, sums) in sums.iter_mut().enumerate() {
                let at = i + u * V::LANES;
                let x = V::load(isa, x.add(at));
                let swapped = exchanged::<T, V>(x);
                for k in 0..K {
                    sums[k] = accumulate::<T, V>(sums[k], V::load(isa, a[k].add(at)), x, swapped);
                }
            }
            i += U * V::LANES;
        }
        while i < reals {
            let end = V::LANES.min(reals - i);
            let x = V::load_lanes(isa, x.add(i), 0, end);
            let swapped = exchanged::<T, V>(x);
            for k in 0..K {
                sums[0][k] = accumulate::<T, V>(sums[0][k], V::load_lanes(isa, a[k].add(i), 0, end), x, swapped);
            }
            i += V::LANES;
        }
        let mut products = [T::ZERO; K];
        for k in 0..K {
            let mut sum = sums[0][k];
            for other in &sums[1..] {
                sum = [add::<T, V>(sum[0], other[k][0]), add::<T, V>(sum[1], other[k][1])];
            }
            products[k] = total::<T, V>(sum, conj);
        }
        products
    }
}
