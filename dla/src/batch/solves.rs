//! Cholesky and LU factorizations of every matrix, and solutions by them.

use super::{Outcomes, engine::run, outcomes_of};
use crate::{Scalar, error::Error, options::Options};
use superscalar_kernels::{
    BatchMut, BatchRef, Op, Uplo,
    operations::{BatchOperands, BatchOperation},
};
use superscalar_macros::each_type;
use superscalar_runtime::Runtime;

/// Computes the Cholesky factorization A = L Lᴴ or Uᴴ U of each matrix. The triangle `uplo` is replaced by the factor;
/// the other one is neither read nor changed.
///
/// A matrix that is not positive definite has the order of the failing minor as its outcome; its triangle is then
/// partly overwritten.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if a matrix is not square.
///
/// [`Outcomes`] has an example.
#[each_type]
pub fn potrf<T: Scalar>(rt: &Runtime, uplo: Uplo, a: BatchMut<'_, T>, options: &Options) -> Result<Outcomes, Error> {
    let operands = BatchOperands { updated: vec![a], ..BatchOperands::default() };
    outcomes_of(rt, BatchOperation::Potrf { uplo }, operands, options)
}

/// Solves A X = B for each problem by the factors that [`potrf`] has computed.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes of a problem do not match, or the batches have different lengths.
///
/// ```
/// use superscalar::{
///     Runtime,
///     dla::{BatchMut, BatchRef, Options, Uplo, batch},
/// };
///
/// let (rt, factors, mut b) = (Runtime::new()?, [2.0, 3.0], [4.0, 18.0]);
/// let (l, sides) = (BatchRef::packed(&factors, (1, 1))?, BatchMut::packed(&mut b, (1, 1))?);
/// batch::potrs(&rt, Uplo::Lower, l, sides, &Options::default())?;
/// assert_eq!(b, [1.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn potrs<T: Scalar>(
    rt: &Runtime,
    uplo: Uplo,
    a: BatchRef<'_, T>,
    b: BatchMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let operands = BatchOperands { read: vec![a], updated: vec![b], ..BatchOperands::default() };
    run(rt, BatchOperation::Potrs { uplo }, operands, options)
}

/// Solves A X = B for each problem with a positive definite A. The triangle `uplo` of A is replaced by its Cholesky
/// factor, and B by X. If A is not positive definite, the outcome says so, and B is unchanged.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes of a problem do not match, or the batches have different lengths.
///
/// The [module](super) has an example.
#[each_type]
pub fn posv<T: Scalar>(
    rt: &Runtime,
    uplo: Uplo,
    a: BatchMut<'_, T>,
    b: BatchMut<'_, T>,
    options: &Options,
) -> Result<Outcomes, Error> {
    let operands = BatchOperands { updated: vec![a, b], ..BatchOperands::default() };
    outcomes_of(rt, BatchOperation::Posv { uplo }, operands, options)
}

/// Computes the LU factorization with partial pivoting A = P L U of each matrix. `ipiv` receives min(m, n) interchanges
/// of each, a column in LAPACK's form.
///
/// A matrix with a pivot that is exactly zero has the number of the first one as its outcome; its factorization is
/// complete.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the interchanges of a matrix have another length, it has more than `i32::MAX`
/// rows, or the batches have different lengths.
///
/// ```
/// use superscalar::{
///     Runtime,
///     dla::{BatchMut, Options, batch},
/// };
///
/// let (rt, mut a, mut ipiv) = (Runtime::new()?, [1.0, 2.0, 3.0, 4.0], [0; 2]);
/// let (matrices, pivots) = (BatchMut::packed(&mut a, (2, 2))?, BatchMut::packed(&mut ipiv, (2, 1))?);
/// assert!(batch::getrf(&rt, matrices, pivots, &Options::default())?.are_all_good());
/// assert_eq!((a, ipiv), ([2.0, 0.5, 4.0, 1.0], [2, 2]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn getrf<T: Scalar>(
    rt: &Runtime,
    a: BatchMut<'_, T>,
    ipiv: BatchMut<'_, i32>,
    options: &Options,
) -> Result<Outcomes, Error> {
    let operands = BatchOperands { updated: vec![a], pivots_written: vec![ipiv], ..BatchOperands::default() };
    outcomes_of(rt, BatchOperation::Getrf, operands, options)
}

