//! Handles to data that the runtime owns.

use crate::{
    datum::{Datum, Execution, Level, Origin},
    error::{Error, Failure},
    hazard::Mode,
    insert::{Commute, Inserter, Probe, Read, ReadWrite, Reduce, Reduction, Target, Write},
    panics::caught,
    recording::TaskId,
    shared::Shared,
    task::{Fail, Runnable, TaskSpec, Verdict},
};
use std::{marker::PhantomData, mem::ManuallyDrop, panic::Location, ptr::NonNull, sync::Arc};

/// A value that the runtime keeps for its tasks, made by [`Runtime::register`](crate::Runtime::register).
///
/// Unlike what is lent to a scope, it outlives scopes, and threads share it. [`take`](Self::take) gives the value back;
/// dropping the handle drops the value once the tasks that name it are done.
///
/// ```
/// use superscalar::Runtime;
/// # fn main() -> Result<(), superscalar::Error> {
/// let rt = Runtime::builder().workers(2).build()?;
/// let x = rt.register(20);
/// rt.spawn("double", x.read_write(), |x| *x *= 2)?;
/// rt.spawn("add", x.read_write(), |x| *x += 2)?;
/// assert_eq!(x.take()?, 42);
/// # Ok(())
/// # }
/// ```
pub struct Handle<T: Send + Sync + 'static> {
    shared: Arc<Shared>,
    datum: NonNull<Datum<T>>,
}

// SAFETY: the datum is `Sync` for these `T`, and shared data are inserted under the front lock.
unsafe impl<T: Send + Sync> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Handle<T> {}

impl<T: Send + Sync + 'static> Handle<T> {
    pub(crate) fn new(shared: Arc<Shared>, value: T, level: Level) -> Self {
        let place = NonNull::from(Box::leak(Box::new(value)));
        let origin = Origin { runtime: Arc::as_ptr(&shared).cast(), level };
        // SAFETY: the value is freed with the datum, by `take` or `Release`, after every task that names it.
        let datum = unsafe { Datum::new(place, origin, true) };
        Self { shared, datum: NonNull::from(Box::leak(datum)) }
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(crate) fn datum(&self) -> &Datum<T> {
        // SAFETY: the datum lives as long as the handle.
        unsafe { self.datum.as_ref() }
    }

    fn target(&self) -> Target<'_, 'static, T> {
        // SAFETY: the datum lives as long as the handle, and then until every task that names it is done.
        unsafe { Target::new(self.datum) }
    }

    /// Uses the value; the body sees `&T`.
    pub fn read(&self) -> Read<'_, 'static, T> {
        Read(self.target())
    }

    /// Makes a new value; the body sees `&mut T` and must overwrite all of it.
    pub fn write(&self) -> Write<'_, 'static, T> {
        Write(self.target())
    }

    /// Changes the value; the body sees `&mut T`.
    pub fn read_write(&self) -> ReadWrite<'_, 'static, T> {
        ReadWrite(self.target())
    }

    /// Changes the value, in any order among neighbours that commute, one at a time; the body sees `&mut T`.
    pub fn commute(&self) -> Commute<'_, 'static, T> {
        Commute(self.target())
    }

    /// Contributes to the value by `operation`; the body sees `&mut T`, a private part that starts as its identity.
    pub fn reduce<R: Reduction<T>>(&self, _operation: R) -> Reduce<'_, 'static, T, R> {
        Reduce(self.target(), PhantomData)
    }

    /// Lets a write take a fresh place instead of waiting; see [`Lent::renaming`](crate::Lent::renaming).
    #[must_use]
    pub fn renaming(self, fresh: impl Fn() -> T + Send + 'static) -> Self {
        let front = self.shared.lock_front();
        // SAFETY: holding the front lock makes this thread the inserter of shared data.
        let former = unsafe { self.datum.as_ref().allow_renaming(Box::new(move || Box::new(fresh()))) };
        drop(front);
        drop(former);
        self
    }

    /// Waits, working, for the tasks that name the value, and gives it back.
    ///
    /// # Errors
    /// The failure that spoiled the value, which is dropped. Also if it is called inside the body of a task while the handle
    /// was made outside of it: that task could be waiting for itself.
    #[track_caller]
    pub fn take(self) -> Result<T, Error> {
        let (mut inserted, site) = (Ok(TaskId::default()), Location::caller());
        let joined = self.shared.with_entry(|entry| {
            entry.open(&self.shared, |inserter| {
                inserted = inserter.insert(&TaskSpec::new("take"), site, self.read_write(), Probe);
                if inserted.is_ok() {
                    self.await_versions(inserter);
                }
            })
        });
        inserted.and(joined)?;
        let handle = ManuallyDrop::new(self);
        // SAFETY: every task that named the datum is done, the handle is consumed and will not be dropped; its fields are
        // taken out once each.
        unsafe {
            let _shared = std::ptr::read(&handle.shared);
            handle.datum.as_ref().settle();
            Ok(*free(handle.datum))
        }
    }

    /// Inserts a task that waits for the users of old values, too: where writes are renamed, the last one did not.
    fn await_versions(&self, inserter: &Inserter<'_>) {
        let _front = self.shared.lock_front();
        // SAFETY: the front lock makes this thread the inserter of shared data.
        let datum = unsafe { self.datum.as_ref() };
        // SAFETY: as above.
        if unsafe { datum.versions() }.count() == 1 {
            return;
        }
        inserter.insert_internal(TaskSpec::new("take"), |insertion| {
            // SAFETY: as above.
            unsafe { datum.versions() }.for_each(|version| insertion.access(version, Mode::ReadWrite));
            Probe(())
        });
    }
}

