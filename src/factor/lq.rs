//! [`Lq`].

use super::{copied, rcond_of_triangle, reciprocal, triangle};
use crate::{
    Error, Solver,
    dla::{Diag, MatRef, Matrix, Norm, Op, Scalar, Side, Uplo},
    kernels::AsMatrix,
};

/// An LQ factorization, A = L Q, of an m x n matrix: L is lower triangular, Q unitary (orthogonal).
///
/// Made by [`Linalg::lq`](crate::Linalg::lq) or [`Solver::lq`]. Q is kept as k = min(m, n) Householder reflectors.
///
/// ```
/// use superscalar::prelude::*;
///
/// let a = Matrix::from_rows([[3.0_f64, 4.0]]);
/// let f = a.lq()?;
/// let x = f.solve(&[5.0])?; // the shortest vector with 3 x + 4 y = 5
/// assert!((x[(0, 0)] - 0.6).abs() < 1e-15 && (x[(1, 0)] - 0.8).abs() < 1e-15);
/// assert!((f.l()?[(0, 0)].abs() - 5.0).abs() < 1e-14);
/// assert!((f.q()?.norm(Norm::Frobenius)? - 1.0).abs() < 1e-15);
/// assert!((f.multiply_q(Op::None, &x)?[(0, 0)].abs() - 1.0).abs() < 1e-15);
/// assert_eq!(f.rcond()?, 1.0);
/// # Ok::<(), superscalar::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lq<T: Scalar> {
    solver: Solver,
    factors: Matrix<T>,
    tau: Vec<T>,
}

impl<T: Scalar> Lq<T> {
    pub(crate) fn new(solver: &Solver, mut a: Matrix<T>) -> Result<Self, Error> {
        let mut tau = vec![T::ZERO; a.nrows().min(a.ncols())];
        solver.gelqf(a.as_mut(), &mut tau)?;
        Ok(Self { solver: solver.clone(), factors: a, tau })
    }

    /// Returns the shape of A, (m, n).
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.factors.shape()
    }

    /// Returns the factors in LAPACK's form: L, and right of it the reflectors.
    #[must_use]
    pub fn as_lapack(&self) -> MatRef<'_, T> {
        self.factors.as_ref()
    }

    /// Returns LAPACK's `tau`, the scalar factors of the reflectors.
    #[must_use]
    pub fn tau(&self) -> &[T] {
        &self.tau
    }

    /// Returns L, m x min(m, n), with zeros above its diagonal.
    ///
    /// # Errors
    /// [`Memory`](crate::ErrorKind::Memory).
    pub fn l(&self) -> Result<Matrix<T>, Error> {
        let shape = (self.factors.nrows(), self.tau.len());
        triangle(Uplo::Lower, Diag::NonUnit, self.factors.as_ref(), shape)
    }

    /// Returns the first min(m, n) rows of Q (unglq, orglq).
    ///
    /// # Errors
    /// [`Memory`](crate::ErrorKind::Memory), or an error of the runtime.
    pub fn q(&self) -> Result<Matrix<T>, Error> {
        let mut q = copied(&self.reflectors())?;
        self.solver.unglq(q.as_mut(), &self.tau)?;
        Ok(q)
    }

    /// Returns op(Q) B, where Q is n x n (unmlq, ormlq).
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if B does not have n rows; [`Argument`](crate::ErrorKind::Argument) for the
    /// transpose of a complex Q.
    pub fn multiply_q<B: AsMatrix<Element = T> + ?Sized>(&self, op: Op, b: &B) -> Result<Matrix<T>, Error> {
        let mut product = copied(b)?;
        self.solver.unmlq(Side::Left, op, self.reflectors(), &self.tau, product.as_mut())?;
        Ok(product)
    }

    fn reflectors(&self) -> MatRef<'_, T> {
        let (k, n) = (self.tau.len(), self.factors.ncols());
        self.factors.as_ref().submatrix(0..k, 0..n)
    }

    /// Returns the X of least norm that solves A X = B, n x nrhs, if A has at most as many rows as columns and full
    /// rank.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if B does not have m rows, or m > n (least squares need [`Qr`](crate::Qr));
    /// [`Singular`](crate::ErrorKind::Singular) if L has a zero on its diagonal.
    pub fn solve<B: AsMatrix<Element = T> + ?Sized>(&self, b: &B) -> Result<Matrix<T>, Error> {
        let ((m, n), b) = (self.shape(), b.as_matrix()?);
        if m > n || b.nrows() != m {
            let (rows, nrhs) = b.shape();
            let why = format!("lq: A is {m} x {n}, B {rows} x {nrhs}; A may not have more rows than columns");
            return Err(Error::shape(why));
        }
        let nrhs = b.ncols();
        let mut x = Matrix::try_zeros(n, nrhs)?;
        x.as_mut().submatrix(0..m, 0..nrhs).copy_from(b);
        let l = self.factors.as_ref().submatrix(0..m, 0..m);
        self.solver.trtrs(Uplo::Lower, Op::None, Diag::NonUnit, l, x.as_mut().submatrix(0..m, 0..nrhs))?;
        self.solver.unmlq(Side::Left, Op::ConjTrans, self.reflectors(), &self.tau, x.as_mut())?;
        Ok(x)
    }

    /// Estimates the reciprocal condition number of L in the one norm.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if A has more rows than columns; [`Memory`](crate::ErrorKind::Memory).
    pub fn rcond(&self) -> Result<T::Real, Error> {
        let (m, n) = self.shape();
        if m > n {
            return Err(Error::shape(format!("lq: A is {m} x {n}, and L not square")));
        }
        // The one norm of L is the infinity norm of its adjoint, which is upper triangular.
        let l = self.l()?;
        let adjoint = Matrix::from_fn(m, m, |i, j| crate::kernels::Scalar::conj(l[(j, i)]));
        Ok(rcond_of_triangle(Norm::Inf, &adjoint))
    }

    /// Estimates the condition number of L in the one norm.
    ///
    /// # Errors
    /// As for [`rcond`](Self::rcond).
    pub fn condition_number(&self) -> Result<T::Real, Error> {
        Ok(reciprocal(self.rcond()?))
    }
}
