//! Handles to data that the runtime owns.

use crate::{
    datum::{Datum, Execution, Level, Origin},
    error::{Error, Failure},
    hazard::Mode,
    insert::{AccessTarget, Commute, EmptyBody, Inserter, Read, ReadWrite, Reduce, Reduction, Write},
    panics::catch_panic,
    recording::TaskId,
    shared::Shared,
    task::{Fail, Runnable, TaskResult, TaskSpec},
};
use std::{marker::PhantomData, mem::ManuallyDrop, panic::Location, ptr::NonNull, sync::Arc};

/// A value owned by the runtime and named by its tasks, created by [`Runtime::register`](crate::Runtime::register).
///
/// Unlike data lent to a scope, the value outlives scopes and can be shared by threads. [`take`](Self::take) returns
/// the value; dropping the handle drops the value once the tasks that name it are done.
///
/// ```
/// # extern crate superscalar_runtime as superscalar;
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

// SAFETY: the datum is `Sync` for these `T`, and the front lock serializes insertion of tasks that name it.
unsafe impl<T: Send + Sync> Send for Handle<T> {}
// SAFETY: the datum is `Sync` for these `T`, and the front lock serializes insertion of tasks that name it.
unsafe impl<T: Send + Sync> Sync for Handle<T> {}

impl<T: Send + Sync + 'static> Handle<T> {
    pub(crate) fn new(shared: Arc<Shared>, value: T, level: Level) -> Self {
        let place = NonNull::from(Box::leak(Box::new(value)));
        let origin = Origin { runtime: Arc::as_ptr(&shared).cast(), level };
        // SAFETY: the value is freed with the datum, by `take` or `ReleaseTask`, after every task that names it.
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

    fn target(&self) -> AccessTarget<'_, 'static, T> {
        // SAFETY: the datum lives as long as the handle, and then until every task that names it is done.
        unsafe { AccessTarget::new(self.datum) }
    }

    /// Reads the value; the body sees `&T`.
    pub fn read(&self) -> Read<'_, 'static, T> {
        Read(self.target())
    }

    /// Overwrites the value; the body sees `&mut T` and must overwrite all of it.
    pub fn write(&self) -> Write<'_, 'static, T> {
        Write(self.target())
    }

    /// Reads and changes the value; the body sees `&mut T`.
    pub fn read_write(&self) -> ReadWrite<'_, 'static, T> {
        ReadWrite(self.target())
    }

    /// Changes the value, one task at a time, in any order among neighbours that commute; the body sees `&mut T`.
    pub fn commute(&self) -> Commute<'_, 'static, T> {
        Commute(self.target())
    }

    /// Contributes to the value by `operation`; the body sees `&mut T`, a partial value that starts as the operation's
    /// identity.
    pub fn reduce<R: Reduction<T>>(&self, _operation: R) -> Reduce<'_, 'static, T, R> {
        Reduce(self.target(), PhantomData)
    }

    /// Lets a write use a fresh place instead of waiting; see [`Lent::renaming`](crate::Lent::renaming).
    #[must_use]
    pub fn renaming(self, fresh: impl Fn() -> T + Send + 'static) -> Self {
        let front = self.shared.lock_front();
        // SAFETY: this thread holds the front lock, which makes it the inserter of shared data.
        let former = unsafe { self.datum.as_ref().allow_renaming(Box::new(move || Box::new(fresh()))) };
        drop(front);
        drop(former);
        self
    }

    /// Waits for the tasks that name the value, running other tasks meanwhile, and returns the value.
    ///
    /// # Errors
    /// Returns the failure that poisoned the value; the value is then dropped. Also returns an error if it is called
    /// inside a task's body and the handle was created outside that body: the task could be waiting for itself.
    #[track_caller]
    pub fn take(self) -> Result<T, Error> {
        let (mut inserted, site) = (Ok(TaskId::default()), Location::caller());
        let joined = self.shared.with_thread_context(|context| {
            context.open(&self.shared, |inserter| {
                inserted = inserter.insert(&TaskSpec::new("take"), site, self.read_write(), EmptyBody);
                if inserted.is_ok() {
                    self.await_versions(inserter);
                }
            })
        });
        inserted.and(joined)?;
        let handle = ManuallyDrop::new(self);
        // SAFETY: every task that named the datum is done. The handle is consumed and its destructor does not run, so
        // each field is moved out exactly once.
        unsafe {
            let _shared = std::ptr::read(&handle.shared);
            handle.datum.as_ref().settle();
            Ok(*free(handle.datum))
        }
    }

    /// Inserts a task that also waits for the users of old versions, which a renamed write did not wait for.
    fn await_versions(&self, inserter: &Inserter<'_>) {
        let _front = self.shared.lock_front();
        // SAFETY: this thread holds the front lock, which makes it the inserter of shared data.
        let datum = unsafe { self.datum.as_ref() };
        // SAFETY: this thread holds the front lock, which makes it the inserter of shared data.
        if unsafe { datum.versions() }.count() == 1 {
            return;
        }
        inserter.insert_internal(TaskSpec::new("take"), |insertion| {
            // SAFETY: this thread holds the front lock, which makes it the inserter of shared data.
            unsafe { datum.versions() }.for_each(|version| insertion.access(version, Mode::ReadWrite));
            EmptyBody(())
        });
    }
}

