//! [`Matrix`]: a matrix that owns its elements.

use crate::{
    Scalar,
    error::Error,
    matrix_market::{self, Entry, Market},
    memory::Shortage,
};
use superscalar_kernels::{MatMut, MatRef, NoMemory, Real, try_zeros};
use superscalar_macros::each_type;

/// An m x n matrix, column by column without gaps.
///
/// Its views, [`as_ref`](Self::as_ref) and [`as_mut`](Self::as_mut), are what the routines take. A matrix that lives elsewhere,
/// with any leading dimension, becomes a view by [`MatRef::from_col_major`] and [`MatMut::from_col_major`]; with the cargo
/// feature `faer` its views convert to and from ours.
///
/// ```
/// use superscalar::dla::Matrix;
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
    ///
    /// # Panics
    /// If there is no memory for it; [`try_zeros`](Self::try_zeros) returns an error then.
    #[must_use]
    #[track_caller]
    pub fn zeros(m: usize, n: usize) -> Self {
        match Self::allocated(m, n) {
            Ok(matrix) => matrix,
            Err(error) => panic!("{error}"),
        }
    }

    /// The same, if there is memory for it.
    ///
    /// # Errors
    /// [`Memory`](crate::ErrorKind::Memory) if the system does not give so much. (Some systems give more than they
    /// have, and end the program when it is touched.)
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

    /// What a Matrix Market file has, in dense storage, mirrored triangle included.
    ///
    /// # Errors
    /// If it takes more memory than there is, which [`bytes_needed`](matrix_market::Error::bytes_needed) tells; or if
    /// an entry is not a number of this type: it has an imaginary part, or is finite and beyond the type's range.
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

    /// The matrix whose element (i, j) is `f(i, j)`.
    ///
    /// # Panics
    /// As [`zeros`](Self::zeros).
    #[must_use]
    #[track_caller]
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

/// These functions, for one type of element.
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

/// The number of this type with these parts, or the name of the field that it is not in.
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
