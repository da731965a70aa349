//! potrf for batches.

use super::{
    launch,
    operand::Operand,
    outcomes,
    panel::{PanelKernel, panel_elements},
};
use crate::opencl::{
    Program,
    stream::{Argument, Stream},
};
use crate::{
    Scalar, Uplo,
    operations::{BatchMat, Mat},
};
use superscalar_runtime::DeviceError;

const POTRF: PanelKernel =
    PanelKernel { program: Program::BatchCholesky, own: "potrf_own", in_place: "potrf_in_place" };

/// Computes A = L Lᴴ or Uᴴ U of each problem, and its outcome.
pub(super) fn potrf<T: Scalar>(
    stream: &mut Stream<'_>,
    uplo: Uplo,
    a: &BatchMat<T>,
    info: Option<Mat<i32>>,
) -> Result<(), DeviceError> {
    let is_upper = Argument::Code((uplo == Uplo::Upper).into());
    for (range, kernel) in POTRF.ranges(&stream.parameters, a, |at| panel_elements(a.shape(at).0)) {
        let part = Operand::of(a, range.clone());
        launch(stream, kernel, &[&part.numbers()[..], &[is_upper, outcomes(info)]].concat(), range.len())?;
    }
    Ok(())
}
