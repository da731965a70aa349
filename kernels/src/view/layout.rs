//! Where the elements of a view lie: the arithmetic that [`MatRef`](super::MatRef) and [`MatMut`](super::MatMut) share.
//!
//! Nothing here follows a pointer, so nothing here is `unsafe`: offsets use wrapping arithmetic, and only the views,
//! which know that they are in bounds, dereference.
//!
//! No stride is longer than the slice. A dimension of at most one element, which is not stepped along, may be given a
//! longer one; it is shortened, so that kernels can compute with strides without overflow.

use super::{ViewError, ViewErrorKind};
use std::ops::Range;
use std::ptr::NonNull;
use superscalar_runtime::HostRegion;

/// What views of both kinds say of their shape and strides.
macro_rules! dimensions {
    () => {
        /// Number of rows, m.
        #[inline(always)]
        pub fn nrows(&self) -> usize {
            self.layout.m
        }

        /// Number of columns, n.
        #[inline(always)]
        pub fn ncols(&self) -> usize {
            self.layout.n
        }

        /// (m, n).
        #[inline(always)]
        pub fn shape(&self) -> (usize, usize) {
            (self.layout.m, self.layout.n)
        }

        /// Whether there is no element: m = 0 or n = 0.
        pub fn is_empty(&self) -> bool {
            self.layout.m == 0 || self.layout.n == 0
        }

        /// Elements from one row to the next.
        #[inline(always)]
        pub fn row_stride(&self) -> usize {
            self.layout.row_stride
        }

        /// Elements from one column to the next: the leading dimension of a column-major matrix.
        #[inline(always)]
        pub fn col_stride(&self) -> usize {
            self.layout.col_stride
        }
    };
}

pub(super) use dimensions;

