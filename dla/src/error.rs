//! The errors of the routines.

use crate::memory::Shortage;
use superscalar_kernels::{NoMemory, NotPositiveDefinite, Singular};
pub use superscalar_runtime::ErrorKind;

#[derive(Debug, thiserror::Error)]
enum Repr {
    #[error("{0}")]
    NotPositiveDefinite(#[source] NotPositiveDefinite),
    #[error("{0}")]
    Singular(#[source] Singular),
    #[error("{0}")]
    Shape(String),
    #[error("{0}")]
    Argument(String),
    #[error("{0}")]
    Memory(Shortage),
    #[error("{0}")]
    Runtime(#[source] superscalar_runtime::Error),
}

/// Why a routine failed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Repr>);

impl Error {
    pub(crate) fn shape(why: impl Into<String>) -> Self {
        Self(Box::new(Repr::Shape(why.into())))
    }

    pub(crate) fn argument(why: impl Into<String>) -> Self {
        Self(Box::new(Repr::Argument(why.into())))
    }

    /// Puts the routine's name before the message of an invalid call, unless it is there already.
    pub(crate) fn of_routine(mut self, name: &str) -> Self {
        let is_name = |word: &str| word.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_');
        if let Repr::Shape(why) | Repr::Argument(why) = &mut *self.0
            && !why.split_once(": ").is_some_and(|(first, _)| is_name(first))
        {
            *why = format!("{name}: {why}");
        }
        self
    }

    /// Returns the kind of error. An error of the runtime keeps the kind that it has there.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &*self.0 {
            Repr::NotPositiveDefinite(_) => ErrorKind::NotPositiveDefinite,
            Repr::Singular(_) => ErrorKind::Singular,
            Repr::Shape(_) => ErrorKind::Shape,
            Repr::Argument(_) => ErrorKind::Argument,
            Repr::Memory(_) => ErrorKind::Memory,
            Repr::Runtime(error) => error.kind(),
        }
    }

    /// Returns the runtime's error if a task, a device or the runtime itself failed.
    #[must_use]
    pub fn runtime(&self) -> Option<&superscalar_runtime::Error> {
        match &*self.0 {
            Repr::Runtime(error) => Some(error),
            _ => None,
        }
    }

    /// Returns LAPACK's `info`, counted from one, if the error is a numerical outcome.
    #[must_use]
    pub fn info(&self) -> Option<usize> {
        match &*self.0 {
            Repr::NotPositiveDefinite(NotPositiveDefinite { minor }) => Some(*minor),
            Repr::Singular(Singular { pivot }) => Some(*pivot),
            Repr::Shape(_) | Repr::Argument(_) | Repr::Memory(_) | Repr::Runtime(_) => None,
        }
    }
}

impl From<NotPositiveDefinite> for Error {
    fn from(outcome: NotPositiveDefinite) -> Self {
        Self(Box::new(Repr::NotPositiveDefinite(outcome)))
    }
}

impl From<Singular> for Error {
    fn from(outcome: Singular) -> Self {
        Self(Box::new(Repr::Singular(outcome)))
    }
}

impl From<NoMemory> for Error {
    fn from(error: NoMemory) -> Self {
        Self(Box::new(Repr::Memory(error.into())))
    }
}

/// Finds the numerical outcome that a task returned, so that `rt.scope(…)?` keeps the routine's `info`.
impl From<superscalar_runtime::Error> for Error {
    fn from(error: superscalar_runtime::Error) -> Self {
        if let Some(outcome) = error.downcast_ref::<NotPositiveDefinite>() {
            return (*outcome).into();
        }
        match error.downcast_ref::<Singular>() {
            Some(outcome) => (*outcome).into(),
            None => Self(Box::new(Repr::Runtime(error))),
        }
    }
}

/// Returns the order of a square matrix.
pub(crate) fn order_of((n, cols): (usize, usize)) -> Result<usize, Error> {
    if n == cols { Ok(n) } else { Err(Error::shape(format!("A is {n} x {cols}, not square"))) }
}

/// Returns the shape of B in A X = B, where A must be square with as many rows as B.
pub(crate) fn system_of((rows, cols): (usize, usize), (n, nrhs): (usize, usize)) -> Result<(usize, usize), Error> {
    if (rows, cols) != (n, n) {
        return Err(Error::shape(format!("A is {rows} x {cols}, B {n} x {nrhs}")));
    }
    Ok((n, nrhs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Matrix, Options, gemm, geqrf, potrf};
    use superscalar_kernels::{Op, Uplo};
    use superscalar_runtime::Runtime;

    #[test]
    fn errors_of_the_call_name_the_routine() {
        let (rt, none) = (Runtime::builder().workers(1).build().expect("threads"), Options::default().nb(0));
        let (mut a, b) = (Matrix::<f64>::zeros(3, 3), Matrix::zeros(3, 2));
        let said = |result: Result<(), Error>| result.expect_err("the call is refused").to_string();
        assert_eq!(
            said(potrf(&rt, Uplo::Lower, a.as_mut(), &none)),
            "potrf: the block size is zero, expected a positive number"
        );
        assert_eq!(
            said(geqrf(&rt, a.as_mut(), &mut [0.0; 3], &none)),
            "geqrf: the block size is zero, expected a positive number"
        );
        let product = gemm(&rt, 1.0, Op::None, b.as_ref(), Op::None, b.as_ref(), 0.0, a.as_mut(), &Options::default());
        let product = said(product);
        assert!(product.starts_with("gemm: op(A)") && product.matches("gemm").count() == 1, "{product}");
        // What the matrix is to blame for is LAPACK's to name.
        let error = potrf(&rt, Uplo::Lower, a.as_mut(), &Options::default()).expect_err("it is zero");
        assert_eq!((error.kind(), error.info()), (ErrorKind::NotPositiveDefinite, Some(1)));
    }
}
