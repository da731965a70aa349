//! Least squares, and solutions of least norm.

use super::{
    gelqf::{by_columns, conjugate},
    geqrf, unmqr,
};
use crate::{
    Scalar,
    cholesky::trtri::check_regular,
    codelets::{Changed, task},
    columns::{await_regular, check_diagonal_unless_zero, trsm},
    error::Error,
    matrix::Matrix,
    options::Options,
    plan::{Problem, REFLECTORS},
    scaling::{exponent_to_safety, largest_part, scale, scale_upper, worst},
    tiled::{Tile, TileView, Tiled},
};
use std::ops::Range;
use superscalar_kernels::{
    Diag, MatMut, MatRef, Op, Real, Scalar as _, Side, Singular, Uplo,
    cpu::{self, BlockReflector},
};
use superscalar_macros::each_type;
use superscalar_runtime::{Output, Runtime, Scope};

/// Inserts the tasks that solve with the m x n matrix A, m >= n, of full rank, in block columns, which is replaced by its QR
/// factorization as by [`geqrf`](fn@crate::spawn::geqrf): for [`Op::None`], the X that makes ‖B − A X‖ least in each column, over
/// the first n rows of B; for [`Op::ConjTrans`], the X of least norm with Aᴴ X = B, where B has n rows, over all m rows of B. B is
/// m x nrhs in block columns.
///
/// A matrix with more columns than rows is the conjugate transpose of such a one.
///
/// A and B are scaled as by [`gels`](fn@crate::gels), by tasks that wait for the largest element of all of A, or of B.
/// Where the runtime has devices they are not scaled, because looking at a matrix would bring it home: there the caller
/// keeps the largest elements a factor of 1 / ε away from overflow and underflow, and an A of zeros is singular.
///
/// # Panics
/// If A or B is not in block columns, the shapes do not agree, or for [`Op::Trans`] of a complex type.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    op: Op,
    a: &Tiled<'s, MatMut<'s, T>>,
    tau: &'s mut [T],
    b: &Tiled<'s, MatMut<'s, T>>,
) {
    let (m, n) = a.shape();
    assert!(m >= n && b.shape().0 == m, "gels: A is {m} x {n}, B {} x {}", b.shape().0, b.shape().1);
    assert!(a.mt() <= 1 && b.mt() <= 1, "gels: A and B in block columns");
    if s.nesting().has_devices() {
        return spawn_unscaled(s, op, a, tau, b, None);
    }
    let (given, solved) = if op == Op::None { (m, n) } else { (n, m) };
    let [a_largest, b_largest] = [spawn_largest(s, a, m), spawn_largest(s, b, given)];
    for (_, j) in a.places() {
        s.spawn(task("lascl", 0, j, 0), (a_largest.read(), a.at(0, j).read_write()), move |(&largest, a)| {
            scale_rows(a, 0..m, exponent_to_safety(largest));
        });
    }
    for (_, j) in b.places() {
        s.spawn(task("lascl", 0, j, 0), (b_largest.read(), b.at(0, j).read_write()), move |(&largest, b)| {
            scale_rows(b, 0..given, exponent_to_safety(largest));
        });
    }
    spawn_unscaled(s, op, a, tau, b, Some(a_largest));
    for (_, j) in b.places() {
        let largest = [a_largest.read(), b_largest.read()];
        s.spawn(task("lascl", 0, j, 1), (largest, b.at(0, j).read_write()), move |([&of_a, &of_b], b)| {
            if of_a == T::Real::ZERO {
                return b.view_mut().fill(T::ZERO);
            }
            let scaling = Scaling::of(of_a, of_b);
            scale_rows(b, 0..solved, scaling.a - scaling.b);
            scale_rows(b, solved..m, -scaling.b);
        });
    }
    for (_, j) in a.places() {
        let first = j * a.tile_shape().1;
        s.spawn(task("lascl", 0, j, 1), (a_largest.read(), a.at(0, j).read_write()), move |(&largest, a)| {
            match exponent_to_safety(largest) {
                0 => {}
                k => scale_upper(a.view_mut(), first, -k),
            }
        });
    }
}

/// The same without scaling. If the largest element of A is given, and zero, A is not singular: B is of no use then,
/// and nothing fails.
#[track_caller]
fn spawn_unscaled<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    op: Op,
    a: &Tiled<'s, MatMut<'s, T>>,
    tau: &'s mut [T],
    b: &Tiled<'s, MatMut<'s, T>>,
    a_largest: Option<Output<'s, T::Real>>,
) {
    let n = a.shape().1;
    let q = geqrf::spawn(s, a, tau);
    let regular = check_diagonal_unless_zero(s, a, a_largest);
    // Nothing is solved with a singular R.
    let wait = || await_regular(s, regular, b);
    let r = (Uplo::Upper, op, Diag::NonUnit);
    if op == Op::None {
        // X = R⁻¹ (Qᴴ B)[0..n]
        unmqr::spawn(s, Side::Left, Op::ConjTrans, a, &q, b);
        wait();
        trsm(s, r, a, b);
    } else {
        // X = Q (R⁻ᴴ B, 0)
        wait();
        trsm(s, r, a, b);
        for (_, j) in b.places() {
            let zero = move |b: &mut Changed<'s, T>| b.view_mut().split_at_row(n).1.fill(T::ZERO);
            s.spawn(task("laset", 0, j, 0), b.at(0, j).read_write(), zero);
        }
        unmqr::spawn(s, Side::Left, Op::None, a, &q, b);
    }
}

