//! Cholesky factorization: A = L Lᴴ or A = Uᴴ U.

use super::potrf_columns;
use crate::{
    Scalar,
    codelets::{Gemm, OneTileCodelet, RankK, TilePart, TileRole, Triangle, TriangleForm, task, triangular_operation},
    error::{Error, order_of},
    options::Options,
    plan::{Machine, Problem},
    tiled::Tiled,
};
use superscalar_kernels::{
    Diag, MatMut, Op, Side, Symmetry, Uplo, cpu,
    operations::{Potrf, TriangularAction},
};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks of the Cholesky factorization of an n x n Hermitian (symmetric) positive definite matrix. The
/// triangle `uplo` of A is replaced by L or U. The other triangle is not changed.
///
/// The algorithm is right-looking (task-superscalar paper, Algorithm 5, with the update cut into tiles). Panel tasks,
/// and updates of the column that becomes the next panel, have priority, so that panels run ahead of older updates
/// (lookahead).
///
/// A lies in square tiles or block columns. Block columns suit devices: each update is then one product over all rows.
///
/// If a leading minor is not positive definite, its task fails with [`NotPositiveDefinite`]. That cancels the tasks
/// that need its result, and the scope returns the error. The steps before it are complete, as in LAPACK.
///
/// # Panics
/// If A is not a square matrix in square tiles or block columns.
///
/// [`NotPositiveDefinite`]: superscalar_kernels::NotPositiveDefinite
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar>(s: &'s Scope<'s, '_>, uplo: Uplo, a: &Tiled<'s, MatMut<'s, T>>) {
    let ((n, cols), (nb, tile_cols)) = (a.shape(), a.tile_shape());
    assert!(
        n == cols && (nb == tile_cols || a.is_in_columns()),
        "potrf: A must be square, in square tiles or block columns, not {n} x {cols} in tiles of {nb} x {tile_cols}"
    );
    if a.is_in_columns() {
        return potrf_columns::spawn(s, uplo, a);
    }
    let (potrf, trsm, gemm) = (OneTileCodelet::new("potrf"), Triangle::new("trsm"), Gemm::new());
    let herk = RankK::new("herk");
    let (one, hermitian) = (T::ONE, (Symmetry::Hermitian, uplo));
    // In terms of L: tile (i, j) of L is tile (j, i) of U, conjugate-transposed.
    let at = |i, j| if uplo == Uplo::Lower { a.at(i, j) } else { a.at(j, i) };
    let (side, op) = if uplo == Uplo::Lower { (Side::Right, Op::None) } else { (Side::Left, Op::ConjTrans) };
    // L[i][k], as a factor of a product.
    let l = |i, k| a.factor(op, i, k);
    let nt = a.nt();
    for k in 0..nt {
        // Updates of the column that becomes the next panel are more urgent.
        let urgency = |j| i32::from(j == k + 1);
        // A[k][k] = L[k][k] L[k][k]ᴴ
        let tile = TilePart::whole(TileRole::Updated, (a.rows_of(k), a.rows_of(k)));
        potrf.spawn(s, task("potrf", k, k, k).priority(4), Potrf { uplo, first: k * nb, a: tile }, a.at(k, k));
        for i in k + 1..nt {
            // A[i][k] := A[i][k] L[k][k]⁻ᴴ
            let (m, n) = (a.rows_of(i), a.rows_of(k));
            let shape = if uplo == Uplo::Lower { (m, n) } else { (n, m) };
            let form = TriangleForm { uplo, op: Op::ConjTrans, diag: Diag::NonUnit };
            let by = triangular_operation(TriangularAction::Solve, side, form, one, shape);
            trsm.spawn(s, task("trsm", i, k, k).priority(3), by, a.at(k, k), at(i, k));
        }
        for j in k + 1..nt {
            // A[j][j] := A[j][j] − L[j][k] L[j][k]ᴴ
            herk.update(s, task("herk", j, j, k).priority(2 * urgency(j)), hermitian, -one, l(j, k), one, a.at(j, j));
            for i in j + 1..nt {
                // A[i][j] := A[i][j] − L[i][k] L[j][k]ᴴ; for U, A[j][i] := A[j][i] − U[k][j]ᴴ U[k][i]
                let (row, col) = if uplo == Uplo::Lower { (i, j) } else { (j, i) };
                let (left, right) = (l(row, k), l(col, k).mirrored(Symmetry::Hermitian));
                gemm.spawn(s, task("gemm", i, j, k).priority(urgency(j)), -one, left, right, one, at(i, j));
            }
        }
    }
}

/// Computes the Cholesky factorization A = L Lᴴ or A = Uᴴ U of an n x n Hermitian (symmetric) positive definite matrix.
/// The triangle `uplo` of A is replaced by L or U. The other triangle is neither read nor changed. Imaginary parts on
/// the diagonal are treated as zero.
///
/// Working memory: a handle per tile, and the packed forms of tiles.
///
/// # Errors
/// [`NotPositiveDefinite`](crate::ErrorKind::NotPositiveDefinite), with LAPACK's `info`, if a leading minor is not
/// positive definite or contains a NaN; the part of A before that minor then holds its factor.
/// [`Shape`](crate::ErrorKind::Shape) if A is not square.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, Uplo, potrf};
///
/// let rt = Runtime::new()?;
/// let mut a = Matrix::from_fn(2, 2, |i, j| if i == j { 4.0 } else { 2.0 });
/// potrf(&rt, Uplo::Lower, a.as_mut(), &Options::default())?;
/// assert_eq!((a.at(0, 0), a.at(1, 0)), (2.0, 1.0));
///
/// let mut indefinite = Matrix::from_fn(2, 2, |i, j| if i == j { 1.0 } else { 2.0 });
/// let error = potrf(&rt, Uplo::Upper, indefinite.as_mut(), &Options::default()).unwrap_err();
/// assert_eq!(error.info(), Some(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn potrf<T: Scalar>(rt: &Runtime, uplo: Uplo, mut a: MatMut<'_, T>, options: &Options) -> Result<(), Error> {
    let n = order_of(a.shape())?;
    let nb = options.plan::<T>(rt, Problem::Cholesky { n })?.blocks_of(n);
    if n <= nb {
        return Ok(cpu::potrf(uplo, a)?);
    }
    let (machine, distribution) = (Machine::of::<T>(rt), options.distribution_of_factorization(rt)?);
    Ok(rt.scope(|s| {
        let a = a.rb_mut();
        let a = match distribution.is_by_columns(&machine) {
            true => Tiled::columns_of_triangle(s, uplo, a, nb),
            false => Tiled::new(s, a, nb, nb),
        };
        let a = a.distributed(s, distribution);
        spawn(s, uplo, &a);
    })?)
}
