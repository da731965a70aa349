//! dotu, dotc, dsdot, sdsdot, asum, iamax.

use super::{address, adjacent, check};
use crate::backend::vectors;
use crate::scalar::division::size;
use crate::vector::loops::{AbsSum, Dot, Largest};
use crate::{Scalar, VecRef};

/// Computes xᵀ y, the sum of all x y.
///
/// # Panics
/// If the lengths differ.
///
/// # Example
/// ```
/// use superscalar::kernels::{VecRef, cpu};
/// assert_eq!(cpu::dotu(VecRef::from_slice(&[1.0, 2.0]), VecRef::from_slice(&[3.0, 4.0])), 11.0);
/// ```
pub fn dotu<T: Scalar>(x: VecRef<'_, T>, y: VecRef<'_, T>) -> T {
    dot(false, x, y)
}

/// Computes xᴴ y, the sum of all conj(x) y. For real types this is [`dotu`].
///
/// # Panics
/// If the lengths differ.
///
/// # Example
/// ```
/// use superscalar::kernels::{VecRef, c64, cpu};
/// let i = [c64::new(0.0, 1.0)];
/// assert_eq!(cpu::dotc(VecRef::from_slice(&i), VecRef::from_slice(&i)), c64::new(1.0, 0.0));
/// ```
pub fn dotc<T: Scalar>(x: VecRef<'_, T>, y: VecRef<'_, T>) -> T {
    dot(true, x, y)
}

fn dot<T: Scalar>(conj: bool, x: VecRef<'_, T>, y: VecRef<'_, T>) -> T {
    check("dot", x.len(), y.len());
    let n = x.len();
    if let Some((x, y)) = adjacent(address(x), address(y), n) {
        // SAFETY: both vectors have n adjacent elements.
        return unsafe { (vectors::<T>().dot)(Dot { n, conj, x, y }) };
    }
    let product = |i: usize| if conj { x.at(i).conj() * y.at(i) } else { x.at(i) * y.at(i) };
    (0..n).map(product).sum()
}

/// Computes xᵀ y of single-precision vectors as a double: each product is exact, and the sums are doubles.
///
/// # Panics
/// If the lengths differ.
///
/// # Example
/// ```
/// use superscalar::kernels::{VecRef, cpu};
/// let x = [1e4, 1.0];
/// assert_eq!(cpu::dsdot(VecRef::from_slice(&x), VecRef::from_slice(&x)), 100_000_001.0);
/// ```
pub fn dsdot(x: VecRef<'_, f32>, y: VecRef<'_, f32>) -> f64 {
    /// Independent partial sums, so that an addition does not wait for the one before.
    const PARTS: usize = 8;
    check("dsdot", x.len(), y.len());
    let (Some(x), Some(y)) = (x.as_slice(), y.as_slice()) else {
        return (0..x.len()).map(|i| f64::from(x.at(i)) * f64::from(y.at(i))).sum();
    };
    let ((x, rest_of_x), (y, rest_of_y)) = (x.as_chunks::<PARTS>(), y.as_chunks::<PARTS>());
    let mut parts = [0.0; PARTS];
    for (x, y) in x.iter().zip(y) {
        for at in 0..PARTS {
            parts[at] += f64::from(x[at]) * f64::from(y[at]);
        }
    }
    let rest = rest_of_x.iter().zip(rest_of_y).map(|(&x, &y)| f64::from(x) * f64::from(y));
    parts.into_iter().chain(rest).sum()
}

/// Computes b + xᵀ y of single-precision numbers, summed in doubles and then rounded.
///
/// # Panics
/// If the lengths differ.
///
/// # Example
/// ```
/// use superscalar::kernels::{VecRef, cpu};
/// let x = [1e4, 1.0];
/// assert_eq!(cpu::sdsdot(-1e8, VecRef::from_slice(&x), VecRef::from_slice(&x)), 1.0);
/// ```
pub fn sdsdot(b: f32, x: VecRef<'_, f32>, y: VecRef<'_, f32>) -> f32 {
    (f64::from(b) + dsdot(x, y)) as f32
}

/// Computes the sum of all |re| + |im|.
///
/// # Example
/// ```
/// use superscalar::kernels::{VecRef, c64, cpu};
/// assert_eq!(cpu::asum(VecRef::from_slice(&[c64::new(-3.0, 4.0)])), 7.0);
/// ```
pub fn asum<T: Scalar>(x: VecRef<'_, T>) -> T::Real {
    let n = x.len();
    if let Some((x, _)) = adjacent(address(x), address(x), n) {
        let reals = n * size_of::<T>() / size_of::<T::Real>();
        // SAFETY: the adjacent elements of x consist of this many reals.
        return unsafe { (vectors::<T>().abs_sum)(AbsSum { reals, x: x.cast() }) };
    }
    (0..n).map(|i| size(x.at(i))).sum()
}

/// Returns the number of the first element with the largest |re| + |im|, counted from one, or 0 for an empty vector. As
/// in the reference BLAS, a NaN element is ignored unless it is the first one; then the result is 1.
///
/// # Example
/// ```
/// use superscalar::kernels::{VecRef, cpu};
/// assert_eq!(cpu::iamax(VecRef::from_slice(&[1.0, -3.0, 3.0])), 2);
/// ```
pub fn iamax<T: Scalar>(x: VecRef<'_, T>) -> usize {
    let n = x.len();
    if n == 0 || size(x.at(0)).is_nan() {
        return n.min(1);
    }
    if x.inc() == 1 {
        // SAFETY: x has n adjacent elements.
        let found = unsafe { (vectors::<T>().largest)(Largest { n, x: x.as_ptr() }) };
        let first = (found.start..n).find(|&i| size(x.at(i)) == found.size);
        return first.unwrap_or(0) + 1;
    }
    let mut best = (size(x.at(0)), 0);
    for i in 1..n {
        let size = size(x.at(i));
        best = if size > best.0 { (size, i) } else { best };
    }
    best.1 + 1
}
