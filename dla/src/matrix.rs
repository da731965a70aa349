//! [`Matrix`]: a dense matrix that owns its elements.

use crate::{
    Scalar,
    error::Error,
    matrix_market::{self, Entry, Market},
    memory::Shortage,
};
use std::ops::{Index, IndexMut};
use superscalar_kernels::{AsMatrix, AsMatrixMut, MatMut, MatRef, NoMemory, Real, ViewError, try_zeros};
use superscalar_macros::each_type;

/// A dense m x n matrix in column-major order, without gaps between its columns.
///
/// Elements are indexed by row and column, from zero. The routines take its views, [`as_ref`](Self::as_ref) and
/// [`as_mut`](Self::as_mut). A matrix that some other code owns becomes a view by [`MatRef::from_col_major`] and
/// [`MatMut::from_col_major`], whatever its leading dimension. With the cargo features `ndarray`, `nalgebra` and
/// `faer`, views convert from and to the views of these libraries, and a `Matrix` into an `Array2` or a
/// `DMatrix`.
///
/// ```
/// use superscalar::dla::Matrix;
/// let mut a = Matrix::from_rows([[0.0, 1.0, 2.0], [10.0, 11.0, 12.0]]);
/// a[(0, 2)] = 7.0;
/// assert_eq!(a[(1, 0)], 10.0);
/// assert_eq!(a.into_vec(), [0.0, 10.0, 1.0, 11.0, 7.0, 12.0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<T> {
    data: Vec<T>,
    m: usize,
    n: usize,
}

impl<T: Scalar> Matrix<T> {
    /// Returns an m x n matrix of zeros. A large matrix uses large pages where the system has them.
    ///
    /// # Panics
    /// If the memory cannot be allocated; [`try_zeros`](Self::try_zeros) returns an error instead.
    #[must_use]
    #[track_caller]
    pub fn zeros(m: usize, n: usize) -> Self {
        match Self::allocated(m, n) {
            Ok(matrix) => matrix,
            Err(error) => panic!("{error}"),
        }
    }

    /// Like [`zeros`](Self::zeros), but returns an error if the memory cannot be allocated.
    ///
    /// # Errors
    /// [`Memory`](crate::ErrorKind::Memory) if the allocation fails. Systems that overcommit memory may grant more
    /// than they have, and end the program when it is used.
    ///
    /// ```
    /// use superscalar::dla::{ErrorKind, Matrix};
    /// let error = Matrix::<f64>::try_zeros(1 << 33, 1 << 31).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Memory);
    /// assert!(error.to_string().contains("takes 147573952589676412928 bytes (128.0 EiB)"));
    /// ```
    pub fn try_zeros(m: usize, n: usize) -> Result<Self, Error> {
        Ok(Self::allocated(m, n)?)
    }

    fn allocated(m: usize, n: usize) -> Result<Self, NoMemory> {
        Ok(Self { data: allocate(m, n)?, m, n })
    }

    /// Stores the contents of a Matrix Market file densely. For symmetric formats both triangles are filled.
    ///
    /// # Errors
    /// If the matrix needs more memory than can be allocated ([`bytes_needed`](matrix_market::Error::bytes_needed)
    /// says how much), or an entry is not representable in this type: it has an imaginary part, or it is finite and
    /// out of range.
    ///
    /// ```
    /// use superscalar::dla::{Matrix, matrix_market};
    ///
    /// let text = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4.0\n2 1 -1.5\n";
    /// let a = Matrix::<f64>::from_market(&matrix_market::read(text.as_bytes())?)?;
    /// assert_eq!(a.into_vec(), [4.0, -1.5, -1.5, 0.0]);
    ///
    /// let huge = "%%MatrixMarket matrix coordinate real general\n10000000 10000000 0\n";
    /// let error = Matrix::<f64>::from_market(&matrix_market::read(huge.as_bytes())?).unwrap_err();
    /// assert_eq!(error.bytes_needed(), Some(800_000_000_000_000));
    /// # Ok::<(), matrix_market::Error>(())
    /// ```
    pub fn from_market(market: &Market) -> Result<Self, matrix_market::Error> {
        from_market(market)
    }