/// Computes the LU factorization A = L U of each matrix without interchanges. This is stable only if no pivot is small,
/// as for diagonally dominant matrices.
///
/// A matrix with a pivot that is exactly zero has the number of the first one as its outcome.
///
/// # Errors
/// An invalid block size.
///
/// ```
/// use superscalar::{
///     Runtime,
///     dla::{BatchMut, Options, batch},
/// };
///
/// let (rt, mut a) = (Runtime::new()?, [4.0, 2.0, 2.0, 5.0]);
/// let outcomes = batch::getrf_nopiv(&rt, BatchMut::packed(&mut a, (2, 2))?, &Options::default())?;
/// assert_eq!((a, outcomes[0]), ([4.0, 0.5, 2.0, 4.0], 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn getrf_nopiv<T: Scalar>(rt: &Runtime, a: BatchMut<'_, T>, options: &Options) -> Result<Outcomes, Error> {
    let operands = BatchOperands { updated: vec![a], ..BatchOperands::default() };
    outcomes_of(rt, BatchOperation::GetrfNopiv, operands, options)
}

/// Solves op(A) X = B for each problem by the factors and interchanges that [`getrf`] has computed.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes of a problem do not match, or the batches have different lengths;
/// [`Argument`](crate::ErrorKind::Argument) if an interchange is out of range.
///
/// ```
/// use superscalar::{
///     Runtime,
///     dla::{BatchMut, BatchRef, Op, Options, batch},
/// };
///
/// let (rt, factors, ipiv, mut b) = (Runtime::new()?, [2.0, 4.0], [1, 1], [6.0, 8.0]);
/// let (lu, pivots) = (BatchRef::packed(&factors, (1, 1))?, BatchRef::packed(&ipiv, (1, 1))?);
/// batch::getrs(&rt, Op::None, lu, pivots, BatchMut::packed(&mut b, (1, 1))?, &Options::default())?;
/// assert_eq!(b, [3.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn getrs<T: Scalar>(
    rt: &Runtime,
    op: Op,
    a: BatchRef<'_, T>,
    ipiv: BatchRef<'_, i32>,
    b: BatchMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let operands =
        BatchOperands { read: vec![a], updated: vec![b], pivots_read: vec![ipiv], ..BatchOperands::default() };
    run(rt, BatchOperation::Getrs { op }, operands, options)
}

/// Solves A X = B for each problem. A is replaced by its factors L and U, B by X, and `ipiv` receives the interchanges.
/// If a pivot is exactly zero, the outcome says so, and B is unchanged.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes of a problem do not match, or the batches have different lengths.
///
/// ```
/// use superscalar::{
///     Runtime,
///     dla::{BatchMut, Options, batch},
/// };
///
/// let (rt, mut a, mut b, mut ipiv) = (Runtime::new()?, [2.0, 0.0], [6.0, 8.0], [0; 2]);
/// let (systems, sides) = (BatchMut::packed(&mut a, (1, 1))?, BatchMut::packed(&mut b, (1, 1))?);
/// let outcomes = batch::gesv(&rt, systems, BatchMut::packed(&mut ipiv, (1, 1))?, sides, &Options::default())?;
/// assert_eq!((b, outcomes.into_info()), ([3.0, 8.0], vec![0, 1]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn gesv<T: Scalar>(
    rt: &Runtime,
    a: BatchMut<'_, T>,
    ipiv: BatchMut<'_, i32>,
    b: BatchMut<'_, T>,
    options: &Options,
) -> Result<Outcomes, Error> {
    let operands = BatchOperands { updated: vec![a, b], pivots_written: vec![ipiv], ..BatchOperands::default() };
    outcomes_of(rt, BatchOperation::Gesv, operands, options)
}
