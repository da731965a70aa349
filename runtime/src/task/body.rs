//! A task's body with its type erased, in place.
//!
//! A body is the user's closure, or a codelet's call, together with the accesses bound to the versions that insertion chose.
//! It is moved into the slot's storage (or boxed, when it does not fit) and consumed by exactly one of `run`, `complete` and
//! `discard`.

use crate::{
    datum::{Exclusion, Execution},
    error::{Cause, Failure},
    hazard::Mode,
    recording::Outcome,
};
use std::{cell::UnsafeCell, marker::PhantomData, mem::MaybeUninit, sync::Arc};

/// Words of in-place storage: three accesses and six more words of captures.
const WORDS: usize = 9;

/// Makes the failure of a task from its cause, and tells the task's scope.
pub(crate) type Fail<'a> = &'a dyn Fn(Cause) -> Arc<Failure>;

/// Looks at a version whose value a task uses.
pub(crate) type VisitUse<'a> = &'a mut dyn FnMut(&Execution, Mode);

/// What a body can do elsewhere than on the host: the address of a table that its maker and the
/// [placement](crate::shared::Placement) know. All tables of a program are of one type: a second kind of placement
/// would need a tag here.
#[derive(Clone, Copy)]
pub(crate) struct Elsewhere(pub(crate) *const ());

/// How a task ended.
pub(crate) enum Verdict {
    Completed,
    /// This task is the first cause.
    Failed(Arc<Failure>),
    /// This task did not run because of this failure of another, or of its scope.
    Cancelled(Arc<Failure>),
}

impl Verdict {
    pub(crate) fn outcome(&self) -> Outcome {
        match self {
            Verdict::Completed => Outcome::Completed,
            Verdict::Failed(failure) if matches!(failure.cause, Cause::Panicked(_)) => Outcome::Panicked,
            Verdict::Failed(_) => Outcome::Failed,
            Verdict::Cancelled(_) => Outcome::Cancelled,
        }
    }
}

/// What a concrete body must be able to do. `fail` makes the failure of this task from its cause.
pub(crate) trait Runnable: Sized {
    /// Whether its writes may take fresh places: not if it writes nothing.
    const RENAMES: bool = true;

    /// What it can do elsewhere; none if it is for the host.
    const ELSEWHERE: Option<Elsewhere> = None;

    /// Adds the mutual exclusions of its commuting accesses.
    fn exclusions(&self, _into: &mut Vec<*const Exclusion>) {}

