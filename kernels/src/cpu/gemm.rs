//! gemm: the product that every other kernel is reduced to.

use crate::backend::backend;
use crate::scalar::scaled;
use crate::vector::{Blocks, Factor, Operand, Pack, Product, Right, Small, Thin, left};
use crate::{MatMut, Op, Scalar};

/// Computes C = alpha op(A) op(B) + beta C, where op(A) is m x k, op(B) is k x n and C is m x n.
///
/// A and B are views, or [`Operand`]s, which may stay packed for the next product. beta = 0 writes C without reading
/// it; alpha = 0 (or k = 0) reads neither A nor B.
///
/// # Panics
/// If the shapes do not agree.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, MatRef, Op, cpu};
///
/// let (a, b, mut c) = ([1.0, 2.0], [3.0, 4.0], [10.0]);
/// let a = MatRef::from_col_major(&a, 2, 1, 2)?;
/// let b = MatRef::from_col_major(&b, 2, 1, 2)?;
/// cpu::gemm(1.0, Op::Trans, a, Op::None, b, 2.0, MatMut::from_col_major(&mut c, 1, 1, 1)?);
/// assert_eq!(c, [31.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
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
    assert!(
        agree,
        "gemm: shapes do not agree: op(A) {:?}, op(B) {:?}, C {:?}",
        a.view.shape(),
        b.view.shape(),
        c.shape()
    );
    if alpha == T::ZERO || a.view.ncols() == 0 {
        return scale(beta, c);
    }
    add(alpha, a, b, beta, c);
}

/// Computes C = alpha A B + beta C. The factors have at least one column. beta = 0 does not read C.
pub(super) fn add<'a, T: Scalar>(alpha: T, a: Factor<'a, T>, b: Factor<'a, T>, beta: T, mut c: MatMut<'a, T>) {
    if c.is_empty() {
        return;
    }
    if let Some(small) = Small::of(alpha, &a, &b, beta, &mut c) {
        return backend::<T>().small_product(&small);
    }
    match Thin::of(alpha, a, b, beta, c) {
        Ok(thin) => backend::<T>().thin_product(thin),
        Err(c) => product(Product { alpha, a, b, beta, triangle: None, c }),
    }
}

/// Computes a product, using packed factors if there are any. The factors must have at least one column.
pub(super) fn product<T: Scalar>(product: Product<'_, T>) {
    // The lanes of vectors run along the rows of C, which should be adjacent elements.
    let along = product.c.row_stride() <= product.c.col_stride();
    let product = if along { product } else { product.transpose() };
    let pack = |pack: Pack<'_, T>| backend::<T>().pack(pack);
    let left = left(product.a, product.c.ncols(), pack);
    let right = Right::of(product.b.transpose(), product.c.nrows(), pack);
    let right = right.as_ref().and_then(Right::packed);
    backend::<T>().product(Blocks { product, left: left.as_deref(), right });
}

/// Scales C by beta; beta = 0 does not read C.
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
