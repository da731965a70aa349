//! trmm: products with a triangular matrix.

use crate::vector::{TriangularAction, TriangularKernel};
use crate::{Diag, MatMut, MatRef, Op, Scalar, Side, Uplo};

/// Computes B = alpha op(A) B (`Side::Left`, A m x m) or B = alpha B op(A) (`Side::Right`, A n x n), with A triangular
/// and B m x n.
///
/// Only the triangle `uplo` of A is read, without its diagonal if `diag` is [`Diag::Unit`]. alpha = 0 sets B to zero
/// without reading A.
///
/// # Panics
/// If the shapes do not agree.
///
/// # Example
/// ```
/// use superscalar::kernels::{Diag, MatMut, MatRef, Op, Side, Uplo, cpu};
///
/// let (a, mut b) = ([2.0, 3.0, f64::NAN, 4.0], [1.0, 1.0]);
/// let a = MatRef::from_col_major(&a, 2, 2, 2)?;
/// let x = MatMut::from_col_major(&mut b, 2, 1, 2)?;
/// cpu::trmm(Side::Left, Uplo::Lower, Op::None, Diag::NonUnit, 1.0, a, x);
/// assert_eq!(b, [2.0, 7.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn trmm<T: Scalar>(side: Side, uplo: Uplo, op: Op, diag: Diag, alpha: T, a: MatRef<'_, T>, b: MatMut<'_, T>) {
    TriangularKernel::of(TriangularAction::Multiply, side, uplo, op, diag, alpha, a, b).run();
}
