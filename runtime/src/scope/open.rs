//! Scopes: opening a scope, inserting its tasks, and joining it.

use super::{Lent, Output, View};
use crate::{
    datum::{Datum, Execution, Level},
    error::{Cause, Error, Failure},
    hazard::Mode,
    insert::{Accesses, BoundOf, Closure, EmptyBody, Inserter, Item, Outcome, Pool, ScratchPool, computing},
    panics::{abort_on_panic, drop_guarded},
    recording::TaskId,
    scope_state::NO_TASK,
    seat::Frame,
    shared::Shared,
    task::{Fail, Runnable, TaskResult, TaskSpec},
    worker::ThreadContext,
};
use std::{
    cell::RefCell,
    marker::PhantomData,
    panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind},
    ptr::NonNull,
    sync::Arc,
};

/// A scope: serial code whose tasks run in parallel. Made by [`Runtime::scope`](crate::Runtime::scope).
///
/// `'scope` is the lifetime of the scope, of its handles and of its bodies; `'env` is the lifetime of the data that it
/// may borrow.
///
/// When its tasks are done, a scope drops the values that it owns one by one. The destructor of one value must not use
/// another, which may be dropped already. So a value with a destructor must live for `'env`; handles, results and
/// borrows of the scope do not live that long.
pub struct Scope<'scope, 'env: 'scope> {
    inserter: &'scope Inserter<'scope>,
    /// The data and pools that are freed when every task is done. `keep` erases their lifetimes, and `enter` frees
    /// them.
    kept: RefCell<Vec<NonNull<dyn ScopeOwned>>>,
    lifetime: PhantomData<(&'scope mut &'scope (), &'env mut &'env ())>,
}

/// A value that a scope frees at its end.
trait ScopeOwned {
    /// Inserts the tasks that must precede the scope's wait.
    fn close(&self, _: &Inserter<'_>) {}

    /// Inserts the tasks that copy the value back from devices.
    fn return_to_host(&self, _: &Inserter<'_>) {}

    /// Moves the value to the place where the user expects it. Every task is done.
    fn settle(&self) {}
}

impl<T: ?Sized> ScopeOwned for Datum<T> {
    fn close(&self, inserter: &Inserter<'_>) {
        // SAFETY: the scope's thread is the inserter of the data that it lent.
        unsafe { self.end_reduction(inserter, None) };
    }

    fn return_to_host(&self, inserter: &Inserter<'_>) {
        // SAFETY: the scope's thread is the inserter of the data that it lent.
        for version in unsafe { self.versions() }.filter(|version| version.execution.may_be_on_device()) {
            // SAFETY: the scope's thread is the inserter of the data that it lent. If the last accesses are reads, the
            // value is final and can be copied to the host while other tasks still read it on a device.
            let early = unsafe { version.hazard_state() }.hazards.ends_in_reads().then_some(Mode::Read);
            for mode in early.into_iter().chain([Mode::ReadWrite]) {
                // A worker only starts the copies. Behind the host's own tasks, that would leave the link idle.
                inserter.insert_internal(TaskSpec::new("return").priority(i32::MAX), |insertion| {
                    insertion.access(version, mode);
                    ReturnTask { value: NonNull::from(&version.execution), mode }
                });
            }
        }
    }

    fn settle(&self) {
        // SAFETY: every task of the scope is done, and tasks of other scopes cannot name its data.
        unsafe { Datum::settle(self) };
    }
}

/// A task that copies a value back from devices. Its body is empty, because the value is on the host when it runs. In
/// mode `ReadWrite`, it also invalidates the replicas on devices.
struct ReturnTask {
    value: NonNull<Execution>,
    mode: Mode,
}

impl Runnable for ReturnTask {
    const RENAMES: bool = false;

    fn uses(&self, visit: &mut dyn FnMut(&Execution, Mode)) {
        // SAFETY: versions live until every task that names their datum is done.
        visit(unsafe { self.value.as_ref() }, self.mode);
    }

    fn run(self, _: Fail<'_>) -> TaskResult {
        TaskResult::Completed
    }

    fn discard(self, _: &Arc<Failure>) {}
}

impl<T> ScopeOwned for Pool<T> {}

/// A value that the scope owns, separate from its datum. Not a box, because tasks have pointers to the value.
struct OwnedValue<T>(NonNull<T>);

impl<T> ScopeOwned for OwnedValue<T> {}

impl<T> Drop for OwnedValue<T> {
    fn drop(&mut self) {
        // SAFETY: leaked from a box in `Scope::own_unchecked`; every task is done.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Lends a value (or a slice, or anything borrowed) to the scope's tasks until the scope ends.
    pub fn lend<T: ?Sized + Send + Sync>(&'scope self, value: &'scope mut T) -> Lent<'scope, T> {
        self.lend_place(NonNull::from(value))
    }

    /// Gives a value to the scope's tasks; it is dropped when the scope ends.
    ///
    /// The value may borrow from outside the scope, but not from the scope itself; use [`own_view`](Self::own_view) for
    /// views that do.
    pub fn own<T: Send + Sync + 'env>(&'scope self, value: T) -> Lent<'scope, T> {
        // SAFETY: the value lives for `'env`, so its destructor cannot access anything that ends with the scope.
        unsafe { self.own_unchecked(value) }
    }

