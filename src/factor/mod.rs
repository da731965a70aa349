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
    dla::{MatRef, Matrix, Scalar, serial},
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

/// Estimates the reciprocal condition number of an upper triangular matrix. Its other triangle holds zeros, so that
/// it is its own LU factorization.
fn rcond_of_triangle<T: Scalar>(norm: Norm, triangle: &Matrix<T>) -> T::Real {
    let anorm = serial::lange(norm, triangle.as_ref());
    serial::gecon(norm, triangle.as_ref(), anorm, &mut vec![T::ZERO; 2 * triangle.nrows()])
}

/// Returns the condition number for a reciprocal one.
fn reciprocal<R: Real>(rcond: R) -> R {
    R::ONE / rcond
}
