//! syr, her, spr, hpr: rank-1 updates of one triangle of a symmetric or Hermitian matrix.

use super::operand::{Adjacent, Conj, by_columns_mut, check_packed, packed};
use crate::backend::vectors;
use crate::vector::loops::{Add, Stored};
use crate::{MatMut, Scalar, Uplo, VecMut, VecRef};

/// Computes A = alpha x xᵀ + A, with A symmetric. Only the triangle `uplo` of A is read and written. alpha = 0 does not
/// read x.
///
/// # Panics
/// If the shapes do not agree, or neither the rows nor the columns of A are adjacent elements.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, Uplo, VecRef, cpu};
///
/// let mut a = [0.0, 0.0, 7.0, 0.0];
/// cpu::syr(Uplo::Lower, 2.0, VecRef::from_slice(&[1.0, 3.0]), MatMut::from_col_major(&mut a, 2, 2, 2)?);
/// assert_eq!(a, [2.0, 6.0, 7.0, 18.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn syr<'a, T: Scalar>(uplo: Uplo, alpha: T, x: impl Into<Conj<VecRef<'a, T>>>, a: MatMut<'_, T>) {
    dense(false, uplo, alpha, x.into(), a);
}

/// Computes A = alpha x xᴴ + A, with A Hermitian: the imaginary part of its diagonal is taken as zero and set to zero.
/// For real types this is [`syr`].
///
/// # Panics
/// If the shapes do not agree, or neither the rows nor the columns of A are adjacent elements.
pub fn her<'a, T: Scalar>(uplo: Uplo, alpha: T::Real, x: impl Into<Conj<VecRef<'a, T>>>, a: MatMut<'_, T>) {
    dense(true, uplo, T::from_real(alpha), x.into(), a);
}

/// Like [`syr`] for a packed triangle.
///
/// # Panics
/// If the lengths do not agree, or the elements of A are not adjacent.
pub fn spr<'a, T: Scalar>(uplo: Uplo, alpha: T, x: impl Into<Conj<VecRef<'a, T>>>, ap: VecMut<'_, T>) {
    in_packed(false, uplo, alpha, x.into(), ap);
}

/// Like [`her`] for a packed triangle.
///
/// # Panics
/// If the lengths do not agree, or the elements of A are not adjacent.
pub fn hpr<'a, T: Scalar>(uplo: Uplo, alpha: T::Real, x: impl Into<Conj<VecRef<'a, T>>>, ap: VecMut<'_, T>) {
    in_packed(true, uplo, T::from_real(alpha), x.into(), ap);
}

#[track_caller]
fn dense<T: Scalar>(hermitian: bool, uplo: Uplo, alpha: T, mut x: Conj<VecRef<'_, T>>, mut a: MatMut<'_, T>) {
    let n = x.view.len();
    assert!(a.shape() == (n, n), "syr: shapes do not agree: x {n}, A {:?}", a.shape());
    let (stored, flipped) = by_columns_mut(&mut a);
    let uplo = if flipped { uplo.flip() } else { uplo };
    // The transpose of x xᴴ is conj(x) conj(x)ᴴ.
    x.conj = x.conj != (flipped && hermitian);
    // SAFETY: `stored` describes the elements of A, which is borrowed exclusively, and A is n x n.
    unsafe { update(hermitian, uplo, alpha, x, stored) };
}

#[track_caller]
fn in_packed<T: Scalar>(hermitian: bool, uplo: Uplo, alpha: T, x: Conj<VecRef<'_, T>>, mut ap: VecMut<'_, T>) {
    let n = x.view.len();
    check_packed(n, ap.len(), ap.inc());
    // SAFETY: `ap` has the n (n + 1) / 2 elements of the triangle and is borrowed exclusively.
    unsafe { update(hermitian, uplo, alpha, x, packed(ap.as_mut_ptr(), n, uplo)) };
}

/// # Safety
/// The triangle is valid memory, of the order of x, and nobody else uses it.
unsafe fn update<T: Scalar>(hermitian: bool, uplo: Uplo, alpha: T, x: Conj<VecRef<'_, T>>, a: Stored<T>) {
    let Conj { view, conj } = x;
    let n = view.len();
    if alpha == T::ZERO || n == 0 {
        return;
    }
    let x = Adjacent::of(view);
    for j in 0..n {
        let rows = if uplo == Uplo::Lower { j..n } else { 0..j + 1 };
        // SAFETY: the rows of column j are in the stored triangle, and x has n adjacent elements.
        unsafe {
            let of_x = *x.at(j);
            let c = alpha * if conj != hermitian { of_x.conj() } else { of_x };
            let (x, y) = (x.at(rows.start), a.at(rows.start, j));
            (vectors::<T>().add)(Add { n: rows.len(), c: [c], x: [x], conj: [conj], y });
            if hermitian && T::COMPLEX {
                let diagonal = a.at(j, j);
                *diagonal = T::from_real((*diagonal).re());
            }
        }
    }
}
