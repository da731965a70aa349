//! gemm, and the products with a symmetric operand or result, as loops.

use super::{dot, element, in_triangle, rows};
use crate::{MatMut, MatRef, Op, Scalar, Side, Symmetry, Uplo};

/// Computes C = alpha op(A) op(B) + beta C. See [`cpu::gemm`](crate::cpu::gemm).
///
/// # Panics
/// If the shapes do not agree.
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
    assert_eq!((m, k, n), (c.nrows(), k_b, c.ncols()), "gemm: the shapes do not agree");
    let a = rows((m, k), |i, p| element(op_a, a, i, p));
    for j in 0..n {
        let column: Vec<T> = (0..k).map(|p| element(op_b, b, p, j)).collect();
        for i in 0..m {
            c[(i, j)] = update(alpha, || dot(&a[i], &column), beta, &c[(i, j)]);
        }
    }
}

/// Computes one triangle of C = alpha A Aᵀ + beta C, or of alpha Aᵀ A + beta C. See [`cpu::syrk`](crate::cpu::syrk).
///
/// # Panics
/// If the shapes do not agree, or for [`Op::ConjTrans`] of a complex type.
pub fn syrk<T: Scalar>(uplo: Uplo, op: Op, alpha: T, a: MatRef<'_, T>, beta: T, c: MatMut<'_, T>) {
    assert!(!T::COMPLEX || op != Op::ConjTrans, "syrk: complex matrices take no conjugate transpose");
    gemmt(uplo, alpha, op, a, Symmetry::Symmetric.other(op), a, beta, c);
}

/// Computes one triangle of C = alpha A Aᴴ + beta C, or of alpha Aᴴ A + beta C. See [`cpu::herk`](crate::cpu::herk).
///
/// # Panics
/// If the shapes do not agree, or for [`Op::Trans`] of a complex type.
pub fn herk<T: Scalar>(uplo: Uplo, op: Op, alpha: T::Real, a: MatRef<'_, T>, beta: T::Real, mut c: MatMut<'_, T>) {
    assert!(!T::COMPLEX || op != Op::Trans, "herk: complex matrices take no plain transpose");
    gemmt(uplo, T::from_real(alpha), op, a, Symmetry::Hermitian.other(op), a, T::from_real(beta), c.rb_mut());
    make_diagonal_real(c);
}

/// Drops the imaginary parts of a Hermitian matrix's diagonal.
fn make_diagonal_real<T: Scalar>(mut c: MatMut<'_, T>) {
    (0..c.nrows()).for_each(|i| c[(i, i)] = T::from_real(c[(i, i)].re()));
}

/// Computes alpha sum + beta c. The sum is not computed if alpha = 0, and c is not read if beta = 0.
pub(super) fn update<T: Scalar>(alpha: T, sum: impl Fn() -> T, beta: T, c: &T) -> T {
    let product = if alpha == T::ZERO { T::ZERO } else { alpha * sum() };
    let kept = match beta {
        b if b == T::ZERO => T::ZERO,
        b if b == T::ONE => *c,
        b if b.im() == T::Real::ZERO => scale(*c, b.re()),
        b => b * *c,
    };
    kept + product
}

/// Multiplies c by a real number, without the NaN that a complex product would make of Inf * 0.
fn scale<T: Scalar>(c: T, by: T::Real) -> T {
    T::from_parts(c.re() * by, c.im() * by)
}

/// Computes one triangle of C = alpha op(A) op(B) + beta C. See [`cpu::gemmt`](crate::cpu::gemmt).
///
/// # Panics
/// If the shapes do not agree.
pub fn gemmt<T: Scalar>(
    uplo: Uplo,
    alpha: T,
    op_a: Op,
    a: MatRef<'_, T>,
    op_b: Op,
    b: MatRef<'_, T>,
    beta: T,
    mut c: MatMut<'_, T>,
) {
    let ((n, k), (k_b, n_b)) = (op_a.shape(a.shape()), op_b.shape(b.shape()));
    assert_eq!((n, k, n_b), (c.nrows(), k_b, c.ncols()), "gemmt: the shapes do not agree");
    assert_eq!(n, n_b, "gemmt: C must be square");
    let a = rows((n, k), |i, p| element(op_a, a, i, p));
    for j in 0..n {
        let column: Vec<T> = (0..k).map(|p| element(op_b, b, p, j)).collect();
        for i in (0..n).filter(|&i| in_triangle(uplo, i, j)) {
            c[(i, j)] = update(alpha, || dot(&a[i], &column), beta, &c[(i, j)]);
        }
    }
}

