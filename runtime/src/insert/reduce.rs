//! Reductions: many tasks contribute to one value, each into a private part.
//!
//! A run of `reduce` accesses by one operation opens a *reduction* on the datum. Its tasks do not wait for each other.
//! Each takes a part that no other task is using, or creates one as the operation's identity; adds to it; and puts it
//! back. So there are never more parts than tasks running at once. The first access that is not a reduction by the same
//! operation, or the end of the scope, inserts a `combine` task, which waits for all of them and folds the parts into
//! the value. The order of folding is not fixed, so the rounding of floating-point sums may differ from run to run.

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
///     fn combine(into: &mut f64, part: f64) {
///         *into += part;
///     }
/// }
/// # fn main() -> Result<(), superscalar::Error> {
/// let rt = Runtime::builder().workers(2).build()?;
/// let mut total = 1.0;
/// rt.scope(|s| {
///     let total = s.lend(&mut total);
///     for i in 1..=10 {
///         s.spawn("add", total.reduce(Sum), move |part| *part += f64::from(i));
///     }
/// })?;
/// assert_eq!(total, 56.0);
/// # Ok(())
/// # }
/// ```
pub trait Reduction<T>: 'static {
    /// Returns the identity: combining it changes nothing. Each part starts with it.
    fn identity() -> T;

    /// Folds a part into the value.
    fn combine(into: &mut T, part: T);
}

/// Contributes to a value; the body sees `&mut T`, a private part. Made by [`Lent::reduce`](crate::Lent::reduce).
#[must_use = "an access does nothing until it is given to a task"]
pub struct Reduce<'h, 'd, T, R>(pub(crate) AccessTarget<'h, 'd, T>, pub(crate) PhantomData<R>);

/// The bound form of [`Reduce`].
pub struct BoundReduce<T, R> {
    version: NonNull<Version<T>>,
    part: Option<Box<T>>,
    operation: PhantomData<fn() -> R>,
}

// SAFETY: it is a pointer to a version, which is `Sync`, and a part, which is `Send` like every datum's value.
unsafe impl<T, R> Send for BoundReduce<T, R> {}

impl<'s, 'd: 's, T, R: Reduction<T>> Accesses<'s> for Reduce<'_, 'd, T, R> {}

impl<T, R: Reduction<T>> sealed::Accesses for Reduce<'_, '_, T, R> {
    type Bound = BoundReduce<T, R>;

    fn names(&self, visit: &mut impl FnMut(Named)) {
        const { assert!(size_of::<R>() == 0, "a reduction's type carries no state") };
        visit(self.0.named(Mode::Reduce));
    }

    fn prepare(&self, inserter: &Inserter<'_>) {
        self.0.prepare(inserter, Some(TypeId::of::<R>()));
    }

    fn enter(self, insertion: &mut Insertion<'_>) -> Self::Bound {
        let datum = self.0.datum();
        // SAFETY: `Insertion` exists only while its owner is the inserter of the data's level.
        let version = unsafe {
            datum.open_reduction(TypeId::of::<R>(), insert_combine::<T, R>);
            datum.current()
        };
        insertion.access(version, Mode::Reduce);
        BoundReduce { version: NonNull::from(version), part: None, operation: PhantomData }
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
        let kept = unsafe { self.version.as_ref() }.execution.parts().pop();
        self.part.insert(match kept {
            // SAFETY: parts of this version are boxes of `T`, put there by `settle`.
            Some(part) => unsafe { Box::from_raw(part.cast::<T>().as_ptr()) },
            None => Box::new(R::identity()),
        })
    }

    fn settle(mut self, result: Result<(), &Arc<Failure>>) {
        // SAFETY: versions live until every task that names their datum is done, and this one is not done yet.
        let execution = &unsafe { self.version.as_ref() }.execution;
        match (result, self.part.take()) {
            (Ok(()), Some(part)) => execution.parts().push(NonNull::from(Box::leak(part)).cast()),
            (Ok(()), None) => {}
            // A part changed by a failed body is invalid, and so is the sum.
            (Err(failure), part) => {
                execution.set_first_poison(failure);
                // The part may panic when it is dropped; the task has failed all the same.
                drop_guarded(part);
            }
        }
    }

    fn exclusions(&self, _: &mut Vec<*const Exclusion>) {}

    /// Visits nothing: a part is not the value of a version.
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
    // SAFETY: it is the inserter that `end_reduction` was given, which outlives the call.
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
            while let Some(part) = { version.execution.parts().pop() } {
                // SAFETY: a part is a box of `T`; this task is the only writer of the value now.
                unsafe { R::combine(version.place().as_mut(), *Box::from_raw(part.cast::<T>().as_ptr())) };
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
        // These parts will never be combined.
        for part in std::mem::take(&mut *version.execution.parts()) {
            // SAFETY: a part is a box of `T`, and it was taken out of the list.
            drop_guarded(unsafe { Box::from_raw(part.cast::<T>().as_ptr()) });
        }
        version.execution.set_poison(failure);
    }
}
