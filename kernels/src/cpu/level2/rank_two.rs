//! syr2, her2, spr2, hpr2: rank-2 updates of one triangle of a symmetric or Hermitian matrix.

use super::operand::{Adjacent, Conj, by_columns_mut, check_packed, packed};
use crate::backend::vectors;
use crate::vector::loops::{Add, Stored};
use crate::{MatMut, Scalar, Uplo, VecMut, VecRef};

/// The routines differ in how A is stored, and whether it is Hermitian.
macro_rules! updates {
    ($($(#[$doc:meta])* $name:ident($a:ident: $View:ident) = $stored:ident(hermitian: $hermitian:literal);)*) => {$(
        $(#[$doc])*
        pub fn $name<'a, T: Scalar>(
            uplo: Uplo,
            alpha: T,
            x: impl Into<Conj<VecRef<'a, T>>>,
            y: impl Into<Conj<VecRef<'a, T>>>,
            $a: $View<'_, T>,
        ) {
            $stored($hermitian, uplo, alpha, VectorPair { x: x.into(), y: y.into() }, $a);
        }
    )*};
}

updates! {
    /// Computes A = alpha x yᵀ + alpha y xᵀ + A, with A symmetric. Only the triangle `uplo` of A is read and written.
    /// alpha = 0 reads neither x nor y.
    ///
    /// # Panics
    /// If the shapes do not agree, or neither the rows nor the columns of A are adjacent elements.
    ///
    /// # Example
    /// ```
    /// use superscalar::kernels::{MatMut, Uplo, VecRef, cpu};
    ///
    /// let mut a = [0.0, 0.0, 7.0, 0.0];
    /// let (x, y) = (VecRef::from_slice(&[1.0, 2.0]), VecRef::from_slice(&[3.0, 4.0]));
    /// cpu::syr2(Uplo::Lower, 1.0, x, y, MatMut::from_col_major(&mut a, 2, 2, 2)?);
    /// assert_eq!(a, [6.0, 10.0, 7.0, 16.0]);
    /// # Ok::<(), superscalar::kernels::ViewError>(())
    /// ```
    syr2(a: MatMut) = dense(hermitian: false);

    /// Computes A = alpha x yᴴ + conj(alpha) y xᴴ + A, with A Hermitian: the imaginary part of its diagonal is taken as
    /// zero and set to zero. For real types this is [`syr2`].
    ///
    /// # Panics
    /// If the shapes do not agree, or neither the rows nor the columns of A are adjacent elements.
    her2(a: MatMut) = dense(hermitian: true);

    /// Like [`syr2`] for a packed triangle.
    ///
    /// # Panics
    /// If the lengths do not agree, or the elements of A are not adjacent.
    spr2(ap: VecMut) = in_packed(hermitian: false);

    /// Like [`her2`] for a packed triangle.
    ///
    /// # Panics
    /// If the lengths do not agree, or the elements of A are not adjacent.
    hpr2(ap: VecMut) = in_packed(hermitian: true);
}

/// The two vectors of an update.
struct VectorPair<'a, T> {
    x: Conj<VecRef<'a, T>>,
    y: Conj<VecRef<'a, T>>,
}

#[track_caller]
fn dense<T: Scalar>(hermitian: bool, uplo: Uplo, alpha: T, vectors: VectorPair<'_, T>, mut a: MatMut<'_, T>) {
    let VectorPair { mut x, mut y } = vectors;
    let n = x.view.len();
    assert!(
        a.shape() == (n, n) && y.view.len() == n,
        "syr2: shapes do not agree: x {n}, y {}, A {:?}",
        y.view.len(),
        a.shape()
    );
    let (stored, flipped) = by_columns_mut(&mut a);
    let uplo = if flipped { uplo.flip() } else { uplo };
    if flipped && hermitian {
        // The transpose of x yᴴ is conj(y) conj(x)ᴴ.
        (x, y) = (y, x);
        (x.conj, y.conj) = (!x.conj, !y.conj);
    }
    // SAFETY: `stored` describes the elements of A, which is borrowed exclusively, and A is n x n.
    unsafe { update(hermitian, uplo, alpha, VectorPair { x, y }, stored) };
}

#[track_caller]
fn in_packed<T: Scalar>(hermitian: bool, uplo: Uplo, alpha: T, vectors: VectorPair<'_, T>, mut ap: VecMut<'_, T>) {
    let VectorPair { x, y } = vectors;
    let n = x.view.len();
    check_packed(n, ap.len(), ap.inc());
    assert!(y.view.len() == n, "spr2: shapes do not agree: x {n}, y {}", y.view.len());
    // SAFETY: `ap` has the n (n + 1) / 2 elements of the triangle and is borrowed exclusively.
    unsafe { update(hermitian, uplo, alpha, VectorPair { x, y }, packed(ap.as_mut_ptr(), n, uplo)) };
}

/// # Safety
/// The triangle is valid memory, of the order of x and y, and nobody else uses it.
unsafe fn update<T: Scalar>(hermitian: bool, uplo: Uplo, alpha: T, pair: VectorPair<'_, T>, a: Stored<T>) {
    let VectorPair { x, y } = pair;
    let n = x.view.len();
    if alpha == T::ZERO || n == 0 {
        return;
    }
    let conj = [x.conj, y.conj];
    let (x, y) = (Adjacent::of(x.view), Adjacent::of(y.view));
    let sign = |conj: bool, x: T| if conj { x.conj() } else { x };
    for j in 0..n {
        let rows = if uplo == Uplo::Lower { j..n } else { 0..j + 1 };
        // SAFETY: the rows of column j are in the stored triangle, and x and y have n adjacent elements.
        unsafe {
            let of_x = alpha * sign(conj[1] != hermitian, *y.at(j));
            let of_y = sign(hermitian, alpha) * sign(conj[0] != hermitian, *x.at(j));
            let (x, y) = (x.at(rows.start), y.at(rows.start));
            let to = a.at(rows.start, j);
            (vectors::<T>().add_two)(Add { n: rows.len(), c: [of_x, of_y], x: [x, y], conj, y: to });
            if hermitian && T::COMPLEX {
                let diagonal = a.at(j, j);
                *diagonal = T::from_real((*diagonal).re());
            }
        }
    }
}
