//! gemmt, syrk, herk, syr2k and her2k: products of which one triangle is computed.
//!
//! Each computes only the register tiles at and below the diagonal of a product. Upper triangles are the lower ones of
//! transposed views. C may also be a trapezoid, higher than wide or wider than high, whose diagonal begins at its first
//! element. A strip (columns of a lower triangle from the diagonal on, or rows of an upper one) can therefore be
//! updated by itself.

use super::gemm::{add, product, scale};
use crate::backend::backend;
use crate::scalar::scaled;
use crate::vector::{Factor, Operand, Product, SmallRank};
use crate::{MatMut, Op, Scalar, Uplo};

/// Computes one triangle of C = alpha A Aᵀ + beta C (`Op::None`, A n x k) or C = alpha Aᵀ A + beta C (`Op::Trans`, A k
/// x n). If C is a trapezoid, n is the larger of its dimensions, and the result is that part of the whole product.
///
/// The other triangle is not touched. beta = 0 does not read C; alpha = 0 does not read A.
///
/// # Panics
/// If the shapes do not agree, or for [`Op::ConjTrans`] of a complex type, which [`herk`] computes. For real types it
/// is [`Op::Trans`].
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, MatRef, Op, Uplo, cpu};
///
/// let (a, mut c) = ([1.0, 2.0], [0.0, 0.0, -1.0, 0.0]);
/// let a = MatRef::from_col_major(&a, 2, 1, 2)?;
/// cpu::syrk(Uplo::Lower, Op::None, 1.0, a, 0.0, MatMut::from_col_major(&mut c, 2, 2, 2)?);
/// assert_eq!(c, [1.0, 2.0, -1.0, 4.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn syrk<'a, T: Scalar>(uplo: Uplo, op: Op, alpha: T, a: impl Into<Operand<'a, T>>, beta: T, c: MatMut<'_, T>) {
    assert!(!T::COMPLEX || op != Op::ConjTrans, "syrk: complex matrices take no conjugate transpose (use herk)");
    let a = Factor { conj: false, ..Factor::new(op, a.into()) };
    rank_k(uplo, false, alpha, a, beta, c);
}

/// Computes one triangle of C = alpha A Aᴴ + beta C (`Op::None`, A n x k) or C = alpha Aᴴ A + beta C (`Op::ConjTrans`,
/// A k x n), or a trapezoid of it like [`syrk`].
///
/// alpha and beta are real; the imaginary part of C's diagonal is taken as zero and set to zero. The other triangle is
/// not touched. beta = 0 does not read C; alpha = 0 does not read A. For real types this is [`syrk`].
///
/// # Panics
/// If the shapes do not agree, or for [`Op::Trans`] of a complex type, which [`syrk`] computes.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, MatRef, Op, Uplo, c64, cpu};
///
/// let (a, mut c) = ([c64::new(0.0, 2.0)], [c64::new(1.0, 5.0)]);
/// let a = MatRef::from_col_major(&a, 1, 1, 1)?;
/// cpu::herk(Uplo::Upper, Op::None, 1.0, a, 1.0, MatMut::from_col_major(&mut c, 1, 1, 1)?);
/// assert_eq!(c, [c64::new(5.0, 0.0)]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn herk<'a, T: Scalar>(
    uplo: Uplo,
    op: Op,
    alpha: T::Real,
    a: impl Into<Operand<'a, T>>,
    beta: T::Real,
    mut c: MatMut<'_, T>,
) {
    assert!(!T::COMPLEX || op != Op::Trans, "herk: complex matrices take no plain transpose (use syrk)");
    rank_k(uplo, true, T::from_real(alpha), Factor::new(op, a.into()), T::from_real(beta), c.rb_mut());
    make_diagonal_real(c);
}