    /// Gives a view, such as a tile of a matrix lent to the scope, to the scope's tasks; it is dropped when the scope
    /// ends.
    ///
    /// ```
    /// # extern crate superscalar_runtime as superscalar;
    /// use superscalar::Runtime;
    /// # fn main() -> Result<(), superscalar::Error> {
    /// let rt = Runtime::builder().workers(2).build()?;
    /// let mut x = [1, 2, 3, 4];
    /// rt.scope(|s| {
    ///     let (even, odd) = x.split_at_mut(2);
    ///     let both = s.own_view([even, odd]);
    ///     s.spawn("swap", both.read_write(), |[a, b]| a.swap_with_slice(b));
    /// })?;
    /// assert_eq!(x, [3, 4, 1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn own_view<T: View + Send + Sync + 'scope>(&'scope self, view: T) -> Lent<'scope, T> {
        // SAFETY: by the contract of `View`, the destructor uses nothing that one of the view's lifetimes stands for.
        unsafe { self.own_unchecked(view) }
    }

    /// Gives a value to the scope's tasks.
    ///
    /// # Safety
    /// The value's destructor uses nothing that lives only as long as the scope.
    pub(crate) unsafe fn own_unchecked<T: Send + Sync + 'scope>(&'scope self, value: T) -> Lent<'scope, T> {
        let place = NonNull::from(Box::leak(Box::new(value)));
        self.keep(Box::new(OwnedValue(place)));
        self.lend_place(place)
    }

    /// Splits a slice into pieces of `len` elements (the last may be shorter), and lends each piece as a datum of its
    /// own.
    ///
    /// # Panics
    /// Panics if `len` is zero.
    ///
    /// ```
    /// # extern crate superscalar_runtime as superscalar;
    /// use superscalar::Runtime;
    /// # fn main() -> Result<(), superscalar::Error> {
    /// let rt = Runtime::builder().workers(2).build()?;
    /// let mut x: Vec<u64> = (0..10).collect();
    /// rt.scope(|s| {
    ///     for piece in s.lend_chunks(&mut x, 4) {
    ///         s.spawn("double", piece.read_write(), |piece| piece.iter_mut().for_each(|x| *x *= 2));
    ///     }
    /// })?;
    /// assert_eq!(x[9], 18);
    /// # Ok(())
    /// # }
    /// ```
    pub fn lend_chunks<T: Send + Sync>(&'scope self, slice: &'scope mut [T], len: usize) -> Vec<Lent<'scope, [T]>> {
        slice.chunks_mut(len).map(|piece| self.lend(piece)).collect()
    }

    /// Creates a pool of working memory. Each task that accesses the pool gets a value made by `make`, or one that an
    /// earlier task has used.
    pub fn scratch<T: Send + 'env>(&'scope self, make: impl Fn() -> T + Send + Sync + 'env) -> ScratchPool<'scope, T> {
        let make: Box<dyn Fn() -> T + Send + Sync + 'env> = Box::new(make);
        // SAFETY: only the lifetime is erased; the pool is freed, and `make` with it, before `'env` ends.
        let make = unsafe {
            std::mem::transmute::<Box<dyn Fn() -> T + Send + Sync + 'env>, Box<dyn Fn() -> T + Send + Sync>>(make)
        };
        let pool = self.keep(Box::new(Pool::new(make)));
        ScratchPool { pool, lifetime: PhantomData }
    }

    /// Inserts a task: `body` runs with the data of `accesses`, after every earlier task that it has a hazard with.
    ///
    /// The body sees `&T` for a read and `&mut T` for every other mode; and tuples, arrays and `Vec`s of these for
    /// composed accesses. It returns nothing, or a `Result` whose error the scope returns.
    ///
    /// A task with invalid accesses is refused, which cancels the scope; see [`try_spawn`](Self::try_spawn).
    #[track_caller]
    #[inline]
    pub fn spawn<A, F, O>(&'scope self, spec: impl Into<TaskSpec>, accesses: A, body: F)
    where
        A: Accesses<'scope>,
        F: for<'t> FnOnce(Item<'t, BoundOf<A>>) -> O + Send + 'scope,
        O: Outcome,
    {
        if let Err(refusal) = self.try_spawn(spec, accesses, body) {
            self.refuse(&refusal);
        }
    }

    /// Inserts a task, and returns its serial number.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Refused`](crate::ErrorKind::Refused) if the task names a handle twice and not only for
    /// reading, or names a handle of another level (made outside the body that opened this scope). Nothing is inserted
    /// then.
    #[track_caller]
    #[inline]
    pub fn try_spawn<A, F, O>(&'scope self, spec: impl Into<TaskSpec>, accesses: A, body: F) -> Result<TaskId, Error>
    where
        A: Accesses<'scope>,
        F: for<'t> FnOnce(Item<'t, BoundOf<A>>) -> O + Send + 'scope,
        O: Outcome,
    {
        let make = |bound| Closure::new(bound, body);
        self.inserter.insert(&spec.into(), Location::caller(), accesses, make)
    }

    /// Inserts a task that computes a value, which the scope keeps until its end.
    ///
    /// ```
    /// # extern crate superscalar_runtime as superscalar;
    /// use superscalar::Runtime;
    /// # fn main() -> Result<(), superscalar::Error> {
    /// let rt = Runtime::builder().workers(2).build()?;
    /// let (mut x, mut y) = (vec![1.0, 2.0], vec![3.0, 4.0]);
    /// let norm = rt.scope(|s| {
    ///     let (x, y) = (s.lend(&mut x), s.lend(&mut y));
    ///     let dot = s.compute("dot", (x.read(), y.read()), |(x, y)| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>());
    ///     s.spawn("scale", (dot.read(), x.read_write()), |(dot, x)| x.iter_mut().for_each(|x| *x /= dot));
    ///     s.get(dot).copied()
    /// })??;
    /// assert_eq!((norm, x[0]), (11.0, 1.0 / 11.0));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn compute<A, F, R>(&'scope self, spec: impl Into<TaskSpec>, accesses: A, body: F) -> Output<'scope, R>
    where
        A: Accesses<'scope>,
        F: for<'t> FnOnce(Item<'t, BoundOf<A>>) -> R + Send + 'scope,
        R: Send + Sync + 'env,
    {
        let output = self.own(None);
        let make = |bound| Closure::new(bound, computing::<BoundOf<A>, R>(body));
        let inserted = self.inserter.insert(&spec.into(), Location::caller(), (accesses, output.write()), make);
        if let Err(refusal) = inserted {
            self.refuse(&refusal);
        }
        Output(output)
    }

    /// Waits for a result, running tasks meanwhile. Later tasks of the scope may run too.
    ///
    /// # Errors
    /// Returns the failure because of which there is no result.
    pub fn get<R: Send + Sync>(&'scope self, output: Output<'scope, R>) -> Result<&'scope R, Error> {
        self.wait_for(output.read())?;
        // SAFETY: the task that writes the output is done, and no other task ever writes it.
        let value = unsafe { output.0.datum().current().place().as_ref() };
        Ok(value.as_ref().unwrap_or_else(|| unreachable!("the task has succeeded")))
    }

    /// Waits until the accesses are possible, that is until every earlier task that they have a hazard with is done.
    /// Runs tasks meanwhile.
    ///
    /// # Errors
    /// Returns the failure that poisoned one of the data.
    #[track_caller]
    pub fn wait_for<A: Accesses<'scope>>(&'scope self, accesses: A) -> Result<(), Error> {
        let (scope, site) = (self.inserter, Location::caller());
        let inner = ThreadContext {
            seat: scope.seat,
            level: scope.level,
            parent: Some(scope.scope.into()),
            within: scope.within,
        };
        let mut inserted = Ok(TaskId::default());
        let joined = inner.open(scope.shared, |inner| {
            inserted = inner.insert(&"wait".into(), site, accesses, EmptyBody);
        });
        inserted.and(joined)
    }

    /// Waits until every task inserted so far is done, running tasks meanwhile.
    ///
    /// # Errors
    /// Returns the first failure in the scope so far; the end of the scope returns it again.
    pub fn wait(&'scope self) -> Result<(), Error> {
        self.close_reductions();
        self.inserter.wait();
        self.inserter.scope.failure().map_or(Ok(()), |failure| Err(Error::failure(failure)))
    }

    /// Cancels the scope: tasks that have not begun do not run, and their outputs are poisoned. The scope returns an
    /// error of kind [`Cancelled`](crate::ErrorKind::Cancelled), unless a task has failed before.
    #[track_caller]
    pub fn cancel(&'scope self) {
        let (name, site) = ("scope", Location::caller());
        self.inserter.scope.cancel(&Arc::new(Failure { task: NO_TASK, name, site, cause: Cause::Cancelled }));
    }

    /// Returns a value with which a body can open a scope of its own without access to the runtime.
    #[must_use]
    pub fn nesting(&self) -> Nesting<'scope> {
        Nesting(self.inserter.shared)
    }

    pub(crate) fn inserter(&self) -> &'scope Inserter<'scope> {
        self.inserter
    }

    #[cold]
    pub(crate) fn refuse(&self, refusal: &Error) {
        if let Some(failure) = refusal.shared_failure() {
            self.inserter.scope.cancel(&failure);
        }
    }

    fn lend_place<T: ?Sized + Send + Sync + 'scope>(&'scope self, place: NonNull<T>) -> Lent<'scope, T> {
        // SAFETY: the value is borrowed or owned until the scope ends, which is after every task that names it.
        let datum = unsafe { Datum::new(place, self.inserter.origin(), false) };
        // SAFETY: kept values are freed when the scope ends, after every task.
        unsafe { Lent::new(self.keep(datum)) }
    }

    fn keep<K: ScopeOwned + 'scope>(&self, kept: Box<K>) -> NonNull<K> {
        let kept = NonNull::from(Box::leak(kept));
        let erased: NonNull<dyn ScopeOwned + 'scope> = kept;
        // SAFETY: only the lifetime is erased; `enter` frees the kept values before `'scope` ends.
        let erased =
            unsafe { std::mem::transmute::<NonNull<dyn ScopeOwned + 'scope>, NonNull<dyn ScopeOwned>>(erased) };
        self.kept.borrow_mut().push(erased);
        kept
    }

    fn close_reductions(&self) {
        for kept in &*self.kept.borrow() {
            // SAFETY: kept values are freed only by `free`, at the scope's end.
            unsafe { kept.as_ref() }.close(self.inserter);
        }
    }

    fn return_to_host(&self) {
        if self.inserter.shared.placement.as_ref().is_some_and(|placement| placement.brings_home()) {
            for kept in &*self.kept.borrow() {
                // SAFETY: kept values are freed only by `free`, at the scope's end.
                unsafe { kept.as_ref() }.return_to_host(self.inserter);
            }
        }
    }

    /// Settles and frees the kept values. Every task is done.
    fn free(&self) {
        let all = self.kept.take();
        for kept in &all {
            // SAFETY: the values are freed only in the loop below.
            unsafe { kept.as_ref() }.settle();
        }
        for kept in all {
            // If one destructor panics, the other values are still dropped, and the scope keeps its result.
            // SAFETY: leaked from a box in `keep`, and taken out of the list.
            drop_guarded(unsafe { Box::from_raw(kept.as_ptr()) });
        }
    }
}

