//! Bodies that are closures.

use super::{
    Bound, Item,
    modes::{BoundTo, WRITE},
    sealed,
};
use crate::{
    datum::{Exclusion, Execution},
    error::{BoxError, Failure, guarded},
    hazard::Mode,
    panics::drop_guarded,
    task::{Fail, Runnable, Verdict},
};
use std::{marker::PhantomData, sync::Arc};

/// What a body may return: nothing, or a `Result` whose error becomes the task's failure.
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

/// A closure over bound accesses.
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
    fn run(self, fail: Fail<'_>) -> Verdict {
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

/// What a task uses that computes an R: what its body does, and the output.
type Computing<B, R> = (B, BoundTo<Option<R>, WRITE>);

/// A body whose result goes into an output.
pub(crate) fn computing<B: Bound, R>(
    body: impl for<'t> FnOnce(Item<'t, B>) -> R,
) -> impl for<'t> FnOnce(Item<'t, Computing<B, R>>) {
    move |(items, output)| *output = Some(body(items))
}

/// No body at all: its task is done when its accesses could be made. It changes nothing, so it neither spoils nor renames.
pub(crate) struct Probe<B>(pub(crate) B);

impl<B: Bound> Runnable for Probe<B> {
    const RENAMES: bool = false;

    fn exclusions(&self, into: &mut Vec<*const Exclusion>) {
        self.0.exclusions(into);
    }

    fn uses(&self, visit: &mut dyn FnMut(&Execution, Mode)) {
        self.0.uses(visit);
    }

    fn run(self, _: Fail<'_>) -> Verdict {
        self.0.poison().map_or(Verdict::Completed, Verdict::Cancelled)
    }

    fn discard(self, _: &Arc<Failure>) {}
}

/// Runs a body unless an input is spoiled, and settles its accesses either way.
#[inline]
pub(crate) fn run_bound<B: sealed::Bound, F>(
    mut bound: B,
    body: F,
    call: impl FnOnce(&mut B, F) -> Result<(), BoxError>,
    fail: Fail<'_>,
) -> Verdict {
    if let Some(failure) = bound.poison() {
        discard_bound(bound, body, &failure);
        return Verdict::Cancelled(failure);
    }
    match guarded(|| call(&mut bound, body)) {
        Ok(()) => {
            bound.settle(Ok(()));
            Verdict::Completed
        }
        Err(cause) => {
            let failure = fail(cause);
            bound.settle(Err(&failure));
            Verdict::Failed(failure)
        }
    }
}

/// Drops a body unrun, and spoils what it would have written.
#[cold]
pub(crate) fn discard_bound<B: sealed::Bound, F>(bound: B, body: F, failure: &Arc<Failure>) {
    // What the body captured may panic when it is dropped; the task is cancelled all the same.
    drop_guarded(body);
    bound.settle(Err(failure));
}
