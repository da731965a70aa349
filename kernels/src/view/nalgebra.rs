//! Conversions to and from nalgebra's views, which carry the same pointer, shape and strides.

use super::layout::Layout;
use super::{AsMatrix, AsMatrixMut, MatMut, MatRef, ViewError};
use nalgebra::{Dim, Dyn, Matrix, MatrixView, MatrixViewMut, RawStorage, RawStorageMut, ViewStorage, ViewStorageMut};
use std::marker::PhantomData;

/// A view with any number of rows and columns, and any strides.
type StridedView<'a, T> = MatrixView<'a, T, Dyn, Dyn, Dyn, Dyn>;
type StridedViewMut<'a, T> = MatrixViewMut<'a, T, Dyn, Dyn, Dyn, Dyn>;

/// A stride as `Layout::foreign` takes it. One that is too large belongs to a dimension of at most one element, and
/// is not used.
fn strides((row, col): (usize, usize)) -> (isize, isize) {
    let signed = |stride| isize::try_from(stride).unwrap_or(0);
    (signed(row), signed(col))
}

impl<T, R: Dim, C: Dim, S: RawStorage<T, R, C>> AsMatrix for Matrix<T, R, C, S> {
    type Element = T;

    fn as_matrix(&self) -> Result<MatRef<'_, T>, ViewError> {
        let layout = Layout::foreign(self.as_ptr().cast_mut(), self.shape(), strides(self.strides()), false)?;
        Ok(MatRef { layout, borrow: PhantomData })
    }
}

impl<T, R: Dim, C: Dim, S: RawStorageMut<T, R, C>> AsMatrixMut for Matrix<T, R, C, S> {
    fn as_matrix_mut(&mut self) -> Result<MatMut<'_, T>, ViewError> {
        let (shape, strides) = (self.shape(), strides(self.strides()));
        let layout = Layout::foreign(self.as_mut_ptr(), shape, strides, true)?;
        Ok(MatMut { layout, borrow: PhantomData })
    }
}

/// # Panics
/// If the view has more than `isize::MAX` elements, which needs elements that overlap.
impl<'a, T> From<MatRef<'a, T>> for StridedView<'a, T> {
    #[track_caller]
    fn from(a: MatRef<'a, T>) -> Self {
        let (ptr, (rs, cs)) = a.layout.exported();
        // SAFETY: both views promise the same of the same pointer, shape, strides and lifetime.
        let storage =
            unsafe { ViewStorage::from_raw_parts(ptr.as_ptr(), (Dyn(a.nrows()), Dyn(a.ncols())), (Dyn(rs), Dyn(cs))) };
        Self::from_data(storage)
    }
}

/// # Panics
/// If the view has more than `isize::MAX` elements, which needs elements without a size.
impl<'a, T> From<MatMut<'a, T>> for StridedViewMut<'a, T> {
    #[track_caller]
    fn from(a: MatMut<'a, T>) -> Self {
        let (ptr, (rs, cs)) = a.layout.exported();
        let (shape, strides) = ((Dyn(a.nrows()), Dyn(a.ncols())), (Dyn(rs), Dyn(cs)));
        // SAFETY: as for shared views. The exclusive view is consumed, so this is the only one.
        Self::from_data(unsafe { ViewStorageMut::from_raw_parts(ptr.as_ptr(), shape, strides) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector, Matrix3};

    #[test]
    fn matrices_and_parts_are_viewed_without_copies() -> Result<(), ViewError> {
        let a = DMatrix::from_fn(4, 5, |i, j| (10 * i + j) as f64);
        let view = a.as_matrix()?;
        assert_eq!((view.shape(), view.as_ptr(), view.at(3, 4)), ((4, 5), a.as_ptr(), 34.0));
        let part = a.view((1, 2), (2, 3));
        assert_eq!(part.as_matrix()?.to_vec(), part.iter().copied().collect::<Vec<_>>());
        assert_eq!(StridedView::from(part.as_matrix()?), part);
        assert_eq!(a.row(2).as_matrix()?.to_vec(), [20.0, 21.0, 22.0, 23.0, 24.0]);
        assert_eq!(Matrix3::<f32>::identity().as_matrix()?.at(2, 2), 1.0);
        assert_eq!(DVector::from_vec(vec![1.0, 2.0]).as_matrix()?.shape(), (2, 1));
        assert_eq!(DMatrix::<f64>::zeros(0, 3).as_matrix()?.shape(), (0, 3));
        Ok(())
    }

    #[test]
    fn changes_arrive_in_the_matrix() -> Result<(), ViewError> {
        let mut a = DMatrix::<f64>::zeros(3, 4);
        a.view_mut((0, 1), (3, 2)).as_matrix_mut()?.fill(5.0);
        assert_eq!(a.sum(), 30.0);
        StridedViewMut::from(a.as_matrix_mut()?).fill(1.0);
        assert_eq!(a.sum(), 12.0);
        Ok(())
    }

    #[test]
    fn overlapping_elements_are_refused() {
        let mut x = [1.0, 2.0, 3.0];
        let (shape, strides) = ((Dyn(2), Dyn(2)), (Dyn(1), Dyn(1)));
        // SAFETY: the elements at 0, 1 and 2 exist; nothing is changed through the view.
        let mut a =
            StridedViewMut::from_data(unsafe { ViewStorageMut::from_raw_parts(x.as_mut_ptr(), shape, strides) });
        assert!(a.as_matrix_mut().unwrap_err().to_string().contains("overlap"));
    }
}
