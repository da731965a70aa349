//! gemm, syrk and herk as loops.

use super::{element, in_triangle};
use crate::{MatMut, MatRef, Op, Scalar, Uplo};

/// C = alpha op(A) op(B) + beta C. See [`cpu::gemm`](crate::cpu::gemm).
///
/// # Panics
/// When the shapes do not agree.
pub fn gemm<T: Scalar>(
    alpha: T,
    op_a: Op,
    a: MatRef<'_, T>,
    op_b: Op,
    b: MatRef<'_, T>,
    beta: T,
    mut c: MatMut<'_, T>,
) {
    let ((m, k), (k_b, n)) = (op_a.shape(a.shape()), op_b.shape(b.shape()));
    assert_eq!((m, k, n), (c.nrows(), k_b, c.ncols()), "shapes of a product");
    for j in 0..n {
        for i in 0..m {
            let sum = || (0..k).map(|p| element(op_a, a, i, p) * element(op_b, b, p, j)).sum();
            c[(i, j)] = update(alpha, sum, beta, &c[(i, j)]);
        }
    }
}

/// One triangle of C = alpha A Aᵀ + beta C, or of alpha Aᵀ A + beta C. See [`cpu::syrk`](crate::cpu::syrk).
///
/// # Panics
/// When the shapes do not agree, or for [`Op::ConjTrans`] of a complex type.
pub fn syrk<T: Scalar>(uplo: Uplo, op: Op, alpha: T, a: MatRef<'_, T>, beta: T, mut c: MatMut<'_, T>) {
    assert!(!T::COMPLEX || op != Op::ConjTrans, "syrk takes no conjugate transpose");
    let (n, k) = op.shape(a.shape());
    assert_eq!((n, n), c.shape(), "shapes of a rank-k update");
    for j in 0..n {
        for i in (0..n).filter(|&i| in_triangle(uplo, i, j)) {
            let sum = || (0..k).map(|p| element(op, a, i, p) * element(op, a, j, p)).sum();
            c[(i, j)] = update(alpha, sum, beta, &c[(i, j)]);
        }
    }
}

/// One triangle of C = alpha A Aᴴ + beta C, or of alpha Aᴴ A + beta C. See [`cpu::herk`](crate::cpu::herk).
///
/// # Panics
/// When the shapes do not agree, or for [`Op::Trans`] of a complex type.
pub fn herk<T: Scalar>(uplo: Uplo, op: Op, alpha: T::Real, a: MatRef<'_, T>, beta: T::Real, mut c: MatMut<'_, T>) {
    assert!(!T::COMPLEX || op != Op::Trans, "herk takes no plain transpose");
    let (n, k) = op.shape(a.shape());
    assert_eq!((n, n), c.shape(), "shapes of a rank-k update");
    for j in 0..n {
        for i in (0..n).filter(|&i| in_triangle(uplo, i, j)) {
            let sum = || (0..k).map(|p| element(op, a, i, p) * element(op, a, j, p).conj()).sum();
            let new = update(T::from_real(alpha), sum, T::from_real(beta), &c[(i, j)]);
            c[(i, j)] = if i == j { T::from_real(new.re()) } else { new };
        }
    }
}

/// alpha sum + beta c, where alpha = 0 asks for no sum and beta = 0 does not read c.
fn update<T: Scalar>(alpha: T, sum: impl Fn() -> T, beta: T, c: &T) -> T {
    let product = if alpha == T::ZERO { T::ZERO } else { alpha * sum() };
    let kept = match beta {
        b if b == T::ZERO => T::ZERO,
        b if b == T::ONE => *c,
        b if b.im() == T::Real::ZERO => scale(*c, b.re()),
        b => b * *c,
    };
    kept + product
}

/// c times a real number, without the spurious NaN that a complex product makes of Inf * 0.
fn scale<T: Scalar>(c: T, by: T::Real) -> T {
    T::from_parts(c.re() * by, c.im() * by)
}
