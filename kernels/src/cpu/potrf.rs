//! potrf: the Cholesky factorization of one tile.

use super::rank_k::add_lower;
use super::trsm::trsm;
use crate::backend::backend;
use crate::vector::{Factor, Factorization};
use crate::{Diag, MatMut, NotPositiveDefinite, Op, Real, Scalar, Side, Uplo};

/// Up to this order a matrix is factored by [`Factorization`], in packed form.
const PACKED_ORDER: usize = 512;
/// Up to this order the textbook loops factor in place, because dispatch and packing take as long as they do.
const TEXTBOOK_ORDER: usize = 4;
/// Halves are multiples of this order, which keeps register tiles full.
const UNIT: usize = 32;

/// Factors the Hermitian positive definite n x n matrix A = L Lᴴ ([`Uplo::Lower`]) or A = Uᴴ U ([`Uplo::Upper`]). The
/// factor overwrites that triangle; the other one is neither read nor written.
///
/// The imaginary part of the diagonal is taken as zero, and the factor's diagonal is real and positive.
///
/// # Errors
/// [`NotPositiveDefinite`] at the first pivot that is not positive (NaN is not). The triangle is then partly
/// overwritten.
///
/// # Panics
/// If A is not square.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, Uplo, cpu};
///
/// let mut a = [4.0, 2.0, f64::NAN, 10.0];
/// cpu::potrf(Uplo::Lower, MatMut::from_col_major(&mut a, 2, 2, 2)?)?;
/// assert_eq!((a[0], a[1], a[3]), (2.0, 1.0, 3.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn potrf<T: Scalar>(uplo: Uplo, a: MatMut<'_, T>) -> Result<(), NotPositiveDefinite> {
    assert_eq!(a.nrows(), a.ncols(), "potrf: A must be square");
    // A = Uᴴ U is Aᵀ = Uᵀ conj(U), so Uᵀ is the lower factor of the transposed view.
    factor_lower(if uplo == Uplo::Upper { a.transpose() } else { a })
}

/// Computes L11 = chol(A11), L21 = A21 L11⁻ᴴ, L22 = chol(A22 - L21 L21ᴴ).
fn factor_lower<T: Scalar>(mut a: MatMut<'_, T>) -> Result<(), NotPositiveDefinite> {
    let n = a.nrows();
    if n <= PACKED_ORDER {
        let done = if n <= TEXTBOOK_ORDER { 0 } else { backend::<T>().factor(Factorization { a: a.rb_mut() }) };
        return factor_from(done, a);
    }
    let half = (n / 2).next_multiple_of(UNIT);
    let (top, bottom) = a.split_at_row(half);
    let (mut a11, (mut a21, mut a22)) = (top.submatrix(0..half, 0..half), bottom.split_at_col(half));
    factor_lower(a11.rb_mut())?;
    trsm(Side::Right, Uplo::Lower, Op::ConjTrans, Diag::NonUnit, T::ONE, a11.as_ref(), a21.rb_mut());
    let l21 = a21.as_ref();
    let (factor, adjoint) = (Factor::plain(l21), Factor::conj(l21.transpose()));
    add_lower(-T::ONE, factor, adjoint, T::ONE, a22.rb_mut());
    factor_lower(a22).map_err(|e| NotPositiveDefinite { minor: half + e.minor })
}

/// Factors the columns from `first` on by the textbook loops, given the factored columns before them.
fn factor_from<T: Scalar>(first: usize, mut a: MatMut<'_, T>) -> Result<(), NotPositiveDefinite> {
    let n = a.nrows();
    for j in first..n {
        let mut pivot = a.at(j, j).re();
        for p in 0..j {
            let l = a.at(j, p);
            pivot -= l.re() * l.re() + l.im() * l.im();
        }
        let positive = pivot > T::Real::ZERO;
        if !positive {
            return Err(NotPositiveDefinite { minor: j + 1 });
        }
        let root = pivot.sqrt();
        a[(j, j)] = T::from_real(root);
        for i in j + 1..n {
            let mut x = a.at(i, j);
            for p in 0..j {
                x -= a.at(i, p) * a.at(j, p).conj();
            }
            a[(i, j)] = T::from_parts(x.re() / root, x.im() / root);
        }
    }
    Ok(())
}
