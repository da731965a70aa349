//! Solution of op(A) X = B by an LU factorization.

use super::{Pivots, getrf::check_ipiv};
use crate::{
    Scalar,
    auxiliary::laswp,
    block_size::BlockSize,
    codelets::{Laswp, RowInterchanges, TriangleForm, task},
    columns,
    error::{Error, system_of},
    level3::trsm,
    options::Options,
    plan::Problem,
    tiled::{TileView, Tiled},
};
use superscalar_kernels::{Diag, Direction, MatMut, MatRef, Op, Side, Uplo, cpu};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Returns the interchanges that a factorization in block columns of `nb` columns left in `ipiv` in an earlier scope.
/// (In the scope of the factorization, use what [`getrf`](fn@crate::spawn::getrf) returns.) Solves with these
/// interchanges do not check the diagonal of U.
///
/// # Panics
/// If `nb` is zero.
pub fn pivots<'s>(s: &'s Scope<'s, '_>, ipiv: &'s mut [i32], nb: usize) -> Pivots<'s> {
    Pivots { blocks: s.lend_chunks(ipiv, nb), diagonal_check: columns::no_check(s) }
}

/// Inserts the tasks that solve op(A) X = B, where A, in block columns, holds L and U, as computed by
/// [`getrf`](fn@crate::spawn::getrf) with these interchanges. X overwrites B, which is n x nrhs, in block columns.
///
/// # Panics
/// If A or B is not in block columns, or the shapes do not match.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    op: Op,
    a: &Tiled<'s, V>,
    pivots: &Pivots<'s>,
    b: &Tiled<'s, MatMut<'s, T>>,
) {
    let ((n, cols), (rows, nrhs)) = (a.shape(), b.shape());
    assert!(n == cols && n == rows, "getrs: A is {n} x {cols}, B is {rows} x {nrhs}");
    let laswp = Laswp::new();
    let exchange = |direction| {
        for (_, j) in b.tile_indices() {
            let (n_j, spec) = (b.cols_of(j), task("laswp", 0, j, 0));
            let interchanges = RowInterchanges { first: 0, count: n, direction, n: n_j };
            laswp.spawn(s, spec, interchanges, &pivots.blocks, b.at(0, j));
        }
    };
    // B must not be solved with a singular U.
    columns::wait_for_check(s, pivots.diagonal_check, b);
    // P L U X = B, or op(U) op(L) Pᵀ X = B
    if op == Op::None {
        exchange(Direction::Forward);
    }
    for (uplo, diag) in order(op) {
        columns::trsm(s, TriangleForm { uplo, op, diag }, a, b);
    }
    if op != Op::None {
        exchange(Direction::Backward);
    }
}

/// Returns the triangles in the order in which they are solved.
fn order(op: Op) -> [(Uplo, Diag); 2] {
    let (lower, upper) = ((Uplo::Lower, Diag::Unit), (Uplo::Upper, Diag::NonUnit));
    if op == Op::None { [lower, upper] } else { [upper, lower] }
}

/// From this order on, workers share the solves of a single block of right-hand sides.
const SHARED_ORDER_MIN: usize = 1024;

