//! [`MatRef`]: an immutable view of a matrix.

use super::layout::{Layout, dimensions};
use super::{MatMut, ViewError};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, Range};
use superscalar_runtime::Residence;

/// An immutable view of an m x n matrix: to a matrix what `&[T]` is to an array.
///
/// # Example
/// ```
/// use superscalar::kernels::MatRef;
///
/// let data = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let a = MatRef::from_col_major(&data, 2, 3, 2)?; // [1 3 5; 2 4 6]
/// assert_eq!(a[(1, 2)], 6.0);
/// assert_eq!(a.transpose().submatrix(1..3, 0..2).to_vec(), [3.0, 5.0, 4.0, 6.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub struct MatRef<'a, T> {
    pub(super) layout: Layout<T>,
    pub(super) borrow: PhantomData<&'a [T]>,
}

// SAFETY: a MatRef only provides `&T` to elements that it borrows, so it is `Send` exactly if `&[T]` is.
unsafe impl<T: Sync> Send for MatRef<'_, T> {}
// SAFETY: a shared reference to a MatRef only provides `&T` to elements that it borrows, and `T` is `Sync`.
unsafe impl<T: Sync> Sync for MatRef<'_, T> {}

impl<T> Clone for MatRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for MatRef<'_, T> {}

impl<'a, T> MatRef<'a, T> {
    /// Returns a view of the m x n matrix whose column j starts at `data[j * ld]`.
    ///
    /// # Errors
    /// If `ld < max(1, m)`, or if the slice ends before the last element of the last column.
    pub fn from_col_major(data: &'a [T], m: usize, n: usize, ld: usize) -> Result<Self, ViewError> {
        // `Layout` has a *mut pointer for both kinds of view; a MatRef never writes through it.
        let layout = Layout::col_major(data.as_ptr().cast_mut(), data.len(), (m, n), ld)?;
        Ok(Self { layout, borrow: PhantomData })
    }

    /// Returns a view of the matrix whose element (i, j) is `data[i * row_stride + j * col_stride]`. `shape` is (m, n),
    /// and `strides` is (row_stride, col_stride).
    ///
    /// # Errors
    /// If the slice ends before the last element.
    pub fn from_strided(data: &'a [T], shape: (usize, usize), strides: (usize, usize)) -> Result<Self, ViewError> {
        let layout = Layout::strided(data.as_ptr().cast_mut(), data.len(), shape, strides, false)?;
        Ok(Self { layout, borrow: PhantomData })
    }

    /// Returns a view of the column-major m x n matrix at `ptr`, for callers from C. The pointer of an empty matrix may
    /// be null.
    ///
    /// # Safety
    /// For each column j < n, the m elements from `ptr + j ld` on are valid for `'a`, and nobody writes them during
    /// `'a`. The memory between the columns is not accessed, so others may write it.
    ///
    /// # Panics
    /// If `ld < max(1, m)`.
    #[track_caller]
    pub unsafe fn from_raw(ptr: *const T, m: usize, n: usize, ld: usize) -> Self {
        assert!(ld >= m.max(1), "leading dimension {ld} of a matrix with {m} rows: expected at least {}", m.max(1));
        // SAFETY: by this function's contract the elements are valid for `'a`, and nobody writes them. The assertion
        // checks `ld`.
        unsafe { Self::from_address(ptr, (m, n), ld) }
    }

    /// Returns a view of the column-major m x n matrix at this address, for memory that is not a slice, such as a
    /// device's heap.
    ///
    /// # Safety
    /// Promises 1 and 3 of the module hold for `'a`, and nobody writes the elements during `'a`.
    pub(crate) unsafe fn from_address(address: *const T, (m, n): (usize, usize), ld: usize) -> Self {
        let layout = Layout { ptr: address.cast_mut(), m, n, row_stride: 1, col_stride: ld };
        Self { layout, borrow: PhantomData }
    }

    /// Returns a view without elements, of one column.
    pub(crate) fn empty() -> Self {
        let layout = Layout { ptr: std::ptr::dangling_mut(), m: 0, n: 1, row_stride: 1, col_stride: 1 };
        Self { layout, borrow: PhantomData }
    }