/// Computes one triangle of C = alpha A Bᵀ + alpha B Aᵀ + beta C. See [`cpu::syr2k`](crate::cpu::syr2k).
///
/// # Panics
/// If the shapes do not agree, or for [`Op::ConjTrans`] of a complex type.
pub fn syr2k<T: Scalar>(uplo: Uplo, op: Op, alpha: T, a: MatRef<'_, T>, b: MatRef<'_, T>, beta: T, c: MatMut<'_, T>) {
    assert!(!T::COMPLEX || op != Op::ConjTrans, "syr2k: complex matrices take no conjugate transpose");
    rank_2k(uplo, op, (alpha, alpha), a, b, beta, |x| x, c);
}

/// Computes one triangle of C = alpha A Bᴴ + conj(alpha) B Aᴴ + beta C. See [`cpu::her2k`](crate::cpu::her2k).
///
/// # Panics
/// If the shapes do not agree, or for [`Op::Trans`] of a complex type.
pub fn her2k<T: Scalar>(
    uplo: Uplo,
    op: Op,
    alpha: T,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: T::Real,
    mut c: MatMut<'_, T>,
) {
    assert!(!T::COMPLEX || op != Op::Trans, "her2k: complex matrices take no plain transpose");
    rank_2k(uplo, op, (alpha, alpha.conj()), a, b, T::from_real(beta), T::conj, c.rb_mut());
    make_diagonal_real(c);
}

/// Computes one triangle of C = first A B* + second B A* + beta C, where * transposes, and applies `star` to each
/// element.
fn rank_2k<T: Scalar>(
    uplo: Uplo,
    op: Op,
    (first, second): (T, T),
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: T,
    star: impl Fn(T) -> T,
    mut c: MatMut<'_, T>,
) {
    let (n, k) = op.shape(a.shape());
    assert_eq!(((n, n), a.shape()), (c.shape(), b.shape()), "the shapes of a rank-2k update do not agree");
    let [a, b] = [a, b].map(|x| rows((n, k), |i, p| element(op, x, i, p)));
    for j in 0..n {
        let [column_a, column_b] = [&a, &b].map(|x| x[j].iter().map(|&x| star(x)).collect::<Vec<T>>());
        for i in (0..n).filter(|&i| in_triangle(uplo, i, j)) {
            let half = update(first, || dot(&a[i], &column_b), beta, &c[(i, j)]);
            c[(i, j)] = update(second, || dot(&b[i], &column_a), T::ONE, &half);
        }
    }
}

/// Computes C = alpha A B + beta C or alpha B A + beta C, A symmetric. See [`cpu::symm`](crate::cpu::symm).
///
/// # Panics
/// If the shapes do not agree.
pub fn symm<T: Scalar>(
    side: Side,
    uplo: Uplo,
    alpha: T,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: T,
    c: MatMut<'_, T>,
) {
    let at = |i, j| if in_triangle(uplo, i, j) { a.at(i, j) } else { a.at(j, i) };
    full_product(side, alpha, (a.nrows(), at), b, beta, c);
}

/// Like [`symm`], but A is Hermitian. See [`cpu::hemm`](crate::cpu::hemm).
///
/// # Panics
/// If the shapes do not agree.
pub fn hemm<T: Scalar>(
    side: Side,
    uplo: Uplo,
    alpha: T,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: T,
    c: MatMut<'_, T>,
) {
    let at = |i, j| match (i == j, in_triangle(uplo, i, j)) {
        (true, _) => T::from_real(a.at(i, i).re()),
        (false, true) => a.at(i, j),
        (false, false) => a.at(j, i).conj(),
    };
    full_product(side, alpha, (a.nrows(), at), b, beta, c);
}

/// Computes C = alpha A B + beta C or alpha B A + beta C, where `at` returns the elements of A, of order `order`.
fn full_product<T: Scalar>(
    side: Side,
    alpha: T,
    (order, at): (usize, impl Fn(usize, usize) -> T),
    b: MatRef<'_, T>,
    beta: T,
    mut c: MatMut<'_, T>,
) {
    assert_eq!(b.shape(), c.shape(), "the shapes of B and C do not agree");
    assert_eq!(order, side.order(c.shape()), "the order of A does not agree with C");
    let (left, right): (&dyn Fn(_, _) -> T, &dyn Fn(_, _) -> T) = match side {
        Side::Left => (&at, &|p, j| b.at(p, j)),
        Side::Right => (&|i, p| b.at(i, p), &at),
    };
    let rows = rows((c.nrows(), order), left);
    for j in 0..c.ncols() {
        let column: Vec<T> = (0..order).map(|p| right(p, j)).collect();
        for i in 0..c.nrows() {
            c[(i, j)] = update(alpha, || dot(&rows[i], &column), beta, &c[(i, j)]);
        }
    }
}
