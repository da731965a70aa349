//! A small triangle applied to the rows of a register tile: a system solved, or a product.

use super::micro::{Tile, multiply, scale_row, subtract};
use crate::simd::Vector;
use crate::vector::planes::{planes, scalar};
use crate::{Scalar, Uplo};

/// Solves the ROWS x ROWS triangular system whose right-hand sides are the lanes of `acc`, forwards or backwards.
///
/// # Safety
/// `triangle` holds for each column q the ROWS elements (r, q) per plane, with reciprocals on the
/// diagonal.
#[inline(always)]
pub(crate) unsafe fn substitute<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Tile<V, NV, ROWS>,
    triangle: *const T::Real,
    uplo: Uplo,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // Row by row in the text, because a loop over rows is not unrolled: its inner loop has another length each time.
    // The accumulators would then live in memory, and the whole solve run at a third of its rate.
    macro_rules! rows {
        ($($step:literal)*) => {$(
            if $step < ROWS {
                // SAFETY: the triangle holds ROWS elements of each of ROWS columns; this row is one of them.
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

/// Row r of a substitution: subtracts rows from .. to, which are solved, and divides by the diagonal.
///
/// # Safety
/// As for [`substitute`].
#[inline(always)]
unsafe fn row<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Tile<V, NV, ROWS>,
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
        // SAFETY: element (r, q) of the triangle.
        unsafe { subtract::<T, V, NV>(&mut acc[r], scalar::<T>(column(q), ROWS), false, &x) };
    }
    // SAFETY: element (r, r) of the triangle.
    unsafe { multiply::<T, V, NV>(&mut acc[r], scalar::<T>(column(r), ROWS)) };
}

/// acc = -A acc for the ROWS x ROWS triangle A, with the rows of `acc` taken so that each finds the others as they
/// were.
///
/// # Safety
/// As for [`substitute`], with the diagonal itself on the diagonal.
#[inline(always)]
pub(crate) unsafe fn multiply_triangle<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Tile<V, NV, ROWS>,
    triangle: *const T::Real,
    uplo: Uplo,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // Row by row in the text, as in `substitute`, and in the opposite order.
    macro_rules! rows {
        ($($step:literal)*) => {$(
            if $step < ROWS {
                // SAFETY: the triangle holds ROWS elements of each of ROWS columns; this row is one of them.
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

/// Row r of a product: minus its diagonal element times itself, minus its elements from .. to times those rows.
///
/// # Safety
/// As for [`multiply_triangle`].
#[inline(always)]
unsafe fn multiply_row<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Tile<V, NV, ROWS>,
    triangle: *const T::Real,
    r: usize,
    from: usize,
    to: usize,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let column = |q: usize| triangle.wrapping_add(q * ROWS * planes::<T>() + r);
    // SAFETY: element (r, r), then elements (r, q), of the triangle.
    unsafe {
        multiply::<T, V, NV>(&mut acc[r], scalar::<T>(column(r), ROWS));
        scale_row::<T, V, NV>(&mut acc[r], -T::Real::ONE);
        for q in from..to {
            let x = acc[q];
            subtract::<T, V, NV>(&mut acc[r], scalar::<T>(column(q), ROWS), false, &x);
        }
    }
}
