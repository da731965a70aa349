//! potrf.

use super::{
    PanelKernel, class_of, count_of,
    operand::{Operand, classes},
    outcomes, panel_pitch,
};
use crate::cuda::{
    program::{BATCH_BLOCK_THREADS, Family, batch_row_threads},
    stream::{Argument, Launch, Stream},
};
use crate::{
    Scalar, Uplo,
    operations::{BatchMat, Mat},
};
use superscalar_runtime::DeviceError;

/// Computes A = L Lᴴ or Uᴴ U of each problem, and its outcome.
pub(super) fn potrf<T: Scalar>(
    stream: &mut Stream<'_, T>,
    uplo: Uplo,
    a: &BatchMat<T>,
    info: Option<Mat<i32>>,
) -> Result<(), DeviceError> {
    for range in classes(a.len(), a.layout().is_some(), |at| class_of(a.shape(at).1)) {
        let part = Operand::of(a, range.clone());
        let is_upper = Argument::code((uplo == Uplo::Upper).into());
        let mut arguments = part.arguments().to_vec();
        arguments.extend([is_upper, outcomes(info), count_of(&range)?]);
        let n = part.first.n;
        let order = class_of(n);
        if order <= 32 {
            let kernel = match order {
                8 => "potrf_rows_8",
                16 => "potrf_rows_16",
                _ => "potrf_rows_32",
            };
            let threads = batch_row_threads::<T>();
            let grid = [range.len().div_ceil(threads / order), 1, 1];
            let family = Family::BatchRows;
            stream.launch(Launch { family, kernel, arguments: &arguments, grid, threads: [threads, 1] })?;
        } else {
            PanelKernel::first_of(stream, &kernels::<T>(n))?.launch(stream, [range.len(), 1], &arguments)?;
        }
    }
    Ok(())
}

/// Returns the kernels for this order, the fastest first. A wider panel is faster, but needs more shared memory.
fn kernels<T: Scalar>(n: usize) -> Vec<PanelKernel> {
    let widths = [(32, "potrf_block_32"), (16, "potrf_block_16"), (8, "potrf_block_8")];
    let exists = |width: usize| width < 32 || !T::COMPLEX;
    let kernel = |(width, kernel)| PanelKernel {
        family: Family::BatchCholesky,
        kernel,
        threads: n.next_multiple_of(32).clamp(64, BATCH_BLOCK_THREADS),
        // Reading a step's last column by packs passes its end.
        shared_bytes: (panel_pitch::<T>(n) * width + 32) * size_of::<T>(),
    };
    widths.into_iter().filter(|&(width, _)| exists(width)).map(kernel).collect()
}
