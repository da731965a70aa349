//! gebrd for batches: the reduction to bidiagonal form.

use super::{launch, operand::Operand, panel::PanelKernel};
use crate::opencl::{
    Program,
    stream::{Argument, Stream},
};
use crate::{
    Scalar,
    operations::{BatchCall, BatchMat},
};
use std::ops::Range;
use superscalar_runtime::DeviceError;

const GEBRD: PanelKernel =
    PanelKernel { program: Program::BatchBidiagonal, own: "gebrd_own", in_place: "gebrd_in_place" };

/// Reduces each A of a checked call.
pub(super) fn gebrd<T: Scalar>(stream: &mut Stream<'_>, call: &BatchCall<T>) -> Result<(), DeviceError> {
    let ([a], [tauq, taup], [d, e]) = (&*call.updated, &*call.written, &*call.reals) else {
        return Err(DeviceError::new("gebrd: these are not its operands"));
    };
    for (range, kernel) in GEBRD.ranges(&stream.parameters, a, |at| working_elements(a.shape(at), true)) {
        let before = stream.scratch.mark();
        let (program, name) = kernel;
        let stride = if name == GEBRD.own { 0 } else { scratch_elements(a, &range) };
        let too_large = || DeviceError::new(format!("gebrd: scratch memory for {} problems", range.len()));
        let elements = stride.checked_mul(range.len()).ok_or_else(too_large)?;
        let scratch = stream.scratch.take::<T>(elements)?;
        let reals = [d, e].map(|batch| Operand::of(batch, range.clone()).numbers());
        let [a, tauq, taup] = [a, tauq, taup].map(|batch| Operand::of(batch, range.clone()).numbers());
        let last = [Argument::Offset(scratch), Argument::Offset(stride)];
        let arguments = [&a[..], &reals[0], &reals[1], &tauq, &taup, &last].concat();
        launch(stream, (program, name), &arguments, range.len())?;
        stream.scratch.release(before);
    }
    Ok(())
}

/// Returns the elements of the vector u of a matrix, and of its copy if there is one.
fn working_elements((m, n): (usize, usize), is_copied: bool) -> usize {
    let copy = if is_copied { m.saturating_mul(n) } else { 0 };
    copy.saturating_add(m.min(n))
}

/// Returns the most elements of a problem in scratch memory: matrices with less rows than columns are copied.
fn scratch_elements<T: Scalar>(a: &BatchMat<T>, range: &Range<usize>) -> usize {
    // All problems of a uniform batch have the shape of the first one.
    let shapes = if a.layout().is_some() { range.clone() } else { range.start..range.start + 1 };
    let its = |(m, n)| working_elements((m, n), m < n);
    shapes.map(|at| its(a.shape(at))).max().unwrap_or_default()
}