    /// Returns the m x n matrix whose element (i, j) is `f(i, j)`.
    ///
    /// # Panics
    /// If the memory cannot be allocated.
    #[must_use]
    #[track_caller]
    pub fn from_fn(m: usize, n: usize, mut f: impl FnMut(usize, usize) -> T) -> Self {
        let mut matrix = Self::zeros(m, n);
        for (j, column) in matrix.data.chunks_exact_mut(m.max(1)).enumerate() {
            column.iter_mut().enumerate().for_each(|(i, x)| *x = f(i, j));
        }
        matrix
    }

    /// Returns the identity matrix of order n.
    ///
    /// # Panics
    /// If the memory cannot be allocated.
    #[must_use]
    #[track_caller]
    pub fn identity(n: usize) -> Self {
        let mut matrix = Self::zeros(n, n);
        matrix.data.iter_mut().step_by(n + 1).for_each(|x| *x = T::ONE);
        matrix
    }

    /// Returns the matrix with these rows, as it is written on paper.
    ///
    /// # Panics
    /// If the memory cannot be allocated.
    #[must_use]
    #[track_caller]
    pub fn from_rows<const M: usize, const N: usize>(rows: [[T; N]; M]) -> Self {
        Self::from_fn(M, N, |i, j| rows[i][j])
    }

    /// Copies a view into a matrix of its own.
    ///
    /// # Errors
    /// [`Memory`](crate::ErrorKind::Memory) if the memory cannot be allocated.
    pub fn copy_of(a: MatRef<'_, T>) -> Result<Self, Error> {
        let mut matrix = Self::try_zeros(a.nrows(), a.ncols())?;
        matrix.as_mut().copy_from(a);
        Ok(matrix)
    }

    /// Returns element (i, j).
    ///
    /// # Panics
    /// If the matrix has no such element.
    #[must_use]
    #[track_caller]
    pub fn at(&self, i: usize, j: usize) -> T {
        self.as_ref().at(i, j)
    }
}

/// The functions of this module that are compiled once for each element type.
#[each_type]
pub trait Storage: HasAllocate + HasFromMarket {}

#[each_type]
fn allocate<T: Scalar>(m: usize, n: usize) -> Result<Vec<T>, NoMemory> {
    try_zeros(m, n)
}

#[each_type]
fn from_market<T: Scalar>(market: &Market) -> Result<Matrix<T>, matrix_market::Error> {
    let shape = market.shape();
    if let Some(shortage) = Shortage::of((shape.m, shape.n), size_of::<T>()) {
        return Err(no_memory(&shortage));
    }
    let matrix = Matrix::allocated(shape.m, shape.n);
    let mut matrix = matrix.map_err(|error| no_memory(&error.into()))?;
    let (mut view, mut outcome) = (matrix.as_mut(), Ok(()));
    market.fill(|i, j, re, im| match narrow(re, im) {
        Ok(x) => view[(i, j)] = x,
        Err(field) if outcome.is_ok() => {
            outcome = Err(matrix_market::Error::not_in_field(Entry { i, j, re, im }, field));
        }
        Err(_) => {}
    });
    outcome.map(|()| matrix)
}

fn no_memory(shortage: &Shortage) -> matrix_market::Error {
    matrix_market::Error::no_memory(shortage.bytes(), shortage)
}

impl<T> Matrix<T> {
    /// Makes a matrix of m x n elements in column-major order, without copying them.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if there are not m n elements.
    ///
    /// ```
    /// use superscalar::dla::Matrix;
    /// let a = Matrix::from_vec(2, 2, vec![1.0, 2.0, 3.0, 4.0])?;
    /// assert_eq!(a[(0, 1)], 3.0);
    /// assert!(Matrix::from_vec(2, 2, vec![1.0]).is_err());
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    pub fn from_vec(m: usize, n: usize, data: Vec<T>) -> Result<Self, Error> {
        if m.checked_mul(n) != Some(data.len()) {
            return Err(Error::shape(format!("a {m} x {n} matrix does not have {} elements", data.len())));
        }
        Ok(Self { data, m, n })
    }

