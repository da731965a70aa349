//! A type-erased task body, stored in place.
//!
//! A body is the user's closure or a codelet's call, together with the accesses bound to their versions at insertion.
//! It is moved into the slot's storage (or boxed, if it does not fit) and consumed by exactly one of `run`, `complete`
//! and `discard`.

use crate::{
    datum::{Exclusion, Execution},
    error::{Cause, Failure},
    hazard::Mode,
    recording::Outcome,
};
use std::{cell::UnsafeCell, marker::PhantomData, mem::MaybeUninit, sync::Arc};

/// The number of words of in-place storage: three accesses and six more words of captures.
const WORDS: usize = 9;

/// Makes the failure of a task from its cause, and records it in the task's scope.
pub(crate) type Fail<'a> = &'a dyn Fn(Cause) -> Arc<Failure>;

/// A visitor of the versions whose values a task uses.
pub(crate) type VisitUse<'a> = &'a mut dyn FnMut(&Execution, Mode);

/// A pointer to the table of a body's device implementations. Its type is known to the code that makes the body and to
/// the [placement](crate::shared::Placement). All tables of a program have the same type; a second kind of placement
/// would need a tag here.
#[derive(Clone, Copy)]
pub(crate) struct DeviceTable(pub(crate) *const ());

/// The result of a task.
pub(crate) enum TaskResult {
    Completed,
    /// The task failed, and is the first cause.
    Failed(Arc<Failure>),
    /// The task did not run, because of this failure of another task or of its scope.
    Cancelled(Arc<Failure>),
}

impl TaskResult {
    pub(crate) fn outcome(&self) -> Outcome {
        match self {
            TaskResult::Completed => Outcome::Completed,
            TaskResult::Failed(failure) if matches!(failure.cause, Cause::Panicked(_)) => Outcome::Panicked,
            TaskResult::Failed(_) => Outcome::Failed,
            TaskResult::Cancelled(_) => Outcome::Cancelled,
        }
    }
}

/// The operations of a concrete body. `fail` makes the failure of its task from a cause.
pub(crate) trait Runnable: Sized {
    /// Whether the body's writes may use fresh places. False for a body that writes nothing.
    const RENAMES: bool = true;

    /// The table of device implementations, or `None` for a body that runs only on the host.
    const DEVICE_TABLE: Option<DeviceTable> = None;

    /// Adds the mutual exclusions of the commuting accesses.
    fn exclusions(&self, _into: &mut Vec<*const Exclusion>) {}

