//! Errors as data.
//!
//! A [`Failure`] is a cause: one task whose body returned an error or panicked, whose device call failed, or that was
//! refused at insertion. All versions that it poisoned share it. An [`Error`] is what the user receives: either a
//! failure or an error that concerns no task.

use crate::{
    panics::{catch_panic, drop_guarded},
    recording::TaskId,
};
use std::{fmt, panic::Location, sync::Arc};

/// An error as a task's body returns it.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a task failed.
#[derive(Debug)]
pub enum Cause {
    /// The body returned this error.
    Returned(Box<dyn std::error::Error + Send + Sync>),
    /// The body panicked with this message.
    Panicked(String),
    /// The task was refused at insertion.
    Refused(String),
    /// A device could not accept or finish the work.
    Device(String),
    /// The scope was cancelled before the task ran.
    Cancelled,
}

/// Runs user code, and turns an error or a panic into a cause.
pub(crate) fn run_guarded(code: impl FnOnce() -> Result<(), BoxError>) -> Result<(), Cause> {
    match catch_panic(code) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Cause::Returned(error)),
        Err(message) => Err(Cause::Panicked(message)),
    }
}

/// A reference-counted error, for the result of device work that several owners hold. Display and source are those of
/// the error.
#[derive(Clone, Debug)]
pub(crate) struct SharedError(Option<Arc<dyn std::error::Error + Send + Sync>>);

impl SharedError {
    pub(crate) fn new(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(error)))
    }

    fn error(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.as_deref().map(|error| error as &(dyn std::error::Error + 'static))
    }

    /// Returns the error if it is of type `E`.
    pub(crate) fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.error()?.downcast_ref()
    }
}

impl Drop for SharedError {
    fn drop(&mut self) {
        // The last owner is often an issuer thread, and a user's error may panic when it is dropped.
        let error = self.0.take();
        drop_guarded(error);
    }
}

impl fmt::Display for SharedError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error().map_or(Ok(()), |error| fmt::Display::fmt(error, out))
    }
}

impl std::error::Error for SharedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error()
    }
}

/// The first cause of a chain of cancellations: the task, the site that inserted it, and the reason.
#[derive(Debug)]
pub struct Failure {
    pub(crate) task: TaskId,
    pub(crate) name: &'static str,
    pub(crate) site: &'static Location<'static>,
    pub(crate) cause: Cause,
}

impl Drop for Failure {
    fn drop(&mut self) {
        // The last owner is often a worker, and a user's error may panic when it is dropped.
        let cause = std::mem::replace(&mut self.cause, Cause::Cancelled);
        drop_guarded(cause);
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, site, .. } = self;
        match &self.cause {
            Cause::Returned(error) => write!(out, "task `{name}` inserted at {site} failed: {error}"),
            Cause::Panicked(message) => write!(out, "task `{name}` inserted at {site} panicked: {message}"),
            Cause::Refused(why) => write!(out, "task `{name}` inserted at {site} was refused: {why}"),
            Cause::Device(why) => write!(out, "task `{name}` inserted at {site} failed on a device: {why}"),
            Cause::Cancelled => write!(out, "task `{name}` inserted at {site} was cancelled with its scope"),
        }
    }
}

/// The kind of an error of the runtime or of the linear algebra library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A task's body returned an error; [`Error::downcast_ref`] returns it.
    TaskFailed,
    /// A task's body panicked.
    TaskPanicked,
    /// A task was refused at insertion: it names a handle twice, or a handle of another level.
    Refused,
    /// A device could not accept or finish a task.
    Device,
    /// The scope was cancelled.
    Cancelled,
    /// A setting, from the builder or from an environment variable, is not valid.
    Setting,
    /// The operating system failed to provide something: threads, affinity, a file.
    System,
    /// A matrix is not positive definite; `info` is the order of the first leading minor that is not.
    NotPositiveDefinite,
    /// A pivot, or a diagonal element of a triangular matrix, is exactly zero; `info` is its position, counted from
    /// one.
    Singular,
    /// The shapes of the arguments do not fit together, or a view does not fit its memory.
    Shape,
    /// An argument has a value that the routine, or the element type, does not accept.
    Argument,
    /// There is not enough memory for a matrix.
    Memory,
    /// A matrix file could not be read or written.
    File,
}

