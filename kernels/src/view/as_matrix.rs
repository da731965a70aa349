//! [`AsMatrix`]: what the routines accept as a matrix.

use super::{MatMut, MatRef, ViewError};

/// A value that can be viewed as a matrix without copying it.
///
/// Implemented for this library's matrices and views; for slices, arrays and `Vec`s, which are matrices of one column
/// (also if their elements are arrays: `Matrix::from_rows` makes a matrix of rows); and, with the cargo features of
/// the same names, for ndarray's arrays of one and two dimensions, all of nalgebra's matrices and vectors, and faer's
/// `Mat`, `MatRef` and `MatMut`. Row-major and column-major order and any other positive strides are accepted.
///
/// ```
/// use superscalar::kernels::AsMatrix;
/// assert_eq!([1.0, 2.0, 3.0].as_matrix()?.shape(), (3, 1));
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub trait AsMatrix {
    /// The type of the elements.
    type Element;

    /// Returns a view of the matrix.
    ///
    /// # Errors
    /// If the matrix has negative strides.
    fn as_matrix(&self) -> Result<MatRef<'_, Self::Element>, ViewError>;
}

/// A value that can be viewed as a matrix and changed in place.
///
/// ```
/// use superscalar::kernels::AsMatrixMut;
/// let mut x = vec![1.0, 2.0, 3.0];
/// x.as_matrix_mut()?.fill(0.0);
/// assert_eq!(x, [0.0; 3]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub trait AsMatrixMut: AsMatrix {
    /// Returns an exclusive view of the matrix.
    ///
    /// # Errors
    /// If the matrix has negative strides, or elements that overlap.
    fn as_matrix_mut(&mut self) -> Result<MatMut<'_, Self::Element>, ViewError>;
}

impl<T> AsMatrix for MatRef<'_, T> {
    type Element = T;

    fn as_matrix(&self) -> Result<MatRef<'_, T>, ViewError> {
        Ok(*self)
    }
}

impl<T> AsMatrix for MatMut<'_, T> {
    type Element = T;

    fn as_matrix(&self) -> Result<MatRef<'_, T>, ViewError> {
        Ok(self.as_ref())
    }
}

impl<T> AsMatrixMut for MatMut<'_, T> {
    fn as_matrix_mut(&mut self) -> Result<MatMut<'_, T>, ViewError> {
        Ok(self.rb_mut())
    }
}

impl<T> AsMatrix for [T] {
    type Element = T;

    fn as_matrix(&self) -> Result<MatRef<'_, T>, ViewError> {
        MatRef::from_col_major(self, self.len(), 1, self.len().max(1))
    }
}

impl<T> AsMatrixMut for [T] {
    fn as_matrix_mut(&mut self) -> Result<MatMut<'_, T>, ViewError> {
        let m = self.len();
        MatMut::from_col_major(self, m, 1, m.max(1))
    }
}

impl<T> AsMatrix for Vec<T> {
    type Element = T;

    fn as_matrix(&self) -> Result<MatRef<'_, T>, ViewError> {
        self.as_slice().as_matrix()
    }
}

impl<T> AsMatrixMut for Vec<T> {
    fn as_matrix_mut(&mut self) -> Result<MatMut<'_, T>, ViewError> {
        self.as_mut_slice().as_matrix_mut()
    }
}

impl<T, const N: usize> AsMatrix for [T; N] {
    type Element = T;

    fn as_matrix(&self) -> Result<MatRef<'_, T>, ViewError> {
        self.as_slice().as_matrix()
    }
}

impl<T, const N: usize> AsMatrixMut for [T; N] {
    fn as_matrix_mut(&mut self) -> Result<MatMut<'_, T>, ViewError> {
        self.as_mut_slice().as_matrix_mut()
    }
}

impl<A: AsMatrix + ?Sized> AsMatrix for &A {
    type Element = A::Element;

    fn as_matrix(&self) -> Result<MatRef<'_, A::Element>, ViewError> {
        (**self).as_matrix()
    }
}

impl<A: AsMatrix + ?Sized> AsMatrix for &mut A {
    type Element = A::Element;

    fn as_matrix(&self) -> Result<MatRef<'_, A::Element>, ViewError> {
        (**self).as_matrix()
    }
}

impl<A: AsMatrixMut + ?Sized> AsMatrixMut for &mut A {
    fn as_matrix_mut(&mut self) -> Result<MatMut<'_, A::Element>, ViewError> {
        (**self).as_matrix_mut()
    }
}
