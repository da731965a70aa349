//! Insertion: what a task says about its data, what its body sees of them, and how it enters the runtime (`inserter.rs`).
//!
//! An access is made from a handle: [`Lent::read`](crate::Lent::read) and its siblings. Inserting the task turns it into a
//! *bound* access, a pointer to the version of that moment, which lies in the task's slot. When the task runs, the bound
//! access becomes what the body sees: `&T` for a read, `&mut T` for everything else, for the duration of the call.
//!
//! Accesses compose: tuples to twelve, arrays, and `Vec`s of accesses are accesses, and the body sees tuples, arrays and
//! `Vec`s of references.

mod closure;
mod front;
mod groups;
mod inserter;
pub(crate) mod modes;
mod reduce;
pub mod reductions;
mod scratch;

pub use closure::Outcome;
pub(crate) use closure::{Closure, Probe, computing, discard_bound, run_bound};
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

/// What a body sees of a bound access during a call of lifetime `'t`.
///
/// The second parameter only tells the compiler that `Self` outlives `'t`; leave it out.
pub trait ItemOf<'t, Implied = &'t Self> {
    /// `&'t T`, `&'t mut T`, or a tuple, array or `Vec` of such.
    type Item;
}

/// What the body sees for the accesses `A`.
pub type Item<'t, B> = <B as ItemOf<'t>>::Item;

/// An access, or several, as they are given to [`Scope::spawn`](crate::Scope::spawn); `'d` is how long the data live.
///
/// Implemented by the access types of this module, by tuples to twelve, arrays and `Vec`s of them, and by nothing else.
pub trait Accesses<'d>: sealed::Accesses {}

/// An access bound to a version; the body's side of [`Accesses`].
pub trait Bound: sealed::Bound {}

impl<B: sealed::Bound> Bound for B {}

/// The bound form of the accesses `A`.
pub type BoundOf<A> = <A as sealed::Accesses>::Bound;

pub(crate) mod sealed {
    use super::*;

    pub trait Accesses {
        type Bound: super::Bound;

        /// Visits each handle that is named.
        fn names(&self, visit: &mut impl FnMut(Named));

        /// Ends the reductions that these accesses do not continue. The caller is the inserter of the data's level.
        fn prepare(&self, inserter: &Inserter<'_>);

        /// Enters the accesses into their data's hazards and binds them.
        fn enter(self, insertion: &mut Insertion<'_>) -> Self::Bound;
    }

    pub trait Bound: for<'t> ItemOf<'t> + Sized {
        /// Whether any of the accesses commutes.
        const COMMUTES: bool;

        /// The failure that spoiled one of the inputs.
        fn poison(&self) -> Option<Arc<Failure>>;

        /// What the body sees.
        ///
        /// # Safety
        /// The task is running: every hazard is resolved and every exclusion held. Called once.
        unsafe fn item<'t>(&'t mut self) -> <Self as ItemOf<'t>>::Item;

        /// Leaves the outputs valid, or spoiled by the failure.
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

/// Marks a type as exact in a lifetime: neither a longer nor a shorter one will do.
pub(crate) type Invariant<'d> = PhantomData<fn(&'d ()) -> &'d ()>;

/// The part that all single accesses have in common: which datum, for how long the handle is borrowed (`'h`) and for how
/// long the data live (`'d`).
pub(crate) struct Target<'h, 'd, T: ?Sized> {
    datum: NonNull<Datum<T>>,
    borrows: PhantomData<&'h ()>,
    lives: Invariant<'d>,
}

impl<'h, 'd, T: ?Sized> Target<'h, 'd, T> {
    /// # Safety
    /// The datum lives for `'h`, and longer if a task that names it needs it longer.
    pub(crate) unsafe fn new(datum: NonNull<Datum<T>>) -> Self {
        Self { datum, borrows: PhantomData, lives: PhantomData }
    }

    fn datum(&self) -> &Datum<T> {
        // SAFETY: `new`'s caller promised it for `'h`, which outlives `self`.
        unsafe { self.datum.as_ref() }
    }

    fn named(&self, mode: Mode) -> Named {
        let datum = self.datum();
        Named { datum: self.datum.as_ptr().cast_const().cast(), mode, origin: datum.origin, shared: datum.shared }
    }

    fn prepare(&self, inserter: &Inserter<'_>, operation: Option<TypeId>) {
        // SAFETY: the inserter has checked the datum's level, and holds the front lock if the datum is shared.
        unsafe { self.datum().end_reduction(inserter, operation) }
    }
}
