//! One error for everything that a program calls.

use crate::{ErrorKind, TaskId, dla, kernels, matrix_market};
use std::{fmt, panic::Location};

/// The error of every part of the library: tasks, devices, matrix routines, views and files. `?` converts all of them.
///
/// ```
/// use superscalar::{ErrorKind, prelude::*};
///
/// fn solve(a: &Matrix<f64>, b: &[f64]) -> Result<Matrix<f64>, superscalar::Error> {
///     Ok(a.cholesky(Uplo::Lower)?.solve(b)?)
/// }
/// let indefinite = Matrix::from_rows([[1.0, 2.0], [2.0, 1.0]]);
/// let error = solve(&indefinite, &[1.0, 1.0]).unwrap_err();
/// assert_eq!((error.kind(), error.info()), (ErrorKind::NotPositiveDefinite, Some(2)));
/// ```
pub struct Error(Box<Repr>);

#[derive(Debug)]
enum Repr {
    Runtime(superscalar_runtime::Error),
    Routine(dla::Error),
    Device(crate::DeviceError),
    View(kernels::ViewError),
    File(matrix_market::Error),
    Shape(String),
}

impl Error {
    pub(crate) fn shape(why: String) -> Self {
        Self(Box::new(Repr::Shape(why)))
    }

    /// Returns the kind of error. An outcome that a task returned, such as that its matrix is singular, has its own
    /// kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &*self.0 {
            Repr::Runtime(error) => outcome(error).map_or(error.kind(), |outcome| outcome.0),
            Repr::Routine(error) => error.runtime().and_then(outcome).map_or(error.kind(), |outcome| outcome.0),
            Repr::Device(_) => ErrorKind::Device,
            Repr::View(_) | Repr::Shape(_) => ErrorKind::Shape,
            Repr::File(error) if error.bytes_needed().is_some() => ErrorKind::Memory,
            Repr::File(_) => ErrorKind::File,
        }
    }

    /// Returns LAPACK's `info`, counted from one, if the error is a numerical outcome.
    #[must_use]
    pub fn info(&self) -> Option<usize> {
        match &*self.0 {
            Repr::Routine(error) => error.info().or_else(|| outcome(error.runtime()?)?.1),
            _ => outcome(self.runtime()?)?.1,
        }
    }

    /// Returns the name of the task that failed first, if a task failed.
    #[must_use]
    pub fn task(&self) -> Option<&'static str> {
        self.runtime()?.task()
    }

    /// Returns the serial number of the task that failed first, as a recording numbers it.
    #[must_use]
    pub fn task_id(&self) -> Option<TaskId> {
        self.runtime()?.task_id()
    }

    /// Returns where the program inserted the task that failed first.
    #[must_use]
    pub fn site(&self) -> Option<&'static Location<'static>> {
        self.runtime()?.site()
    }

    /// Returns the error of type `E` behind this one: what the failed task's body returned, or the error of a part of
    /// the library, such as [`matrix_market::Error`].
    #[must_use]
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        let part: &(dyn std::error::Error + 'static) = match &*self.0 {
            Repr::Runtime(error) => error,
            Repr::Routine(error) => error,
            Repr::Device(error) => error,
            Repr::View(error) => error,
            Repr::File(error) => error,
            Repr::Shape(_) => return None,
        };
        part.downcast_ref().or_else(|| self.runtime()?.downcast_ref())
    }

    fn runtime(&self) -> Option<&superscalar_runtime::Error> {
        match &*self.0 {
            Repr::Runtime(error) => Some(error),
            Repr::Routine(error) => error.runtime(),
            _ => None,
        }
    }
}

/// Returns the kind and the `info` of the numerical outcome that a failed task returned.
fn outcome(error: &superscalar_runtime::Error) -> Option<(ErrorKind, Option<usize>)> {
    if let Some(kernels::NotPositiveDefinite { minor }) = error.downcast_ref() {
        return Some((ErrorKind::NotPositiveDefinite, Some(*minor)));
    }
    if let Some(kernels::Singular { pivot }) = error.downcast_ref() {
        return Some((ErrorKind::Singular, Some(*pivot)));
    }
    // The body called a routine itself.
    let routine = error.downcast_ref::<dla::Error>().map(|error| (error.kind(), error.info()));
    routine.or_else(|| error.downcast_ref::<Error>().map(|error| (error.kind(), error.info())))
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Repr::Runtime(error) => error.fmt(out),
            Repr::Routine(error) => error.fmt(out),
            Repr::Device(error) => error.fmt(out),
            Repr::View(error) => error.fmt(out),
            Repr::File(error) => error.fmt(out),
            Repr::Shape(why) => out.write_str(why),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Error({self})")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            Repr::Runtime(error) => error.source(),
            Repr::Routine(error) => error.source(),
            Repr::Device(error) => error.source(),
            Repr::View(error) => error.source(),
            Repr::File(error) => error.source(),
            Repr::Shape(_) => None,
        }
    }
}

