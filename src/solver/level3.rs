//! The Level-3 BLAS.

use super::routines;
use crate::dla::{Diag, MatMut, MatRef, Op, Side, Uplo};

routines! {
    /// C := alpha op(A) op(B) + beta C.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let (a, mut c) = (Matrix::from_rows([[1.0, 2.0], [3.0, 4.0]]), Matrix::zeros(2, 2));
    /// Solver::global()?.gemm(1.0, Op::None, a.as_ref(), Op::Trans, a.as_ref(), 0.0, c.as_mut())?;
    /// assert_eq!(c, Matrix::from_rows([[5.0, 11.0], [11.0, 25.0]]));
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn gemm(
        alpha: T, op_a: Op, a: MatRef<'_, T>, op_b: Op, b: MatRef<'_, T>, beta: T, c: MatMut<'_, T>,
    ) -> ();

    /// One triangle of C := alpha op(A) op(B) + beta C.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let (a, mut c) = (Matrix::from_rows([[1.0, 2.0], [3.0, 4.0]]), Matrix::zeros(2, 2));
    /// Solver::global()?.gemmt(Uplo::Lower, 1.0, Op::None, a.as_ref(), Op::Trans, a.as_ref(), 0.0, c.as_mut())?;
    /// assert_eq!(c, Matrix::from_rows([[5.0, 0.0], [11.0, 25.0]]));
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn gemmt(
        uplo: Uplo, alpha: T, op_a: Op, a: MatRef<'_, T>, op_b: Op, b: MatRef<'_, T>, beta: T, c: MatMut<'_, T>,
    ) -> ();

    /// C := alpha A B + beta C or alpha B A + beta C with a symmetric A, of which one triangle is read.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let (a, b) = (Matrix::from_rows([[1.0, 2.0], [0.0, 3.0]]), Matrix::identity(2));
    /// let mut c = Matrix::zeros(2, 2);
    /// Solver::global()?.symm(Side::Left, Uplo::Upper, 1.0, a.as_ref(), b.as_ref(), 0.0, c.as_mut())?;
    /// assert_eq!(c, Matrix::from_rows([[1.0, 2.0], [2.0, 3.0]]));
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn symm(
        side: Side, uplo: Uplo, alpha: T, a: MatRef<'_, T>, b: MatRef<'_, T>, beta: T, c: MatMut<'_, T>,
    ) -> ();

    /// C := alpha A B + beta C or alpha B A + beta C with a Hermitian A, of which one triangle is read.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let i = c64::new(0.0, 1.0);
    /// let one = c64::new(1.0, 0.0);
    /// let (a, b) = (Matrix::from_rows([[one, i], [0.0 * i, one]]), Matrix::identity(2));
    /// let mut c = Matrix::zeros(2, 2);
    /// Solver::global()?.hemm(Side::Left, Uplo::Upper, one, a.as_ref(), b.as_ref(), 0.0 * i, c.as_mut())?;
    /// assert_eq!(c, Matrix::from_rows([[one, i], [-i, one]]));
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn hemm(
        side: Side, uplo: Uplo, alpha: T, a: MatRef<'_, T>, b: MatRef<'_, T>, beta: T, c: MatMut<'_, T>,
    ) -> ();

    /// One triangle of C := alpha op(A) op(A)ᵀ + beta C.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let (a, mut c) = (Matrix::from_rows([[1.0], [2.0]]), Matrix::zeros(2, 2));
    /// Solver::global()?.syrk(Uplo::Lower, Op::None, 1.0, a.as_ref(), 0.0, c.as_mut())?;
    /// assert_eq!(c, Matrix::from_rows([[1.0, 0.0], [2.0, 4.0]]));
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn syrk(uplo: Uplo, op: Op, alpha: T, a: MatRef<'_, T>, beta: T, c: MatMut<'_, T>) -> ();

    /// One triangle of C := alpha op(A) op(A)ᴴ + beta C, with real alpha and beta.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let a = Matrix::from_rows([[c64::new(0.0, 1.0)], [c64::new(2.0, 0.0)]]);
    /// let mut c = Matrix::zeros(2, 2);
    /// Solver::global()?.herk(Uplo::Lower, Op::None, 1.0, a.as_ref(), 0.0, c.as_mut())?;
    /// assert_eq!(c[(1, 0)], c64::new(0.0, -2.0));
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn herk(uplo: Uplo, op: Op, alpha: T::Real, a: MatRef<'_, T>, beta: T::Real, c: MatMut<'_, T>) -> ();

    /// One triangle of C := alpha (op(A) op(B)ᵀ + op(B) op(A)ᵀ) + beta C.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let (a, b) = (Matrix::from_rows([[1.0], [2.0]]), Matrix::from_rows([[3.0], [4.0]]));
    /// let mut c = Matrix::zeros(2, 2);
    /// Solver::global()?.syr2k(Uplo::Lower, Op::None, 1.0, a.as_ref(), b.as_ref(), 0.0, c.as_mut())?;
    /// assert_eq!(c, Matrix::from_rows([[6.0, 0.0], [10.0, 16.0]]));
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn syr2k(
        uplo: Uplo, op: Op, alpha: T, a: MatRef<'_, T>, b: MatRef<'_, T>, beta: T, c: MatMut<'_, T>,
    ) -> ();

    /// One triangle of C := alpha op(A) op(B)ᴴ + conj(alpha) op(B) op(A)ᴴ + beta C, with a real beta.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let (a, b) = (Matrix::from_rows([[1.0], [2.0]]), Matrix::from_rows([[3.0], [4.0]]));
    /// let mut c = Matrix::zeros(2, 2);
    /// Solver::global()?.her2k(Uplo::Upper, Op::None, 1.0, a.as_ref(), b.as_ref(), 0.0, c.as_mut())?;
    /// assert_eq!(c, Matrix::from_rows([[6.0, 10.0], [0.0, 16.0]]));
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn her2k(
        uplo: Uplo, op: Op, alpha: T, a: MatRef<'_, T>, b: MatRef<'_, T>, beta: T::Real, c: MatMut<'_, T>,
    ) -> ();

    /// B := alpha op(A) B or alpha B op(A) with a triangular A.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let a = Matrix::from_rows([[1.0, 0.0], [2.0, 3.0]]);
    /// let mut b = Matrix::from_rows([[1.0], [1.0]]);
    /// Solver::global()?.trmm(Side::Left, Uplo::Lower, Op::None, Diag::NonUnit, 1.0, a.as_ref(), b.as_mut())?;
    /// assert_eq!(b.into_vec(), [1.0, 5.0]);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn trmm(
        side: Side, uplo: Uplo, op: Op, diag: Diag, alpha: T, a: MatRef<'_, T>, b: MatMut<'_, T>,
    ) -> ();

    /// Solves op(A) X = alpha B or X op(A) = alpha B with a triangular A; X replaces B.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let a = Matrix::from_rows([[1.0, 0.0], [2.0, 3.0]]);
    /// let mut b = Matrix::from_rows([[1.0], [5.0]]);
    /// Solver::global()?.trsm(Side::Left, Uplo::Lower, Op::None, Diag::NonUnit, 1.0, a.as_ref(), b.as_mut())?;
    /// assert_eq!(b.into_vec(), [1.0, 1.0]);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn trsm(
        side: Side, uplo: Uplo, op: Op, diag: Diag, alpha: T, a: MatRef<'_, T>, b: MatMut<'_, T>,
    ) -> ();
}
