//! How vector kernels hold complex numbers: a plane of real parts, and a plane of imaginary ones at a fixed distance.
//!
//! A real type has one plane only. What reads the second plane is left out at compile time.

use crate::Scalar;

/// Planes of a type: one, or two for complex.
pub(crate) const fn planes<T: Scalar>() -> usize {
    if T::COMPLEX { 2 } else { 1 }
}

/// The scalar whose parts are at `from` and, for complex types, `from + plane`.
///
/// # Safety
/// They are there.
#[inline(always)]
pub(crate) unsafe fn scalar<T: Scalar>(from: *const T::Real, plane: usize) -> T {
    // SAFETY: a complex type has its other part `plane` reals further on.
    unsafe { T::from_parts(*from, if T::COMPLEX { *from.add(plane) } else { T::Real::ZERO }) }
}

/// Writes a scalar's parts to `to` and, for complex types, `to + plane`.
///
/// # Safety
/// There is room for them.
#[inline(always)]
pub(crate) unsafe fn put<T: Scalar>(to: *mut T::Real, plane: usize, x: T) {
    // SAFETY: a complex type has room for its other part `plane` reals further on.
    unsafe {
        *to = x.re();
        if T::COMPLEX {
            *to.add(plane) = x.im();
        }
    }
}
