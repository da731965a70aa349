//! Batches: one launch computes all problems, or all of similar size. See [`BatchCall`].
//!
//! | module | operations |
//! |---|---|
//! | `cholesky` | potrf |
//! | `lu` | getrf, with pivots and without |
//! | `qr` | geqrf, ungqr, unmqr |
//! | `products` | gemm, with gemv |
//! | `solves` | trsm, with trsv; getrs |
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
    Op, Scalar, Uplo,
    operations::{BatchCall, BatchKernels, BatchMat, BatchTriangle, Mat, Systems},
    scratch::Mark,
};
use operand::Operand;
use std::ops::Range;
use superscalar_runtime::DeviceError;

/// Launches a checked call.
pub(super) fn run<T: Scalar>(stream: &mut Stream<'_>, call: &BatchCall<T>) -> Result<(), DeviceError> {
    if !stream.parameters.has_square_groups() {
        let lanes = stream.parameters.work_items;
        return Err(DeviceError::new(format!("batches need groups of a power of four work-items, not of {lanes}")));
    }
    BatchKernels::<T>::run(stream, call)
}

type Info = Option<Mat<i32>>;

impl<T: Scalar> BatchKernels<T> for Stream<'_> {
    fn gemm(
        &mut self,
        scaled: ((Op, Op), T, T),
        factors: [&BatchMat<T>; 2],
        c: &BatchMat<T>,
    ) -> Result<(), DeviceError> {
        products::gemm(self, scaled, factors, c)
    }

    fn trsm(&mut self, options: BatchTriangle<T>, systems: Systems<'_, T>) -> Result<(), DeviceError> {
        solves::trsm(self, options, systems)
    }

    fn potrf(&mut self, uplo: Uplo, a: &BatchMat<T>, info: Info) -> Result<(), DeviceError> {
        cholesky::potrf(self, uplo, a, info)
    }

    fn getrf(&mut self, a: &BatchMat<T>, ipiv: Option<&BatchMat<i32>>, info: Info) -> Result<(), DeviceError> {
        lu::getrf(self, a, ipiv, info)
    }

    fn getrs(&mut self, op: Op, ipiv: Option<&BatchMat<i32>>, systems: Systems<'_, T>) -> Result<(), DeviceError> {
        solves::getrs(self, op, ipiv, systems)
    }

    fn geqrf(&mut self, a: &BatchMat<T>, tau: &BatchMat<T>) -> Result<(), DeviceError> {
        qr::geqrf(self, a, tau)
    }

    fn ungqr(&mut self, a: &BatchMat<T>, tau: &BatchMat<T>) -> Result<(), DeviceError> {
        qr::ungqr(self, a, tau)
    }

    fn unmqr(&mut self, op: Op, reflectors: (&BatchMat<T>, &BatchMat<T>), c: &BatchMat<T>) -> Result<(), DeviceError> {
        qr::unmqr(self, op, reflectors, c)
    }

    fn gebrd(&mut self, call: &BatchCall<T>) -> Result<(), DeviceError> {
        bidiagonal::gebrd(self, call)
    }

    fn find_zeros(&mut self, r: &BatchMat<T>, info: Info) -> Result<(), DeviceError> {
        solves::find_zeros(self, r, info)
    }

    fn write_column_table(&mut self, a: &BatchMat<T>, rows: usize, table: Mat<i64>) -> Result<(), DeviceError> {
        solves::write_column_table(self, a, rows, table)
    }

    fn take<E>(&mut self, elements: usize) -> Result<usize, DeviceError> {
        self.scratch.take::<E>(elements)
    }

    fn mark(&self) -> Mark {
        self.scratch.mark()
    }

    fn release(&mut self, mark: Mark) {
        self.scratch.release(mark);
    }
}

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

/// Returns the outcomes of problems as an argument. Without tables the kernels count from the first of the range;
/// tables have the problems' numbers.
fn outcomes<T>(info: Option<Mat<i32>>, a: &Operand<T>, range: &Range<usize>) -> Argument {
    let info = info.expect("a checked call has outcomes");
    Argument::Offset(info.offset + if a.table.is_some() { 0 } else { range.start })
}

/// Passes a number of problems.
fn count_of(range: &Range<usize>) -> Result<Argument, DeviceError> {
    let too_many = |_| DeviceError::new(format!("a batch of {} problems exceeds the range of a kernel", range.len()));
    i32::try_from(range.len()).map(Argument::Code).map_err(too_many)
}
