//! [`MatMut`]: a matrix that may be written.

use super::layout::{Layout, dimensions};
use super::{MatRef, Tiles, ViewError};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut, Range};
use superscalar_runtime::Residence;

/// An m x n matrix that may be written: to a matrix what `&mut [T]` is to an array.
///
/// Methods that take `self` give the view up for its parts; [`MatMut::rb_mut`] lends it for a shorter time instead.
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

// SAFETY: a MatMut owns access to its elements alone, so it crosses threads exactly as `&mut [T]` does.
unsafe impl<T: Send> Send for MatMut<'_, T> {}
// SAFETY: a shared MatMut gives out nothing but `&T`.
unsafe impl<T: Sync> Sync for MatMut<'_, T> {}

impl<'a, T> MatMut<'a, T> {
    /// The m x n matrix whose column j starts at `data[j * ld]`.
    ///
    /// # Errors
    /// `ld < max(1, m)`, or a slice shorter than the last column's last element.
    pub fn from_col_major(data: &'a mut [T], m: usize, n: usize, ld: usize) -> Result<Self, ViewError> {
        let layout = Layout::col_major(data.as_mut_ptr(), data.len(), (m, n), ld)?;
        Ok(Self { layout, borrow: PhantomData })
    }

    /// The matrix whose element (i, j) is `data[i * row_stride + j * col_stride]`, for `shape` (m, n) and `strides`
    /// (row, column).
    ///
    /// # Errors
    /// A slice that does not hold the last element, or strides under which elements may overlap.
    pub fn from_strided(data: &'a mut [T], shape: (usize, usize), strides: (usize, usize)) -> Result<Self, ViewError> {
        let layout = Layout::strided(data.as_mut_ptr(), data.len(), shape, strides, true)?;
        Ok(Self { layout, borrow: PhantomData })
    }

    /// The column-major m x n matrix at `ptr`, for callers from C. An empty one may be at null.
    ///
    /// # Safety
    /// For as long as `'a` the m elements from `ptr + j ld` on are valid for each column j < n, and nobody else reads
    /// or writes them. What is between the columns is not touched: others may use it meanwhile.
    ///
    /// # Panics
    /// When `ld < max(1, m)`.
    #[track_caller]
    pub unsafe fn from_raw(ptr: *mut T, m: usize, n: usize, ld: usize) -> Self {
        assert!(ld >= m.max(1), "leading dimension {ld} of a matrix with {m} rows");
        // SAFETY: the elements are there from the address of the first on, and nobody else reaches them, as this
        // function asks for.
        unsafe { Self::from_address(ptr, (m, n), ld) }
    }

    /// The column-major m x n matrix at this address, for memory that no slice stands for: a device's heap.
    ///
    /// # Safety
    /// The promises 1 to 3 of the module for as long as `'a`; `ld` is at least m.
    pub(crate) unsafe fn from_address(address: *mut T, (m, n): (usize, usize), ld: usize) -> Self {
        let layout = Layout { ptr: address, m, n, row_stride: 1, col_stride: ld };
        Self { layout, borrow: PhantomData }
    }

    dimensions!();

