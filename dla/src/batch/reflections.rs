//! QR factorizations of every matrix, what follows from them, and bidiagonal forms.

use super::{Outcomes, engine::run, outcomes_of};
use crate::{Scalar, error::Error, options::Options};
use superscalar_kernels::{
    BatchMut, BatchRef, Op,
    operations::{BatchOperands, BatchOperation},
};
use superscalar_macros::each_type;
use superscalar_runtime::Runtime;

/// Computes the QR factorization A = Q R of each matrix, as LAPACK's xGEQRF does: R and the reflectors replace A, and
/// `tau`, a column of min(m, n), receives their scalar factors.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if a `tau` has another length, or the batches have different lengths.
///
/// ```
/// use superscalar::{
///     Runtime,
///     dla::{BatchMut, Options, batch},
/// };
///
/// let (rt, mut a, mut tau) = (Runtime::new()?, [3.0, 4.0], [0.0]);
/// let (matrices, factors) = (BatchMut::packed(&mut a, (2, 1))?, BatchMut::packed(&mut tau, (1, 1))?);
/// batch::geqrf(&rt, matrices, factors, &Options::default())?;
/// assert_eq!((a, tau), ([-5.0, 0.5], [1.6]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn geqrf<T: Scalar>(
    rt: &Runtime,
    a: BatchMut<'_, T>,
    tau: BatchMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let operands = BatchOperands { updated: vec![a], written: vec![tau], ..BatchOperands::default() };
    run(rt, BatchOperation::Geqrf, operands, options)
}

/// Forms the first n columns of each Q from the reflectors that [`geqrf`] has stored in A, m x n with m ≥ n. `tau` is a
/// column of k ≤ n scalar factors. Also called orgqr.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes of a problem do not match, or the batches have different lengths.
///
/// ```
/// use superscalar::{
///     Runtime,
///     dla::{BatchMut, BatchRef, Options, batch},
/// };
///
/// let (rt, mut a) = (Runtime::new()?, [-5.0, 0.5]);
/// let (matrices, tau) = (BatchMut::packed(&mut a, (2, 1))?, BatchRef::packed(&[1.6], (1, 1))?);
/// batch::ungqr(&rt, matrices, tau, &Options::default())?;
/// assert!((a[0] + 0.6f64).abs() < 1e-15 && (a[1] + 0.8).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn ungqr<T: Scalar>(
    rt: &Runtime,
    a: BatchMut<'_, T>,
    tau: BatchRef<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let operands = BatchOperands { read: vec![tau], updated: vec![a], ..BatchOperands::default() };
    run(rt, BatchOperation::Ungqr, operands, options)
}

/// Computes C := op(Q) C for each problem, with the k reflectors that [`geqrf`] has stored in the m x k matrix A and in
/// `tau`. Also called ormqr.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes of a problem do not match, the batches have different lengths, or
/// `op` is a plain transpose of complex reflectors.
///
/// ```
/// use superscalar::{
///     Runtime,
///     dla::{BatchMut, BatchRef, Op, Options, batch},
/// };
///
/// let (rt, v, mut c) = (Runtime::new()?, [-5.0, 0.5], [3.0, 4.0]);
/// let (reflectors, tau) = (BatchRef::packed(&v, (2, 1))?, BatchRef::packed(&[1.6], (1, 1))?);
/// batch::unmqr(&rt, Op::ConjTrans, reflectors, tau, BatchMut::packed(&mut c, (2, 1))?, &Options::default())?;
/// assert!((c[0] + 5.0f64).abs() < 1e-14 && c[1].abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn unmqr<T: Scalar>(
    rt: &Runtime,
    op: Op,
    a: BatchRef<'_, T>,
    tau: BatchRef<'_, T>,
    c: BatchMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let operands = BatchOperands { read: vec![a, tau], updated: vec![c], ..BatchOperands::default() };
    run(rt, BatchOperation::Unmqr { op }, operands, options)
}

/// Solves A X = B for each problem by QR. A is m x n of full rank, and B has max(m, n) rows.
///
/// - m ≥ n: finds the X that minimises ‖A X − B‖. R and the reflectors replace A, and X the first n rows of B. The
///   contents of the other rows are unspecified.
/// - m < n: finds the X of least norm with A X = B, where B is in the first m rows. X replaces all n rows of B. The
///   contents of A are unspecified afterwards.
///
/// The triangle is that of the QR factorization of A, or of Aᴴ for m < n. If one of its diagonal elements is exactly
/// zero, the outcome has the number of the first one, and B is unspecified. As for [`gels`](fn@crate::gels), a matrix
/// that is only nearly rank-deficient is not recognised. Matrices are not scaled: their elements should be a factor of
/// 1 / ε away from overflow and underflow.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if B of a problem has another number of rows, or the batches have different
/// lengths.
///
/// ```
/// use superscalar::{
///     Runtime,
///     dla::{BatchMut, Options, batch},
/// };
///
/// let (rt, mut a, mut b) = (Runtime::new()?, [1.0, 1.0], [1.0, 3.0]);
/// let (matrices, sides) = (BatchMut::packed(&mut a, (2, 1))?, BatchMut::packed(&mut b, (2, 1))?);
/// assert!(batch::gels(&rt, matrices, sides, &Options::default())?.are_all_good());
/// assert!((b[0] - 2.0f64).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn gels<T: Scalar>(
    rt: &Runtime,
    a: BatchMut<'_, T>,
    b: BatchMut<'_, T>,
    options: &Options,
) -> Result<Outcomes, Error> {
    let operands = BatchOperands { updated: vec![a, b], ..BatchOperands::default() };
    outcomes_of(rt, BatchOperation::Gels, operands, options)
}

/// Reduces each matrix to bidiagonal form, Qᴴ A P = B, as LAPACK's xGEBRD does. B is upper bidiagonal for m ≥ n,
/// otherwise lower. `d`, a column of k = min(m, n), receives its diagonal, and `e`, a column of k − 1, the other
/// diagonal; the reflectors replace A, and `tauq` and `taup`, columns of k, receive their scalar factors.
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
/// let (rt, mut a, mut d) = (Runtime::new()?, [3.0, 4.0], [0.0]);
/// let (mut e, mut tauq, mut taup): ([f64; 0], _, _) = ([], [0.0], [0.0]);
/// let e = BatchMut::strided(&mut e, (0, 1), 1, 1, 1)?;
/// let [d_, tauq, taup] = [&mut d, &mut tauq, &mut taup].map(|x| BatchMut::packed(x, (1, 1)).expect("one element"));
/// batch::gebrd(&rt, BatchMut::packed(&mut a, (2, 1))?, d_, e, tauq, taup, &Options::default())?;
/// assert_eq!(d, [-5.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn gebrd<T: Scalar>(
    rt: &Runtime,
    a: BatchMut<'_, T>,
    d: BatchMut<'_, T::Real>,
    e: BatchMut<'_, T::Real>,
    tauq: BatchMut<'_, T>,
    taup: BatchMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let operands =
        BatchOperands { updated: vec![a], written: vec![tauq, taup], reals: vec![d, e], ..BatchOperands::default() };
    run(rt, BatchOperation::Gebrd, operands, options)
}
