//! Least squares and minimum norm solutions.

use super::{
    gelqf::{conjugate, with_column_major},
    geqrf, unmqr,
};
use crate::{
    Scalar,
    cholesky::trtri::check_nonsingular,
    codelets::{TileMut, TriangleForm, task},
    columns::{check_diagonal_unless_zero, trsm, wait_for_check},
    error::Error,
    matrix::Matrix,
    options::Options,
    plan::{INNER_BLOCK, Problem},
    scaling::{largest_part, max_or_nan, safe_scaling_exponent, scale, scale_upper},
    tiled::{Tile, TileView, Tiled},
};
use std::ops::Range;
use superscalar_kernels::{
    Diag, MatMut, MatRef, Op, Real, Scalar as _, Side, Singular, Uplo,
    cpu::{self, BlockReflector},
};
use superscalar_macros::each_type;
use superscalar_runtime::{Output, Runtime, Scope};

/// Inserts the tasks that solve with an m x n matrix A of full rank, m >= n. A, in block columns, is replaced by its QR
/// factorization, with its scalar factors in `tau`, as by [`geqrf`](fn@crate::spawn::geqrf). B is m x nrhs, in block
/// columns.
///
/// - [`Op::None`]: computes the X that minimizes ‖B − A X‖ for each column; X overwrites the first n rows of B.
/// - [`Op::ConjTrans`]: computes the minimum norm solution of Aᴴ X = B, where B is in the first n rows; X overwrites
///   all m rows.
///
/// For a matrix with more columns than rows, use its conjugate transpose.
///
/// A and B are scaled as by [`gels`](fn@crate::gels), in tasks that wait for the largest element of the whole of A or
/// B. If the runtime has devices, they are not scaled, because finding the largest element would copy the matrices to
/// the host. Callers must then keep the largest elements a factor of 1 / ε away from overflow and underflow, and a
/// matrix A of zeros is singular.
///
/// A matrix that is nearly rank deficient is not detected; see [`gels`](fn@crate::gels).
///
/// # Panics
/// If A or B is not in block columns, the shapes do not match, or for [`Op::Trans`] of a complex type.
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
    assert!(
        m >= n && b.shape().0 == m,
        "gels: A is {m} x {n}, B is {} x {}; expected m >= n and m rows of B",
        b.shape().0,
        b.shape().1
    );
    assert!(a.mt() <= 1 && b.mt() <= 1, "gels: A and B must be in block columns");
    if s.nesting().has_devices() {
        return spawn_unscaled(s, op, a, tau, b, None);
    }
    let (given, solved) = if op == Op::None { (m, n) } else { (n, m) };
    let [a_largest, b_largest] = [spawn_largest(s, a, m), spawn_largest(s, b, given)];
    for (_, j) in a.tile_indices() {
        s.spawn(task("lascl", 0, j, 0), (a_largest.read(), a.at(0, j).read_write()), move |(&largest, a)| {
            scale_rows(a, 0..m, safe_scaling_exponent(largest));
        });
    }
    for (_, j) in b.tile_indices() {
        s.spawn(task("lascl", 0, j, 0), (b_largest.read(), b.at(0, j).read_write()), move |(&largest, b)| {
            scale_rows(b, 0..given, safe_scaling_exponent(largest));
        });
    }
    spawn_unscaled(s, op, a, tau, b, Some(a_largest));
    for (_, j) in b.tile_indices() {
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
    for (_, j) in a.tile_indices() {
        let first = j * a.tile_shape().1;
        s.spawn(task("lascl", 0, j, 1), (a_largest.read(), a.at(0, j).read_write()), move |(&largest, a)| {
            match safe_scaling_exponent(largest) {
                0 => {}
                k => scale_upper(a.view_mut(), first, -k),
            }
        });
    }
}

