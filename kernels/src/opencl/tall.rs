//! Aᴴ B for matrices with many more rows than columns, as block reflectors need it. The result has few tiles, and one
//! group for each would leave a GPU idle. So the rows are divided among groups, too.

use super::{
    Parameters, Program,
    product::Product,
    stream::{Argument, Launch, Stream},
    view::{Structure, View},
};
use crate::{Scalar, Uplo};
use superscalar_runtime::DeviceError;

/// The order of a group's tile of the result.
pub(super) const TALL_TILE: usize = 32;
/// The rows that a group has in local memory at a time. With its tile they take at most 17 KiB.
pub(super) const TALL_DEPTH: usize = 16;
/// About how many groups occupy a GPU.
const GROUPS: usize = 256;
/// The most parts of an element of the result, and the least rows of each.
const PARTS_MAX: usize = 64;
const ROWS_MIN: usize = 64;

/// Returns whether there are kernels that divide rows. A device whose groups are single work-items is a core of a CPU,
/// which one group occupies.
pub(super) fn has_tall_products(parameters: &Parameters) -> bool {
    parameters.work_items > 1
}

/// Computes Y := Aᴴ B, for a Y without gaps.
pub(super) fn adjoint_product<T: Scalar>(
    stream: &mut Stream<'_>,
    a: View,
    b: View,
    y: View,
) -> Result<(), DeviceError> {
    let (m, k, n) = (a.m, a.n, b.n);
    let tiles = k.div_ceil(TALL_TILE) * n.div_ceil(TALL_TILE);
    let parts = (GROUPS / tiles.max(1)).min(PARTS_MAX).min(m / ROWS_MIN);
    let forms = [a, b].map(is_unit);
    let ([Some(is_a_unit), Some(is_b_unit)], 2.., true) = (forms, parts, has_tall_products(&stream.parameters)) else {
        return Product { beta: T::ZERO, ..Product::adding(T::ONE, a.transpose().conj(), b, y) }.run(stream);
    };
    let rows = m.div_ceil(parts).next_multiple_of(TALL_DEPTH);
    let parts = m.div_ceil(rows);
    let before = stream.scratch.mark();
    let at = stream.scratch.take::<T>(parts * k * n)?;
    let lanes = stream.parameters.work_items;
    stream.launch(Launch {
        program: Program::Tall,
        kernel: "multiply_rows",
        arguments: &[
            Argument::Offset(a.at),
            Argument::Offset(a.cs),
            Argument::Code(is_a_unit.into()),
            Argument::Offset(b.at),
            Argument::Offset(b.cs),
            Argument::Code(is_b_unit.into()),
            Argument::Count(m),
            Argument::Count(k),
            Argument::Count(n),
            Argument::Count(rows),
            Argument::Offset(at),
        ],
        groups: [parts, tiles],
        local: [lanes, 1],
    })?;
    stream.launch(Launch {
        program: Program::Tall,
        kernel: "add_parts",
        arguments: &[Argument::Offset(at), Argument::Count(parts), Argument::Offset(y.at), Argument::Count(k * n)],
        groups: [(k * n).div_ceil(lanes), 1],
        local: [lanes, 1],
    })?;
    stream.scratch.release(before);
    Ok(())
}

/// Returns whether a matrix of adjacent rows is unit lower trapezoidal; `None` if it is something else than that or a
/// general matrix.
fn is_unit(view: View) -> Option<bool> {
    let is_unit = match view.structure {
        Structure::General => false,
        Structure::UnitTriangle(Uplo::Lower) => true,
        _ => return None,
    };
    (view.rs == 1 && !view.conj).then_some(is_unit)
}
