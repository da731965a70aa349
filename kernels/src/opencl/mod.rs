//! The tile kernels for OpenCL devices: each operation of [`Call`] is a sequence of kernels in a device's queue.
//!
//! The method is that of Matsumoto, Nakasato and Sedukhin, "Implementing Level-3 BLAS Routines in OpenCL on Different
//! Processing Units" (2014), §3. Packing kernels copy the operands into a block-major layout; they also transpose,
//! conjugate, complete triangles and pad with zeros. Then one kernel multiplies. The triangles of solves and
//! factorizations are halved until a small kernel can compute a block. All sources are generated from [`Parameters`]: a
//! row of a [`Database`](tuning::Database) for each device or class of devices, and each element type.
//!
//! | module | contents |
//! |---|---|
//! | `parameters` | blocking, vector widths and packing |
//! | `constraint`, `validity`, `local_memory` | which parameters a device can run |
//! | `row`, `database` | parameters as text; the rows for devices, in files |
//! | `in_use` | the rows that this process uses |
//! | `tuner` | measures which parameters are the fastest on a device |
//! | `group_tile` | the parameters of a product whose group shares a tile: their space and constraints |
//! | `matrix_tile` | the parameters of a product with matrix instructions |
//! | `program` | the sources of the programs, from the folder `text` and from `product_text` |
//! | `product_text` | the generator of the product's kernel |
//! | `stream` | the launches of a call, and its scratch memory |
//! | `view` | a matrix as a kernel sees it |
//! | `product` | gemm, symm, hemm, syrk, herk, syr2k, her2k |
//! | `triangular` | trmm, trsm |
//! | `factor` | potrf |
//! | `lu` | getrf |
//! | `qr` | geqrf |
//! | `tall` | products of the adjoint of a tall matrix |
//! | `panel` | what `lu` and `qr` share |
//! | `reflector` | larfb |
//! | `elements` | copy, geadd, scale, laswp |
//! | `half` | products in half precision |
//! | `batch` | operations on batches |
//!
//! # Contract
//! The contract is that of the host's kernels, for matrices anywhere in the heap: beta = 0 does not read C; alpha = 0
//! reads neither A nor B; elements outside of the named triangle, or between columns, are not written. NaN and Inf
//! propagate, and the zeros of padding affect only sums that are not stored. Sums are taken in another order than on
//! the host. alpha = 1 and a real beta scale the real and imaginary parts separately. trsm divides by the diagonal
//! instead of multiplying by its inverse: a zero there makes Inf or NaN only in the columns that depend on it.
//!
//! Only kernels touch the heap, so `unsafe` is confined to `stream`, where they are launched.

mod batch;
mod constraint;
mod database;
mod elements;
mod factor;
mod group_tile;
mod half;
mod in_use;
mod local_memory;
mod lu;
mod matrix_tile;
mod panel;
mod parameters;
mod product;
mod product_text;
mod program;
mod qr;
mod reflector;
mod row;
mod stream;
mod tall;
mod triangular;
mod tuner;
mod validity;
mod view;

pub use constraint::ParameterConstraint;
pub use group_tile::{Buffering, FactorTile, GroupLimits, GroupTile, PackedLayout};
pub use matrix_tile::MatrixTile;
pub use parameters::{Class, Element, LoopingTile, Packing, Parameters, ProductForm};
pub use program::Program;

/// The rows of parameters for devices: databases of them, and how they are measured.
pub mod tuning {
    pub use super::{
        database::{Database, Target, TunedRow},
        in_use::{file, row_of, store},
        tuner::{Found, Measured, SearchOptions, Stage, Tuner, random_row},
    };
}

use crate::{
    Half, Op, Scalar, Side, Symmetry, Uplo,
    device::{Call, HalfCall, MatrixUse},
    operations::{Gemm, Lacpy, Rank2k, RankK, Scale, Symm},
};
use product::Product;
use std::ops::Range;
use stream::Stream;
use superscalar_devices::opencl::{DeviceClass, OpenclQueue};
use superscalar_runtime::{DeviceError, IssueContext};
use view::{Structure, View};

/// Puts the call into the queue of the context's OpenCL device: an implementation for
/// [`KIND`](superscalar_devices::opencl::KIND).
///
/// # Errors
/// If the context is of another kind of device, the device has no arithmetic for the type, the shapes do not agree,
/// operands exceed the heap, the scratch memory is less than [`scratch_bytes`], or the driver refuses. The outcome of
/// the call itself, such as [`NotPositiveDefinite`](crate::NotPositiveDefinite), is reported with the task's end.
pub fn issue<T: Scalar>(context: &mut IssueContext<'_>, call: &Call<T>) -> Result<(), DeviceError> {
    let scratch = context.scratch();
    enqueue(context.queue::<OpenclQueue>()?, scratch, call)
}

