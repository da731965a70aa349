//! Products of matrices in half precision. They are converted, block by block, and multiplied in single precision.

use crate::{Half, HalfResult, MatMut, MatRef, Op, cpu::gemm, vector::Workspace};
use std::ops::Range;

/// The edge of the blocks that are converted. Conversions are repeated for each block of C in a row or column, and take
/// a hundredth of the product's time.
const BLOCK: usize = 512;

/// Computes C = alpha op(A) op(B) + beta C, where op(A) is m x k, op(B) is k x n and C is m x n. A and B have elements
/// of type `H`; C has elements of the same type or of `f32`. Products are summed in single precision and rounded once.
///
/// beta = 0 writes C without reading it; alpha = 0 (or k = 0) reads neither A nor B.
///
/// # Panics
/// If the shapes do not agree.
///
/// ```
/// use superscalar::kernels::{MatMut, MatRef, Op, cpu, f16};
///
/// let (a, b) = ([1.0, 2.0].map(f16::from_f32), [3.0, 4.0].map(f16::from_f32));
/// let mut c = [f16::from_f32(10.0)];
/// let (a, b) = (MatRef::from_col_major(&a, 2, 1, 2)?, MatRef::from_col_major(&b, 2, 1, 2)?);
/// cpu::gemm_half(1.0, Op::Trans, a, Op::None, b, 2.0, MatMut::from_col_major(&mut c, 1, 1, 1)?);
/// assert_eq!(c[0].to_f32(), 31.0);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn gemm_half<H: Half, C: HalfResult<H>>(
    alpha: f32,
    op_a: Op,
    a: MatRef<'_, H>,
    op_b: Op,
    b: MatRef<'_, H>,
    beta: f32,
    mut c: MatMut<'_, C>,
) {
    let (a, b) = (stored(op_a, a), stored(op_b, b));
    let ((m, k), (l, n)) = (a.shape(), b.shape());
    assert!(
        c.shape() == (m, n) && k == l,
        "gemm_half: shapes do not agree: op(A) {:?}, op(B) {:?}, C {:?}",
        (m, k),
        (l, n),
        c.shape()
    );
    let k = if alpha == 0.0 { 0 } else { k };
    let [edge_m, edge_n, edge_k] = [m, n, k].map(|len| len.min(BLOCK));
    let mut factors = [Workspace::<f32>::take(edge_m * edge_k), Workspace::take(edge_k * edge_n)];
    let [of_a, of_b] = factors.each_mut().map(|buffer| buffer.elements());
    let mut sum = Workspace::<f32>::take(edge_m * edge_n);
    for columns in blocks(n) {
        for rows in blocks(m) {
            let shape = (rows.len(), columns.len());
            let mut sum = dense(sum.elements(), shape);
            sum.fill(0.0);
            for steps in blocks(k) {
                let a = widened(a.submatrix(rows.clone(), steps.clone()), of_a);
                let b = widened(b.submatrix(steps, columns.clone()), of_b);
                gemm(alpha, Op::None, a, Op::None, b, 1.0, sum.rb_mut());
            }
            round_sum::<H, C>(sum.into_ref(), beta, c.rb_mut().submatrix(rows, columns.clone()));
        }
    }
}

/// Computes C = S + beta C, where S is in single precision, and C is rounded to its precision. If beta = 0, C is not
/// read. It is the last step of a product of matrices of type `H` that was summed apart from C.
///
/// # Panics
/// If the shapes differ.
pub fn round_sum<H: Half, C: HalfResult<H>>(sum: MatRef<'_, f32>, beta: f32, mut c: MatMut<'_, C>) {
    let (m, n) = c.shape();
    assert_eq!(sum.shape(), (m, n), "round_sum: the shapes of S and C differ");
    for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))) {
        let kept = if beta == 0.0 { 0.0 } else { beta * c[(i, j)].widened() };
        c[(i, j)] = C::rounded(sum[(i, j)] + kept);
    }
}

/// Returns op(A). The types are real.
fn stored<H>(op: Op, a: MatRef<'_, H>) -> MatRef<'_, H> {
    if op == Op::None { a } else { a.transpose() }
}

fn blocks(len: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len).step_by(BLOCK).map(move |first| first..len.min(first + BLOCK))
}

/// Returns a matrix without gaps at the start of a buffer that is large enough.
fn dense(buffer: &mut [f32], (m, n): (usize, usize)) -> MatMut<'_, f32> {
    MatMut::from_col_major(buffer, m, n, m.max(1)).expect("a buffer for a block")
}

/// Converts a matrix to single precision. The result is stored as the matrix is, along rows or columns.
fn widened<'b, H: Half>(a: MatRef<'_, H>, buffer: &'b mut [f32]) -> MatRef<'b, f32> {
    if a.row_stride() > a.col_stride() {
        return widened(a.transpose(), buffer).transpose();
    }
    let mut wide = dense(buffer, a.shape());
    for j in 0..a.ncols() {
        match (a.col_as_slice(j), wide.col_as_slice_mut(j)) {
            (Some(from), Some(to)) => H::widen(from, to),
            _ => (0..a.nrows()).for_each(|i| wide[(i, j)] = a[(i, j)].to_single()),
        }
    }
    wide.into_ref()
}
