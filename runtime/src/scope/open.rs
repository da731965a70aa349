//! Opening a scope, inserting into it, and joining it.

use super::{Lent, Output, View};
use crate::{
    datum::{Datum, Execution, Level},
    error::{Cause, Error, Failure},
    hazard::Mode,
    insert::{Accesses, BoundOf, Closure, Inserter, Item, Outcome, Pool, Probe, ScratchPool, computing},
    panics::{drop_guarded, one_way},
    recording::TaskId,
    scope_state::NO_TASK,
    seat::Frame,
    shared::Shared,
    task::{Fail, Runnable, TaskSpec, Verdict},
    worker::Entry,
};
use std::{
    cell::RefCell,
    marker::PhantomData,
    panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind},
    ptr::NonNull,
    sync::Arc,
};

/// Serial code whose tasks run in parallel; made by [`Runtime::scope`](crate::Runtime::scope).
///
/// `'scope` is the scope's own life, for which handles and bodies are good; `'env` is what it may borrow from.
///
/// What a scope keeps is dropped one by one when its tasks are done. So the destructor of one such value must not reach
/// another: what has a destructor of its own must live for `'env`, which no handle, result or borrow of the scope does.
pub struct Scope<'scope, 'env: 'scope> {
    inserter: &'scope Inserter<'scope>,
    /// What is freed when every task is done: data and pools. Filled with lifetimes erased, emptied by `enter`.
    kept: RefCell<Vec<NonNull<dyn Kept>>>,
    lives: PhantomData<(&'scope mut &'scope (), &'env mut &'env ())>,
}