    dimensions!();

    /// Returns the address of element (0, 0), for foreign interfaces. It must not be dereferenced if the matrix is
    /// empty.
    #[inline(always)]
    pub fn as_ptr(&self) -> *const T {
        self.layout.ptr
    }

    /// Returns where the elements are in host memory, so that devices can hold copies of them. Returns `None` if the
    /// elements of a column are not adjacent, or if there are no elements.
    #[must_use]
    pub fn residence(&self) -> Option<Residence<'a>> {
        // SAFETY: the view borrows these elements for `'a`, so nobody writes them.
        self.layout.columns().map(|region| unsafe { Residence::read_only(region) })
    }

    /// Returns a reference to element (i, j), or `None` if it is outside the matrix.
    #[inline(always)]
    pub fn get(&self, i: usize, j: usize) -> Option<&'a T> {
        if i >= self.layout.m || j >= self.layout.n {
            return None;
        }
        // SAFETY: (i, j) is in bounds, so promise 1 of the module holds for the address. The view borrows the element
        // for `'a`, so nobody writes it meanwhile.
        Some(unsafe { &*self.layout.address(i, j) })
    }

    /// Returns a copy of element (i, j).
    ///
    /// # Panics
    /// If the element is outside the matrix.
    #[inline(always)]
    #[track_caller]
    pub fn at(&self, i: usize, j: usize) -> T
    where
        T: Copy,
    {
        self.layout.check(i, j);
        // SAFETY: (i, j) is in bounds, so promise 1 of the module holds for the address. The view borrows the element,
        // so nobody writes it meanwhile.
        unsafe { *self.layout.address(i, j) }
    }

    /// Returns the view of these rows and columns.
    ///
    /// # Panics
    /// If a range ends outside the matrix, or before its start.
    #[track_caller]
    pub fn submatrix(&self, rows: Range<usize>, cols: Range<usize>) -> Self {
        Self { layout: self.layout.part(rows, cols), borrow: PhantomData }
    }

    /// Returns row i, as a 1 x n matrix.
    ///
    /// # Panics
    /// If there is no row i.
    #[track_caller]
    pub fn row(&self, i: usize) -> Self {
        self.submatrix(i..i + 1, 0..self.ncols())
    }

    /// Returns column j, as an m x 1 matrix.
    ///
    /// # Panics
    /// If there is no column j.
    #[track_caller]
    pub fn col(&self, j: usize) -> Self {
        self.submatrix(0..self.nrows(), j..j + 1)
    }

    /// Returns column j as a slice, or `None` if its elements are not adjacent or there is no column j.
    #[inline]
    pub fn col_as_slice(&self, j: usize) -> Option<&'a [T]> {
        if j >= self.layout.n || (self.layout.row_stride != 1 && self.layout.m > 1) {
            return None;
        }
        if self.layout.m == 0 {
            return Some(&[]);
        }
        // SAFETY: promise 1 of the module holds for the m elements (0, j) .. (m - 1, j), which are adjacent since the
        // stride is 1. The view borrows them for `'a`, so nobody writes them meanwhile.
        Some(unsafe { std::slice::from_raw_parts(self.layout.address(0, j), self.layout.m) })
    }

    /// Returns the transpose, without copying.
    pub fn transpose(&self) -> Self {
        Self { layout: self.layout.transpose(), borrow: PhantomData }
    }

    /// Returns the mirror image of this part of a square matrix at the diagonal: element (i, j) of the result is
    /// the matrix's element opposite to element (i, j) of this part. The first element of this part is `below` rows
    /// below the diagonal, or, if `below` is negative, `-below` columns beside it.
    ///
    /// # Safety
    /// The promises of this view also hold for the other elements of that matrix.
    pub(crate) unsafe fn image(&self, below: isize) -> Self {
        let Layout { ptr, row_stride, col_stride, .. } = self.layout;
        let distance = below.wrapping_mul((col_stride as isize).wrapping_sub(row_stride as isize));
        let layout = Layout {
            ptr: ptr.wrapping_offset(distance),
            row_stride: col_stride,
            col_stride: row_stride,
            ..self.layout
        };
        Self { layout, borrow: PhantomData }
    }

    /// Returns the rows before row i, and the rows from row i on.
    ///
    /// # Panics
    /// If `i > m`.
    #[track_caller]
    pub fn split_at_row(&self, i: usize) -> (Self, Self) {
        (self.submatrix(0..i, 0..self.ncols()), self.submatrix(i..self.nrows(), 0..self.ncols()))
    }

    /// Returns the columns before column j, and the columns from column j on.
    ///
    /// # Panics
    /// If `j > n`.
    #[track_caller]
    pub fn split_at_col(&self, j: usize) -> (Self, Self) {
        (self.submatrix(0..self.nrows(), 0..j), self.submatrix(0..self.nrows(), j..self.ncols()))
    }

    /// Returns copies of all elements in column-major order, without padding.
    pub fn to_vec(&self) -> Vec<T>
    where
        T: Copy,
    {
        let len = self.nrows().checked_mul(self.ncols());
        // Elements of an immutable view may overlap, so their number may be larger than any allocation.
        let Some(len) = len else { panic!("capacity overflow: {} x {} elements", self.nrows(), self.ncols()) };
        let mut out = Vec::with_capacity(len);
        for j in 0..self.ncols() {
            match self.col_as_slice(j) {
                Some(col) => out.extend_from_slice(col),
                None => out.extend((0..self.nrows()).map(|i| self.at(i, j))),
            }
        }
        out
    }
}

