//! Inverse of a triangular matrix.

use crate::{
    Scalar,
    codelets::{Gemm, TileMut, Triangle, TriangleForm, cost_of_triangle, task, triangular_operation, with_cost},
    error::{Error, order_of},
    options::Options,
    plan::Problem,
    tiled::Tiled,
};
use superscalar_kernels::{Diag, MatMut, MatRef, Op, Side, Singular, Uplo, cpu, operations::TriangularAction};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks that replace the triangle `uplo` of an n x n matrix by its inverse. The other triangle is not
/// changed, nor is the diagonal if `diag` is [`Diag::Unit`].
///
/// If a diagonal element is exactly zero, its tile's task fails with [`Singular`]; A is then undefined.
///
/// # Panics
/// If A or its tiles are not square.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar>(s: &'s Scope<'s, '_>, uplo: Uplo, diag: Diag, a: &Tiled<'s, MatMut<'s, T>>) {
    let [rows, cols] = a.partition(Op::None);
    assert!(rows == cols, "trtri: A must be square in square tiles, not {rows} x {cols}");
    let (trsm, gemm) = (Triangle::new("trsm"), Gemm::new());
    // In terms of L: tile (i, j) of L is tile (j, i) of U, transposed, and the equations are transposed too.
    let at = |i, j| if uplo == Uplo::Lower { (i, j) } else { (j, i) };
    let solve = |side, alpha, k, (i, j): (usize, usize)| {
        let shape = (a.rows_of(i), a.cols_of(j));
        let by = triangular_operation(
            TriangularAction::Solve,
            side,
            TriangleForm { uplo, op: Op::None, diag },
            alpha,
            shape,
        );
        trsm.spawn(s, task("trsm", i, j, k).priority(1), by, a.at(k, k), a.at(i, j));
    };
    let (behind, before) = if uplo == Uplo::Lower { (Side::Right, Side::Left) } else { (Side::Left, Side::Right) };
    for k in 0..a.nt() {
        for i in k + 1..a.nt() {
            // L[i][k] := −L[i][k] L[k][k]⁻¹
            solve(behind, -T::ONE, k, at(i, k));
            for j in 0..k {
                // L[i][j] := L[i][j] + L[i][k] L[k][j]; for U the factors are swapped
                let (left, right) = if uplo == Uplo::Lower { ((i, k), (k, j)) } else { ((j, k), (k, i)) };
                let (left, right) = (a.factor(Op::None, left.0, left.1), a.factor(Op::None, right.0, right.1));
                let (row, col) = at(i, j);
                gemm.spawn(s, task("gemm", i, j, k), T::ONE, left, right, T::ONE, a.at(row, col));
            }
        }
        for j in 0..k {
            // L[k][j] := L[k][k]⁻¹ L[k][j]
            solve(before, T::ONE, k, at(k, j));
        }
        // L[k][k] := L[k][k]⁻¹
        let (first, spec) =
            (k * a.tile_shape().0, with_cost(task("trtri", k, k, k), cost_of_triangle::<T>(a.rows_of(k))));
        s.spawn(spec, a.at(k, k).read_write(), move |a: &mut TileMut<'s, T>| {
            let outcome = cpu::trtri(uplo, diag, a.view_mut());
            outcome.map_err(|Singular { pivot }| Singular { pivot: first + pivot })
        });
    }
}

/// Replaces the triangle `uplo` of an n x n matrix by its inverse. The other triangle is neither read nor changed, nor
/// is the diagonal if `diag` is [`Diag::Unit`].
///
/// # Errors
/// [`Singular`](crate::ErrorKind::Singular), with LAPACK's `info`, if a diagonal element is exactly zero; A is then
/// unchanged. [`Shape`](crate::ErrorKind::Shape) if A is not square.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Diag, Matrix, Options, Uplo, trtri};
///
/// let rt = Runtime::new()?;
/// let mut a = Matrix::from_fn(2, 2, |i, j| [[2.0, 7.0], [-4.0, 4.0]][i][j]);
/// trtri(&rt, Uplo::Lower, Diag::NonUnit, a.as_mut(), &Options::default())?;
/// assert_eq!(a.into_vec(), [0.5, 0.5, 7.0, 0.25]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn trtri<T: Scalar>(
    rt: &Runtime,
    uplo: Uplo,
    diag: Diag,
    mut a: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let n = order_of(a.shape())?;
    check_nonsingular(diag, a.as_ref())?;
    let nb = options.plan::<T>(rt, Problem::Cholesky { n })?.blocks_of(n);
    if n <= nb {
        return Ok(cpu::trtri(uplo, diag, a)?);
    }
    Ok(rt.scope(|s| spawn(s, uplo, diag, &Tiled::new(s, a.rb_mut(), nb, nb)))?)
}

/// Returns an error if the diagonal of a square triangular matrix has an element that is exactly zero.
pub(crate) fn check_nonsingular<T: Scalar>(diag: Diag, a: MatRef<'_, T>) -> Result<(), Singular> {
    match (0..a.nrows()).find(|&i| diag == Diag::NonUnit && a.at(i, i) == T::ZERO) {
        Some(at) => Err(Singular { pivot: at + 1 }),
        None => Ok(()),
    }
}
