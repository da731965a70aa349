//! The typed failures of factorizations.

/// The matrix is not positive definite, so it has no Cholesky factorization.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, Uplo, cpu};
///
/// let mut a = [1.0, 2.0, 2.0, 1.0];
/// let error = cpu::potrf(Uplo::Lower, MatMut::from_col_major(&mut a, 2, 2, 2)?).unwrap_err();
/// assert_eq!(error.minor, 2);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the leading minor of order {minor} is not positive definite")]
pub struct NotPositiveDefinite {
    /// The order of the first leading minor that is not positive definite, counted from one: LAPACK's `info`.
    pub minor: usize,
}

/// The factor U of the matrix has a zero on its diagonal.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, cpu};
///
/// let mut a = [1.0, 2.0, 2.0, 4.0];
/// let error = cpu::getrf(MatMut::from_col_major(&mut a, 2, 2, 2)?, &mut [0; 2]).unwrap_err();
/// assert_eq!(error.pivot, 2);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("pivot {pivot} is exactly zero")]
pub struct Singular {
    /// The first column whose pivot is zero, counted from one: LAPACK's `info`.
    pub pivot: usize,
}
