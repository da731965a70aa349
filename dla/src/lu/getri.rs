//! The inverse of a general matrix.

use super::getrf::check_ipiv;
use crate::{
    auxiliary::laswp, cholesky::trtri, codelets::task, error::Error, matrix::Matrix, options::Options, tile::Tile,
    tiled::Tiled, tuning::Blocks,
};
use superscalar_kernels::{Diag, Direction, MatMut, Op, Scalar, Side, Uplo, cpu};
use superscalar_runtime::{Runtime, Scope};

/// Replaces L and U, in the n x n matrix A as from [`getrf`](fn@crate::getrf) with the interchanges `ipiv`, by the inverse of
/// P L U: U is inverted, and X L = U⁻¹ solved from the last block column to the first.
///
/// # Errors
/// [`Singular`](crate::ErrorKind::Singular), with LAPACK's `info`, if a diagonal element of U is exactly zero: A is then as it was.
/// [`Shape`](crate::ErrorKind::Shape) if A is not square or `ipiv` not of n elements; [`Argument`](crate::ErrorKind::Argument) if
/// an interchange is outside of the matrix.
///
/// ```
/// use superscalar_dla::{Matrix, Options, getrf, getri};
/// use superscalar_runtime::Runtime;
///
/// let (rt, o, mut ipiv) = (Runtime::new()?, Options::default(), [0; 2]);
/// let mut a = Matrix::from_fn(2, 2, |i, j| [[0.0, 2.0], [4.0, 0.0]][i][j]);
/// getrf(&rt, a.as_mut(), &mut ipiv, &o)?;
/// getri(&rt, a.as_mut(), &ipiv, &o)?;
/// assert_eq!(a.into_vec(), [0.0, 0.5, 0.25, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn getri<T: Scalar>(rt: &Runtime, mut a: MatMut<'_, T>, ipiv: &[i32], options: &Options) -> Result<(), Error> {
    let (n, cols) = a.shape();
    if n != cols {
        return Err(Error::shape(format!("getri: A is {n} x {cols}, not square")));
    }
    check_ipiv("getri", (n, n), ipiv)?;
    laswp::check(n, ipiv)?;
    trtri::trtri(rt, Uplo::Upper, Diag::NonUnit, a.rb_mut(), options)?;
    let nb = options.panel_columns::<T>(Blocks::Lu, (n, n), rt.workers())?.unwrap_or(n).max(1);
    // Rows are independent of each other: X L = U⁻¹, and the interchanges, which are of columns.
    let rows = n.div_ceil(rt.workers() * 2).max(nb.min(n)).max(1);
    let mut l = Matrix::zeros(n, nb.min(n));
    for start in (0..n).step_by(nb).collect::<Vec<_>>().into_iter().rev() {
        let end = n.min(start + nb);
        take_below(a.rb_mut().submatrix(0..n, start..end), start, l.as_mut());
        let l = l.as_ref().submatrix(0..n, 0..end - start);
        rt.scope(|s| {
            let a = Tiled::new(s, a.rb_mut().submatrix(0..n, start..n), rows, n);
            for (i, &block) in a.tiles().iter().enumerate() {
                s.spawn(task("getri", i, start / nb, 0), block.read_write(), move |x: &mut Tile<MatMut<'_, T>>| {
                    let (mut x, rest) = x.view_mut().split_at_col(end - start);
                    let (here, below) = l.submatrix(start..n, 0..end - start).split_at_row(end - start);
                    // X[:][j] := (X[:][j] − X[:][j+1..] L[j+1..][j]) L[j][j]⁻¹
                    let (one, none) = (T::ONE, Op::None);
                    cpu::gemm(-one, none, rest.into_ref(), none, below, one, x.rb_mut());
                    cpu::trsm(Side::Right, Uplo::Lower, none, Diag::Unit, one, here, x);
                });
            }
        })?;
    }
    Ok(rt.scope(|s: &Scope<'_, '_>| {
        for (i, &block) in Tiled::new(s, a.rb_mut(), rows, n.max(1)).tiles().iter().enumerate() {
            s.spawn(task("laswp", i, 0, 0), block.read_write(), move |x: &mut Tile<MatMut<'_, T>>| {
                cpu::laswp(x.view_mut().transpose(), 0, ipiv, Direction::Backward);
            });
        }
    })?)
}

/// Moves what is below the diagonal, which begins in row `start`, from the block column A to L, and leaves zeros.
fn take_below<T: Scalar>(mut a: MatMut<'_, T>, start: usize, mut l: MatMut<'_, T>) {
    let (n, cols) = a.shape();
    for j in 0..cols {
        for i in start + j + 1..n {
            l[(i, j)] = std::mem::replace(&mut a[(i, j)], T::ZERO);
        }
    }
}
