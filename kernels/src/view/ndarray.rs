//! Conversions to and from ndarray's views, which carry the same pointer, shape and strides.

use super::layout::Layout;
use super::{AsMatrix, AsMatrixMut, MatMut, MatRef, ViewError};
use ndarray::{ArrayBase, ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, Data, DataMut, Ix1, Ix2, ShapeBuilder};
use std::marker::PhantomData;

impl<'a, T> TryFrom<ArrayView2<'a, T>> for MatRef<'a, T> {
    type Error = ViewError;

    /// Refuses views with negative strides.
    fn try_from(a: ArrayView2<'a, T>) -> Result<Self, ViewError> {
        let strides = (a.strides()[0], a.strides()[1]);
        let layout = Layout::foreign(a.as_ptr().cast_mut(), a.dim(), strides, false)?;
        Ok(Self { layout, borrow: PhantomData })
    }
}

impl<'a, T> TryFrom<ArrayViewMut2<'a, T>> for MatMut<'a, T> {
    type Error = ViewError;

    /// Refuses views with negative strides.
    fn try_from(mut a: ArrayViewMut2<'a, T>) -> Result<Self, ViewError> {
        let strides = (a.strides()[0], a.strides()[1]);
        let layout = Layout::foreign(a.as_mut_ptr(), a.dim(), strides, true)?;
        Ok(Self { layout, borrow: PhantomData })
    }
}

impl<'a, T> TryFrom<ArrayView1<'a, T>> for MatRef<'a, T> {
    type Error = ViewError;

    /// Makes a matrix of one column. Refuses views with a negative stride.
    fn try_from(x: ArrayView1<'a, T>) -> Result<Self, ViewError> {
        let layout = Layout::foreign(x.as_ptr().cast_mut(), (x.len(), 1), (x.strides()[0], 1), false)?;
        Ok(Self { layout, borrow: PhantomData })
    }
}

impl<'a, T> TryFrom<ArrayViewMut1<'a, T>> for MatMut<'a, T> {
    type Error = ViewError;

    /// Makes a matrix of one column. Refuses views with a negative stride.
    fn try_from(mut x: ArrayViewMut1<'a, T>) -> Result<Self, ViewError> {
        let layout = Layout::foreign(x.as_mut_ptr(), (x.len(), 1), (x.strides()[0], 1), true)?;
        Ok(Self { layout, borrow: PhantomData })
    }
}

/// # Panics
/// If the view has more than `isize::MAX` elements, which needs elements that overlap.
impl<'a, T> From<MatRef<'a, T>> for ArrayView2<'a, T> {
    #[track_caller]
    fn from(a: MatRef<'a, T>) -> Self {
        let (ptr, strides) = a.layout.exported();
        // SAFETY: the view's elements are valid and shared for `'a`. The pointer is aligned and not null, the strides
        // are not negative, and the number of elements fits `isize`.
        unsafe { Self::from_shape_ptr(a.shape().strides(strides), ptr.as_ptr()) }
    }
}

/// # Panics
/// If the view has more than `isize::MAX` elements, which needs elements without a size.
impl<'a, T> From<MatMut<'a, T>> for ArrayViewMut2<'a, T> {
    #[track_caller]
    fn from(a: MatMut<'a, T>) -> Self {
        let (ptr, strides) = a.layout.exported();
        // SAFETY: as for shared views. The exclusive view is consumed, so this is the only one, and its elements do not
        // overlap.
        unsafe { Self::from_shape_ptr(a.shape().strides(strides), ptr.as_ptr()) }
    }
}

impl<T, S: Data<Elem = T>> AsMatrix for ArrayBase<S, Ix2> {
    type Element = T;

    fn as_matrix(&self) -> Result<MatRef<'_, T>, ViewError> {
        self.view().try_into()
    }
}

impl<T, S: DataMut<Elem = T>> AsMatrixMut for ArrayBase<S, Ix2> {
    fn as_matrix_mut(&mut self) -> Result<MatMut<'_, T>, ViewError> {
        self.view_mut().try_into()
    }
}

impl<T, S: Data<Elem = T>> AsMatrix for ArrayBase<S, Ix1> {
    type Element = T;

