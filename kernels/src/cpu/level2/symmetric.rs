//! symv, sbmv, spmv and hemv, hbmv, hpmv: products with a symmetric or Hermitian matrix of which one triangle is
//! stored.

use super::operand::{Adjacent, AdjacentMut, Conj, by_columns, check_packed, packed, scale, triangle_of_band};
use crate::backend::vectors;
use crate::vector::loops::{MultiplySymmetric, Stored};
use crate::{MatRef, Scalar, Uplo, VecMut, VecRef};

/// The stored triangle of a symmetric or Hermitian matrix.
struct Symmetric<T> {
    a: Stored<T>,
    n: usize,
    /// The number of diagonals beside the main one.
    k: usize,
    uplo: Uplo,
    hermitian: bool,
    /// Whether stored elements are conjugated.
    conj: bool,
}

/// The routines differ in how A is stored, and whether it is Hermitian.
macro_rules! products {
    ($($(#[$doc:meta])* $name:ident($a:ident: $View:ident) = $stored:ident(hermitian: $hermitian:literal);)*) => {$(
        $(#[$doc])*
        pub fn $name<'a, T: Scalar>(
            uplo: Uplo,
            alpha: T,
            $a: impl Into<Conj<$View<'a, T>>>,
            x: VecRef<'_, T>,
            beta: T,
            y: VecMut<'_, T>,
        ) {
            $stored($hermitian, uplo, $a.into(), x.len()).product(alpha, x, beta, y);
        }
    )*};
}

products! {
    /// Computes y = alpha A x + beta y, with A symmetric. Only the triangle `uplo` of A is read.
    ///
    /// beta = 0 does not read y; alpha = 0 reads neither A nor x.
    ///
    /// # Panics
    /// If the shapes do not agree, or neither the rows nor the columns of A are adjacent elements.
    ///
    /// # Example
    /// ```
    /// use superscalar::kernels::{MatRef, Uplo, VecMut, VecRef, cpu};
    ///
    /// let (a, mut y) = ([1.0, 2.0, f64::NAN, 3.0], [f64::NAN; 2]);
    /// let (a, x) = (MatRef::from_col_major(&a, 2, 2, 2)?, VecRef::from_slice(&[1.0, 1.0]));
    /// cpu::symv(Uplo::Lower, 1.0, a, x, 0.0, VecMut::from_slice(&mut y));
    /// assert_eq!(y, [3.0, 5.0]);
    /// # Ok::<(), superscalar::kernels::ViewError>(())
    /// ```
    symv(a: MatRef) = dense(hermitian: false);

    /// Like [`symv`] with A Hermitian: the imaginary part of its diagonal is taken as zero. For real types this is
    /// [`symv`].
    ///
    /// # Panics
    /// If the shapes do not agree, or neither the rows nor the columns of A are adjacent elements.
    hemv(a: MatRef) = dense(hermitian: true);

    /// Computes y = alpha A x + beta y, with A a symmetric band matrix. The array `a` has a column for each column of
    /// A, with the main diagonal in its first row ([`Uplo::Lower`]) or its last ([`Uplo::Upper`]).
    ///
    /// beta = 0 does not read y; alpha = 0 reads neither A nor x.
    ///
    /// # Panics
    /// If the shapes do not agree, or the columns of the array are not adjacent elements.
    sbmv(a: MatRef) = band(hermitian: false);

    /// Like [`sbmv`] with A Hermitian: the imaginary part of its diagonal is taken as zero. For real types this is
    /// [`sbmv`].
    ///
    /// # Panics
    /// If the shapes do not agree, or the columns of the array are not adjacent elements.
    hbmv(a: MatRef) = band(hermitian: true);

    /// Computes y = alpha A x + beta y, with A symmetric and packed: its triangle is stored column by column without
    /// gaps.
    ///
    /// beta = 0 does not read y; alpha = 0 reads neither A nor x.
    ///
    /// # Panics
    /// If the lengths do not agree, or the elements of A are not adjacent.
    spmv(ap: VecRef) = in_packed(hermitian: false);

    /// Like [`spmv`] with A Hermitian: the imaginary part of its diagonal is taken as zero. For real types this is
    /// [`spmv`].
    ///
    /// # Panics
    /// If the lengths do not agree, or the elements of A are not adjacent.
    hpmv(ap: VecRef) = in_packed(hermitian: true);
}

#[track_caller]
fn dense<T: Scalar>(hermitian: bool, uplo: Uplo, a: Conj<MatRef<'_, T>>, n: usize) -> Symmetric<T> {
    let Conj { view, conj } = a;
    assert!(view.shape() == (n, n), "symv: shapes do not agree: A {:?}, x {n}", view.shape());
    let (a, flipped) = by_columns(view);
    // The transpose of a Hermitian matrix is its conjugate.
    let (uplo, conj) = if flipped { (uplo.flip(), conj != hermitian) } else { (uplo, conj) };
    Symmetric { a, n, k: n.max(1) - 1, uplo, hermitian, conj }
}

#[track_caller]
fn band<T: Scalar>(hermitian: bool, uplo: Uplo, a: Conj<MatRef<'_, T>>, n: usize) -> Symmetric<T> {
    let Conj { view, conj } = a;
    assert!(view.ncols() == n, "symv: A has order {}, x has {n} elements", view.ncols());
    let (a, k) = triangle_of_band(view, uplo);
    Symmetric { a, n, k, uplo, hermitian, conj }
}

#[track_caller]
fn in_packed<T: Scalar>(hermitian: bool, uplo: Uplo, ap: Conj<VecRef<'_, T>>, n: usize) -> Symmetric<T> {
    check_packed(n, ap.view.len(), ap.view.inc());
    let a = packed(ap.view.as_ptr().cast_mut(), n, uplo);
    Symmetric { a, n, k: n.max(1) - 1, uplo, hermitian, conj: ap.conj }
}

impl<T: Scalar> Symmetric<T> {
    #[track_caller]
    fn product(self, alpha: T, x: VecRef<'_, T>, beta: T, mut y: VecMut<'_, T>) {
        let n = self.n;
        assert!(n == y.len(), "symv: A has order {n}, y has {} elements", y.len());
        scale(beta, &mut y);
        if alpha == T::ZERO || n == 0 {
            return;
        }
        let (x, y) = (Adjacent::of(x), AdjacentMut::of(y));
        let Self { a, k, uplo, hermitian, conj, .. } = self;
        let (is_lower, x, y) = (uplo == Uplo::Lower, x.at(0), y.at(0));
        // SAFETY: the views guarantee that the elements of A and x are readable; y is borrowed exclusively. Both
        // vectors have n adjacent elements.
        unsafe {
            (vectors::<T>().multiply_symmetric)(MultiplySymmetric { n, k, alpha, a, is_lower, hermitian, conj, x, y })
        }
    }
}
