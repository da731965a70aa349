//! Reductions: many tasks contribute to one value, each through a private *partial value*.
//!
//! A run of `reduce` accesses by one operation opens a *reduction* on the datum. Its tasks do not wait for each other.
//! Each task takes a partial value that no other task is using, or creates one as the operation's identity. It adds its
//! contribution and puts the partial value back. So there are never more partial values than tasks running at once. The
//! first access that is not a reduction by the same operation, or the end of the scope, inserts a `combine` task. It
//! waits for all tasks of the reduction and folds the partial values into the value. The order of folding is not fixed,
//! so the rounding of floating-point sums may differ from run to run.

use super::{AccessTarget, Accesses, ItemOf, Named, sealed};
use crate::{
    datum::{Datum, Exclusion, Execution, Version},
    error::{Failure, run_guarded},
    hazard::Mode,
    insert::{Inserter, Insertion},
    panics::drop_guarded,
    task::{Fail, Runnable, TaskResult, TaskSpec},
};
use std::{any::TypeId, marker::PhantomData, ptr::NonNull, sync::Arc};

/// An associative and commutative operation with an identity.
///
/// The operation is a type without state; a type of nonzero size is rejected at compile time.
///
/// ```
/// # extern crate superscalar_runtime as superscalar;
/// use superscalar::{Reduction, Runtime};
/// struct Sum;
/// impl Reduction<f64> for Sum {
///     fn identity() -> f64 {
///         0.0
///     }
///     fn combine(into: &mut f64, partial: f64) {
///         *into += partial;
///     }
/// }
/// # fn main() -> Result<(), superscalar::Error> {
/// let rt = Runtime::builder().workers(2).build()?;
/// let mut total = 1.0;
/// rt.scope(|s| {
///     let total = s.lend(&mut total);
///     for i in 1..=10 {
///         s.spawn("add", total.reduce(Sum), move |partial| *partial += f64::from(i));
///     }
/// })?;
/// assert_eq!(total, 56.0);
/// # Ok(())
/// # }
/// ```
pub trait Reduction<T>: 'static {
    /// Returns the identity, with which each partial value starts. Combining it changes nothing.
    fn identity() -> T;

    /// Folds a partial value into the value `into`.
    fn combine(into: &mut T, partial: T);
}

/// Contributes to a value; the body sees `&mut T`, a partial value. Made by [`Lent::reduce`](crate::Lent::reduce).
#[must_use = "an access does nothing until it is given to a task"]
pub struct Reduce<'h, 'd, T, R>(pub(crate) AccessTarget<'h, 'd, T>, pub(crate) PhantomData<R>);

/// The bound form of [`Reduce`].
pub struct BoundReduce<T, R> {
    version: NonNull<Version<T>>,
    partial: Option<Box<T>>,
    operation: PhantomData<fn() -> R>,
}

// SAFETY: it has a pointer to a version, which is `Sync`, and a partial value, which is `Send` like every datum's
// value.
unsafe impl<T, R> Send for BoundReduce<T, R> {}

impl<'s, 'd: 's, T, R: Reduction<T>> Accesses<'s> for Reduce<'_, 'd, T, R> {}

impl<T, R: Reduction<T>> sealed::Accesses for Reduce<'_, '_, T, R> {
    type Bound = BoundReduce<T, R>;

    fn names(&self, visit: &mut impl FnMut(Named)) {
        const { assert!(size_of::<R>() == 0, "a reduction's type carries no state") };
        visit(self.0.named(Mode::Reduce));
    }

    fn prepare(&self, inserter: &Inserter<'_>) {
        self.0.prepare(inserter, Mode::Reduce, Some(TypeId::of::<R>()));
    }

    fn enter(self, insertion: &mut Insertion<'_>) -> Self::Bound {
        let datum = self.0.datum();
        // SAFETY: `Insertion` exists only while its owner is the inserter of the data's level.
        let version = unsafe {
            datum.open_reduction(TypeId::of::<R>(), insert_combine::<T, R>);
            datum.current()
        };
        insertion.access(version, Mode::Reduce);
        BoundReduce { version: NonNull::from(version), partial: None, operation: PhantomData }
    }
}

impl<'t, T, R> ItemOf<'t, &'t BoundReduce<T, R>> for BoundReduce<T, R> {
    type Item = &'t mut T;
}

impl<T, R: Reduction<T>> sealed::Bound for BoundReduce<T, R> {
    const COMMUTES: bool = false;

    fn poison(&self) -> Option<Arc<Failure>> {
        // SAFETY: versions live until every task that names their datum is done.
        unsafe { self.version.as_ref() }.execution.poison()
    }

