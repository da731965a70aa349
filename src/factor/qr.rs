//! [`Qr`].

use super::{copied, determinant, rcond_of_triangle, reciprocal, triangle};
use crate::{
    Error, Solver,
    dla::{Diag, MatRef, Matrix, Norm, Op, Scalar, Side, Uplo},
    kernels::{AsMatrix, Scalar as _},
};

/// A QR factorization, A = Q R, of an m x n matrix: Q is unitary (orthogonal), R upper triangular.
///
/// Made by [`Linalg::qr`](crate::Linalg::qr) or [`Solver::qr`]. Q is kept as k = min(m, n) Householder reflectors.
///
/// ```
/// use superscalar::prelude::*;
///
/// // A line through (0, 1), (1, 3) and (2, 5).
/// let a = Matrix::from_rows([[1.0_f64, 0.0], [1.0, 1.0], [1.0, 2.0]]);
/// let f = a.qr()?;
/// let x = f.solve(&[1.0, 3.0, 5.0])?;
/// assert!((x[(0, 0)] - 1.0).abs() < 1e-14 && (x[(1, 0)] - 2.0).abs() < 1e-14);
/// // Q R is A again.
/// let product = f.q()?.matmul(&f.r()?)?;
/// assert!((product[(2, 1)] - 2.0).abs() < 1e-14);
/// // Qᴴ A is R, above zeros.
/// assert!(f.multiply_q(Op::ConjTrans, &a)?[(2, 1)].abs() < 1e-14);
/// assert!(f.rcond()? > 0.1);
/// assert!((f.log_abs_determinant() - 6_f64.sqrt().ln()).abs() < 1e-14);
/// # Ok::<(), superscalar::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Qr<T: Scalar> {
    solver: Solver,
    factors: Matrix<T>,
    tau: Vec<T>,
}

impl<T: Scalar> Qr<T> {
    pub(crate) fn new(solver: &Solver, mut a: Matrix<T>) -> Result<Self, Error> {
        let mut tau = vec![T::ZERO; a.nrows().min(a.ncols())];
        solver.geqrf(a.as_mut(), &mut tau)?;
        Ok(Self { solver: solver.clone(), factors: a, tau })
    }

    /// Returns the shape of A, (m, n).
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.factors.shape()
    }

    /// Returns the factors in LAPACK's form: R, and below it the reflectors.
    #[must_use]
    pub fn as_lapack(&self) -> MatRef<'_, T> {
        self.factors.as_ref()
    }

    /// Returns LAPACK's `tau`, the scalar factors of the reflectors.
    #[must_use]
    pub fn tau(&self) -> &[T] {
        &self.tau
    }

    /// Returns R, min(m, n) x n, with zeros below its diagonal.
    ///
    /// # Errors
    /// [`Memory`](crate::ErrorKind::Memory).
    pub fn r(&self) -> Result<Matrix<T>, Error> {
        let shape = (self.tau.len(), self.factors.ncols());
        triangle(Uplo::Upper, Diag::NonUnit, self.factors.as_ref(), shape)
    }

    /// Returns the first min(m, n) columns of Q (ungqr, orgqr).
    ///
    /// # Errors
    /// [`Memory`](crate::ErrorKind::Memory), or an error of the runtime.
    pub fn q(&self) -> Result<Matrix<T>, Error> {
        let (m, k) = (self.factors.nrows(), self.tau.len());
        let mut q = copied(&self.factors.as_ref().submatrix(0..m, 0..k))?;
        self.solver.ungqr(q.as_mut(), &self.tau)?;
        Ok(q)
    }

    /// Returns op(Q) B, where Q is m x m (unmqr, ormqr).
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if B does not have m rows; [`Argument`](crate::ErrorKind::Argument) for the
    /// transpose of a complex Q.
    pub fn multiply_q<B: AsMatrix<Element = T> + ?Sized>(&self, op: Op, b: &B) -> Result<Matrix<T>, Error> {
        let mut product = copied(b)?;
        self.solver.unmqr(Side::Left, op, self.reflectors(), &self.tau, product.as_mut())?;
        Ok(product)
    }

    fn reflectors(&self) -> MatRef<'_, T> {
        let (m, k) = (self.factors.nrows(), self.tau.len());
        self.factors.as_ref().submatrix(0..m, 0..k)
    }

    /// Returns the X of least ‖B − A X‖, n x nrhs, if A has at least as many rows as columns and full rank. If A is
    /// nearly rank deficient, X has large elements that say little; [`rcond`](Self::rcond) tells.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if B does not have m rows, or m < n (the least-norm solution needs
    /// [`Lq`](crate::Lq)); [`Singular`](crate::ErrorKind::Singular) if R has a zero on its diagonal.
    pub fn solve<B: AsMatrix<Element = T> + ?Sized>(&self, b: &B) -> Result<Matrix<T>, Error> {
        let (m, n) = self.shape();
        if m < n {
            let why = format!("qr: A is {m} x {n}; for fewer rows than columns, the LQ factorization solves");
            return Err(Error::shape(why));
        }
        let mut product = self.multiply_q(Op::ConjTrans, b)?;
        let nrhs = product.ncols();
        let mut x = product.as_mut().submatrix(0..n, 0..nrhs);
        let r = self.factors.as_ref().submatrix(0..n, 0..n);
        self.solver.trtrs(Uplo::Upper, Op::None, Diag::NonUnit, r, x.rb_mut())?;
        copied(&x)
    }

    /// Returns the root of det(AᴴA), which for a square A is the modulus of its determinant: the product of the
    /// moduli of R's diagonal, and zero if A has fewer rows than columns. Infinite if it overflows.
    #[must_use]
    pub fn abs_determinant(&self) -> T::Real {
        determinant::product(self.diagonal(), false)
    }

    /// Returns the natural logarithm of [`abs_determinant`](Self::abs_determinant), without overflow.
    #[must_use]
    pub fn log_abs_determinant(&self) -> T::Real {
        determinant::log_product(self.diagonal(), false).log_abs
    }

    fn diagonal(&self) -> impl Iterator<Item = T::Real> {
        let (k, n) = (self.tau.len(), self.factors.ncols());
        (0..n).map(move |i| if i < k { self.factors[(i, i)].abs() } else { T::Real::ZERO })
    }

    /// Estimates the reciprocal condition number of R in the one norm, which for least squares stands for that of A:
    /// below about ε, A is rank deficient to working precision.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if A has fewer rows than columns; [`Memory`](crate::ErrorKind::Memory).
    pub fn rcond(&self) -> Result<T::Real, Error> {
        let (m, n) = self.shape();
        if m < n {
            return Err(Error::shape(format!("qr: A is {m} x {n}, and R not square")));
        }
        Ok(rcond_of_triangle(Norm::One, &self.r()?))
    }

    /// Estimates the condition number of R in the one norm.
    ///
    /// # Errors
    /// As for [`rcond`](Self::rcond).
    pub fn condition_number(&self) -> Result<T::Real, Error> {
        Ok(reciprocal(self.rcond()?))
    }
}