/// Computes one triangle, or trapezoid, of C = alpha op(A) op(B) + beta C, where op(A) is m x k and op(B) is k x n.
///
/// The other triangle is not touched. beta = 0 does not read C; alpha = 0 reads neither A nor B.
///
/// # Panics
/// If the shapes do not agree.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, MatRef, Op, Uplo, cpu};
///
/// let (a, b, mut c) = ([1.0, 2.0], [3.0, 4.0], [0.0, 0.0, -1.0, 0.0]);
/// let (a, b) = (MatRef::from_col_major(&a, 2, 1, 2)?, MatRef::from_col_major(&b, 1, 2, 1)?);
/// cpu::gemmt(Uplo::Lower, 1.0, Op::None, a, Op::None, b, 0.0, MatMut::from_col_major(&mut c, 2, 2, 2)?);
/// assert_eq!(c, [3.0, 6.0, -1.0, 8.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn gemmt<'a, T: Scalar>(
    uplo: Uplo,
    alpha: T,
    op_a: Op,
    a: impl Into<Operand<'a, T>>,
    op_b: Op,
    b: impl Into<Operand<'a, T>>,
    beta: T,
    c: MatMut<'_, T>,
) {
    update(uplo, alpha, Factor::new(op_a, a.into()), Factor::new(op_b, b.into()), beta, c);
}

/// Computes one triangle of C = alpha A Bᵀ + alpha B Aᵀ + beta C (`Op::None`, A and B n x k), or of C = alpha Aᵀ B +
/// alpha Bᵀ A + beta C (`Op::Trans`, A and B k x n), or a trapezoid of it like [`syrk`].
///
/// The other triangle is not touched. beta = 0 does not read C; alpha = 0 reads neither A nor B.
///
/// # Panics
/// If the shapes do not agree, or for [`Op::ConjTrans`] of a complex type, which [`her2k`] computes. For real types it
/// is [`Op::Trans`].
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, MatRef, Op, Uplo, cpu};
///
/// let (a, b, mut c) = ([1.0, 2.0], [3.0, 4.0], [0.0, 0.0, -1.0, 0.0]);
/// let (a, b) = (MatRef::from_col_major(&a, 2, 1, 2)?, MatRef::from_col_major(&b, 2, 1, 2)?);
/// cpu::syr2k(Uplo::Lower, Op::None, 1.0, a, b, 0.0, MatMut::from_col_major(&mut c, 2, 2, 2)?);
/// assert_eq!(c, [6.0, 10.0, -1.0, 16.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn syr2k<'a, T: Scalar>(
    uplo: Uplo,
    op: Op,
    alpha: T,
    a: impl Into<Operand<'a, T>>,
    b: impl Into<Operand<'a, T>>,
    beta: T,
    c: MatMut<'_, T>,
) {
    assert!(!T::COMPLEX || op != Op::ConjTrans, "syr2k: complex matrices take no conjugate transpose (use her2k)");
    let plain = |operand| Factor { conj: false, ..Factor::new(op, operand) };
    rank_2k(uplo, false, alpha, plain(a.into()), plain(b.into()), beta, c);
}