/// Takes a datum and its value apart.
///
/// # Safety
/// Nobody uses the datum any more; it was made by [`Handle::new`].
unsafe fn free<T>(datum: NonNull<Datum<T>>) -> Box<T> {
    // SAFETY: both were leaked from boxes in `Handle::new`; the caller promises that this is the last use.
    unsafe {
        let datum = Box::from_raw(datum.as_ptr());
        Box::from_raw(datum.home().as_ptr())
    }
}

impl<T: Send + Sync + 'static> Drop for Handle<T> {
    fn drop(&mut self) {
        let datum = self.datum;
        self.shared.at_front(|inserter| {
            // SAFETY: at the front, this thread is the inserter of shared data; the datum lives until `Release` ran.
            let datum_ref = unsafe { datum.as_ref() };
            // SAFETY: as above.
            unsafe { datum_ref.end_reduction(inserter, None) };
            inserter.insert_internal(TaskSpec::new("drop"), |insertion| {
                // SAFETY: as above.
                unsafe { datum_ref.versions() }.for_each(|version| insertion.access(version, Mode::ReadWrite));
                Release(datum)
            });
        });
        if self.shared.is_closing() {
            // The runtime is gone, and its workers with it.
            self.shared.with_entry(|entry| self.shared.run_leftovers(entry.seat));
        }
    }
}

/// The task that ends a value whose handle was dropped.
struct Release<T>(NonNull<Datum<T>>);

impl<T> Release<T> {
    fn release(self) {
        // A value may panic when it is dropped; it is nobody's failure.
        // SAFETY: this task waited for every task that names the datum, and the handle is gone.
        let _ = caught(|| drop(unsafe { free(self.0) }));
    }
}

impl<T> Runnable for Release<T> {
    fn uses(&self, visit: &mut dyn FnMut(&Execution, Mode)) {
        // SAFETY: at its turn, this task is the datum's only user.
        unsafe { self.0.as_ref().versions() }.for_each(|version| visit(&version.execution, Mode::Write));
    }

    fn run(self, _: Fail<'_>) -> Verdict {
        self.release();
        Verdict::Completed
    }

    fn discard(self, _: &Arc<Failure>) {
        self.release();
    }
}