    fn as_matrix(&self) -> Result<MatRef<'_, T>, ViewError> {
        self.view().try_into()
    }
}

impl<T, S: DataMut<Elem = T>> AsMatrixMut for ArrayBase<S, Ix1> {
    fn as_matrix_mut(&mut self) -> Result<MatMut<'_, T>, ViewError> {
        self.view_mut().try_into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, Array2, s};

    #[test]
    fn orders_and_slices_are_viewed_without_copies() -> Result<(), ViewError> {
        let a = Array2::from_shape_fn((4, 6), |(i, j)| (10 * i + j) as f64);
        let columns = Array2::from_shape_fn((4, 6).f(), |(i, j)| (10 * i + j) as f64);
        let part = a.slice(s![1..;2, ..4]);
        for (view, expected) in [(a.view(), a.view()), (columns.view(), a.view()), (part, part), (a.t(), a.t())] {
            let matrix = view.as_matrix()?;
            assert_eq!((matrix.shape(), matrix.as_ptr()), (view.dim(), view.as_ptr()));
            assert!(expected.indexed_iter().all(|((i, j), &x)| matrix.at(i, j) == x));
            assert_eq!(ArrayView2::from(matrix), expected);
        }
        assert_eq!(Array1::from(vec![1.0, 2.0]).as_matrix()?.shape(), (2, 1));
        Ok(())
    }

    #[test]
    fn changes_arrive_in_the_array() -> Result<(), ViewError> {
        let mut a = Array2::<f64>::zeros((3, 4));
        a.slice_mut(s![.., 1..3]).as_matrix_mut()?.fill(5.0);
        assert_eq!(a.sum(), 30.0);
        ArrayViewMut2::from(a.as_matrix_mut()?).fill(1.0);
        assert_eq!(a.sum(), 12.0);
        let mut x = Array1::<f64>::zeros(5);
        x.slice_mut(s![..;2]).as_matrix_mut()?.fill(1.0);
        assert_eq!(x.to_vec(), [1.0, 0.0, 1.0, 0.0, 1.0]);
        Ok(())
    }

    #[test]
    fn negative_strides_are_refused_unless_unused() {
        let a = Array2::from_shape_fn((3, 3), |(i, j)| (i + j) as f64);
        assert!(a.slice(s![..;-1, ..]).as_matrix().unwrap_err().to_string().contains("negative strides"));
        assert_eq!(a.slice(s![1..2;-1, ..]).as_matrix().map(|row| row.shape()), Ok((1, 3)));
        let broadcast = a.row(0);
        let broadcast = broadcast.broadcast((3, 3)).expect("three rows");
        assert_eq!(broadcast.as_matrix().map(|rows| rows.at(2, 1)), Ok(1.0));
        let empty = Array2::<f64>::zeros((0, 3));
        assert_eq!(empty.as_matrix().map(|a| a.shape()), Ok((0, 3)));
        assert_eq!(ArrayView2::from(empty.as_matrix().expect("it is empty")).dim(), (0, 3));
        assert_eq!(a.slice(s![..;-1, 0..0]).as_matrix().map(|none| none.shape()), Ok((3, 0)));
    }

    #[test]
    fn empty_views_have_a_pointer_that_is_not_null() -> Result<(), ViewError> {
        let x = [1_u8];
        // A leading dimension with which the second column would be at address zero.
        let ld = (x.as_ptr() as usize).wrapping_neg();
        let none = MatRef::from_col_major(&x[..0], 0, 2, ld)?.submatrix(0..0, 1..2);
        assert!(Some(ArrayView2::from(none)).is_some());
        assert_eq!(ArrayView2::from(MatRef::<f64>::from_col_major(&[], 0, 3, usize::MAX)?).dim(), (0, 3));
        assert_eq!(ArrayView2::from(MatRef::<f64>::from_strided(&[], (3, 0), (usize::MAX, 7))?).dim(), (3, 0));
        Ok(())
    }

    #[test]
    #[should_panic(expected = "overlapping elements")]
    fn more_elements_than_addresses_are_refused() {
        let shape = (3, 0x5555_5555_5555_5556);
        let _ = ArrayView2::from(MatRef::from_strided(&[7_u8], shape, (0, 0)).expect("one element, many times"));
    }
}
