//! Solution of A X = B for a positive definite A.

use super::{potrf, potrs};
use crate::{
    Scalar,
    error::{Error, system_of},
    options::Options,
    plan::{Machine, Problem},
    tiled::Tiled,
};
use superscalar_kernels::{MatMut, NotPositiveDefinite, Uplo, cpu};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks of [`potrf`](fn@crate::spawn::potrf) and [`potrs`](fn@crate::spawn::potrs).
///
/// # Panics
/// If A is not a square matrix in square tiles or block columns, or the tiles of B do not match those of A.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    uplo: Uplo,
    a: &Tiled<'s, MatMut<'s, T>>,
    b: &Tiled<'s, MatMut<'s, T>>,
) {
    potrf::spawn(s, uplo, a);
    potrs::spawn(s, uplo, a, b);
}

/// Solves A X = B for an n x n Hermitian (symmetric) positive definite A. The triangle `uplo` of A is replaced by its
/// Cholesky factor, and B, n x nrhs, by X. The solution starts before the factorization is complete.
///
/// # Errors
/// [`NotPositiveDefinite`](crate::ErrorKind::NotPositiveDefinite), with LAPACK's `info`, if a leading minor is not
/// positive definite; B is then undefined. [`Shape`](crate::ErrorKind::Shape) if A is not n x n.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, Uplo, posv};
///
/// let rt = Runtime::new()?;
/// let mut a = Matrix::from_fn(2, 2, |i, j| [[4.0, 2.0], [2.0, 5.0]][i][j]);
/// let mut b = Matrix::from_fn(2, 1, |i, _| [6.0, 7.0][i]);
/// posv(&rt, Uplo::Upper, a.as_mut(), b.as_mut(), &Options::default())?;
/// assert_eq!(b.into_vec(), [1.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn posv<T: Scalar>(
    rt: &Runtime,
    uplo: Uplo,
    mut a: MatMut<'_, T>,
    mut b: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let (n, nrhs) = system_of(a.shape(), b.shape())?;
    let nb = options.plan::<T>(rt, Problem::Cholesky { n })?.blocks_of(n);
    if n <= nb || nrhs == 0 {
        potrf::potrf(rt, uplo, a.rb_mut(), options)?;
        return potrs::potrs(rt, uplo, a.as_ref(), b, options);
    }
    let (machine, distribution) = (Machine::of::<T>(rt), options.distribution_of_factorization(rt)?);
    Ok(rt.scope(|s| {
        let cut = |matrix| match distribution.is_by_columns(&machine) {
            true => Tiled::columns(s, matrix, nb).distributed(s, distribution),
            false => Tiled::new(s, matrix, nb, nb).distributed(s, distribution),
        };
        spawn(s, uplo, &cut(a.rb_mut()), &cut(b.rb_mut()));
    })?)
}

/// Factors A and solves A X = B on the calling thread, like [`posv`](fn@crate::posv).
///
/// # Errors
/// [`NotPositiveDefinite`], with the order of the leading minor that is not positive definite; B is then unchanged.
///
/// # Panics
/// If the shapes do not match.
///
/// ```
/// use superscalar::dla::{Matrix, Uplo, serial};
///
/// let (mut a, mut b) = (Matrix::from_fn(1, 1, |_, _| 4.0), Matrix::from_fn(1, 1, |_, _| 8.0));
/// serial::posv(Uplo::Lower, a.as_mut(), b.as_mut())?;
/// assert_eq!(b.at(0, 0), 2.0);
/// # Ok::<(), superscalar::dla::NotPositiveDefinite>(())
/// ```
#[each_type]
pub fn serial<T: Scalar>(uplo: Uplo, mut a: MatMut<'_, T>, b: MatMut<'_, T>) -> Result<(), NotPositiveDefinite> {
    cpu::potrf(uplo, a.rb_mut())?;
    potrs::serial(uplo, a.as_ref(), b);
    Ok(())
}
