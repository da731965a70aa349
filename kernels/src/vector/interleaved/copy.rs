//! The copies between the matrices of a group and scratch.
//!
//! A run of adjacent reals in each matrix becomes a run of vectors, and back: squares of as many matrices as rows are
//! transposed. The last square of a run overlaps the one before it, and near the diagonal a square may contain elements
//! of the other triangle. These are stored as they were loaded.

use super::LANES_MAX;
use super::form::{Form, Places};
use crate::Scalar;
use crate::options;
use crate::simd::{Part, Separate, Spaced, Vector};
use crate::vector::planes::planes;
use std::ops::Range;

/// The copy of a part of each matrix of a group into scratch, or out of it.
#[derive(Clone, Copy)]
pub(super) struct GroupCopy<'a, T: Scalar> {
    pub form: Form,
    pub part: options::Part,
    pub places: &'a Places<T::Real>,
    pub scratch: *mut T::Real,
}

/// Loads a group.
pub(super) struct LoadGroup<'a, T: Scalar>(pub GroupCopy<'a, T>);

/// Stores the lanes of a group whose bits in the second field are zero.
pub(super) struct StoreGroup<'a, T: Scalar>(pub GroupCopy<'a, T>, pub u32);

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for LoadGroup<'_, T> {
    type Output = ();

    /// # Safety
    /// The matrices at the places have this form, and nobody writes their elements. The scratch has room for a group.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) {
        // SAFETY: the caller guarantees the matrices and the scratch.
        unsafe { copy_columns::<T, V, false>(isa, &self.0) }
    }
}

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for StoreGroup<'_, T> {
    type Output = ();

    /// # Safety
    /// The matrices at the places have this form, and nobody else accesses them. The scratch has a group that was
    /// loaded from them with the same part; only elements of the part have changed since.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) {
        // SAFETY: the caller guarantees the matrices and the scratch.
        unsafe {
            if self.1 == 0 {
                copy_columns::<T, V, true>(isa, &self.0);
            } else {
                store_some::<T, V>(&self.0, self.1);
            }
        }
    }
}

/// Copies the part, column by column, or as one column if there are no gaps between columns.
///
/// # Safety
/// Same as for [`LoadGroup`], or, if OUT, for [`StoreGroup`].
#[inline(always)]
unsafe fn copy_columns<T, V, const OUT: bool>(isa: V::Isa, copy: &GroupCopy<'_, T>)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let GroupCopy { form, part, places, scratch } = copy;
    let ((rows, columns), unit, step) = (form.shape(), planes::<T>(), form.step::<T, V>());
    let rows = rows * unit;
    // SAFETY: without gaps, all columns of each matrix and of the scratch are one run. Otherwise each column is a run,
    // whose address in each matrix advances with the columns.
    unsafe {
        if places.is_gapless && step == rows * V::LANES {
            return copy_run::<V, OUT>(isa, &places.first, 0..rows * columns, rows * columns, *scratch);
        }
        let mut first = places.first;
        for j in 0..columns {
            let part = form.rows_of(*part, j);
            let range = part.start * unit..part.end * unit;
            copy_run::<V, OUT>(isa, &first, range, rows, scratch.add(j * step));
            for lane in 0..V::LANES {
                first[lane] = first[lane].wrapping_add(places.step[lane]);
            }
        }
    }
}

/// Copies a range of a run of `len` reals in each matrix; a few reals beside the range may be copied, too.
///
/// # Safety
/// The runs have `len` reals, as many as the scratch has vectors; those of the source are valid for reads, those of the
/// destination for writes.
#[inline(always)]
unsafe fn copy_run<V: Vector, const OUT: bool>(
    isa: V::Isa,
    first: &[*mut V::Real; LANES_MAX],
    range: Range<usize>,
    len: usize,
    scratch: *mut V::Real,
) {
    // SAFETY: squares are moved back so that they end at `len`; single reals are in the range.
    unsafe {
        if len < V::SQUARE {
            for i in range {
                for (lane, matrix) in first[..V::LANES].iter().enumerate() {
                    let (one, group) = (matrix.add(i), scratch.add(i * V::LANES + lane));
                    if OUT {
                        *one = *group;
                    } else {
                        *group = *one;
                    }
                }
            }
            return;
        }
        let mut i = range.start;
        while i < range.end {
            let offset = i.min(len - V::SQUARE);
            for lane in (0..V::LANES).step_by(V::SQUARE) {
                let matrices = Separate { rows: &first[lane..lane + V::SQUARE], offset };
                let group = Spaced { first: scratch.add(offset * V::LANES + lane), step: V::LANES };
                if OUT {
                    V::transpose_rows(isa, group, matrices);
                } else {
                    V::transpose_rows(isa, matrices, group);
                }
            }
            i += V::SQUARE;
        }
    }
}

/// Stores, real by real, the lanes whose bits in `left` are zero.
///
/// # Safety
/// Same as for [`StoreGroup`].
#[cold]
unsafe fn store_some<T: Scalar, V: Vector<Real = T::Real>>(copy: &GroupCopy<'_, T>, left: u32) {
    let GroupCopy { form, part, places, scratch } = copy;
    let ((_, columns), unit, step) = (form.shape(), planes::<T>(), form.step::<T, V>());
    for lane in (0..V::LANES).filter(|lane| left >> lane & 1 == 0) {
        for j in 0..columns {
            let rows = form.rows_of(*part, j);
            for i in rows.start * unit..rows.end * unit {
                // SAFETY: the column has these rows in the matrix and in the scratch.
                unsafe {
                    let to = places.first[lane].wrapping_add(j * places.step[lane]).add(i);
                    *to = *scratch.add(j * step + i * V::LANES + lane);
                }
            }
        }
    }
}