impl<T> Index<(usize, usize)> for MatRef<'_, T> {
    type Output = T;

    /// Panics if the element is outside the matrix.
    #[inline(always)]
    #[track_caller]
    fn index(&self, (i, j): (usize, usize)) -> &T {
        self.layout.check(i, j);
        // SAFETY: (i, j) is in bounds, so promise 1 of the module holds for the address. The view borrows the element,
        // so nobody writes it meanwhile.
        unsafe { &*self.layout.address(i, j) }
    }
}

impl<'a, T> From<&'a MatMut<'_, T>> for MatRef<'a, T> {
    fn from(view: &'a MatMut<'_, T>) -> Self {
        view.as_ref()
    }
}

impl<T: fmt::Debug> fmt::Debug for MatRef<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = f.debug_list();
        for i in 0..self.nrows() {
            rows.entry(&(0..self.ncols()).map(|j| &self[(i, j)]).collect::<Vec<_>>());
        }
        rows.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_must_hold_the_matrix() {
        let x = [0u8; 8];
        assert!(MatRef::from_col_major(&x, 2, 3, 3).is_ok(), "the last column needs no padding");
        assert!(MatRef::from_col_major(&x, 3, 3, 3).is_err());
        assert!(MatRef::from_col_major(&x, 3, 1, 2).is_err());
        assert!(MatRef::from_col_major(&x, 0, 1, 0).is_err(), "LAPACK: ld >= max(1, m)");
        assert!(MatRef::from_col_major(&x, 2, usize::MAX, usize::MAX).is_err());
    }

    #[test]
    fn sizes_that_overflow_are_refused() {
        let (mut x, most) = ([0u8; 8], usize::MAX);
        // (n - 1) ld + m wraps to less than there is.
        for (m, n, ld) in
            [(2, 3, 1 << 63), (8, 2, most - 7), (1, 1 << 32, 1 << 32), (1 << 33, 1 << 31, 1 << 33), (most, 2, most)]
        {
            assert!(MatRef::from_col_major(&x, m, n, ld).is_err(), "{m} x {n}, ld {ld}");
            assert!(MatMut::from_col_major(&mut x, m, n, ld).is_err(), "{m} x {n}, ld {ld}");
        }
        for (shape, strides) in
            [((2, 2), (1 << 63, 1 << 63)), ((3, 3), (1 << 63, 1)), ((most, most), (1, 1)), ((1 << 32, 1), (1 << 32, 1))]
        {
            assert!(MatRef::from_strided(&x, shape, strides).is_err(), "{shape:?} {strides:?}");
            assert!(MatMut::from_strided(&mut x, shape, strides).is_err(), "{shape:?} {strides:?}");
        }
    }

    #[test]
    fn strides_of_one_element_are_no_longer_than_the_slice() {
        let mut x = [0u8; 8];
        let a = MatRef::from_col_major(&x, 3, 1, usize::MAX).unwrap();
        assert_eq!((a.to_vec().len(), a.col_stride()), (3, 8));
        assert_eq!(MatMut::from_col_major(&mut x, 3, 0, usize::MAX).unwrap().col_stride(), 8);
        assert_eq!(MatRef::from_col_major(&x, 3, 1, 5).unwrap().col_stride(), 5);
        let a = MatMut::from_strided(&mut x, (1, 2), (usize::MAX, 4)).unwrap();
        assert_eq!((a.row_stride(), a.col_stride()), (8, 4));
        let a = MatMut::from_strided(&mut x, (2, 1), (4, usize::MAX)).unwrap();
        assert_eq!((a.row_stride(), a.col_stride()), (4, 8));
    }

    #[test]
    #[should_panic(expected = "capacity overflow")]
    fn a_copy_of_too_many_elements_panics() {
        let _ = MatRef::from_strided(&[0u8], (1 << 33, 1 << 31), (0, 0)).unwrap().to_vec();
    }

    #[test]
    fn strides_are_checked() {
        let x: Vec<usize> = (0..12).collect();
        let a = MatRef::from_strided(&x, (2, 2), (3, 7)).unwrap();
        assert_eq!(a.to_vec(), [0, 3, 7, 10]);
        assert!(MatRef::from_strided(&x, (2, 2), (3, 9)).is_err());
        assert!(MatRef::from_strided(&x, (3, 3), (0, 1)).is_ok(), "readers may overlap");
        assert!(MatRef::from_strided(&x, (2, 2), (usize::MAX, 2)).is_err());
        let mut x = x;
        let mut fits = |shape, strides| MatMut::from_strided(&mut x, shape, strides).is_ok();
        assert!(fits((3, 2), (1, 3)) && fits((3, 2), (2, 1)) && fits((1, 5), (0, 1)));
        assert!(!fits((3, 2), (1, 2)) && !fits((3, 2), (0, 4)) && !fits((3, 2), (1, 1)));
    }

    #[test]
    fn empty_shapes_are_ordinary() {
        for (m, n) in [(0, 0), (0, 3), (3, 0)] {
            let a = MatRef::<f64>::from_col_major(&[], m, n, 3).unwrap();
            assert_eq!((a.shape(), a.is_empty(), a.to_vec().len()), ((m, n), true, 0));
            assert_eq!(a.transpose().shape(), (n, m));
            assert_eq!(a.get(0, 0), None);
        }
    }

    #[test]
    fn parts_of_parts_are_where_they_should_be() {
        let x: Vec<usize> = (0..35).collect();
        let a = MatRef::from_col_major(&x, 5, 7, 5).unwrap();
        let b = a.submatrix(1..5, 2..7).transpose().submatrix(1..4, 2..4);
        assert_eq!(b.to_vec(), [18, 23, 28, 19, 24, 29]);
        let (top, bottom) = a.split_at_row(5);
        assert_eq!((top.shape(), bottom.shape()), ((5, 7), (0, 7)));
        assert_eq!(a.row(3).to_vec()[6], 33);
        assert_eq!(a.col(6).to_vec(), [30, 31, 32, 33, 34]);
        assert_eq!(a.transpose().col_as_slice(0), None);
        assert_eq!(format!("{:?}", a.submatrix(0..2, 0..2)), "[[0, 5], [1, 6]]");
    }

    #[test]
    #[should_panic(expected = "element (0, 2) of a 2 x 2 matrix")]
    fn indexing_outside_panics() {
        let _ = MatRef::from_col_major(&[0; 6], 2, 2, 2).unwrap()[(0, 2)];
    }
}
