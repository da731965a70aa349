//! Solution of A X = B by a Cholesky factorization.

use crate::{
    codelets::{self, Gemm, Trsm},
    error::Error,
    options::Options,
    tile::{Tile, TileView},
    tiled::Tiled,
};
use superscalar_kernels::{Diag, MatMut, MatRef, Op, Scalar, Side, Uplo, cpu};
use superscalar_runtime::{Runtime, Scope, TaskSpec};

/// Inserts the tasks that solve A X = B, where the named triangle of A holds L or U from [`potrf`](fn@crate::submit::potrf);
/// B, n x nrhs, is replaced by X.
///
/// # Panics
/// If the tiles of A and B do not fit together: A's are square, and B's have as many rows.
#[track_caller]
pub fn submit<'s, T: Scalar, V: TileView<Element = T> + 's>(
    s: &'s Scope<'s, '_>,
    uplo: Uplo,
    a: &Tiled<'s, V>,
    b: &Tiled<'s, MatMut<'s, T>>,
) {
    let ((n, cols), (rows, nrhs)) = (a.shape(), b.shape());
    let ((nb, tile_cols), (tile_rows, nb_b)) = (a.tile_shape(), b.tile_shape());
    assert!(n == cols && n == rows, "potrs: A is {n} x {cols}, B {rows} x {nrhs}");
    assert!(nb == tile_cols && nb == tile_rows, "potrs: A in tiles of {nb} x {tile_cols}, B of {tile_rows} x {nb_b}");
    let (trsm, gemm) = (codelets::trsm::<T, V>(), codelets::gemm::<T, V, MatMut<'s, T>>());
    // L y = b, then Lᴴ x = y. Tile (i, j) of L is tile (j, i) of U, conjugate-transposed.
    let at = |i, j| if uplo == Uplo::Lower { a.at(i, j) } else { a.at(j, i) };
    let (forward, backward) = if uplo == Uplo::Lower { (Op::None, Op::ConjTrans) } else { (Op::ConjTrans, Op::None) };
    let (size, width) = (|i: usize| nb.min(n - i * nb), |j: usize| nb_b.min(nrhs - j * nb_b));
    let task = |name, i, j, k, priority| TaskSpec::new(name).index([i as u32, j as u32, k as u32]).priority(priority);
    let solve = |op, k, j| {
        let kj = Trsm { side: Side::Left, uplo, op, m: size(k), n: width(j) };
        trsm.insert(s, task("trsm", k, j, k, 1), (at(k, k).read(), b.at(k, j).read_write()), kj);
    };
    let update = |op, tile: superscalar_runtime::Lent<'s, Tile<V>>, i, j, k| {
        let ij = Gemm { op_a: op, op_b: Op::None, m: size(i), n: width(j), k: size(k) };
        gemm.insert(s, task("gemm", i, j, k, 0), (tile.read(), b.at(k, j).read(), b.at(i, j).read_write()), ij);
    };
    let mt = b.mt();
    for j in 0..b.nt() {
        for k in 0..mt {
            // B[k][j] := L[k][k]⁻¹ B[k][j]
            solve(forward, k, j);
            for i in k + 1..mt {
                // B[i][j] := B[i][j] − L[i][k] B[k][j]
                update(forward, at(i, k), i, j, k);
            }
        }
        for k in (0..mt).rev() {
            // B[k][j] := L[k][k]⁻ᴴ B[k][j]
            solve(backward, k, j);
            for i in 0..k {
                // B[i][j] := B[i][j] − L[k][i]ᴴ B[k][j]
                update(backward, at(k, i), i, j, k);
            }
        }
    }
}

/// Solves A X = B, where the named triangle of A holds L or U from [`potrf`](fn@crate::potrf); B, n x nrhs, is replaced by X.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if A is not n x n.
pub fn potrs<T: Scalar>(
    rt: &Runtime,
    uplo: Uplo,
    a: MatRef<'_, T>,
    mut b: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let (n, nrhs) = b.shape();
    if a.shape() != (n, n) {
        return Err(Error::shape(format!("potrs: A is {} x {}, B {n} x {nrhs}", a.nrows(), a.ncols())));
    }
    let nb = options.block_size.of_factorization(n, rt.workers())?;
    if n <= nb || nrhs == 0 {
        let (first, second) = if uplo == Uplo::Lower { (Op::None, Op::ConjTrans) } else { (Op::ConjTrans, Op::None) };
        cpu::trsm(Side::Left, uplo, first, Diag::NonUnit, T::ONE, a, b.rb_mut());
        cpu::trsm(Side::Left, uplo, second, Diag::NonUnit, T::ONE, a, b);
        return Ok(());
    }
    Ok(rt.scope(|s| submit(s, uplo, &Tiled::read_only(s, a, nb, nb), &Tiled::new(s, b.rb_mut(), nb, nb)))?)
}
