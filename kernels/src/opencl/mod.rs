//! The tile kernels for OpenCL devices: each operation of [`Call`] as a sequence of kernels in a device's queue.
//!
//! The way is that of Matsumoto, Nakasato and Sedukhin, "Implementing Level-3 BLAS Routines in OpenCL on Different Processing Units"
//! (2014), §3: operands are copied into a block-major layout by packing kernels, which also transpose, conjugate, complete triangles
//! and pad with zeros; then one kernel multiplies. What is not a product, the triangle of a solve or of a factorization, is halved until
//! a small kernel does a block. All texts are generated from [`Parameters`], a row per class of devices and element type.
//!
//! | module | what is in it |
//! |---|---|
//! | `parameters` | blocking, vector widths and unrolling: the table |
//! | `program` | the texts of the programs, from the folder `text` and from `tile` |
//! | `tile` | the generator of the product's kernel |
//! | `stream` | where a call's launches go, and its scratch memory |
//! | `view` | a matrix as a kernel sees it |
//! | `product` | gemm, symm, hemm, syrk, herk, syr2k, her2k |
//! | `triangular` | trmm, trsm |
//! | `factor` | potrf |
//! | `reflector` | larfb |
//! | `elements` | copy, scale, laswp |
//!
//! # Contract
//! That of the host's kernels, for matrices anywhere in the heap: beta = 0 does not read C; alpha = 0 reads neither A nor B; what is
//! not in the named triangle, or lies between columns, is not written; NaN and Inf propagate, and zeros of padding meet
//! them only where nothing is stored. A sum is taken in another order than on the host, and what alpha = 1 and a real beta scale, they
//! scale by parts. Division in trsm is by the diagonal, not by its inverse: a zero there makes Inf or NaN in the columns that
//! it belongs to and no others.
//!
//! Nothing here touches the heap but by kernels, so `unsafe` is only in `stream`, where they are launched.

mod elements;
mod factor;
mod parameters;
mod product;
mod program;
mod reflector;
mod stream;
mod tile;
mod triangular;
mod view;

pub use parameters::{Blocking, Class, Form, Parameters};
pub use program::Program;

use crate::{
    Op, Scalar, Side, Symmetry, Uplo,
    device::Call,
    operations::{Gemm, Lacpy, Rank2k, RankK, Scale, Symm},
};
use product::Product;
use std::ops::Range;
use stream::Stream;
use superscalar_devices::opencl::{DeviceClass, OpenclQueue};
use superscalar_runtime::{DeviceError, IssueContext};
use view::{Structure, View};

/// Puts the call into the queue of an OpenCL device, which the context is of: an implementation for
/// [`KIND`](superscalar_devices::opencl::KIND).
///
/// # Errors
/// If the context is of another kind of device, the device has no arithmetic for the type, the shapes do not agree, operands leave
/// the heap, the scratch memory is less than [`scratch_bytes`], or the driver refuses. The outcome of the call itself, such as
/// [`NotPositiveDefinite`](crate::NotPositiveDefinite), is reported with the task's end.
pub fn issue<T: Scalar>(context: &mut IssueContext<'_>, call: &Call<T>) -> Result<(), DeviceError> {
    let scratch = context.scratch();
    enqueue(context.queue::<OpenclQueue>()?, scratch, call)
}

/// The same with the queue, and the bytes of its heap that are the call's own.
///
/// # Errors
/// As for [`issue`].
pub fn enqueue<T: Scalar>(queue: &mut OpenclQueue, scratch: Range<usize>, call: &Call<T>) -> Result<(), DeviceError> {
    let parameters = Parameters::of(class_of(queue.class()), T::LETTER);
    enqueue_with(&parameters, queue, scratch, call)
}

