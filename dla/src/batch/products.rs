//! Products and triangular solves of every problem.

use super::engine::run;
use crate::{Scalar, error::Error, options::Options};
use superscalar_kernels::{
    BatchMut, BatchRef, Diag, Op, Side, Uplo,
    operations::{BatchOperands, BatchOperation},
};
use superscalar_macros::each_type;
use superscalar_runtime::Runtime;

/// Computes C := alpha op(A) op(B) + beta C for each problem. If beta is zero, C is not read.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes of a problem do not match, or the batches have different lengths.
///
/// ```
/// use superscalar::{
///     Runtime,
///     dla::{BatchMut, BatchRef, Op, Options, batch},
/// };
///
/// let (rt, a, mut c) = (Runtime::new()?, [2.0, 3.0], [1.0, 1.0]);
/// let factors = BatchRef::packed(&a, (1, 1))?;
/// let sums = BatchMut::packed(&mut c, (1, 1))?;
/// batch::gemm(&rt, 1.0, Op::None, factors.clone(), Op::None, factors, 1.0, sums, &Options::default())?;
/// assert_eq!(c, [5.0, 10.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
#[allow(clippy::too_many_arguments)]
pub fn gemm<T: Scalar>(
    rt: &Runtime,
    alpha: T,
    op_a: Op,
    a: BatchRef<'_, T>,
    op_b: Op,
    b: BatchRef<'_, T>,
    beta: T,
    c: BatchMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let operation = BatchOperation::Gemm { ops: (op_a, op_b), alpha, beta };
    run(rt, operation, BatchOperands { read: vec![a, b], updated: vec![c], ..BatchOperands::default() }, options)
}

/// Computes y := alpha op(A) x + beta y for each problem; x and y are matrices of one column. If beta is zero, y is not
/// read.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes of a problem do not match, or the batches have different lengths.
///
/// ```
/// use superscalar::{
///     Runtime,
///     dla::{BatchMut, BatchRef, Op, Options, batch},
/// };
///
/// let (rt, a, x, mut y) = (Runtime::new()?, [1.0, 2.0, 3.0, 4.0], [1.0, 1.0], [0.0; 2]);
/// let (x, product) = (BatchRef::packed(&x, (1, 1))?, BatchMut::packed(&mut y, (1, 1))?);
/// let a = BatchRef::strided(&a, (1, 1), 1, 2, 2)?; // every second element
/// batch::gemv(&rt, 10.0, Op::None, a, x, 0.0, product, &Options::default())?;
/// assert_eq!(y, [10.0, 30.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
#[allow(clippy::too_many_arguments)]
pub fn gemv<T: Scalar>(
    rt: &Runtime,
    alpha: T,
    op: Op,
    a: BatchRef<'_, T>,
    x: BatchRef<'_, T>,
    beta: T,
    y: BatchMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    are_columns("gemv", x.len(), |p| x.shape(p))?;
    gemm(rt, alpha, op, a, Op::None, x, beta, y, options).map_err(|error| error.of_routine("gemv"))
}

/// Computes B := alpha op(A)⁻¹ B or alpha B op(A)⁻¹ for each problem, with a triangular A. Only its triangle `uplo` is
/// read.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes of a problem do not match, or the batches have different lengths.
///
/// ```
/// use superscalar::{
///     Runtime,
///     dla::{BatchMut, BatchRef, Diag, Op, Options, Side, Uplo, batch},
/// };
///
/// let (rt, o, a, mut b) = (Runtime::new()?, Options::default(), [2.0, 4.0], [6.0, 8.0]);
/// let (triangles, sides) = (BatchRef::packed(&a, (1, 1))?, BatchMut::packed(&mut b, (1, 1))?);
/// batch::trsm(&rt, Side::Left, Uplo::Lower, Op::None, Diag::NonUnit, 1.0, triangles, sides, &o)?;
/// assert_eq!(b, [3.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
#[allow(clippy::too_many_arguments)]
pub fn trsm<T: Scalar>(
    rt: &Runtime,
    side: Side,
    uplo: Uplo,
    op: Op,
    diag: Diag,
    alpha: T,
    a: BatchRef<'_, T>,
    b: BatchMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let operation = BatchOperation::Trsm { side, uplo, op, diag, alpha };
    run(rt, operation, BatchOperands { read: vec![a], updated: vec![b], ..BatchOperands::default() }, options)
}

/// Solves op(A) x = b for each problem, with a triangular A; x, a matrix of one column, overwrites b.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes of a problem do not match, or the batches have different lengths.
///
/// ```
/// use superscalar::{
///     Runtime,
///     dla::{BatchMut, BatchRef, Diag, Op, Options, Uplo, batch},
/// };
///
/// let (rt, a, mut x) = (Runtime::new()?, [2.0, 4.0], [6.0, 8.0]);
/// let (triangles, sides) = (BatchRef::packed(&a, (1, 1))?, BatchMut::packed(&mut x, (1, 1))?);
/// batch::trsv(&rt, Uplo::Upper, Op::None, Diag::NonUnit, triangles, sides, &Options::default())?;
/// assert_eq!(x, [3.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn trsv<T: Scalar>(
    rt: &Runtime,
    uplo: Uplo,
    op: Op,
    diag: Diag,
    a: BatchRef<'_, T>,
    x: BatchMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    are_columns("trsv", x.len(), |p| x.shape(p))?;
    trsm(rt, Side::Left, uplo, op, diag, T::ONE, a, x, options).map_err(|error| error.of_routine("trsv"))
}

/// Returns an error if a matrix has more than one column.
fn are_columns(name: &str, count: usize, shape: impl Fn(usize) -> (usize, usize)) -> Result<(), Error> {
    match (0..count).find(|&p| shape(p).1 != 1) {
        None => Ok(()),
        Some(p) => Err(Error::shape(format!("{name}: problem {p}: a vector has {} columns", shape(p).1))),
    }
}
