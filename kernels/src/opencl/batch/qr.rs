//! geqrf, ungqr, unmqr for batches.

use super::{
    launch,
    operand::Operand,
    panel::{PanelKernel, panel_elements},
};
use crate::opencl::{
    Program,
    stream::{Argument, Stream},
};
use crate::{Op, Scalar, operations::BatchMat};
use superscalar_runtime::DeviceError;

const GEQRF: PanelKernel = PanelKernel { program: Program::BatchQr, own: "geqrf_own", in_place: "geqrf_in_place" };
const UNGQR: PanelKernel = PanelKernel { program: Program::BatchQr, own: "ungqr_own", in_place: "ungqr_in_place" };
const UNMQR: PanelKernel = PanelKernel { program: Program::BatchQr, own: "unmqr_own", in_place: "unmqr_in_place" };

/// Computes A = Q R of each problem.
pub(super) fn geqrf<T: Scalar>(stream: &mut Stream<'_>, a: &BatchMat<T>, tau: &BatchMat<T>) -> Result<(), DeviceError> {
    replace(stream, GEQRF, a, tau)
}

/// Computes the first columns of Q of each problem.
pub(super) fn ungqr<T: Scalar>(stream: &mut Stream<'_>, a: &BatchMat<T>, tau: &BatchMat<T>) -> Result<(), DeviceError> {
    replace(stream, UNGQR, a, tau)
}

/// Launches a kernel that replaces A, with the factors of its reflectors.
fn replace<T: Scalar>(
    stream: &mut Stream<'_>,
    kernel: PanelKernel,
    a: &BatchMat<T>,
    tau: &BatchMat<T>,
) -> Result<(), DeviceError> {
    for (range, kernel) in kernel.ranges(&stream.parameters, a, |at| panel_elements(a.shape(at).0)) {
        let [a, tau] = [a, tau].map(|batch| Operand::of(batch, range.clone()).numbers());
        launch(stream, kernel, &[a, tau].concat(), range.len())?;
    }
    Ok(())
}

/// Computes C := op(Q) C of each problem.
pub(super) fn unmqr<T: Scalar>(
    stream: &mut Stream<'_>,
    op: Op,
    (v, tau): (&BatchMat<T>, &BatchMat<T>),
    c: &BatchMat<T>,
) -> Result<(), DeviceError> {
    let is_adjoint = Argument::Code((op != Op::None).into());
    for (range, kernel) in UNMQR.ranges(&stream.parameters, c, |at| panel_elements(c.shape(at).0)) {
        let [v, tau, c] = [v, tau, c].map(|batch| Operand::of(batch, range.clone()).numbers());
        launch(stream, kernel, &[&v[..], &tau, &c, &[is_adjoint]].concat(), range.len())?;
    }
    Ok(())
}
