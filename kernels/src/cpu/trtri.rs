//! trtri and lauum: the inverse of a triangular matrix, and the product of a triangular matrix with its adjoint.
//!
//! Both halve the matrix recursively, which leaves the work to [`trsm`](super::trsm), [`trmm`](super::trmm) and
//! [`herk`](super::herk). Small matrices use loops.

use super::rank_k::herk;
use super::trmm::trmm;
use super::trsm::trsm;
use crate::{Diag, MatMut, Op, Scalar, Side, Singular, Uplo};

/// Up to this order the loops are as fast as halving.
const LOOP_ORDER: usize = 16;

/// Inverts a triangular matrix in place, in its triangle `uplo`. The other triangle is neither read nor written, nor is
/// the diagonal if `diag` is [`Diag::Unit`].
///
/// # Errors
/// [`Singular`] if an element of the diagonal is exactly zero; A is then unchanged.
///
/// # Panics
/// If A is not square.
///
/// # Example
/// ```
/// use superscalar::kernels::{Diag, MatMut, Uplo, cpu};
///
/// let mut a = [2.0, -4.0, f64::NAN, 4.0];
/// cpu::trtri(Uplo::Lower, Diag::NonUnit, MatMut::from_col_major(&mut a, 2, 2, 2)?)?;
/// assert_eq!((a[0], a[1], a[3]), (0.5, 0.5, 0.25));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn trtri<T: Scalar>(uplo: Uplo, diag: Diag, a: MatMut<'_, T>) -> Result<(), Singular> {
    let n = a.nrows();
    assert!(a.ncols() == n, "trtri: A must be square, not {:?}", a.shape());
    if diag == Diag::NonUnit
        && let Some(at) = (0..n).find(|&i| a[(i, i)] == T::ZERO)
    {
        return Err(Singular { pivot: at + 1 });
    }
    // (Aᵀ)⁻¹ is (A⁻¹)ᵀ, so the upper triangle is the lower one of the transposed view.
    invert(diag, if uplo == Uplo::Upper { a.transpose() } else { a });
    Ok(())
}

/// Computes L = L⁻¹.
fn invert<T: Scalar>(diag: Diag, mut l: MatMut<'_, T>) {
    let n = l.nrows();
    if n > LOOP_ORDER {
        let half = (n / 2).next_multiple_of(LOOP_ORDER);
        let (top, bottom) = l.split_at_row(half);
        let (mut l11, (mut l21, mut l22)) = (top.submatrix(0..half, 0..half), bottom.split_at_col(half));
        // L21 = -L22⁻¹ L21 L11⁻¹
        trsm(Side::Right, Uplo::Lower, Op::None, diag, -T::ONE, l11.as_ref(), l21.rb_mut());
        trsm(Side::Left, Uplo::Lower, Op::None, diag, T::ONE, l22.as_ref(), l21);
        invert(diag, l11.rb_mut());
        return invert(diag, l22.rb_mut());
    }
    for j in 0..n {
        // Column j of the inverse solves L x = e_j.
        let first = if diag == Diag::Unit { T::ONE } else { T::ONE.quotient(l[(j, j)]) };
        if diag == Diag::NonUnit {
            l[(j, j)] = first;
        }
        for i in j + 1..n {
            let x = |p: usize| if p == j { first } else { l[(p, j)] };
            let sum: T = (j..i).map(|p| l[(i, p)] * x(p)).sum();
            // Columns after j still hold L, and so do the rows of column j below i.
            l[(i, j)] = if diag == Diag::Unit { -sum } else { -sum.quotient(l[(i, i)]) };
        }
    }
}

/// Computes Lᴴ L in place of the lower triangle L, or U Uᴴ in place of the upper triangle U. The other triangle is
/// neither read nor written. The diagonal of L or U is taken as real.
///
/// # Panics
/// If A is not square.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, Uplo, cpu};
///
/// let mut a = [1.0, 2.0, f64::NAN, 3.0];
/// cpu::lauum(Uplo::Lower, MatMut::from_col_major(&mut a, 2, 2, 2)?);
/// assert_eq!((a[0], a[1], a[3]), (5.0, 6.0, 9.0));
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn lauum<T: Scalar>(uplo: Uplo, a: MatMut<'_, T>) {
    assert!(a.ncols() == a.nrows(), "lauum: A must be square, not {:?}", a.shape());
    // Element (j, i) of U Uᴴ is element (i, j) of Lᴴ L for L = Uᵀ.
    gram(if uplo == Uplo::Upper { a.transpose() } else { a });
}

/// Computes Lᴴ L in the lower triangle.
fn gram<T: Scalar>(mut l: MatMut<'_, T>) {
    let n = l.nrows();
    if n > LOOP_ORDER {
        let half = (n / 2).next_multiple_of(LOOP_ORDER);
        let (top, bottom) = l.split_at_row(half);
        let (mut l11, (mut l21, l22)) = (top.submatrix(0..half, 0..half), bottom.split_at_col(half));
        // L11ᴴ L11 + L21ᴴ L21, and L22ᴴ L21
        gram(l11.rb_mut());
        herk(Uplo::Lower, Op::ConjTrans, T::Real::ONE, l21.as_ref(), T::Real::ONE, l11);
        trmm(Side::Left, Uplo::Lower, Op::ConjTrans, Diag::NonUnit, T::ONE, l22.as_ref(), l21.rb_mut());
        return gram(l22);
    }
    for j in 0..n {
        for i in j..n {
            // Element (i, j) is computed from the rows from i on of its columns, which still hold L.
            let below: T = (i + 1..n).map(|p| l[(p, i)].conj() * l[(p, j)]).sum();
            let diagonal = T::from_real(l[(i, i)].re());
            l[(i, j)] =
                if i == j { T::from_real((diagonal * diagonal + below).re()) } else { diagonal * l[(i, j)] + below };
        }
    }
}
