//! The product of a triangular matrix with its adjoint.

use crate::{
    Scalar,
    codelets::{Gemm, RankK, TileMut, Triangle, TriangleForm, cost_of_triangle, task, triangular_operation, with_cost},
    error::{Error, order_of},
    options::Options,
    plan::Problem,
    tiled::Tiled,
};
use superscalar_kernels::{Diag, MatMut, Op, Side, Symmetry, Uplo, cpu, operations::TriangularAction};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks that replace the triangle `uplo` of an n x n matrix, L or U, by the same triangle of Lᴴ L or U Uᴴ.
///
/// # Panics
/// If A or its tiles are not square.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar>(s: &'s Scope<'s, '_>, uplo: Uplo, a: &Tiled<'s, MatMut<'s, T>>) {
    let [rows, cols] = a.partition(Op::None);
    assert!(rows == cols, "lauum: A must be square in square tiles, not {rows} x {cols}");
    let (trmm, gemm, herk) = (Triangle::new("trmm"), Gemm::new(), RankK::new("herk"));
    // In terms of L: tile (i, j) of L is tile (j, i) of U, conjugate-transposed.
    let at = |i, j| if uplo == Uplo::Lower { a.at(i, j) } else { a.at(j, i) };
    let (side, op) = if uplo == Uplo::Lower { (Side::Left, Op::ConjTrans) } else { (Side::Right, Op::None) };
    // L[k][i]ᴴ, as a factor of a product.
    let adjoint = |k, i| a.factor(op, i, k);
    let (one, hermitian) = (T::ONE, (Symmetry::Hermitian, uplo));
    for k in 0..a.nt() {
        for j in 0..k {
            // A[j][j] := A[j][j] + L[k][j]ᴴ L[k][j]
            herk.update(s, task("herk", j, j, k), hermitian, one, adjoint(k, j), one, a.at(j, j));
            for i in j + 1..k {
                // A[i][j] := A[i][j] + L[k][i]ᴴ L[k][j]; for U, A[j][i] := A[j][i] + U[j][k] U[i][k]ᴴ
                let (row, col) = if uplo == Uplo::Lower { (i, j) } else { (j, i) };
                let (left, right) = (adjoint(k, row), adjoint(k, col).mirrored(Symmetry::Hermitian));
                gemm.spawn(s, task("gemm", i, j, k), one, left, right, one, at(i, j));
            }
        }
        for j in 0..k {
            // A[k][j] := L[k][k]ᴴ L[k][j]
            let (m, n) = (a.rows_of(k), a.rows_of(j));
            let shape = if uplo == Uplo::Lower { (m, n) } else { (n, m) };
            let form = TriangleForm { uplo, op: Op::ConjTrans, diag: Diag::NonUnit };
            let by = triangular_operation(TriangularAction::Multiply, side, form, one, shape);
            trmm.spawn(s, task("trmm", k, j, k), by, a.at(k, k), at(k, j));
        }
        // A[k][k] := L[k][k]ᴴ L[k][k]
        let spec = with_cost(task("lauum", k, k, k), cost_of_triangle::<T>(a.rows_of(k)));
        s.spawn(spec, a.at(k, k).read_write(), move |a: &mut TileMut<'s, T>| cpu::lauum(uplo, a.view_mut()));
    }
}

/// Replaces the triangle `uplo` of an n x n matrix, L or U, by the same triangle of Lᴴ L or U Uᴴ. The other triangle is
/// neither read nor changed. The diagonal of L or U is treated as real.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if A is not square.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, Uplo, lauum};
///
/// let rt = Runtime::new()?;
/// let mut a = Matrix::from_fn(2, 2, |i, j| [[1.0, 7.0], [2.0, 3.0]][i][j]);
/// lauum(&rt, Uplo::Lower, a.as_mut(), &Options::default())?;
/// assert_eq!(a.into_vec(), [5.0, 6.0, 7.0, 9.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn lauum<T: Scalar>(rt: &Runtime, uplo: Uplo, mut a: MatMut<'_, T>, options: &Options) -> Result<(), Error> {
    let n = order_of(a.shape())?;
    let nb = options.plan::<T>(rt, Problem::Cholesky { n })?.blocks_of(n);
    if n <= nb {
        cpu::lauum(uplo, a);
        return Ok(());
    }
    Ok(rt.scope(|s| spawn(s, uplo, &Tiled::new(s, a.rb_mut(), nb, nb)))?)
}
