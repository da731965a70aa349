//! trsm and trmm as loops.

use super::{dot, element};
use crate::{Diag, MatMut, MatRef, Op, Scalar, Side, Uplo};

/// Solves op(A) X = alpha B or X op(A) = alpha B; X replaces B. See [`cpu::trsm`](crate::cpu::trsm).
///
/// # Panics
/// If the shapes do not agree.
pub fn trsm<T: Scalar>(side: Side, uplo: Uplo, op: Op, diag: Diag, alpha: T, a: MatRef<'_, T>, mut b: MatMut<'_, T>) {
    let n = side.order(b.shape());
    assert_eq!((n, n), a.shape(), "trsm: the shapes do not agree");
    // X op(A) = B is op(A)ᵀ Xᵀ = Bᵀ: solve for the columns of a transposed view, reading op(A) transposed.
    if side == Side::Right {
        b = b.transpose();
    }
    let at = |i, j| {
        if side == Side::Left { element(op, a, i, j) } else { element(op, a, j, i) }
    };
    let flips = (op != Op::None) != (side == Side::Right);
    let uplo = if flips { uplo.flip() } else { uplo };
    for col in 0..b.ncols() {
        for step in 0..n {
            let i = if uplo == Uplo::Lower { step } else { n - 1 - step };
            if alpha == T::ZERO {
                b[(i, col)] = T::ZERO;
                continue;
            }
            let mut x = alpha * b[(i, col)];
            for p in if uplo == Uplo::Lower { 0..i } else { i + 1..n } {
                x -= at(i, p) * b[(p, col)];
            }
            b[(i, col)] = if diag == Diag::Unit { x } else { x.quotient(at(i, i)) };
        }
    }
}

/// Computes B = alpha op(A) B or alpha B op(A), A triangular. See [`cpu::trmm`](crate::cpu::trmm).
///
/// # Panics
/// If the shapes do not agree.
pub fn trmm<T: Scalar>(side: Side, uplo: Uplo, op: Op, diag: Diag, alpha: T, a: MatRef<'_, T>, mut b: MatMut<'_, T>) {
    let n = side.order(b.shape());
    assert_eq!((n, n), a.shape(), "trmm: the shapes do not agree");
    // B op(A) is the transpose of op(A)ᵀ Bᵀ.
    if side == Side::Right {
        b = b.transpose();
    }
    let at = |i, j| match (i == j && diag == Diag::Unit, side) {
        (true, _) => T::ONE,
        (false, Side::Left) => element(op, a, i, j),
        (false, Side::Right) => element(op, a, j, i),
    };
    let flips = (op != Op::None) != (side == Side::Right);
    let uplo = if flips { uplo.flip() } else { uplo };
    let part = |i| if uplo == Uplo::Lower { 0..i + 1 } else { i..n };
    let rows: Vec<Vec<T>> = (0..n).map(|i| part(i).map(|p| at(i, p)).collect()).collect();
    for col in 0..b.ncols() {
        let old: Vec<T> = (0..n).map(|i| b[(i, col)]).collect();
        for i in 0..n {
            b[(i, col)] = if alpha == T::ZERO { T::ZERO } else { alpha * dot(&rows[i], &old[part(i)]) };
        }
    }
}
