//! trmm: products with a triangular matrix.
//!
//! Every variant becomes B = A B with A lower or upper triangular by transposing views, as in [`trsm`](super::trsm). Large
//! ones are halved, which leaves most of the work to the product; the halves go to [`Triangular`].

use super::gemm::{add, scale};
use super::thin;
use super::triangular::{Action, Triangular};
use super::trsm::{DIRECT, DIRECT_THIN, Quarters, as_left};
use crate::backend::Factor;
use crate::{Diag, MatMut, MatRef, Op, Scalar, Side, Uplo};

/// B = alpha op(A) B (`Side::Left`, A m x m) or B = alpha B op(A) (`Side::Right`, A n x n), with A triangular and B m x n.
///
/// Only the triangle `uplo` of A is read, and its diagonal not even when `diag` is [`Diag::Unit`]. alpha = 0 sets B to zero
/// without reading A.
///
/// # Panics
/// When the shapes do not agree.
///
/// # Example
/// ```
/// use superscalar_kernels::{Diag, MatMut, MatRef, Op, Side, Uplo, cpu};
///
/// let (a, mut b) = ([2.0, 3.0, f64::NAN, 4.0], [1.0, 1.0]);
/// let a = MatRef::from_col_major(&a, 2, 2, 2)?;
/// let x = MatMut::from_col_major(&mut b, 2, 1, 2)?;
/// cpu::trmm(Side::Left, Uplo::Lower, Op::None, Diag::NonUnit, 1.0, a, x);
/// assert_eq!(b, [2.0, 7.0]);
/// # Ok::<(), superscalar_kernels::ViewError>(())
/// ```
pub fn trmm<T: Scalar>(side: Side, uplo: Uplo, op: Op, diag: Diag, alpha: T, a: MatRef<'_, T>, b: MatMut<'_, T>) {
    let (uplo, factor, mut b) = as_left("trmm", side, uplo, op, a, b);
    if b.is_empty() {
        return;
    }
    scale(alpha, b.rb_mut());
    if alpha != T::ZERO {
        multiply(uplo, factor, diag, b);
    }
}

/// B = A B.
fn multiply<T: Scalar>(uplo: Uplo, a: Factor<'_, T>, diag: Diag, b: MatMut<'_, T>) {
    let direct = if b.ncols() <= thin::COLUMNS { DIRECT_THIN } else { DIRECT };
    if b.nrows() <= direct {
        return Triangular { action: Action::Multiply, uplo, a, diag, b }.run();
    }
    let Quarters { a11, a22, off_diagonal, mut b1, mut b2 } = Quarters::of(uplo, a, b);
    match uplo {
        Uplo::Lower => {
            // B2 = A22 B2 + A21 B1, then B1 = A11 B1
            multiply(uplo, a22, diag, b2.rb_mut());
            add(T::ONE, off_diagonal, Factor::plain(b1.as_ref()), T::ONE, b2);
            multiply(uplo, a11, diag, b1);
        }
        Uplo::Upper => {
            // B1 = A11 B1 + A12 B2, then B2 = A22 B2
            multiply(uplo, a11, diag, b1.rb_mut());
            add(T::ONE, off_diagonal, Factor::plain(b2.as_ref()), T::ONE, b1);
            multiply(uplo, a22, diag, b2);
        }
    }
}