/// Solves op(A) X = B, where A holds L and U, and `ipiv` the interchanges, as computed by [`getrf`](fn@crate::getrf). X
/// overwrites B, which is n x nrhs. A zero on the diagonal of U is not an error: it produces Inf or NaN, as in LAPACK.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if A is not n x n or `ipiv` does not have n elements;
/// [`Argument`](crate::ErrorKind::Argument) if an interchange is out of range.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Op, Options, getrf, getrs};
///
/// let (rt, o, mut ipiv) = (Runtime::new()?, Options::default(), [0; 2]);
/// let mut a = Matrix::from_fn(2, 2, |i, j| [[1.0, 3.0], [2.0, 4.0]][i][j]);
/// getrf(&rt, a.as_mut(), &mut ipiv, &o)?;
/// let mut b = Matrix::from_fn(2, 1, |i, _| [3.0, 7.0][i]);
/// getrs(&rt, Op::Trans, a.as_ref(), &ipiv, b.as_mut(), &o)?;
/// assert_eq!(b.into_vec(), [1.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn getrs<T: Scalar>(
    rt: &Runtime,
    op: Op,
    a: MatRef<'_, T>,
    ipiv: &[i32],
    mut b: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let (n, nrhs) = system_of(a.shape(), b.shape())?;
    check_ipiv("getrs", (n, n), ipiv)?;
    laswp::check(n, ipiv)?;
    if rt.has_devices()
        && let Some(nb) = options.plan::<T>(rt, Problem::Lu { m: n, n })?.blocks()
    {
        let (distribution, mut ipiv) = (options.distribution_over(rt)?, ipiv.to_vec());
        return Ok(rt.scope(|s| {
            let a = Tiled::read_only_columns(s, a, nb);
            let b = Tiled::columns(s, b.rb_mut(), nb).distributed(s, distribution);
            // Like LAPACK's getrs, this routine does not check U for singularity.
            spawn(s, op, &a, &pivots(s, &mut ipiv, nb), &b);
        })?);
    }
    let parts = options.right_hand_sides::<T>(rt, n, nrhs)?;
    // A fixed block size keeps results independent of the number of workers.
    let is_one_block = (1..=parts).contains(&nrhs) && options.block_size == BlockSize::Auto;
    if is_one_block && n >= SHARED_ORDER_MIN && rt.workers() > 1 {
        return with_interchanges(op, ipiv, b, |mut b| {
            let nb = (n / 8).min(SHARED_ORDER_MIN);
            Ok(rt.scope(|s| {
                let (a, b) = (Tiled::read_only(s, a, nb, nb), Tiled::new(s, b.rb_mut(), nb, nrhs));
                for (uplo, diag) in order(op) {
                    trsm::spawn(s, Side::Left, uplo, op, diag, T::ONE, &a, &b);
                }
            })?)
        });
    }
    Ok(rt.scope(|s| {
        for b in Tiled::columns(s, b.rb_mut(), parts).tiles() {
            s.spawn(task("getrs", 0, 0, 0), b.read_write(), move |b| serial(op, a, ipiv, b.view_mut()));
        }
    })?)
}

/// Solves op(A) X = B by the factors in A on the calling thread, like [`getrs`](fn@crate::getrs). If `ipiv` is empty,
/// solves op(L U) X = B.
///
/// # Panics
/// If the shapes do not match, or an interchange is out of range.
///
/// ```
/// use superscalar::dla::{Matrix, Op, serial};
///
/// let (a, mut b) = (Matrix::from_fn(1, 1, |_, _| 2.0), Matrix::from_fn(1, 1, |_, _| 8.0));
/// serial::getrs(Op::None, a.as_ref(), &[1], b.as_mut());
/// assert_eq!(b.at(0, 0), 4.0);
/// ```
#[each_type]
pub fn serial<T: Scalar>(op: Op, a: MatRef<'_, T>, ipiv: &[i32], b: MatMut<'_, T>) {
    with_interchanges(op, ipiv, b, |mut b| {
        for (uplo, diag) in order(op) {
            cpu::trsm(Side::Left, uplo, op, diag, T::ONE, a, b.rb_mut());
        }
    });
}

/// Calls `triangles` to solve with both triangles, and interchanges the rows of B before or after that.
fn with_interchanges<T: Scalar, R>(
    op: Op,
    ipiv: &[i32],
    mut b: MatMut<'_, T>,
    triangles: impl FnOnce(MatMut<'_, T>) -> R,
) -> R {
    if op == Op::None {
        cpu::laswp(b.rb_mut(), 0, ipiv, Direction::Forward);
    }
    let result = triangles(b.rb_mut());
    if op != Op::None {
        cpu::laswp(b, 0, ipiv, Direction::Backward);
    }
    result
}