#[derive(Debug)]
enum Repr {
    Failure(Arc<Failure>),
    Refused(String),
    Setting(String),
    System(String, std::io::Error),
}

/// An error of a call into the runtime.
///
/// ```
/// # extern crate superscalar_runtime as superscalar;
/// use superscalar::{ErrorKind, Runtime};
/// # fn main() -> Result<(), superscalar::Error> {
/// let rt = Runtime::builder().workers(1).build()?;
/// let mut x = 1;
/// let error = rt
///     .scope(|s| {
///         let x = s.lend(&mut x);
///         s.spawn("parse", x.write(), |x| -> Result<(), std::num::ParseIntError> {
///             *x = "seven".parse()?;
///             Ok(())
///         });
///     })
///     .unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::TaskFailed);
/// assert_eq!(error.task(), Some("parse"));
/// assert!(error.downcast_ref::<std::num::ParseIntError>().is_some());
/// # Ok(())
/// # }
/// ```
pub struct Error(Box<Repr>);

impl Error {
    pub(crate) fn failure(failure: Arc<Failure>) -> Self {
        Self(Box::new(Repr::Failure(failure)))
    }

    pub(crate) fn refused(why: impl Into<String>) -> Self {
        Self(Box::new(Repr::Refused(why.into())))
    }

    pub(crate) fn setting(why: impl Into<String>) -> Self {
        Self(Box::new(Repr::Setting(why.into())))
    }

    pub(crate) fn system(what: impl Into<String>, error: impl Into<std::io::Error>) -> Self {
        Self(Box::new(Repr::System(what.into(), error.into())))
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &*self.0 {
            Repr::Failure(failure) => match failure.cause {
                Cause::Returned(_) => ErrorKind::TaskFailed,
                Cause::Panicked(_) => ErrorKind::TaskPanicked,
                Cause::Refused(_) => ErrorKind::Refused,
                Cause::Device(_) => ErrorKind::Device,
                Cause::Cancelled => ErrorKind::Cancelled,
            },
            Repr::Refused(_) => ErrorKind::Refused,
            Repr::Setting(_) => ErrorKind::Setting,
            Repr::System(..) => ErrorKind::System,
        }
    }

    /// Returns the name of the task that failed first, if a task failed.
    #[must_use]
    pub fn task(&self) -> Option<&'static str> {
        self.first_cause().map(|failure| failure.name)
    }

    /// Returns the serial number of the task that failed first, as recordings show it.
    #[must_use]
    pub fn task_id(&self) -> Option<TaskId> {
        self.first_cause().map(|failure| failure.task)
    }

    /// Returns the place in the source that inserted the task that failed first.
    #[must_use]
    pub fn site(&self) -> Option<&'static Location<'static>> {
        self.first_cause().map(|failure| failure.site)
    }

    /// Returns the error that the task's body returned, if it is of type `E`.
    #[must_use]
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        match &self.first_cause()?.cause {
            Cause::Returned(error) => {
                // The result of device work is wrapped in a `SharedError`.
                let outcome = || error.downcast_ref::<SharedError>()?.downcast_ref::<E>();
                error.downcast_ref::<E>().or_else(outcome)
            }
            _ => None,
        }
    }

    pub(crate) fn shared_failure(&self) -> Option<Arc<Failure>> {
        self.first_cause().cloned()
    }

    fn first_cause(&self) -> Option<&Arc<Failure>> {
        match &*self.0 {
            Repr::Failure(failure) => Some(failure),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Repr::Failure(failure) => failure.fmt(out),
            Repr::Refused(why) | Repr::Setting(why) => out.write_str(why),
            Repr::System(what, error) => write!(out, "{what}: {error}"),
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
            Repr::Failure(failure) => match &failure.cause {
                Cause::Returned(error) => Some(&**error),
                _ => None,
            },
            Repr::System(_, error) => Some(error),
            Repr::Refused(_) | Repr::Setting(_) => None,
        }
    }
}
