//! Solves with an interleaved lower triangle.

use super::Interleaved;
use super::multiply::GroupProduct;
use super::number::{get, minus_product, product, put, sign, with_sign, zero};
use crate::Scalar;
use crate::simd::{Part, Vector};
use crate::vector::planes::planes;

/// Rows that are solved in registers.
pub(super) const BLOCK: usize = 4;

/// X = L⁻¹ X, for the lower triangle L.
pub(super) struct Substitute<T: Scalar> {
    pub l: Interleaved<T::Real>,
    /// The reciprocals of the diagonal, one number after the other, or None for a diagonal of ones.
    pub inverses: Option<*const T::Real>,
    pub x: Interleaved<T::Real>,
    /// Rows of L, and rows and columns of X.
    pub shape: (usize, usize),
    /// Whether the elements of L are conjugated; the reciprocals are not.
    pub conj: bool,
}

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for Substitute<T> {
    type Output = ();

    /// # Safety
    /// The matrices have these shapes and do not overlap; L and the reciprocals are valid for reads, X for writes.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) {
        let Self { l, inverses, x, shape: (m, n), conj } = self;
        for i in (0..m).step_by(BLOCK) {
            let rows = BLOCK.min(m - i);
            // SAFETY: the rows are inside of both matrices, and those before them are solved.
            unsafe {
                if i > 0 {
                    let product = GroupProduct::<T>::subtract(x.from(i, 0), l.from(i, 0), x, (rows, n), i);
                    V::call(isa, GroupProduct { conj: (conj, false), ..product });
                }
                let inverses = inverses.map(|inverses| inverses.add(i * planes::<T>() * V::LANES));
                let part = Substitute::<T> { l: l.from(i, i), inverses, x: x.from(i, 0), shape: (rows, n), conj };
                substitute_block::<T, V>(isa, &part);
            }
        }
    }
}

/// Solves with a triangle of at most [`BLOCK`] rows.
///
/// # Safety
/// Same as for [`Substitute`].
#[inline(always)]
pub(super) unsafe fn substitute_block<T, V>(isa: V::Isa, part: &Substitute<T>)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: the caller guarantees the matrices.
    unsafe {
        match part.shape.0 {
            1 => columns::<T, V, 1>(isa, part),
            2 => columns::<T, V, 2>(isa, part),
            3 => columns::<T, V, 3>(isa, part),
            _ => columns::<T, V, BLOCK>(isa, part),
        }
    }
}

/// Solves with a triangle of R rows.
///
/// # Safety
/// Same as for [`Substitute`]; the triangle has R rows.
#[inline(always)]
unsafe fn columns<T, V, const R: usize>(isa: V::Isa, part: &Substitute<T>)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let Substitute { l, inverses, x, shape: (_, n), conj } = part;
    let sign = sign::<T, V>(isa, *conj);
    for j in 0..*n {
        // SAFETY: column j of X has R rows, as have L and the reciprocals.
        unsafe {
            let mut y = [zero::<T, V>(isa); R];
            for r in 0..R {
                let mut sum = get::<T, V>(isa, x.at(r, j));
                for p in 0..r {
                    let l = with_sign::<T, V>(get::<T, V>(isa, l.at(r, p)), sign);
                    sum = minus_product::<T, V>(sum, l, y[p]);
                }
                if let Some(inverses) = inverses {
                    sum = product::<T, V>(sum, get::<T, V>(isa, inverses.add(r * planes::<T>() * V::LANES)));
                }
                y[r] = sum;
                put::<T, V>(sum, x.at(r, j));
            }
        }
    }
}
