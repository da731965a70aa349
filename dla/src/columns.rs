//! Triangular systems whose matrix lies in block columns, as LU and QR factorizations leave it.

use crate::{
    Scalar,
    codelets::{Diagonal, TriangleForm, TwoTileCodelet, WaitForCheck, elimination, task, triangular_solve},
    tiled::{Tile, TileView, Tiled},
};
use std::ops::Range;
use superscalar_kernels::{MatMut, MatRef, Op, Scalar as _, Side, Singular, Uplo, cpu};
use superscalar_runtime::{Lent, Output, Scope};

/// Inserts the tasks that solve op(A) X = B for the first n rows of B. The first n rows of A hold a triangular matrix,
/// where n is A's number of columns. X replaces those rows of B. A and B lie in block columns.
///
/// # Panics
/// If A or B is not in block columns, or has fewer than n rows.
#[track_caller]
pub(crate) fn trsm<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    triangle: TriangleForm,
    a: &Tiled<'s, V>,
    b: &Tiled<'s, MatMut<'s, T>>,
) {
    let ((m, n), (rows, nrhs), nb) = (a.shape(), b.shape(), a.tile_shape().1);
    assert!(a.mt() <= 1 && b.mt() <= 1, "trsm: A and B must be in block columns");
    assert!(n <= m && n <= rows, "trsm: A is {m} x {n}, B is {rows} x {nrhs}; both need at least {n} rows");
    let TriangleForm { uplo, op, .. } = triangle;
    let (trsm, gemm) = (TwoTileCodelet::new("trsm"), TwoTileCodelet::new("gemm"));
    for SolveStep { k, here, others } in solve_steps((uplo, op), n, nb) {
        for j in 0..b.nt() {
            let (a_k, b_j, cols) = (a.at(0, k), b.at(0, j), b.cols_of(j));
            let solve = || {
                // B[k][j] := op(A[k][k])⁻¹ B[k][j]
                trsm.spawn(s, task("trsm", k, j, k), triangular_solve(here.clone(), triangle, cols), a_k, b_j);
            };
            let eliminate = |by: &Range<usize>, changed: &Range<usize>| {
                if !others.is_empty() {
                    let by_a = elimination(op, (others.clone(), here.len()), by.clone(), changed.clone(), cols);
                    gemm.spawn(s, task("gemm", k, j, k), by_a, a_k, b_j);
                }
            };
            if op == Op::None {
                // B[others][j] := B[others][j] − A[others][k] B[k][j]
                solve();
                eliminate(&here, &others);
            } else {
                // B[k][j] := B[k][j] − op(A[others][k]) B[others][j]
                eliminate(&others, &here);
                solve();
            }
        }
    }
}

/// Solves op(A) X = B on the calling thread, where `columns` are the block columns of a triangular matrix. X replaces
/// B.
pub(crate) fn solve<T: Scalar>(triangle: TriangleForm, columns: &[MatRef<'_, T>], mut b: MatMut<'_, T>) {
    let TriangleForm { uplo, op, diag } = triangle;
    let nb = columns.first().map_or(0, MatRef::ncols);
    for SolveStep { k, here, others } in solve_steps((uplo, op), b.nrows(), nb) {
        let cols = here.len();
        let triangle = columns[k].submatrix(here.clone(), 0..cols);
        let rest = columns[k].submatrix(others.clone(), 0..cols);
        let (mut b_k, mut b_others) = two_parts(b.rb_mut(), &here, &others);
        if op != Op::None {
            cpu::gemm(-T::ONE, op, rest, Op::None, b_others.as_ref(), T::ONE, b_k.rb_mut());
        }
        cpu::trsm(Side::Left, uplo, op, diag, T::ONE, triangle, b_k.rb_mut());
        if op == Op::None {
            cpu::gemm(-T::ONE, op, rest, Op::None, b_k.into_ref(), T::ONE, b_others.rb_mut());
        }
    }
}

/// Splits two disjoint ranges of rows off B.
fn two_parts<'a, T: Scalar>(
    b: MatMut<'a, T>,
    one: &Range<usize>,
    other: &Range<usize>,
) -> (MatMut<'a, T>, MatMut<'a, T>) {
    let n = b.ncols();
    let part = |b: MatMut<'a, T>, rows: &Range<usize>, before: usize| {
        b.submatrix(rows.start - before..rows.end - before, 0..n)
    };
    if one.end <= other.start {
        let (top, bottom) = b.split_at_row(one.end);
        (part(top, one, 0), part(bottom, other, one.end))
    } else {
        let (top, bottom) = b.split_at_row(other.end);
        (part(bottom, one, other.end), part(top, other, 0))
    }
}

