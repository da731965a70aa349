//! gemm: the product that every other kernel is reduced to.

use super::mirror::Mirror;
use super::packed::Operand;
use super::product::Product;
use super::small::Small;
use super::thin::Thin;
use crate::backend::Factor;
use crate::{MatMut, MatRef, Op, Scalar};
use std::ops::Range;

/// C = alpha op(A) op(B) + beta C, where op(A) is m x k, op(B) is k x n and C is m x n.
///
/// A and B are views, or [`Operand`]s, which may stay packed for the next product. beta = 0 writes C without reading it;
/// alpha = 0 (or k = 0) reads neither A nor B.
///
/// # Panics
/// When the shapes do not agree.
///
/// # Example
/// ```
/// use superscalar_kernels::{MatMut, MatRef, Op, cpu};
///
/// let (a, b, mut c) = ([1.0, 2.0], [3.0, 4.0], [10.0]);
/// let a = MatRef::from_col_major(&a, 2, 1, 2)?;
/// let b = MatRef::from_col_major(&b, 2, 1, 2)?;
/// cpu::gemm(1.0, Op::Trans, a, Op::None, b, 2.0, MatMut::from_col_major(&mut c, 1, 1, 1)?);
/// assert_eq!(c, [31.0]);
/// # Ok::<(), superscalar_kernels::ViewError>(())
/// ```
pub fn gemm<'a, T: Scalar>(
    alpha: T,
    op_a: Op,
    a: impl Into<Operand<'a, T>>,
    op_b: Op,
    b: impl Into<Operand<'a, T>>,
    beta: T,
    c: MatMut<'_, T>,
) {
    let (a, b) = (Factor::new(op_a, a.into()), Factor::new(op_b, b.into()));
    let agree = a.view.nrows() == c.nrows() && a.view.ncols() == b.view.nrows() && b.view.ncols() == c.ncols();
    assert!(agree, "gemm: op(A) {:?} op(B) {:?} C {:?}", a.view.shape(), b.view.shape(), c.shape());
    if alpha == T::ZERO || a.view.ncols() == 0 {
        return scale(beta, c);
    }
    add(alpha, a, b, beta, c);
}

/// C = alpha A B + beta C. The factors have at least one column; beta = 0 does not read C.
pub(super) fn add<'a, T: Scalar>(alpha: T, a: Factor<'a, T>, b: Factor<'a, T>, beta: T, mut c: MatMut<'a, T>) {
    if c.is_empty() {
        return;
    }
    if let Some(small) = Small::of(alpha, &a, &b, beta, &mut c) {
        return T::small_product(&small);
    }
    match Thin::of(alpha, a, b, beta, c) {
        Ok(thin) => T::thin_product(thin),
        Err(c) => Product { alpha, a, b, beta, triangle: None, c }.run(),
    }
}

impl<'a, T> Factor<'a, T> {
    /// op(A).
    pub(super) fn new(op: Op, a: Operand<'a, T>) -> Self {
        let view = if op == Op::None { a.view } else { a.view.transpose() };
        Self { view, conj: op == Op::ConjTrans, packs: a.packs, mirror: None }
    }

    /// A itself, of which nothing is remembered.
    pub(super) fn plain(view: MatRef<'a, T>) -> Self {
        Self { view, conj: false, packs: None, mirror: None }
    }

    /// The conjugate of a view.
    pub(super) fn conj(view: MatRef<'a, T>) -> Self {
        Self { conj: true, ..Self::plain(view) }
    }

    /// The factor of the transposed product: (A B)ᵀ = Bᵀ Aᵀ.
    pub(super) fn transpose(self) -> Self {
        Self { view: self.view.transpose(), mirror: self.mirror.map(Mirror::transpose), ..self }
    }

    /// The part at these rows and columns.
    #[inline]
    pub(super) fn part(self, rows: Range<usize>, cols: Range<usize>) -> Self {
        let mirror = self.mirror.map(|mirror| mirror.part(rows.start, cols.start));
        Self { view: self.view.submatrix(rows, cols), packs: None, mirror, ..self }
    }
}

/// C = beta C; beta = 0 does not read C.
pub(super) fn scale<T: Scalar>(beta: T, mut c: MatMut<'_, T>) {
    if beta == T::ONE {
        return;
    }
    if c.row_stride() > c.col_stride() {
        c = c.transpose();
    }
    if beta == T::ZERO {
        return c.fill(T::ZERO);
    }
    for j in 0..c.ncols() {
        match c.col_as_slice_mut(j) {
            Some(col) => col.iter_mut().for_each(|x| *x = scaled(beta, *x)),
            None => (0..c.nrows()).for_each(|i| c[(i, j)] = scaled(beta, c[(i, j)])),
        }
    }
}

/// beta x. A real beta times an infinite part must not make NaN of the other part, which is 0 * Inf in a complex product.
#[inline(always)]
pub(super) fn scaled<T: Scalar>(beta: T, x: T) -> T {
    if beta.im() == T::Real::ZERO { T::from_parts(x.re() * beta.re(), x.im() * beta.re()) } else { beta * x }
}
