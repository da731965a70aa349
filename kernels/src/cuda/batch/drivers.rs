//! posv, gesv and gels for batches: the routines that factor and solve.

use super::{
    cholesky, count_of, lu,
    operand::Operand,
    outcomes, qr,
    solves::{self, Systems, TriangleOptions},
};
use crate::cuda::{
    program::Family,
    stream::{Argument, Launch, Stream},
};
use crate::{
    Diag, Op, Scalar, Side, Uplo,
    operations::{BatchMat, BatchShapes, Mat, TABLE_ROWS, column_layout},
};
use std::sync::Arc;
use superscalar_runtime::DeviceError;

/// Threads of a block of the kernels of `text/batch_gels.cu`.
const THREADS: usize = 128;

/// Factors each A and solves A X = B where that succeeds.
pub(super) fn posv<T: Scalar>(
    stream: &mut Stream<'_, T>,
    uplo: Uplo,
    [a, b]: [&BatchMat<T>; 2],
    info: Option<Mat<i32>>,
) -> Result<(), DeviceError> {
    cholesky::potrf(stream, uplo, a, info)?;
    solves::potrs(stream, uplo, Systems { a, b, outcomes: info })
}

/// Factors each A with interchanges and solves A X = B where that succeeds.
pub(super) fn gesv<T: Scalar>(
    stream: &mut Stream<'_, T>,
    [a, b]: [&BatchMat<T>; 2],
    ipiv: Option<&BatchMat<i32>>,
    info: Option<Mat<i32>>,
) -> Result<(), DeviceError> {
    lu::getrf(stream, a, ipiv, info)?;
    solves::getrs(stream, Op::None, ipiv, Systems { a, b, outcomes: info })
}

/// Computes the X that minimises ‖A X − B‖ of each problem. No A has fewer rows than columns.
pub(super) fn gels<T: Scalar>(
    stream: &mut Stream<'_, T>,
    [a, b]: [&BatchMat<T>; 2],
    info: Option<Mat<i32>>,
) -> Result<(), DeviceError> {
    let problems = if a.layout().is_some() { a.len() } else { a.len().min(1) };
    if (0..problems).any(|at| a.shape(at).0 < a.shape(at).1) {
        return Err(DeviceError::new("gels: this backend has no batches of matrices with fewer rows than columns"));
    }
    if a.is_empty() {
        return Ok(());
    }
    let before = stream.scratch.mark();
    let tau = columns(stream, a)?;
    qr::geqrf(stream, a, &tau)?;
    qr::unmqr(stream, Op::ConjTrans, (a, &tau), b)?;
    find_zeros(stream, a, info)?;
    let (side, uplo, op, diag, alpha) = (Side::Left, Uplo::Upper, Op::None, Diag::NonUnit, T::ONE);
    solves::trsm(stream, TriangleOptions { side, uplo, op, diag, alpha }, Systems { a, b, outcomes: info })?;
    stream.scratch.release(before);
    Ok(())
}

/// Takes a column in scratch for each A, with an element for each of its columns. If shapes differ, a kernel writes the
/// table of the columns.
fn columns<T: Scalar>(stream: &mut Stream<'_, T>, a: &BatchMat<T>) -> Result<BatchMat<T>, DeviceError> {
    let (count, rows) = (a.len(), a.first.n.max(1));
    let all = stream.take::<T>((rows, count))?;
    let Some(layout) = a.layout() else {
        let first = Mat::at(all.offset, (a.first.n, 1), rows);
        return Ok(BatchMat { first, shapes: BatchShapes::Uniform { stride: rows, count } });
    };
    let layout = column_layout(layout, rows).map_err(DeviceError::new)?;
    let table = stream.take::<i64>((TABLE_ROWS, count))?;
    let last = [Argument::index(rows), Argument::start(table), count_of(&(0..count))?];
    stream.launch(Launch {
        family: Family::BatchSolve,
        kernel: "column_table",
        arguments: &[&Operand::of(a, 0..count).arguments()[..], &last].concat(),
        grid: [count.div_ceil(THREADS), 1, 1],
        threads: [THREADS, 1],
    })?;
    let first = Mat::at(all.offset, layout.largest(), rows);
    Ok(BatchMat { first, shapes: BatchShapes::Varied { layout: Arc::new(layout), table } })
}

/// Finds the first zero on the diagonal of each R, which is the problem's outcome.
fn find_zeros<T: Scalar>(
    stream: &mut Stream<'_, T>,
    a: &BatchMat<T>,
    info: Option<Mat<i32>>,
) -> Result<(), DeviceError> {
    let r = Operand::of(a, 0..a.len());
    let last = [outcomes(info, &r, &(0..a.len())), count_of(&(0..a.len()))?];
    stream.launch(Launch {
        family: Family::BatchSolve,
        kernel: "find_zero",
        arguments: &[&r.arguments()[..], &last].concat(),
        grid: [a.len().div_ceil(THREADS / 32), 1, 1],
        threads: [THREADS, 1],
    })
}