/// Returns the elements from the first to the last of an m x n matrix with leading dimension `ld`, or None if they are
/// more than a `usize` can count. The last column needs only its m rows: LAPACK callers pass windows of larger
/// matrices.
///
/// ```
/// use superscalar::kernels::elements_spanned;
/// assert_eq!(elements_spanned((2, 3), 5), Some(12));
/// assert_eq!(elements_spanned((2, 3), usize::MAX), None);
/// ```
#[must_use]
pub fn elements_spanned((m, n): (usize, usize), ld: usize) -> Option<usize> {
    if m == 0 || n == 0 { Some(0) } else { (n - 1).checked_mul(ld)?.checked_add(m) }
}

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
    pub fn col_major(ptr: *mut T, len: usize, (m, n): (usize, usize), ld: usize) -> Result<Self, ViewError> {
        if ld < m.max(1) {
            return Err(ViewErrorKind::LeadingDimension { m, ld }.into());
        }
        let needed = elements_spanned((m, n), ld).ok_or(ViewErrorKind::TooLarge { m, n, ld })?;
        if needed > len {
            return Err(ViewErrorKind::TooShort { m, n, ld, needed, len }.into());
        }
        let ld = if m == 0 || n <= 1 { ld.min(len.max(m).max(1)) } else { ld };
        Ok(Self { ptr, m, n, row_stride: 1, col_stride: ld })
    }

    /// A matrix of any strides at `ptr`, where `len` elements are; checks that it fits and, if asked, that different
    /// elements have different addresses.
    pub fn strided(
        ptr: *mut T,
        len: usize,
        (m, n): (usize, usize),
        (row, col): (usize, usize),
        disjoint: bool,
    ) -> Result<Self, ViewError> {
        if m > 0 && n > 0 {
            let last = |count: usize, stride: usize| (count - 1).checked_mul(stride);
            let ends = last(m, row).zip(last(n, col));
            let needed = ends.and_then(|(down, across)| down.checked_add(across)?.checked_add(1));
            if needed.is_none_or(|needed| needed > len) {
                return Err(ViewErrorKind::Outside { m, n, row, col, len }.into());
            }
        }
        let is_empty = m == 0 || n == 0;
        let within = |count: usize, stride: usize| if is_empty || count <= 1 { stride.min(len) } else { stride };
        let layout = Self { ptr, m, n, row_stride: within(m, row), col_stride: within(n, col) };
        if disjoint && !layout.is_disjoint() {
            return Err(ViewErrorKind::Overlap { m, n, row, col }.into());
        }
        Ok(layout)
    }

    /// A view of another library's matrix, whose strides may be negative. A dimension of at most one element is never
    /// stepped along: its stride, which may be anything there, is replaced.
    #[cfg(any(feature = "faer", feature = "ndarray", feature = "nalgebra"))]
    pub fn foreign(
        ptr: *mut T,
        (m, n): (usize, usize),
        (row, col): (isize, isize),
        disjoint: bool,
    ) -> Result<Self, ViewError> {
        let is_empty = m == 0 || n == 0;
        let row = if is_empty || m <= 1 { 1 } else { row };
        let col = if is_empty || n <= 1 { 1 } else { col };
        let (Ok(row_stride), Ok(col_stride)) = (usize::try_from(row), usize::try_from(col)) else {
            return Err(ViewErrorKind::NegativeStride { row, col }.into());
        };
        // A column-major matrix of one column keeps a leading dimension that kernels accept.
        let col_stride = if (is_empty || n <= 1) && row_stride == 1 { m.max(1) } else { col_stride };
        let layout = Self { ptr, m, n, row_stride, col_stride };
        if disjoint && !layout.is_disjoint() {
            return Err(ViewErrorKind::Overlap { m, n, row: row_stride, col: col_stride }.into());
        }
        Ok(layout)
    }

    /// Returns the pointer and the strides as other libraries require them: not null, even if the view is empty.
    ///
    /// # Panics
    /// If the view has more than `isize::MAX` elements. Only a view whose elements overlap, or have no size, can.
    #[cfg(any(feature = "faer", feature = "ndarray", feature = "nalgebra"))]
    #[track_caller]
    pub fn exported(&self) -> (NonNull<T>, (usize, usize)) {
        let elements = self.m.max(1).checked_mul(self.n.max(1)).and_then(|elements| isize::try_from(elements).ok());
        assert!(elements.is_some(), "a view of {} x {} overlapping elements", self.m, self.n);
        match NonNull::new(self.ptr) {
            Some(ptr) if self.m > 0 && self.n > 0 => (ptr, (self.row_stride, self.col_stride)),
            _ => (NonNull::dangling(), (1, self.m.max(1))),
        }
    }

    /// Returns whether different elements have different addresses.
    fn is_disjoint(&self) -> bool {
        let Self { m, n, row_stride: row, col_stride: col, .. } = *self;
        // One stride must step over all that the other reaches; stated for the shorter one inside the longer.
        let nested = |inner: usize, count: usize, outer: usize| {
            inner > 0 && (count - 1).checked_mul(inner).is_some_and(|reach| reach < outer)
        };
        match (m, n) {
            (0, _) | (_, 0) | (1, 1) => true,
            (1, _) => col > 0,
            (_, 1) => row > 0,
            _ => nested(row, m, col) || nested(col, n, row),
        }
    }

    /// The address of element (i, j).
    #[inline(always)]
    pub fn address(&self, i: usize, j: usize) -> *mut T {
        self.ptr.wrapping_add(i.wrapping_mul(self.row_stride).wrapping_add(j.wrapping_mul(self.col_stride)))
    }

    /// Panics unless (i, j) is an element.
    #[inline(always)]
    #[track_caller]
    pub fn check(&self, i: usize, j: usize) {
        assert!(i < self.m && j < self.n, "element ({i}, {j}) of a {} x {} matrix", self.m, self.n);
    }

    /// The part at these rows and columns; panics where they leave the matrix.
    #[track_caller]
    pub fn part(&self, rows: Range<usize>, cols: Range<usize>) -> Self {
        let inside = rows.start <= rows.end && rows.end <= self.m && cols.start <= cols.end && cols.end <= self.n;
        assert!(inside, "rows {rows:?}, columns {cols:?} of a {} x {} matrix", self.m, self.n);
        Self { ptr: self.address(rows.start, cols.start), m: rows.len(), n: cols.len(), ..*self }
    }

    /// The columns as bytes; none if the elements of a column do not lie side by side, or there are none.
    pub fn columns(&self) -> Option<HostRegion> {
        let size = size_of::<T>();
        let contiguous = self.row_stride == 1 || self.m == 1;
        let base = NonNull::new(self.ptr.cast()).filter(|_| contiguous && self.m > 0 && self.n > 0)?;
        // One column has no stride to speak of.
        let stride = if self.n == 1 { self.m } else { self.col_stride };
        (stride >= self.m).then_some(HostRegion {
            base,
            row_bytes: self.m * size,
            columns: self.n,
            stride_bytes: stride * size,
        })
    }

    /// The transpose: the same memory with strides exchanged.
    pub fn transpose(&self) -> Self {
        Self { ptr: self.ptr, m: self.n, n: self.m, row_stride: self.col_stride, col_stride: self.row_stride }
    }
}