    unsafe fn item<'t>(&'t mut self) -> <Self as ItemOf<'t>>::Item {
        // SAFETY: versions live until every task that names their datum is done.
        let unused = unsafe { self.version.as_ref() }.execution.partial_values().pop();
        self.partial.insert(match unused {
            // SAFETY: the partial values of this version are boxes of `T`, put there by `settle`. This one was taken
            // out of the list, so nobody else owns it.
            Some(partial) => unsafe { Box::from_raw(partial.cast::<T>().as_ptr()) },
            None => Box::new(R::identity()),
        })
    }

    fn settle(mut self, result: Result<(), &Arc<Failure>>) {
        // SAFETY: versions live until every task that names their datum is done, and this one is not done yet.
        let execution = &unsafe { self.version.as_ref() }.execution;
        match (result, self.partial.take()) {
            (Ok(()), Some(partial)) => execution.partial_values().push(NonNull::from(Box::leak(partial)).cast()),
            (Ok(()), None) => {}
            // A failed body may have left its partial value invalid, so the combined value is invalid, too.
            (Err(failure), partial) => {
                execution.set_first_poison(failure);
                // The destructor may panic; the task has failed anyway.
                drop_guarded(partial);
            }
        }
    }

    fn exclusions(&self, _: &mut Vec<*const Exclusion>) {}

    /// Visits nothing: a partial value is not the value of a version.
    fn uses(&self, _: &mut dyn FnMut(&Execution, Mode)) {}
}

/// The task that ends a reduction.
struct Combine<T, R> {
    version: NonNull<Version<T>>,
    operation: PhantomData<fn() -> R>,
}

impl<T: ?Sized> Datum<T> {
    /// Ends the open reduction, unless the next access continues it.
    ///
    /// # Safety
    /// The caller is the inserter of the datum's level.
    #[inline]
    pub(crate) unsafe fn end_reduction(&self, inserter: &Inserter<'_>, next: Option<TypeId>) {
        // SAFETY: the caller is the inserter of the level. Reductions are opened only in this module, with
        // `insert_combine`, which expects the address of an inserter.
        unsafe { self.close_reduction(NonNull::from(inserter).cast(), next) }
    }
}

/// Inserts the task that ends a reduction.
///
/// # Safety
/// The address is that of an inserter, and it is the inserter of the datum's level.
unsafe fn insert_combine<T, R: Reduction<T>>(inserter: NonNull<()>, datum: &Datum<T>) {
    // SAFETY: the address is that of the inserter passed to `end_reduction`, which outlives the call.
    unsafe { inserter.cast::<Inserter<'_>>().as_ref() }.insert_internal(TaskSpec::new("combine"), |insertion| {
        // SAFETY: `Insertion` exists only while its owner is the inserter of the data's level.
        let version = unsafe { datum.current() };
        insertion.access(version, Mode::ReadWrite);
        Combine::<T, R> { version: NonNull::from(version), operation: PhantomData }
    });
}

impl<T, R: Reduction<T>> Runnable for Combine<T, R> {
    fn uses(&self, visit: &mut dyn FnMut(&Execution, Mode)) {
        // SAFETY: versions live until every task that names their datum is done, and this task is one of them.
        visit(&unsafe { self.version.as_ref() }.execution, Mode::ReadWrite);
    }

    fn run(self, fail: Fail<'_>) -> TaskResult {
        // SAFETY: versions live until every task that names their datum is done, and this task is one of them.
        let version = unsafe { self.version.as_ref() };
        if let Some(failure) = version.execution.poison() {
            self.discard(&failure);
            return TaskResult::Cancelled(failure);
        }
        let combined = run_guarded(|| {
            while let Some(partial) = { version.execution.partial_values().pop() } {
                // SAFETY: a partial value is a box of `T`, and it was taken out of the list. By its hazards this task
                // is the only one that accesses the value now.
                unsafe { R::combine(version.place().as_mut(), *Box::from_raw(partial.cast::<T>().as_ptr())) };
            }
            Ok(())
        });
        match combined {
            Ok(()) => TaskResult::Completed,
            Err(cause) => {
                let failure = fail(cause);
                self.discard(&failure);
                TaskResult::Failed(failure)
            }
        }
    }

    fn discard(self, failure: &Arc<Failure>) {
        // SAFETY: versions live until every task that names their datum is done, and this task is one of them.
        let version = unsafe { self.version.as_ref() };
        // These partial values will never be combined.
        for partial in std::mem::take(&mut *version.execution.partial_values()) {
            // SAFETY: a partial value is a box of `T`, and it was taken out of the list.
            drop_guarded(unsafe { Box::from_raw(partial.cast::<T>().as_ptr()) });
        }
        version.execution.set_poison(failure);
    }
}
