//! The non-blocking forms: each inserts a task for every chunk and returns.
//!
//! They panic if the operands are cut into different chunks, if the shapes of a problem do not match, if an operand
//! that is written is read-only, or for [`Op::Trans`] in unmqr of a complex type. If a batch is named twice and not
//! only for reading, its task is refused, and the scope is cancelled. [`Chunked`] has an example.

use super::{
    Chunked, ChunkedInfo,
    engine::{self, ChunkedOperands},
};
use crate::Scalar;
use superscalar_kernels::{Diag, Op, Side, Uplo, operations::BatchOperation};
use superscalar_macros::each_type;
use superscalar_runtime::Scope;

/// Inserts the tasks of [`gemm`](fn@super::gemm).
#[each_type]
#[track_caller]
#[allow(clippy::too_many_arguments)]
pub fn gemm<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    alpha: T,
    op_a: Op,
    a: &Chunked<'s, T>,
    op_b: Op,
    b: &Chunked<'s, T>,
    beta: T,
    c: &Chunked<'s, T>,
) {
    let operation = BatchOperation::Gemm { ops: (op_a, op_b), alpha, beta };
    engine::spawn(s, operation, ChunkedOperands { read: vec![a, b], updated: vec![c], ..ChunkedOperands::default() });
}

/// Inserts the tasks of [`gemv`](fn@super::gemv).
#[each_type]
#[track_caller]
#[allow(clippy::too_many_arguments)]
pub fn gemv<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    alpha: T,
    op: Op,
    a: &Chunked<'s, T>,
    x: &Chunked<'s, T>,
    beta: T,
    y: &Chunked<'s, T>,
) {
    assert!(x.are_columns(), "gemv: a vector has several columns or none");
    gemm(s, alpha, op, a, Op::None, x, beta, y);
}

/// Inserts the tasks of [`trsm`](fn@super::trsm).
#[each_type]
#[track_caller]
#[allow(clippy::too_many_arguments)]
pub fn trsm<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    side: Side,
    uplo: Uplo,
    op: Op,
    diag: Diag,
    alpha: T,
    a: &Chunked<'s, T>,
    b: &Chunked<'s, T>,
) {
    let operation = BatchOperation::Trsm { side, uplo, op, diag, alpha };
    engine::spawn(s, operation, ChunkedOperands { read: vec![a], updated: vec![b], ..ChunkedOperands::default() });
}

/// Inserts the tasks of [`trsv`](fn@super::trsv).
#[each_type]
#[track_caller]
pub fn trsv<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    uplo: Uplo,
    op: Op,
    diag: Diag,
    a: &Chunked<'s, T>,
    x: &Chunked<'s, T>,
) {
    assert!(x.are_columns(), "trsv: a vector has several columns or none");
    trsm(s, Side::Left, uplo, op, diag, T::ONE, a, x);
}

/// Inserts the tasks of [`potrf`](fn@super::potrf). `info` receives the outcome of each problem.
#[each_type]
#[track_caller]
pub fn potrf<'s, T: Scalar>(s: &'s Scope<'s, '_>, uplo: Uplo, a: &Chunked<'s, T>, info: &ChunkedInfo<'s>) {
    let operands = ChunkedOperands { updated: vec![a], info: vec![info], ..ChunkedOperands::default() };
    engine::spawn(s, BatchOperation::Potrf { uplo }, operands);
}

/// Inserts the tasks of [`potrs`](fn@super::potrs).
#[each_type]
#[track_caller]
pub fn potrs<'s, T: Scalar>(s: &'s Scope<'s, '_>, uplo: Uplo, a: &Chunked<'s, T>, b: &Chunked<'s, T>) {
    let operands = ChunkedOperands { read: vec![a], updated: vec![b], ..ChunkedOperands::default() };
    engine::spawn(s, BatchOperation::Potrs { uplo }, operands);
}

/// Inserts the tasks of [`posv`](fn@super::posv). `info` receives the outcome of each problem.
#[each_type]
#[track_caller]
pub fn posv<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    uplo: Uplo,
    a: &Chunked<'s, T>,
    b: &Chunked<'s, T>,
    info: &ChunkedInfo<'s>,
) {
    let operands = ChunkedOperands { updated: vec![a, b], info: vec![info], ..ChunkedOperands::default() };
    engine::spawn(s, BatchOperation::Posv { uplo }, operands);
}