/// Inserts the tasks without scaling. If the largest element of A is given and zero, no task fails, and B is undefined.
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
    let diagonal_check = check_diagonal_unless_zero(s, a, a_largest);
    // B must not be solved with a singular R.
    let wait = || wait_for_check(s, diagonal_check, b);
    let r = TriangleForm { uplo: Uplo::Upper, op, diag: Diag::NonUnit };
    if op == Op::None {
        // X = R⁻¹ (Qᴴ B)[0..n]
        unmqr::spawn(s, Side::Left, Op::ConjTrans, a, &q, b);
        wait();
        trsm(s, r, a, b);
    } else {
        // X = Q (R⁻ᴴ B, 0)
        wait();
        trsm(s, r, a, b);
        for (_, j) in b.tile_indices() {
            let zero = move |b: &mut TileMut<'s, T>| b.view_mut().split_at_row(n).1.fill(T::ZERO);
            s.spawn(task("laset", 0, j, 0), b.at(0, j).read_write(), zero);
        }
        unmqr::spawn(s, Side::Left, Op::None, a, &q, b);
    }
}

/// Exponents of the powers of two by which A and B are multiplied: A X = B becomes 2ᵃ A X' = 2ᵇ B, and X = 2ᵃ⁻ᵇ X'.
#[derive(Clone, Copy)]
struct Scaling {
    a: i32,
    b: i32,
}

impl Scaling {
    /// Returns the exponents for matrices with these largest elements.
    fn of<R: Real>(a: R, b: R) -> Self {
        Self { a: safe_scaling_exponent(a), b: safe_scaling_exponent(b) }
    }
}

/// Multiplies rows of a tile by 2ᵏ. If k is zero, as is usual, the tile's packed form stays valid.
fn scale_rows<T: Scalar>(tile: &mut Tile<MatMut<'_, T>>, rows: Range<usize>, k: i32) {
    if k != 0 {
        let cols = tile.view().ncols();
        scale(tile.view_mut().submatrix(rows, 0..cols), k);
    }
}

/// Inserts tasks that find the largest part of an element in the first `rows` rows of a matrix in block columns.
#[track_caller]
fn spawn_largest<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    a: &Tiled<'s, V>,
    rows: usize,
) -> Output<'s, T::Real> {
    let largest = a.tile_indices().map(|(_, j)| {
        let of = move |a: &Tile<V>| largest_part(a.view().submatrix(0..rows, 0..a.view().ncols()));
        s.compute(task("norm", 0, j, 0), a.at(0, j).read(), of).read()
    });
    let largest: Vec<_> = largest.collect();
    s.compute("norm", largest, |parts| parts.into_iter().copied().fold(T::Real::ZERO, max_or_nan))
}

/// Returns the largest part of an element of a host matrix, using tasks if it is large.
fn largest<T: Scalar>(rt: &Runtime, a: MatRef<'_, T>, options: &Options) -> Result<T::Real, Error> {
    let Some(nb) = options.plan::<T>(rt, Problem::elements(a.shape()))?.blocks() else { return Ok(largest_part(a)) };
    Ok(rt.scope(|s| {
        let largest = spawn_largest(s, &Tiled::read_only_columns(s, a, nb), a.nrows());
        s.get(largest).copied()
    })??)
}

