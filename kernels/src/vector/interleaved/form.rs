//! The shape of the matrices of a group, and how they lie in memory and in scratch.

use super::{Interleaved, LANES_MAX};
use crate::simd::{Vector, prefetch};
use crate::vector::planes::planes;
use crate::{MatRef, Part, Scalar, Uplo};
use std::ops::Range;

/// From this many adjacent rows on, columns in scratch are an odd number of elements apart, so that a row is spread
/// over the sets of the caches. Smaller matrices have no gaps and may be copied as one column.
const PADDED_ROWS: usize = 16;

/// The rows (of adjacent elements) and columns of a matrix in memory, and whether the view is the transpose of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    rows: usize,
    columns: usize,
    is_transposed: bool,
}

impl Form {
    /// Returns the form of a matrix, or None if neither its rows nor its columns are adjacent elements.
    #[inline]
    pub fn of<T>(view: MatRef<'_, T>) -> Option<Self> {
        let (m, n) = view.shape();
        if view.row_stride() == 1 || m == 1 {
            Some(Self { rows: m, columns: n, is_transposed: false })
        } else if view.col_stride() == 1 || n == 1 {
            Some(Self { rows: n, columns: m, is_transposed: true })
        } else {
            None
        }
    }

    /// Returns the part of the matrix in memory that is the triangle `uplo` of the view.
    #[inline(always)]
    pub fn triangle(&self, uplo: Uplo) -> Part {
        if (uplo == Uplo::Lower) != self.is_transposed { Part::Lower } else { Part::Upper }
    }

    /// Returns the reals of a group from one column to the next in scratch.
    #[inline(always)]
    pub(super) fn step<T: Scalar, V: Vector>(&self) -> usize {
        let rows = if self.rows < PADDED_ROWS { self.rows } else { self.rows | 1 };
        rows * planes::<T>() * V::LANES
    }

    /// Returns the reals of a group in scratch.
    #[inline(always)]
    pub(super) fn len<T: Scalar, V: Vector>(&self) -> usize {
        self.step::<T, V>() * self.columns
    }

    /// Returns the rows of column j that belong to the part.
    #[inline(always)]
    pub(super) fn rows_of(&self, part: Part, j: usize) -> Range<usize> {
        match part {
            Part::All => 0..self.rows,
            Part::Lower => j.min(self.rows)..self.rows,
            Part::Upper => 0..self.rows.min(j + 1),
        }
    }

    #[inline(always)]
    pub(super) fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// Returns the views, not the matrices in memory, as matrices of vectors in this scratch.
    #[inline(always)]
    pub(super) fn in_scratch<T: Scalar, V: Vector>(&self, first: *mut T::Real) -> Interleaved<T::Real> {
        let (row, column) = ((planes::<T>() * V::LANES) as isize, self.step::<T, V>() as isize);
        let stored = Interleaved { first, row, column };
        if self.is_transposed { stored.transpose() } else { stored }
    }
}

/// The addresses of the matrices of a group, as reals.
pub(super) struct Places<R> {
    pub first: [*mut R; LANES_MAX],
    /// Reals from one column to the next.
    pub step: [usize; LANES_MAX],
    /// Whether all matrices are without gaps between their columns.
    pub is_gapless: bool,
}

impl<R> Places<R> {
    /// Returns the places of a group of `count` matrices of this form. Lanes from `count` on repeat the last matrix.
    #[inline(always)]
    pub fn of<'a, T, V>(form: Form, count: usize, view: impl Fn(usize) -> MatRef<'a, T>) -> Self
    where
        T: Scalar<Real = R> + 'a,
        V: Vector<Real = R>,
    {
        let mut places = Self { first: [std::ptr::null_mut(); LANES_MAX], step: [0; LANES_MAX], is_gapless: true };
        for lane in 0..V::LANES {
            let view = view(lane.min(count - 1));
            let step = if form.is_transposed { view.row_stride() } else { view.col_stride() };
            places.first[lane] = view.as_ptr().cast_mut().cast();
            places.step[lane] = step.wrapping_mul(planes::<T>());
            places.is_gapless &= step == form.rows || form.columns == 1;
        }
        places
    }
}

/// Prefetches the matrices of the next group, so that loading them does not wait. Measured on matrices in main memory:
/// order 8 takes two thirds of the time, order 32 the same.
#[inline(always)]
pub(super) fn prefetch_group<'a, T, V>(form: Form, next: impl Iterator<Item = MatRef<'a, T>>)
where
    T: Scalar + 'a,
    V: Vector,
{
    const LINE: usize = 64;
    let bytes = form.rows * size_of::<T>();
    for view in next.take(V::LANES) {
        let step = if form.is_transposed { view.row_stride() } else { view.col_stride() };
        let first = view.as_ptr().cast::<u8>();
        if step == form.rows {
            (0..bytes * form.columns).step_by(LINE).for_each(|at| prefetch(first.wrapping_add(at)));
            continue;
        }
        for j in 0..form.columns {
            let column = first.wrapping_add(j.wrapping_mul(step).wrapping_mul(size_of::<T>()));
            (0..bytes).step_by(LINE).for_each(|at| prefetch(column.wrapping_add(at)));
        }
    }
}
