//! [`MatMut`]: a mutable view of a matrix.

use super::layout::{Layout, dimensions};
use super::{MatRef, Tiles, ViewError};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut, Range};
use superscalar_runtime::Residence;

/// A mutable view of an m x n matrix: to a matrix what `&mut [T]` is to an array.
///
/// Methods that take `self` consume the view and return parts of it. To keep the view, call them on a reborrow
/// ([`MatMut::rb_mut`]).
///
/// # Example
/// ```
/// use superscalar::kernels::MatMut;
///
/// let mut data = [0; 6];
/// let mut a = MatMut::from_col_major(&mut data, 2, 3, 2)?;
/// a[(1, 0)] = 7;
/// let (mut left, right) = a.rb_mut().split_at_col(2);
/// left.fill(1);
/// assert_eq!(right.shape(), (2, 1));
/// assert_eq!(a.as_ref().to_vec(), [1, 1, 1, 1, 0, 0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub struct MatMut<'a, T> {
    pub(super) layout: Layout<T>,
    pub(super) borrow: PhantomData<&'a mut [T]>,
}

// SAFETY: a MatMut has exclusive access to its elements for its lifetime, so it is `Send` exactly if `&mut [T]` is.
unsafe impl<T: Send> Send for MatMut<'_, T> {}
// SAFETY: a shared reference to a MatMut only provides `&T`, so it is `Sync` exactly if `&mut [T]` is.
unsafe impl<T: Sync> Sync for MatMut<'_, T> {}

impl<'a, T> MatMut<'a, T> {
    /// Returns a view of the m x n matrix whose column j starts at `data[j * ld]`.
    ///
    /// # Errors
    /// If `ld < max(1, m)`, or if the slice ends before the last element of the last column.
    pub fn from_col_major(data: &'a mut [T], m: usize, n: usize, ld: usize) -> Result<Self, ViewError> {
        let layout = Layout::col_major(data.as_mut_ptr(), data.len(), (m, n), ld)?;
        Ok(Self { layout, borrow: PhantomData })
    }

    /// Returns a view of the matrix whose element (i, j) is `data[i * row_stride + j * col_stride]`. `shape` is (m, n),
    /// and `strides` is (row_stride, col_stride).
    ///
    /// # Errors
    /// If the slice ends before the last element, or if elements may overlap with these strides.
    pub fn from_strided(data: &'a mut [T], shape: (usize, usize), strides: (usize, usize)) -> Result<Self, ViewError> {
        let layout = Layout::strided(data.as_mut_ptr(), data.len(), shape, strides, true)?;
        Ok(Self { layout, borrow: PhantomData })
    }

    /// Returns a view of the column-major m x n matrix at `ptr`, for callers from C. The pointer of an empty matrix may
    /// be null.
    ///
    /// # Safety
    /// For each column j < n, the m elements from `ptr + j ld` on are valid for `'a`, and nobody else reads or writes
    /// them during `'a`. The memory between the columns is not accessed, so others may use it.
    ///
    /// # Panics
    /// If `ld < max(1, m)`.
    #[track_caller]
    pub unsafe fn from_raw(ptr: *mut T, m: usize, n: usize, ld: usize) -> Self {
        assert!(ld >= m.max(1), "leading dimension {ld} of a matrix with {m} rows: expected at least {}", m.max(1));
        // SAFETY: by this function's contract the elements are valid for `'a`, and nobody else accesses them, which are
        // promises 1 and 2. The assertion checks `ld`.
        unsafe { Self::from_address(ptr, (m, n), ld) }
    }

    /// Returns a view of the column-major m x n matrix at this address, for memory that is not a slice, such as a
    /// device's heap.
    ///
    /// # Safety
    /// Promises 1 to 3 of the module hold for `'a`, and `ld` is at least m.
    pub(crate) unsafe fn from_address(address: *mut T, (m, n): (usize, usize), ld: usize) -> Self {
        let layout = Layout { ptr: address, m, n, row_stride: 1, col_stride: ld };
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
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.layout.ptr
    }

