//! Factorizations as values: they solve, multiply, and know their determinant and condition.

mod cholesky;
mod determinant;
mod lq;
mod lu;
mod qr;

pub use cholesky::Cholesky;
pub use determinant::LogDeterminant;
pub use lq::Lq;
pub use lu::Lu;
pub use qr::Qr;

use crate::{
    Error,
    dla::{MatRef, Matrix, Scalar},
    kernels::{AsMatrix, Diag, Norm, Real, Uplo},
};

/// Copies a right-hand side, which the routines replace by the solution.
fn copied<T: Scalar, B: AsMatrix<Element = T> + ?Sized>(b: &B) -> Result<Matrix<T>, Error> {
    Ok(Matrix::copy_of(b.as_matrix()?)?)
}

/// Copies the named triangle of a factor and fills the rest with zeros.
fn triangle<T: Scalar>(
    uplo: Uplo,
    diag: Diag,
    factor: MatRef<'_, T>,
    shape: (usize, usize),
) -> Result<Matrix<T>, Error> {
    let mut triangle = Matrix::try_zeros(shape.0, shape.1)?;
    for j in 0..shape.1 {
        let rows = match uplo {
            Uplo::Lower => j.min(shape.0)..shape.0,
            Uplo::Upper => 0..(j + 1).min(shape.0),
        };
        for i in rows {
            triangle[(i, j)] = if i == j && diag == Diag::Unit { T::ONE } else { factor.at(i, j) };
        }
    }
    Ok(triangle)
}

/// Estimates the reciprocal condition number of a triangular matrix in the one norm. The other triangle holds zeros,
/// so that the matrix is its own LU factorization.
fn rcond_of_triangle<T: Scalar>(triangle: &Matrix<T>) -> Result<T::Real, Error> {
    let n = triangle.nrows();
    let norm = crate::dla::serial::lange(Norm::One, triangle.as_ref());
    Ok(crate::dla::serial::gecon(Norm::One, triangle.as_ref(), norm, &mut vec![T::ZERO; 2 * n]))
}

/// Returns the condition number for a reciprocal one.
fn reciprocal<R: Real>(rcond: R) -> R {
    R::ONE / rcond
}
