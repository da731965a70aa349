//! The Level-1 BLAS: operations on vectors.
//!
//! Adjacent elements are processed a vector at a time. Elements with other increments are processed one by one and in
//! order, so that increments of zero have the same effect as in the reference BLAS. The caller decides which arguments
//! do nothing (an increment of `dscal` that is not positive, for example).

mod elementwise;
mod norm;
mod reductions;
mod rotation;
mod rotations;

pub use elementwise::{axpby, axpy, copy, scal, scal_real, swap};
pub use norm::nrm2;
pub use reductions::{asum, dotc, dotu, dsdot, iamax, sdsdot};
pub use rotation::{Rotation, rotg, rotmg};
pub use rotations::{ModifiedRotation, rot, rotm};

use crate::{VecMut, VecRef};

/// Returns the lowest addresses of two vectors of n elements if the elements of both are adjacent and in the same
/// order.
fn adjacent<T>((x, inc_x): (*mut T, isize), (y, inc_y): (*mut T, isize), n: usize) -> Option<(*mut T, *mut T)> {
    match (inc_x, inc_y) {
        (1, 1) => Some((x, y)),
        (-1, -1) => Some((x.wrapping_sub(n.max(1) - 1), y.wrapping_sub(n.max(1) - 1))),
        _ => None,
    }
}

/// Returns the address and the increment of a vector.
fn address<T>(x: VecRef<'_, T>) -> (*mut T, isize) {
    (x.as_ptr().cast_mut(), x.inc())
}

/// Returns the address and the increment of a vector.
fn address_mut<T>(x: &mut VecMut<'_, T>) -> (*mut T, isize) {
    (x.as_mut_ptr(), x.inc())
}

/// Panics unless the lengths agree.
#[track_caller]
fn check(name: &str, x: usize, y: usize) {
    assert!(x == y, "{name}: the lengths {x} and {y} of the vectors differ");
}
