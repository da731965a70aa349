//! gemv, gbmv, geru, gerc: products with a general matrix, and rank-1 updates of a general matrix.

use super::operand::{Adjacent, AdjacentMut, Conj, by_columns, by_columns_mut, check_band, scale};
use crate::backend::vectors;
use crate::vector::loops::{Multiply, MultiplyTrans, Stored, Update};
use crate::{MatMut, MatRef, Op, Scalar, VecMut, VecRef};
use std::ops::Range;

/// Computes y = alpha op(A) x + beta y.
///
/// beta = 0 does not read y; alpha = 0 reads neither A nor x.
///
/// # Panics
/// If the shapes do not agree, or neither the rows nor the columns of A are adjacent elements.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatRef, Op, VecMut, VecRef, cpu};
///
/// let (a, mut y) = ([1.0, 2.0, 3.0, 4.0], [f64::NAN; 2]); // [1 3; 2 4]
/// let (a, x) = (MatRef::from_col_major(&a, 2, 2, 2)?, VecRef::from_slice(&[1.0, 1.0]));
/// cpu::gemv(Op::None, 1.0, a, x, 0.0, VecMut::from_slice(&mut y));
/// assert_eq!(y, [4.0, 6.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn gemv<'a, T: Scalar>(
    op: Op,
    alpha: T,
    a: impl Into<Conj<MatRef<'a, T>>>,
    x: VecRef<'_, T>,
    beta: T,
    mut y: VecMut<'_, T>,
) {
    let Conj { view, conj } = a.into();
    let (m, n) = op.shape(view.shape());
    assert!(
        (m, n) == (y.len(), x.len()),
        "gemv: shapes do not agree: op(A) {:?}, x {}, y {}",
        (m, n),
        x.len(),
        y.len()
    );
    scale(beta, &mut y);
    if alpha == T::ZERO || view.is_empty() {
        return;
    }
    let (a, flipped) = by_columns(view);
    let trans = flipped != (op != Op::None);
    let conj = conj != (op == Op::ConjTrans);
    // SAFETY: the views guarantee that the elements of A and x are readable; y is borrowed exclusively.
    unsafe {
        if trans {
            let (x, inc, y) = (Adjacent::of(x), y.inc(), y.as_mut_ptr());
            (vectors::<T>().multiply_trans)(MultiplyTrans { shape: (n, m), alpha, a, conj, x: x.at(0), y, inc });
        } else {
            let y = AdjacentMut::of(y);
            let (x, inc) = (x.as_ptr(), x.inc());
            (vectors::<T>().multiply)(Multiply { shape: (m, n), alpha, a, conj, x, inc, y: y.at(0) });
        }
    }
}

/// Computes y = alpha op(A) x + beta y for a band matrix with `ku` diagonals above the main one.
///
/// Element (i, j) of A is element (ku + i - j, j) of the array `a`, which has a row for each diagonal and a column for
/// each column of A. The number of rows of A is the length of the vector on that side. beta = 0 does not read y; alpha
/// = 0 reads neither A nor x.
///
/// # Panics
/// If the shapes do not agree, the columns of the array are not adjacent elements, or it has no row for the main
/// diagonal.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatRef, Op, VecMut, VecRef, cpu};
///
/// let (nan, mut y) = (f64::NAN, [0.0; 2]);
/// let a = [nan, 1.0, 3.0, 4.0]; // [1 3; 0 4], with one diagonal above the main one
/// let (a, x) = (MatRef::from_col_major(&a, 2, 2, 2)?, VecRef::from_slice(&[1.0, 1.0]));
/// cpu::gbmv(Op::None, 1, 1.0, a, x, 0.0, VecMut::from_slice(&mut y));
/// assert_eq!(y, [4.0, 4.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn gbmv<'a, T: Scalar>(
    op: Op,
    ku: usize,
    alpha: T,
    a: impl Into<Conj<MatRef<'a, T>>>,
    x: VecRef<'_, T>,
    beta: T,
    mut y: VecMut<'_, T>,
) {
    let Conj { view, conj } = a.into();
    let (m, n) = if op == Op::None { (y.len(), x.len()) } else { (x.len(), y.len()) };
    let diagonals = check_band(view);
    assert!(
        n == view.ncols() && ku <= diagonals,
        "gbmv: shapes do not agree: A {:?}, ku {ku}, x {}, y {}",
        view.shape(),
        x.len(),
        y.len()
    );
    scale(beta, &mut y);
    if alpha == T::ZERO || m == 0 || n == 0 {
        return;
    }
    let a = Stored::band(view.as_ptr().cast_mut(), view.col_stride(), ku);
    let rows = |j: usize| j.saturating_sub(ku).min(m)..m.min(j + diagonals - ku + 1);
    let conj = conj != (op == Op::ConjTrans);
    // SAFETY: the views guarantee that the elements of A and x are readable; y is borrowed exclusively. `rows(j)` are
    // the rows of column j that have an element in the array.
    unsafe {
        if op == Op::None {
            let y = AdjacentMut::of(y);
            for j in 0..n {
                let Range { start, end } = rows(j);
                let (shape, a) = ((end - start, 1), a.from(start, j));
                let x = x.as_ptr().wrapping_offset(j as isize * x.inc());
                (vectors::<T>().multiply)(Multiply { shape, alpha, a, conj, x, inc: 1, y: y.at(start) });
            }
        } else {
            let x = Adjacent::of(x);
            for j in 0..n {
                let Range { start, end } = rows(j);
                let (shape, a) = ((end - start, 1), a.from(start, j));
                let to = y.as_mut_ptr().wrapping_offset(j as isize * y.inc());
                let x = x.at(start);
                (vectors::<T>().multiply_trans)(MultiplyTrans { shape, alpha, a, conj, x, y: to, inc: 1 });
            }
        }
    }
}