/// Inserts tasks that delay all later uses of B, in block columns, until the check of [`check_diagonal`] is done. If
/// the check fails, they are cancelled.
#[track_caller]
pub(crate) fn wait_for_check<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    check: Lent<'s, [i32]>,
    b: &Tiled<'s, MatMut<'s, T>>,
) {
    let wait = WaitForCheck::<T>::new();
    for (_, j) in b.tile_indices() {
        wait.spawn(s, task("regular", j, j, j), check, b.at(0, j));
    }
}

/// Returns a handle for [`wait_for_check`] that no task writes: an empty list of interchanges, which can be copied to
/// devices.
pub(crate) fn no_check<'s>(s: &'s Scope<'s, '_>) -> Lent<'s, [i32]> {
    s.lend(&mut [] as &mut [i32])
}

/// A step of a triangular solve: a block column, the rows of its block on the diagonal, and its other stored rows.
struct SolveStep {
    k: usize,
    here: Range<usize>,
    others: Range<usize>,
}

/// Returns the steps that solve op(A) X = B with a triangular matrix of order n in block columns.
fn solve_steps((uplo, op): (Uplo, Op), n: usize, nb: usize) -> impl Iterator<Item = SolveStep> {
    let lower = (uplo == Uplo::Lower) == (op == Op::None);
    let count = n.div_ceil(nb.max(1));
    (0..count).map(move |step| {
        let k = if lower { step } else { count - 1 - step };
        let here = k * nb..n.min((k + 1) * nb);
        let others = if uplo == Uplo::Lower { here.end..n } else { 0..here.start };
        SolveStep { k, here, others }
    })
}

/// Inserts a task that checks the diagonal of A, in block columns. It fails with [`Singular`] if an element is exactly
/// zero, which cancels the tasks that read the returned handle.
#[track_caller]
pub(crate) fn check_diagonal<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    a: &Tiled<'s, V>,
) -> Lent<'s, [i32]> {
    check_diagonal_unless_zero(s, a, None)
}

/// Like [`check_diagonal`], but never fails if the largest element of the original matrix is given and zero. With
/// devices, that element is ignored.
#[track_caller]
pub(crate) fn check_diagonal_unless_zero<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    a: &Tiled<'s, V>,
    largest: Option<Output<'s, T::Real>>,
) -> Lent<'s, [i32]> {
    let (check, nb, m) = (no_check(s), a.tile_shape().1, a.shape().0);
    if s.nesting().has_devices() {
        let diagonal = Diagonal::new();
        let starts = (0..a.nt()).map(|k| (k, k * nb)).take_while(|&(_, start)| start < m);
        let parts = starts.map(|(k, start)| {
            let count = a.cols_of(k).min(m - start);
            diagonal.spawn(s, task("diagonal", k, k, k), (start, count), a.at(0, k)).read()
        });
        let parts: Vec<_> = parts.collect();
        s.spawn("info", (parts, check.write()), |(parts, _): (Vec<&Vec<T>>, &mut [i32])| {
            singular_at(parts.into_iter().flatten().copied())
        });
        return check;
    }
    let columns: Vec<_> = (0..if m == 0 { 0 } else { a.nt() }).map(|k| a.at(0, k).read()).collect();
    let largest: Vec<_> = largest.into_iter().map(|largest| largest.read()).collect();
    s.spawn("info", (columns, largest, check.write()), move |(columns, largest, _): CheckOperands<'_, T, V>| {
        if largest.iter().any(|&&x| x == T::Real::ZERO) {
            return Ok(());
        }
        let diagonal = columns.iter().enumerate().flat_map(|(k, column)| {
            let (column, start) = (column.view(), k * nb);
            (start..m.min(start + column.ncols())).map(move |i| column.at(i, i - start))
        });
        singular_at(diagonal)
    });
    check
}

/// Operands of the task of [`check_diagonal_unless_zero`]: block columns, the largest element if it was given, and the
/// output.
type CheckOperands<'t, T, V> = (Vec<&'t Tile<V>>, Vec<&'t <T as superscalar_kernels::Scalar>::Real>, &'t mut [i32]);

/// Fails at the first zero of a diagonal.
fn singular_at<T: Scalar>(diagonal: impl Iterator<Item = T>) -> Result<(), Singular> {
    match diagonal.enumerate().find(|&(_, pivot)| pivot == T::ZERO) {
        Some((at, _)) => Err(Singular { pivot: at + 1 }),
        None => Ok(()),
    }
}
