//! geadd: sums of matrices.

use super::axpby;
use crate::{MatMut, MatRef, Op, Scalar, VecMut, VecRef};
use bytemuck::{cast_slice, cast_slice_mut};

/// Elements of a column that are added together. A general beta takes two passes over them, and they stay in the
/// first-level cache in between.
const PIECE: usize = 1024;
/// Edge of the blocks in which a transposed matrix is traversed, so that cache lines of both matrices are reused.
const BLOCK_EDGE: usize = 16;

/// Computes B = alpha op(A) + beta B, where op(A) and B are m x n. If beta = 0, B is not read. If alpha = 0, A is not
/// read.
///
/// # Panics
/// If the shapes do not agree.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, MatRef, Op, cpu};
///
/// let (a, mut b) = ([1.0, 2.0], [10.0, 20.0]);
/// let a = MatRef::from_col_major(&a, 2, 1, 2)?;
/// cpu::geadd(Op::Trans, 2.0, a, -1.0, MatMut::from_col_major(&mut b, 1, 2, 1)?);
/// assert_eq!(b, [-8.0, -16.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn geadd<T: Scalar>(op: Op, alpha: T, a: MatRef<'_, T>, beta: T, b: MatMut<'_, T>) {
    assert_eq!(op.shape(a.shape()), b.shape(), "geadd: the shapes of op(A) and B differ");
    let a = if op == Op::None { a } else { a.transpose() };
    // The rows of two matrices are the columns of their transposes.
    let (a, b) = if b.row_stride() > b.col_stride() { (a.transpose(), b.transpose()) } else { (a, b) };
    let conj = T::COMPLEX && op == Op::ConjTrans;
    let are_real = alpha.im() == <T::Real as Scalar>::ZERO && beta.im() == <T::Real as Scalar>::ZERO;
    if !conj && are_real && a.row_stride() == 1 && b.row_stride() == 1 {
        by_columns(alpha.re(), a, beta.re(), b);
    } else {
        by_blocks(conj, alpha, a, beta, b);
    }
}

/// Adds matrices whose columns are adjacent elements. Both parts of complex numbers are multiplied by the same factors.
fn by_columns<T: Scalar>(alpha: T::Real, a: MatRef<'_, T>, beta: T::Real, mut b: MatMut<'_, T>) {
    for j in 0..b.ncols() {
        let (x, y) = (a.col_as_slice(j).unwrap_or_default(), b.col_as_slice_mut(j).unwrap_or_default());
        let (x, y): (&[T::Real], &mut [T::Real]) = (cast_slice(x), cast_slice_mut(y));
        for (x, y) in x.chunks(PIECE).zip(y.chunks_mut(PIECE)) {
            axpby(alpha, VecRef::from_slice(x), beta, VecMut::from_slice(y));
        }
    }
}

/// Adds A, or its conjugate, to B block by block.
fn by_blocks<T: Scalar>(conj: bool, alpha: T, a: MatRef<'_, T>, beta: T, mut b: MatMut<'_, T>) {
    let (m, n) = b.shape();
    let added = |x: T| times(alpha, if conj { x.conj() } else { x });
    let kept = |x: T| times(beta, x);
    for cols in (0..n).step_by(BLOCK_EDGE).map(|j| j..n.min(j + BLOCK_EDGE)) {
        for rows in (0..m).step_by(BLOCK_EDGE).map(|i| i..m.min(i + BLOCK_EDGE)) {
            for j in cols.clone() {
                for i in rows.clone() {
                    b[(i, j)] = added(a.at(i, j)) + kept(b[(i, j)]);
                }
            }
        }
    }
}

/// Returns the product, where zero makes everything zero, and a real factor leaves the parts of an infinity apart.
fn times<T: Scalar>(factor: T, x: T) -> T {
    match factor.im() == <T::Real as Scalar>::ZERO {
        _ if factor == T::ZERO => T::ZERO,
        true => T::from_parts(factor.re() * x.re(), factor.re() * x.im()),
        false => factor * x,
    }
}
