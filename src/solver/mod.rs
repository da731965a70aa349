//! [`Solver`]: linear algebra on a chosen runtime, with chosen options.

mod auxiliary;
mod factor;
mod level3;

use crate::{
    Cholesky, Error, LogDeterminant, Lq, Lu, Qr, Runtime,
    dla::{Matrix, Norm, Op, Options, Scalar, Uplo},
    kernels::AsMatrix,
};
use std::sync::Arc;

/// Returns the runtime of the process, which is started at first use from the environment (`SUPERSCALAR_WORKERS`,
/// `SUPERSCALAR_DEVICES` and the other settings of the README). It ends with the process, which completes its trace.
///
/// A program that wants other settings makes the runtime itself: before the first use by
/// [`process::set_runtime`](crate::process::set_runtime), or for some of its work by a [`Solver`].
///
/// # Errors
/// If a setting in the environment is invalid, or a device or thread cannot be had. The next call tries again.
///
/// ```
/// let rt = superscalar::global_runtime()?;
/// assert!(rt.workers() >= 1);
/// # Ok::<(), superscalar::Error>(())
/// ```
pub fn global_runtime() -> Result<Arc<Runtime>, Error> {
    crate::process::runtime_or_start(|| Ok(crate::devices::builder()?.build()?))
}

/// A runtime together with the options of the routines that run on it.
///
/// Its methods are of two kinds. Those with names of words ([`cholesky`](Self::cholesky), [`solve`](Self::solve))
/// return new values and leave their arguments alone, but a [`Matrix`] that is given away is factored in place. Those
/// with LAPACK's names ([`potrf`](Self::potrf), [`gemm`](Self::gemm)) work in place on views, as the routines of
/// [`dla`](crate::dla) do that have the same names.
///
/// A solver is cheap to clone: clones share the runtime, and so do the factorizations that it makes.
///
/// ```
/// use superscalar::{dla::Options, prelude::*};
///
/// let rt = Runtime::builder().workers(2).build()?;
/// let solver = Solver::new(rt).with_options(Options::default().nb(64));
/// let a = Matrix::from_fn(200, 200, |i, j| if i == j { 200.0 } else { 1.0 });
/// let f = solver.cholesky(a, Uplo::Upper)?; // no copy: `a` is given away
/// let x = f.solve(&[399.0; 200])?;
/// assert!((x[(7, 0)] - 1.0_f64).abs() < 1e-12);
/// # Ok::<(), superscalar::Error>(())
/// ```
#[derive(Clone)]
pub struct Solver {
    runtime: Arc<Runtime>,
    options: Options,
}

impl Solver {
    /// Returns a solver on this runtime, with the default options. The runtime may be owned or an `Arc` of it.
    pub fn new(runtime: impl Into<Arc<Runtime>>) -> Self {
        Self { runtime: runtime.into(), options: Options::default() }
    }

    /// Returns a solver on [the runtime of the process](global_runtime), with the default options.
    ///
    /// # Errors
    /// As for [`global_runtime`].
    pub fn global() -> Result<Self, Error> {
        Ok(Self::new(global_runtime()?))
    }

    /// Returns the solver with other options: tile sizes, distribution over devices.
    #[must_use]
    pub fn with_options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// Returns the runtime, for scopes beside the solver's routines.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Returns the options of the routines.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

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
        let mut ipiv = vec![0; a.nrows()];
        self.gesv(a.as_mut(), &mut ipiv, b.as_mut())?;
        Ok(b)
    }

    /// Solves least-squares problems, or finds solutions of least norm; see
    /// [`Linalg::least_squares`](crate::Linalg::least_squares).
    ///
    /// # Errors
    /// [`Singular`](crate::ErrorKind::Singular), [`Shape`](crate::ErrorKind::Shape).
    pub fn least_squares<T: Scalar, B: AsMatrix<Element = T> + ?Sized>(
        &self,
        a: impl IntoMatrix<Element = T>,
        b: &B,
    ) -> Result<Matrix<T>, Error> {
        let a = a.into_matrix()?;
        if a.nrows() >= a.ncols() { self.qr(a)?.solve(b) } else { self.lq(a)?.solve(b) }
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
    pub fn norm<T: Scalar, A: AsMatrix<Element = T> + ?Sized>(&self, norm: Norm, a: &A) -> Result<T::Real, Error> {
        self.lange(norm, a.as_matrix()?)
    }
}

/// A matrix to factor: a [`Matrix`], which is taken over, or a reference to anything that is a matrix, which is copied.
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

/// Declares methods that call the routines of these names with the solver's runtime and options.
macro_rules! routines {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;)*) => {
        impl crate::Solver {
            $(
                $(#[$doc])*
                #[doc = concat!("\n\n# Errors\nThose of [`dla::", stringify!($name), "`].\n\n")]
                #[doc = concat!("[`dla::", stringify!($name), "`]: fn@crate::dla::", stringify!($name))]
                #[allow(clippy::too_many_arguments, reason = "the BLAS's own")]
                pub fn $name<T: crate::dla::Scalar>(&self, $($argument: $type),*) -> Result<$result, crate::Error> {
                    Ok(crate::dla::$name(self.runtime(), $($argument,)* self.options())?)
                }
            )*
        }
    };
}
use routines;
