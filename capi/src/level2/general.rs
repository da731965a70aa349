//! General matrices: products with vectors, and updates of rank one.

use super::{conjugated, is_nothing};
use crate::{
    abi::{Checked, Letter, MatMut, Op, Routines, Size, VecRef, check, matrix, matrix_mut, vector, vector_mut},
    parts::{Parts, Rows},
};
use superscalar::kernels::cpu;
use superscalar_macros::fortran;

/// How a general matrix is multiplied: op, and whether its elements are conjugated.
#[derive(Clone, Copy)]
pub(crate) struct General {
    pub(crate) trans: Letter,
    pub(crate) conj: bool,
}

/// y := alpha op(A) x + beta y, with A m x n.
///
/// # Safety
/// The module's.
#[allow(clippy::too_many_arguments)]
pub(crate) unsafe fn dense<T: Routines>(
    General { trans, conj }: General,
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
    let Some(parts) = Parts::of(of_y.get(), m.get() * n.get() * size_of::<T>()) else {
        cpu::gemv(op, alpha, conjugated(a, conj), x, beta, y);
        return Ok(());
    };
    // Each thread has some rows of op(A).
    parts.each("gemv", (Rows(op, a), y), |(Rows(op, a), y)| cpu::gemv(op, alpha, conjugated(a, conj), x, beta, y));
    Ok(())
}

/// y := alpha op(A) x + beta y, with A m x n with kl diagonals below the main one and ku above it.
///
/// # Safety
/// The module's.
#[allow(clippy::too_many_arguments)]
pub(crate) unsafe fn band<T: Routines>(
    General { trans, conj }: General,
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
pub(crate) unsafe fn rank_one<T: Routines>(
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
    let Some(parts) = Parts::of(n.get(), m.get() * n.get() * size_of::<T>()) else {
        update((y, a));
        return Ok(());
    };
    parts.each("ger", (y, a), update);
    Ok(())
}

/// Which of two vectors is conjugated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conjugated {
    None,
    First,
    Second,
}

/// # Safety
/// The module's.
#[fortran(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn gemv<T: Routines>(
    trans: Letter,
    m: Size,
    n: Size,
    alpha: T,
    a: *const T,
    lda: Size,
    x: *const T,
    incx: Size,
    beta: T,
    y: *mut T,
    incy: Size,
) -> Checked {
    // SAFETY: the caller promises of these addresses what the module's head says.
    unsafe { dense(General { trans, conj: false }, (m, n), alpha, (a, lda), (x, incx), beta, (y, incy)) }
}

/// # Safety
/// The module's.
#[fortran(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn gbmv<T: Routines>(
    trans: Letter,
    m: Size,
    n: Size,
    kl: Size,
    ku: Size,
    alpha: T,
    a: *const T,
    lda: Size,
    x: *const T,
    incx: Size,
    beta: T,
    y: *mut T,
    incy: Size,
) -> Checked {
    let how = General { trans, conj: false };
    // SAFETY: the caller promises of these addresses what the module's head says.
    unsafe { band(how, (m, n), (kl, ku), alpha, (a, lda), (x, incx), beta, (y, incy)) }
}

macro_rules! rank_one {
    ($($name:ident $conjugated:ident ($($element:ident),*);)*) => {$(
        /// # Safety
        /// The module's.
        #[fortran($($element),*)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: Routines>(
            m: Size,
            n: Size,
            alpha: T,
            x: *const T,
            incx: Size,
            y: *const T,
            incy: Size,
            a: *mut T,
            lda: Size,
        ) -> Checked {
            // SAFETY: the caller promises of these addresses what the module's head says.
            unsafe { rank_one(Conjugated::$conjugated, (m, n), alpha, (x, incx), (y, incy), (a, lda)) }
        }
    )*};
}

rank_one! {
    ger None (s, d);
    geru None (c, z);
    gerc Second (c, z);
}
