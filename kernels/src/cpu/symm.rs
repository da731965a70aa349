//! symm and hemm: products with a symmetric or Hermitian matrix of which one triangle is stored.
//!
//! Packing completes the other triangle (see `mirror`), so the product is that of two general matrices. Where packing
//! does not pay, because the matrix or the other factor is small, the matrix is cut into blocks of columns.

use super::gemm::{self, add, scale};
use crate::vector::{Factor, Operand, Product, SMALL_PRODUCT, THIN_COLUMNS, Workspace};
use crate::{MatMut, MatRef, Op, Scalar, Side, Uplo};

/// Up to this order packing does not pay, whatever the other factor is.
const UNPACKED_ORDER: usize = 8;
/// Columns of a block. Its part on the diagonal is completed element by element.
const BLOCK_COLUMNS: usize = 64;

/// Computes C = alpha A B + beta C (`Side::Left`, A m x m) or C = alpha B A + beta C (`Side::Right`, A n x n), with A
/// symmetric and B and C m x n.
///
/// Only the triangle `uplo` of A is read. beta = 0 does not read C; alpha = 0 reads neither A nor B.
///
/// # Panics
/// If the shapes do not agree.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, MatRef, Side, Uplo, cpu};
///
/// let (a, b, mut c) = ([1.0, 2.0, f64::NAN, 3.0], [1.0, 1.0], [f64::NAN; 2]);
/// let (a, b) = (MatRef::from_col_major(&a, 2, 2, 2)?, MatRef::from_col_major(&b, 2, 1, 2)?);
/// cpu::symm(Side::Left, Uplo::Lower, 1.0, a, b, 0.0, MatMut::from_col_major(&mut c, 2, 1, 2)?);
/// assert_eq!(c, [3.0, 5.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn symm<'a, T: Scalar>(
    side: Side,
    uplo: Uplo,
    alpha: T,
    a: impl Into<Operand<'a, T>>,
    b: impl Into<Operand<'a, T>>,
    beta: T,
    c: MatMut<'_, T>,
) {
    product(false, side, uplo, alpha, a.into(), b.into(), beta, c);
}

/// Like [`symm`] with A Hermitian: the imaginary part of its diagonal is taken as zero. For real types this is
/// [`symm`].
///
/// # Panics
/// If the shapes do not agree.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, MatRef, Side, Uplo, c64, cpu};
///
/// let i = c64::new(0.0, 1.0);
/// let (a, b, mut c) = ([c64::from(1.0), i, i, c64::from(3.0)], [c64::from(1.0), i], [c64::from(0.0); 2]);
/// let (a, b) = (MatRef::from_col_major(&a, 2, 2, 2)?, MatRef::from_col_major(&b, 2, 1, 2)?);
/// cpu::hemm(Side::Left, Uplo::Lower, 1.0.into(), a, b, 0.0.into(), MatMut::from_col_major(&mut c, 2, 1, 2)?);
/// assert_eq!(c, [c64::from(2.0), 4.0 * i]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn hemm<'a, T: Scalar>(
    side: Side,
    uplo: Uplo,
    alpha: T,
    a: impl Into<Operand<'a, T>>,
    b: impl Into<Operand<'a, T>>,
    beta: T,
    c: MatMut<'_, T>,
) {
    product(true, side, uplo, alpha, a.into(), b.into(), beta, c);
}

fn product<'a, T: Scalar>(
    hermitian: bool,
    side: Side,
    uplo: Uplo,
    alpha: T,
    a: Operand<'a, T>,
    b: Operand<'a, T>,
    beta: T,
    c: MatMut<'_, T>,
) {
    let n = side.order(c.shape());
    let agree = a.view.shape() == (n, n) && b.view.shape() == c.shape();
    assert!(agree, "symm: shapes do not agree: A {:?}, B {:?}, C {:?}", a.view.shape(), b.view.shape(), c.shape());
    if alpha == T::ZERO || c.is_empty() {
        return scale(beta, c);
    }
    let (a, b) = (Factor::new(Op::None, a).mirrored(uplo, hermitian), Factor::new(Op::None, b));
    // C = B A is Cᵀ = Aᵀ Bᵀ.
    let (a, b, c) = if side == Side::Left { (a, b, c) } else { (a.transpose(), b.transpose(), c.transpose()) };
    if n <= UNPACKED_ORDER || c.ncols() <= THIN_COLUMNS || n * n * c.ncols() <= SMALL_PRODUCT {
        by_columns(alpha, a, b, beta, c);
    } else {
        gemm::product(Product { alpha, a, b, beta, triangle: None, c });
    }
}

/// Computes C = alpha A B + beta C without packing A: sums the products of a few columns of A each. The blocks on the
/// diagonal are completed in the workspace.
fn by_columns<T: Scalar>(alpha: T, a: Factor<'_, T>, b: Factor<'_, T>, beta: T, mut c: MatMut<'_, T>) {
    let (n, sides) = c.shape();
    let mut scratch = Workspace::take(n.min(BLOCK_COLUMNS) * n.min(BLOCK_COLUMNS));
    for start in (0..n).step_by(BLOCK_COLUMNS) {
        let cols = start..n.min(start + BLOCK_COLUMNS);
        let b = b.part(cols.clone(), 0..sides);
        let beta = if start == 0 { beta } else { T::ONE };
        for rows in [0..start, cols.end..n].into_iter().filter(|rows| !rows.is_empty()) {
            let c = c.rb_mut().submatrix(rows.clone(), 0..sides);
            add(alpha, a.part(rows, cols.clone()).beside(), b, beta, c);
        }
        let whole = complete(a.part(cols.clone(), cols.clone()), &mut scratch);
        add(alpha, Factor::plain(whole), b, beta, c.rb_mut().submatrix(cols, 0..sides));
    }
}

/// Writes all elements of a block on the diagonal to scratch.
fn complete<'w, T: Scalar>(a: Factor<'_, T>, scratch: &'w mut Workspace<T>) -> MatRef<'w, T> {
    let n = a.view.nrows();
    let data = &mut scratch.elements()[..n * n];
    a.each(|i, j, x| data[i + j * n] = x);
    match MatRef::from_col_major(data, n, n, n) {
        Ok(view) => view,
        Err(error) => unreachable!("n x n elements without gaps: {error}"),
    }
}
