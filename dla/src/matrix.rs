//! [`Matrix`]: a matrix that owns its elements.

use superscalar_kernels::{MatMut, MatRef, Scalar, zeros};

/// An m x n matrix, column by column without gaps.
///
/// Its views, [`as_ref`](Self::as_ref) and [`as_mut`](Self::as_mut), are what the routines take. A matrix that lives elsewhere,
/// with any leading dimension, becomes a view by [`MatRef::from_col_major`] and [`MatMut::from_col_major`], and faer's views
/// convert to and from ours.
///
/// ```
/// use superscalar_dla::Matrix;
/// let mut a = Matrix::from_fn(2, 3, |i, j| (10 * i + j) as f64);
/// a.as_mut().col(2).fill(7.0);
/// assert_eq!(a.into_vec(), [0.0, 10.0, 1.0, 11.0, 7.0, 7.0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<T> {
    data: Vec<T>,
    m: usize,
    n: usize,
}

impl<T: Scalar> Matrix<T> {
    /// An m x n matrix of zeros; a large one is on large pages, if the system has them.
    #[must_use]
    pub fn zeros(m: usize, n: usize) -> Self {
        Self { data: zeros(m * n), m, n }
    }

    /// The matrix whose element (i, j) is `f(i, j)`.
    #[must_use]
    pub fn from_fn(m: usize, n: usize, mut f: impl FnMut(usize, usize) -> T) -> Self {
        let mut matrix = Self::zeros(m, n);
        for (j, column) in matrix.data.chunks_exact_mut(m.max(1)).enumerate() {
            column.iter_mut().enumerate().for_each(|(i, x)| *x = f(i, j));
        }
        matrix
    }

    /// Element (i, j).
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn at(&self, i: usize, j: usize) -> T {
        self.as_ref().at(i, j)
    }
}

impl<T> Matrix<T> {
    /// A view to read.
    #[must_use]
    pub fn as_ref(&self) -> MatRef<'_, T> {
        let Self { data, m, n } = self;
        MatRef::from_col_major(data, *m, *n, (*m).max(1)).unwrap_or_else(|_| unreachable!("m n elements without gaps"))
    }

    /// A view to change.
    pub fn as_mut(&mut self) -> MatMut<'_, T> {
        let Self { data, m, n } = self;
        MatMut::from_col_major(data, *m, *n, (*m).max(1)).unwrap_or_else(|_| unreachable!("m n elements without gaps"))
    }

    /// Number of rows.
    #[must_use]
    pub fn nrows(&self) -> usize {
        self.m
    }

    /// Number of columns.
    #[must_use]
    pub fn ncols(&self) -> usize {
        self.n
    }

    /// The elements, column by column.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.data
    }

    /// The same, taken out.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.data
    }
}
