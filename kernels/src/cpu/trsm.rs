//! trsm: triangular systems with many right-hand sides.

use crate::vector::{TriangularAction, TriangularKernel};
use crate::{Diag, MatMut, MatRef, Op, Scalar, Side, Uplo};

/// Solves op(A) X = alpha B (`Side::Left`, A m x m) or X op(A) = alpha B (`Side::Right`, A n x n); X overwrites the
/// m x n matrix B.
///
/// Only the triangle `uplo` of A is read, without its diagonal if `diag` is [`Diag::Unit`]. A zero on the diagonal is
/// not an error: it makes Inf or NaN, as in the BLAS. alpha = 0 sets B to zero without reading A.
///
/// # Panics
/// If the shapes do not agree.
///
/// # Example
/// ```
/// use superscalar::kernels::{Diag, MatMut, MatRef, Op, Side, Uplo, cpu};
///
/// let (a, mut b) = ([2.0, 3.0, f64::NAN, 4.0], [2.0, 7.0]);
/// let a = MatRef::from_col_major(&a, 2, 2, 2)?;
/// let x = MatMut::from_col_major(&mut b, 2, 1, 2)?;
/// cpu::trsm(Side::Left, Uplo::Lower, Op::None, Diag::NonUnit, 1.0, a, x);
/// assert_eq!(b, [1.0, 1.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn trsm<T: Scalar>(side: Side, uplo: Uplo, op: Op, diag: Diag, alpha: T, a: MatRef<'_, T>, b: MatMut<'_, T>) {
    TriangularKernel::of(TriangularAction::Solve, side, uplo, op, diag, alpha, a, b).run();
}
