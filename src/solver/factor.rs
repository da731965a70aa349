//! LAPACK's factorizations and what is solved with them.

use super::routines;
use crate::{
    Error, Solver,
    dla::{self, Diag, MatMut, MatRef, MixedPrecision, Norm, Op, Scalar, Side, TsqrFactors, Uplo},
};

routines! {
    /// Factors a positive definite A in place: L or U replaces the named triangle.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let mut a = Matrix::from_rows([[4.0, 0.0], [2.0, 5.0]]);
    /// Solver::global()?.potrf(Uplo::Lower, a.as_mut())?;
    /// assert_eq!(a, Matrix::from_rows([[2.0, 0.0], [1.0, 2.0]]));
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn potrf(uplo: Uplo, a: MatMut<'_, T>) -> ();

    /// Solves A X = B by the factor of [`potrf`](Self::potrf); X replaces B.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let l = Matrix::from_rows([[2.0, 0.0], [1.0, 2.0]]);
    /// let mut b = Matrix::from_rows([[6.0], [7.0]]);
    /// Solver::global()?.potrs(Uplo::Lower, l.as_ref(), b.as_mut())?;
    /// assert_eq!(b.into_vec(), [1.0, 1.0]);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn potrs(uplo: Uplo, a: MatRef<'_, T>, b: MatMut<'_, T>) -> ();

    /// Replaces the factor of [`potrf`](Self::potrf) by the same triangle of the inverse.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let mut a = Matrix::from_rows([[2.0, 0.0], [0.0, 4.0]]);
    /// Solver::global()?.potri(Uplo::Lower, a.as_mut())?;
    /// assert_eq!(a, Matrix::from_rows([[0.25, 0.0], [0.0, 0.0625]]));
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn potri(uplo: Uplo, a: MatMut<'_, T>) -> ();

    /// Factors a positive definite A and solves A X = B; the factor replaces A, X replaces B.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let mut a = Matrix::from_rows([[4.0, 0.0], [2.0, 5.0]]);
    /// let mut b = Matrix::from_rows([[6.0], [7.0]]);
    /// Solver::global()?.posv(Uplo::Lower, a.as_mut(), b.as_mut())?;
    /// assert_eq!(b.into_vec(), [1.0, 1.0]);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn posv(uplo: Uplo, a: MatMut<'_, T>, b: MatMut<'_, T>) -> ();

    /// Factors A = P L U in place; `ipiv` receives the interchanges, counted from one.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let (mut a, mut ipiv) = (Matrix::from_rows([[0.0, 2.0], [4.0, 2.0]]), [0; 2]);
    /// Solver::global()?.getrf(a.as_mut(), &mut ipiv)?;
    /// assert_eq!((a, ipiv), (Matrix::from_rows([[4.0, 2.0], [0.0, 2.0]]), [2, 2]));
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn getrf(a: MatMut<'_, T>, ipiv: &mut [i32]) -> ();

    /// Solves op(A) X = B by the factors of [`getrf`](Self::getrf); X replaces B.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let lu = Matrix::from_rows([[4.0, 2.0], [0.0, 2.0]]);
    /// let mut b = Matrix::from_rows([[2.0], [6.0]]);
    /// Solver::global()?.getrs(Op::None, lu.as_ref(), &[2, 2], b.as_mut())?;
    /// assert_eq!(b.into_vec(), [1.0, 1.0]);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn getrs(op: Op, a: MatRef<'_, T>, ipiv: &[i32], b: MatMut<'_, T>) -> ();

    /// Replaces the factors of [`getrf`](Self::getrf) by the inverse.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let mut a = Matrix::from_rows([[4.0, 0.0], [0.0, 2.0]]);
    /// Solver::global()?.getri(a.as_mut(), &[1, 2])?;
    /// assert_eq!(a, Matrix::from_rows([[0.25, 0.0], [0.0, 0.5]]));
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn getri(a: MatMut<'_, T>, ipiv: &[i32]) -> ();

    /// Factors A and solves A X = B; the factors replace A, X replaces B.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let mut a = Matrix::from_rows([[0.0, 2.0], [4.0, 2.0]]);
    /// let mut b = Matrix::from_rows([[2.0], [6.0]]);
    /// Solver::global()?.gesv(a.as_mut(), &mut [0; 2], b.as_mut())?;
    /// assert_eq!(b.into_vec(), [1.0, 1.0]);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn gesv(a: MatMut<'_, T>, ipiv: &mut [i32], b: MatMut<'_, T>) -> ();

    /// Factors A = Q R in place: R, and below it the reflectors of Q, with their factors in `tau`.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let (mut a, mut tau) = (Matrix::from_rows([[3.0_f64], [4.0]]), [0.0]);
    /// Solver::global()?.geqrf(a.as_mut(), &mut tau)?;
    /// assert!((a[(0, 0)].abs() - 5.0).abs() < 1e-14);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn geqrf(a: MatMut<'_, T>, tau: &mut [T]) -> ();

    /// C := op(Q) C or C op(Q), with the reflectors of [`geqrf`](Self::geqrf). For real types this is LAPACK's ormqr.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let (mut a, mut tau) = (Matrix::from_rows([[3.0_f64], [4.0]]), [0.0]);
    /// let (solver, mut c) = (Solver::global()?, a.clone());
    /// solver.geqrf(a.as_mut(), &mut tau)?;
    /// solver.unmqr(Side::Left, Op::Trans, a.as_ref(), &tau, c.as_mut())?;
    /// assert!(c[(1, 0)].abs() < 1e-14); // Qᵀ A is R, above zeros
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn unmqr(side: Side, op: Op, a: MatRef<'_, T>, tau: &[T], c: MatMut<'_, T>) -> ();

    /// Replaces the reflectors of [`geqrf`](Self::geqrf) by the columns of Q. For real types this is LAPACK's orgqr.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let (mut a, mut tau, solver) = (Matrix::from_rows([[3.0_f64], [4.0]]), [0.0], Solver::global()?);
    /// solver.geqrf(a.as_mut(), &mut tau)?;
    /// solver.ungqr(a.as_mut(), &tau)?;
    /// assert!((a[(1, 0)].abs() - 0.8).abs() < 1e-15);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn ungqr(a: MatMut<'_, T>, tau: &[T]) -> ();

    /// Factors A = L Q in place: L, and right of it the reflectors of Q, with their factors in `tau`.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let (mut a, mut tau) = (Matrix::from_rows([[3.0_f64, 4.0]]), [0.0]);
    /// Solver::global()?.gelqf(a.as_mut(), &mut tau)?;
    /// assert!((a[(0, 0)].abs() - 5.0).abs() < 1e-14);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn gelqf(a: MatMut<'_, T>, tau: &mut [T]) -> ();

    /// C := op(Q) C or C op(Q), with the reflectors of [`gelqf`](Self::gelqf). For real types this is LAPACK's ormlq.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let (mut a, mut tau) = (Matrix::from_rows([[3.0_f64, 4.0]]), [0.0]);
    /// let (solver, mut c) = (Solver::global()?, a.clone());
    /// solver.gelqf(a.as_mut(), &mut tau)?;
    /// solver.unmlq(Side::Right, Op::Trans, a.as_ref(), &tau, c.as_mut())?;
    /// assert!(c[(0, 1)].abs() < 1e-14); // A Qᵀ is L, beside zeros
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn unmlq(side: Side, op: Op, a: MatRef<'_, T>, tau: &[T], c: MatMut<'_, T>) -> ();

    /// Replaces the reflectors of [`gelqf`](Self::gelqf) by the rows of Q. For real types this is LAPACK's orglq.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let (mut a, mut tau, solver) = (Matrix::from_rows([[3.0_f64, 4.0]]), [0.0], Solver::global()?);
    /// solver.gelqf(a.as_mut(), &mut tau)?;
    /// solver.unglq(a.as_mut(), &tau)?;
    /// assert!((a[(0, 1)].abs() - 0.8).abs() < 1e-15);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn unglq(a: MatMut<'_, T>, tau: &[T]) -> ();

    /// Factors a tall A = Q R by a tree of block rows: R replaces the top of A, and the tree multiplies by Q.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let (solver, a) = (Solver::global()?, Matrix::from_fn(1000, 2, |i, j| (i as f64).powi(j as i32)));
    /// let (mut r, mut b) = (a.clone(), Matrix::from_fn(1000, 1, |i, _| 3.0 + 2.0 * i as f64));
    /// let tree = solver.tsqr(r.as_mut())?;
    /// tree.apply(solver.runtime(), Op::Trans, r.as_ref(), b.as_mut(), solver.options())?;
    /// assert!((b[(1, 0)] / r[(1, 1)] - 2.0_f64).abs() < 1e-12);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn tsqr(a: MatMut<'_, T>) -> TsqrFactors<T>;

    /// Solves min ‖B − op(A) X‖, or finds the least-norm solution of op(A) X = B; A is overwritten, X replaces B.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let mut a = Matrix::from_rows([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]);
    /// let mut b = Matrix::from_rows([[1.0], [3.0], [5.0]]);
    /// Solver::global()?.gels(Op::None, a.as_mut(), b.as_mut())?;
    /// assert!((b[(1, 0)] - 2.0_f64).abs() < 1e-14);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn gels(op: Op, a: MatMut<'_, T>, b: MatMut<'_, T>) -> ();

    /// Solves op(A) X = B with a triangular A after checking its diagonal for zeros; X replaces B.
    ///
    /// ```
    /// use superscalar::{ErrorKind, prelude::*};
    /// let (a, mut b) = (Matrix::from_rows([[1.0, 2.0], [0.0, 0.0]]), Matrix::from_rows([[1.0], [1.0]]));
    /// let (solver, op) = (Solver::global()?, Op::None);
    /// let error = solver.trtrs(Uplo::Upper, op, Diag::NonUnit, a.as_ref(), b.as_mut()).unwrap_err();
    /// assert_eq!((error.kind(), error.info()), (ErrorKind::Singular, Some(2)));
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn trtrs(uplo: Uplo, op: Op, diag: Diag, a: MatRef<'_, T>, b: MatMut<'_, T>) -> ();

    /// Replaces a triangular A by its inverse.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let mut a = Matrix::from_rows([[2.0, 0.0], [1.0, 4.0]]);
    /// Solver::global()?.trtri(Uplo::Lower, Diag::NonUnit, a.as_mut())?;
    /// assert_eq!(a, Matrix::from_rows([[0.5, 0.0], [-0.125, 0.25]]));
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn trtri(uplo: Uplo, diag: Diag, a: MatMut<'_, T>) -> ();

    /// Replaces L by Lᴴ L, or U by U Uᴴ.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let mut a = Matrix::from_rows([[2.0, 0.0], [1.0, 4.0]]);
    /// Solver::global()?.lauum(Uplo::Lower, a.as_mut())?;
    /// assert_eq!(a, Matrix::from_rows([[5.0, 0.0], [4.0, 16.0]]));
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn lauum(uplo: Uplo, a: MatMut<'_, T>) -> ();
}

impl Solver {
    /// Solves A X = B with factors in the lower precision, refined in the higher (LAPACK's dsgesv, zcgesv). Returns
    /// the number of refinement steps, negative if it had to factor in the higher precision.
    ///
    /// # Errors
    /// Those of [`dla::gesv_mixed`].
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let mut a = Matrix::from_rows([[0.0, 2.0], [4.0, 2.0]]);
    /// let (b, mut x) = (Matrix::from_rows([[2.0], [6.0]]), Matrix::zeros(2, 1));
    /// Solver::global()?.gesv_mixed(a.as_mut(), &mut [0; 2], b.as_ref(), x.as_mut())?;
    /// assert_eq!(x.into_vec(), [1.0, 1.0]);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    pub fn gesv_mixed<T: MixedPrecision>(
        &self,
        a: MatMut<'_, T>,
        ipiv: &mut [i32],
        b: MatRef<'_, T>,
        x: MatMut<'_, T>,
    ) -> Result<i32, Error> {
        Ok(dla::gesv_mixed(self.runtime(), a, ipiv, b, x, self.options())?)
    }

    /// Like [`gesv_mixed`](Self::gesv_mixed), for a positive definite A (LAPACK's dsposv, zcposv).
    ///
    /// # Errors
    /// Those of [`dla::posv_mixed`].
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let mut a = Matrix::from_rows([[4.0, 2.0], [2.0, 5.0]]);
    /// let (b, mut x) = (Matrix::from_rows([[6.0], [7.0]]), Matrix::zeros(2, 1));
    /// Solver::global()?.posv_mixed(Uplo::Lower, a.as_mut(), b.as_ref(), x.as_mut())?;
    /// assert_eq!(x.into_vec(), [1.0, 1.0]);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    pub fn posv_mixed<T: MixedPrecision>(
        &self,
        uplo: Uplo,
        a: MatMut<'_, T>,
        b: MatRef<'_, T>,
        x: MatMut<'_, T>,
    ) -> Result<i32, Error> {
        Ok(dla::posv_mixed(self.runtime(), uplo, a, b, x, self.options())?)
    }

    /// Estimates the reciprocal condition number of A from the factors of [`getrf`](Self::getrf) and a norm of A.
    ///
    /// # Errors
    /// Those of [`dla::gecon`].
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let lu = Matrix::from_rows([[1.0_f64, 0.0], [0.0, 4.0]]);
    /// assert_eq!(Solver::global()?.gecon(Norm::One, lu.as_ref(), 4.0)?, 0.25);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    pub fn gecon<T: Scalar>(&self, norm: Norm, a: MatRef<'_, T>, anorm: T::Real) -> Result<T::Real, Error> {
        Ok(dla::gecon(norm, a, anorm)?)
    }

    /// Estimates the reciprocal condition number of A from the factor of [`potrf`](Self::potrf) and the one norm of A.
    ///
    /// # Errors
    /// Those of [`dla::pocon`].
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let l = Matrix::from_rows([[1.0_f64, 0.0], [0.0, 2.0]]);
    /// assert_eq!(Solver::global()?.pocon(Uplo::Lower, l.as_ref(), 4.0)?, 0.25);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    pub fn pocon<T: Scalar>(&self, uplo: Uplo, a: MatRef<'_, T>, anorm: T::Real) -> Result<T::Real, Error> {
        Ok(dla::pocon(uplo, a, anorm)?)
    }
}
