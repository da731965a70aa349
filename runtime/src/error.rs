//! What can go wrong, as data.
//!
//! A [`Failure`] is the cause: one task whose body returned an error or panicked, whose device call failed, or that was
//! refused when it was inserted. It is shared by everything that it spoiled. An [`Error`] is what the user gets: a failure as
//! seen from where it comes back, or a refusal that concerns no task.

use crate::{
    panics::{caught, drop_guarded},
    recording::TaskId,
};
use std::{fmt, panic::Location, sync::Arc};

/// An error as bodies return it.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a task failed.
#[derive(Debug)]
pub enum Cause {
    /// The body returned this error.
    Returned(Box<dyn std::error::Error + Send + Sync>),
    /// The body panicked with this message.
    Panicked(String),
    /// The task was refused when it was inserted.
    Refused(String),
    /// A device could not take or finish the work.
    Device(String),
    /// The scope was cancelled before the task ran.
    Cancelled,
}

/// Runs user code, and makes an error or a panic into a cause.
pub(crate) fn guarded(code: impl FnOnce() -> Result<(), BoxError>) -> Result<(), Cause> {
    match caught(code) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Cause::Returned(error)),
        Err(message) => Err(Cause::Panicked(message)),
    }
}

/// An error that several may hold: what work came to. There until it is dropped.
#[derive(Clone, Debug)]
pub(crate) struct SharedError(Option<Arc<dyn std::error::Error + Send + Sync>>);

impl SharedError {
    pub(crate) fn new(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(error)))
    }

    fn error(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.as_deref().map(|error| error as &(dyn std::error::Error + 'static))
    }

    /// What the work came to, if it is of this type.
    pub(crate) fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.error()?.downcast_ref()
    }
}

impl Drop for SharedError {
    fn drop(&mut self) {
        // The last to hold it is often an issuer, and a user's error may panic when it is dropped.
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

/// The first cause of a chain of cancellations: which task, where it was inserted, and why.
#[derive(Debug)]
pub struct Failure {
    pub(crate) task: TaskId,
    pub(crate) name: &'static str,
    pub(crate) site: &'static Location<'static>,
    pub(crate) cause: Cause,
}

impl Drop for Failure {
    fn drop(&mut self) {
        // The last to hold it is often a worker, and a user's error may panic when it is dropped.
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

/// What kind of error an [`Error`] is. The routines of the linear algebra library have errors of these kinds, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A task's body returned an error; [`Error::downcast_ref`] gives it back.
    TaskFailed,
    /// A task's body panicked.
    TaskPanicked,
    /// A task was refused when it was inserted: it names a handle twice, or a handle of another level.
    Refused,
    /// A device could not take or finish a task.
    Device,
    /// The scope was cancelled.
    Cancelled,
    /// A setting, from the builder or from an environment variable, is not valid.
    Setting,
    /// The operating system refused something: threads, affinity, a file.
    System,
    /// A matrix is not positive definite; `info` is the order of the first leading minor that is not.
    NotPositiveDefinite,
    /// A pivot, or a diagonal element of a triangular matrix, is exactly zero; `info` is its position, counted from one.
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
enum Kind {
    Failure(Arc<Failure>),
    Refused(String),
    Setting(String),
    System(String, std::io::Error),
}

/// Why a call into the runtime did not succeed.
///
/// ```
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
pub struct Error(Box<Kind>);

impl Error {
    pub(crate) fn failure(failure: Arc<Failure>) -> Self {
        Self(Box::new(Kind::Failure(failure)))
    }

    pub(crate) fn refused(why: impl Into<String>) -> Self {
        Self(Box::new(Kind::Refused(why.into())))
    }

    pub(crate) fn setting(why: impl Into<String>) -> Self {
        Self(Box::new(Kind::Setting(why.into())))
    }

    pub(crate) fn system(what: impl Into<String>, error: impl Into<std::io::Error>) -> Self {
        Self(Box::new(Kind::System(what.into(), error.into())))
    }

    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &*self.0 {
            Kind::Failure(failure) => match failure.cause {
                Cause::Returned(_) => ErrorKind::TaskFailed,
                Cause::Panicked(_) => ErrorKind::TaskPanicked,
                Cause::Refused(_) => ErrorKind::Refused,
                Cause::Device(_) => ErrorKind::Device,
                Cause::Cancelled => ErrorKind::Cancelled,
            },
            Kind::Refused(_) => ErrorKind::Refused,
            Kind::Setting(_) => ErrorKind::Setting,
            Kind::System(..) => ErrorKind::System,
        }
    }

    /// The name of the task that was the first cause, if a task was.
    #[must_use]
    pub fn task(&self) -> Option<&'static str> {
        self.first_cause().map(|failure| failure.name)
    }

    /// The serial number of the task that was the first cause, as a recording names it.
    #[must_use]
    pub fn task_id(&self) -> Option<TaskId> {
        self.first_cause().map(|failure| failure.task)
    }

    /// Where the task that was the first cause had been inserted.
    #[must_use]
    pub fn site(&self) -> Option<&'static Location<'static>> {
        self.first_cause().map(|failure| failure.site)
    }

    /// The error that the task's body returned, if it was of type `E`.
    #[must_use]
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        match &self.first_cause()?.cause {
            Cause::Returned(error) => {
                // A device's work has come to it, where a body would have returned it.
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
            Kind::Failure(failure) => Some(failure),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Failure(failure) => failure.fmt(out),
            Kind::Refused(why) | Kind::Setting(why) => out.write_str(why),
            Kind::System(what, error) => write!(out, "{what}: {error}"),
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
            Kind::Failure(failure) => match &failure.cause {
                Cause::Returned(error) => Some(&**error),
                _ => None,
            },
            Kind::System(_, error) => Some(error),
            Kind::Refused(_) | Kind::Setting(_) => None,
        }
    }
}
