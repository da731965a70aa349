//! trsm, which mostly uses cuBLAS, and trmm, which uses a kernel of this crate, because cuBLAS does not specify whether
//! the zeros of the other triangle are multiplied by an Inf in B, which would give NaN.
//!
//! cuBLAS's trsm multiplies by reciprocals. A subnormal element on the diagonal whose reciprocal overflows (below
//! 2^-1024 in d, 2^-128 in s) therefore gives Inf or NaN, where the host's trsm divides.
//!
//! trmm multiplies a copy of B: first by the blocks on the diagonal, all in one launch, then by the blocks beside it.
//! These are twice as large from level to level, and each level is one batch.

use super::{
    elements::{copy, scale},
    factor,
    program::{Family, MULTIPLIED_COLUMNS, THREADS, triangle_order},
    stream::{Argument, Launch, Stream},
};
use crate::{
    Diag, Op, Scalar, Side, Uplo,
    device::Mat,
    operations::{Gemm, Triangular, TriangularAction},
};
use std::ops::Range;
use superscalar_runtime::DeviceError;

/// trmm or trsm on matrices in a device's heap.
pub(super) type Triangle<T> = Triangular<T, Mat<T>>;

/// Computes trmm or trsm; alpha = 0 does not read A.
pub(super) fn apply<T: Scalar>(stream: &mut Stream<'_, T>, triangle: &Triangle<T>) -> Result<(), DeviceError> {
    match triangle.b.shape() {
        (0, _) | (_, 0) => Ok(()),
        _ if triangle.alpha == T::ZERO => scale(stream, None, T::ZERO, triangle.b),
        _ if triangle.action == TriangularAction::Multiply => trmm(stream, triangle),
        _ => trsm(stream, triangle),
    }
}

/// Computes B := alpha op(A)⁻¹ B or alpha B op(A)⁻¹, for a B that is not empty.
fn trsm<T: Scalar>(stream: &mut Stream<'_, T>, triangle: &Triangle<T>) -> Result<(), DeviceError> {
    if factor::solves(triangle) { factor::solve(stream, triangle) } else { stream.trsm(triangle) }
}

/// Computes B := alpha op(A) B or alpha B op(A), for a B that is not empty.
fn trmm<T: Scalar>(stream: &mut Stream<'_, T>, triangle: &Triangle<T>) -> Result<(), DeviceError> {
    let Triangle { a, b, .. } = *triangle;
    let before = stream.scratch.mark();
    let w = stream.take::<T>(b.shape())?;
    copy(stream, Op::None, b, w)?;
    multiply_diagonal(stream, triangle, w)?;
    let mut order = triangle_order::<T>();
    while order < a.n {
        multiply_beside(stream, triangle, w, order)?;
        order *= 2;
    }
    stream.scratch.release(before);
    Ok(())
}

/// Returns whether op(A) is an upper triangle.
fn is_upper<T: Scalar>(triangle: &Triangle<T>) -> bool {
    (triangle.uplo == Uplo::Upper) == (triangle.op == Op::None)
}

/// Computes B := alpha D W or alpha W D for the blocks D on the diagonal of op(A).
fn multiply_diagonal<T: Scalar>(
    stream: &mut Stream<'_, T>,
    triangle: &Triangle<T>,
    w: Mat<T>,
) -> Result<(), DeviceError> {
    let Triangle { side, op, diag, alpha, a, b, .. } = *triangle;
    // From the right, compute the transpose Dᵀ Wᵀ.
    let is_right = side == Side::Right;
    let strides = |mat: Mat<T>| if is_right { [mat.ld, 1] } else { [1, mat.ld] }.map(Argument::index);
    let ([w_rows, w_columns], [b_rows, b_columns]) = (strides(w), strides(b));
    let columns = if is_right { b.m } else { b.n };
    stream.launch(Launch {
        family: Family::Triangle,
        kernel: "multiply",
        arguments: &[
            Argument::start(a),
            Argument::index(a.ld),
            Argument::index(a.n),
            Argument::code(((op != Op::None) != is_right).into()),
            Argument::code((op == Op::ConjTrans).into()),
            Argument::code((diag == Diag::Unit).into()),
            Argument::code((is_upper(triangle) != is_right).into()),
            Argument::start(w),
            w_rows,
            w_columns,
            Argument::start(b),
            b_rows,
            b_columns,
            Argument::index(columns),
            Argument::value(alpha),
        ],
        grid: [columns.div_ceil(MULTIPLIED_COLUMNS), 1, a.n.div_ceil(triangle_order::<T>())],
        threads: [THREADS, 1],
    })
}

/// Adds the products with the blocks of this order beside the diagonal.
fn multiply_beside<T: Scalar>(
    stream: &mut Stream<'_, T>,
    triangle: &Triangle<T>,
    w: Mat<T>,
    order: usize,
) -> Result<(), DeviceError> {
    let Triangle { side, op, alpha, a, b, .. } = *triangle;
    let (n, step) = (a.n, 2 * order);
    let product = |first: usize| {
        let (near, far) = (first..first + order, first + order..n.min(first + step));
        // The rows and columns of the block of op(A).
        let (rows, columns) = if is_upper(triangle) { (near, far) } else { (far, near) };
        let part = |mat: Mat<T>, range: Range<usize>| match side {
            Side::Left => mat.submatrix(range, 0..mat.n),
            Side::Right => mat.submatrix(0..mat.m, range),
        };
        let block = match op {
            Op::None => a.submatrix(rows.clone(), columns.clone()),
            Op::Trans | Op::ConjTrans => a.submatrix(columns.clone(), rows.clone()),
        };
        let (ops, a, b, c) = match side {
            Side::Left => ((op, Op::None), block, part(w, columns), part(b, rows)),
            Side::Right => ((Op::None, op), part(w, rows), block, part(b, columns)),
        };
        Gemm::new(ops, alpha, (a, b), T::ONE, c)
    };
    let full_blocks = n / step;
    if full_blocks > 0 {
        let diagonal = step * (a.ld + 1);
        let along = |mat: Mat<T>| if side == Side::Left { step } else { step * mat.ld };
        let (left_step, right_step) = if side == Side::Left { (diagonal, along(w)) } else { (along(w), diagonal) };
        stream.gemm_batch(&product(0), [left_step, right_step, along(b)], full_blocks)?;
    }
    if full_blocks * step + order < n { product(full_blocks * step).enqueue(stream) } else { Ok(()) }
}
