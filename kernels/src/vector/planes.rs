//! The storage of complex numbers in vector kernels: a plane of real parts, and one of imaginary parts at a fixed
//! distance.
//!
//! A real type has one plane. Code for the second plane is removed at compile time.

use crate::Scalar;

/// Returns the number of planes: one for a real type, two for a complex one.
pub(crate) const fn planes<T: Scalar>() -> usize {
    if T::COMPLEX { 2 } else { 1 }
}

/// Reads the scalar whose parts are at `from` and, for complex types, `from + plane`.
///
/// # Safety
/// These addresses are valid for reads.
#[inline(always)]
pub(crate) unsafe fn scalar<T: Scalar>(from: *const T::Real, plane: usize) -> T {
    // SAFETY: a complex type has its imaginary part `plane` reals after the real one.
    unsafe { T::from_parts(*from, if T::COMPLEX { *from.add(plane) } else { T::Real::ZERO }) }
}

/// Writes a scalar's parts to `to` and, for complex types, `to + plane`.
///
/// # Safety
/// These addresses are valid for writes.
#[inline(always)]
pub(crate) unsafe fn put<T: Scalar>(to: *mut T::Real, plane: usize, x: T) {
    // SAFETY: a complex type has room for its imaginary part `plane` reals after the real one.
    unsafe {
        *to = x.re();
        if T::COMPLEX {
            *to.add(plane) = x.im();
        }
    }
}
