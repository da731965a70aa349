//! [`Lu`].

use super::{copied, determinant, reciprocal, triangle};
use crate::{
    Error, LogDeterminant, Solver,
    dla::{self, Diag, MatRef, Matrix, Norm, Op, Scalar, Uplo},
    kernels::{AsMatrix, AsMatrixMut},
};

/// An LU factorization with partial pivoting, A = P L U, of a square matrix.
///
/// Made by [`Linalg::lu`](crate::Linalg::lu) or [`Solver::lu`].
///
/// ```
/// use superscalar::prelude::*;
///
/// let a = Matrix::from_rows([[0.0_f64, 2.0], [4.0, 2.0]]);
/// let f = a.lu()?;
/// assert_eq!(f.solve(&[2.0, 6.0])?.into_vec(), [1.0, 1.0]);
/// assert_eq!(f.solve_op(Op::Trans, &[4.0, 4.0])?.into_vec(), [1.0, 1.0]);
/// assert_eq!((f.determinant(), f.log_determinant().sign), (-8.0, -1.0));
/// assert_eq!((f.l()?[(1, 0)], f.u()?[(0, 0)], f.pivots()), (0.0, 4.0, &[2, 2][..]));
/// assert_eq!(f.inverse()?.into_vec(), [-0.25, 0.5, 0.25, 0.0]);
/// assert!((1.0..3.1).contains(&f.condition_number())); // an estimate; it is 3
/// # Ok::<(), superscalar::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lu<T: Scalar> {
    solver: Solver,
    factors: Matrix<T>,
    ipiv: Vec<i32>,
    /// The one norm of A.
    norm: T::Real,
}

impl<T: Scalar> Lu<T> {
    pub(crate) fn new(solver: &Solver, mut a: Matrix<T>) -> Result<Self, Error> {
        let (m, n) = a.shape();
        if m != n {
            return Err(Error::shape(format!("lu: A is {m} x {n}, not square")));
        }
        let norm = solver.lange(Norm::One, a.as_ref())?;
        let mut ipiv = vec![0; n];
        solver.getrf(a.as_mut(), &mut ipiv)?;
        Ok(Self { solver: solver.clone(), factors: a, ipiv, norm })
    }

    /// Returns the order of the matrix.
    #[must_use]
    pub fn order(&self) -> usize {
        self.factors.nrows()
    }

    /// Returns the factors in LAPACK's form: U, and below it L without its diagonal of ones.
    #[must_use]
    pub fn as_lapack(&self) -> MatRef<'_, T> {
        self.factors.as_ref()
    }

    /// Returns LAPACK's `ipiv`: row i was interchanged with row `pivots()[i]`, counted from one.
    #[must_use]
    pub fn pivots(&self) -> &[i32] {
        &self.ipiv
    }

    /// Returns L, with ones on its diagonal and zeros above.
    ///
    /// # Errors
    /// [`Memory`](crate::ErrorKind::Memory).
    pub fn l(&self) -> Result<Matrix<T>, Error> {
        triangle(Uplo::Lower, Diag::Unit, self.factors.as_ref(), self.factors.shape())
    }

    /// Returns U, with zeros below its diagonal.
    ///
    /// # Errors
    /// [`Memory`](crate::ErrorKind::Memory).
    pub fn u(&self) -> Result<Matrix<T>, Error> {
        triangle(Uplo::Upper, Diag::NonUnit, self.factors.as_ref(), self.factors.shape())
    }

    /// Solves A X = B (getrs). A slice or vector is one right-hand side.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if B has another number of rows than A.
    pub fn solve<B: AsMatrix<Element = T> + ?Sized>(&self, b: &B) -> Result<Matrix<T>, Error> {
        self.solve_op(Op::None, b)
    }

    /// Solves op(A) X = B, with A, its transpose or its adjoint.
    ///
    /// # Errors
    /// As for [`solve`](Self::solve).
    pub fn solve_op<B: AsMatrix<Element = T> + ?Sized>(&self, op: Op, b: &B) -> Result<Matrix<T>, Error> {
        let mut x = copied(b)?;
        self.solve_op_in_place(op, &mut x)?;
        Ok(x)
    }

    /// Replaces B by the X of A X = B.
    ///
    /// # Errors
    /// As for [`solve`](Self::solve).
    pub fn solve_in_place<B: AsMatrixMut<Element = T> + ?Sized>(&self, b: &mut B) -> Result<(), Error> {
        self.solve_op_in_place(Op::None, b)
    }

    /// Replaces B by the X of op(A) X = B.
    ///
    /// # Errors
    /// As for [`solve`](Self::solve).
    pub fn solve_op_in_place<B: AsMatrixMut<Element = T> + ?Sized>(&self, op: Op, b: &mut B) -> Result<(), Error> {
        self.solver.getrs(op, self.factors.as_ref(), &self.ipiv, b.as_matrix_mut()?)
    }

    /// Returns the inverse of A (getri).
    ///
    /// # Errors
    /// [`Memory`](crate::ErrorKind::Memory), or an error of the runtime.
    pub fn inverse(&self) -> Result<Matrix<T>, Error> {
        let mut inverse = copied(&self.factors)?;
        self.solver.getri(inverse.as_mut(), &self.ipiv)?;
        Ok(inverse)
    }

    /// Returns the determinant of A, infinite if it overflows.
    #[must_use]
    pub fn determinant(&self) -> T {
        determinant::product(self.diagonal(), self.is_odd())
    }

    /// Returns the logarithm of the modulus of the determinant of A, and its sign.
    #[must_use]
    pub fn log_determinant(&self) -> LogDeterminant<T> {
        determinant::log_product(self.diagonal(), self.is_odd())
    }

    fn diagonal(&self) -> impl Iterator<Item = T> {
        (0..self.order()).map(|i| self.factors[(i, i)])
    }

    /// Whether P is an odd permutation.
    fn is_odd(&self) -> bool {
        let interchanges = self.ipiv.iter().zip(1..).filter(|&(&pivot, row)| pivot != row);
        interchanges.count() % 2 == 1
    }

    /// Estimates the reciprocal condition number 1 / (‖A‖₁ ‖A⁻¹‖₁) (gecon). NaN if A had one.
    #[must_use]
    pub fn rcond(&self) -> T::Real {
        dla::serial::gecon(Norm::One, self.factors.as_ref(), self.norm, &mut vec![T::ZERO; 2 * self.order()])
    }

    /// Estimates the condition number ‖A‖₁ ‖A⁻¹‖₁.
    #[must_use]
    pub fn condition_number(&self) -> T::Real {
        reciprocal(self.rcond())
    }
}
