//! geqrf: the QR factorization of one tile, or of a tile column, with the triangular factor of its reflectors.
//!
//! The algorithm is recursive on columns (Elmroth and Gustavson, "Applying recursion to serial and parallel QR
//! factorization leads to better performance", 2000). The left half is factored and its block reflector is applied to
//! the right half, which is factored in turn; a product joins the two triangular factors. Narrow matrices are factored
//! by [`QrPanel`].

use super::larfb::{BlockReflector, larfb};
use super::larft::join;
use crate::backend::backend;
use crate::vector::QrPanel;
use crate::{MatMut, Op, Scalar, Side};

/// Bytes of a panel that [`QrPanel`] factors at once: two second-level caches.
const PANEL_BYTES: usize = 2 << 20;
/// Limits of the number of columns of such a panel, for any height.
const PANEL_COLUMNS: std::ops::RangeInclusive<usize> = 16..=64;

/// Factors the m x n matrix A = Q R, Q = H1 H2 ... Hk with k = min(m, n), as LAPACK's xGEQRF does.
///
/// R, upper trapezoidal, overwrites A on and above the diagonal, and its diagonal is real. Hj = I - `tau[j]` v vᴴ. The
/// elements of v before j are zero and element j is one; the elements after it overwrite column j below the diagonal.
///
/// `t`, k x k, receives the upper triangular factor of the block reflector, Q = I - V T Vᴴ (see [`larfb`]), and zeros
/// below its diagonal. Forming all of T takes half as many operations as the rest. If `t` has fewer rows, ib x k, it
/// receives the factors of ib reflectors at a time, side by side, as from LAPACK's xGEQRT.
///
/// # Panics
/// If the length of `tau` is not k, or `t` is not ib x k with 1 <= ib <= k.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, cpu};
///
/// let (mut a, mut tau, mut t) = ([3.0, 4.0], [0.0], [f64::NAN]);
/// let t = MatMut::from_col_major(&mut t, 1, 1, 1)?;
/// cpu::geqrf(MatMut::from_col_major(&mut a, 2, 1, 2)?, &mut tau, t);
/// assert_eq!((a, tau), ([-5.0, 0.5], [1.6]));
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn geqrf<T: Scalar>(mut a: MatMut<'_, T>, tau: &mut [T], mut t: MatMut<'_, T>) {
    let (m, n) = a.shape();
    let k = m.min(n);
    let fits = tau.len() == k && t.ncols() == k && (1..=k.max(1)).contains(&t.nrows());
    assert!(fits || k == 0, "geqrf: shapes do not agree: A {m} x {n}, T {:?}, tau {}", t.shape(), tau.len());
    if k == 0 {
        return;
    }
    factor(a.rb_mut().submatrix(0..m, 0..k), tau, t.rb_mut());
    if k < n {
        let (v, c) = a.split_at_col(k);
        larfb(Side::Left, Op::ConjTrans, BlockReflector::new(v.as_ref(), t.as_ref()), c);
    }
}

/// Returns the number of columns of a panel with m rows.
fn panel_columns<T>(m: usize) -> usize {
    let columns = PANEL_BYTES / (m * size_of::<T>());
    (columns - columns % 8).clamp(*PANEL_COLUMNS.start(), *PANEL_COLUMNS.end())
}

/// Factors a matrix with at least as many rows as columns.
fn factor<T: Scalar>(mut a: MatMut<'_, T>, tau: &mut [T], mut t: MatMut<'_, T>) {
    let ((m, n), block) = (a.shape(), t.nrows());
    let unit = panel_columns::<T>(m);
    if n <= unit && (n <= block || block.is_multiple_of(8)) {
        let t = t.submatrix(0..n.min(block), 0..n);
        return backend::<T>().qr_panel(QrPanel { a, tau, t });
    }
    // A single T for all columns is joined from two; if there are several, the cut is between two of them.
    let joined = n <= block;
    let half = (n / 2).next_multiple_of(if joined { unit.min(32) } else { block });
    let (tau1, tau2) = tau.split_at_mut(half);
    let (mut left, mut right) = a.rb_mut().split_at_col(half);
    let (mut t1, mut t2) = t.rb_mut().split_at_col(half);
    if joined {
        (t1, t2) = (t1.submatrix(0..half, 0..half), t2.submatrix(half..n, 0..n - half));
    }
    factor(left.rb_mut(), tau1, t1.rb_mut());
    larfb(Side::Left, Op::ConjTrans, BlockReflector::new(left.as_ref(), t1.as_ref()), right.rb_mut());
    factor(right.submatrix(half..m, 0..n - half), tau2, t2);
    if joined {
        join(a.as_ref(), half, t.submatrix(0..n, 0..n));
    }
}
