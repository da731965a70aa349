//! swap, scal, copy, axpy, axpby.

use super::{address, address_mut, adjacent, check};
use crate::backend::vectors;
use crate::vector::loops::{Add, ScaleVector, Swap};
use crate::{Scalar, VecMut, VecRef};

/// Exchanges x and y, element by element.
///
/// # Panics
/// If the lengths differ.
///
/// # Example
/// ```
/// use superscalar::kernels::{VecMut, cpu};
///
/// let (mut x, mut y) = ([1.0, 2.0], [3.0, 4.0]);
/// cpu::swap(VecMut::from_slice(&mut x), VecMut::from_strided(&mut y, 2, -1)?);
/// assert_eq!((x, y), ([4.0, 3.0], [2.0, 1.0]));
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn swap<T: Scalar>(mut x: VecMut<'_, T>, mut y: VecMut<'_, T>) {
    check("swap", x.len(), y.len());
    let n = x.len();
    if let Some((x, y)) = adjacent(address_mut(&mut x), address_mut(&mut y), n) {
        let reals = n * size_of::<T>() / size_of::<T::Real>();
        // SAFETY: both vectors have n adjacent elements and are borrowed exclusively.
        return unsafe { (vectors::<T>().swap)(Swap { reals, x: x.cast(), y: y.cast() }) };
    }
    for i in 0..n {
        let (of_x, of_y) = (x.at(i), y.at(i));
        x.set(i, of_y);
        y.set(i, of_x);
    }
}

/// Scales x by alpha. NaN stays NaN, even with alpha = 0.
///
/// # Example
/// ```
/// use superscalar::kernels::{VecMut, cpu};
///
/// let mut x = [1.0, 2.0];
/// cpu::scal(3.0, VecMut::from_slice(&mut x));
/// assert_eq!(x, [3.0, 6.0]);
/// ```
pub fn scal<T: Scalar>(alpha: T, mut x: VecMut<'_, T>) {
    let n = x.len();
    if let Some((x, _)) = adjacent(address_mut(&mut x), address_mut(&mut x), n) {
        // SAFETY: x has n adjacent elements and is borrowed exclusively.
        return unsafe { (vectors::<T>().scale)(ScaleVector { n, c: alpha, x }) };
    }
    (0..n).for_each(|i| x.set(i, alpha * x.at(i)));
}

/// Scales x by a real alpha: `csscal` and `zdscal`. The parts are multiplied separately, so an infinite part does not
/// affect the other one.
///
/// # Example
/// ```
/// use superscalar::kernels::{VecMut, c64, cpu};
///
/// let mut x = [c64::new(f64::INFINITY, 2.0)];
/// cpu::scal_real(3.0, VecMut::from_slice(&mut x));
/// assert_eq!(x, [c64::new(f64::INFINITY, 6.0)]);
/// ```
pub fn scal_real<T: Scalar>(alpha: T::Real, mut x: VecMut<'_, T>) {
    let n = x.len();
    if let Some((x, _)) = adjacent(address_mut(&mut x), address_mut(&mut x), n) {
        let n = n * size_of::<T>() / size_of::<T::Real>();
        // SAFETY: the adjacent elements of x consist of n reals, and x is borrowed exclusively.
        return unsafe { (vectors::<T>().scale_reals)(ScaleVector { n, c: alpha, x: x.cast() }) };
    }
    (0..n).for_each(|i| x.set(i, T::from_parts(alpha * x.at(i).re(), alpha * x.at(i).im())));
}

/// Copies x to y.
///
/// # Panics
/// If the lengths differ.
///
/// # Example
/// ```
/// use superscalar::kernels::{VecMut, VecRef, cpu};
///
/// let mut y = [0.0; 2];
/// cpu::copy(VecRef::from_strided(&[1.0, 2.0], 2, -1)?, VecMut::from_slice(&mut y));
/// assert_eq!(y, [2.0, 1.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn copy<T: Scalar>(x: VecRef<'_, T>, mut y: VecMut<'_, T>) {
    check("copy", x.len(), y.len());
    let n = x.len();
    match adjacent(address(x), address_mut(&mut y), n) {
        // SAFETY: both vectors have n adjacent elements, and y is borrowed exclusively.
        Some((x, y)) if n > 0 => unsafe { std::ptr::copy(x, y, n) },
        _ => (0..n).for_each(|i| y.set(i, x.at(i))),
    }
}

/// Computes y = alpha x + y. With alpha = 0 y is unchanged and x is not read.
///
/// # Panics
/// If the lengths differ.
///
/// # Example
/// ```
/// use superscalar::kernels::{VecMut, VecRef, cpu};
///
/// let mut y = [1.0, 1.0];
/// cpu::axpy(2.0, VecRef::from_slice(&[3.0, 4.0]), VecMut::from_slice(&mut y));
/// assert_eq!(y, [7.0, 9.0]);
/// ```
pub fn axpy<T: Scalar>(alpha: T, x: VecRef<'_, T>, mut y: VecMut<'_, T>) {
    check("axpy", x.len(), y.len());
    let n = x.len();
    if alpha == T::ZERO {
        return;
    }
    if let Some((x, y)) = adjacent(address(x), address_mut(&mut y), n) {
        // SAFETY: both vectors have n adjacent elements, and y is borrowed exclusively.
        return unsafe { (vectors::<T>().add)(Add { n, c: [alpha], x: [x], conj: [false], y }) };
    }
    (0..n).for_each(|i| y.set(i, y.at(i) + alpha * x.at(i)));
}

/// Computes y = alpha x + beta y. beta = 0 does not read y; alpha = 0 does not read x.
///
/// # Panics
/// If the lengths differ.
///
/// # Example
/// ```
/// use superscalar::kernels::{VecMut, VecRef, cpu};
///
/// let mut y = [1.0, f64::NAN];
/// cpu::axpby(2.0, VecRef::from_slice(&[3.0, 4.0]), 0.0, VecMut::from_slice(&mut y));
/// assert_eq!(y, [6.0, 8.0]);
/// ```
pub fn axpby<T: Scalar>(alpha: T, x: VecRef<'_, T>, beta: T, mut y: VecMut<'_, T>) {
    check("axpby", x.len(), y.len());
    if y.inc() == 0 {
        // With an increment of zero each step reads the result of the step before.
        let part = |c: T, x: VecRef<'_, T>, i: usize| if c == T::ZERO { T::ZERO } else { c * x.at(i) };
        return (0..x.len()).for_each(|i| y.set(i, part(alpha, x, i) + part(beta, y.as_ref(), i)));
    }
    if beta != T::ZERO {
        super::super::level2::scale(beta, &mut y);
        axpy(alpha, x, y);
    } else if alpha == T::ZERO {
        y.fill(T::ZERO);
    } else {
        copy(x, y.rb_mut());
        scal(alpha, y);
    }
}
