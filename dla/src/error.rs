//! What can go wrong in a routine.

use crate::memory::Shortage;
use superscalar_kernels::{NoMemory, NotPositiveDefinite, Singular};

/// What kind of error an [`Error`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The matrix is not positive definite; [`Error::info`] is the order of the first leading minor that is not.
    NotPositiveDefinite,
    /// A pivot, or a diagonal element of a triangular matrix, is exactly zero; [`Error::info`] says which.
    Singular,
    /// The shapes of the arguments do not fit together.
    Shape,
    /// An argument that this routine, or this element type, does not take.
    Argument,
    /// There is no memory for a matrix; the message says how much it takes.
    Memory,
    /// The runtime failed; the source says how.
    Runtime,
}

#[derive(Debug, thiserror::Error)]
enum Kind {
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

/// Why a routine did not succeed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Kind>);

impl Error {
    pub(crate) fn shape(why: impl Into<String>) -> Self {
        Self(Box::new(Kind::Shape(why.into())))
    }

    pub(crate) fn argument(why: impl Into<String>) -> Self {
        Self(Box::new(Kind::Argument(why.into())))
    }

    /// Says which routine it is of, where what is wrong is the call and the message does not say so.
    pub(crate) fn of_routine(mut self, name: &str) -> Self {
        let is_name = |word: &str| word.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_');
        if let Kind::Shape(why) | Kind::Argument(why) = &mut *self.0
            && !why.split_once(": ").is_some_and(|(first, _)| is_name(first))
        {
            *why = format!("{name}: {why}");
        }
        self
    }

    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match *self.0 {
            Kind::NotPositiveDefinite(_) => ErrorKind::NotPositiveDefinite,
            Kind::Singular(_) => ErrorKind::Singular,
            Kind::Shape(_) => ErrorKind::Shape,
            Kind::Argument(_) => ErrorKind::Argument,
            Kind::Memory(_) => ErrorKind::Memory,
            Kind::Runtime(_) => ErrorKind::Runtime,
        }
    }

    /// LAPACK's `info`, where the outcome is numerical: counted from one.
    #[must_use]
    pub fn info(&self) -> Option<usize> {
        match &*self.0 {
            Kind::NotPositiveDefinite(NotPositiveDefinite { minor }) => Some(*minor),
            Kind::Singular(Singular { pivot }) => Some(*pivot),
            Kind::Shape(_) | Kind::Argument(_) | Kind::Memory(_) | Kind::Runtime(_) => None,
        }
    }
}

impl From<NotPositiveDefinite> for Error {
    fn from(outcome: NotPositiveDefinite) -> Self {
        Self(Box::new(Kind::NotPositiveDefinite(outcome)))
    }
}

impl From<Singular> for Error {
    fn from(outcome: Singular) -> Self {
        Self(Box::new(Kind::Singular(outcome)))
    }
}

impl From<NoMemory> for Error {
    fn from(error: NoMemory) -> Self {
        Self(Box::new(Kind::Memory(error.into())))
    }
}

/// The numerical outcome that a task returned, or else the runtime's failure. So `rt.scope(…)?` gives the routine's `info`.
impl From<superscalar_runtime::Error> for Error {
    fn from(error: superscalar_runtime::Error) -> Self {
        if let Some(outcome) = error.downcast_ref::<NotPositiveDefinite>() {
            return (*outcome).into();
        }
        match error.downcast_ref::<Singular>() {
            Some(outcome) => (*outcome).into(),
            None => Self(Box::new(Kind::Runtime(error))),
        }
    }
}

/// The order of a matrix, which must be square.
pub(crate) fn order_of((n, cols): (usize, usize)) -> Result<usize, Error> {
    if n == cols { Ok(n) } else { Err(Error::shape(format!("A is {n} x {cols}, not square"))) }
}

/// The shape of B, for which A must be square, with as many rows.
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
        let said = |result: Result<(), Error>| result.expect_err("it can not be").to_string();
        assert_eq!(said(potrf(&rt, Uplo::Lower, a.as_mut(), &none)), "potrf: a block size of zero");
        assert_eq!(said(geqrf(&rt, a.as_mut(), &mut [0.0; 3], &none)), "geqrf: a block size of zero");
        let product = gemm(&rt, 1.0, Op::None, b.as_ref(), Op::None, b.as_ref(), 0.0, a.as_mut(), &Options::default());
        let product = said(product);
        assert!(product.starts_with("gemm: op(A)") && product.matches("gemm").count() == 1, "{product}");
        // What the matrix is to blame for is LAPACK's to name.
        let error = potrf(&rt, Uplo::Lower, a.as_mut(), &Options::default()).expect_err("it is zero");
        assert_eq!((error.kind(), error.info()), (ErrorKind::NotPositiveDefinite, Some(1)));
    }
}
