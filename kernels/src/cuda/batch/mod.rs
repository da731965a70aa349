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
//! | `tile_table`, `tuner` | which tiles of products are the fastest on a GPU; measuring it |
//!
//! # Kernels
//! A tiny matrix has a few lanes of a warp, which keep a row or a column each in registers. A larger one has a block of
//! threads, which keeps a panel of some columns in shared memory. There is no launch for each panel of Cholesky, LU and
//! QR; gebrd has one for each panel and one for each update. cuBLAS computes uniform products where it is faster.
//! Measurements are in `docs/measurements/2026-11-28-gpu-batched-factorizations.md` and `…-gpu-batched-products.md`.
//!
//! # Limits
//! Products, solves with factors, and gebrd are for any order, and gels for at least as many rows as columns. In
//! factorizations a panel must fit into a block's shared memory, so these are the largest matrices:
//!
//! | rows | f32 | f64, c32 | c64 |
//! |---|---|---|---|
//! | potrf, getrf, with 227 KiB (H100) | 5500 | 3000 | 1600 |
//! | with 99 KiB (compute capability 8.6) | 2400 | 1300 | 700 |
//! | geqrf, ungqr, unmqr, with 227 KiB | 3400 | 1600 | 700 |
//! | with 99 KiB | 1350 | 600 | 200 |
//!
//! These are computed from the kernels' needs; up to order 700 they were tested. A larger problem is refused, with an
//! error that names the kernel and its need.

mod bidiagonal;
mod cholesky;
mod lu;
mod operand;
mod products;
mod qr;
mod solves;
mod tile_table;
mod tuner;

pub use tile_table::{TileTable, TunedTile};
pub use tuner::{ProductKernel, measure};

use super::{
    program::Family,
    stream::{Argument, Concurrency, Launch, LaunchOptions, Stream},
};
use crate::{
    Direction, Op, Scalar, Uplo,
    operations::{BatchCall, BatchKernels, BatchMat, BatchTriangle, Mat, Systems, batch_kernels, class_of},
    scratch::Mark,
};
use std::ops::Range;
use superscalar_runtime::DeviceError;

/// Launches a checked call.
pub(super) fn run<T: Scalar>(stream: &mut Stream<'_, T>, call: &BatchCall<T>) -> Result<(), DeviceError> {
    BatchKernels::<T>::run(stream, call)
}

batch_kernels!(Stream<'_, T>);

/// Returns the outcomes of problems as an argument. Kernels find that of a problem by its number.
fn outcomes(info: Option<Mat<i32>>) -> Argument {
    let info = info.expect("a checked call has outcomes");
    Argument::start(Mat::<i32>::at(info.offset, (1, 1), 1))
}

/// Passes a number of problems.
fn count_of(range: &Range<usize>) -> Result<Argument, DeviceError> {
    let too_many = |_| DeviceError::new(format!("a batch of {} problems exceeds the range of a kernel", range.len()));
    i32::try_from(range.len()).map(Argument::code).map_err(too_many)
}

/// A kernel that has a block for each problem, and a panel in its shared memory.
#[derive(Clone, Copy, Debug)]
struct PanelKernel {
    family: Family,
    kernel: &'static str,
    threads: usize,
    shared_bytes: usize,
}

impl PanelKernel {
    /// Selects the first kernel that fits into a processor of the device.
    fn first_of<T: Scalar>(stream: &mut Stream<'_, T>, kernels: &[Self]) -> Result<Self, DeviceError> {
        for &kernel in kernels {
            let Self { family, kernel: name, threads, shared_bytes } = kernel;
            if stream.blocks_at_once((family, name), threads, shared_bytes)? != Some(0) {
                return Ok(kernel);
            }
        }
        let needs = kernels.last().map(|last| (last.kernel, last.shared_bytes));
        let (name, bytes) = needs.unwrap_or(("none", 0));
        Err(DeviceError::new(format!(
            "kernel `{name}`: a panel of {bytes} bytes exceeds the shared memory of this device; batches on devices \
             are for smaller problems"
        )))
    }

    fn launch<T: Scalar>(
        self,
        stream: &mut Stream<'_, T>,
        grid: [usize; 2],
        arguments: &[Argument],
    ) -> Result<(), DeviceError> {
        let Self { family, kernel, threads, shared_bytes } = self;
        let launch = Launch { family, kernel, arguments, grid: [grid[0], grid[1], 1], threads: [threads, 1] };
        stream.launch_with(launch, LaunchOptions { shared_bytes, concurrency: Concurrency::Any })
    }
}

/// Returns the elements from one column of a panel to the next, `panel_pitch` in `text/batch_product.cu`.
fn panel_pitch<T>(rows: usize) -> usize {
    rows.next_multiple_of(32) + 32 / size_of::<T>()
}