/// The exponents of the powers of two by which A and B are multiplied: A X = B becomes 2ᵃ A X' = 2ᵇ B, and X is 2ᵃ⁻ᵇ
/// X'.
#[derive(Clone, Copy)]
struct Scaling {
    a: i32,
    b: i32,
}

impl Scaling {
    /// Those for matrices with these largest elements.
    fn of<R: Real>(a: R, b: R) -> Self {
        Self { a: exponent_to_safety(a), b: exponent_to_safety(b) }
    }
}

/// Multiplies some rows of a tile by 2ᵏ; nearly always k is zero, and what is known of the tile stays so.
fn scale_rows<T: Scalar>(tile: &mut Tile<MatMut<'_, T>>, rows: Range<usize>, k: i32) {
    if k != 0 {
        let cols = tile.view().ncols();
        scale(tile.view_mut().submatrix(rows, 0..cols), k);
    }
}

/// Inserts tasks that find the largest part of an element in the first rows of a matrix in block columns.
#[track_caller]
fn spawn_largest<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    a: &Tiled<'s, V>,
    rows: usize,
) -> Output<'s, T::Real> {
    let largest = a.places().map(|(_, j)| {
        let of = move |a: &Tile<V>| largest_part(a.view().submatrix(0..rows, 0..a.view().ncols()));
        s.compute(task("norm", 0, j, 0), a.at(0, j).read(), of).read()
    });
    let largest: Vec<_> = largest.collect();
    s.compute("norm", largest, |parts| parts.into_iter().copied().fold(T::Real::ZERO, worst))
}

/// The same for a matrix of the host, by tasks if it is large.
fn largest<T: Scalar>(rt: &Runtime, a: MatRef<'_, T>, options: &Options) -> Result<T::Real, Error> {
    let Some(nb) = options.plan::<T>(rt, Problem::elements(a.shape()))?.blocks() else { return Ok(largest_part(a)) };
    Ok(rt.scope(|s| {
        let largest = spawn_largest(s, &Tiled::read_only_columns(s, a, nb), a.nrows());
        s.get(largest).copied()
    })??)
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
/// If the largest element of A, or of B, is so large or so small that what is computed might overflow or underflow, the
/// matrix is scaled by a power of two first, and solution, residuals and factors are scaled back: they are those of A
/// and B as they were given. For an A of zeros the solution is zero, and so is all of B.
///
/// # Errors
/// [`Singular`](crate::ErrorKind::Singular), with LAPACK's `info`, if A is not zero and does not have full rank to the
/// last digit: a diagonal element of the triangular factor is exactly zero, and B of no use.
/// [`Shape`](crate::ErrorKind::Shape) if B does not have max(m, n) rows; [`Argument`](crate::ErrorKind::Argument) for
/// [`Op::Trans`] of a complex type.
///
/// ```
/// use superscalar::dla::{Matrix, Options, gels};
/// use superscalar::dla::Op;
/// use superscalar::Runtime;
///
/// let rt = Runtime::new()?;
/// // A line through (0, 1), (1, 3), (2, 5): 1 + 2 t.
/// let mut a = Matrix::from_fn(3, 2, |i, j| if j == 0 { 1.0 } else { i as f64 });
/// let mut b = Matrix::from_fn(3, 1, |i, _| [1.0f64, 3.0, 5.0][i]);
/// gels(&rt, Op::None, a.as_mut(), b.as_mut(), &Options::default())?;
/// assert!((b.at(0, 0) - 1.0).abs() < 1e-14 && (b.at(1, 0) - 2.0).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn gels<T: Scalar>(
    rt: &Runtime,
    op: Op,
    a: MatMut<'_, T>,
    b: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let ((m, n), (rows, nrhs)) = (a.shape(), b.shape());
    if rows != m.max(n) {
        return Err(Error::shape(format!("gels: A is {m} x {n}, B {rows} x {nrhs}")));
    }
    unmqr::check_op::<T>("gels", op)?;
    let (tall, order) = (m.max(n), m.min(n));
    let panel = options.plan::<T>(rt, Problem::Qr { m: tall, n: order })?.blocks();
    let tiles = options.plan::<T>(rt, Problem::Product { m: tall, n: nrhs, k: order })?.tiles();
    let solve = |op: Op, a: MatMut<'_, T>, b: MatMut<'_, T>| match (panel, tiles) {
        (None, None) => Ok(direct(op, a, b)?),
        _ => by_columns(rt, a, |a| share_out(rt, op, a, b, options)),
    };
    scaled(op, a, b, |a| largest(rt, a, options), solve)
}

