//! trmv, tbmv, tpmv: products with a triangular matrix.

use super::operand::{AdjacentMut, Conj};
use super::triangle::{Triangle, TriangleOptions};
use crate::{Diag, MatRef, Op, Scalar, Uplo, VecMut, VecRef};
use std::ops::Range;

/// Computes x = op(A) x, with A triangular. Only the triangle `uplo` is read, without its diagonal if that is all ones.
///
/// # Panics
/// If the shapes do not agree, or neither the rows nor the columns of A are adjacent elements.
///
/// # Example
/// ```
/// use superscalar::kernels::{Diag, MatRef, Op, Uplo, VecMut, cpu};
///
/// let (a, mut x) = ([2.0, 3.0, f64::NAN, 4.0], [1.0, 1.0]); // [2 ·; 3 4]
/// let a = MatRef::from_col_major(&a, 2, 2, 2)?;
/// cpu::trmv(Uplo::Lower, Op::None, Diag::NonUnit, a, VecMut::from_slice(&mut x));
/// assert_eq!(x, [2.0, 7.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn trmv<'a, T: Scalar>(uplo: Uplo, op: Op, diag: Diag, a: impl Into<Conj<MatRef<'a, T>>>, x: VecMut<'_, T>) {
    product(Triangle::dense(TriangleOptions { uplo, op, diag }, a.into()), x);
}

/// Like [`trmv`] for a triangular band matrix. The array `a` has a column for each column of A, with the main diagonal
/// in its first row ([`Uplo::Lower`]) or its last ([`Uplo::Upper`]).
///
/// # Panics
/// If the shapes do not agree, or the columns of the array are not adjacent elements.
pub fn tbmv<'a, T: Scalar>(uplo: Uplo, op: Op, diag: Diag, a: impl Into<Conj<MatRef<'a, T>>>, x: VecMut<'_, T>) {
    product(Triangle::band(TriangleOptions { uplo, op, diag }, a.into()), x);
}

/// Like [`trmv`] for a packed triangle, stored column by column without gaps.
///
/// # Panics
/// If the lengths do not agree, or the elements of A are not adjacent.
pub fn tpmv<'a, T: Scalar>(uplo: Uplo, op: Op, diag: Diag, ap: impl Into<Conj<VecRef<'a, T>>>, x: VecMut<'_, T>) {
    let n = x.len();
    product(Triangle::packed(TriangleOptions { uplo, op, diag }, ap.into(), n), x);
}

/// Computes x = op(A) x. An element of the product needs the old elements of x on its own side of the diagonal, so the
/// order starts at the other side: with a lower triangle the last element comes first.
#[track_caller]
fn product<T: Scalar>(a: Triangle<T>, x: VecMut<'_, T>) {
    assert!(a.n == x.len(), "trmv: A has order {}, x has {} elements", a.n, x.len());
    let x = AdjacentMut::of(x);
    let forward = !a.is_lower();
    for block in a.blocks(forward) {
        // SAFETY: the views guarantee that the elements of A are readable; x is borrowed exclusively.
        unsafe {
            if a.is_band() {
                by_columns(&a, &block, forward, x.at(0));
            } else if a.trans {
                a.multiply_block(&block, x.at(block.start));
                a.multiply_trans_outside(&block, T::ONE, x.at(0));
            } else {
                a.multiply_outside(&block, T::ONE, x.at(0));
                a.multiply_block(&block, x.at(block.start));
            }
        }
    }
}

/// Multiplies by a whole band matrix.
///
/// # Safety
/// The triangle and the n elements of x are valid memory, and nobody else uses the elements of x.
unsafe fn by_columns<T: Scalar>(a: &Triangle<T>, all: &Range<usize>, forward: bool, x: *mut T) {
    for j in Triangle::<T>::order(all, forward) {
        // SAFETY: j is less than n; by this function's contract the triangle and x have n columns and elements.
        unsafe {
            let old = *x.add(j);
            let new = a.diagonal(j).map_or(old, |d| d * old);
            if a.trans {
                *x.add(j) = new + a.dot_column(j, all, x);
            } else {
                a.add_column(j, all, old, x);
                *x.add(j) = new;
            }
        }
    }
}
