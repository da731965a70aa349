//! The methods of [`Linalg`](crate::Linalg) on a chosen runtime.

use crate::{
    Cholesky, Error, LogDeterminant, Lq, Lu, Qr, Solver,
    dla::{MatMut, MatRef, Matrix, Norm, Op, Scalar, Uplo},
    kernels::AsMatrix,
};

impl Solver {
    /// Factors A = L Lᴴ or Uᴴ U; see [`Linalg::cholesky`](crate::Linalg::cholesky). A [`Matrix`] is factored in
    /// place, a reference copied.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`](crate::ErrorKind::NotPositiveDefinite), [`Shape`](crate::ErrorKind::Shape).
    pub fn cholesky<T: Scalar>(&self, a: impl IntoMatrix<Element = T>, uplo: Uplo) -> Result<Cholesky<T>, Error> {
        Cholesky::new(self, uplo, a.into_matrix()?)
    }

    /// Factors A = P L U; see [`Linalg::lu`](crate::Linalg::lu). A [`Matrix`] is factored in place, a reference copied.
    ///
    /// # Errors
    /// [`Singular`](crate::ErrorKind::Singular), [`Shape`](crate::ErrorKind::Shape).
    pub fn lu<T: Scalar>(&self, a: impl IntoMatrix<Element = T>) -> Result<Lu<T>, Error> {
        Lu::new(self, a.into_matrix()?)
    }

    /// Factors A = Q R; see [`Linalg::qr`](crate::Linalg::qr). A [`Matrix`] is factored in place, a reference copied.
    ///
    /// # Errors
    /// If memory or the runtime fails.
    pub fn qr<T: Scalar>(&self, a: impl IntoMatrix<Element = T>) -> Result<Qr<T>, Error> {
        Qr::new(self, a.into_matrix()?)
    }

    /// Factors A = L Q; see [`Linalg::lq`](crate::Linalg::lq). A [`Matrix`] is factored in place, a reference copied.
    ///
    /// # Errors
    /// If memory or the runtime fails.
    pub fn lq<T: Scalar>(&self, a: impl IntoMatrix<Element = T>) -> Result<Lq<T>, Error> {
        Lq::new(self, a.into_matrix()?)
    }

    /// Solves A X = B; see [`Linalg::solve`](crate::Linalg::solve).
    ///
    /// # Errors
    /// [`Singular`](crate::ErrorKind::Singular), [`Shape`](crate::ErrorKind::Shape).
    pub fn solve<T: Scalar>(
        &self,
        a: impl IntoMatrix<Element = T>,
        b: impl IntoMatrix<Element = T>,
    ) -> Result<Matrix<T>, Error> {
        let (mut a, mut b) = (a.into_matrix()?, b.into_matrix()?);
        let (m, n) = a.shape();
        if m != n {
            return Err(Error::shape(format!("solve: A is {m} x {n}, not square")));
        }
        let mut ipiv = vec![0; n];
        self.gesv(a.as_mut(), &mut ipiv, b.as_mut())?;
        Ok(b)
    }

    /// Solves least-squares problems, or finds solutions of least norm; see
    /// [`Linalg::least_squares`](crate::Linalg::least_squares).
    ///
    /// # Errors
    /// [`Singular`](crate::ErrorKind::Singular), [`Shape`](crate::ErrorKind::Shape).
    pub fn least_squares<T: Scalar>(
        &self,
        a: impl IntoMatrix<Element = T>,
        b: impl IntoMatrix<Element = T>,
    ) -> Result<Matrix<T>, Error> {
        let (a, b) = (a.into_matrix()?, b.into_matrix()?);
        if a.nrows() >= a.ncols() { self.qr(a)?.solve(&b) } else { self.lq(a)?.solve(&b) }
    }

