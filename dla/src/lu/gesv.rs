//! Solution of A X = B for a general A.

use super::{
    getrf::{self, check_ipiv},
    getrs,
};
use crate::{
    Scalar,
    error::{Error, system_of},
    options::Options,
    plan::Problem,
    tiled::Tiled,
};
use superscalar_kernels::{MatMut, Op, Singular, cpu};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks of [`getrf`](fn@crate::spawn::getrf) and [`getrs`](fn@crate::spawn::getrs).
///
/// # Panics
/// If A is not square, A or B is not in block columns, the number of rows of B or the length of `ipiv` is not that of
/// A, or A has more than `i32::MAX` rows.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    a: &Tiled<'s, MatMut<'s, T>>,
    ipiv: &'s mut [i32],
    b: &Tiled<'s, MatMut<'s, T>>,
) {
    let pivots = getrf::spawn(s, a, ipiv);
    getrs::spawn(s, Op::None, a, &pivots, b);
}

/// Solves A X = B for an n x n matrix A. A is replaced by its factors L and U, `ipiv` receives the interchanges, as by
/// [`getrf`](fn@crate::getrf), and X overwrites B, which is n x nrhs.
///
/// # Errors
/// [`Singular`](crate::ErrorKind::Singular), with LAPACK's `info`, if a pivot is exactly zero; the factorization is
/// then complete, and B unchanged. [`Shape`](crate::ErrorKind::Shape) if A is not n x n or `ipiv` does not have n
/// elements.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, gesv};
///
/// let rt = Runtime::new()?;
/// let mut a = Matrix::from_fn(2, 2, |i, j| [[1.0, 3.0], [2.0, 4.0]][i][j]);
/// let mut b = Matrix::from_fn(2, 1, |i, _| [4.0, 6.0][i]);
/// gesv(&rt, a.as_mut(), &mut [0; 2], b.as_mut(), &Options::default())?;
/// assert_eq!(b.into_vec(), [1.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn gesv<T: Scalar>(
    rt: &Runtime,
    mut a: MatMut<'_, T>,
    ipiv: &mut [i32],
    mut b: MatMut<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let (n, _) = system_of(a.shape(), b.shape())?;
    check_ipiv("gesv", (n, n), ipiv)?;
    let Some(nb) = options.plan::<T>(rt, Problem::Lu { m: n, n })?.blocks() else {
        return Ok(serial(a, ipiv, b)?);
    };
    let distribution = options.distribution_of_factorization(rt)?;
    Ok(rt.scope(|s| {
        let a = Tiled::columns(s, a.rb_mut(), nb).distributed(s, distribution);
        let b = Tiled::columns(s, b.rb_mut(), nb).distributed(s, distribution);
        spawn(s, &a, ipiv, &b);
    })?)
}

/// Factors A and solves A X = B on the calling thread, like [`gesv`](fn@crate::gesv).
///
/// # Errors
/// [`Singular`], with the first pivot that is exactly zero; A then holds its factors, and B is unchanged.
///
/// # Panics
/// If the shapes do not match.
///
/// ```
/// use superscalar::dla::{Matrix, serial};
///
/// let (mut a, mut b) = (Matrix::from_fn(1, 1, |_, _| 2.0), Matrix::from_fn(1, 1, |_, _| 8.0));
/// serial::gesv(a.as_mut(), &mut [0], b.as_mut())?;
/// assert_eq!(b.at(0, 0), 4.0);
/// # Ok::<(), superscalar::dla::Singular>(())
/// ```
#[each_type]
pub fn serial<T: Scalar>(mut a: MatMut<'_, T>, ipiv: &mut [i32], b: MatMut<'_, T>) -> Result<(), Singular> {
    cpu::getrf(a.rb_mut(), ipiv)?;
    getrs::serial(Op::None, a.as_ref(), ipiv, b);
    Ok(())
}
