//! Batches: one launch computes all problems, or all of similar size. See [`BatchCall`].
//!
//! | module | operations |
//! |---|---|
//! | `cholesky` | potrf |
//! | `lu` | getrf, with pivots and without |
//! | `qr` | geqrf, ungqr, unmqr |
//! | `products` | gemm, with gemv |
//! | `solves` | trsm, with trsv; the interchanges of getrs |
//! | `bidiagonal` | gebrd |
//! | `operand` | batches as arguments of kernels |
//! | `panel` | which form of a kernel is launched |
//!
//! # Kernels
//! A work-group has one problem, or a part of it such as a tile of a product. Kernels for tiny products and for
//! interchanges have a work-item for each element or column. A group has one work-item on a CPU and 64 on a GPU; every
//! kernel is written for 1, 4, 16 or 64.
//!
//! # Limits
//! Orders are not limited, except by `int`. gels is for at least as many rows as columns; other shapes are refused.
//! The kernels are portable and have not been tuned: a CPU's own kernels are faster than a CPU as an OpenCL device.

mod bidiagonal;
mod cholesky;
mod lu;
mod operand;
mod panel;
mod products;
mod qr;
mod solves;

use super::{
    Program,
    stream::{Argument, Launch, Stream},
};
use crate::{
    Direction, Op, Scalar, Uplo,
    operations::{BatchCall, BatchKernels, BatchMat, BatchTriangle, Mat, Systems, batch_kernels},
    scratch::Mark,
};
use std::ops::Range;
use superscalar_runtime::DeviceError;

/// Launches a checked call.
pub(super) fn run<T: Scalar>(stream: &mut Stream<'_>, call: &BatchCall<T>) -> Result<(), DeviceError> {
    BatchKernels::<T>::run(stream, call)
}

batch_kernels!(Stream<'_>);

/// Puts a kernel into the queue, with this many groups.
fn launch(
    stream: &mut Stream<'_>,
    (program, kernel): (Program, &'static str),
    arguments: &[Argument],
    groups: usize,
) -> Result<(), DeviceError> {
    if i32::try_from(groups).is_err() {
        return Err(DeviceError::new(format!("kernel `{kernel}`: {groups} groups exceed the range of a kernel")));
    }
    let local = [stream.parameters.work_items, 1];
    stream.launch(Launch { program, kernel, arguments, groups: [groups, 1], local })
}

/// Like [`launch`], with at least `items` work-items. A kernel ignores those that are too many.
fn launch_items(
    stream: &mut Stream<'_>,
    kernel: (Program, &'static str),
    arguments: &[Argument],
    items: usize,
) -> Result<(), DeviceError> {
    let groups = items.div_ceil(stream.parameters.work_items);
    launch(stream, kernel, arguments, groups)
}

/// Returns the outcomes of problems as an argument. Kernels find that of a problem by its number.
fn outcomes(info: Option<Mat<i32>>) -> Argument {
    let info = info.expect("a checked call has outcomes");
    Argument::Offset(info.offset)
}

/// Passes a number of problems.
fn count_of(range: &Range<usize>) -> Result<Argument, DeviceError> {
    let too_many = |_| DeviceError::new(format!("a batch of {} problems exceeds the range of a kernel", range.len()));
    i32::try_from(range.len()).map(Argument::Code).map_err(too_many)
}
