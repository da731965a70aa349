//! Inverse of a general matrix.

use super::{Pivots, getrf::check_ipiv};
use crate::{
    Scalar,
    auxiliary::laswp,
    codelets::{TileMut, TriangleForm, TwoTileCodelet, elimination, task, triangular_solve},
    columns::{check_diagonal, wait_for_check},
    error::{Error, order_of},
    matrix::Matrix,
    options::Options,
    plan::Problem,
    subtasks::{PART_PRIORITY, part_rows, split_rows},
    tiled::Tiled,
};
use superscalar_kernels::{Diag, Direction, MatMut, MatRef, Op, Side, Singular, Uplo, cpu};
use superscalar_macros::each_type;
use superscalar_runtime::{Error as Failed, Nesting, Runtime, Scope, TaskSpec};

/// Inserts the tasks that replace L and U, as computed in A by [`getrf`](fn@crate::spawn::getrf) with these
/// interchanges, by the inverse of P L U. A lies in block columns. If U has a zero on its diagonal, the tasks are
/// cancelled.
///
/// # Panics
/// If A is not a square matrix in block columns.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar>(s: &'s Scope<'s, '_>, a: &Tiled<'s, MatMut<'s, T>>, pivots: &Pivots<'s>) {
    let ((n, cols), nb, nesting) = (a.shape(), a.tile_shape().1, s.nesting());
    assert!(
        n == cols && a.mt() <= 1,
        "getri: A must be square and in block columns, not {n} x {cols} in {} block rows",
        a.mt()
    );
    // A singular U must not be inverted.
    wait_for_check(s, pivots.diagonal_check, a);
    invert_upper(s, a);
    for j in (0..a.tile_indices().count()).rev() {
        // X[:][j] := (X[:][j] − X[:][j+1..] L[j+1..][j]) L[j][j]⁻¹
        let behind: Vec<_> = (j + 1..a.nt()).map(|i| a.at(0, i).read()).collect();
        let body = move |(behind, x): (Vec<&TileMut<'s, T>>, &mut TileMut<'s, T>)| {
            let behind: Vec<_> = behind.iter().map(|column| column.view()).collect();
            solve_below(nesting, j * nb, &behind, x.view_mut())
        };
        s.spawn(task("getri", 0, j, j).priority(1), (behind, a.at(0, j).read_write()), body);
    }
    let ipiv: Vec<_> = pivots.blocks.iter().map(|block| block.read()).collect();
    let columns: Vec<_> = a.tiles().iter().map(|column| column.read_write()).collect();
    // X := X Pᵀ
    s.spawn("laswp", (ipiv, columns), move |(ipiv, columns): (Vec<&[i32]>, Vec<&mut TileMut<'s, T>>)| {
        let columns = columns.into_iter().map(|column| column.view_mut()).collect();
        exchange_columns(nesting, &ipiv.concat(), columns, nb)
    });
}

/// Inserts the tasks that replace U, in block columns, by its inverse. Before step k, the part above block row k holds
/// U⁻¹ to the left of column k, and U[0..k][0..k]⁻¹ U[0..k][j] in column k and those to its right.
fn invert_upper<'s, T: Scalar>(s: &'s Scope<'s, '_>, a: &Tiled<'s, MatMut<'s, T>>) {
    let (nb, trsm, gemm) = (a.tile_shape().1, TwoTileCodelet::new("trsm"), TwoTileCodelet::new("gemm"));
    for k in 0..a.tile_indices().count() {
        let (start, end) = (k * nb, k * nb + a.cols_of(k));
        for j in k + 1..a.nt() {
            let (spec, n) = (|name| task(name, k, j, k).priority(2 * i32::from(j == k + 1)), a.cols_of(j));
            // X[k][j] := U[k][k]⁻¹ U[k][j]
            let form = TriangleForm { uplo: Uplo::Upper, op: Op::None, diag: Diag::NonUnit };
            let solve = triangular_solve(start..end, form, n);
            trsm.spawn(s, spec("trsm"), solve, a.at(0, k), a.at(0, j));
            if k > 0 {
                // X[0..k][j] := X[0..k][j] − X[0..k][k] X[k][j]
                let update = elimination(Op::None, (0..start, end - start), start..end, 0..start, n);
                gemm.spawn(s, spec("gemm"), update, a.at(0, k), a.at(0, j));
            }
        }
        // X[0..k][k] := −X[0..k][k] U[k][k]⁻¹, X[k][k] := U[k][k]⁻¹
        s.spawn(task("trtri", k, k, k), a.at(0, k).read_write(), move |a: &mut TileMut<'s, T>| {
            let (above, below) = a.view_mut().split_at_row(start);
            let here = below.split_at_row(end - start).0;
            cpu::trsm(Side::Right, Uplo::Upper, Op::None, Diag::NonUnit, -T::ONE, here.as_ref(), above);
            cpu::trtri(Uplo::Upper, Diag::NonUnit, here)
        });
    }
}

