//! [`Linalg`]: factorizations and solutions as methods of matrices.

mod solver;

pub use solver::IntoMatrix;

use crate::{
    Cholesky, Error, LogDeterminant, Lq, Lu, Qr, Solver,
    dla::{Matrix, Norm, Scalar, Uplo},
    kernels::AsMatrix,
};

/// Linear algebra as methods of everything that is a matrix: [`Matrix`], views, slices as columns, and with the cargo
/// features of these names the matrices of `ndarray`, `nalgebra` and `faer`.
///
/// The methods copy what they would change and run on [the runtime of the process](crate::global_runtime). A
/// [`Solver`] has the same methods for another runtime or other options, and factors a matrix in place if it is given
/// away.
///
/// ```
/// use superscalar::prelude::*;
///
/// let a = Matrix::from_rows([[4.0_f64, 1.0], [1.0, 3.0]]);
/// let f = a.cholesky(Uplo::Lower)?;
/// let x = f.solve(&[6.0, 7.0])?;
/// assert!((x[(0, 0)] - 1.0).abs() < 1e-15 && (x[(1, 0)] - 2.0).abs() < 1e-15);
/// assert!((f.determinant() - 11.0).abs() < 1e-13);
/// # Ok::<(), superscalar::Error>(())
/// ```
///
/// nalgebra's matrices have methods of some of these names. For them, use a [`Solver`], or name the trait:
/// `Linalg::lu(&a)`.
pub trait Linalg: AsMatrix<Element: Scalar> {
    /// Factors a Hermitian (symmetric) positive definite matrix, of which the named triangle is read: A = L Lᴴ or Uᴴ
    /// U (potrf).
    ///
    /// # Errors
    /// [`NotPositiveDefinite`](crate::ErrorKind::NotPositiveDefinite) with LAPACK's `info`;
    /// [`Shape`](crate::ErrorKind::Shape) if A is not square.
    fn cholesky(&self, uplo: Uplo) -> Result<Cholesky<Self::Element>, Error> {
        Solver::global()?.cholesky(self, uplo)
    }

    /// Factors a square matrix with partial pivoting: A = P L U (getrf).
    ///
    /// # Errors
    /// [`Singular`](crate::ErrorKind::Singular) with LAPACK's `info`; [`Shape`](crate::ErrorKind::Shape) if A is not
    /// square.
    fn lu(&self) -> Result<Lu<Self::Element>, Error> {
        Solver::global()?.lu(self)
    }

    /// Factors an m x n matrix: A = Q R (geqrf).
    ///
    /// # Errors
    /// If memory or the runtime fails.
    fn qr(&self) -> Result<Qr<Self::Element>, Error> {
        Solver::global()?.qr(self)
    }

    /// Factors an m x n matrix: A = L Q (gelqf).
    ///
    /// # Errors
    /// If memory or the runtime fails.
    fn lq(&self) -> Result<Lq<Self::Element>, Error> {
        Solver::global()?.lq(self)
    }

    /// Solves A X = B for a square A by an LU factorization (gesv). A factorization that is used more than once is
    /// better kept: see [`lu`](Self::lu).
    ///
    /// # Errors
    /// As for [`lu`](Self::lu), and [`Shape`](crate::ErrorKind::Shape) if B has another number of rows than A.
    fn solve<B>(&self, b: &B) -> Result<Matrix<Self::Element>, Error>
    where
        B: AsMatrix<Element = Self::Element> + ?Sized,
    {
        Solver::global()?.solve(self, b)
    }

    /// Returns the X of least ‖B − A X‖ if A has at least as many rows as columns, and otherwise the X of least norm
    /// that solves A X = B (gels). A must have full rank; [`Qr::rcond`] tells how near it is to having less.
    ///
    /// # Errors
    /// [`Singular`](crate::ErrorKind::Singular) if the triangular factor has a zero on its diagonal;
    /// [`Shape`](crate::ErrorKind::Shape) if B has another number of rows than A.
    fn least_squares<B>(&self, b: &B) -> Result<Matrix<Self::Element>, Error>
    where
        B: AsMatrix<Element = Self::Element> + ?Sized,
    {
        Solver::global()?.least_squares(self, b)
    }

    /// Returns the product A B (gemm).
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if A has another number of columns than B has rows.
    fn matmul<B>(&self, b: &B) -> Result<Matrix<Self::Element>, Error>
    where
        B: AsMatrix<Element = Self::Element> + ?Sized,
    {
        Solver::global()?.matmul(self, b)
    }

    /// Returns the inverse (getri). To solve systems, [`solve`](Self::solve) is faster and more accurate.
    ///
    /// # Errors
    /// As for [`lu`](Self::lu).
    fn inverse(&self) -> Result<Matrix<Self::Element>, Error> {
        Solver::global()?.lu(self)?.inverse()
    }

    /// Returns the determinant, zero if the matrix is singular. It overflows where
    /// [`log_determinant`](Self::log_determinant) does not.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if the matrix is not square.
    fn determinant(&self) -> Result<Self::Element, Error> {
        Solver::global()?.determinant(self)
    }

    /// Returns the logarithm of the determinant's modulus, and its sign.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if the matrix is not square.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let a = Matrix::from_fn(400, 400, |i, j| if i == j { -1e3_f64 } else { 0.0 });
    /// let log = a.log_determinant()?;
    /// assert_eq!(log.sign, 1.0);
    /// assert!((log.log_abs - 400.0 * 1e3_f64.ln()).abs() < 1e-9);
    /// assert_eq!(a.determinant()?, f64::INFINITY);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn log_determinant(&self) -> Result<LogDeterminant<Self::Element>, Error> {
        Solver::global()?.log_determinant(self)
    }

    /// Returns a norm of the matrix (lange).
    ///
    /// # Errors
    /// If the runtime fails.
    fn norm(&self, norm: Norm) -> Result<<Self::Element as crate::kernels::Scalar>::Real, Error> {
        Solver::global()?.norm(self, norm)
    }

    /// Estimates the condition number ‖A‖₁ ‖A⁻¹‖₁ (gecon): infinite if the matrix is singular.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if the matrix is not square.
    fn condition_number(&self) -> Result<<Self::Element as crate::kernels::Scalar>::Real, Error> {
        Solver::global()?.condition_number(self)
    }
}

impl<A: AsMatrix<Element: Scalar> + ?Sized> Linalg for A {}