    /// Returns a view of the whole matrix.
    #[must_use]
    pub fn as_ref(&self) -> MatRef<'_, T> {
        let Self { data, m, n } = self;
        MatRef::from_col_major(data, *m, *n, (*m).max(1)).unwrap_or_else(|_| unreachable!("m n elements without gaps"))
    }

    /// Returns an exclusive view of the whole matrix.
    pub fn as_mut(&mut self) -> MatMut<'_, T> {
        let Self { data, m, n } = self;
        MatMut::from_col_major(data, *m, *n, (*m).max(1)).unwrap_or_else(|_| unreachable!("m n elements without gaps"))
    }

    /// Returns the number of rows, m.
    #[must_use]
    pub fn nrows(&self) -> usize {
        self.m
    }

    /// Returns the number of columns, n.
    #[must_use]
    pub fn ncols(&self) -> usize {
        self.n
    }

    /// Returns the shape, (m, n).
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.m, self.n)
    }

    /// Returns the elements in column-major order.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.data
    }

    /// Returns the elements in column-major order, and consumes the matrix.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.data
    }
}

impl<T> Index<(usize, usize)> for Matrix<T> {
    type Output = T;

    /// Returns element (i, j).
    ///
    /// # Panics
    /// If the matrix has no such element.
    #[track_caller]
    fn index(&self, (i, j): (usize, usize)) -> &T {
        assert!(i < self.m && j < self.n, "element ({i}, {j}) of a {} x {} matrix", self.m, self.n);
        &self.data[i + j * self.m]
    }
}

impl<T> IndexMut<(usize, usize)> for Matrix<T> {
    #[track_caller]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        assert!(i < self.m && j < self.n, "element ({i}, {j}) of a {} x {} matrix", self.m, self.n);
        &mut self.data[i + j * self.m]
    }
}

impl<T> AsMatrix for Matrix<T> {
    type Element = T;

    fn as_matrix(&self) -> Result<MatRef<'_, T>, ViewError> {
        Ok(self.as_ref())
    }
}

impl<T> AsMatrixMut for Matrix<T> {
    fn as_matrix_mut(&mut self) -> Result<MatMut<'_, T>, ViewError> {
        Ok(self.as_mut())
    }
}

#[cfg(feature = "ndarray")]
impl<T> From<Matrix<T>> for ndarray::Array2<T> {
    /// Takes the elements over without copying them; the array is in column-major order.
    ///
    /// # Panics
    /// If the matrix is empty, with a dimension beyond `isize::MAX`, which ndarray does not have.
    fn from(a: Matrix<T>) -> Self {
        let shape = ndarray::ShapeBuilder::f(a.shape());
        Self::from_shape_vec(shape, a.data).unwrap_or_else(|error| panic!("a matrix as an array: {error}"))
    }
}

#[cfg(feature = "nalgebra")]
impl<T: nalgebra::Scalar> From<Matrix<T>> for nalgebra::DMatrix<T> {
    /// Takes the elements over without copying them.
    fn from(a: Matrix<T>) -> Self {
        let (m, n) = a.shape();
        Self::from_vec(m, n, a.data)
    }
}

/// Returns the number of type T with these parts, or the name of the number type that cannot hold them.
fn narrow<T: Scalar>(re: f64, im: f64) -> Result<T, &'static str> {
    // A NaN is not zero either.
    if !T::COMPLEX && im != 0.0 {
        return Err("real");
    }
    let [narrow_re, narrow_im] = [re, im].map(|part| T::from_f64(part).re());
    if [(re, narrow_re), (im, narrow_im)].iter().any(|(wide, narrow)| wide.is_finite() && !narrow.to_f64().is_finite())
    {
        return Err("a 32-bit float");
    }
    Ok(T::from_parts(narrow_re, narrow_im))
}