/// Computes one triangle of C = alpha A Bᴴ + conj(alpha) B Aᴴ + beta C (`Op::None`, A and B n x k), or of C = alpha Aᴴ
/// B + conj(alpha) Bᴴ A + beta C (`Op::ConjTrans`, A and B k x n), or a trapezoid of it like [`syrk`].
///
/// beta is real; the imaginary part of C's diagonal is taken as zero and set to zero. The other triangle is not
/// touched. beta = 0 does not read C; alpha = 0 reads neither A nor B. For real types this is [`syr2k`].
///
/// # Panics
/// If the shapes do not agree, or for [`Op::Trans`] of a complex type, which [`syr2k`] computes.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, MatRef, Op, Uplo, c64, cpu};
///
/// let (a, b, mut c) = ([c64::new(0.0, 2.0)], [c64::new(1.0, 1.0)], [c64::new(1.0, 5.0)]);
/// let (a, b) = (MatRef::from_col_major(&a, 1, 1, 1)?, MatRef::from_col_major(&b, 1, 1, 1)?);
/// cpu::her2k(Uplo::Upper, Op::None, c64::new(1.0, 0.0), a, b, 1.0, MatMut::from_col_major(&mut c, 1, 1, 1)?);
/// assert_eq!(c, [c64::new(5.0, 0.0)]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn her2k<'a, T: Scalar>(
    uplo: Uplo,
    op: Op,
    alpha: T,
    a: impl Into<Operand<'a, T>>,
    b: impl Into<Operand<'a, T>>,
    beta: T::Real,
    mut c: MatMut<'_, T>,
) {
    assert!(!T::COMPLEX || op != Op::Trans, "her2k: complex matrices take no plain transpose (use syr2k)");
    let (a, b) = (Factor::new(op, a.into()), Factor::new(op, b.into()));
    rank_2k(uplo, true, alpha, a, b, T::from_real(beta), c.rb_mut());
    make_diagonal_real(c);
}

/// Computes one triangle of C = alpha A op(A) + beta C, where op is the transpose, or the conjugate transpose if
/// `conj`.
fn rank_k<T: Scalar>(uplo: Uplo, conj: bool, alpha: T, a: Factor<'_, T>, beta: T, c: MatMut<'_, T>) {
    check_rows(&a, &c);
    if is_small(&a, &c) {
        let term = Term { alpha, a: first(a, c.nrows()), b: adjoint(first(a, c.ncols()), conj) };
        return update_by_whole_product(uplo, [Some(term), None], beta, c);
    }
    if alpha != T::ZERO && SmallRank::is_for(&a, &c) {
        return backend::<T>().small_rank(SmallRank { uplo, conj, alpha, a, b: None, beta, c });
    }
    update(uplo, alpha, first(a, c.nrows()), adjoint(first(a, c.ncols()), conj), beta, c);
}

/// Computes one triangle of C = alpha A op(B) + op(alpha) B op(A) + beta C.
fn rank_2k<'a, T: Scalar>(
    uplo: Uplo,
    conj: bool,
    alpha: T,
    a: Factor<'a, T>,
    b: Factor<'a, T>,
    beta: T,
    mut c: MatMut<'_, T>,
) {
    check_rows(&a, &c);
    assert_eq!(a.view.shape(), b.view.shape(), "the shapes of a rank-2k update's factors differ");
    if is_small(&a, &c) {
        let (m, n) = c.shape();
        let one = Term { alpha, a: first(a, m), b: adjoint(first(b, n), conj) };
        let alpha = if conj { alpha.conj() } else { alpha };
        let other = Term { alpha, a: first(b, m), b: adjoint(first(a, n), conj) };
        return update_by_whole_product(uplo, [Some(one), Some(other)], beta, c);
    }
    if alpha != T::ZERO && SmallRank::is_for(&a, &c) {
        return backend::<T>().small_rank(SmallRank { uplo, conj, alpha, a, b: Some(b), beta, c });
    }
    let (m, n) = c.shape();
    update(uplo, alpha, first(a, m), adjoint(first(b, n), conj), beta, c.rb_mut());
    update(uplo, if conj { alpha.conj() } else { alpha }, first(b, m), adjoint(first(a, n), conj), T::ONE, c);
}

/// Up to this many rows, columns and terms the whole product is computed, and one triangle of it is used.
const WHOLE_PRODUCT_MAX: usize = 16;

fn is_small<T>(a: &Factor<'_, T>, c: &MatMut<'_, T>) -> bool {
    c.nrows().max(c.ncols()).max(a.view.ncols()) <= WHOLE_PRODUCT_MAX && !c.is_empty() && a.view.ncols() > 0
}

/// The product alpha A B.
struct Term<'a, T> {
    alpha: T,
    a: Factor<'a, T>,
    b: Factor<'a, T>,
}

