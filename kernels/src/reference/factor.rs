//! potrf as loops.

use crate::{MatMut, NotPositiveDefinite, Real, Scalar, Uplo};

/// Computes the Cholesky factor of A in one triangle, in place of A. See [`cpu::potrf`](crate::cpu::potrf).
///
/// # Errors
/// If a leading minor is not positive definite; the error holds the order of the first one.
///
/// # Panics
/// If A is not square.
pub fn potrf<T: Scalar>(uplo: Uplo, a: MatMut<'_, T>) -> Result<(), NotPositiveDefinite> {
    assert_eq!(a.nrows(), a.ncols(), "potrf: A must be square");
    // A = Uᴴ U is conj(A) = Uᵀ conj(U), so the transposed view holds the lower factor of conj(A), which equals Aᵀ.
    let mut a = if uplo == Uplo::Upper { a.transpose() } else { a };
    let n = a.nrows();
    // The finished elements of each row of L, so that sums run over adjacent elements.
    let mut l: Vec<Vec<T>> = vec![Vec::new(); n];
    for j in 0..n {
        let mut pivot = a[(j, j)].re();
        for &x in &l[j] {
            pivot -= (x * x.conj()).re();
        }
        let positive = pivot > T::Real::ZERO;
        if !positive {
            return Err(NotPositiveDefinite { minor: j + 1 });
        }
        let root = pivot.sqrt();
        a[(j, j)] = T::from_real(root);
        for i in j + 1..n {
            let mut x = a[(i, j)];
            for (&l_ip, &l_jp) in l[i].iter().zip(&l[j]) {
                x -= l_ip * l_jp.conj();
            }
            a[(i, j)] = T::from_parts(x.re() / root, x.im() / root);
            l[i].push(a[(i, j)]);
        }
    }
    Ok(())
}