/// Inserts the tasks of [`getrf`](fn@super::getrf). `info` receives the outcome of each problem.
#[each_type]
#[track_caller]
pub fn getrf<'s, T: Scalar>(s: &'s Scope<'s, '_>, a: &Chunked<'s, T>, ipiv: &Chunked<'s, i32>, info: &ChunkedInfo<'s>) {
    let operands = ChunkedOperands {
        updated: vec![a],
        pivots_written: vec![ipiv],
        info: vec![info],
        ..ChunkedOperands::default()
    };
    engine::spawn(s, BatchOperation::Getrf, operands);
}

/// Inserts the tasks of [`getrf_nopiv`](fn@super::getrf_nopiv). `info` receives the outcome of each problem.
#[each_type]
#[track_caller]
pub fn getrf_nopiv<'s, T: Scalar>(s: &'s Scope<'s, '_>, a: &Chunked<'s, T>, info: &ChunkedInfo<'s>) {
    let operands = ChunkedOperands { updated: vec![a], info: vec![info], ..ChunkedOperands::default() };
    engine::spawn(s, BatchOperation::GetrfNopiv, operands);
}

/// Inserts the tasks of [`getrs`](fn@super::getrs). An interchange that is out of range makes its task fail.
#[each_type]
#[track_caller]
pub fn getrs<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    op: Op,
    a: &Chunked<'s, T>,
    ipiv: &Chunked<'s, i32>,
    b: &Chunked<'s, T>,
) {
    let operands =
        ChunkedOperands { read: vec![a], updated: vec![b], pivots_read: vec![ipiv], ..ChunkedOperands::default() };
    engine::spawn(s, BatchOperation::Getrs { op }, operands);
}

/// Inserts the tasks of [`gesv`](fn@super::gesv). `info` receives the outcome of each problem.
#[each_type]
#[track_caller]
pub fn gesv<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    a: &Chunked<'s, T>,
    ipiv: &Chunked<'s, i32>,
    b: &Chunked<'s, T>,
    info: &ChunkedInfo<'s>,
) {
    let operands = ChunkedOperands {
        updated: vec![a, b],
        pivots_written: vec![ipiv],
        info: vec![info],
        ..ChunkedOperands::default()
    };
    engine::spawn(s, BatchOperation::Gesv, operands);
}

/// Inserts the tasks of [`geqrf`](fn@super::geqrf).
#[each_type]
#[track_caller]
pub fn geqrf<'s, T: Scalar>(s: &'s Scope<'s, '_>, a: &Chunked<'s, T>, tau: &Chunked<'s, T>) {
    let operands = ChunkedOperands { updated: vec![a], written: vec![tau], ..ChunkedOperands::default() };
    engine::spawn(s, BatchOperation::Geqrf, operands);
}

/// Inserts the tasks of [`ungqr`](fn@super::ungqr).
#[each_type]
#[track_caller]
pub fn ungqr<'s, T: Scalar>(s: &'s Scope<'s, '_>, a: &Chunked<'s, T>, tau: &Chunked<'s, T>) {
    let operands = ChunkedOperands { read: vec![tau], updated: vec![a], ..ChunkedOperands::default() };
    engine::spawn(s, BatchOperation::Ungqr, operands);
}

/// Inserts the tasks of [`unmqr`](fn@super::unmqr).
#[each_type]
#[track_caller]
pub fn unmqr<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    op: Op,
    a: &Chunked<'s, T>,
    tau: &Chunked<'s, T>,
    c: &Chunked<'s, T>,
) {
    let operands = ChunkedOperands { read: vec![a, tau], updated: vec![c], ..ChunkedOperands::default() };
    engine::spawn(s, BatchOperation::Unmqr { op }, operands);
}

/// Inserts the tasks of [`gels`](fn@super::gels). `info` receives the outcome of each problem.
#[each_type]
#[track_caller]
pub fn gels<'s, T: Scalar>(s: &'s Scope<'s, '_>, a: &Chunked<'s, T>, b: &Chunked<'s, T>, info: &ChunkedInfo<'s>) {
    let operands = ChunkedOperands { updated: vec![a, b], info: vec![info], ..ChunkedOperands::default() };
    engine::spawn(s, BatchOperation::Gels, operands);
}

/// Inserts the tasks of [`gebrd`](fn@super::gebrd).
#[each_type]
#[track_caller]
pub fn gebrd<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    a: &Chunked<'s, T>,
    d: &Chunked<'s, T::Real>,
    e: &Chunked<'s, T::Real>,
    tauq: &Chunked<'s, T>,
    taup: &Chunked<'s, T>,
) {
    let operands = ChunkedOperands {
        updated: vec![a],
        written: vec![tauq, taup],
        reals: vec![d, e],
        ..ChunkedOperands::default()
    };
    engine::spawn(s, BatchOperation::Gebrd, operands);
}