    /// Returns A B; see [`Linalg::matmul`](crate::Linalg::matmul).
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape).
    pub fn matmul<T, A, B>(&self, a: &A, b: &B) -> Result<Matrix<T>, Error>
    where
        T: Scalar,
        A: AsMatrix<Element = T> + ?Sized,
        B: AsMatrix<Element = T> + ?Sized,
    {
        let (a, b) = (a.as_matrix()?, b.as_matrix()?);
        let mut c = Matrix::try_zeros(a.nrows(), b.ncols())?;
        self.gemm(T::ONE, Op::None, a, Op::None, b, T::ZERO, c.as_mut())?;
        Ok(c)
    }

    /// Returns the determinant; see [`Linalg::determinant`](crate::Linalg::determinant).
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape).
    pub fn determinant<T: Scalar>(&self, a: impl IntoMatrix<Element = T>) -> Result<T, Error> {
        Ok(self.lu_or_singular(a)?.map_or(T::ZERO, |lu| lu.determinant()))
    }

    /// Returns the logarithm of the determinant; see [`Linalg::log_determinant`](crate::Linalg::log_determinant).
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape).
    pub fn log_determinant<T: Scalar>(&self, a: impl IntoMatrix<Element = T>) -> Result<LogDeterminant<T>, Error> {
        Ok(self.lu_or_singular(a)?.map_or_else(LogDeterminant::singular, |lu| lu.log_determinant()))
    }

    /// Estimates the condition number; see [`Linalg::condition_number`](crate::Linalg::condition_number).
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape).
    pub fn condition_number<T: Scalar>(&self, a: impl IntoMatrix<Element = T>) -> Result<T::Real, Error> {
        let infinity = <T::Real as crate::kernels::Scalar>::from_f64(f64::INFINITY);
        Ok(self.lu_or_singular(a)?.map_or(infinity, |lu| lu.condition_number()))
    }

    fn lu_or_singular<T: Scalar>(&self, a: impl IntoMatrix<Element = T>) -> Result<Option<Lu<T>>, Error> {
        match self.lu(a) {
            Ok(lu) => Ok(Some(lu)),
            Err(error) if error.kind() == crate::ErrorKind::Singular => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns a norm of A; see [`lange`](Self::lange) and its siblings for symmetric and triangular matrices.
    ///
    /// # Errors
    /// If the runtime fails.
    pub fn norm<T: Scalar, A: AsMatrix<Element = T> + ?Sized>(&self, a: &A, norm: Norm) -> Result<T::Real, Error> {
        self.lange(norm, a.as_matrix()?)
    }
}

/// An argument that a routine may change or keep: a [`Matrix`] or `Vec`, which is taken over, or a view or a
/// reference to anything that is a matrix, which is copied.
pub trait IntoMatrix {
    /// The type of the elements.
    type Element;

    /// Returns the matrix.
    ///
    /// # Errors
    /// [`Memory`](crate::ErrorKind::Memory) if a copy cannot be allocated.
    fn into_matrix(self) -> Result<Matrix<Self::Element>, Error>;
}

impl<T> IntoMatrix for Matrix<T> {
    type Element = T;

    fn into_matrix(self) -> Result<Self, Error> {
        Ok(self)
    }
}

impl<A: AsMatrix<Element: Scalar> + ?Sized> IntoMatrix for &A {
    type Element = A::Element;

    fn into_matrix(self) -> Result<Matrix<A::Element>, Error> {
        Ok(Matrix::copy_of(self.as_matrix()?)?)
    }
}

impl<T> IntoMatrix for Vec<T> {
    type Element = T;

    fn into_matrix(self) -> Result<Matrix<T>, Error> {
        Ok(Matrix::from_vec(self.len(), 1, self)?)
    }
}

impl<T: Scalar> IntoMatrix for MatRef<'_, T> {
    type Element = T;

    fn into_matrix(self) -> Result<Matrix<T>, Error> {
        Ok(Matrix::copy_of(self)?)
    }
}

impl<T: Scalar> IntoMatrix for MatMut<'_, T> {
    type Element = T;

    fn into_matrix(self) -> Result<Matrix<T>, Error> {
        Ok(Matrix::copy_of(self.as_ref())?)
    }
}