/// Like [`issue`], with the queue and the bytes of its heap that are the call's scratch.
///
/// # Errors
/// The errors of [`issue`].
pub fn enqueue<T: Scalar>(queue: &mut OpenclQueue, scratch: Range<usize>, call: &Call<T>) -> Result<(), DeviceError> {
    // The row lives as long as the process.
    let parameters = in_use::row_of(queue.class(), T::LETTER)?;
    enqueue_with(parameters, queue, scratch, call)
}

/// Like [`enqueue`], with kernels that are generated from these parameters instead of the row in use. The scratch
/// must have [`scratch_bytes_with`] these parameters.
///
/// # Errors
/// The errors of [`issue`], or if the parameters are for another type, or the device cannot run them: the message has
/// the name of the [`ParameterConstraint`].
pub fn enqueue_with<T: Scalar>(
    parameters: &Parameters,
    queue: &mut OpenclQueue,
    scratch: Range<usize>,
    call: &Call<T>,
) -> Result<(), DeviceError> {
    check(parameters, queue, &scratch, call)?;
    run(&mut Stream::new(*parameters, queue, scratch), call)
}

/// Checks that the device can run a call with kernels of these parameters.
fn check<T: Scalar>(
    parameters: &Parameters,
    queue: &OpenclQueue,
    scratch: &Range<usize>,
    call: &Call<T>,
) -> Result<(), DeviceError> {
    if parameters.letter != T::LETTER {
        return Err(DeviceError::new(format!(
            "parameters for type {} cannot be used for type {}",
            parameters.letter,
            T::LETTER
        )));
    }
    call.check()?;
    check_places(parameters, queue, scratch, call.matrices())
}

/// Checks that the device can run kernels of these parameters, and that the matrices and the scratch are in its heap.
fn check_places(
    parameters: &Parameters,
    queue: &OpenclQueue,
    scratch: &Range<usize>,
    matrices: impl Iterator<Item = MatrixUse>,
) -> Result<(), DeviceError> {
    let class = queue.class();
    if parameters.element().is_double && !class.has_f64 {
        return Err(DeviceError::new(format!("{} has no double precision", class.name)));
    }
    parameters.check(&GroupLimits::of(class)).map_err(|constraint| refusal(class, constraint))?;
    // The kernels check no bounds, so this checks all operands, including empty ones.
    let heap_bytes = queue.heap_bytes();
    let is_outside = |used: &MatrixUse| used.end().is_none_or(|end| end > heap_bytes);
    let outside: Vec<MatrixUse> = matrices.filter(is_outside).collect();
    if scratch.start > scratch.end || scratch.end > heap_bytes || !outside.is_empty() {
        return Err(DeviceError::new(format!(
            "operands or scratch memory {scratch:?} exceed the heap of {heap_bytes} bytes: {outside:?}"
        )));
    }
    Ok(())
}

/// The letter of the type in which products in half precision are computed.
const SINGLE: char = 's';

/// Like [`issue`], for half precision.
///
/// # Errors
/// The errors of [`issue`].
pub fn issue_half<H: Half>(context: &mut IssueContext<'_>, call: &HalfCall<H>) -> Result<(), DeviceError> {
    let scratch = context.scratch();
    let queue = context.queue::<OpenclQueue>()?;
    let parameters = in_use::row_of(queue.class(), SINGLE)?;
    call.check()?;
    check_places(parameters, queue, &scratch, call.matrices())?;
    half::run(&mut Stream::new(*parameters, queue, scratch), call)
}

/// Like [`scratch_bytes`], for half precision.
#[must_use]
pub fn half_scratch_bytes<H: Half>(call: &HalfCall<H>) -> usize {
    let launch = |stream: &mut Stream<'_>| call.check_shapes().and_then(|()| half::run(stream, call));
    let rows = in_use::rows_by_scratch(SINGLE).iter();
    rows.map(|parameters| scratch_of(parameters, launch)).max().unwrap_or_default()
}

/// Returns an upper bound of the bytes of the heap that a call takes as scratch, on any device with any row that this
/// process may use. It depends on options and shapes only.
///
/// # Example
/// ```
/// use superscalar::kernels::{Op, device::{Call, Mat}, opencl::scratch_bytes, operations::Lacpy};
///
/// let tile = |offset| Mat::<f64>::at(offset, (256, 256), 256);
/// let copy = Call::Lacpy(Lacpy { op: Op::Trans, a: tile(0), b: tile(65536) });
/// assert_eq!(scratch_bytes(&copy), 0);
/// ```
#[must_use]
pub fn scratch_bytes<T: Scalar>(call: &Call<T>) -> usize {
    let rows = in_use::rows_by_scratch(T::LETTER).iter();
    rows.map(|parameters| scratch_bytes_with(parameters, call)).max().unwrap_or_default()
}

