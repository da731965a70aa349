//! Triangular systems with a check for singularity.

use super::trtri::check_nonsingular;
use crate::{
    Scalar,
    error::{Error, system_of},
    level3::trsm::trsm,
    options::Options,
};
use superscalar_kernels::{Diag, MatMut, MatRef, Op, Side, Uplo};
use superscalar_macros::each_type;
use superscalar_runtime::Runtime;

/// Solves op(A) X = B, where A is n x n and triangular. X overwrites B, which is n x nrhs. Unlike
/// [`trsm`](fn@crate::trsm), it checks the diagonal for zeros first.
///
/// Only the triangle `uplo` of A is read; its diagonal is not read if `diag` is [`Diag::Unit`].
///
/// # Errors
/// [`Singular`](crate::ErrorKind::Singular), with LAPACK's `info`, if a diagonal element is exactly zero; B is then
/// unchanged. [`Shape`](crate::ErrorKind::Shape) if A is not n x n.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Diag, ErrorKind, Matrix, Op, Options, Uplo, trtrs};
///
/// let (rt, o) = (Runtime::new()?, Options::default());
/// let mut a = Matrix::from_fn(2, 2, |i, j| [[2.0, 0.0], [1.0, 4.0]][i][j]);
/// let mut b = Matrix::from_fn(2, 1, |i, _| [2.0, 9.0][i]);
/// trtrs(&rt, Uplo::Lower, Op::None, Diag::NonUnit, a.as_ref(), b.as_mut(), &o)?;
/// assert_eq!((b.at(0, 0), b.at(1, 0)), (1.0, 2.0));
///
/// a.as_mut()[(1, 1)] = 0.0;
/// let error = trtrs(&rt, Uplo::Lower, Op::None, Diag::NonUnit, a.as_ref(), b.as_mut(), &o).unwrap_err();
/// assert_eq!((error.kind(), error.info()), (ErrorKind::Singular, Some(2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn trtrs<T: Scalar>(
    rt: &Runtime,
    uplo: Uplo,
    op: Op,
    diag: Diag,
    a: MatRef<'_, T>,
    b: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    system_of(a.shape(), b.shape())?;
    check_nonsingular(diag, a)?;
    trsm(rt, Side::Left, uplo, op, diag, T::ONE, a, b, options)
}