/// Computes A = alpha x yᵀ + A. For real types this is `ger`. alpha = 0 reads neither x nor y.
///
/// # Panics
/// If the shapes do not agree, or neither the rows nor the columns of A are adjacent elements.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, VecRef, cpu};
///
/// let mut a = [0.0; 4];
/// let (x, y) = (VecRef::from_slice(&[1.0, 2.0]), VecRef::from_slice(&[3.0, 4.0]));
/// cpu::geru(1.0, x, y, MatMut::from_col_major(&mut a, 2, 2, 2)?);
/// assert_eq!(a, [3.0, 6.0, 4.0, 8.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn geru<T: Scalar>(alpha: T, x: VecRef<'_, T>, y: VecRef<'_, T>, a: MatMut<'_, T>) {
    update(alpha, x, y, false, a);
}

/// Computes A = alpha x yᴴ + A. For real types this is [`geru`].
///
/// # Panics
/// If the shapes do not agree, or neither the rows nor the columns of A are adjacent elements.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, VecRef, c64, cpu};
///
/// let (i, mut a) = ([c64::new(0.0, 1.0)], [c64::new(0.0, 0.0)]);
/// let (x, y) = (VecRef::from_slice(&i), VecRef::from_slice(&i));
/// cpu::gerc(c64::from(1.0), x, y, MatMut::from_col_major(&mut a, 1, 1, 1)?);
/// assert_eq!(a, [c64::from(1.0)]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn gerc<T: Scalar>(alpha: T, x: VecRef<'_, T>, y: VecRef<'_, T>, a: MatMut<'_, T>) {
    update(alpha, x, y, true, a);
}

fn update<T: Scalar>(alpha: T, x: VecRef<'_, T>, y: VecRef<'_, T>, conj: bool, mut a: MatMut<'_, T>) {
    assert!(
        a.shape() == (x.len(), y.len()),
        "ger: shapes do not agree: x {}, y {}, A {:?}",
        x.len(),
        y.len(),
        a.shape()
    );
    if alpha == T::ZERO || a.is_empty() {
        return;
    }
    let (stored, flipped) = by_columns_mut(&mut a);
    // The transpose is Aᵀ = alpha y xᵀ + Aᵀ.
    let (x, y, conj) = if flipped { (y, x, (conj, false)) } else { (x, y, (false, conj)) };
    let shape = (x.len(), y.len());
    let x = Adjacent::of(x);
    let (y, inc) = (y.as_ptr(), y.inc());
    // SAFETY: the views guarantee that the elements of x and y are readable; A is borrowed exclusively.
    unsafe { (vectors::<T>().update)(Update { shape, alpha, conj, x: x.at(0), y, inc, a: stored }) };
}