    /// The address of element (0, 0), for foreign interfaces. Not to be followed when the matrix is empty.
    #[inline(always)]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.layout.ptr
    }

    /// The same matrix to read, for as long as this view is lent.
    #[allow(clippy::should_implement_trait)] // AsRef returns a reference, and a view is not one.
    #[inline(always)]
    pub fn as_ref(&self) -> MatRef<'_, T> {
        MatRef { layout: self.layout, borrow: PhantomData }
    }

    /// The same matrix to write, for as long as this view is lent.
    #[inline(always)]
    pub fn rb_mut(&mut self) -> MatMut<'_, T> {
        MatMut { layout: self.layout, borrow: PhantomData }
    }

    /// The same matrix to read, for good.
    pub fn into_ref(self) -> MatRef<'a, T> {
        MatRef { layout: self.layout, borrow: PhantomData }
    }

    /// Where the elements are, for devices to hold copies of; none if columns are not contiguous, or there are no
    /// elements.
    #[must_use]
    pub fn residence(&self) -> Option<Residence<'_>> {
        // SAFETY: the view borrows these elements exclusively, and any bytes are elements.
        self.layout.columns().map(|region| unsafe { Residence::new(region) })
    }

    /// Element (i, j), or `None` outside of the matrix.
    #[inline(always)]
    pub fn get(&self, i: usize, j: usize) -> Option<&T> {
        self.as_ref().get(i, j)
    }

    /// Element (i, j) to write, or `None` outside of the matrix.
    #[inline(always)]
    pub fn get_mut(&mut self, i: usize, j: usize) -> Option<&mut T> {
        if i >= self.layout.m || j >= self.layout.n {
            return None;
        }
        // SAFETY: in bounds, so promise 1 of the module holds for the address; exclusive by promise 2 while self is
        // lent.
        Some(unsafe { &mut *self.layout.address(i, j) })
    }

    /// A copy of element (i, j).
    ///
    /// # Panics
    /// Outside of the matrix.
    #[inline(always)]
    #[track_caller]
    pub fn at(&self, i: usize, j: usize) -> T
    where
        T: Copy,
    {
        self.as_ref().at(i, j)
    }

    /// The part at these rows and columns, giving up the rest. Lend the view first (`a.rb_mut().submatrix(..)`) to
    /// keep it.
    ///
    /// # Panics
    /// When a range leaves the matrix or runs backwards.
    #[track_caller]
    pub fn submatrix(self, rows: Range<usize>, cols: Range<usize>) -> Self {
        Self { layout: self.layout.part(rows, cols), borrow: PhantomData }
    }

    /// Row i, as a 1 x n matrix.
    ///
    /// # Panics
    /// When there is no row i.
    #[track_caller]
    pub fn row(self, i: usize) -> Self {
        let n = self.ncols();
        self.submatrix(i..i + 1, 0..n)
    }

    /// Column j, as an m x 1 matrix.
    ///
    /// # Panics
    /// When there is no column j.
    #[track_caller]
    pub fn col(self, j: usize) -> Self {
        let m = self.nrows();
        self.submatrix(0..m, j..j + 1)
    }

    /// Column j as a slice to write, or `None` where its elements are not adjacent (or there is no column j).
    #[inline]
    pub fn col_as_slice_mut(&mut self, j: usize) -> Option<&mut [T]> {
        if j >= self.layout.n || (self.layout.row_stride != 1 && self.layout.m > 1) {
            return None;
        }
        if self.layout.m == 0 {
            return Some(&mut []);
        }
        // SAFETY: promises 1 and 2 of the module for the m elements (0, j) .. (m - 1, j), which the stride of 1 makes
        // adjacent; exclusive while self is lent.
        Some(unsafe { std::slice::from_raw_parts_mut(self.layout.address(0, j), self.layout.m) })
    }

    /// The transpose, without moving anything.
    pub fn transpose(self) -> Self {
        Self { layout: self.layout.transpose(), borrow: PhantomData }
    }

    /// The rows before row i, and the rows from it on.
    ///
    /// # Panics
    /// When `i > m`.
    #[track_caller]
    pub fn split_at_row(self, i: usize) -> (Self, Self) {
        let (m, n) = self.shape();
        // Disjoint rows of a matrix whose elements all have different addresses: promise 2 holds for both parts.
        let (top, bottom) = (self.layout.part(0..i, 0..n), self.layout.part(i..m, 0..n));
        (Self { layout: top, borrow: PhantomData }, Self { layout: bottom, borrow: PhantomData })
    }

    /// The columns before column j, and the columns from it on.
    ///
    /// # Panics
    /// When `j > n`.
    #[track_caller]
    pub fn split_at_col(self, j: usize) -> (Self, Self) {
        let (left, right) = self.transpose().split_at_row(j);
        (left.transpose(), right.transpose())
    }

    /// The matrix cut into tiles of mb x nb, ragged at the lower and right edges.
    ///
    /// # Panics
    /// When mb or nb is 0.
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

    /// Copies every element of `source`, which must have this shape.
    ///
    /// # Panics
    /// When the shapes differ.
    #[track_caller]
    pub fn copy_from(&mut self, source: MatRef<'_, T>)
    where
        T: Copy,
    {
        assert_eq!(self.shape(), source.shape(), "copy between matrices of different shapes");
        self.for_each_col(|j, col| match (col, source.col_as_slice(j)) {
            (Column::Slice(x), Some(y)) => x.copy_from_slice(y),
            (Column::Slice(x), None) => x.iter_mut().enumerate().for_each(|(i, x)| *x = source.at(i, j)),
            (Column::Strided(mut x), _) => (0..x.nrows()).for_each(|i| x[(i, 0)] = source.at(i, j)),
        });
    }

    /// Calls `body` on each column, as a slice where its elements are adjacent.
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

/// A column to write: adjacent elements, or a strided m x 1 matrix.
enum Column<'a, T> {
    Slice(&'a mut [T]),
    Strided(MatMut<'a, T>),
}

impl<T> Index<(usize, usize)> for MatMut<'_, T> {
    type Output = T;

    /// Panics outside of the matrix.
    #[inline(always)]
    #[track_caller]
    fn index(&self, (i, j): (usize, usize)) -> &T {
        self.layout.check(i, j);
        // SAFETY: in bounds, so promise 1 of the module holds for the address; shared while self is.
        unsafe { &*self.layout.address(i, j) }
    }
}

impl<T> IndexMut<(usize, usize)> for MatMut<'_, T> {
    /// Panics outside of the matrix.
    #[inline(always)]
    #[track_caller]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        self.layout.check(i, j);
        // SAFETY: in bounds, so promise 1 of the module holds for the address; exclusive by promise 2 while self is
        // lent.
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