    /// Borrows this view and returns an immutable view of the whole matrix.
    #[allow(clippy::should_implement_trait)] // AsRef returns a reference, and a view is not one.
    #[inline(always)]
    pub fn as_ref(&self) -> MatRef<'_, T> {
        MatRef { layout: self.layout, borrow: PhantomData }
    }

    /// Reborrows this view: returns a mutable view of the whole matrix with a shorter lifetime.
    #[inline(always)]
    pub fn rb_mut(&mut self) -> MatMut<'_, T> {
        MatMut { layout: self.layout, borrow: PhantomData }
    }

    /// Converts this view into an immutable one with the same lifetime.
    pub fn into_ref(self) -> MatRef<'a, T> {
        MatRef { layout: self.layout, borrow: PhantomData }
    }

    /// Returns where the elements are in host memory, so that devices can hold copies of them. Returns `None` if the
    /// elements of a column are not adjacent, or if there are no elements.
    #[must_use]
    pub fn residence(&self) -> Option<Residence<'_>> {
        // SAFETY: the view borrows these elements exclusively for as long as the residence borrows the view, and any
        // bytes are valid elements.
        self.layout.columns().map(|region| unsafe { Residence::new(region) })
    }

    /// Returns a reference to element (i, j), or `None` if it is outside the matrix.
    #[inline(always)]
    pub fn get(&self, i: usize, j: usize) -> Option<&T> {
        self.as_ref().get(i, j)
    }

    /// Returns a mutable reference to element (i, j), or `None` if it is outside the matrix.
    #[inline(always)]
    pub fn get_mut(&mut self, i: usize, j: usize) -> Option<&mut T> {
        if i >= self.layout.m || j >= self.layout.n {
            return None;
        }
        // SAFETY: (i, j) is in bounds, so promise 1 of the module holds for the address. The reference borrows `self`
        // mutably, so by promise 2 nobody else accesses the element meanwhile.
        Some(unsafe { &mut *self.layout.address(i, j) })
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
        self.as_ref().at(i, j)
    }

    /// Returns the view of these rows and columns, and gives up the rest. To keep the rest, reborrow the view first:
    /// `a.rb_mut().submatrix(..)`.
    ///
    /// # Panics
    /// If a range ends outside the matrix, or before its start.
    #[track_caller]
    pub fn submatrix(self, rows: Range<usize>, cols: Range<usize>) -> Self {
        Self { layout: self.layout.part(rows, cols), borrow: PhantomData }
    }

    /// Returns row i, as a 1 x n matrix.
    ///
    /// # Panics
    /// If there is no row i.
    #[track_caller]
    pub fn row(self, i: usize) -> Self {
        let n = self.ncols();
        self.submatrix(i..i + 1, 0..n)
    }

    /// Returns column j, as an m x 1 matrix.
    ///
    /// # Panics
    /// If there is no column j.
    #[track_caller]
    pub fn col(self, j: usize) -> Self {
        let m = self.nrows();
        self.submatrix(0..m, j..j + 1)
    }

    /// Returns column j as a mutable slice, or `None` if its elements are not adjacent or there is no column j.
    #[inline]
    pub fn col_as_slice_mut(&mut self, j: usize) -> Option<&mut [T]> {
        if j >= self.layout.n || (self.layout.row_stride != 1 && self.layout.m > 1) {
            return None;
        }
        if self.layout.m == 0 {
            return Some(&mut []);
        }
        // SAFETY: promises 1 and 2 of the module hold for the m elements (0, j) .. (m - 1, j), which are adjacent since
        // the stride is 1. The slice borrows `self` mutably, so the access is exclusive.
        Some(unsafe { std::slice::from_raw_parts_mut(self.layout.address(0, j), self.layout.m) })
    }

    /// Returns the transpose, without copying.
    pub fn transpose(self) -> Self {
        Self { layout: self.layout.transpose(), borrow: PhantomData }
    }

    /// Returns the rows before row i, and the rows from row i on.
    ///
    /// # Panics
    /// If `i > m`.
    #[track_caller]
    pub fn split_at_row(self, i: usize) -> (Self, Self) {
        let (m, n) = self.shape();
        // The parts have disjoint rows, and all elements have different addresses, so promise 2 holds for both.
        let (top, bottom) = (self.layout.part(0..i, 0..n), self.layout.part(i..m, 0..n));
        (Self { layout: top, borrow: PhantomData }, Self { layout: bottom, borrow: PhantomData })
    }

    /// Returns the columns before column j, and the columns from column j on.
    ///
    /// # Panics
    /// If `j > n`.
    #[track_caller]
    pub fn split_at_col(self, j: usize) -> (Self, Self) {
        let (left, right) = self.transpose().split_at_row(j);
        (left.transpose(), right.transpose())
    }

    /// Cuts the matrix into tiles of mb x nb elements; tiles at the lower and right edges may be smaller.
    ///
    /// # Panics
    /// If mb or nb is 0.
    ///
    /// # Example
    /// ```
    /// # use superscalar::kernels::MatMut;
    /// let mut data = [0; 15];
    /// let tiles = MatMut::from_col_major(&mut data, 5, 3, 5)?.into_tiles(2, 2);
    /// assert_eq!((tiles.mt(), tiles.nt()), (3, 2));
    /// assert_eq!(tiles[(2, 1)].shape(), (1, 1));
    /// # Ok::<(), superscalar::kernels::ViewError>(())
    /// ```
    #[track_caller]
    pub fn into_tiles(self, mb: usize, nb: usize) -> Tiles<'a, T> {
        Tiles::cut(self, mb, nb)
    }

    /// Sets every element to `value`.
    pub fn fill(&mut self, value: T)
    where
        T: Copy,
    {
        self.for_each_col(|_, col| match col {
            Column::Slice(x) => x.fill(value),
            Column::Strided(mut x) => (0..x.nrows()).for_each(|i| x[(i, 0)] = value),
        });
    }

    /// Copies every element from `source`, which must have the same shape.
    ///
    /// # Panics
    /// If the shapes differ.
    #[track_caller]
    pub fn copy_from(&mut self, source: MatRef<'_, T>)
    where
        T: Copy,
    {
        assert_eq!(self.shape(), source.shape(), "a copy between matrices of different shapes: expected equal shapes");
        self.for_each_col(|j, col| match (col, source.col_as_slice(j)) {
            (Column::Slice(x), Some(y)) => x.copy_from_slice(y),
            (Column::Slice(x), None) => x.iter_mut().enumerate().for_each(|(i, x)| *x = source.at(i, j)),
            (Column::Strided(mut x), _) => (0..x.nrows()).for_each(|i| x[(i, 0)] = source.at(i, j)),
        });
    }

    /// Calls `body` with the index of each column and the column, as a slice if its elements are adjacent.
    fn for_each_col(&mut self, mut body: impl FnMut(usize, Column<'_, T>)) {
        for j in 0..self.ncols() {
            if self.row_stride() == 1 {
                let col = self.col_as_slice_mut(j).unwrap_or_default();
                body(j, Column::Slice(col));
            } else {
                body(j, Column::Strided(self.rb_mut().col(j)));
            }
        }
    }
}

/// A mutable column: a slice of adjacent elements, or a strided m x 1 matrix.
enum Column<'a, T> {
    Slice(&'a mut [T]),
    Strided(MatMut<'a, T>),
}

impl<T> Index<(usize, usize)> for MatMut<'_, T> {
    type Output = T;

    /// Panics if the element is outside the matrix.
    #[inline(always)]
    #[track_caller]
    fn index(&self, (i, j): (usize, usize)) -> &T {
        self.layout.check(i, j);
        // SAFETY: (i, j) is in bounds, so promise 1 of the module holds for the address. The reference borrows `self`,
        // so by promise 2 nobody writes the element meanwhile.
        unsafe { &*self.layout.address(i, j) }
    }
}

impl<T> IndexMut<(usize, usize)> for MatMut<'_, T> {
    /// Panics if the element is outside the matrix.
    #[inline(always)]
    #[track_caller]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        self.layout.check(i, j);
        // SAFETY: (i, j) is in bounds, so promise 1 of the module holds for the address. The reference borrows `self`
        // mutably, so by promise 2 nobody else accesses the element meanwhile.
        unsafe { &mut *self.layout.address(i, j) }
    }
}

impl<T: fmt::Debug> fmt::Debug for MatMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fill_and_copy_leave_padding_alone() {
        let mut x = [9; 12];
        let mut a = MatMut::from_col_major(&mut x, 3, 3, 4).unwrap();
        a.fill(0);
        let y = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        let b = MatRef::from_col_major(&y, 3, 3, 3).unwrap();
        a.rb_mut().transpose().copy_from(b);
        assert_eq!(a.as_ref().transpose().to_vec(), y);
        a.copy_from(b.transpose());
        assert_eq!(x, [1, 4, 7, 9, 2, 5, 8, 9, 3, 6, 9, 9]);
    }

    #[test]
    fn empty_matrices_can_be_written() {
        for (m, n) in [(0, 0), (0, 3), (3, 0)] {
            let mut a = MatMut::<f64>::from_col_major(&mut [], m, n, 3).unwrap();
            a.fill(1.0);
            a.rb_mut().transpose().fill(1.0);
            assert!(a.get_mut(0, 0).is_none());
            assert!(a.into_tiles(2, 2).is_empty());
        }
    }
}
