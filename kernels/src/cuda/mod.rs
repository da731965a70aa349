//! The tile kernels for NVIDIA GPUs. Each operation of [`Call`] is a sequence of cuBLAS routines and of this crate's
//! own kernels in an in-order queue.
//!
//! Level 3 uses cuBLAS, through its 64-bit interface, in full precision. The other kernels are written in CUDA C++ and
//! compiled for the GPU when they are first used ([`Family`]).
//!
//! | module | contents |
//! |---|---|
//! | `program` | the sources of the kernels, from the folder `text` |
//! | `stream` | the launches of a call, and its scratch memory |
//! | `blas` | cuBLAS's routines by element type |
//! | `product` | gemm, symm, hemm, syrk, herk, syr2k, her2k; gemmt |
//! | `triangular` | trmm, trsm |
//! | `factor` | potrf, and solves with its blocks |
//! | `grid` | blocks of a grid or a cluster that run at once and communicate |
//! | `lu`, `qr` | the panels getrf and geqrf |
//! | `reflector` | larfb |
//! | `elements` | copy, geadd, scale, laswp |
//! | `half` | products in half precision |
//! | `batch` | operations on batches |
//! | `tile` | parameters of batched products by tiles |
//!
//! # Contract
//! The contract is that of the host's kernels, for matrices anywhere in the heap: beta = 0 does not read C; alpha = 0
//! reads neither A nor B; elements outside of the named triangle, or between columns, are not written; NaN and Inf
//! propagate. Sums are taken in another order than on the host.
//!
//! A call is put into the queue without waiting. Its outcome is determined when the task ends.
//!
//! Only kernels touch the heap, so `unsafe` is confined to `stream` and `blas`, where they are launched.

mod batch;
mod blas;
mod elements;
mod factor;
mod grid;
mod half;
mod lu;
mod product;
mod program;
mod qr;
mod reflector;
mod stream;
mod tile;
mod triangular;

pub use program::Family;

/// The tiles of batched products: their parameters, the table of the fastest ones, and how they are measured.
pub mod tuning {
    pub use super::{
        batch::{ProductKernel, TileTable, TunedTile, measure},
        tile::{ProductTile, TileConstraint, TileLimits},
    };
}

use crate::{
    Half, Scalar,
    device::{Call, HalfCall, MatrixUse},
};
use std::ops::Range;
use stream::Stream;
use superscalar_devices::cuda::Queue;
use superscalar_runtime::{DeviceError, IssueContext};

/// Puts the call into the queue of the context's GPU: an implementation for [`KIND`](superscalar_devices::cuda::KIND).
///
/// # Errors
/// If the context is of another kind of device, the shapes do not agree, operands exceed the heap, the scratch memory
/// is less than [`scratch_bytes`], a library is missing, or the driver refuses. The outcome of the call itself, such as
/// [`NotPositiveDefinite`](crate::NotPositiveDefinite), is reported with the task's end.
pub fn issue<T: Scalar>(context: &mut IssueContext<'_>, call: &Call<T>) -> Result<(), DeviceError> {
    let scratch = context.scratch();
    enqueue(context.queue::<Queue>()?, scratch, call)
}

/// Like [`issue`], with the queue and the bytes of its heap that are the call's scratch.
///
/// # Errors
/// The errors of [`issue`].
pub fn enqueue<T: Scalar>(queue: &mut Queue, scratch: Range<usize>, call: &Call<T>) -> Result<(), DeviceError> {
    call.check()?;
    check_places(queue, call.matrices(), scratch.end)?;
    run(&mut Stream::new(queue, scratch), call)
}

/// Checks that the matrices and the scratch are in the queue's heap.
fn check_places(
    queue: &Queue,
    matrices: impl Iterator<Item = MatrixUse>,
    scratch_end: usize,
) -> Result<(), DeviceError> {
    // An offset beyond the heap has no address.
    let used = matrices.map(|used| used.end().unwrap_or(usize::MAX));
    used.chain([scratch_end]).try_for_each(|end| queue.address(end).map(drop))
}

/// Like [`issue`], for half precision. Products are cuBLAS's, on matrix units; no scratch is needed.
///
/// # Errors
/// The errors of [`issue`].
pub fn issue_half<H: Half>(context: &mut IssueContext<'_>, call: &HalfCall<H>) -> Result<(), DeviceError> {
    let scratch = context.scratch();
    let queue = context.queue::<Queue>()?;
    call.check()?;
    check_places(queue, call.matrices(), scratch.end)?;
    half::run(&mut Stream::new(queue, scratch), call)
}

/// Returns an upper bound of the bytes of the heap that a call takes as scratch. It depends on options and shapes only,
/// because operands may have no place yet.
///
/// # Example
/// ```
/// use superscalar::kernels::{Op, Uplo, cuda::scratch_bytes, device::{Call, Mat}, operations::{Lacpy, Gemm}};
///
/// let tile = Mat::<f64>::at(0, (256, 256), 256);
/// assert_eq!(scratch_bytes(&Call::Lacpy(Lacpy { op: Op::Trans, a: tile, b: tile })), 0);
/// // A product of one triangle computes the blocks on its diagonal in scratch.
/// let (op_a, op_b, alpha, beta) = (Op::None, Op::None, 1.0, 1.0);
/// let product = |part| Call::Gemm(Gemm { part, op_a, op_b, alpha, a: tile, b: tile, beta, c: tile });
/// assert!(scratch_bytes(&product(Some(Uplo::Lower))) >= 256 * 256 * 8);
/// assert_eq!(scratch_bytes(&product(None)), 0);
/// ```
#[must_use]
pub fn scratch_bytes<T: Scalar>(call: &Call<T>) -> usize {
    let mut stream = Stream::measuring();
    // A call that is refused needs no scratch.
    match call.check_shapes().and_then(|()| run(&mut stream, call)) {
        Ok(()) => stream.scratch.bytes(),
        Err(_) => 0,
    }
}

/// Launches a checked call.
fn run<T: Scalar>(stream: &mut Stream<'_, T>, call: &Call<T>) -> Result<(), DeviceError> {
    // potrf computes the rest of a trapezoid in each of its own blocks.
    let parts = if matches!(call, Call::Potrf(_)) { None } else { call.triangle_and_rest() };
    match parts {
        Some(parts) => parts.iter().try_for_each(|part| run_whole(stream, part)),
        None => run_whole(stream, call),
    }
}

fn run_whole<T: Scalar>(stream: &mut Stream<'_, T>, call: &Call<T>) -> Result<(), DeviceError> {
    match call {
        Call::Gemm(gemm) => gemm.enqueue(stream),
        Call::Symm(symm) => product::symm(stream, symm),
        Call::RankK(update) => product::rank_k(stream, update),
        Call::Rank2k(update) => product::rank_2k(stream, update),
        Call::Triangular(triangle) => triangular::apply(stream, triangle),
        Call::Potrf(factorization) => factor::potrf(stream, *factorization),
        Call::Getrf(panel) => lu::getrf(stream, *panel),
        Call::Geqrf(panel) => qr::geqrf(stream, *panel),
        Call::Laswp(exchange) => elements::laswp(stream, exchange),
        Call::Larfb(reflector) => reflector::larfb(stream, *reflector),
        Call::Lacpy(copy) => elements::copy(stream, copy.op, copy.a, copy.b),
        Call::Geadd(sum) => elements::add(stream, *sum),
        Call::Scale(scale) => elements::scale(stream, scale.part, scale.beta, scale.a),
        Call::Batch(batch) => batch::run(stream, batch),
    }
}