/// Opens scopes inside the bodies of a scope's tasks; made by [`Scope::nesting`].
///
/// With it, a large task can split its work into tasks of its own. It is done when they are.
///
/// ```
/// # extern crate superscalar_runtime as superscalar;
/// use superscalar::Runtime;
/// # fn main() -> Result<(), superscalar::Error> {
/// let rt = Runtime::builder().workers(2).build()?;
/// let mut x: Vec<u64> = (0..10).collect();
/// rt.scope(|s| {
///     let (x, nesting) = (s.lend(x.as_mut_slice()), s.nesting());
///     s.spawn("double all", x.read_write(), move |x| {
///         nesting.scope(|s| {
///             for piece in s.lend_chunks(x, 4) {
///                 s.spawn("double", piece.read_write(), |piece| piece.iter_mut().for_each(|x| *x *= 2));
///             }
///         })
///     });
/// })?;
/// assert_eq!(x[9], 18);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Nesting<'scope>(pub(crate) &'scope Shared);

impl Nesting<'_> {
    /// Opens a scope, like [`Runtime::scope`](crate::Runtime::scope).
    ///
    /// # Errors
    /// Returns the first failure of a task in the scope.
    ///
    /// # Panics
    /// Panics if `inside` panics, after the scope's tasks are done.
    pub fn scope<'env, F, R>(&'env self, inside: F) -> Result<R, Error>
    where
        F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    {
        enter(self.0, inside)
    }

    /// Returns the number of workers.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.0.workers as usize
    }
}

