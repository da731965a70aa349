//! getrf, with pivots and without.

use super::{
    PanelKernel, class_of, count_of,
    operand::{Operand, classes},
    outcomes, panel_pitch,
};
use crate::cuda::{
    program::{BATCH_BLOCK_THREADS, Family, batch_row_threads},
    stream::{Launch, Stream},
};
use crate::{
    Scalar,
    operations::{BatchMat, Mat},
};
use superscalar_runtime::DeviceError;

/// Up to this many rows, a panel of 16 columns is faster in f64 than one of 32.
const NARROW_ROWS_MAX: usize = 128;

/// Computes P L U = A of each problem, or L U = A if there is no place for interchanges, and its outcome.
pub(super) fn getrf<T: Scalar>(
    stream: &mut Stream<'_, T>,
    a: &BatchMat<T>,
    ipiv: Option<&BatchMat<i32>>,
    info: Option<Mat<i32>>,
) -> Result<(), DeviceError> {
    let key = |at| {
        let (m, n) = a.shape(at);
        class_of(m.max(n))
    };
    for range in classes(a.len(), a.layout().is_some(), key) {
        let part = Operand::of(a, range.clone());
        let mut arguments = part.arguments().to_vec();
        arguments.extend(ipiv.into_iter().flat_map(|ipiv| Operand::of(ipiv, range.clone()).arguments()));
        arguments.extend([outcomes(info), count_of(&range)?]);
        let (m, n) = part.first.shape();
        let order = class_of(m.max(n));
        if order <= 32 {
            let kernel = match (order, ipiv.is_some()) {
                (8, true) => "getrf_rows_8",
                (16, true) => "getrf_rows_16",
                (_, true) => "getrf_rows_32",
                (8, false) => "getrf_nopiv_rows_8",
                (16, false) => "getrf_nopiv_rows_16",
                (_, false) => "getrf_nopiv_rows_32",
            };
            let threads = batch_row_threads::<T>();
            let grid = [range.len().div_ceil(threads / order), 1, 1];
            let family = Family::BatchRows;
            stream.launch(Launch { family, kernel, arguments: &arguments, grid, threads: [threads, 1] })?;
        } else {
            let kernels = kernels::<T>(m, ipiv.is_some());
            PanelKernel::first_of(stream, &kernels)?.launch(stream, [range.len(), 1], &arguments)?;
        }
    }
    Ok(())
}

/// Returns the kernels for this many rows, the fastest first. A wider panel is faster for many rows, but needs more
/// shared memory.
fn kernels<T: Scalar>(m: usize, has_pivots: bool) -> Vec<PanelKernel> {
    let widths = match has_pivots {
        true => [(32, "getrf_block_32"), (16, "getrf_block_16"), (8, "getrf_block_8")],
        false => [(32, "getrf_nopiv_block_32"), (16, "getrf_nopiv_block_16"), (8, "getrf_nopiv_block_8")],
    };
    let is_narrow = size_of::<T::Real>() == 8 && m <= NARROW_ROWS_MAX;
    let exists = |width: usize| width < 32 || (!T::COMPLEX && !is_narrow);
    let kernel = |(width, kernel)| PanelKernel {
        family: Family::BatchLu,
        kernel,
        threads: m.next_multiple_of(32).clamp(64, BATCH_BLOCK_THREADS),
        // The panel, and two orders of its rows.
        shared_bytes: panel_pitch::<T>(m) * width * size_of::<T>() + 2 * m * size_of::<i32>(),
    };
    widths.into_iter().filter(|&(width, _)| exists(width)).map(kernel).collect()
}
