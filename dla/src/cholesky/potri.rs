//! Inverse of a positive definite matrix.

use super::{lauum, trtri};
use crate::{
    Scalar,
    error::{Error, order_of},
    options::Options,
    plan::Problem,
    tiled::Tiled,
};
use superscalar_kernels::{Diag, MatMut, Singular, Uplo, cpu};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks that replace L or U, in the triangle `uplo` of A, as computed by
/// [`potrf`](fn@crate::spawn::potrf), by the same triangle of the inverse of L Lᴴ or Uᴴ U.
///
/// # Panics
/// If A or its tiles are not square.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar>(s: &'s Scope<'s, '_>, uplo: Uplo, a: &Tiled<'s, MatMut<'s, T>>) {
    // (L Lᴴ)⁻¹ = L⁻ᴴ L⁻¹
    trtri::spawn(s, uplo, Diag::NonUnit, a);
    lauum::spawn(s, uplo, a);
}

/// Replaces L or U, in the triangle `uplo` of A, as computed by [`potrf`](fn@crate::potrf), by the same triangle of the
/// inverse of L Lᴴ or Uᴴ U. The other triangle is neither read nor changed.
///
/// # Errors
/// [`Singular`](crate::ErrorKind::Singular), with LAPACK's `info`, if a diagonal element of the factor is exactly zero;
/// A is then unchanged. [`Shape`](crate::ErrorKind::Shape) if A is not square.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, Uplo, potrf, potri};
///
/// let (rt, o) = (Runtime::new()?, Options::default());
/// let mut a = Matrix::from_fn(2, 2, |i, j| if i == j { 4.0 } else { 0.0 });
/// potrf(&rt, Uplo::Lower, a.as_mut(), &o)?;
/// potri(&rt, Uplo::Lower, a.as_mut(), &o)?;
/// assert_eq!((a.at(0, 0), a.at(1, 1)), (0.25, 0.25));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn potri<T: Scalar>(rt: &Runtime, uplo: Uplo, mut a: MatMut<'_, T>, options: &Options) -> Result<(), Error> {
    let n = order_of(a.shape())?;
    if let Some(at) = (0..n).find(|&i| a[(i, i)] == T::ZERO) {
        return Err(Singular { pivot: at + 1 }.into());
    }
    let nb = options.plan::<T>(rt, Problem::Cholesky { n })?.blocks_of(n);
    if n <= nb {
        return Ok(serial(uplo, a)?);
    }
    Ok(rt.scope(|s| spawn(s, uplo, &Tiled::new(s, a.rb_mut(), nb, nb)))?)
}

/// Computes the inverse from the factor in A on the calling thread, like [`potri`](fn@crate::potri).
///
/// # Errors
/// [`Singular`] if a diagonal element of the factor is exactly zero; A is then unchanged.
///
/// # Panics
/// If A is not square.
///
/// ```
/// use superscalar::dla::{Matrix, Uplo, serial};
///
/// let mut a = Matrix::from_fn(1, 1, |_, _| 2.0);
/// serial::potri(Uplo::Lower, a.as_mut())?;
/// assert_eq!(a.at(0, 0), 0.25);
/// # Ok::<(), superscalar::dla::Singular>(())
/// ```
#[each_type]
pub fn serial<T: Scalar>(uplo: Uplo, mut a: MatMut<'_, T>) -> Result<(), Singular> {
    cpu::trtri(uplo, Diag::NonUnit, a.rb_mut())?;
    cpu::lauum(uplo, a);
    Ok(())
}
