//! geadd, as a loop.

use super::{element, product::update};
use crate::{MatMut, MatRef, Op, Scalar};

/// Computes B = alpha op(A) + beta B. See [`cpu::geadd`](crate::cpu::geadd).
///
/// # Panics
/// If the shapes do not agree.
pub fn geadd<T: Scalar>(op: Op, alpha: T, a: MatRef<'_, T>, beta: T, mut b: MatMut<'_, T>) {
    assert_eq!(op.shape(a.shape()), b.shape(), "geadd: the shapes do not agree");
    for j in 0..b.ncols() {
        for i in 0..b.nrows() {
            b[(i, j)] = update(alpha, || element(op, a, i, j), beta, &b[(i, j)]);
        }
    }
}