impl<'a> ThreadContext<'a> {
    /// Opens a scope, runs `inside` with its inserter, joins the scope, and returns its first failure.
    pub(crate) fn open(&self, shared: &'a Shared, inside: impl FnOnce(&Inserter<'_>)) -> Result<(), Error> {
        let (number, state) = shared.scopes.take(shared.is_only_worker(self.seat), self.parent);
        // SAFETY: scope states are never freed while the runtime lives.
        let state = unsafe { state.as_ref() };
        let within = self.within.or((self.level != Level::TOP || shared.is_guest(self.seat)).then_some(state));
        let inserter = Inserter::new(shared, self.seat, state, self.level, within);
        let frame = Frame {
            runtime: std::ptr::from_ref(shared).cast(),
            seat: NonNull::from(self.seat),
            task: self.level.0,
            scope: Some(NonNull::from(state)),
            root: within.map(NonNull::from),
            outer: None,
        };
        // `enter` catches panics of the user's code.
        abort_on_panic("a scope was left before its tasks were done", || {
            Frame::enter(frame, || inside(&inserter));
            inserter.wait();
        });
        let failure = state.take_failure();
        shared.scopes.give(number);
        failure.map_or(Ok(()), |failure| Err(Error::failure(failure)))
    }
}

/// Opens a scope, runs `inside`, and joins the scope.
pub(crate) fn enter<'env, F, R>(shared: &'env Shared, inside: F) -> Result<R, Error>
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
{
    shared.with_thread_context(|context| {
        let mut result = None;
        let joined = context.open(shared, |inserter| {
            let scope = Scope { inserter, kept: RefCell::default(), lifetime: PhantomData };
            let outcome = catch_unwind(AssertUnwindSafe(|| inside(&scope)));
            scope.close_reductions();
            scope.return_to_host();
            scope.inserter.wait();
            scope.free();
            result = Some(outcome);
        });
        match result {
            Some(Ok(result)) => joined.map(|()| result),
            Some(Err(panic)) => resume_unwind(panic),
            None => unreachable!("`open` calls its closure"),
        }
    })
}