impl From<superscalar_runtime::Error> for Error {
    fn from(error: superscalar_runtime::Error) -> Self {
        Self(Box::new(Repr::Runtime(error)))
    }
}

impl From<dla::Error> for Error {
    fn from(error: dla::Error) -> Self {
        Self(Box::new(Repr::Routine(error)))
    }
}

impl From<crate::DeviceError> for Error {
    fn from(error: crate::DeviceError) -> Self {
        Self(Box::new(Repr::Device(error)))
    }
}

impl From<kernels::ViewError> for Error {
    fn from(error: kernels::ViewError) -> Self {
        Self(Box::new(Repr::View(error)))
    }
}

impl From<matrix_market::Error> for Error {
    fn from(error: matrix_market::Error) -> Self {
        Self(Box::new(Repr::File(error)))
    }
}

impl From<kernels::NotPositiveDefinite> for Error {
    fn from(outcome: kernels::NotPositiveDefinite) -> Self {
        dla::Error::from(outcome).into()
    }
}

impl From<kernels::Singular> for Error {
    fn from(outcome: kernels::Singular) -> Self {
        dla::Error::from(outcome).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Runtime;

    #[test]
    fn every_source_keeps_its_kind() {
        let huge = &b"%%MatrixMarket matrix coordinate real general\n10000000 10000000 0\n"[..];
        let huge = matrix_market::read(huge).and_then(|market| dla::Matrix::<f64>::from_market(&market).map(drop));
        let error = Error::from(huge.expect_err("it is too large"));
        assert_eq!(error.kind(), ErrorKind::Memory);
        assert!(error.downcast_ref::<matrix_market::Error>().is_some_and(|error| error.bytes_needed().is_some()));
        let file = matrix_market::read(&b"%%MatrixMarket nonsense"[..]).map(drop);
        let view = kernels::MatRef::from_col_major(&[0.0], 2, 2, 2).map(drop);
        let errors: [(Error, ErrorKind); 4] = [
            (file.expect_err("it is not a matrix").into(), ErrorKind::File),
            (view.expect_err("it is too short").into(), ErrorKind::Shape),
            (crate::devices::open("sim:99", None).err().expect("no such device").into(), ErrorKind::Device),
            (Runtime::builder().workers(0).build().expect_err("no workers").into(), ErrorKind::Setting),
        ];
        for (error, kind) in errors {
            assert_eq!((error.kind(), error.info(), error.task()), (kind, None, None), "{error}");
            assert_eq!(format!("{error:?}"), format!("Error({error})"));
        }
    }

    #[test]
    fn outcomes_of_tasks_keep_their_info() {
        let rt = Runtime::builder().workers(1).build().expect("a thread");
        let failed = rt.scope(|s| {
            s.spawn("potrf", (), |()| Err::<(), _>(kernels::NotPositiveDefinite { minor: 3 }));
        });
        let error = Error::from(failed.expect_err("the task failed"));
        assert_eq!((error.kind(), error.info()), (ErrorKind::NotPositiveDefinite, Some(3)));
        assert_eq!(error.task(), Some("potrf"));
        assert!(error.downcast_ref::<kernels::NotPositiveDefinite>().is_some());
        let failed = rt.scope(|s| {
            s.spawn("inner", (), |()| Err::<(), _>(Error::from(kernels::Singular { pivot: 2 })));
        });
        let error = Error::from(failed.expect_err("the task failed"));
        assert_eq!((error.kind(), error.info(), error.task()), (ErrorKind::Singular, Some(2), Some("inner")));
        let panicked = rt.scope(|s| s.spawn("bad", (), |()| -> () { panic!("on purpose") }));
        let error = Error::from(panicked.expect_err("the task panicked"));
        assert_eq!((error.kind(), error.task(), error.info()), (ErrorKind::TaskPanicked, Some("bad"), None));
        assert!(error.site().is_some_and(|site| site.file().ends_with("error.rs")) && error.task_id().is_some());
    }
}
