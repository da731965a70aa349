//! Aᴴ B for matrices with many more rows than columns, as block reflectors need it. The result has few tiles, and one
//! group for each would leave a GPU idle. So the rows are cut into slices, too, and the products of all slices are
//! added up.

use super::{
    Parameters, Program,
    product::{Product, Slices},
    stream::{Argument, Launch, Stream},
    view::{Structure, View},
};
use crate::Scalar;
use superscalar_runtime::DeviceError;

/// The order of the blocks of the result by which slices are counted. Kernels may have other tiles.
const BLOCK: usize = 64;
/// About how many groups occupy a GPU.
const GROUPS: usize = 256;
/// The most slices, and the least rows of each.
const SLICES_MAX: usize = 64;
const ROWS_MIN: usize = 64;

/// Returns whether a kernel cuts the rows: the one for factors that are not packed. A device whose groups are single
/// work-items is a core of a CPU, which one group occupies.
fn has_slices(parameters: &Parameters) -> bool {
    parameters.work_items > 1 && parameters.check_direct().is_ok()
}

/// Computes Y := Aᴴ B, for a Y without gaps.
pub(super) fn adjoint_product<T: Scalar>(
    stream: &mut Stream<'_>,
    a: View,
    b: View,
    y: View,
) -> Result<(), DeviceError> {
    let (m, k, n) = (a.m, a.n, b.n);
    let product = Product { beta: T::ZERO, ..Product::adding(T::ONE, a.transpose().conj(), b, y) };
    let blocks = k.div_ceil(BLOCK) * n.div_ceil(BLOCK);
    let slices = (GROUPS / blocks.max(1)).min(SLICES_MAX).min(m / ROWS_MIN);
    let are_readable =
        [a, b].iter().all(|factor| matches!(factor.structure, Structure::General | Structure::UnitTriangle(_)));
    if slices < 2 || !are_readable || !has_slices(&stream.parameters) {
        return product.run(stream);
    }
    let steps = m.div_ceil(slices);
    let slices = m.div_ceil(steps);
    let before = stream.scratch.mark();
    let parts = stream.scratch.take::<T>(slices * k * n)?;
    let part = Product { c: View { at: parts, ..y }, ..product };
    part.multiply_direct(stream, Slices { steps, apart: k * n })?;
    let lanes = stream.parameters.work_items;
    stream.launch(Launch {
        program: Program::Tall,
        kernel: "add_parts",
        arguments: &[Argument::Offset(parts), Argument::Count(slices), Argument::Offset(y.at), Argument::Count(k * n)],
        groups: [(k * n).div_ceil(lanes), 1],
        local: [lanes, 1],
    })?;
    stream.scratch.release(before);
    Ok(())
}
