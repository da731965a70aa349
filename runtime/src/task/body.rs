//! A task's body with its type erased, in place.
//!
//! A body is the user's closure, or a codelet's call, together with the accesses bound to the versions that insertion chose.
//! It is moved into the slot's storage (or boxed, when it does not fit) and consumed by exactly one of `run`, `complete` and
//! `discard`.

use crate::{
    datum::{Exclusion, Execution},
    device::{DeviceError, DeviceKind, DeviceRegion, IssueContext, Kinds, Residence, Takers},
    error::{Cause, Failure},
    hazard::Mode,
    recording::Outcome,
};
use std::{marker::PhantomData, mem::MaybeUninit, sync::Arc};

/// An error as bodies return it.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Words of in-place storage: three accesses and six more words of captures.
const WORDS: usize = 9;

/// Makes the failure of a task from its cause, and tells the task's scope.
pub(crate) type Fail<'a> = &'a dyn Fn(Cause) -> Arc<Failure>;

/// Looks at a version whose value a task uses.
pub(crate) type VisitUse<'a> = &'a mut dyn FnMut(&Execution, Mode);

/// Looks at where a value lies in host memory.
pub(crate) type VisitResidence<'a> = &'a mut dyn FnMut(Residence<'_>);

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

    /// Which kinds of worker can take it.
    fn takers(&self, _kinds: &Kinds) -> Takers {
        Takers::HOST
    }

    /// Adds the mutual exclusions of its commuting accesses.
    fn exclusions(&self, _into: &mut Vec<*const Exclusion>) {}

    /// Visits the versions whose values the task uses, in the order of the accesses.
    fn uses(&self, _visit: VisitUse<'_>) {}

    /// Visits where these values lie in host memory, in the same order; says whether all of them do so in columns.
    ///
    /// # Safety
    /// Every predecessor is done, or issued to a device.
    unsafe fn residences(&self, _visit: VisitResidence<'_>) -> bool {
        false
    }

    /// Bytes of scratch that the implementation for this kind of device asks for, by the shapes of its operands' regions.
    fn scratch_bytes(&self, _kind: DeviceKind, _shapes: &mut dyn Iterator<Item = DeviceRegion>) -> usize {
        0
    }

    /// Runs the body on the host, unless one of its inputs is poisoned, and settles its accesses.
    fn run(self, fail: Fail<'_>) -> Verdict;

    /// Hands the work to a device queue. The body stays until `complete`.
    fn issue(&mut self, _context: &mut IssueContext<'_>, _regions: &[DeviceRegion]) -> Result<(), DeviceError> {
        Err(DeviceError::new("this task has no implementation for the device"))
    }

    /// Settles the accesses after a device has finished, or failed, the work.
    fn complete(self, result: Result<(), Cause>, fail: Fail<'_>) -> Verdict;

    /// Drops the body unrun and poisons what it would have written.
    fn discard(self, failure: &Arc<Failure>);
}

/// The operations on an erased body; the pointer is to the body itself.
pub(crate) struct Vtable {
    pub(crate) run: unsafe fn(*mut u8, Fail<'_>) -> Verdict,
    pub(crate) discard: unsafe fn(*mut u8, &Arc<Failure>),
    pub(crate) issue: unsafe fn(*mut u8, &mut IssueContext<'_>, &[DeviceRegion]) -> Result<(), DeviceError>,
    pub(crate) complete: unsafe fn(*mut u8, Result<(), Cause>, Fail<'_>) -> Verdict,
    pub(crate) exclusions: unsafe fn(*const u8, &mut Vec<*const Exclusion>),
    pub(crate) uses: unsafe fn(*const u8, VisitUse<'_>),
    pub(crate) residences: unsafe fn(*const u8, VisitResidence<'_>) -> bool,
    pub(crate) scratch_bytes: unsafe fn(*const u8, DeviceKind, &mut dyn Iterator<Item = DeviceRegion>) -> usize,
}

/// An erased body, or none.
#[repr(C)]
pub(crate) struct Body {
    vtable: Option<&'static Vtable>,
    storage: MaybeUninit<[u64; WORDS]>,
}

/// A concrete body kept in the storage.
struct InPlace<B>(PhantomData<B>);
/// A concrete body kept behind a box in the storage.
struct Boxed<B>(PhantomData<B>);

impl<B: Runnable> InPlace<B> {
    const FITS: bool = size_of::<B>() <= WORDS * 8 && align_of::<B>() <= align_of::<u64>();
    const VTABLE: &'static Vtable = &Vtable {
        // SAFETY: `at` points to a `B` that `fill` put there; this is its last use.
        run: |at, fail| unsafe { at.cast::<B>().read() }.run(fail),
        // SAFETY: `at` points to a `B` that `fill` put there; this is its last use.
        discard: |at, failure| unsafe { at.cast::<B>().read() }.discard(failure),
        // SAFETY: `at` points to a `B` that `fill` put there.
        issue: |at, context, regions| unsafe { &mut *at.cast::<B>() }.issue(context, regions),
        // SAFETY: `at` points to a `B` that `fill` put there; this is its last use.
        complete: |at, result, fail| unsafe { at.cast::<B>().read() }.complete(result, fail),
        // SAFETY: `at` points to a `B` that `fill` put there.
        exclusions: |at, into| unsafe { &*at.cast::<B>() }.exclusions(into),
        // SAFETY: as above.
        uses: |at, visit| unsafe { &*at.cast::<B>() }.uses(visit),
        // SAFETY: as above, and the caller's promise.
        residences: |at, visit| unsafe { (*at.cast::<B>()).residences(visit) },
        // SAFETY: as above.
        scratch_bytes: |at, kind, shapes| unsafe { &*at.cast::<B>() }.scratch_bytes(kind, shapes),
    };
}

impl<B: Runnable> Boxed<B> {
    const VTABLE: &'static Vtable = &Vtable {
        // SAFETY: `at` points to a box of a `B` that `fill` put there; this is its last use.
        run: |at, fail| unsafe { at.cast::<Box<B>>().read() }.run(fail),
        // SAFETY: `at` points to a box of a `B` that `fill` put there; this is its last use.
        discard: |at, failure| unsafe { at.cast::<Box<B>>().read() }.discard(failure),
        // SAFETY: `at` points to a box of a `B` that `fill` put there.
        issue: |at, context, regions| unsafe { &mut *at.cast::<Box<B>>() }.issue(context, regions),
        // SAFETY: `at` points to a box of a `B` that `fill` put there; this is its last use.
        complete: |at, result, fail| unsafe { at.cast::<Box<B>>().read() }.complete(result, fail),
        // SAFETY: `at` points to a box of a `B` that `fill` put there.
        exclusions: |at, into| unsafe { &*at.cast::<Box<B>>() }.exclusions(into),
        // SAFETY: as above.
        uses: |at, visit| unsafe { &*at.cast::<Box<B>>() }.uses(visit),
        // SAFETY: as above, and the caller's promise.
        residences: |at, visit| unsafe { (*at.cast::<Box<B>>()).residences(visit) },
        // SAFETY: as above.
        scratch_bytes: |at, kind, shapes| unsafe { &*at.cast::<Box<B>>() }.scratch_bytes(kind, shapes),
    };
}

impl Body {
    pub(crate) const fn empty() -> Self {
        Self { vtable: None, storage: MaybeUninit::uninit() }
    }

    /// The next free slot, while this one is free: kept where the body was.
    #[inline]
    pub(crate) fn link(&self) -> u32 {
        debug_assert!(self.vtable.is_none(), "a free slot holds no body");
        // SAFETY: `set_link` wrote the first word, and nothing was filled in since.
        unsafe { self.storage.as_ptr().cast::<u32>().read() }
    }

    /// See [`link`](Self::link).
    #[inline]
    pub(crate) fn set_link(&mut self, next: u32) {
        debug_assert!(self.vtable.is_none(), "a free slot holds no body");
        // SAFETY: the storage is large enough, aligned, and holds nothing.
        unsafe { self.storage.as_mut_ptr().cast::<u32>().write(next) };
    }

    /// Puts a body in.
    ///
    /// # Safety
    /// Nothing that the body borrows ends before the body was consumed: its scope waits for it.
    #[inline]
    pub(crate) unsafe fn fill<B: Runnable>(&mut self, body: B) {
        debug_assert!(self.vtable.is_none(), "the slot still holds a body");
        let at = self.storage.as_mut_ptr();
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
        self.storage.as_mut_ptr().cast()
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

    /// Settles it after a device has finished.
    pub(crate) fn complete(&mut self, result: Result<(), Cause>, fail: Fail<'_>) -> Verdict {
        let (vtable, at) = self.consume();
        // SAFETY: as in `run`.
        unsafe { (vtable.complete)(at, result, fail) }
    }

    /// Hands it to a device queue.
    pub(crate) fn issue(
        &mut self,
        context: &mut IssueContext<'_>,
        regions: &[DeviceRegion],
    ) -> Result<(), DeviceError> {
        let Some(vtable) = self.vtable else { unreachable!("a body is issued before it is consumed") };
        // SAFETY: `fill` initialised the storage for this table.
        unsafe { (vtable.issue)(self.at(), context, regions) }
    }

    /// The versions whose values the task uses.
    pub(crate) fn uses(&self, visit: VisitUse<'_>) {
        let Some(vtable) = self.vtable else { unreachable!("asked before it is consumed") };
        // SAFETY: as in `issue`.
        unsafe { (vtable.uses)(self.storage.as_ptr().cast(), visit) }
    }

    /// Where these values lie in host memory.
    ///
    /// # Safety
    /// Every predecessor is done, or issued to a device.
    pub(crate) unsafe fn residences(&self, visit: VisitResidence<'_>) -> bool {
        let Some(vtable) = self.vtable else { unreachable!("asked before it is consumed") };
        // SAFETY: as in `issue`, and the caller's promise.
        unsafe { (vtable.residences)(self.storage.as_ptr().cast(), visit) }
    }

    /// Bytes of scratch that it asks for.
    pub(crate) fn scratch_bytes(&self, kind: DeviceKind, shapes: &mut dyn Iterator<Item = DeviceRegion>) -> usize {
        let Some(vtable) = self.vtable else { unreachable!("asked before it is consumed") };
        // SAFETY: as in `issue`.
        unsafe { (vtable.scratch_bytes)(self.storage.as_ptr().cast(), kind, shapes) }
    }

    /// The mutual exclusions that it needs before it runs.
    pub(crate) fn exclusions(&self, into: &mut Vec<*const Exclusion>) {
        let Some(vtable) = self.vtable else { unreachable!("asked before it is consumed") };
        // SAFETY: as in `issue`.
        unsafe { (vtable.exclusions)(self.storage.as_ptr().cast(), into) }
    }
}

/// Runs user code, and makes an error or a panic into a cause.
pub(crate) fn guarded(code: impl FnOnce() -> Result<(), BoxError>) -> Result<(), Cause> {
    match caught(code) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Cause::Returned(error)),
        Err(message) => Err(Cause::Panicked(message)),
    }
}

/// Runs user code, and makes a panic into its message.
#[inline]
pub(crate) fn caught<R>(code: impl FnOnce() -> R) -> Result<R, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(code)).map_err(message)
}

#[cold]
fn message(payload: Box<dyn std::any::Any + Send>) -> String {
    let text = match payload.downcast_ref::<&'static str>() {
        Some(text) => (*text).to_owned(),
        None => payload.downcast_ref::<String>().cloned().unwrap_or_else(|| "(no message)".to_owned()),
    };
    // A payload may panic when it is dropped; a second payload is left alone.
    if let Err(second) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
    text
}