/// Solves on the calling thread, as [`gels`](fn@crate::gels) does.
///
/// # Errors
/// [`Singular`] if A is not zero and a diagonal element of its triangular factor is exactly zero: B is of no use then.
///
/// # Panics
/// If the shapes do not agree; for [`Op::Trans`] of a complex type.
///
/// ```
/// use superscalar::dla::{Matrix, serial};
/// use superscalar::dla::Op;
///
/// let (mut a, mut b) = (Matrix::from_fn(2, 1, |_, _| 1.0), Matrix::from_fn(2, 1, |i, _| [2.0f64, 4.0][i]));
/// serial::gels(Op::None, a.as_mut(), b.as_mut())?;
/// assert!((b.at(0, 0) - 3.0).abs() < 1e-14);
/// # Ok::<(), superscalar::dla::Singular>(())
/// ```
#[each_type]
pub fn serial<T: Scalar>(op: Op, a: MatMut<'_, T>, b: MatMut<'_, T>) -> Result<(), Singular> {
    let (m, n) = a.shape();
    assert!(b.nrows() == m.max(n), "gels: A is {m} x {n}, B {} x {}", b.nrows(), b.ncols());
    assert!(!T::COMPLEX || op != Op::Trans, "gels: no plain transpose of a complex matrix");
    scaled(op, a, b, |a| Ok(largest_part(a)), direct)
}

/// Solves with matrices that are scaled, if they must be, for as long as that takes: `largest` finds a matrix's largest
/// part of an element,
/// `solve` solves with a tall one.
fn scaled<T: Scalar, E>(
    op: Op,
    mut a: MatMut<'_, T>,
    mut b: MatMut<'_, T>,
    largest: impl Fn(MatRef<'_, T>) -> Result<T::Real, E>,
    solve: impl FnOnce(Op, MatMut<'_, T>, MatMut<'_, T>) -> Result<(), E>,
) -> Result<(), E> {
    let ((m, n), nrhs) = (a.shape(), b.ncols());
    // Aᴴ is tall if A is wide: the other op of the conjugated, transposed view.
    let wide = m < n;
    let op = if (op == Op::None) == wide { Op::ConjTrans } else { Op::None };
    let (tall, order) = (m.max(n), m.min(n));
    let (given, solved) = if op == Op::None { (tall, order) } else { (order, tall) };
    let a_largest = largest(a.as_ref())?;
    if a_largest == T::Real::ZERO {
        // Also where A has no elements.
        b.fill(T::ZERO);
        return Ok(());
    }
    let scaling = Scaling::of(a_largest, largest(b.as_ref().submatrix(0..given, 0..nrhs))?);
    scale(a.rb_mut(), scaling.a);
    scale(b.rb_mut().submatrix(0..given, 0..nrhs), scaling.b);
    if wide {
        conjugate(a.rb_mut());
    }
    let mut qr = if wide { a.rb_mut().transpose() } else { a.rb_mut() };
    let outcome = solve(op, qr.rb_mut(), b.rb_mut());
    scale_upper(qr, 0, -scaling.a);
    if wide {
        conjugate(a);
    }
    scale(b.rb_mut().submatrix(0..solved, 0..nrhs), scaling.a - scaling.b);
    scale(b.submatrix(solved..tall, 0..nrhs), -scaling.b);
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
    let columns = options.right_hand_sides::<T>(rt, m, nrhs)?;
    let (mut tau, distribution) = (vec![T::ZERO; n], options.distribution_of_factorization(rt)?);
    Ok(rt.scope(|s| {
        let a = Tiled::columns(s, a.rb_mut(), nb).distributed(s, distribution);
        let b = Tiled::columns(s, b.rb_mut(), columns).distributed(s, distribution);
        spawn_unscaled(s, op, &a, &mut tau, &b, None);
    })?)
}

/// The same on one thread.
fn direct<T: Scalar>(op: Op, mut a: MatMut<'_, T>, mut b: MatMut<'_, T>) -> Result<(), Singular> {
    let ((m, n), nrhs) = (a.shape(), b.ncols());
    let (mut tau, mut t) = (vec![T::ZERO; n], Matrix::zeros(REFLECTORS.min(n), n));
    cpu::geqrf(a.rb_mut(), &mut tau, t.as_mut());
    let a = a.into_ref();
    let (q, r) = (BlockReflector::new(a, t.as_ref()), a.submatrix(0..n, 0..n));
    check_regular(Diag::NonUnit, r)?;
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
