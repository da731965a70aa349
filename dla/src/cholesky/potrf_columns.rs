//! Cholesky factorization of a matrix in block columns: for matrices whose columns have been dealt to devices.
//!
//! An update is one product with all rows below the diagonal, which a device is better at than at many small tiles; and a
//! device that was dealt a column keeps it until it becomes the panel (task-superscalar paper, Algorithm 5 and section 5.3). Panels
//! stay on the host unless devices [have panels](superscalar_kernels::device::Backend::has_panels).

use crate::{
    Scalar,
    codelets::{
        Elimination, GemmOfColumns, HerkOfColumn, PotrfOfColumn, Rows, TrsmOfColumns, UpdateOfColumn, task,
        usual_update,
    },
    distribution::{Dealer, update_by_gemm},
    steps::{Step, steps},
    tiled::Tiled,
};
use superscalar_kernels::{Diag, MatMut, Op, Uplo};
use superscalar_runtime::Scope;

/// Inserts the tasks of A = L Lᴴ or A = Uᴴ U.
#[track_caller]
pub(super) fn submit<'s, T: Scalar>(s: &'s Scope<'s, '_>, uplo: Uplo, a: &Tiled<'s, MatMut<'s, T>>) {
    match uplo {
        Uplo::Lower => lower(s, a),
        Uplo::Upper => upper(s, a),
    }
}

/// The rows of block column j, as the tile of column `of` counts them: its block on the diagonal, and what is below.
fn rows<T: Scalar>(a: &Tiled<'_, MatMut<'_, T>>, j: usize, of: usize) -> Rows {
    let above = a.first_row_of(of);
    let (start, n) = (j * a.tile_shape().1 - above, a.shape().0 - above);
    let end = start + a.cols_of(j);
    Rows { here: start..end, below: end..n }
}

/// Right-looking: a panel updates all columns behind it.
#[track_caller]
fn lower<'s, T: Scalar>(s: &'s Scope<'s, '_>, a: &Tiled<'s, MatMut<'s, T>>) {
    let (potrf, update) = (PotrfOfColumn::new(), UpdateOfColumn::new());
    let dealer = Dealer::new(s, a, usual_update::<T>((a.shape().0, a.tile_shape().1)));
    for step in steps(a.nt(), a.nt(), s.nesting().has_devices()) {
        match step {
            Step::Panel(k) => {
                // A[k][k] = L[k][k] L[k][k]ᴴ, L[k+1..][k] = A[k+1..][k] L[k][k]⁻ᴴ
                let panel = (rows(a, k, k), a.first_row_of(k));
                potrf.insert(s, task("potrf", k, k, k).priority(4), Uplo::Lower, panel, a.at(0, k));
                dealer.deal_behind(s, k, a.at(0, k));
            }
            Step::Update(k, j) => {
                // A[j..][j] := A[j..][j] − L[j..][k] L[j][k]ᴴ; the column that becomes the next panel first
                let spec = task("herk", k, j, k).priority(2 * i32::from(j == k + 1));
                let rows = (rows(a, j, k), rows(a, j, j));
                update.insert(s, spec, rows, (a.at(0, k), a.cols_of(k)), a.at(0, j));
            }
        }
    }
}

/// Each column behind column k takes the step that it owes to it: row k of U, and with the rows above it the next block.
#[track_caller]
fn upper<'s, T: Scalar>(s: &'s Scope<'s, '_>, a: &Tiled<'s, MatMut<'s, T>>) {
    let (potrf, herk) = (PotrfOfColumn::new(), HerkOfColumn::new());
    let (trsm, gemm) = (TrsmOfColumns::new(), GemmOfColumns::new());
    let dealer = Dealer::new(s, a, update_by_gemm::<T>((a.shape().0 / 2, a.tile_shape().1, a.tile_shape().1)));
    for k in 0..a.nt() {
        let Rows { here, .. } = rows(a, k, k);
        if k > 0 {
            // A[k][k] := A[k][k] − U[0..k][k]ᴴ U[0..k][k]
            herk.insert(s, task("herk", k, k, k).priority(3), here.clone(), a.at(0, k));
        }
        // A[k][k] = U[k][k]ᴴ U[k][k]
        let panel = Rows { here: here.clone(), below: here.end..here.end };
        potrf.insert(s, task("potrf", k, k, k).priority(4), Uplo::Upper, (panel, 0), a.at(0, k));
        dealer.deal_behind(s, k, a.at(0, k));
        for j in k + 1..a.nt() {
            let spec = |name| task(name, k, j, k).priority(2 * i32::from(j == k + 1));
            let (above, n) = (0..here.start, a.cols_of(j));
            if k > 0 {
                // A[k][j] := A[k][j] − U[0..k][k]ᴴ U[0..k][j]
                let parts = Elimination {
                    op: Op::ConjTrans,
                    a: above.clone(),
                    a_cols: here.len(),
                    by: above,
                    changed: here.clone(),
                    n,
                    nesting: None,
                };
                gemm.insert(s, spec("gemm"), parts, a.at(0, k), a.at(0, j));
            }
            // U[k][j] = U[k][k]⁻ᴴ A[k][j]
            let system = (here.clone(), (Uplo::Upper, Op::ConjTrans, Diag::NonUnit), n);
            trsm.insert(s, spec("trsm"), system, a.at(0, k), a.at(0, j));
        }
    }
}