/// The same with kernels that are generated from these parameters, and not from those of the table, for [`scratch_bytes_with`] them.
///
/// # Errors
/// As for [`issue`], or if the parameters are another type's.
pub fn enqueue_with<T: Scalar>(
    parameters: &Parameters,
    queue: &mut OpenclQueue,
    scratch: Range<usize>,
    call: &Call<T>,
) -> Result<(), DeviceError> {
    if parameters.letter != T::LETTER {
        return Err(DeviceError::new(format!("parameters of type {} for type {}", parameters.letter, T::LETTER)));
    }
    if parameters.is_double() && !queue.class().has_f64 {
        return Err(DeviceError::new(format!("{} has no double precision", queue.class().name)));
    }
    call.check()?;
    // Kernels check no bounds, so this does: of empty operands, too.
    let (heap_bytes, used) = (queue.heap_bytes(), call.matrices().map(|used| used.end().unwrap_or(usize::MAX)));
    if scratch.start > scratch.end || used.chain([scratch.end]).any(|end| end > heap_bytes) {
        return Err(DeviceError::new(format!(
            "operands or scratch memory {scratch:?} leave the heap of {heap_bytes} bytes: {call:?}"
        )));
    }
    run(&mut Stream::new(*parameters, queue, scratch), call)
}

/// Bytes of the heap that a call takes as scratch at most, on whichever device. Only the shapes of its operands count.
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
    let classes = Class::ALL.into_iter();
    classes.map(|class| scratch_bytes_with(&Parameters::of(class, T::LETTER), call)).max().unwrap_or_default()
}

/// The same for kernels that are generated from these parameters.
#[must_use]
pub fn scratch_bytes_with<T: Scalar>(parameters: &Parameters, call: &Call<T>) -> usize {
    let mut stream = Stream::dry(*parameters);
    // A call that is refused needs none.
    match call.check_shapes().and_then(|()| run(&mut stream, call)) {
        Ok(()) => stream.scratch.bytes(),
        Err(_) => 0,
    }
}

/// The row of the table for a device.
fn class_of(device: &DeviceClass) -> Class {
    match (device.is_cpu, device.vector_f32) {
        (true, 16..) => Class::WideCpu,
        (true, _) => Class::Cpu,
        (false, _) => Class::Gpu,
    }
}

/// The launches of a call.
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
            let (a, real) = (View::with(transposition::<T>(op), a), |x| symmetry.factor(x));
            rank_k((symmetry, uplo), (real(alpha), a, a), real(beta), View::of(c)).run(stream)
        }
        Call::Rank2k(Rank2k { symmetry, uplo, op, alpha, a, b, beta, c }) => {
            let op = transposition::<T>(op);
            let (a, b, c) = (View::with(op, a), View::with(op, b), View::of(c));
            rank_k((symmetry, uplo), (alpha, a, b), symmetry.factor(beta), c).run(stream)?;
            rank_k((symmetry, uplo), (symmetry.conj(alpha), b, a), T::ONE, c).run(stream)
        }
        Call::Triangular(ref triangle) => triangular::triangular(stream, triangle),
        Call::Potrf(factorization) => factor::potrf(stream, factorization),
        // The table of backends says so, and they are never given to it.
        Call::Getrf(_) | Call::Geqrf(_) => {
            Err(DeviceError::new(format!("{}: panels are not factored by OpenCL", call.name())))
        }
        Call::Laswp(ref exchange) => elements::laswp(stream, exchange),
        Call::Larfb(reflector) => reflector::larfb(stream, reflector),
        Call::Lacpy(Lacpy { op, a, b }) => elements::copy(stream, op, a, b),
        Call::Scale(Scale { part, beta, a }) => elements::scale(stream, part, beta, View::of(a)),
    }
}

/// What an option means for a real type.
fn transposition<T: Scalar>(op: Op) -> Op {
    if op == Op::ConjTrans && !T::COMPLEX { Op::Trans } else { op }
}

/// One triangle of C := alpha A B* + beta C, where * transposes, and conjugates what is Hermitian.
fn rank_k<T: Scalar>(part: (Symmetry, Uplo), (alpha, a, b): (T, View, View), beta: T, c: View) -> Product<T> {
    let b = if part.0 == Symmetry::Hermitian && T::COMPLEX { b.transpose().conj() } else { b.transpose() };
    Product { part: Some(part), alpha, a, b, beta, c }
}
