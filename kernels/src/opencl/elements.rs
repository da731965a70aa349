//! Operations that touch each element once: scale, copy, transposition, sum, and interchanges of rows.

use super::{
    Program,
    program::{TRANSPOSED_BLOCK, interchanged_columns},
    stream::{Argument, Launch, Stream},
    view::{View, part_code},
};
use crate::{
    Direction, Op, Scalar, Symmetry, Uplo,
    device::Mat,
    operations::{Geadd, Laswp},
};
use std::ops::Range;
use superscalar_runtime::DeviceError;

/// Computes A := beta A, or one triangle of it. For a Hermitian matrix the diagonal is made real.
pub(super) fn scale<T: Scalar>(
    stream: &mut Stream<'_>,
    part: Option<(Symmetry, Uplo)>,
    beta: T,
    a: View,
) -> Result<(), DeviceError> {
    let beta = part.map_or(beta, |(symmetry, _)| symmetry.factor(beta));
    let is_hermitian = T::COMPLEX && part.is_some_and(|(symmetry, _)| symmetry == Symmetry::Hermitian);
    if a.m == 0 || a.n == 0 || (beta == T::ONE && !is_hermitian) {
        return Ok(());
    }
    if a.rs != 1 {
        return scale(stream, part.map(|(symmetry, uplo)| (symmetry, uplo.flip())), beta, a.transpose());
    }
    stream.launch(Launch {
        program: Program::Elements,
        kernel: "scale",
        arguments: &[
            Argument::Offset(a.at),
            Argument::Offset(a.cs),
            Argument::Count(a.m),
            Argument::Code(part_code(part.map(|(_, uplo)| uplo))),
            Argument::Code(is_hermitian.into()),
            Argument::element(beta),
        ],
        groups: [1, a.n],
        local: [stream.parameters.work_items, 1],
    })
}

/// Computes B := op(A).
pub(super) fn copy<T: Scalar>(stream: &mut Stream<'_>, op: Op, a: Mat<T>, b: Mat<T>) -> Result<(), DeviceError> {
    let [from, ld_from, to, ld_to] = [a.offset, a.ld, b.offset, b.ld].map(Argument::Offset);
    let local = [stream.parameters.work_items, 1];
    if op == Op::None {
        let arguments = &[from, ld_from, to, ld_to, Argument::Count(a.m)];
        let groups = [usize::from(a.m > 0), a.n];
        return stream.launch(Launch { program: Program::Elements, kernel: "copy", arguments, groups, local });
    }
    let conj = Argument::Code((op == Op::ConjTrans).into());
    let arguments = &[from, ld_from, to, ld_to, Argument::Count(a.m), Argument::Count(a.n), conj];
    let groups = [a.m, a.n].map(|size| size.div_ceil(TRANSPOSED_BLOCK));
    stream.launch(Launch { program: Program::Elements, kernel: "transpose", arguments, groups, local })
}

/// Computes B := alpha op(A) + beta B.
pub(super) fn add<T: Scalar>(stream: &mut Stream<'_>, sum: Geadd<T, Mat<T>>) -> Result<(), DeviceError> {
    let Geadd { op, alpha, a, beta, b } = sum;
    if alpha == T::ZERO {
        return scale(stream, None, beta, View::of(b));
    }
    let [from, ld_from, to, ld_to] = [a.offset, a.ld, b.offset, b.ld].map(Argument::Offset);
    let (alpha, beta) = (Argument::element(alpha), Argument::element(beta));
    let (program, local) = (Program::Elements, [stream.parameters.work_items, 1]);
    if op == Op::None {
        let arguments = &[from, ld_from, to, ld_to, Argument::Count(a.m), alpha, beta];
        let groups = [usize::from(a.m > 0), a.n];
        return stream.launch(Launch { program, kernel: "geadd", arguments, groups, local });
    }
    let conj = Argument::Code((op == Op::ConjTrans).into());
    let arguments = &[from, ld_from, to, ld_to, Argument::Count(a.m), Argument::Count(a.n), conj, alpha, beta];
    let groups = [a.m, a.n].map(|size| size.div_ceil(TRANSPOSED_BLOCK));
    stream.launch(Launch { program, kernel: "geadd_transposed", arguments, groups, local })
}

/// Makes the interchanges of successive blocks of rows, forward or backward. The task fails if an index is outside of
/// A.
pub(super) fn laswp<T: Scalar>(
    stream: &mut Stream<'_>,
    &Laswp { a, first, ref ipiv, direction }: &Laswp<T>,
) -> Result<(), DeviceError> {
    if a.m == 0 || a.n == 0 || ipiv.iter().all(|one| one.m == 0 || one.n == 0) {
        return Ok(());
    }
    let status = clear_status(stream)?;
    // Each block of interchanges, with the number of rows above it.
    let mut blocks = Vec::with_capacity(ipiv.len());
    let mut above = first;
    for one in ipiv {
        blocks.push((above, one));
        above += one.m * one.n;
    }
    if direction == Direction::Backward {
        blocks.reverse();
    }
    for (first, one) in blocks {
        interchange(stream, (a, 0..0), (first, *one), direction, status)?;
    }
    let m = a.m;
    stream.set_outcome(status, move |row| match row {
        0 => Ok(()),
        row => Err(DeviceError::new(format!("laswp: the interchange of row {row} is outside of {m} rows"))),
    })
}

/// Makes the interchanges of rows from `first` on, in all columns of A except for `skipped` ones. `status` receives the
/// number of a row, counted from one, whose interchange is outside of A.
pub(super) fn interchange<T>(
    stream: &mut Stream<'_>,
    (a, skipped): (Mat<T>, Range<usize>),
    (first, ipiv): (usize, Mat<i32>),
    direction: Direction,
    status: usize,
) -> Result<(), DeviceError> {
    let (lanes, columns) = (stream.parameters.work_items, interchanged_columns(&stream.parameters));
    let (n, count) = (a.n - skipped.len(), ipiv.m * ipiv.n);
    stream.launch(Launch {
        program: Program::Elements,
        kernel: "laswp",
        arguments: &[
            Argument::Offset(a.offset),
            Argument::Offset(a.ld),
            Argument::Count(a.m),
            Argument::Count(n),
            Argument::Count(skipped.start),
            Argument::Count(skipped.len()),
            Argument::Count(first),
            Argument::Offset(ipiv.offset),
            Argument::Count(count),
            Argument::Code((direction == Direction::Backward).into()),
            Argument::Offset(status),
        ],
        groups: [n.div_ceil(columns), usize::from(count > 0)],
        local: [lanes, 1],
    })
}

/// Takes an `int` in scratch and clears it. Returns its offset, counted in `int`s.
pub(super) fn clear_status(stream: &mut Stream<'_>) -> Result<usize, DeviceError> {
    let status = stream.scratch.take::<i32>(1)?;
    clear(stream, status)?;
    Ok(status)
}

/// Clears an `int`.
pub(super) fn clear(stream: &mut Stream<'_>, at: usize) -> Result<(), DeviceError> {
    let arguments = &[Argument::Offset(at)];
    stream.launch(Launch { program: Program::Elements, kernel: "clear", arguments, groups: [1, 1], local: [1, 1] })
}