/// Computes X := (X − Y L2) L1⁻¹. L1 and L2 are the strictly lower part of X from row `start` on, which is moved out
/// and replaced by zeros first. Y are the block columns to the right.
fn solve_below<T: Scalar>(
    nesting: Nesting<'_>,
    start: usize,
    behind: &[MatRef<'_, T>],
    mut x: MatMut<'_, T>,
) -> Result<(), Failed> {
    let (n, cols) = x.shape();
    let mut l = Matrix::zeros(n - start, cols);
    take_below(x.rb_mut().split_at_row(start).1, l.as_mut());
    let (l1, l2) = l.as_ref().split_at_row(cols);
    split_rows(nesting, "gemm in getri", x, (n - start) * cols, |rows, mut x| {
        let mut first = 0;
        for y in behind {
            let (y, l2) = (y.submatrix(rows.clone(), 0..y.ncols()), l2.submatrix(first..first + y.ncols(), 0..cols));
            cpu::gemm(-T::ONE, Op::None, y, Op::None, l2, T::ONE, x.rb_mut());
            first += y.ncols();
        }
        cpu::trsm(Side::Right, Uplo::Lower, Op::None, Diag::Unit, T::ONE, l1, x);
    })
}

/// Moves the part of A below its diagonal to L and sets it to zero.
fn take_below<T: Scalar>(mut a: MatMut<'_, T>, mut l: MatMut<'_, T>) {
    let (n, cols) = a.shape();
    for j in 0..cols {
        for i in j + 1..n {
            l[(i, j)] = std::mem::replace(&mut a[(i, j)], T::ZERO);
        }
    }
}

/// Exchanges column i with column `ipiv[i] - 1`, from the last i to the first. The columns are given in blocks of nb.
fn exchange_columns<T: Scalar>(
    nesting: Nesting<'_>,
    ipiv: &[i32],
    columns: Vec<MatMut<'_, T>>,
    nb: usize,
) -> Result<(), Failed> {
    let Some(n) = columns.first().map(MatMut::nrows) else { return Ok(()) };
    // Exchanging two elements takes as long as about ten multiplications.
    let rows = part_rows(nesting, n, 10 * n);
    let mut strips: Vec<Vec<MatMut<'_, T>>> = Vec::new();
    strips.resize_with(n.div_ceil(rows), Vec::new);
    for column in columns {
        for (strip, piece) in strips.iter_mut().zip(column.into_tiles(rows, nb).into_vec()) {
            strip.push(piece);
        }
    }
    nesting.scope(|s| {
        for strip in strips {
            let spec = TaskSpec::new("laswp in getri").priority(PART_PRIORITY);
            s.spawn(spec, s.own(strip).read_write(), move |strip: &mut Vec<MatMut<'_, T>>| {
                for (i, p) in ipiv.iter().enumerate().map(|(i, &p)| (i, p as usize - 1)).rev() {
                    exchange(strip, (i, p), nb);
                }
            });
        }
    })
}

