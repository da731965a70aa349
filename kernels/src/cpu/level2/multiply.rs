//! trmv, tbmv, tpmv: products with a triangular matrix.

use super::operand::{AdjacentMut, Conj};
use super::triangle::Triangle;
use crate::{Diag, MatRef, Op, Scalar, Uplo, VecMut, VecRef};
use std::ops::Range;

/// x = op(A) x, with A triangular. Only the triangle `uplo` is read, and its diagonal only if it is not all ones.
///
/// # Panics
/// When the shapes do not agree, or neither the rows nor the columns of A are adjacent elements.
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
    product(Triangle::dense((uplo, op, diag), a.into()), x);
}

/// The same for a triangle in a band: the array `a` has a column for each of A, with the main diagonal in its first row
/// ([`Uplo::Lower`]) or its last ([`Uplo::Upper`]).
///
/// # Panics
/// When the shapes do not agree, or the columns of the array are not adjacent elements.
pub fn tbmv<'a, T: Scalar>(uplo: Uplo, op: Op, diag: Diag, a: impl Into<Conj<MatRef<'a, T>>>, x: VecMut<'_, T>) {
    product(Triangle::band((uplo, op, diag), a.into()), x);
}

/// The same for a packed triangle: its columns one behind the other.
///
/// # Panics
/// When the lengths do not agree, or the elements of A are not adjacent.
pub fn tpmv<'a, T: Scalar>(uplo: Uplo, op: Op, diag: Diag, ap: impl Into<Conj<VecRef<'a, T>>>, x: VecMut<'_, T>) {
    let n = x.len();
    product(Triangle::packed((uplo, op, diag), ap.into(), n), x);
}

/// An element of a product needs elements of x that are on its own side of the diagonal, so they are computed from the
/// other side: of a lower triangle the last one first.
#[track_caller]
fn product<T: Scalar>(a: Triangle<T>, x: VecMut<'_, T>) {
    assert!(a.n == x.len(), "trmv: A of order {} x {}", a.n, x.len());
    let x = AdjacentMut::of(x);
    let forward = !a.is_lower();
    for block in a.blocks(forward) {
        // SAFETY: the views promise the elements of A, and give us those of x.
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

/// The product with all of a band.
///
/// # Safety
/// The triangle and the elements of x are there, and nobody else uses these.
unsafe fn by_columns<T: Scalar>(a: &Triangle<T>, all: &Range<usize>, forward: bool, x: *mut T) {
    for j in Triangle::<T>::order(all, forward) {
        // SAFETY: columns j of a triangle of order n, and elements j of x, which has n.
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
