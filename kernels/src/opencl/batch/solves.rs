//! trsm and the interchanges of getrs for batches, and two small kernels for gels: one writes the table of its columns,
//! one finds zeros on the diagonal of R.

use super::{
    count_of, launch, launch_items,
    operand::{Operand, classes},
    outcomes,
};
use crate::opencl::{
    Program,
    elements::clear_status,
    program::batch_vectors,
    stream::{Argument, Stream},
};
use crate::{
    Diag, Direction, Scalar, Side, Uplo,
    operations::{BatchMat, BatchTriangle, Mat, Systems, class_of, interchange_outcome, op_code},
};
use std::ops::Range;
use superscalar_runtime::DeviceError;

/// The systems of one launch.
#[derive(Clone, Debug)]
struct SystemsPart<T> {
    a: Operand<T>,
    b: Operand<T>,
    outcomes: Argument,
    range: Range<usize>,
}

/// Solves with one triangle of each A.
pub(super) fn trsm<T: Scalar>(
    stream: &mut Stream<'_>,
    options: BatchTriangle<T>,
    systems: Systems<'_, T>,
) -> Result<(), DeviceError> {
    parts(systems).iter().try_for_each(|part| part.solve(stream, options))
}

/// Interchanges rows of each B. The task fails if an interchange is not within the rows.
pub(super) fn laswp<T: Scalar>(
    stream: &mut Stream<'_>,
    direction: Direction,
    ipiv: &BatchMat<i32>,
    systems: Systems<'_, T>,
) -> Result<(), DeviceError> {
    let status = clear_status(stream)?;
    parts(systems).iter().try_for_each(|part| part.interchange(stream, ipiv, status, direction))?;
    stream.set_outcome(status, interchange_outcome)
}

/// Divides the systems into those that a launch can solve without many idle groups.
fn parts<T: Scalar>(systems: Systems<'_, T>) -> Vec<SystemsPart<T>> {
    let Systems { a, b, outcomes } = systems;
    let key = |at| {
        let (m, n) = b.shape(at);
        class_of(m.max(n))
    };
    let part = |range: Range<usize>| SystemsPart {
        a: Operand::of(a, range.clone()),
        b: Operand::of(b, range.clone()),
        outcomes: outcomes.map_or(Argument::Stride(-1), |info| Argument::Offset(info.offset)),
        range,
    };
    classes(b.len(), b.layout().is_some(), key).into_iter().map(part).collect()
}

impl<T: Scalar> SystemsPart<T> {
    fn solve(&self, stream: &mut Stream<'_>, options: BatchTriangle<T>) -> Result<(), DeviceError> {
        let &Self { a, b, outcomes, ref range } = self;
        let BatchTriangle { side, uplo, op, diag, alpha } = options;
        let is_right = side == Side::Right;
        let (rows, columns) = b.first.shape();
        let vectors = if is_right { rows } else { columns };
        if a.first.n == 0 || vectors == 0 {
            return Ok(());
        }
        let (kernel, groups) = match vectors {
            1 => ("trsv", range.len()),
            _ => ("trsm", range.len().saturating_mul(vectors.div_ceil(batch_vectors(&stream.parameters)))),
        };
        let codes = [is_right.into(), (uplo == Uplo::Upper).into(), op_code(op), (diag == Diag::Unit).into()];
        let last = [Argument::element(alpha), outcomes];
        let arguments = [&a.numbers()[..], &b.numbers(), &codes.map(Argument::Code), &last].concat();
        launch(stream, (Program::BatchSolve, kernel), &arguments, groups)
    }

    /// Interchanges rows of B.
    fn interchange(
        &self,
        stream: &mut Stream<'_>,
        ipiv: &BatchMat<i32>,
        status: usize,
        direction: Direction,
    ) -> Result<(), DeviceError> {
        let &Self { b, outcomes, ref range, .. } = self;
        let ipiv = Operand::of(ipiv, range.clone());
        let is_backward = Argument::Code((direction == Direction::Backward).into());
        let last = [is_backward, outcomes, Argument::Offset(status), count_of(range)?];
        let arguments = [&ipiv.numbers()[..], &b.numbers(), &last].concat();
        let items = range.len().saturating_mul(b.first.n);
        launch_items(stream, (Program::BatchSolve, "laswp"), &arguments, items)
    }
}

/// Writes the table of the columns of gels: see [`BatchKernels::write_column_table`].
///
/// [`BatchKernels::write_column_table`]: crate::operations::BatchKernels::write_column_table
pub(super) fn write_column_table<T: Scalar>(
    stream: &mut Stream<'_>,
    a: &BatchMat<T>,
    rows: usize,
    table: Mat<i64>,
) -> Result<(), DeviceError> {
    let last = [Argument::Offset(rows), Argument::Offset(table.offset), count_of(&(0..a.len()))?];
    let arguments = [&Operand::of(a, 0..a.len()).numbers()[..], &last].concat();
    launch_items(stream, (Program::BatchSolve, "column_table"), &arguments, a.len())
}

/// Finds the first zero on the diagonal of each R, which is the problem's outcome.
pub(super) fn find_zeros<T: Scalar>(
    stream: &mut Stream<'_>,
    r: &BatchMat<T>,
    info: Option<Mat<i32>>,
) -> Result<(), DeviceError> {
    let (all, r) = (0..r.len(), Operand::of(r, 0..r.len()));
    let arguments = [&r.numbers()[..], &[outcomes(info), count_of(&all)?]].concat();
    launch_items(stream, (Program::BatchSolve, "find_zero"), &arguments, all.len())
}