/// Exchanges two columns of a matrix that is given in blocks of nb columns.
fn exchange<T: Scalar>(strip: &mut [MatMut<'_, T>], (i, p): (usize, usize), nb: usize) {
    let (i, p) = (i.min(p), i.max(p));
    let (mut x, mut y) = if i / nb != p / nb {
        let (before, after) = strip.split_at_mut(p / nb);
        (before[i / nb].rb_mut().col(i % nb), after[0].rb_mut().col(p % nb))
    } else if i != p {
        let (before, after) = strip[i / nb].rb_mut().split_at_col(p % nb);
        (before.col(i % nb), after.col(0))
    } else {
        return;
    };
    match (x.col_as_slice_mut(0), y.col_as_slice_mut(0)) {
        (Some(x), Some(y)) => x.swap_with_slice(y),
        _ => (0..x.nrows()).for_each(|row| std::mem::swap(&mut x[(row, 0)], &mut y[(row, 0)])),
    }
}

/// Replaces L and U, as computed in the n x n matrix A by [`getrf`](fn@crate::getrf) with the interchanges `ipiv`, by
/// the inverse of P L U. U is inverted first, then X L = U⁻¹ is solved from the last block column to the first.
///
/// # Errors
/// [`Singular`](crate::ErrorKind::Singular), with LAPACK's `info`, if a diagonal element of U is exactly zero; A is
/// then unchanged. [`Shape`](crate::ErrorKind::Shape) if A is not square or `ipiv` does not have n elements;
/// [`Argument`](crate::ErrorKind::Argument) if an interchange is out of range.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, getrf, getri};
///
/// let (rt, o, mut ipiv) = (Runtime::new()?, Options::default(), [0; 2]);
/// let mut a = Matrix::from_fn(2, 2, |i, j| [[0.0, 2.0], [4.0, 0.0]][i][j]);
/// getrf(&rt, a.as_mut(), &mut ipiv, &o)?;
/// getri(&rt, a.as_mut(), &ipiv, &o)?;
/// assert_eq!(a.into_vec(), [0.0, 0.5, 0.25, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn getri<T: Scalar>(rt: &Runtime, mut a: MatMut<'_, T>, ipiv: &[i32], options: &Options) -> Result<(), Error> {
    let n = order_of(a.shape())?;
    check_ipiv("getri", (n, n), ipiv)?;
    laswp::check(n, ipiv)?;
    if let Some(nb) = options.plan::<T>(rt, Problem::Lu { m: n, n })?.blocks() {
        let mut ipiv = ipiv.to_vec();
        return Ok(rt.scope(|s| {
            let a = Tiled::columns(s, a.rb_mut(), nb);
            spawn(s, &a, &Pivots { blocks: s.lend_chunks(&mut ipiv, nb), diagonal_check: check_diagonal(s, &a) });
        })?);
    }
    Ok(serial(a, ipiv)?)
}

/// Computes the inverse from the factors in A on the calling thread, like [`getri`](fn@crate::getri).
///
/// # Errors
/// [`Singular`] if a diagonal element of U is exactly zero; A is then unchanged.
///
/// # Panics
/// If A is not square, or an interchange is out of range.
///
/// ```
/// use superscalar::dla::{Matrix, serial};
///
/// let mut a = Matrix::from_fn(1, 1, |_, _| 4.0);
/// serial::getri(a.as_mut(), &[1])?;
/// assert_eq!(a.at(0, 0), 0.25);
/// # Ok::<(), superscalar::dla::Singular>(())
/// ```
#[each_type]
pub fn serial<T: Scalar>(mut a: MatMut<'_, T>, ipiv: &[i32]) -> Result<(), Singular> {
    let n = a.nrows();
    cpu::trtri(Uplo::Upper, Diag::NonUnit, a.rb_mut())?;
    let mut l = Matrix::zeros(n, n);
    take_below(a.rb_mut(), l.as_mut());
    cpu::trsm(Side::Right, Uplo::Lower, Op::None, Diag::Unit, T::ONE, l.as_ref(), a.rb_mut());
    cpu::laswp(a.transpose(), 0, ipiv, Direction::Backward);
    Ok(())
}
