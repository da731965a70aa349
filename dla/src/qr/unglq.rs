//! Generation of the Q of an LQ factorization.

use super::{gelqf::with_column_major, ungqr, unmlq::conjugated};
use crate::{Scalar, error::Error, options::Options, tiled::Tiled};
use superscalar_kernels::MatMut;
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks that replace the m x n matrix A by the first m rows of Q. The first rows of A hold the reflectors,
/// as [`gelqf`](fn@crate::spawn::gelqf) leaves them with `tau`, one per element of `tau`, which is conjugated. As for
/// `gelqf`, A is given by its transposed view.
///
/// # Panics
/// If the view is not in block columns, m > n, or there are more reflectors than rows.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar>(s: &'s Scope<'s, '_>, at: &Tiled<'s, MatMut<'s, T>>, tau: &'s mut [T]) {
    // Aᵀ holds the reflectors of a QR factorization whose Q is the transpose of this Q.
    tau.iter_mut().for_each(|tau| *tau = tau.conj());
    ungqr::spawn(s, at, tau);
}

/// Replaces the m x n matrix A by the first m rows of Q. The first k rows of A hold the reflectors of Q to the right of
/// the diagonal, as [`gelqf`](fn@crate::gelqf) leaves them, and `tau` their k scalar factors. For real types this is
/// LAPACK's orglq.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) unless k <= m <= n.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, gelqf, unglq};
///
/// let (rt, o) = (Runtime::new()?, Options::default());
/// let (mut a, mut tau) = (Matrix::from_fn(1, 2, |_, j| [3.0f64, 4.0][j]), [0.0]);
/// gelqf(&rt, a.as_mut(), &mut tau, &o)?;
/// unglq(&rt, a.as_mut(), &tau, &o)?;
/// assert!((a.at(0, 0) + 0.6).abs() < 1e-15 && (a.at(0, 1) + 0.8).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn unglq<T: Scalar>(rt: &Runtime, a: MatMut<'_, T>, tau: &[T], options: &Options) -> Result<(), Error> {
    let ((m, n), k) = (a.shape(), tau.len());
    if m > n || k > m {
        return Err(Error::shape(format!("unglq: A is {m} x {n} with k = {k} reflectors; expected k <= m <= n")));
    }
    with_column_major(rt, a.transpose(), |at| ungqr::ungqr(rt, at, &conjugated(tau), options))
}

/// Replaces A by the first rows of Q on the calling thread, like [`unglq`](fn@crate::unglq).
///
/// # Panics
/// Unless k <= m <= n.
///
/// ```
/// use superscalar::dla::{Matrix, serial};
///
/// let (mut a, mut tau) = (Matrix::from_fn(1, 2, |_, j| [3.0f64, 4.0][j]), [0.0]);
/// serial::gelqf(a.as_mut(), &mut tau);
/// serial::unglq(a.as_mut(), &tau);
/// assert!((a.at(0, 0) + 0.6).abs() < 1e-15 && (a.at(0, 1) + 0.8).abs() < 1e-15);
/// ```
#[each_type]
pub fn serial<T: Scalar>(a: MatMut<'_, T>, tau: &[T]) {
    ungqr::serial(a.transpose(), &conjugated(tau));
}