/// Something that a scope frees at its end.
trait Kept {
    /// Inserts what has to be inserted before the scope waits.
    fn close(&self, _: &Inserter<'_>) {}

    /// Inserts what brings the value back from devices.
    fn come_home(&self, _: &Inserter<'_>) {}

    /// Puts the value where the user expects it. Every task is done.
    fn settle(&self) {}
}

impl<T: ?Sized> Kept for Datum<T> {
    fn close(&self, inserter: &Inserter<'_>) {
        // SAFETY: the scope's thread is the inserter of what it lent.
        unsafe { self.end_reduction(inserter, None) };
    }

    fn come_home(&self, inserter: &Inserter<'_>) {
        // SAFETY: the scope's thread is the inserter of what it lent.
        for version in unsafe { self.versions() }.filter(|version| version.execution.may_be_away()) {
            // SAFETY: as above. A value that is final may be on its way home while others still read it where it is.
            let early = unsafe { version.submission() }.hazards.ends_in_reads().then_some(Mode::Read);
            for mode in early.into_iter().chain([Mode::ReadWrite]) {
                inserter.insert_internal(TaskSpec::new("return"), |insertion| {
                    insertion.access(version, mode);
                    Return { value: NonNull::from(&version.execution), mode }
                });
            }
        }
    }

    fn settle(&self) {
        // SAFETY: every task of the scope is done, and no others name its data.
        unsafe { Datum::settle(self) };
    }
}

/// The task that brings a value back from devices: it is on the host when it runs, and that is all. With the one that writes, devices are
/// rid of it.
struct Return {
    value: NonNull<Execution>,
    mode: Mode,
}

impl Runnable for Return {
    const RENAMES: bool = false;

    fn uses(&self, visit: &mut dyn FnMut(&Execution, Mode)) {
        // SAFETY: versions live until every task that names their datum is done.
        visit(unsafe { self.value.as_ref() }, self.mode);
    }

    fn run(self, _: Fail<'_>) -> Verdict {
        Verdict::Completed
    }

    fn discard(self, _: &Arc<Failure>) {}
}

impl<T> Kept for Pool<T> {}

/// A value that the scope owns, apart from its datum: tasks have pointers to it, which a box would not allow.
struct Owned<T>(NonNull<T>);

impl<T> Kept for Owned<T> {}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: leaked from a box in `Scope::own`; every task is done.
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
    /// It may borrow from outside of the scope, and not from the scope itself; [`own_view`](Self::own_view) is for views that
    /// do.
    pub fn own<T: Send + Sync + 'env>(&'scope self, value: T) -> Lent<'scope, T> {
        // SAFETY: the value lives for `'env`, so nothing that ends with the scope can be reached by its destructor.
        unsafe { self.own_unchecked(value) }
    }

    /// Gives a view to the scope's tasks, such as a tile of a matrix that is lent to the scope; it is dropped when the scope
    /// ends.
    ///
    /// ```
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
        // SAFETY: the promise of `View`.
        unsafe { self.own_unchecked(view) }
    }

    /// # Safety
    /// The value's destructor uses nothing that lives only as long as the scope.
    pub(crate) unsafe fn own_unchecked<T: Send + Sync + 'scope>(&'scope self, value: T) -> Lent<'scope, T> {
        let place = NonNull::from(Box::leak(Box::new(value)));
        self.keep(Box::new(Owned(place)));
        self.lend_place(place)
    }

    /// Splits a slice into pieces of `len` elements (the last may be shorter) and lends each by a handle of its own.
    ///
    /// # Panics
    /// If `len` is zero.
    ///
    /// ```
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

    /// A pool of working memory: each task that asks for it gets a value made by `make`, or one that an earlier task has used.
    pub fn scratch<T: Send + 'env>(&'scope self, make: impl Fn() -> T + Send + Sync + 'env) -> ScratchPool<'scope, T> {
        let make: Box<dyn Fn() -> T + Send + Sync + 'env> = Box::new(make);
        // SAFETY: the pool is freed, and `make` with it, before `'env` ends.
        let make = unsafe {
            std::mem::transmute::<Box<dyn Fn() -> T + Send + Sync + 'env>, Box<dyn Fn() -> T + Send + Sync>>(make)
        };
        let pool = self.keep(Box::new(Pool::new(make)));
        ScratchPool { pool, lives: PhantomData }
    }

    /// Inserts a task: `body` will run with what `accesses` name, after every earlier task that stands in its way.
    ///
    /// What the body sees follows from the accesses: `&T` for a read, `&mut T` for the others; tuples, arrays and `Vec`s
    /// for tuples, arrays and `Vec`s. It may return nothing, or a `Result`, whose error comes back from the scope.
    ///
    /// A task that can not be right is refused, and the scope is cancelled with it: see [`try_spawn`](Self::try_spawn).
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
    /// [`ErrorKind::Refused`](crate::ErrorKind::Refused) if the task names a handle twice, other than to read it each time,
    /// or a handle that was made at another level (outside of the body that has opened this scope). Nothing was inserted.
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

    /// Inserts a task that makes a value, which the scope keeps to its end.
    ///
    /// ```
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

    /// Waits, working, for a result. What stands behind it in the scope goes on.
    ///
    /// # Errors
    /// The failure because of which there is no result.
    pub fn get<R: Send + Sync>(&'scope self, output: Output<'scope, R>) -> Result<&'scope R, Error> {
        self.wait_for(output.read())?;
        // SAFETY: the task that writes the output is done, and it is the only one that ever does.
        let value = unsafe { output.0.datum().current().place().as_ref() };
        Ok(value.as_ref().unwrap_or_else(|| unreachable!("its task has succeeded")))
    }

    /// Waits, working, until the accesses could be made: until every earlier task that stands in their way is done.
    ///
    /// # Errors
    /// The failure that spoiled one of the data.
    #[track_caller]
    pub fn wait_for<A: Accesses<'scope>>(&'scope self, accesses: A) -> Result<(), Error> {
        let (scope, site) = (self.inserter, Location::caller());
        let inner =
            Entry { seat: scope.seat, level: scope.level, parent: Some(scope.scope.into()), within: scope.within };
        let mut inserted = Ok(TaskId::default());
        let joined = inner.open(scope.shared, |inner| {
            inserted = inner.insert(&"wait".into(), site, accesses, Probe);
        });
        inserted.and(joined)
    }

    /// Waits, working, until every task inserted so far is done.
    ///
    /// # Errors
    /// The first failure in the scope so far; it also comes back at the end of the scope.
    pub fn wait(&'scope self) -> Result<(), Error> {
        self.close_reductions();
        self.inserter.wait();
        self.inserter.scope.failure().map_or(Ok(()), |failure| Err(Error::failure(failure)))
    }

    /// Cancels the scope: tasks that have not begun do not run, and the scope returns an error of kind
    /// [`Cancelled`](crate::ErrorKind::Cancelled), unless a task had failed before. What they would have written is spoiled.
    #[track_caller]
    pub fn cancel(&'scope self) {
        let (name, site) = ("scope", Location::caller());
        self.inserter.scope.cancel(&Arc::new(Failure { task: NO_TASK, name, site, cause: Cause::Cancelled }));
    }

    /// What a body needs to open a scope of its own, where it was not given the runtime.
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
        // SAFETY: the value is borrowed, or owned, until the scope ends, which is after every task that names it.
        let datum = unsafe { Datum::new(place, self.inserter.origin(), false) };
        // SAFETY: what is kept is freed when the scope ends, after every task.
        unsafe { Lent::new(self.keep(datum)) }
    }

    fn keep<K: Kept + 'scope>(&self, kept: Box<K>) -> NonNull<K> {
        let kept = NonNull::from(Box::leak(kept));
        let erased: NonNull<dyn Kept + 'scope> = kept;
        // SAFETY: only the lifetime is erased, and `enter` frees what is kept before `'scope` ends.
        let erased = unsafe { std::mem::transmute::<NonNull<dyn Kept + 'scope>, NonNull<dyn Kept>>(erased) };
        self.kept.borrow_mut().push(erased);
        kept
    }

    fn close_reductions(&self) {
        for kept in &*self.kept.borrow() {
            // SAFETY: freed only by `free`, at the scope's end.
            unsafe { kept.as_ref() }.close(self.inserter);
        }
    }

    fn come_home(&self) {
        if self.inserter.shared.placement.as_ref().is_some_and(|placement| placement.brings_home()) {
            for kept in &*self.kept.borrow() {
                // SAFETY: freed only by `free`, at the scope's end.
                unsafe { kept.as_ref() }.come_home(self.inserter);
            }
        }
    }

    /// Settles and frees what was kept. Every task is done.
    fn free(&self) {
        let all = self.kept.take();
        for kept in &all {
            // SAFETY: not freed yet.
            unsafe { kept.as_ref() }.settle();
        }
        for kept in all {
            // A value may panic when it is dropped; the others are dropped all the same, and the scope has its result.
            // SAFETY: leaked from a box in `keep`, and taken out of the list.
            drop_guarded(unsafe { Box::from_raw(kept.as_ptr()) });
        }
    }
}

