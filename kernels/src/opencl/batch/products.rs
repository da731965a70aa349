//! gemm for batches, with gemv.

use super::{
    count_of, launch, launch_items,
    operand::{Operand, classes},
};
use crate::opencl::{
    Program,
    program::{BATCH_DOT_COLUMNS, batch_item_rows, batch_tile},
    stream::{Argument, Stream},
};
use crate::{
    Op, Scalar,
    operations::{BatchMat, op_code},
};
use superscalar_runtime::DeviceError;

/// The most rows and columns of C for which a work-item computes one element, on devices with groups of several.
const TINY_ORDER_MAX: usize = 16;

/// Computes C := alpha op(A) op(B) + beta C for each problem.
pub(super) fn gemm<T: Scalar>(
    stream: &mut Stream<'_>,
    (ops, alpha, beta): ((Op, Op), T, T),
    [a, b]: [&BatchMat<T>; 2],
    c: &BatchMat<T>,
) -> Result<(), DeviceError> {
    let tile = batch_tile(&stream.parameters);
    let tiles = |(m, n): (usize, usize)| m.div_ceil(tile).saturating_mul(n.div_ceil(tile));
    let key = |at| match c.shape(at) {
        (m, n) if m.max(n) <= TINY_ORDER_MAX => 0,
        // More than four times as many tiles are another class, so that few groups of a launch have no work.
        shape => 1 + tiles(shape).max(1).ilog2() as usize / 2,
    };
    for range in classes(c.len(), c.layout().is_some(), key) {
        let count = range.len();
        let of = |batch| Operand::of(batch, range.clone());
        let [a, b, c] = [of(a), of(b), of(c)];
        let (m, n) = c.first.shape();
        let options = [op_code(ops.0), op_code(ops.1)].map(Argument::Code);
        let factors = [alpha, beta].map(Argument::element);
        let last = [count_of(&range)?];
        let arguments = [&a.numbers()[..], &b.numbers(), &c.numbers(), &options, &factors, &last].concat();
        let is_tiny = stream.parameters.work_items > 1 && m.max(n) <= TINY_ORDER_MAX;
        let of_program = |kernel| (Program::BatchGemm, kernel);
        match (n, ops.0) {
            (1, Op::None) => {
                let items = count.saturating_mul(m.div_ceil(batch_item_rows(&stream.parameters)));
                launch_items(stream, of_program("gemv_n"), &arguments, items)?;
            }
            (1, _) => {
                let groups = count.saturating_mul(m.div_ceil(BATCH_DOT_COLUMNS));
                launch(stream, of_program("gemv_t"), &arguments, groups)?;
            }
            _ if is_tiny => {
                launch_items(stream, of_program("gemm_tiny"), &arguments, count.saturating_mul(m).saturating_mul(n))?;
            }
            _ => launch(stream, of_program("gemm"), &arguments, count.saturating_mul(tiles((m, n))))?,
        }
    }
    Ok(())
}