/// Frees a datum and returns its value.
///
/// # Safety
/// No task or handle uses the datum any more, and it was made by [`Handle::new`].
unsafe fn free<T>(datum: NonNull<Datum<T>>) -> Box<T> {
    // SAFETY: `Handle::new` leaked both from boxes, and by the caller's contract this is the last use of the datum.
    unsafe {
        let datum = Box::from_raw(datum.as_ptr());
        Box::from_raw(datum.home().as_ptr())
    }
}

impl<T: Send + Sync + 'static> Drop for Handle<T> {
    fn drop(&mut self) {
        let datum = self.datum;
        self.shared.at_front(|inserter| {
            // SAFETY: at the front, this thread is the inserter of shared data; the datum lives until `ReleaseTask` has
            // run.
            let datum_ref = unsafe { datum.as_ref() };
            // SAFETY: at the front, this thread is the inserter of shared data.
            unsafe { datum_ref.end_reduction(inserter, None) };
            inserter.insert_internal(TaskSpec::new("drop"), |insertion| {
                // SAFETY: at the front, this thread is the inserter of shared data.
                unsafe { datum_ref.versions() }.for_each(|version| insertion.access(version, Mode::ReadWrite));
                ReleaseTask(datum)
            });
        });
        if self.shared.is_closing() {
            // The runtime was dropped and its workers have ended, so this thread runs the tasks that are left.
            self.shared.with_thread_context(|context| self.shared.run_leftovers(context.seat));
        }
    }
}

/// The task that frees a value whose handle was dropped.
struct ReleaseTask<T>(NonNull<Datum<T>>);

impl<T> ReleaseTask<T> {
    fn release(self) {
        // A panic in the value's destructor is ignored.
        // SAFETY: this task waited for every task that names the datum, and the handle is gone.
        let _ = catch_panic(|| drop(unsafe { free(self.0) }));
    }
}

impl<T> Runnable for ReleaseTask<T> {
    fn uses(&self, visit: &mut dyn FnMut(&Execution, Mode)) {
        // SAFETY: this task has waited for all others, so it is the datum's only user.
        unsafe { self.0.as_ref().versions() }.for_each(|version| visit(&version.execution, Mode::Write));
    }

    fn run(self, _: Fail<'_>) -> TaskResult {
        self.release();
        TaskResult::Completed
    }

    fn discard(self, _: &Arc<Failure>) {
        self.release();
    }
}