/// Opens scopes inside the bodies of a scope's tasks; made by [`Scope::nesting`].
///
/// A body with much to do hands out parts of it so, and is done when they are.
///
/// ```
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
    /// Opens a scope as [`Runtime::scope`](crate::Runtime::scope) does.
    ///
    /// # Errors
    /// The first failure of a task in it.
    ///
    /// # Panics
    /// If `inside` panics, after its tasks are done.
    pub fn scope<'env, F, R>(&'env self, inside: F) -> Result<R, Error>
    where
        F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    {
        enter(self.0, inside)
    }

    /// How many workers there are.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.0.workers as usize
    }
}

impl<'a> Entry<'a> {
    /// Runs `inside` with a scope of its own, joins it, and returns its first failure.
    pub(crate) fn open(&self, shared: &'a Shared, inside: impl FnOnce(&Inserter<'_>)) -> Result<(), Error> {
        let (number, state) = shared.scopes.take(shared.is_only_worker(self.seat), self.parent);
        // SAFETY: scopes' states are never freed while the runtime lives.
        let state = unsafe { state.as_ref() };
        let picky = self.within.or((self.level != Level::TOP || shared.is_guest(self.seat)).then_some(state));
        let inserter = Inserter::new(shared, self.seat, state, self.level, picky);
        let frame = Frame {
            runtime: std::ptr::from_ref(shared).cast(),
            seat: NonNull::from(self.seat),
            task: self.level.0,
            scope: Some(NonNull::from(state)),
            root: picky.map(NonNull::from),
            outer: None,
        };
        // The user's code inside is caught there (`enter`).
        one_way("a scope was left before its tasks were done", || {
            Frame::enter(frame, || inside(&inserter));
            inserter.wait();
        });
        let failure = state.take_failure();
        shared.scopes.give(number);
        failure.map_or(Ok(()), |failure| Err(Error::failure(failure)))
    }
}

/// Opens a scope, runs `inside`, joins the scope.
pub(crate) fn enter<'env, F, R>(shared: &'env Shared, inside: F) -> Result<R, Error>
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
{
    shared.with_entry(|entry| {
        let mut result = None;
        let joined = entry.open(shared, |inserter| {
            let scope = Scope { inserter, kept: RefCell::default(), lives: PhantomData };
            let outcome = catch_unwind(AssertUnwindSafe(|| inside(&scope)));
            scope.close_reductions();
            scope.come_home();
            scope.inserter.wait();
            scope.free();
            result = Some(outcome);
        });
        match result {
            Some(Ok(result)) => joined.map(|()| result),
            Some(Err(panic)) => resume_unwind(panic),
            None => unreachable!("`open` calls what it is given"),
        }
    })
}
