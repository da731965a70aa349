//! Cholesky factorization of a matrix in block columns, for matrices whose columns are dealt to devices.
//!
//! Each update is one product over all rows below the diagonal, which suits a device better than many small tiles. A
//! device keeps its columns until they become the panel (task-superscalar paper, Algorithm 5 and section 5.3).

use crate::{
    Scalar,
    codelets::{OneTileCodelet, TilePart, TileRole, TriangleForm, TwoTileCodelet, elimination, task, triangular_solve},
    distribution::{ColumnDistributor, update_by_gemm},
    factorization_steps::{FactorizationStep, factorization_steps},
    tiled::Tiled,
};
use std::ops::Range;
use superscalar_kernels::{
    Diag, MatMut, Op, Symmetry, Uplo,
    operations::{Operation, Potrf, RankK},
};
use superscalar_runtime::Scope;

/// Inserts the tasks of A = L Lᴴ or A = Uᴴ U.
#[track_caller]
pub(super) fn spawn<'s, T: Scalar>(s: &'s Scope<'s, '_>, uplo: Uplo, a: &Tiled<'s, MatMut<'s, T>>) {
    match uplo {
        Uplo::Lower => lower(s, a),
        Uplo::Upper => upper(s, a),
    }
}

/// Rows of a block column's block on the diagonal, and the rows below it, in a tile's numbering.
struct Rows {
    here: Range<usize>,
    below: Range<usize>,
}

impl Rows {
    /// Returns both ranges together.
    fn all(&self) -> Range<usize> {
        self.here.start..self.below.end
    }
}

/// Returns the rows of block column j in the numbering of the tile of column `of`.
fn rows<T: Scalar>(a: &Tiled<'_, MatMut<'_, T>>, j: usize, of: usize) -> Rows {
    let above = a.first_row_of(of);
    let (start, n) = (j * a.tile_shape().1 - above, a.shape().0 - above);
    let end = start + a.cols_of(j);
    Rows { here: start..end, below: end..n }
}

/// Right-looking: a panel updates all columns to its right.
#[track_caller]
fn lower<'s, T: Scalar>(s: &'s Scope<'s, '_>, a: &Tiled<'s, MatMut<'s, T>>) {
    let (potrf, herk) = (OneTileCodelet::panels("potrf"), TwoTileCodelet::new("herk"));
    let (n, nb) = (a.shape().0, a.tile_shape().1);
    // Capability weights are compared by an update in the middle of the factorization.
    let half = 0..nb.max(n / 2);
    let usual = update::<T>(half.clone(), nb, half, nb);
    let distributor = ColumnDistributor::new(s, a, ("herk", usual.cost()));
    for step in factorization_steps(a.nt(), a.nt(), s.nesting().has_devices()) {
        match step {
            FactorizationStep::Panel(k) => {
                // A[k][k] = L[k][k] L[k][k]ᴴ, L[k+1..][k] = A[k+1..][k] L[k][k]⁻ᴴ
                let (rows, above) = (rows(a, k, k), a.first_row_of(k));
                let first = above + rows.here.start;
                let panel =
                    Potrf { uplo: Uplo::Lower, first, a: TilePart::rows(TileRole::Updated, rows.all(), a.cols_of(k)) };
                potrf.spawn(s, task("potrf", k, k, k).priority(4), panel, a.at(0, k));
                distributor.redistribute_after(s, k, a.at(0, k));
            }
            FactorizationStep::Update(k, j) => {
                // A[j..][j] := A[j..][j] − L[j..][k] L[j][k]ᴴ; the column of the next panel first
                let spec = task("herk", k, j, k).priority(2 * i32::from(j == k + 1));
                let update = update(rows(a, j, k).all(), a.cols_of(k), rows(a, j, j).all(), a.cols_of(j));
                herk.spawn(s, spec, update, a.at(0, k), a.at(0, j));
            }
        }
    }
}

/// Returns the operation A[rows] := A[rows] − L[from] L[from]ᴴ on the trapezoid whose first row is on the diagonal. The
/// upper half of its block on the diagonal belongs to the user and must not change. So the operation is a rank-k update
/// of that block and one product for all rows below it (task-superscalar paper, section 5.3).
fn update<T: Scalar>(from: Range<usize>, k: usize, rows: Range<usize>, n: usize) -> RankK<T, TilePart<T>> {
    let (a, c) = (TilePart::rows(TileRole::First, from, k), TilePart::rows(TileRole::Updated, rows, n));
    RankK { symmetry: Symmetry::Hermitian, uplo: Uplo::Lower, op: Op::None, alpha: -T::ONE, a, beta: T::ONE, c }
}

/// Step k computes row k of U in each column to the right, from the rows above it.
#[track_caller]
fn upper<'s, T: Scalar>(s: &'s Scope<'s, '_>, a: &Tiled<'s, MatMut<'s, T>>) {
    let (potrf, herk) = (OneTileCodelet::panels("potrf"), OneTileCodelet::new("herk"));
    let (trsm, gemm) = (TwoTileCodelet::new("trsm"), TwoTileCodelet::new("gemm"));
    let distributor =
        ColumnDistributor::new(s, a, update_by_gemm::<T>(a.shape().0 / 2, a.tile_shape().1, a.tile_shape().1));
    for k in 0..a.nt() {
        let Rows { here, .. } = rows(a, k, k);
        if k > 0 {
            // A[k][k] := A[k][k] − U[0..k][k]ᴴ U[0..k][k]
            let n = here.len();
            let (above, c) = (
                TilePart::rows(TileRole::Updated, 0..here.start, n),
                TilePart::rows(TileRole::Updated, here.clone(), n),
            );
            let (symmetry, uplo, op) = (Symmetry::Hermitian, Uplo::Upper, Op::ConjTrans);
            let update = RankK { symmetry, uplo, op, alpha: -T::ONE, a: above, beta: T::ONE, c };
            herk.spawn(s, task("herk", k, k, k).priority(3), update, a.at(0, k));
        }
        // A[k][k] = U[k][k]ᴴ U[k][k]
        let block = TilePart::rows(TileRole::Updated, here.clone(), here.len());
        let panel = Potrf { uplo: Uplo::Upper, first: here.start, a: block };
        potrf.spawn(s, task("potrf", k, k, k).priority(4), panel, a.at(0, k));
        distributor.redistribute_after(s, k, a.at(0, k));
        for j in k + 1..a.nt() {
            let spec = |name| task(name, k, j, k).priority(2 * i32::from(j == k + 1));
            let (above, n) = (0..here.start, a.cols_of(j));
            if k > 0 {
                // A[k][j] := A[k][j] − U[0..k][k]ᴴ U[0..k][j]
                let update = elimination(Op::ConjTrans, (above.clone(), here.len()), above, here.clone(), n);
                gemm.spawn(s, spec("gemm"), update, a.at(0, k), a.at(0, j));
            }
            // U[k][j] = U[k][k]⁻ᴴ A[k][j]
            let form = TriangleForm { uplo: Uplo::Upper, op: Op::ConjTrans, diag: Diag::NonUnit };
            let solve = triangular_solve(here.clone(), form, n);
            trsm.spawn(s, spec("trsm"), solve, a.at(0, k), a.at(0, j));
        }
    }
}