    /// Visits the versions whose values the task uses, in the order of the accesses.
    fn uses(&self, _visit: VisitUse<'_>) {}

    /// Runs the body on the host, unless one of its inputs is poisoned, and settles its accesses.
    fn run(self, fail: Fail<'_>) -> TaskResult;

    /// Settles the accesses after the work finished or failed on a device.
    fn complete(self, _result: Result<(), Cause>, _fail: Fail<'_>) -> TaskResult {
        unreachable!("a host-only body never runs on a device")
    }

    /// Drops the body without running it, and poisons its outputs.
    fn discard(self, failure: &Arc<Failure>);
}

/// The operations on an erased body. The pointer is to the body's storage.
pub(crate) struct Vtable {
    pub(crate) run: unsafe fn(*mut u8, Fail<'_>) -> TaskResult,
    pub(crate) discard: unsafe fn(*mut u8, &Arc<Failure>),
    pub(crate) complete: unsafe fn(*mut u8, Result<(), Cause>, Fail<'_>) -> TaskResult,
    pub(crate) exclusions: unsafe fn(*const u8, &mut Vec<*const Exclusion>),
    pub(crate) uses: unsafe fn(*const u8, VisitUse<'_>),
    pub(crate) elsewhere: Option<DeviceTable>,
    /// Returns the address of the concrete body.
    pub(crate) value: unsafe fn(*mut u8) -> *mut u8,
}

/// An erased body, or an empty slot for one.
#[repr(C)]
pub(crate) struct Body {
    vtable: Option<&'static Vtable>,
    /// A cell, because a device's work changes the body through a pointer from [`elsewhere`](Self::elsewhere).
    storage: UnsafeCell<MaybeUninit<[u64; WORDS]>>,
}

/// The operations on a body that `fill` has stored as a `$kept`: the body itself, or a box of it.
macro_rules! vtable {
    ($kept:ty, $value:expr) => {
        &Vtable {
            // SAFETY: `at` points to a value that `fill` wrote with this table; this is its last use.
            run: |at, fail| unsafe { at.cast::<$kept>().read() }.run(fail),
            // SAFETY: `at` points to a value that `fill` wrote with this table; this is its last use.
            discard: |at, failure| unsafe { at.cast::<$kept>().read() }.discard(failure),
            // SAFETY: `at` points to a value that `fill` wrote with this table; this is its last use.
            complete: |at, result, fail| unsafe { at.cast::<$kept>().read() }.complete(result, fail),
            // SAFETY: `at` points to a value that `fill` wrote with this table, and is not consumed yet.
            exclusions: |at, into| unsafe { &*at.cast::<$kept>() }.exclusions(into),
            // SAFETY: `at` points to a value that `fill` wrote with this table, and is not consumed yet.
            uses: |at, visit| unsafe { &*at.cast::<$kept>() }.uses(visit),
            elsewhere: B::DEVICE_TABLE,
            value: $value,
        }
    };
}

/// A concrete body stored directly.
struct InPlace<B>(PhantomData<B>);
/// A concrete body stored in a box.
struct Boxed<B>(PhantomData<B>);

impl<B: Runnable> InPlace<B> {
    const FITS: bool = size_of::<B>() <= WORDS * 8 && align_of::<B>() <= align_of::<u64>();
    const VTABLE: &'static Vtable = vtable!(B, |at| at);
}

impl<B: Runnable> Boxed<B> {
    // SAFETY: `at` points to a `Box<B>` that `fill` wrote with this table.
    const VTABLE: &'static Vtable = vtable!(Box<B>, |at| unsafe { (&raw mut **at.cast::<Box<B>>()).cast() });
}

impl Body {
    pub(crate) const fn empty() -> Self {
        Self { vtable: None, storage: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    /// Returns the index of the next free slot. A free slot stores it in place of a body.
    #[inline]
    pub(crate) fn link(&self) -> u32 {
        debug_assert!(self.vtable.is_none(), "a free slot holds no body");
        // SAFETY: `set_link` wrote the first word, and no body was filled in since.
        unsafe { self.storage.get().cast::<u32>().read() }
    }

    /// Sets the index of the next free slot; see [`link`](Self::link).
    #[inline]
    pub(crate) fn set_link(&mut self, next: u32) {
        debug_assert!(self.vtable.is_none(), "a free slot holds no body");
        // SAFETY: the storage is large enough, aligned, and empty.
        unsafe { self.storage.get().cast::<u32>().write(next) };
    }

    /// Stores a body.
    ///
    /// # Safety
    /// Everything that the body borrows stays valid until the body is consumed: its scope waits for it.
    #[inline]
    pub(crate) unsafe fn fill<B: Runnable>(&mut self, body: B) {
        debug_assert!(self.vtable.is_none(), "the slot still holds a body");
        let at = self.storage.get();
        if InPlace::<B>::FITS {
            // SAFETY: the storage is empty, and large and aligned enough, as `FITS` says.
            unsafe { at.cast::<B>().write(body) };
            self.vtable = Some(InPlace::<B>::VTABLE);
        } else {
            // SAFETY: the storage is empty, and a box is one word.
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

    /// Runs the body on the host.
    #[inline]
    pub(crate) fn run(&mut self, fail: Fail<'_>) -> TaskResult {
        let (vtable, at) = self.consume();
        // SAFETY: `fill` initialized the storage for this table, and the table was taken, so this is the last use.
        unsafe { (vtable.run)(at, fail) }
    }

    /// Drops the body without running it.
    pub(crate) fn discard(&mut self, failure: &Arc<Failure>) {
        let (vtable, at) = self.consume();
        // SAFETY: `fill` initialized the storage for this table, and the table was taken, so this is the last use.
        unsafe { (vtable.discard)(at, failure) }
    }

    /// Settles the body's accesses after its work was done on a device.
    pub(crate) fn complete(&mut self, result: Result<(), Cause>, fail: Fail<'_>) -> TaskResult {
        let (vtable, at) = self.consume();
        // SAFETY: `fill` initialized the storage for this table, and the table was taken, so this is the last use.
        unsafe { (vtable.complete)(at, result, fail) }
    }

    /// Returns the table of device implementations and the address of the concrete body. Only the owner of the body may
    /// use the address.
    pub(crate) fn elsewhere(&self) -> Option<(DeviceTable, *mut u8)> {
        let Some(vtable) = self.vtable else { unreachable!("the body is not consumed yet") };
        // SAFETY: `fill` initialized the storage for this table, and the body is not consumed yet.
        vtable.elsewhere.map(|table| (table, unsafe { (vtable.value)(self.storage.get().cast()) }))
    }

    /// Visits the versions whose values the task uses.
    pub(crate) fn uses(&self, visit: VisitUse<'_>) {
        let Some(vtable) = self.vtable else { unreachable!("the body is not consumed yet") };
        // SAFETY: `fill` initialized the storage for this table, and the body is not consumed yet.
        unsafe { (vtable.uses)(self.storage.get().cast(), visit) }
    }

    /// Adds the mutual exclusions that the task needs before it runs.
    pub(crate) fn exclusions(&self, into: &mut Vec<*const Exclusion>) {
        let Some(vtable) = self.vtable else { unreachable!("the body is not consumed yet") };
        // SAFETY: `fill` initialized the storage for this table, and the body is not consumed yet.
        unsafe { (vtable.exclusions)(self.storage.get().cast(), into) }
    }
}
