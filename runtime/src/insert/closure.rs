//! Task bodies that are closures.

use super::{
    Bound, Item,
    modes::{BoundTo, WRITE},
    sealed,
};
use crate::{
    datum::{Exclusion, Execution},
    error::{BoxError, Failure, run_guarded},
    hazard::Mode,
    panics::drop_guarded,
    task::{Fail, Runnable, TaskResult},
};
use std::{marker::PhantomData, sync::Arc};

/// The return type of a body: nothing, or a `Result` whose error becomes the task's failure.
pub trait Outcome: outcome::Sealed {}

mod outcome {
    use crate::error::BoxError;

    pub trait Sealed {
        fn into_result(self) -> Result<(), BoxError>;
    }

    impl Sealed for () {
        #[inline]
        fn into_result(self) -> Result<(), BoxError> {
            Ok(())
        }
    }

    impl<E: Into<BoxError>> Sealed for Result<(), E> {
        #[inline]
        fn into_result(self) -> Result<(), BoxError> {
            self.map_err(Into::into)
        }
    }
}

impl Outcome for () {}
impl<E: Into<BoxError>> Outcome for Result<(), E> {}

/// A closure with its bound accesses.
pub(crate) struct Closure<B, F, O> {
    bound: B,
    body: F,
    outcome: PhantomData<fn() -> O>,
}

impl<B, F, O> Closure<B, F, O> {
    pub(crate) fn new(bound: B, body: F) -> Self {
        Self { bound, body, outcome: PhantomData }
    }
}

impl<B: Bound, F, O> Runnable for Closure<B, F, O>
where
    F: for<'t> FnOnce(Item<'t, B>) -> O,
    O: Outcome,
{
    fn exclusions(&self, into: &mut Vec<*const Exclusion>) {
        self.bound.exclusions(into);
    }

    fn uses(&self, visit: &mut dyn FnMut(&Execution, Mode)) {
        self.bound.uses(visit);
    }

    #[inline]
    fn run(self, fail: Fail<'_>) -> TaskResult {
        let Self { bound, body, .. } = self;
        run_bound(
            bound,
            body,
            |bound, body| {
                // SAFETY: the task is running (the contract of `Runnable::run`), and this is the only call.
                outcome::Sealed::into_result(body(unsafe { sealed::Bound::item(bound) }))
            },
            fail,
        )
    }

    fn discard(self, failure: &Arc<Failure>) {
        discard_bound(self.bound, self.body, failure);
    }
}

/// The accesses of a task that computes an `R`: those of its body, and the output.
type Computing<B, R> = (B, BoundTo<Option<R>, WRITE>);

/// Wraps a body whose result goes into an output.
pub(crate) fn computing<B: Bound, R>(
    body: impl for<'t> FnOnce(Item<'t, B>) -> R,
) -> impl for<'t> FnOnce(Item<'t, Computing<B, R>>) {
    move |(items, output)| *output = Some(body(items))
}

/// An empty body: its task is done when all its accesses are possible. It writes nothing, so it neither poisons nor
/// renames.
pub(crate) struct EmptyBody<B>(pub(crate) B);

impl<B: Bound> Runnable for EmptyBody<B> {
    const RENAMES: bool = false;

    fn exclusions(&self, into: &mut Vec<*const Exclusion>) {
        self.0.exclusions(into);
    }

    fn uses(&self, visit: &mut dyn FnMut(&Execution, Mode)) {
        self.0.uses(visit);
    }

    fn run(self, _: Fail<'_>) -> TaskResult {
        self.0.poison().map_or(TaskResult::Completed, TaskResult::Cancelled)
    }

    fn discard(self, _: &Arc<Failure>) {}
}

/// Runs a body unless an input is poisoned, and settles its accesses in either case.
#[inline]
pub(crate) fn run_bound<B: sealed::Bound, F>(
    mut bound: B,
    body: F,
    call: impl FnOnce(&mut B, F) -> Result<(), BoxError>,
    fail: Fail<'_>,
) -> TaskResult {
    if let Some(failure) = bound.poison() {
        discard_bound(bound, body, &failure);
        return TaskResult::Cancelled(failure);
    }
    match run_guarded(|| call(&mut bound, body)) {
        Ok(()) => {
            bound.settle(Ok(()));
            TaskResult::Completed
        }
        Err(cause) => {
            let failure = fail(cause);
            bound.settle(Err(&failure));
            TaskResult::Failed(failure)
        }
    }
}

/// Drops a body without running it, and poisons its outputs.
#[cold]
pub(crate) fn discard_bound<B: sealed::Bound, F>(bound: B, body: F, failure: &Arc<Failure>) {
    // The body's captures may panic when they are dropped; the task is cancelled all the same.
    drop_guarded(body);
    bound.settle(Err(failure));
}
