//! Applies a small triangle to the rows of a register tile: solves a system, or multiplies.

use super::micro::{Accumulators, multiply, scale_row, subtract};
use crate::simd::Vector;
use crate::vector::planes::{planes, scalar};
use crate::{Scalar, Uplo};

/// Solves the ROWS x ROWS triangular system whose right-hand sides are the lanes of `acc`, by forward or back
/// substitution.
///
/// # Safety
/// `triangle` holds the ROWS elements (r, q) per plane for each column q, with reciprocals on the diagonal.
#[inline(always)]
pub(crate) unsafe fn substitute<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Accumulators<V, NV, ROWS>,
    triangle: *const T::Real,
    uplo: Uplo,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // One copy of the code per row: the compiler does not unroll a loop whose inner loop varies in length. The
    // accumulators would then stay in memory, which triples the time of the solve.
    macro_rules! rows {
        ($($step:literal)*) => {$(
            if $step < ROWS {
                // SAFETY: the triangle holds ROWS elements in each of ROWS columns, including those of this row.
                unsafe {
                    match uplo {
                        Uplo::Lower => row::<T, V, NV, ROWS>(acc, triangle, $step, 0, $step),
                        Uplo::Upper => {
                            row::<T, V, NV, ROWS>(acc, triangle, ROWS - 1 - $step, ROWS - $step, ROWS)
                        }
                    }
                }
            }
        )*};
    }
    assert!(ROWS <= 8);
    rows!(0 1 2 3 4 5 6 7);
}

/// Computes row r of a substitution: subtracts the solved rows from .. to, and divides by the diagonal.
///
/// # Safety
/// Same as for [`substitute`].
#[inline(always)]
unsafe fn row<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Accumulators<V, NV, ROWS>,
    triangle: *const T::Real,
    r: usize,
    from: usize,
    to: usize,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let column = |q: usize| triangle.wrapping_add(q * ROWS * planes::<T>() + r);
    for q in from..to {
        let x = acc[q];
        // SAFETY: q and r are less than ROWS, so by this function's contract `triangle` holds element (r, q).
        unsafe { subtract::<T, V, NV>(&mut acc[r], scalar::<T>(column(q), ROWS), false, &x) };
    }
    // SAFETY: r is less than ROWS, so by this function's contract `triangle` holds element (r, r).
    unsafe { multiply::<T, V, NV>(&mut acc[r], scalar::<T>(column(r), ROWS)) };
}

/// Computes acc = -A acc for the ROWS x ROWS triangle A. The rows are taken in an order in which each reads the old
/// values of the others.
///
/// # Safety
/// Same as for [`substitute`], but with the diagonal of A itself.
#[inline(always)]
pub(crate) unsafe fn multiply_triangle<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Accumulators<V, NV, ROWS>,
    triangle: *const T::Real,
    uplo: Uplo,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // One copy of the code per row, as in `substitute`, but in the opposite order.
    macro_rules! rows {
        ($($step:literal)*) => {$(
            if $step < ROWS {
                // SAFETY: the triangle holds ROWS elements in each of ROWS columns, including those of this row.
                unsafe {
                    match uplo {
                        Uplo::Lower => {
                            let r = ROWS - 1 - $step;
                            multiply_row::<T, V, NV, ROWS>(acc, triangle, r, 0, r)
                        }
                        Uplo::Upper => multiply_row::<T, V, NV, ROWS>(acc, triangle, $step, $step + 1, ROWS),
                    }
                }
            }
        )*};
    }
    assert!(ROWS <= 8);
    rows!(0 1 2 3 4 5 6 7);
}

/// Computes row r of a product: minus its diagonal element times itself, minus its elements from .. to times those
/// rows.
///
/// # Safety
/// Same as for [`multiply_triangle`].
#[inline(always)]
unsafe fn multiply_row<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Accumulators<V, NV, ROWS>,
    triangle: *const T::Real,
    r: usize,
    from: usize,
    to: usize,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let column = |q: usize| triangle.wrapping_add(q * ROWS * planes::<T>() + r);
    // SAFETY: q and r are less than ROWS, so by this function's contract `triangle` holds elements (r, r) and (r, q).
    unsafe {
        multiply::<T, V, NV>(&mut acc[r], scalar::<T>(column(r), ROWS));
        scale_row::<T, V, NV>(&mut acc[r], -T::Real::ONE);
        for q in from..to {
            let x = acc[q];
            subtract::<T, V, NV>(&mut acc[r], scalar::<T>(column(q), ROWS), false, &x);
        }
    }
}
