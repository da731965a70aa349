//! symm and hemm: products with a symmetric or Hermitian matrix of which one triangle is stored.
//!
//! The matrix is cut into blocks. Those off the diagonal are factors of a product as they are, or transposed; those on it are
//! completed in the workspace, so that no more than a block is ever copied.

use super::gemm::{add, scale};
use super::pack;
use super::workspace::Workspace;
use crate::backend::Factor;
use crate::simd::{Kernel, Vector};
use crate::{MatMut, MatRef, Scalar, Side, Uplo};

/// Order of a block on the diagonal: its completed form stays in the second-level cache beside what is packed.
const BLOCK: usize = 256;
/// Rows and columns of a part of a block that is mirrored at once: some cache lines each, of which none is driven out before it is full.
const SQUARE: usize = 16;

/// C = alpha A B + beta C (`Side::Left`, A m x m) or C = alpha B A + beta C (`Side::Right`, A n x n), with A symmetric and B and
/// C m x n.
///
/// Only the triangle `uplo` of A is read. beta = 0 does not read C; alpha = 0 reads neither A nor B.
///
/// # Panics
/// When the shapes do not agree.
///
/// # Example
/// ```
/// use superscalar_kernels::{MatMut, MatRef, Side, Uplo, cpu};
///
/// let (a, b, mut c) = ([1.0, 2.0, f64::NAN, 3.0], [1.0, 1.0], [f64::NAN; 2]);
/// let (a, b) = (MatRef::from_col_major(&a, 2, 2, 2)?, MatRef::from_col_major(&b, 2, 1, 2)?);
/// cpu::symm(Side::Left, Uplo::Lower, 1.0, a, b, 0.0, MatMut::from_col_major(&mut c, 2, 1, 2)?);
/// assert_eq!(c, [3.0, 5.0]);
/// # Ok::<(), superscalar_kernels::ViewError>(())
/// ```
pub fn symm<T: Scalar>(
    side: Side,
    uplo: Uplo,
    alpha: T,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: T,
    c: MatMut<'_, T>,
) {
    product(false, side, uplo, alpha, a, b, beta, c);
}

/// The same with A Hermitian: the imaginary part of its diagonal is taken as zero. For real types this is [`symm`].
///
/// # Panics
/// When the shapes do not agree.
///
/// # Example
/// ```
/// use superscalar_kernels::{MatMut, MatRef, Side, Uplo, c64, cpu};
///
/// let i = c64::new(0.0, 1.0);
/// let (a, b, mut c) = ([c64::from(1.0), i, i, c64::from(3.0)], [c64::from(1.0), i], [c64::from(0.0); 2]);
/// let (a, b) = (MatRef::from_col_major(&a, 2, 2, 2)?, MatRef::from_col_major(&b, 2, 1, 2)?);
/// cpu::hemm(Side::Left, Uplo::Lower, 1.0.into(), a, b, 0.0.into(), MatMut::from_col_major(&mut c, 2, 1, 2)?);
/// assert_eq!(c, [c64::from(2.0), 4.0 * i]);
/// # Ok::<(), superscalar_kernels::ViewError>(())
/// ```
pub fn hemm<T: Scalar>(
    side: Side,
    uplo: Uplo,
    alpha: T,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: T,
    c: MatMut<'_, T>,
) {
    product(true, side, uplo, alpha, a, b, beta, c);
}

fn product<T: Scalar>(
    hermitian: bool,
    side: Side,
    uplo: Uplo,
    alpha: T,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: T,
    c: MatMut<'_, T>,
) {
    let n = if side == Side::Left { c.nrows() } else { c.ncols() };
    let agree = a.shape() == (n, n) && b.shape() == c.shape();
    assert!(agree, "symm: A {:?} B {:?} C {:?}", a.shape(), b.shape(), c.shape());
    // C = B A is Cᵀ = Aᵀ Bᵀ. Aᵀ is A if A is symmetric, and its stored triangle is the other one of the transposed view.
    let (uplo, a, b, mut c) = match side {
        Side::Left => (uplo, a, b, c),
        Side::Right => (uplo.flip(), a.transpose(), b.transpose(), c.transpose()),
    };
    if alpha == T::ZERO || c.is_empty() {
        return scale(beta, c);
    }
    let block = |at: usize| at..n.min(at + BLOCK);
    let mut scratch = Workspace::take(n.min(BLOCK) * n.min(BLOCK));
    for k in (0..n).step_by(BLOCK) {
        let b = Factor::plain(b.submatrix(block(k), 0..b.ncols()));
        let beta = if k == 0 { beta } else { T::ONE };
        for i in (0..n).step_by(BLOCK) {
            let c = c.rb_mut().submatrix(block(i), 0..b.view.ncols());
            if i == k {
                let whole = complete(hermitian, uplo, a.submatrix(block(k), block(k)), &mut scratch);
                add(alpha, Factor::plain(whole), b, beta, c);
            } else if (i > k) == (uplo == Uplo::Lower) {
                add(alpha, Factor::plain(a.submatrix(block(i), block(k))), b, beta, c);
            } else {
                let mirrored = a.submatrix(block(k), block(i)).transpose();
                add(alpha, Factor { view: mirrored, conj: hermitian, packs: None }, b, beta, c);
            }
        }
    }
}

