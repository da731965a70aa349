//! Least squares, and solutions of least norm.

use super::{gelqf::conjugate, geqrf, unmqr};
use crate::block_size::Crew;
use crate::{
    codelets::{Zero, task},
    columns::{await_regular, check_diagonal, trsm},
    error::Error,
    matrix::Matrix,
    options::Options,
    tiled::Tiled,
    tuning::Blocks,
};
use superscalar_kernels::{
    Diag, MatMut, Op, Scalar, Side, Singular, Uplo,
    cpu::{self, BlockReflector},
};
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks that solve with the m x n matrix A, m >= n, of full rank, in block columns, which is replaced by its QR
/// factorization as by [`geqrf`](fn@crate::submit::geqrf): for [`Op::None`], the X that makes ‖B − A X‖ least in each column, over
/// the first n rows of B; for [`Op::ConjTrans`], the X of least norm with Aᴴ X = B, where B has n rows, over all m rows of B. B is
/// m x nrhs in block columns.
///
/// A matrix with more columns than rows is the conjugate transpose of such a one.
///
/// # Panics
/// If A or B is not in block columns, the shapes do not agree, or for [`Op::Trans`] of a complex type.
#[track_caller]
pub fn submit<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    op: Op,
    a: &Tiled<'s, MatMut<'s, T>>,
    tau: &'s mut [T],
    b: &Tiled<'s, MatMut<'s, T>>,
) {
    let (m, n) = a.shape();
    assert!(m >= n && b.shape().0 == m, "gels: A is {m} x {n}, B {} x {}", b.shape().0, b.shape().1);
    let q = geqrf::submit(s, a, tau);
    let regular = check_diagonal(s, a);
    // Nothing is solved with a singular R.
    let wait = || await_regular(s, regular, b);
    let r = (Uplo::Upper, op, Diag::NonUnit);
    if op == Op::None {
        // X = R⁻¹ (Qᴴ B)[0..n]
        unmqr::submit(s, Side::Left, Op::ConjTrans, a, &q, b);
        wait();
        trsm(s, r, a, b);
    } else {
        // X = Q (R⁻ᴴ B, 0)
        wait();
        trsm(s, r, a, b);
        let zero = Zero::new();
        b.places().for_each(|(_, j)| zero.insert(s, task("laset", 0, j, 0), n, b.at(0, j)));
        unmqr::submit(s, Side::Left, Op::None, a, &q, b);
    }
}

/// Solves with an m x n matrix A of full rank. B has max(m, n) rows and nrhs columns.
///
/// - Where op(A) has more rows than columns: least squares. Each column of B, of which the first rows, as many as op(A) has, are
///   given, is replaced in its first rows, as many as op(A) has columns, by the x that makes ‖b − op(A) x‖ least. The sum of
///   squares of the remaining rows, over those of op(A), is the residual's.
/// - Otherwise: each column's solution of op(A) x = b of least norm.
///
/// A is replaced by its QR factorization (m >= n) or its LQ factorization (m < n). The solution begins before the
/// factorization ends.
///
/// # Errors
/// [`Singular`](crate::ErrorKind::Singular), with LAPACK's `info`, if A does not have full rank to the last digit: a diagonal
/// element of the triangular factor is exactly zero, and B of no use. [`Shape`](crate::ErrorKind::Shape) if B does not have
/// max(m, n) rows; [`Argument`](crate::ErrorKind::Argument) for [`Op::Trans`] of a complex type.
///
/// ```
/// use superscalar_dla::{Matrix, Options, gels};
/// use superscalar_kernels::Op;
/// use superscalar_runtime::Runtime;
///
/// let rt = Runtime::new()?;
/// // A line through (0, 1), (1, 3), (2, 5): 1 + 2 t.
/// let mut a = Matrix::from_fn(3, 2, |i, j| if j == 0 { 1.0 } else { i as f64 });
/// let mut b = Matrix::from_fn(3, 1, |i, _| [1.0f64, 3.0, 5.0][i]);
/// gels(&rt, Op::None, a.as_mut(), b.as_mut(), &Options::default())?;
/// assert!((b.at(0, 0) - 1.0).abs() < 1e-14 && (b.at(1, 0) - 2.0).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn gels<T: Scalar>(
    rt: &Runtime,
    op: Op,
    mut a: MatMut<'_, T>,
    mut b: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let ((m, n), (rows, nrhs)) = (a.shape(), b.shape());
    if rows != m.max(n) {
        return Err(Error::shape(format!("gels: A is {m} x {n}, B {rows} x {nrhs}")));
    }
    unmqr::check_op::<T>("gels", op)?;
    if m == 0 || n == 0 {
        b.fill(T::ZERO);
        return Ok(());
    }
    // Aᴴ is tall if A is wide: the other op of the conjugated, transposed view.
    let wide = m < n;
    let op = if (op == Op::None) == wide { Op::ConjTrans } else { Op::None };
    if wide {
        conjugate(a.rb_mut());
    }
    let tall = if wide { a.rb_mut().transpose() } else { a.rb_mut() };
    let panel = options.panel_columns::<T>(Blocks::Qr, tall.shape(), Crew::of(rt))?;
    let tiles = options.product_tiles((tall.nrows(), nrhs, tall.ncols()), Crew::of(rt))?;
    let outcome =
        if panel.is_none() && tiles.is_none() { solve(op, tall, b) } else { share_out(rt, op, tall, b, options) };
    if wide {
        conjugate(a);
    }
    outcome
}

/// Solves with a tall matrix, by tasks.
fn share_out<T: Scalar>(
    rt: &Runtime,
    op: Op,
    mut a: MatMut<'_, T>,
    mut b: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let ((m, n), nrhs) = (a.shape(), b.ncols());
    let nb = options.reflector_columns::<T>((m, n))?;
    let columns = options.right_hand_sides(m, nrhs, Crew::of(rt))?;
    let (mut tau, distribution) = (vec![T::ZERO; n], options.distribution_of_factorization(rt)?);
    Ok(rt.scope(|s| {
        let a = Tiled::columns(s, a.rb_mut(), nb).distributed(s, distribution);
        let b = Tiled::columns(s, b.rb_mut(), columns).distributed(s, distribution);
        submit(s, op, &a, &mut tau, &b);
    })?)
}

/// The same on one thread.
fn solve<T: Scalar>(op: Op, mut a: MatMut<'_, T>, mut b: MatMut<'_, T>) -> Result<(), Error> {
    let ((m, n), nrhs) = (a.shape(), b.ncols());
    let (mut tau, mut t) = (vec![T::ZERO; n], Matrix::zeros(n, n));
    cpu::geqrf(a.rb_mut(), &mut tau, t.as_mut());
    let a = a.into_ref();
    if let Some(at) = (0..n).find(|&i| a.at(i, i) == T::ZERO) {
        return Err(Singular { pivot: at + 1 }.into());
    }
    let (q, r) = (BlockReflector::new(a, t.as_ref()), a.submatrix(0..n, 0..n));
    let trsm = |b: MatMut<'_, T>| {
        let x = b.submatrix(0..n, 0..nrhs);
        cpu::trsm(Side::Left, Uplo::Upper, op, Diag::NonUnit, T::ONE, r, x);
    };
    if op == Op::None {
        cpu::larfb(Side::Left, Op::ConjTrans, q, b.rb_mut());
        trsm(b);
    } else {
        trsm(b.rb_mut());
        b.rb_mut().submatrix(n..m, 0..nrhs).fill(T::ZERO);
        cpu::larfb(Side::Left, Op::None, q, b);
    }
    Ok(())
}