/// Like [`scratch_bytes`], for kernels that are generated from these parameters.
#[must_use]
pub fn scratch_bytes_with<T: Scalar>(parameters: &Parameters, call: &Call<T>) -> usize {
    scratch_of(parameters, |stream| call.check_shapes().and_then(|()| run(stream, call)))
}

/// Returns the bytes of scratch that these launches take.
fn scratch_of(parameters: &Parameters, launch: impl FnOnce(&mut Stream<'_>) -> Result<(), DeviceError>) -> usize {
    let mut stream = Stream::measuring(*parameters);
    // A call that is refused needs no scratch.
    launch(&mut stream).map_or(0, |()| stream.scratch.bytes())
}

fn refusal(device: &DeviceClass, constraint: ParameterConstraint) -> DeviceError {
    DeviceError::new(format!("{} cannot run the kernels of these parameters: {constraint}", device.name))
}

/// Launches a call.
fn run<T: Scalar>(stream: &mut Stream<'_>, call: &Call<T>) -> Result<(), DeviceError> {
    if let Some(parts) = call.triangle_and_rest() {
        return parts.iter().try_for_each(|part| run(stream, part));
    }
    match *call {
        Call::Gemm(Gemm { part, op_a, op_b, alpha, a, b, beta, c }) => {
            let (a, b, c) = (View::with(op_a, a), View::with(op_b, b), View::of(c));
            Product { part: part.map(|uplo| (Symmetry::Symmetric, uplo)), alpha, a, b, beta, c }.run(stream)
        }
        Call::Symm(Symm { symmetry, side, uplo, alpha, a, b, beta, c }) => {
            let (a, b, c) = (View::of(a).structured(Structure::of(symmetry, uplo)), View::of(b), View::of(c));
            let (a, b) = if side == Side::Left { (a, b) } else { (b, a) };
            Product { part: None, alpha, a, b, beta, c }.run(stream)
        }
        Call::RankK(RankK { symmetry, uplo, op, alpha, a, beta, c }) => {
            let (a, b) = (View::with(transposition::<T>(op), a), View::with(transposition::<T>(op), a));
            let (alpha, beta) = (symmetry.factor(alpha), symmetry.factor(beta));
            rank_k((symmetry, uplo), alpha, a, b, beta, View::of(c)).run(stream)
        }
        Call::Rank2k(Rank2k { symmetry, uplo, op, alpha, a, b, beta, c }) => {
            let op = transposition::<T>(op);
            let (a, b, c) = (View::with(op, a), View::with(op, b), View::of(c));
            rank_k((symmetry, uplo), alpha, a, b, symmetry.factor(beta), c).run(stream)?;
            rank_k((symmetry, uplo), symmetry.conj(alpha), b, a, T::ONE, c).run(stream)
        }
        Call::Triangular(ref triangle) => triangular::triangular(stream, triangle),
        Call::Potrf(factorization) => factor::potrf(stream, factorization),
        Call::Getrf(factorization) => lu::getrf(stream, factorization),
        Call::Geqrf(factorization) => qr::geqrf(stream, factorization),
        Call::Laswp(ref exchange) => elements::laswp(stream, exchange),
        Call::Larfb(reflector) => reflector::larfb(stream, reflector),
        Call::Lacpy(Lacpy { op, a, b }) => elements::copy(stream, op, a, b),
        Call::Geadd(sum) => elements::add(stream, sum),
        Call::Scale(Scale { part, beta, a }) => elements::scale(stream, part, beta, View::of(a)),
        Call::Batch(ref batch) => batch::run(stream, batch),
    }
}

/// Returns the operation; for real types a conjugate transpose becomes a plain one.
fn transposition<T: Scalar>(op: Op) -> Op {
    if op == Op::ConjTrans && !T::COMPLEX { Op::Trans } else { op }
}

/// Returns one triangle of C := alpha A B* + beta C, where * transposes, and conjugates if the matrix is Hermitian.
fn rank_k<T: Scalar>(part: (Symmetry, Uplo), alpha: T, a: View, b: View, beta: T, c: View) -> Product<T> {
    let b = if part.0 == Symmetry::Hermitian && T::COMPLEX { b.transpose().conj() } else { b.transpose() };
    Product { part: Some(part), alpha, a, b, beta, c }
}
