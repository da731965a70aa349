//! trsm: triangular systems with many right-hand sides.
//!
//! Every variant becomes A X = B with A lower or upper triangular by transposing views. Large systems are halved, which
//! leaves most of the work to the product; the halves go to [`Solve`].

use super::gemm::{add, scale};
use super::solve::Solve;
use crate::backend::Factor;
use crate::{Diag, MatMut, MatRef, Op, Scalar, Side, Uplo};

/// Up to this order a system is solved by [`Solve`]: its packed triangle then stays in the second-level cache.
const DIRECT: usize = 256;
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
    let b = if side == Side::Right { b.transpose() } else { b };
    let n = b.nrows();
    assert!(a.shape() == (n, n), "trsm: A {:?}, B with {n} rows on that side", a.shape());
    if b.is_empty() {
        return;
    }
    if alpha == T::ZERO {
        return scale(alpha, b);
    }
    // From here on the system is A X = B with A possibly conjugated: X op(A) = B is op(A)ᵀ Xᵀ = Bᵀ.
    let mut factor = Factor::new(op, a.into());
    if side == Side::Right {
        factor = factor.transpose();
    }
    let flipped = (op != Op::None) != (side == Side::Right);
    let uplo = if flipped { uplo.flip() } else { uplo };
    let mut b = b;
    scale(alpha, b.rb_mut());
    match uplo {
        Uplo::Lower => solve_lower(factor, diag, b),
        Uplo::Upper => solve_upper(factor, diag, b),
    }
}

/// A X = B, A lower triangular: X1 = A11⁻¹ B1, then X2 = A22⁻¹ (B2 - A21 X1).
pub(super) fn solve_lower<T: Scalar>(a: Factor<'_, T>, diag: Diag, mut b: MatMut<'_, T>) {
    let n = b.nrows();
    if n <= DIRECT {
        return Solve { uplo: Uplo::Lower, a, diag, b }.run();
    }
    let half = (n / 2).next_multiple_of(UNIT);
    let (b1, mut b2) = b.rb_mut().split_at_row(half);
    let ((top, bottom), part) = (a.view.split_at_row(half), |view| Factor { view, packs: None, ..a });
    let (a21, a22) = bottom.split_at_col(half);
    let mut b1 = b1;
    solve_lower(part(top.split_at_col(half).0), diag, b1.rb_mut());
    add(-T::ONE, part(a21), Factor::plain(b1.as_ref()), true, b2.rb_mut());
    solve_lower(part(a22), diag, b2);
}

/// A X = B, A upper triangular: X2 = A22⁻¹ B2, then X1 = A11⁻¹ (B1 - A12 X2).
fn solve_upper<T: Scalar>(a: Factor<'_, T>, diag: Diag, mut b: MatMut<'_, T>) {
    let n = b.nrows();
    if n <= DIRECT {
        return Solve { uplo: Uplo::Upper, a, diag, b }.run();
    }
    let half = (n / 2).next_multiple_of(UNIT);
    let (mut b1, mut b2) = b.rb_mut().split_at_row(half);
    let ((top, bottom), part) = (a.view.split_at_row(half), |view| Factor { view, packs: None, ..a });
    let (a11, a12) = top.split_at_col(half);
    solve_upper(part(bottom.split_at_col(half).1), diag, b2.rb_mut());
    add(-T::ONE, part(a12), Factor::plain(b2.as_ref()), true, b1.rb_mut());
    solve_upper(part(a11), diag, b1);
}
