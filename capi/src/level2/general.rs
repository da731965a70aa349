//! General matrices: products with vectors, and rank-one updates.

use super::{by_columns, conjugated, is_nothing};
use crate::{
    abi::{
        Checked, DlaScalar, Layout, Letter, MatMut, Op, Size, VecRef, check, matrix, matrix_mut, vector, vector_mut,
    },
    rows::{interfaces, swapped},
    streaming::{self, OpRows, ParallelRanges},
};
use superscalar::kernels::cpu;

/// y := alpha op(A) x + beta y, where A is m x n. With `conj`, the elements of A are conjugated.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[allow(clippy::too_many_arguments)]
unsafe fn dense<T: DlaScalar>(
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
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let (a, x, y) = unsafe { (matrix(a, (m, n), lda), vector(x, of_x, incx), vector_mut(y, of_y, incy)) };
    // Each task computes a range of rows of op(A).
    let ranges = ParallelRanges::of(of_y.get(), m.get() * n.get() * size_of::<T>());
    streaming::compute(ranges, "gemv", (OpRows(op, a), y), |(OpRows(op, a), y)| {
        cpu::gemv(op, alpha, conjugated(a, conj), x, beta, y);
    });
    Ok(())
}

/// y := alpha op(A) x + beta y, where A is m x n and has kl diagonals below the main one and ku above it. With `conj`,
/// the elements of A are conjugated.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[allow(clippy::too_many_arguments)]
unsafe fn band<T: DlaScalar>(
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
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let (a, x, y) = unsafe { (matrix(a, (rows, n), lda), vector(x, of_x, incx), vector_mut(y, of_y, incy)) };
    cpu::gbmv(op, ku.get(), alpha, conjugated(a, conj), x, beta, y);
    Ok(())
}

/// A := alpha x yᵀ + A, where A is m x n and `conjugated` selects a vector to conjugate.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[allow(clippy::too_many_arguments)]
unsafe fn rank_one<T: DlaScalar>(
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
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let (x, y, a) = unsafe { (vector(x, m, incx), vector(y, n, incy), matrix_mut(a, (m, n), lda)) };
    let update = |(y, a): (VecRef<'_, T>, MatMut<'_, T>)| match conjugated {
        Conjugated::None => cpu::geru(alpha, x, y, a),
        Conjugated::Second => cpu::gerc(alpha, x, y, a),
        Conjugated::First => cpu::gerc(alpha, y, x, a.transpose()),
    };
    let ranges = ParallelRanges::of(n.get(), m.get() * n.get() * size_of::<T>());
    streaming::compute(ranges, "ger", (y, a), update);
    Ok(())
}

/// The vector of two that is conjugated.
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
