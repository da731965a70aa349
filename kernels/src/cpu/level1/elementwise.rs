//! swap, scal, copy, axpy, axpby.

use super::{adjacent, check, place, place_mut};
use crate::backend::vectors;
use crate::vector::loops::{Add, Scale, Swap};
use crate::{Scalar, VecMut, VecRef};

/// Exchanges x and y, element by element.
///
/// # Panics
/// When the lengths differ.
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
    if let Some((x, y)) = adjacent(place_mut(&mut x), place_mut(&mut y), n) {
        let reals = n * size_of::<T>() / size_of::<T::Real>();
        // SAFETY: n elements are there in each, which are ours.
        return unsafe { (vectors::<T>().swap)(Swap { reals, x: x.cast(), y: y.cast() }) };
    }
    for i in 0..n {
        let (of_x, of_y) = (x.at(i), y.at(i));
        x.set(i, of_y);
        y.set(i, of_x);
    }
}

/// x = alpha x. NaN stays NaN, with alpha = 0 too.
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
    if let Some((x, _)) = adjacent(place_mut(&mut x), place_mut(&mut x), n) {
        // SAFETY: n elements are there, which are ours.
        return unsafe { (vectors::<T>().scale)(Scale { n, c: alpha, x }) };
    }
    (0..n).for_each(|i| x.set(i, alpha * x.at(i)));
}

/// x = alpha x for a real alpha: `csscal` and `zdscal`. Each part is multiplied by it, so an infinite part does not
/// touch the other one.
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
    if let Some((x, _)) = adjacent(place_mut(&mut x), place_mut(&mut x), n) {
        let n = n * size_of::<T>() / size_of::<T::Real>();
        // SAFETY: so many reals are there, which are ours.
        return unsafe { (vectors::<T>().scale_reals)(Scale { n, c: alpha, x: x.cast() }) };
    }
    (0..n).for_each(|i| x.set(i, T::from_parts(alpha * x.at(i).re(), alpha * x.at(i).im())));
}

/// y = x.
///
/// # Panics
/// When the lengths differ.
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
    match adjacent(place(x), place_mut(&mut y), n) {
        // SAFETY: n elements are there in each, and those of y are ours.
        Some((x, y)) if n > 0 => unsafe { std::ptr::copy(x, y, n) },
        _ => (0..n).for_each(|i| y.set(i, x.at(i))),
    }
}

/// y = alpha x + y; alpha = 0 leaves y as it is and does not read x.
///
/// # Panics
/// When the lengths differ.
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
    if let Some((x, y)) = adjacent(place(x), place_mut(&mut y), n) {
        // SAFETY: n elements are there in each, and those of y are ours.
        return unsafe { (vectors::<T>().add)(Add { n, c: [alpha], x: [x], conj: [false], y }) };
    }
    (0..n).for_each(|i| y.set(i, y.at(i) + alpha * x.at(i)));
}

/// y = alpha x + beta y; beta = 0 does not read y, alpha = 0 does not read x.
///
/// # Panics
/// When the lengths differ.
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
        // Each step begins with what the one before left.
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