/// Computes one triangle of C = beta C + the sum of up to two products. Each product is computed as a whole first.
fn update_by_whole_product<T: Scalar>(uplo: Uplo, products: [Option<Term<'_, T>>; 2], beta: T, mut c: MatMut<'_, T>) {
    let ((m, n), mut whole) = (c.shape(), [T::ZERO; WHOLE_PRODUCT_MAX * WHOLE_PRODUCT_MAX]);
    let mut before = T::ZERO;
    for Term { alpha, a, b } in products.into_iter().flatten().filter(|term| term.alpha != T::ZERO) {
        if let Ok(whole) = MatMut::from_col_major(&mut whole, m, n, m) {
            add(alpha, a, b, before, whole);
        }
        before = T::ONE;
    }
    for j in 0..n {
        let rows = if uplo == Uplo::Lower { j.min(m)..m } else { 0..m.min(j + 1) };
        for i in rows {
            let (c, new) = (&mut c[(i, j)], whole[i + j * m]);
            *c = if beta == T::ZERO { new } else { scaled(beta, *c) + new };
        }
    }
}

/// Returns the first rows of a factor. For all rows it is the factor itself, with its packed forms.
fn first<T: Scalar>(a: Factor<'_, T>, rows: usize) -> Factor<'_, T> {
    if rows == a.view.nrows() { a } else { a.part(0..rows, 0..a.view.ncols()) }
}

/// Returns the transpose of a factor, or its conjugate transpose if `conj`.
fn adjoint<T>(factor: Factor<'_, T>, conj: bool) -> Factor<'_, T> {
    Factor { conj: factor.conj != conj, ..factor.transpose() }
}

/// Sets the imaginary parts of a Hermitian matrix's diagonal to zero, which rounding or the caller may have left.
fn make_diagonal_real<T: Scalar>(mut c: MatMut<'_, T>) {
    for i in 0..c.nrows().min(c.ncols()) {
        c[(i, i)] = T::from_real(c[(i, i)].re());
    }
}

/// Panics unless A has the number of rows that an update of C needs.
fn check_rows<T: Scalar>(a: &Factor<'_, T>, c: &MatMut<'_, T>) {
    let (m, n) = c.shape();
    assert_eq!(a.view.nrows(), m.max(n), "the number of A's rows does not agree with C, {m} x {n}");
}

/// Computes one triangle of C = alpha A B + beta C.
fn update<T: Scalar>(uplo: Uplo, alpha: T, a: Factor<'_, T>, b: Factor<'_, T>, beta: T, c: MatMut<'_, T>) {
    let (m, n) = c.shape();
    let agree = a.view.nrows() == m && b.view.shape() == (a.view.ncols(), n);
    assert!(agree, "gemmt: shapes do not agree: A {:?}, B {:?}, C {:?}", a.view.shape(), b.view.shape(), c.shape());
    if uplo == Uplo::Upper {
        return update(Uplo::Lower, alpha, b.transpose(), a.transpose(), beta, c.transpose());
    }
    if alpha == T::ZERO || a.view.ncols() == 0 {
        return scale_lower(beta, c);
    }
    add_lower(alpha, a, b, beta, c);
}

/// Scales the lower triangle of C by beta.
fn scale_lower<T: Scalar>(beta: T, mut c: MatMut<'_, T>) {
    let (m, n) = c.shape();
    for j in 0..if beta == T::ONE { 0 } else { m.min(n) } {
        scale(beta, c.rb_mut().submatrix(j..m, j..j + 1));
    }
}

/// Computes the lower triangle of C = alpha A B + beta C. The factors have at least one column. beta = 0 does not read
/// C.
pub(super) fn add_lower<T: Scalar>(alpha: T, a: Factor<'_, T>, b: Factor<'_, T>, beta: T, c: MatMut<'_, T>) {
    product(Product { alpha, a, b, beta, triangle: Some(Uplo::Lower), c });
}
