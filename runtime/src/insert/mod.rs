//! Insertion: the accesses of a task, the views that its body sees, and the way a task enters the runtime
//! (`inserter.rs`).
//!
//! An access is made from a handle by [`Lent::read`](crate::Lent::read) and its siblings. Inserting the task turns it
//! into a *bound* access, a pointer to the current version, which is stored in the task's slot. When the task runs, the
//! body sees a bound access as `&T` for a read and `&mut T` for every other mode, for the duration of the call.
//!
//! Accesses compose: tuples of up to twelve accesses, arrays and `Vec`s of accesses are accesses, and the body sees
//! tuples, arrays and `Vec`s of references.

mod closure;
mod front;
mod groups;
mod inserter;
pub(crate) mod modes;
mod reduce;
pub mod reductions;
mod scratch;

pub use closure::Outcome;
pub(crate) use closure::{Closure, EmptyBody, computing, discard_bound, run_bound};
pub use inserter::{Inserter, Insertion};
pub use modes::{Commute, Read, ReadWrite, Write};
pub use reduce::{Reduce, Reduction};
pub(crate) use scratch::Pool;
pub use scratch::{Scratch, ScratchPool};

use crate::{
    datum::{Datum, Exclusion, Execution, Origin},
    error::Failure,
    hazard::Mode,
};
use std::{any::TypeId, marker::PhantomData, ptr::NonNull, sync::Arc};

/// The type that a body sees for a bound access during a call of lifetime `'t`.
///
/// The second parameter only tells the compiler that `Self` outlives `'t`; leave it out.
pub trait ItemOf<'t, Implied = &'t Self> {
    /// `&'t T`, `&'t mut T`, or a tuple, array or `Vec` of these.
    type Item;
}

/// The type that the body sees for the bound accesses `B`.
pub type Item<'t, B> = <B as ItemOf<'t>>::Item;

/// One or more accesses, as given to [`Scope::spawn`](crate::Scope::spawn); the data live for `'d`.
///
/// Implemented only by the access types of this module, and by tuples of up to twelve, arrays and `Vec`s of them.
pub trait Accesses<'d>: sealed::Accesses {}

/// An access bound to a version; the body's counterpart of [`Accesses`].
pub trait Bound: sealed::Bound {}

impl<B: sealed::Bound> Bound for B {}

/// The bound form of the accesses `A`.
pub type BoundOf<A> = <A as sealed::Accesses>::Bound;

pub(crate) mod sealed {
    use super::*;

    pub trait Accesses {
        type Bound: super::Bound;

        /// Visits each named handle.
        fn names(&self, visit: &mut impl FnMut(Named));

        /// Ends the reductions that these accesses do not continue. The caller is the inserter of the data's level.
        fn prepare(&self, inserter: &Inserter<'_>);

        /// Records the accesses in their data's hazards, and binds them.
        fn enter(self, insertion: &mut Insertion<'_>) -> Self::Bound;
    }

    pub trait Bound: for<'t> ItemOf<'t> + Sized {
        /// Whether any of the accesses commutes.
        const COMMUTES: bool;

        /// Returns the failure that poisoned one of the inputs, if any.
        fn poison(&self) -> Option<Arc<Failure>>;

        /// Returns the view that the body sees.
        ///
        /// # Safety
        /// The task is running: every hazard is resolved and every exclusion held. Called once.
        unsafe fn item<'t>(&'t mut self) -> <Self as ItemOf<'t>>::Item;

        /// Marks the outputs as valid, or as poisoned by the failure.
        fn settle(self, result: Result<(), &Arc<Failure>>);

        /// Adds the exclusions to hold while the task runs.
        fn exclusions(&self, into: &mut Vec<*const Exclusion>);

        /// Visits the versions whose values the task uses, in the order of the accesses.
        fn uses(&self, visit: &mut dyn FnMut(&Execution, Mode));
    }
}

/// A handle as a task names it.
#[derive(Clone, Copy)]
pub struct Named {
    pub(crate) datum: *const (),
    pub(crate) mode: Mode,
    pub(crate) origin: Origin,
    pub(crate) shared: bool,
}

/// Makes a type invariant in a lifetime.
pub(crate) type Invariant<'d> = PhantomData<fn(&'d ()) -> &'d ()>;

/// The common part of all single accesses: the datum, the borrow of the handle (`'h`), and the lifetime of the data
/// (`'d`).
pub(crate) struct AccessTarget<'h, 'd, T: ?Sized> {
    datum: NonNull<Datum<T>>,
    borrows: PhantomData<&'h ()>,
    lifetime: Invariant<'d>,
}

impl<'h, 'd, T: ?Sized> AccessTarget<'h, 'd, T> {
    /// # Safety
    /// The datum lives for `'h`, and until every task that names it is done.
    pub(crate) unsafe fn new(datum: NonNull<Datum<T>>) -> Self {
        Self { datum, borrows: PhantomData, lifetime: PhantomData }
    }

    fn datum(&self) -> &Datum<T> {
        // SAFETY: by the contract of `new`, the datum lives for `'h`, which outlives `self`.
        unsafe { self.datum.as_ref() }
    }

    fn named(&self, mode: Mode) -> Named {
        let datum = self.datum();
        Named { datum: self.datum.as_ptr().cast_const().cast(), mode, origin: datum.origin, shared: datum.shared }
    }

    #[inline]
    fn prepare(&self, inserter: &Inserter<'_>, mode: Mode, operation: Option<TypeId>) {
        // SAFETY: the inserter has checked the datum's level, and holds the front lock if the datum is shared.
        unsafe {
            self.datum().end_reduction(inserter, operation);
            inserter.fetch_predecessors(self.datum().current(), mode);
        }
    }
}
