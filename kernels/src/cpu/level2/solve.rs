//! trsv, tbsv, tpsv: systems with a triangular matrix.

use super::operand::{AdjacentMut, Conj};
use super::triangle::{Triangle, TriangleOptions};
use crate::{Diag, MatRef, Op, Scalar, Uplo, VecMut, VecRef};
use std::ops::Range;

/// Overwrites x with the solution of op(A) y = x, with A triangular. Only the triangle `uplo` is read, without its
/// diagonal if that is all ones.
///
/// A zero on the diagonal gives Inf or NaN.
///
/// # Panics
/// If the shapes do not agree, or neither the rows nor the columns of A are adjacent elements.
///
/// # Example
/// ```
/// use superscalar::kernels::{Diag, MatRef, Op, Uplo, VecMut, cpu};
///
/// let (a, mut x) = ([2.0, 3.0, f64::NAN, 4.0], [2.0, 7.0]); // [2 ·; 3 4]
/// let a = MatRef::from_col_major(&a, 2, 2, 2)?;
/// cpu::trsv(Uplo::Lower, Op::None, Diag::NonUnit, a, VecMut::from_slice(&mut x));
/// assert_eq!(x, [1.0, 1.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn trsv<'a, T: Scalar>(uplo: Uplo, op: Op, diag: Diag, a: impl Into<Conj<MatRef<'a, T>>>, x: VecMut<'_, T>) {
    solve(Triangle::dense(TriangleOptions { uplo, op, diag }, a.into()), x);
}

/// Like [`trsv`] for a triangular band matrix. The array `a` has a column for each column of A, with the main diagonal
/// in its first row ([`Uplo::Lower`]) or its last ([`Uplo::Upper`]).
///
/// # Panics
/// If the shapes do not agree, or the columns of the array are not adjacent elements.
pub fn tbsv<'a, T: Scalar>(uplo: Uplo, op: Op, diag: Diag, a: impl Into<Conj<MatRef<'a, T>>>, x: VecMut<'_, T>) {
    solve(Triangle::band(TriangleOptions { uplo, op, diag }, a.into()), x);
}

/// Like [`trsv`] for a packed triangle, stored column by column without gaps.
///
/// # Panics
/// If the lengths do not agree, or the elements of A are not adjacent.
pub fn tpsv<'a, T: Scalar>(uplo: Uplo, op: Op, diag: Diag, ap: impl Into<Conj<VecRef<'a, T>>>, x: VecMut<'_, T>) {
    let n = x.len();
    solve(Triangle::packed(TriangleOptions { uplo, op, diag }, ap.into(), n), x);
}

/// Solves by substitution; with a lower triangle the first element comes first. The columns of known elements are
/// subtracted from the right-hand side. If A is transposed, products with the known elements are subtracted instead.
#[track_caller]
fn solve<T: Scalar>(a: Triangle<T>, x: VecMut<'_, T>) {
    assert!(a.n == x.len(), "trsv: A has order {}, x has {} elements", a.n, x.len());
    let x = AdjacentMut::of(x);
    let forward = a.is_lower();
    for block in a.blocks(forward) {
        // SAFETY: the views guarantee that the elements of A are readable; x is borrowed exclusively.
        unsafe {
            if a.is_band() {
                by_columns(&a, &block, forward, x.at(0));
            } else if a.trans {
                a.multiply_trans_outside(&block, -T::ONE, x.at(0));
                a.solve_block(&block, x.at(block.start));
            } else {
                a.solve_block(&block, x.at(block.start));
                a.multiply_outside(&block, -T::ONE, x.at(0));
            }
        }
    }
}

/// Solves with a whole band matrix.
///
/// # Safety
/// The triangle and the n elements of x are valid memory, and nobody else uses the elements of x.
unsafe fn by_columns<T: Scalar>(a: &Triangle<T>, all: &Range<usize>, forward: bool, x: *mut T) {
    for j in Triangle::<T>::order(all, forward) {
        // SAFETY: j is less than n; by this function's contract the triangle and x have n columns and elements.
        unsafe {
            let known = if a.trans { *x.add(j) - a.dot_column(j, all, x) } else { *x.add(j) };
            let new = a.diagonal(j).map_or(known, |d| known.quotient(d));
            *x.add(j) = new;
            if !a.trans {
                a.add_column(j, all, -new, x);
            }
        }
    }
}
