//! The Level-1 BLAS: operations on vectors.
//!
//! Adjacent elements are taken a vector at a time; elements at other distances one by one and in order, so that
//! increments of zero mean what they mean in the reference BLAS. Which arguments do nothing (an increment of `dscal`
//! that is not positive, say) is for the caller to say.

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

/// Where two vectors of n elements begin, if the elements of both are adjacent, in the same order.
fn adjacent<T>((x, of_x): (*mut T, isize), (y, of_y): (*mut T, isize), n: usize) -> Option<(*mut T, *mut T)> {
    match (of_x, of_y) {
        (1, 1) => Some((x, y)),
        (-1, -1) => Some((x.wrapping_sub(n.max(1) - 1), y.wrapping_sub(n.max(1) - 1))),
        _ => None,
    }
}

/// Address and increment.
fn place<T>(x: VecRef<'_, T>) -> (*mut T, isize) {
    (x.as_ptr().cast_mut(), x.inc())
}

/// Address and increment.
fn place_mut<T>(x: &mut VecMut<'_, T>) -> (*mut T, isize) {
    (x.as_mut_ptr(), x.inc())
}

/// Panics unless the lengths agree.
#[track_caller]
fn check(name: &str, x: usize, y: usize) {
    assert!(x == y, "{name}: vectors of {x} and {y} elements");
}
