//! General matrices: products with vectors, and updates of rank one.

use super::{by_columns, conjugated, is_nothing};
use crate::{
    abi::{Checked, Layout, Letter, MatMut, Op, Routines, Size, VecRef, check, matrix, matrix_mut, vector, vector_mut},
    parts::{self, Parts, Rows},
    rows::{interfaces, swapped},
};
use superscalar::kernels::cpu;

/// y := alpha op(A) x + beta y, with A m x n, whose elements are conjugated if that is said.
///
/// # Safety
/// The module's.
#[allow(clippy::too_many_arguments)]
unsafe fn dense<T: Routines>(
    (trans, conj): (Letter, bool),
    (m, n): (Size, Size),
    alpha: T,
    (a, lda): (*const T, Size),
    (x, incx): (*const T, Size),
    beta: T,
    (y, incy): (*mut T, Size),
) -> Checked {
    check(&[
        (1, trans.op().is_some()),
        (2, m.is_valid()),
        (3, n.is_valid()),
        (6, lda.spans(m)),
        (8, incx.steps()),
        (11, incy.steps()),
    ])?;
    let op = trans.op().unwrap_or(Op::None);
    if is_nothing(m, n, alpha, beta) {
        return Ok(());
    }
    let (of_y, of_x) = if op == Op::None { (m, n) } else { (n, m) };
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (a, x, y) = unsafe { (matrix(a, (m, n), lda), vector(x, of_x, incx), vector_mut(y, of_y, incy)) };
    // Each thread has some rows of op(A).
    let parts = Parts::of(of_y.get(), m.get() * n.get() * size_of::<T>());
    parts::compute(parts, "gemv", (Rows(op, a), y), |(Rows(op, a), y)| {
        cpu::gemv(op, alpha, conjugated(a, conj), x, beta, y);
    });
    Ok(())
}

/// The same with A m x n with kl diagonals below the main one and ku above it.
///
/// # Safety
/// The module's.
#[allow(clippy::too_many_arguments)]
unsafe fn band<T: Routines>(
    (trans, conj): (Letter, bool),
    (m, n): (Size, Size),
    (kl, ku): (Size, Size),
    alpha: T,
    (a, lda): (*const T, Size),
    (x, incx): (*const T, Size),
    beta: T,
    (y, incy): (*mut T, Size),
) -> Checked {
    check(&[
        (1, trans.op().is_some()),
        (2, m.is_valid()),
        (3, n.is_valid()),
        (4, kl.is_valid()),
        (5, ku.is_valid()),
        (8, lda.holds(&[kl, ku])),
        (10, incx.steps()),
        (13, incy.steps()),
    ])?;
    let op = trans.op().unwrap_or(Op::None);
    if is_nothing(m, n, alpha, beta) {
        return Ok(());
    }
    let (of_y, of_x) = if op == Op::None { (m, n) } else { (n, m) };
    let rows = Size::from_len(kl.get() + ku.get() + 1);
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (a, x, y) = unsafe { (matrix(a, (rows, n), lda), vector(x, of_x, incx), vector_mut(y, of_y, incy)) };
    cpu::gbmv(op, ku.get(), alpha, conjugated(a, conj), x, beta, y);
    Ok(())
}

/// A := alpha x yᵀ + A, with one of the vectors conjugated if that is said; A is m x n.
///
/// # Safety
/// The module's.
#[allow(clippy::too_many_arguments)]
unsafe fn rank_one<T: Routines>(
    conjugated: Conjugated,
    (m, n): (Size, Size),
    alpha: T,
    (x, incx): (*const T, Size),
    (y, incy): (*const T, Size),
    (a, lda): (*mut T, Size),
) -> Checked {
    check(&[(1, m.is_valid()), (2, n.is_valid()), (5, incx.steps()), (7, incy.steps()), (9, lda.spans(m))])?;
    if m == Size::ZERO || n == Size::ZERO || alpha == T::ZERO {
        return Ok(());
    }
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (x, y, a) = unsafe { (vector(x, m, incx), vector(y, n, incy), matrix_mut(a, (m, n), lda)) };
    let update = |(y, a): (VecRef<'_, T>, MatMut<'_, T>)| match conjugated {
        Conjugated::None => cpu::geru(alpha, x, y, a),
        Conjugated::Second => cpu::gerc(alpha, x, y, a),
        Conjugated::First => cpu::gerc(alpha, y, x, a.transpose()),
    };
    let parts = Parts::of(n.get(), m.get() * n.get() * size_of::<T>());
    parts::compute(parts, "ger", (y, a), update);
    Ok(())
}

/// Which of two vectors is conjugated.
#[derive(Clone, Copy)]
enum Conjugated {
    None,
    First,
    Second,
}

interfaces! {
    gemv (s, d, c, z) [trans: trans]
    (m: Size, n: Size, alpha: T, a: *const T, lda: Size, x: *const T, incx: Size, beta: T, y: *mut T, incy: Size)
    |layout| {
        let how = by_columns::<T>(layout, trans);
        dense(how, swapped(layout, (m, n)), alpha, (a, lda), (x, incx), beta, (y, incy))
    };

    gbmv (s, d, c, z) [trans: trans]
    (m: Size, n: Size, kl: Size, ku: Size, alpha: T, a: *const T, lda: Size,
     x: *const T, incx: Size, beta: T, y: *mut T, incy: Size)
    |layout| {
        let (how, shape, widths) = (by_columns::<T>(layout, trans), swapped(layout, (m, n)), swapped(layout, (kl, ku)));
        band(how, shape, widths, alpha, (a, lda), (x, incx), beta, (y, incy))
    };
}

macro_rules! update {
    ($($name:ident $elements:tt $columns:ident $rows:ident;)*) => {$(
        interfaces! {
            $name $elements []
            (m: Size, n: Size, alpha: T, x: *const T, incx: Size, y: *const T, incy: Size, a: *mut T, lda: Size)
            |layout| {
                let (x, y) = swapped(layout, ((x, incx), (y, incy)));
                let conjugated = if layout == Layout::ColMajor { Conjugated::$columns } else { Conjugated::$rows };
                rank_one(conjugated, swapped(layout, (m, n)), alpha, x, y, (a, lda))
            };
        }
    )*};
}

update! {
    ger (s, d) None None;
    geru (c, z) None None;
    gerc (c, z) Second First;
}
