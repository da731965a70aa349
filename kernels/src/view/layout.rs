//! Where the elements of a view lie: the arithmetic that [`MatRef`](super::MatRef) and [`MatMut`](super::MatMut) share.
//!
//! Nothing here follows a pointer, so nothing here is `unsafe`: offsets use wrapping arithmetic, and only the views,
//! which know that they are in bounds, dereference.

use super::{ViewError, ViewErrorKind};
use std::ops::Range;

/// Pointer, shape and strides in elements.
pub(super) struct Layout<T> {
    pub ptr: *mut T,
    pub m: usize,
    pub n: usize,
    pub row_stride: usize,
    pub col_stride: usize,
}

impl<T> Clone for Layout<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Layout<T> {}

impl<T> Layout<T> {
    /// A column-major matrix at `ptr`, where `len` elements are; checks that it fits.
    pub fn col_major(
        ptr: *mut T,
        len: usize,
        (m, n): (usize, usize),
        ld: usize,
    ) -> Result<Self, ViewError> {
        if ld < m.max(1) {
            return Err(ViewErrorKind::LeadingDimension { m, ld }.into());
        }
        // The last column needs only its m rows: LAPACK callers pass windows of larger matrices.
        let needed = match (m, n) {
            (0, _) | (_, 0) => Some(0),
            _ => (n - 1).checked_mul(ld).and_then(|x| x.checked_add(m)),
        };
        let needed = needed.ok_or(ViewErrorKind::TooLarge { m, n, ld })?;
        if needed > len {
            return Err(ViewErrorKind::TooShort {
                m,
                n,
                ld,
                needed,
                len,
            }
            .into());
        }
        Ok(Self {
            ptr,
            m,
            n,
            row_stride: 1,
            col_stride: ld,
        })
    }

    /// The address of element (i, j).
    #[inline(always)]
    pub fn address(&self, i: usize, j: usize) -> *mut T {
        self.ptr.wrapping_add(
            i.wrapping_mul(self.row_stride)
                .wrapping_add(j.wrapping_mul(self.col_stride)),
        )
    }

    /// Panics unless (i, j) is an element.
    #[inline(always)]
    #[track_caller]
    pub fn check(&self, i: usize, j: usize) {
        assert!(
            i < self.m && j < self.n,
            "element ({i}, {j}) of a {} x {} matrix",
            self.m,
            self.n
        );
    }

    /// The part at these rows and columns; panics where they leave the matrix.
    #[track_caller]
    pub fn part(&self, rows: Range<usize>, cols: Range<usize>) -> Self {
        let inside = rows.start <= rows.end
            && rows.end <= self.m
            && cols.start <= cols.end
            && cols.end <= self.n;
        assert!(
            inside,
            "rows {rows:?}, columns {cols:?} of a {} x {} matrix",
            self.m, self.n
        );
        Self {
            ptr: self.address(rows.start, cols.start),
            m: rows.len(),
            n: cols.len(),
            ..*self
        }
    }

    /// The transpose: the same memory with strides exchanged.
    pub fn transpose(&self) -> Self {
        Self {
            ptr: self.ptr,
            m: self.n,
            n: self.m,
            row_stride: self.col_stride,
            col_stride: self.row_stride,
        }
    }
}
