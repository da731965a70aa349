//! getrf for batches, with pivots and without.

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
    Scalar,
    operations::{BatchMat, Mat},
};
use superscalar_runtime::DeviceError;

const GETRF: PanelKernel = PanelKernel { program: Program::BatchLu, own: "getrf_own", in_place: "getrf_in_place" };

/// Computes P L U = A of each problem, or L U = A if there is no place for interchanges, and its outcome.
pub(super) fn getrf<T: Scalar>(
    stream: &mut Stream<'_>,
    a: &BatchMat<T>,
    ipiv: Option<&BatchMat<i32>>,
    info: Option<Mat<i32>>,
) -> Result<(), DeviceError> {
    for (range, kernel) in GETRF.ranges(&stream.parameters, a, |at| panel_elements(a.shape(at).0)) {
        let part = Operand::of(a, range.clone());
        // Without pivots the kernel ignores these arguments.
        let pivots = ipiv.map_or(part.numbers(), |ipiv| Operand::of(ipiv, range.clone()).numbers());
        let last = [Argument::Code(ipiv.is_some().into()), outcomes(info)];
        launch(stream, kernel, &[&part.numbers()[..], &pivots, &last].concat(), range.len())?;
    }
    Ok(())
}
