//! [`Cholesky`].

use super::{copied, determinant, reciprocal, triangle};
use crate::{
    Error, Solver,
    dla::{self, Diag, MatRef, Matrix, Norm, Op, Scalar, Side, Uplo},
    kernels::{AsMatrix, AsMatrixMut, Real, Scalar as _},
};

/// A Cholesky factorization, A = L Lᴴ or A = Uᴴ U, of a Hermitian (symmetric) positive definite matrix.
///
/// Made by [`Linalg::cholesky`](crate::Linalg::cholesky) or [`Solver::cholesky`].
///
/// ```
/// use superscalar::prelude::*;
///
/// let a = Matrix::from_rows([[4.0_f64, 2.0], [2.0, 5.0]]);
/// let f = a.cholesky(Uplo::Lower)?;
/// assert_eq!(f.factor()?.into_vec(), [2.0, 1.0, 0.0, 2.0]);
/// assert_eq!(f.solve(&[8.0, 8.0])?.into_vec(), [1.5, 1.0]);
/// assert!((f.log_determinant() - 16_f64.ln()).abs() < 1e-15);
/// assert_eq!(f.inverse()?[(0, 1)], -0.125);
/// assert!((f.condition_number() - 3.0625).abs() < 1e-12);
/// # Ok::<(), superscalar::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cholesky<T: Scalar> {
    solver: Solver,
    uplo: Uplo,
    factor: Matrix<T>,
    /// The one norm of A.
    norm: T::Real,
}

impl<T: Scalar> Cholesky<T> {
    pub(crate) fn new(solver: &Solver, uplo: Uplo, mut a: Matrix<T>) -> Result<Self, Error> {
        let (m, n) = a.shape();
        if m != n {
            return Err(Error::shape(format!("cholesky: A is {m} x {n}, not square")));
        }
        let norm = solver.lanhe(Norm::One, uplo, a.as_ref())?;
        solver.potrf(uplo, a.as_mut())?;
        Ok(Self { solver: solver.clone(), uplo, factor: a, norm })
    }

    /// Returns the order of the matrix.
    #[must_use]
    pub fn order(&self) -> usize {
        self.factor.nrows()
    }

    /// Returns which triangle the factor is.
    #[must_use]
    pub fn uplo(&self) -> Uplo {
        self.uplo
    }

    /// Returns the factor in LAPACK's form: one triangle is L or U, the other one is what A had there.
    #[must_use]
    pub fn as_lapack(&self) -> MatRef<'_, T> {
        self.factor.as_ref()
    }

    /// Returns L or U, with zeros in the other triangle.
    ///
    /// # Errors
    /// [`Memory`](crate::ErrorKind::Memory).
    pub fn factor(&self) -> Result<Matrix<T>, Error> {
        triangle(self.uplo, Diag::NonUnit, self.factor.as_ref(), self.factor.shape())
    }

    /// Solves A X = B (potrs). A slice or vector is one right-hand side.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if B has another number of rows than A.
    pub fn solve<B: AsMatrix<Element = T> + ?Sized>(&self, b: &B) -> Result<Matrix<T>, Error> {
        let mut x = copied(b)?;
        self.solve_in_place(&mut x)?;
        Ok(x)
    }

    /// Replaces B by the X of A X = B.
    ///
    /// # Errors
    /// As for [`solve`](Self::solve).
    pub fn solve_in_place<B: AsMatrixMut<Element = T> + ?Sized>(&self, b: &mut B) -> Result<(), Error> {
        self.solver.potrs(self.uplo, self.factor.as_ref(), b.as_matrix_mut()?)
    }

    /// Returns L B or Uᴴ B (trmm): a vector of independent normal variables gets the covariance matrix A.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if B has another number of rows than A.
    pub fn multiply_by_factor<B: AsMatrix<Element = T> + ?Sized>(&self, b: &B) -> Result<Matrix<T>, Error> {
        let mut product = copied(b)?;
        let op = if self.uplo == Uplo::Lower { Op::None } else { Op::ConjTrans };
        let (a, b) = (self.factor.as_ref(), product.as_mut());
        self.solver.trmm(Side::Left, self.uplo, op, Diag::NonUnit, T::ONE, a, b)?;
        Ok(product)
    }

    /// Returns the inverse of A, both triangles of it (potri).
    ///
    /// # Errors
    /// [`Memory`](crate::ErrorKind::Memory), or an error of the runtime.
    pub fn inverse(&self) -> Result<Matrix<T>, Error> {
        let mut inverse = copied(&self.factor)?;
        self.solver.potri(self.uplo, inverse.as_mut())?;
        let n = self.order();
        for j in 0..n {
            for i in j + 1..n {
                let (stored, mirrored) = if self.uplo == Uplo::Lower { ((i, j), (j, i)) } else { ((j, i), (i, j)) };
                inverse[mirrored] = inverse[stored].conj();
            }
        }
        Ok(inverse)
    }

    /// Returns the determinant of A, infinite if it overflows.
    #[must_use]
    pub fn determinant(&self) -> T::Real {
        let diagonal = || (0..self.order()).map(|i| self.factor[(i, i)].re());
        determinant::product(diagonal().chain(diagonal()), false)
    }

    /// Returns the natural logarithm of the determinant of A.
    #[must_use]
    pub fn log_determinant(&self) -> T::Real {
        let half: f64 = (0..self.order()).map(|i| self.factor[(i, i)].re().to_f64().ln()).sum();
        T::Real::from_f64(2.0 * half)
    }

    /// Estimates the reciprocal condition number 1 / (‖A‖₁ ‖A⁻¹‖₁) (pocon). NaN if A had one.
    #[must_use]
    pub fn rcond(&self) -> T::Real {
        dla::serial::pocon(self.uplo, self.factor.as_ref(), self.norm, &mut vec![T::ZERO; 2 * self.order()])
    }

    /// Estimates the condition number ‖A‖₁ ‖A⁻¹‖₁.
    #[must_use]
    pub fn condition_number(&self) -> T::Real {
        reciprocal(self.rcond())
    }
}
