//! trsm: triangular systems with many right-hand sides.
//!
//! Every variant becomes A X = B with A lower or upper triangular by transposing views. Large systems are halved, which
//! leaves most of the work to the product; the halves go to [`Triangular`].

use super::gemm::{add, scale};
use super::thin;
use super::triangular::{Action, Triangular};
use crate::backend::Factor;
use crate::{Diag, MatMut, MatRef, Op, Scalar, Side, Uplo, reference};

/// Up to this order a triangle is applied by [`Triangular`]: packed it then stays in the second-level cache.
pub(super) const DIRECT: usize = 256;
/// The same for so few columns that packing the triangle would not pay: the rest then goes to products that do not pack either.
pub(super) const DIRECT_THIN: usize = 32;
/// Halves are multiples of this, which keeps register tiles full.
const UNIT: usize = 32;

/// Solves op(A) X = alpha B (`Side::Left`, A m x m) or X op(A) = alpha B (`Side::Right`, A n x n); X overwrites the
/// m x n matrix B.
///
/// Only the triangle `uplo` of A is read, and its diagonal not even when `diag` is [`Diag::Unit`]. A zero on the
/// diagonal is no error: it makes Inf or NaN, as in the BLAS. alpha = 0 sets B to zero without reading A.
///
/// # Panics
/// When the shapes do not agree.
///
/// # Example
/// ```
/// use superscalar_kernels::{Diag, MatMut, MatRef, Op, Side, Uplo, cpu};
///
/// let (a, mut b) = ([2.0, 3.0, f64::NAN, 4.0], [2.0, 7.0]);
/// let a = MatRef::from_col_major(&a, 2, 2, 2)?;
/// let x = MatMut::from_col_major(&mut b, 2, 1, 2)?;
/// cpu::trsm(Side::Left, Uplo::Lower, Op::None, Diag::NonUnit, 1.0, a, x);
/// assert_eq!(b, [1.0, 1.0]);
/// # Ok::<(), superscalar_kernels::ViewError>(())
/// ```
pub fn trsm<T: Scalar>(side: Side, uplo: Uplo, op: Op, diag: Diag, alpha: T, a: MatRef<'_, T>, b: MatMut<'_, T>) {
    let (uplo, factor, mut b) = as_left("trsm", side, uplo, op, a, b);
    if b.is_empty() {
        return;
    }
    scale(alpha, b.rb_mut());
    if alpha != T::ZERO {
        solve(uplo, factor, diag, b);
    }
}

/// The triangle, the factor and the right-hand sides of A X = B, with A possibly conjugated, that mean the same as op(A) X = B
/// or X op(A) = B: the latter is op(A)ᵀ Xᵀ = Bᵀ. So it is for products.
pub(super) fn as_left<'a, 'b, T: Scalar>(
    name: &str,
    side: Side,
    uplo: Uplo,
    op: Op,
    a: MatRef<'a, T>,
    b: MatMut<'b, T>,
) -> (Uplo, Factor<'a, T>, MatMut<'b, T>) {
    let b = if side == Side::Right { b.transpose() } else { b };
    let n = b.nrows();
    assert!(a.shape() == (n, n), "{name}: A {:?}, B with {n} rows on that side", a.shape());
    let factor = Factor::new(op, a.into());
    let factor = if side == Side::Right { factor.transpose() } else { factor };
    let flipped = (op != Op::None) != (side == Side::Right);
    (if flipped { uplo.flip() } else { uplo }, factor, b)
}

/// A X = B, X over B.
pub(super) fn solve<T: Scalar>(uplo: Uplo, a: Factor<'_, T>, diag: Diag, b: MatMut<'_, T>) {
    if b.ncols() <= thin::COLUMNS {
        if b.nrows() <= DIRECT_THIN {
            return by_division(uplo, a, diag, b);
        }
    } else if b.nrows() <= DIRECT {
        return Triangular { action: Action::Solve, uplo, a, diag, b }.run();
    }
    let Quarters { a11, a22, off_diagonal, mut b1, mut b2 } = Quarters::of(uplo, a, b);
    match uplo {
        Uplo::Lower => {
            // X1 = A11⁻¹ B1, then X2 = A22⁻¹ (B2 - A21 X1)
            solve(uplo, a11, diag, b1.rb_mut());
            add(-T::ONE, off_diagonal, Factor::plain(b1.as_ref()), T::ONE, b2.rb_mut());
            solve(uplo, a22, diag, b2);
        }
        Uplo::Upper => {
            // X2 = A22⁻¹ B2, then X1 = A11⁻¹ (B1 - A12 X2)
            solve(uplo, a22, diag, b2.rb_mut());
            add(-T::ONE, off_diagonal, Factor::plain(b2.as_ref()), T::ONE, b1.rb_mut());
            solve(uplo, a11, diag, b1);
        }
    }
}

/// A X = B by the textbook loop.
pub(super) fn by_division<T: Scalar>(uplo: Uplo, a: Factor<'_, T>, diag: Diag, b: MatMut<'_, T>) {
    // conj(A) X = B is handed over as the conjugate transpose of Aᵀ.
    if a.conj {
        reference::trsm(Side::Left, uplo.flip(), Op::ConjTrans, diag, T::ONE, a.view.transpose(), b);
    } else {
        reference::trsm(Side::Left, uplo, Op::None, diag, T::ONE, a.view, b);
    }
}

/// A triangular A cut in the middle, and B likewise.
pub(super) struct Quarters<'a, 'b, T> {
    pub a11: Factor<'a, T>,
    pub a22: Factor<'a, T>,
    /// A21 of a lower triangle, A12 of an upper one.
    pub off_diagonal: Factor<'a, T>,
    pub b1: MatMut<'b, T>,
    pub b2: MatMut<'b, T>,
}

impl<'a, 'b, T: Scalar> Quarters<'a, 'b, T> {
    pub fn of(uplo: Uplo, a: Factor<'a, T>, b: MatMut<'b, T>) -> Self {
        let n = b.nrows();
        let half = (n / 2).next_multiple_of(UNIT);
        let (b1, b2) = b.split_at_row(half);
        let off_diagonal = match uplo {
            Uplo::Lower => a.part(half..n, 0..half),
            Uplo::Upper => a.part(0..half, half..n),
        };
        Self { a11: a.part(0..half, 0..half), a22: a.part(half..n, half..n), off_diagonal, b1, b2 }
    }
}