/// Solves least squares problems and underdetermined systems with an m x n matrix A of full rank. B has max(m, n) rows
/// and nrhs columns.
///
/// - If op(A) has at least as many rows as columns: computes the least squares solution, for each column b of B the x
///   that minimizes ‖b − op(A) x‖. b is given in the first rows of B, as many as op(A) has. x overwrites its first
///   elements, as many as op(A) has columns. The sum of squares of the remaining elements, up to the rows of op(A), is
///   that of the residual.
/// - Otherwise: computes the minimum norm solution of op(A) x = b for each column b of B.
///
/// A is replaced by its QR factorization (m >= n) or its LQ factorization (m < n). The solution starts before the
/// factorization is complete.
///
/// If the largest element of A or B is so large or small that the computation might overflow or underflow, that matrix
/// is scaled by a power of two. The solution, the residuals and the factors are scaled back. If A is zero, B is set to
/// zero.
///
/// # Rank deficiency
/// The routine assumes that A has full rank, like LAPACK's gels. Only a diagonal element of the triangular factor (R or
/// L) that is *exactly* zero is an error. Because of rounding, a rank-deficient matrix usually has a tiny diagonal
/// element instead. The routine then returns `Ok`, with a solution that has huge, meaningless elements.
///
/// If A may be nearly rank deficient, estimate the condition number of the triangular factor, which A holds on return.
/// [`gecon`](fn@crate::gecon) does so for R: copy R into a matrix of zeros with [`lacpy`](fn@crate::lacpy), and pass
/// the copy with its norm from [`lantr`](fn@crate::lantr); an upper triangle is its own LU factorization. For L, use
/// its transpose. If A is square, [`gesv`](fn@crate::gesv) and `gecon` are an alternative; if A is positive definite,
/// [`posv`](fn@crate::posv) and [`pocon`](fn@crate::pocon) are.
///
/// # Errors
/// [`Singular`](crate::ErrorKind::Singular), with LAPACK's `info`, if A is not zero and a diagonal element of its
/// triangular factor is exactly zero; B is then undefined. [`Shape`](crate::ErrorKind::Shape) if B does not have
/// max(m, n) rows; [`Argument`](crate::ErrorKind::Argument) for [`Op::Trans`] of a complex type.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Op, Options, gels};
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
        return Err(Error::shape(format!("gels: A is {m} x {n}, B is {rows} x {nrhs}; B must have max(m, n) rows")));
    }
    unmqr::check_op::<T>("gels", op)?;
    let (tall, order) = (m.max(n), m.min(n));
    let panel = options.plan::<T>(rt, Problem::Qr { m: tall, n: order })?.blocks();
    let tiles = options.plan::<T>(rt, Problem::Product { m: tall, n: nrhs, k: order })?.tiles();
    let solve = |op: Op, a: MatMut<'_, T>, b: MatMut<'_, T>| match (panel, tiles) {
        (None, None) => Ok(solve_serial(op, a, b)?),
        _ => with_column_major(rt, a, |a| solve_tiled(rt, op, a, b, options)),
    };
    with_scaling(op, a, b, |a| largest(rt, a, options), solve)
}

/// Solves on the calling thread, like [`gels`](fn@crate::gels). The same limits apply near rank deficiency.
///
/// # Errors
/// [`Singular`] if A is not zero and a diagonal element of its triangular factor is exactly zero; B is then undefined.
///
/// # Panics
/// If the shapes do not match, or for [`Op::Trans`] of a complex type.
///
/// ```
/// use superscalar::dla::{Matrix, Op, serial};
///
/// let (mut a, mut b) = (Matrix::from_fn(2, 1, |_, _| 1.0), Matrix::from_fn(2, 1, |i, _| [2.0f64, 4.0][i]));
/// serial::gels(Op::None, a.as_mut(), b.as_mut())?;
/// assert!((b.at(0, 0) - 3.0).abs() < 1e-14);
/// # Ok::<(), superscalar::dla::Singular>(())
/// ```
#[each_type]
pub fn serial<T: Scalar>(op: Op, a: MatMut<'_, T>, b: MatMut<'_, T>) -> Result<(), Singular> {
    let (m, n) = a.shape();
    assert!(
        b.nrows() == m.max(n),
        "gels: A is {m} x {n}, B is {} x {}; B must have max(m, n) rows",
        b.nrows(),
        b.ncols()
    );
    assert!(!T::COMPLEX || op != Op::Trans, "gels: trans = T is not supported for complex matrices");
    with_scaling(op, a, b, |a| Ok(largest_part(a)), solve_serial)
}

/// Scales A and B if necessary, solves, and scales back. `largest` returns the largest part of a matrix's elements;
/// `solve` solves with a tall matrix.
fn with_scaling<T: Scalar, E>(
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
        // This includes matrices without elements.
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

/// Solves with a tall matrix, using tasks.
fn solve_tiled<T: Scalar>(
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

/// Solves with a tall matrix on the calling thread.
fn solve_serial<T: Scalar>(op: Op, mut a: MatMut<'_, T>, mut b: MatMut<'_, T>) -> Result<(), Singular> {
    let ((m, n), nrhs) = (a.shape(), b.ncols());
    let (mut tau, mut t) = (vec![T::ZERO; n], Matrix::zeros(INNER_BLOCK.min(n), n));
    cpu::geqrf(a.rb_mut(), &mut tau, t.as_mut());
    let a = a.into_ref();
    let (q, r) = (BlockReflector::new(a, t.as_ref()), a.submatrix(0..n, 0..n));
    check_nonsingular(Diag::NonUnit, r)?;
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
