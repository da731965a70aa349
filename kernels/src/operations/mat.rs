//! [`Mat`]: a matrix in a device's heap.

use super::Shape;
use crate::{Scalar, elements_spanned};
use std::{marker::PhantomData, ops::Range};
use superscalar_runtime::DeviceRegion;

/// An m x n matrix in a device's heap, column major.
#[derive(Debug, PartialEq, Eq)]
pub struct Mat<T> {
    /// Elements from the heap's start to the first of the matrix.
    pub offset: usize,
    /// Number of rows.
    pub m: usize,
    /// Number of columns.
    pub n: usize,
    /// Elements from one column to the next.
    pub ld: usize,
    element: PhantomData<T>,
}

impl<T> Clone for Mat<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Mat<T> {}

impl<T> Mat<T> {
    /// Makes the matrix whose columns are those of the region.
    #[must_use]
    pub fn new(region: DeviceRegion) -> Self {
        let size = size_of::<T>();
        Self {
            offset: region.offset / size,
            m: region.row_bytes / size,
            n: region.columns,
            ld: (region.stride_bytes / size).max(1),
            element: PhantomData,
        }
    }

    /// Makes a column-major m x n matrix that begins at element `offset` of the heap.
    #[must_use]
    pub fn at(offset: usize, (m, n): (usize, usize), ld: usize) -> Self {
        Self { offset, m, n, ld, element: PhantomData }
    }

    /// Returns the matrix with another type for its elements, which are those of the same place.
    pub(super) fn retyped<E>(self) -> Mat<E> {
        debug_assert_eq!(size_of::<E>(), size_of::<T>());
        Mat::at(self.offset, self.shape(), self.ld)
    }

    /// Returns a part of the matrix.
    ///
    /// # Panics
    /// If the matrix does not have these rows or columns.
    #[must_use]
    pub fn submatrix(self, rows: Range<usize>, cols: Range<usize>) -> Self {
        let Self { offset, m, n, ld, .. } = self;
        assert!(rows.start <= rows.end && rows.end <= m, "rows {rows:?} of {m}");
        assert!(cols.start <= cols.end && cols.end <= n, "columns {cols:?} of {n}");
        let offset = offset + rows.start + cols.start * ld;
        Self { offset, m: rows.len(), n: cols.len(), ld, element: PhantomData }
    }

    /// Returns the numbers of rows and columns.
    #[must_use]
    pub fn shape(self) -> (usize, usize) {
        (self.m, self.n)
    }

    /// Returns the elements from the first to the last one. Numbers that overflow saturate.
    pub(super) fn span(self) -> usize {
        elements_spanned(self.shape(), self.ld).unwrap_or(usize::MAX)
    }

    /// Returns the columns as a region in bytes. Sizes that overflow saturate.
    #[must_use]
    pub fn region(self) -> DeviceRegion {
        let bytes = |elements: usize| elements.saturating_mul(size_of::<T>());
        let Self { offset, m, n, ld, .. } = self;
        DeviceRegion { offset: bytes(offset), row_bytes: bytes(m), columns: n, stride_bytes: bytes(ld) }
    }
}

impl<T: Scalar> Shape for Mat<T> {
    type Element = T;

    fn shape(&self) -> (usize, usize) {
        (self.m, self.n)
    }
}