    /// Visits the versions whose values the task uses, in the order of the accesses.
    fn uses(&self, _visit: VisitUse<'_>) {}

    /// Runs the body on the host, unless one of its inputs is poisoned, and settles its accesses.
    fn run(self, fail: Fail<'_>) -> Verdict;

    /// Settles the accesses after the work was done, or has failed, elsewhere.
    fn complete(self, _result: Result<(), Cause>, _fail: Fail<'_>) -> Verdict {
        unreachable!("it is for the host")
    }

    /// Drops the body unrun and poisons what it would have written.
    fn discard(self, failure: &Arc<Failure>);
}

/// The operations on an erased body; the pointer is to the body itself.
pub(crate) struct Vtable {
    pub(crate) run: unsafe fn(*mut u8, Fail<'_>) -> Verdict,
    pub(crate) discard: unsafe fn(*mut u8, &Arc<Failure>),
    pub(crate) complete: unsafe fn(*mut u8, Result<(), Cause>, Fail<'_>) -> Verdict,
    pub(crate) exclusions: unsafe fn(*const u8, &mut Vec<*const Exclusion>),
    pub(crate) uses: unsafe fn(*const u8, VisitUse<'_>),
    pub(crate) elsewhere: Option<Elsewhere>,
    /// Where the concrete body is.
    pub(crate) value: unsafe fn(*mut u8) -> *mut u8,
}

/// An erased body, or none.
#[repr(C)]
pub(crate) struct Body {
    vtable: Option<&'static Vtable>,
    /// In a cell: work elsewhere changes the body through a pointer that [`elsewhere`](Self::elsewhere) gave.
    storage: UnsafeCell<MaybeUninit<[u64; WORDS]>>,
}

/// The operations on a body that `fill` has put into the storage as a `$kept`: the body itself, or a box of it.
macro_rules! vtable {
    ($kept:ty, $value:expr) => {
        &Vtable {
            // SAFETY: `at` points to what `fill` put there; this is its last use.
            run: |at, fail| unsafe { at.cast::<$kept>().read() }.run(fail),
            // SAFETY: `at` points to what `fill` put there; this is its last use.
            discard: |at, failure| unsafe { at.cast::<$kept>().read() }.discard(failure),
            // SAFETY: `at` points to what `fill` put there; this is its last use.
            complete: |at, result, fail| unsafe { at.cast::<$kept>().read() }.complete(result, fail),
            // SAFETY: `at` points to what `fill` put there.
            exclusions: |at, into| unsafe { &*at.cast::<$kept>() }.exclusions(into),
            // SAFETY: `at` points to what `fill` put there.
            uses: |at, visit| unsafe { &*at.cast::<$kept>() }.uses(visit),
            elsewhere: B::ELSEWHERE,
            value: $value,
        }
    };
}

/// A concrete body kept in the storage.
struct InPlace<B>(PhantomData<B>);
/// A concrete body kept behind a box in the storage.
struct Boxed<B>(PhantomData<B>);

impl<B: Runnable> InPlace<B> {
    const FITS: bool = size_of::<B>() <= WORDS * 8 && align_of::<B>() <= align_of::<u64>();
    const VTABLE: &'static Vtable = vtable!(B, |at| at);
}

impl<B: Runnable> Boxed<B> {
    // SAFETY: `at` points to a box of a `B` that `fill` put there.
    const VTABLE: &'static Vtable = vtable!(Box<B>, |at| unsafe { (&raw mut **at.cast::<Box<B>>()).cast() });
}

impl Body {
    pub(crate) const fn empty() -> Self {
        Self { vtable: None, storage: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    /// The next free slot, while this one is free: kept where the body was.
    #[inline]
    pub(crate) fn link(&self) -> u32 {
        debug_assert!(self.vtable.is_none(), "a free slot holds no body");
        // SAFETY: `set_link` wrote the first word, and nothing was filled in since.
        unsafe { self.storage.get().cast::<u32>().read() }
    }

    /// See [`link`](Self::link).
    #[inline]
    pub(crate) fn set_link(&mut self, next: u32) {
        debug_assert!(self.vtable.is_none(), "a free slot holds no body");
        // SAFETY: the storage is large enough, aligned, and holds nothing.
        unsafe { self.storage.get().cast::<u32>().write(next) };
    }

    /// Puts a body in.
    ///
    /// # Safety
    /// Nothing that the body borrows ends before the body was consumed: its scope waits for it.
    #[inline]
    pub(crate) unsafe fn fill<B: Runnable>(&mut self, body: B) {
        debug_assert!(self.vtable.is_none(), "the slot still holds a body");
        let at = self.storage.get();
        if InPlace::<B>::FITS {
            // SAFETY: the storage is large and aligned enough, as `FITS` says, and holds nothing.
            unsafe { at.cast::<B>().write(body) };
            self.vtable = Some(InPlace::<B>::VTABLE);
        } else {
            // SAFETY: a box is one word.
            unsafe { at.cast::<Box<B>>().write(Box::new(body)) };
            self.vtable = Some(Boxed::<B>::VTABLE);
        }
    }

    fn at(&mut self) -> *mut u8 {
        self.storage.get().cast()
    }

    fn consume(&mut self) -> (&'static Vtable, *mut u8) {
        let vtable = self.vtable.take();
        (vtable.unwrap_or_else(|| unreachable!("a body is consumed once")), self.at())
    }

    /// Runs it on the host.
    #[inline]
    pub(crate) fn run(&mut self, fail: Fail<'_>) -> Verdict {
        let (vtable, at) = self.consume();
        // SAFETY: `fill` initialised the storage for this table, and the table was taken, so this is the last use.
        unsafe { (vtable.run)(at, fail) }
    }

    /// Drops it unrun.
    pub(crate) fn discard(&mut self, failure: &Arc<Failure>) {
        let (vtable, at) = self.consume();
        // SAFETY: as in `run`.
        unsafe { (vtable.discard)(at, failure) }
    }

    /// Settles it after its work was done elsewhere.
    pub(crate) fn complete(&mut self, result: Result<(), Cause>, fail: Fail<'_>) -> Verdict {
        let (vtable, at) = self.consume();
        // SAFETY: as in `run`.
        unsafe { (vtable.complete)(at, result, fail) }
    }

    /// What it can do elsewhere, and where the concrete body is, which whoever has the right to the body may use.
    pub(crate) fn elsewhere(&self) -> Option<(Elsewhere, *mut u8)> {
        let Some(vtable) = self.vtable else { unreachable!("asked before it is consumed") };
        // SAFETY: `fill` initialised the storage for this table.
        vtable.elsewhere.map(|table| (table, unsafe { (vtable.value)(self.storage.get().cast()) }))
    }

    /// The versions whose values the task uses.
    pub(crate) fn uses(&self, visit: VisitUse<'_>) {
        let Some(vtable) = self.vtable else { unreachable!("asked before it is consumed") };
        // SAFETY: as in `elsewhere`.
        unsafe { (vtable.uses)(self.storage.get().cast(), visit) }
    }

    /// The mutual exclusions that it needs before it runs.
    pub(crate) fn exclusions(&self, into: &mut Vec<*const Exclusion>) {
        let Some(vtable) = self.vtable else { unreachable!("asked before it is consumed") };
        // SAFETY: as in `elsewhere`.
        unsafe { (vtable.exclusions)(self.storage.get().cast(), into) }
    }
}
