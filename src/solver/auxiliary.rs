//! Norms, copies, sums and interchanges.

use super::routines;
use crate::dla::{Diag, Direction, MatMut, MatRef, Norm, Op, Part, Uplo};

routines! {
    /// Returns a norm of a general matrix.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let a = Matrix::from_rows([[1.0_f64, -2.0], [3.0, 4.0]]);
    /// assert_eq!(Solver::global()?.lange(Norm::Inf, a.as_ref())?, 7.0);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn lange(norm: Norm, a: MatRef<'_, T>) -> T::Real;

    /// Returns a norm of a symmetric matrix, of which one triangle is read.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let a = Matrix::from_rows([[1.0_f64, 0.0], [3.0, 4.0]]);
    /// assert_eq!(Solver::global()?.lansy(Norm::One, Uplo::Lower, a.as_ref())?, 7.0);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn lansy(norm: Norm, uplo: Uplo, a: MatRef<'_, T>) -> T::Real;

    /// Returns a norm of a Hermitian matrix, of which one triangle is read.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let a = Matrix::from_rows([[1.0_f64, 0.0], [3.0, 4.0]]);
    /// assert_eq!(Solver::global()?.lanhe(Norm::Max, Uplo::Lower, a.as_ref())?, 4.0);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn lanhe(norm: Norm, uplo: Uplo, a: MatRef<'_, T>) -> T::Real;

    /// Returns a norm of a triangular or trapezoidal matrix.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let a = Matrix::from_rows([[9.0_f64, 0.0], [3.0, 9.0]]);
    /// assert_eq!(Solver::global()?.lantr(Norm::One, Uplo::Lower, Diag::Unit, a.as_ref())?, 4.0);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn lantr(norm: Norm, uplo: Uplo, diag: Diag, a: MatRef<'_, T>) -> T::Real;

    /// Copies a matrix or a triangle of it.
    ///
    /// ```
    /// use superscalar::{dla::Part, prelude::*};
    /// let (a, mut b) = (Matrix::from_rows([[1.0, 2.0], [3.0, 4.0]]), Matrix::zeros(2, 2));
    /// Solver::global()?.lacpy(Part::Upper, a.as_ref(), b.as_mut())?;
    /// assert_eq!(b, Matrix::from_rows([[1.0, 2.0], [0.0, 4.0]]));
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn lacpy(part: Part, a: MatRef<'_, T>, b: MatMut<'_, T>) -> ();

    /// Sets the diagonal of a matrix to one value and the rest, or a triangle of it, to another.
    ///
    /// ```
    /// use superscalar::{dla::Part, prelude::*};
    /// let mut a = Matrix::zeros(2, 2);
    /// Solver::global()?.laset(Part::All, 0.0, 1.0, a.as_mut())?;
    /// assert_eq!(a, Matrix::identity(2));
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn laset(part: Part, off_diagonal: T, diagonal: T, a: MatMut<'_, T>) -> ();

    /// B := alpha op(A) + beta B.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let (a, mut b) = (Matrix::from_rows([[1.0, 2.0], [3.0, 4.0]]), Matrix::identity(2));
    /// Solver::global()?.geadd(Op::Trans, 1.0, a.as_ref(), 10.0, b.as_mut())?;
    /// assert_eq!(b, Matrix::from_rows([[11.0, 3.0], [2.0, 14.0]]));
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn geadd(op: Op, alpha: T, a: MatRef<'_, T>, beta: T, b: MatMut<'_, T>) -> ();

    /// Exchanges two matrices.
    ///
    /// ```
    /// use superscalar::prelude::*;
    /// let (mut a, mut b) = (Matrix::<f64>::identity(2), Matrix::zeros(2, 2));
    /// Solver::global()?.swap(a.as_mut(), b.as_mut())?;
    /// assert_eq!((a, b), (Matrix::zeros(2, 2), Matrix::identity(2)));
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn swap(a: MatMut<'_, T>, b: MatMut<'_, T>) -> ();

    /// Interchanges rows as [`getrf`](crate::Solver::getrf) did.
    ///
    /// ```
    /// use superscalar::{dla::Direction, prelude::*};
    /// let mut a = Matrix::from_rows([[1.0], [2.0]]);
    /// Solver::global()?.laswp(a.as_mut(), &[2, 2], Direction::Forward)?;
    /// assert_eq!(a.into_vec(), [2.0, 1.0]);
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    fn laswp(a: MatMut<'_, T>, ipiv: &[i32], direction: Direction) -> ();
}
