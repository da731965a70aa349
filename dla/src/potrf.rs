//! Cholesky factorization: A = L Lᴴ or A = Uᴴ U.

use crate::{
    codelets::{self, Gemm, Herk, Potrf, Trsm},
    error::Error,
    options::Options,
    tiled::Tiled,
};
use superscalar_kernels::{MatMut, Op, Scalar, Side, Uplo, cpu};
use superscalar_runtime::{Runtime, Scope, TaskSpec};

/// Inserts the tasks of the factorization of an n x n Hermitian (symmetric) positive definite matrix: the named triangle of A
/// is replaced by L or U. The other triangle is not touched.
///
/// The right-looking algorithm (task-superscalar paper, Algorithm 5, with the update cut into tiles). Panel tasks and the
/// column that the next panel needs have priority, which lets panels run ahead of the updates: lookahead.
///
/// A leading minor that is not positive definite fails its task with [`NotPositiveDefinite`], which cancels what depends on it
/// and comes back from the scope; the steps before it are done, as in LAPACK.
///
/// # Panics
/// If A or its tiles are not square.
///
/// [`NotPositiveDefinite`]: superscalar_kernels::NotPositiveDefinite
#[track_caller]
pub fn submit<'s, T: Scalar>(s: &'s Scope<'s, '_>, uplo: Uplo, a: &Tiled<'s, MatMut<'s, T>>) {
    let ((n, cols), (nb, tile_cols)) = (a.shape(), a.tile_shape());
    assert!(
        n == cols && nb == tile_cols,
        "potrf: a square matrix in square tiles, not {n} x {cols} in {nb} x {tile_cols}"
    );
    let (potrf, trsm, herk, gemm) = (codelets::potrf(), codelets::trsm(), codelets::herk(), codelets::gemm());
    // In terms of L: tile (i, j) of L is tile (j, i) of U, conjugate-transposed.
    let at = |i, j| if uplo == Uplo::Lower { a.at(i, j) } else { a.at(j, i) };
    let (side, op) = if uplo == Uplo::Lower { (Side::Right, Op::None) } else { (Side::Left, Op::ConjTrans) };
    let size = |i: usize| nb.min(n - i * nb);
    let task = |name, i, j, k, priority| TaskSpec::new(name).index([i as u32, j as u32, k as u32]).priority(priority);
    // The column that becomes the next panel is more urgent than the others.
    let urgency = |j, k| i32::from(j == k + 1);
    let nt = a.nt();
    for k in 0..nt {
        // A[k][k] = L[k][k] L[k][k]ᴴ
        let kk = Potrf { uplo, offset: k * nb, n: size(k) };
        potrf.insert(s, task("potrf", k, k, k, 4), at(k, k).read_write(), kk);
        for i in k + 1..nt {
            // A[i][k] := A[i][k] L[k][k]⁻ᴴ
            let (m, n) = if uplo == Uplo::Lower { (size(i), size(k)) } else { (size(k), size(i)) };
            let ik = Trsm { side, uplo, op: Op::ConjTrans, m, n };
            trsm.insert(s, task("trsm", i, k, k, 3), (at(k, k).read(), at(i, k).read_write()), ik);
        }
        for j in k + 1..nt {
            // A[j][j] := A[j][j] − L[j][k] L[j][k]ᴴ
            let jj = Herk { uplo, op, n: size(j), k: size(k) };
            herk.insert(s, task("herk", j, j, k, 2 * urgency(j, k)), (at(j, k).read(), at(j, j).read_write()), jj);
            for i in j + 1..nt {
                // A[i][j] := A[i][j] − L[i][k] L[j][k]ᴴ; for U, A[j][i] := A[j][i] − U[k][j]ᴴ U[k][i]
                let (row, col) = if uplo == Uplo::Lower { (i, j) } else { (j, i) };
                let ij = Gemm {
                    op_a: op,
                    op_b: if uplo == Uplo::Lower { Op::ConjTrans } else { Op::None },
                    m: size(row),
                    n: size(col),
                    k: size(k),
                };
                let operands = (at(row, k).read(), at(col, k).read(), at(i, j).read_write());
                gemm.insert(s, task("gemm", i, j, k, urgency(j, k)), operands, ij);
            }
        }
    }
}

/// Factors an n x n Hermitian (symmetric) positive definite matrix: the named triangle of A is replaced by L or U, with
/// A = L Lᴴ or A = Uᴴ U. The other triangle is neither read nor touched; imaginary parts on the diagonal are taken as zero.
///
/// Working memory beside the matrix: a handle per tile, and what the tile kernels pack.
///
/// # Errors
/// [`NotPositiveDefinite`](crate::ErrorKind::NotPositiveDefinite), with LAPACK's `info`, if a leading minor is not (also if it
/// holds a NaN); the part of A before that minor then holds its factor. [`Shape`](crate::ErrorKind::Shape) if A is not square.
///
/// ```
/// use superscalar_dla::{Matrix, Options, potrf};
/// use superscalar_kernels::Uplo;
/// use superscalar_runtime::Runtime;
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
pub fn potrf<T: Scalar>(rt: &Runtime, uplo: Uplo, mut a: MatMut<'_, T>, options: &Options) -> Result<(), Error> {
    let (n, cols) = a.shape();
    if n != cols {
        return Err(Error::shape(format!("potrf: A is {n} x {cols}, not square")));
    }
    let nb = options.block_size.of_factorization(n, rt.workers())?;
    if n <= nb {
        return Ok(cpu::potrf(uplo, a)?);
    }
    Ok(rt.scope(|s| submit(s, uplo, &Tiled::new(s, a.rb_mut(), nb, nb)))?)
}