/// Both triangles of a block of which one is stored.
fn complete<'w, T: Scalar>(
    hermitian: bool,
    uplo: Uplo,
    a: MatRef<'_, T>,
    scratch: &'w mut Workspace<T>,
) -> MatRef<'w, T> {
    let n = a.nrows();
    let data = &mut scratch.elements()[..n * n];
    T::complete(Completion { hermitian, uplo, a, data });
    match MatRef::from_col_major(data, n, n, n) {
        Ok(view) => view,
        Err(error) => unreachable!("n x n elements without gaps: {error}"),
    }
}

/// Both triangles of an n x n matrix of which one is stored, to be written to `data`, column by column.
pub struct Completion<'a, T> {
    hermitian: bool,
    uplo: Uplo,
    a: MatRef<'a, T>,
    data: &'a mut [T],
}

impl<T: Scalar> Kernel<T> for Completion<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self) {
        let Self { hermitian, uplo, a, data } = self;
        let n = a.nrows();
        let a = if uplo == Uplo::Upper { a.transpose() } else { a };
        let by_vectors = !T::COMPLEX && (a.row_stride() == 1 || a.col_stride() == 1);
        for left in (0..n).step_by(SQUARE) {
            for top in (left..n).step_by(SQUARE) {
                if by_vectors && top > left {
                    // SAFETY: the rows and columns are A's, and `data` has n x n elements.
                    unsafe { mirror::<T, V>(a, top, left, data.as_mut_ptr().cast()) };
                    continue;
                }
                for j in left..n.min(left + SQUARE) {
                    for i in top.max(j)..n.min(top + SQUARE) {
                        let x = a.at(i, j);
                        let mirrored = if hermitian { x.conj() } else { x };
                        // The triangle that is the lower one of the transposed view is the upper one of A.
                        let (lower, upper) = if uplo == Uplo::Lower { (x, mirrored) } else { (mirrored, x) };
                        (data[i + j * n], data[j + i * n]) = (lower, upper);
                    }
                }
            }
        }
        for j in 0..if hermitian { n } else { 0 } {
            data[j + j * n] = T::from_real(a.at(j, j).re());
        }
    }
}

/// Up to SQUARE rows of A, of a real type and with adjacent rows or columns, from `top` on, in SQUARE columns from `left` on, and the same transposed.
///
/// # Safety
/// As for [`Vector`]; these rows and columns are below A's diagonal, and `to` has room for A.
#[inline(always)]
unsafe fn mirror<T, V>(a: MatRef<'_, T>, top: usize, left: usize, to: *mut T::Real)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (n, rows, rs, cs) = (a.nrows(), SQUARE.min(a.nrows() - top), a.row_stride(), a.col_stride());
    let from = a.as_ptr().wrapping_add(top * rs + left * cs).cast::<T::Real>();
    let (lower, upper) = (to.wrapping_add(top + left * n), to.wrapping_add(left + top * n));
    let (lines, length, step, same, transposed) =
        if rs == 1 { (SQUARE, rows, cs, lower, upper) } else { (rows, SQUARE, rs, upper, lower) };
    for line in 0..lines {
        let (from, to) = (from.wrapping_add(line * step), same.wrapping_add(line * n));
        // SAFETY: a column (or row) of the square, and its place. A known length makes it a few vector moves.
        unsafe {
            if length == SQUARE {
                to.cast::<[T::Real; SQUARE]>().write_unaligned(from.cast::<[T::Real; SQUARE]>().read_unaligned());
            } else {
                to.copy_from_nonoverlapping(from, length);
            }
        }
    }
    // SAFETY: the lines of the square, and room for them.
    unsafe { pack::transpose::<V>((lines, length), from, step, transposed, n) };
}
