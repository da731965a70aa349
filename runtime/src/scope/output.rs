//! Results of tasks: values that exist only after their tasks have run.

use super::Lent;
use crate::{
    datum::{Exclusion, Execution},
    error::Failure,
    hazard::Mode,
    insert::{Accesses, BoundOf, Inserter, Insertion, ItemOf, Named, Read, sealed},
};
use std::sync::Arc;

/// The result of a task inserted by [`Scope::compute`](crate::Scope::compute).
///
/// Later tasks [`read`](Self::read) it, which orders them after it; [`Scope::get`](crate::Scope::get) waits for it.
pub struct Output<'d, R>(pub(crate) Lent<'d, Option<R>>);

impl<R> Clone for Output<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Output<'_, R> {}

impl<'d, R> Output<'d, R> {
    /// Reads the result; the body sees `&R`. If the task that computes it fails, the reader is cancelled.
    pub fn read(&self) -> ReadOutput<'d, 'd, R> {
        ReadOutput(self.0.read())
    }
}

/// Reads a result; the body sees `&R`. Made by [`Output::read`].
#[must_use = "an access does nothing until it is given to a task"]
pub struct ReadOutput<'h, 'd, R>(Read<'h, 'd, Option<R>>);

/// The bound form of [`ReadOutput`].
pub struct BoundOutput<R>(BoundOf<Read<'static, 'static, Option<R>>>);

impl<'s, 'd: 's, R> Accesses<'s> for ReadOutput<'_, 'd, R> {}

impl<R> sealed::Accesses for ReadOutput<'_, '_, R> {
    type Bound = BoundOutput<R>;

    fn names(&self, visit: &mut impl FnMut(Named)) {
        self.0.names(visit);
    }

    fn prepare(&self, inserter: &Inserter<'_>) {
        self.0.prepare(inserter);
    }

    fn enter(self, insertion: &mut Insertion<'_>) -> Self::Bound {
        BoundOutput(self.0.enter(insertion))
    }
}

impl<'t, R> ItemOf<'t, &'t BoundOutput<R>> for BoundOutput<R> {
    type Item = &'t R;
}

impl<R> sealed::Bound for BoundOutput<R> {
    const COMMUTES: bool = false;

    fn poison(&self) -> Option<Arc<Failure>> {
        self.0.poison()
    }

    unsafe fn item<'t>(&'t mut self) -> <Self as ItemOf<'t>>::Item {
        // SAFETY: the task is running and this is the only call, by the contract of this function.
        let value = unsafe { self.0.item() };
        // The task that makes the value comes first, by its hazard. If it made no value, its failure has cancelled this
        // task.
        value.as_ref().unwrap_or_else(|| unreachable!("an output is made before it is read"))
    }

    fn settle(self, result: Result<(), &Arc<Failure>>) {
        self.0.settle(result);
    }

    fn exclusions(&self, _: &mut Vec<*const Exclusion>) {}

    fn uses(&self, visit: &mut dyn FnMut(&Execution, Mode)) {
        self.0.uses(visit);
    }
}
