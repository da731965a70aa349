//! trsm, which is mostly cuBLAS's, and trmm, which is our own: cuBLAS does not say whether the zeros of the other triangle meet an Inf in B, and make
//! NaN of it. cuBLAS's trsm multiplies by reciprocals, so a subnormal element on the diagonal whose reciprocal overflows (below 2^-1024 in d, 2^-128
//! in s) gives Inf or NaN, where the host's divides.
//!
//! trmm multiplies a copy of B: first by the blocks on the diagonal, all in one launch, then by those beside it, each level as one batch, in
//! blocks twice as large from level to level.

use super::{
    blas::Batch,
    elements::{copy, scale},
    factor,
    product::Product,
    program::{Family, MULTIPLIED_COLUMNS, THREADS, triangle_order},
    stream::{Argument, Launch, Stream},
};
use crate::{
    Diag, Op, Scalar, Side, Uplo,
    device::{Mat, Triangle},
};
use std::ops::Range;
use superscalar_runtime::DeviceError;

/// B := alpha op(A)⁻¹ B or alpha B op(A)⁻¹; alpha = 0 does not read A.
pub(super) fn trsm<T: Scalar>(stream: &mut Stream<'_, T>, triangle: &Triangle<T>) -> Result<(), DeviceError> {
    match triangle.b.shape() {
        (0, _) | (_, 0) => Ok(()),
        _ if triangle.alpha == T::ZERO => scale(stream, None, T::ZERO, triangle.b),
        _ if factor::solves(triangle) => factor::solve(stream, triangle),
        _ => stream.trsm(triangle),
    }
}

/// B := alpha op(A) B or alpha B op(A); alpha = 0 does not read A.
pub(super) fn trmm<T: Scalar>(stream: &mut Stream<'_, T>, triangle: &Triangle<T>) -> Result<(), DeviceError> {
    let Triangle { alpha, a, b, .. } = *triangle;
    if b.m == 0 || b.n == 0 {
        return Ok(());
    }
    if alpha == T::ZERO {
        return scale(stream, None, T::ZERO, b);
    }
    let before = stream.mark();
    let w = stream.take::<T>(b.shape())?;
    copy(stream, Op::None, b, w)?;
    multiply_diagonal(stream, triangle, w)?;
    let mut order = triangle_order::<T>();
    while order < a.n {
        multiply_beside(stream, triangle, w, order)?;
        order *= 2;
    }
    stream.release(before);
    Ok(())
}

/// Whether op(A) is an upper triangle.
fn is_upper<T: Scalar>(triangle: &Triangle<T>) -> bool {
    (triangle.uplo == Uplo::Upper) == (triangle.op == Op::None)
}

/// B := alpha D W or alpha W D for the blocks D on the diagonal of op(A).
fn multiply_diagonal<T: Scalar>(
    stream: &mut Stream<'_, T>,
    triangle: &Triangle<T>,
    w: Mat<T>,
) -> Result<(), DeviceError> {
    let Triangle { side, op, diag, alpha, a, b, .. } = *triangle;
    // From the right it is Dᵀ Wᵀ.
    let is_right = side == Side::Right;
    let strides = |mat: Mat<T>| if is_right { [mat.ld, 1] } else { [1, mat.ld] }.map(Argument::place);
    let ([w_rows, w_columns], [b_rows, b_columns]) = (strides(w), strides(b));
    let columns = if is_right { b.m } else { b.n };
    stream.launch(Launch {
        family: Family::Triangle,
        kernel: "multiply",
        arguments: &[
            Argument::start(a),
            Argument::place(a.ld),
            Argument::place(a.n),
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
            Argument::place(columns),
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
        // The rows and the columns of the block of op(A).
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
        Product { ops, alpha, a, b, beta: T::ONE, c }
    };
    let whole = n / step;
    if whole > 0 {
        let Product { ops, a: left, b: right, c, .. } = product(0);
        let diagonal = step * (a.ld + 1);
        let along = |mat: Mat<T>| if side == Side::Left { step } else { step * mat.ld };
        let (left_step, right_step) = if side == Side::Left { (diagonal, along(w)) } else { (along(w), diagonal) };
        let operands = (Batch { first: left, stride: left_step }, Batch { first: right, stride: right_step });
        stream.gemm_batch(ops, alpha, operands, T::ONE, (Batch { first: c, stride: along(b) }, whole))?;
    }
    if whole * step + order < n { product(whole * step).run(stream) } else { Ok(()) }
}
