//! larft: the triangular factor of a block reflector.

use super::gemm::add;
use crate::vector::{Factor, Workspace};
use crate::{MatMut, MatRef, Scalar};

/// Up to this many reflectors T is formed column by column from Vᴴ V.
const BY_COLUMNS_MAX: usize = 32;

/// Computes the upper triangular T with H1 H2 ... Hk = I - V T Vᴴ. The reflectors are I - `tau[j]` v vᴴ, where v is
/// column j of V.
///
/// V is m x k, unit lower trapezoidal; its elements on and above the diagonal are not read. T is k x k, and zeros are
/// stored below its diagonal.
///
/// # Panics
/// If the shapes do not agree, or m < k.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, MatRef, cpu};
///
/// let (v, tau) = ([f64::NAN, 1.0, f64::NAN, f64::NAN], [1.0, 2.0]);
/// let mut t = [f64::NAN; 4];
/// cpu::larft(MatRef::from_col_major(&v, 2, 2, 2)?, &tau, MatMut::from_col_major(&mut t, 2, 2, 2)?);
/// assert_eq!(t, [1.0, 0.0, -2.0, 2.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn larft<T: Scalar>(v: MatRef<'_, T>, tau: &[T], mut t: MatMut<'_, T>) {
    let (m, k) = v.shape();
    assert!(
        m >= k && tau.len() == k && t.shape() == (k, k),
        "larft: shapes do not agree: V {m} x {k}, T {:?}",
        t.shape()
    );
    if k <= BY_COLUMNS_MAX {
        return by_columns(v, tau, t);
    }
    let half = k / 2;
    let (left, right) = v.split_at_col(half);
    let (tau1, tau2) = tau.split_at(half);
    let (top, bottom) = t.rb_mut().split_at_row(half);
    larft(left, tau1, top.submatrix(0..half, 0..half));
    larft(right.submatrix(half..m, 0..k - half), tau2, bottom.submatrix(0..k - half, half..k));
    join(v, half, t);
}

/// Joins two triangular factors: computes T12 = -T1 (V1ᴴ V2) T2 from the stored T1 of the first `half` reflectors and
/// T2 of the others, and stores zeros in T21.
pub(super) fn join<T: Scalar>(v: MatRef<'_, T>, half: usize, t: MatMut<'_, T>) {
    let ((m, k), rest) = (v.shape(), v.ncols() - half);
    let (left, right) = v.submatrix(half..m, 0..k).split_at_col(half);
    let ((v1_top, v1_bottom), v2_bottom) = (left.split_at_row(rest), right.submatrix(rest..m - half, 0..rest));
    let (top, bottom) = t.split_at_row(half);
    let ((t1, mut t12), (mut t21, t2)) = (top.split_at_col(half), bottom.split_at_col(half));
    t21.fill(T::ZERO);
    let mut scratch = Workspace::<T>::take(rest * rest + 2 * half * rest);
    let (unit, products) = scratch.elements().split_at_mut(rest * rest);
    let (y, x) = products.split_at_mut(half * rest);
    let unit = unit_lower(right, unit);
    let (mut y, mut x) = (matrix_in(y, half, rest), matrix_in(x, half, rest));
    add(T::ONE, adjoint(v1_top), Factor::plain(unit), T::ZERO, y.rb_mut());
    if v1_bottom.nrows() > 0 {
        add(T::ONE, adjoint(v1_bottom), Factor::plain(v2_bottom), T::ONE, y.rb_mut());
    }
    add(T::ONE, Factor::plain(y.as_ref()), Factor::plain(t2.as_ref()), T::ZERO, x.rb_mut());
    add(-T::ONE, Factor::plain(t1.as_ref()), Factor::plain(x.as_ref()), T::ZERO, t12.rb_mut());
}

/// Returns the adjoint of a view, as a factor.
fn adjoint<T: Scalar>(view: MatRef<'_, T>) -> Factor<'_, T> {
    Factor::conj(view.transpose())
}

/// Returns an m x n matrix in scratch of that size.
pub(super) fn matrix_in<T>(scratch: &mut [T], m: usize, n: usize) -> MatMut<'_, T> {
    MatMut::from_col_major(scratch, m, n, m.max(1)).expect("the scratch has m x n elements")
}

/// Copies the k x k top of V, with its ones and zeros, to scratch of that size.
pub(super) fn unit_lower<'a, T: Scalar>(v: MatRef<'_, T>, scratch: &'a mut [T]) -> MatRef<'a, T> {
    let k = v.ncols();
    let mut top = matrix_in(scratch, k, k);
    top.copy_from(v.submatrix(0..k, 0..k));
    for j in 0..k {
        let column = top.col_as_slice_mut(j).expect("scratch is stored by columns");
        column[..j].fill(T::ZERO);
        column[j] = T::ONE;
    }
    top.into_ref()
}

/// Computes T column by column: column j is -`tau[j]` T (Vᴴ v), with the T of the columns before it.
fn by_columns<T: Scalar>(v: MatRef<'_, T>, tau: &[T], mut t: MatMut<'_, T>) {
    let (m, k) = v.shape();
    if k == 0 {
        return;
    }
    let mut scratch = Workspace::take(2 * k * k);
    let (unit, products) = scratch.elements().split_at_mut(k * k);
    let unit = unit_lower(v, unit);
    let mut products = matrix_in(products, k, k);
    add(T::ONE, adjoint(unit), Factor::plain(unit), T::ZERO, products.rb_mut());
    if m > k {
        let rest = v.submatrix(k..m, 0..k);
        add(T::ONE, adjoint(rest), Factor::plain(rest), T::ONE, products.rb_mut());
    }
    t.fill(T::ZERO);
    for j in 0..k {
        for i in 0..j {
            let sum = (i..j).map(|p| t.at(i, p) * products.at(p, j)).sum::<T>();
            t[(i, j)] = -tau[j] * sum;
        }
        t[(j, j)] = tau[j];
    }
}
