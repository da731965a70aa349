//! Conversions to and from faer's views, which carry the same pointer, shape and strides.

use super::layout::Layout;
use super::{AsMatrix, AsMatrixMut, MatMut, MatRef, ViewError};
use std::marker::PhantomData;

/// A stride as faer has it. A dimension of at most one element is never stepped along, so a stride too large for
/// `isize` (which only such a dimension can have) becomes 0.
fn stride(elements: usize) -> isize {
    isize::try_from(elements).unwrap_or(0)
}

/// # Panics
/// If the view has more than `isize::MAX` elements, which needs elements that overlap.
impl<'a, T> From<MatRef<'a, T>> for faer::MatRef<'a, T> {
    #[track_caller]
    fn from(a: MatRef<'a, T>) -> Self {
        let (ptr, (rs, cs)) = a.layout.exported();
        // SAFETY: both views promise the same of the same pointer, shape, strides and lifetime; the pointer is not
        // null.
        unsafe { Self::from_raw_parts(ptr.as_ptr(), a.nrows(), a.ncols(), stride(rs), stride(cs)) }
    }
}

/// # Panics
/// If the view has more than `isize::MAX` elements, which needs elements without a size.
impl<'a, T> From<MatMut<'a, T>> for faer::MatMut<'a, T> {
    #[track_caller]
    fn from(a: MatMut<'a, T>) -> Self {
        let (ptr, (rs, cs)) = a.layout.exported();
        // SAFETY: as for shared views. The exclusive view is consumed, so this is the only one.
        unsafe { Self::from_raw_parts_mut(ptr.as_ptr(), a.nrows(), a.ncols(), stride(rs), stride(cs)) }
    }
}

impl<'a, T> TryFrom<faer::MatRef<'a, T>> for MatRef<'a, T> {
    type Error = ViewError;

    /// Refuses views with negative strides.
    fn try_from(a: faer::MatRef<'a, T>) -> Result<Self, ViewError> {
        let strides = (a.row_stride(), a.col_stride());
        let layout = Layout::foreign(a.as_ptr().cast_mut(), a.shape(), strides, false)?;
        Ok(Self { layout, borrow: PhantomData })
    }
}

impl<'a, T> TryFrom<faer::MatMut<'a, T>> for MatMut<'a, T> {
    type Error = ViewError;

    /// Refuses views with negative strides.
    fn try_from(a: faer::MatMut<'a, T>) -> Result<Self, ViewError> {
        let strides = (a.row_stride(), a.col_stride());
        let layout = Layout::foreign(a.as_ptr_mut(), a.shape(), strides, true)?;
        Ok(Self { layout, borrow: PhantomData })
    }
}
impl<T> AsMatrix for faer::Mat<T> {
    type Element = T;

    fn as_matrix(&self) -> Result<MatRef<'_, T>, ViewError> {
        self.as_ref().try_into()
    }
}

impl<T> AsMatrixMut for faer::Mat<T> {
    fn as_matrix_mut(&mut self) -> Result<MatMut<'_, T>, ViewError> {
        self.as_mut().try_into()
    }
}

impl<T> AsMatrix for faer::MatRef<'_, T> {
    type Element = T;

    fn as_matrix(&self) -> Result<MatRef<'_, T>, ViewError> {
        (*self).try_into()
    }
}

impl<T> AsMatrix for faer::MatMut<'_, T> {
    type Element = T;

    fn as_matrix(&self) -> Result<MatRef<'_, T>, ViewError> {
        self.as_ref().try_into()
    }
}

impl<T> AsMatrixMut for faer::MatMut<'_, T> {
    fn as_matrix_mut(&mut self) -> Result<MatMut<'_, T>, ViewError> {
        self.as_mut().try_into()
    }
}
