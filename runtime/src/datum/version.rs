//! One place that holds a datum's value, with its hazards and its poison.

use super::{Elsewhere, Exclusion};
use crate::{
    error::Failure,
    hazard::{Hazards, TaskRef},
    recording::TaskId,
    schedule::Resource,
};
use crossbeam_utils::CachePadded;
use std::{
    cell::UnsafeCell,
    ptr::NonNull,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering},
    },
};

/// What the inserter keeps of a version. The hazards fill a cache line; a recording's part lies on the next.
#[derive(Default)]
#[repr(C)]
pub(crate) struct Submission {
    pub(crate) hazards: Hazards<TaskRef>,
    /// The same hazards among serial numbers, kept only while a run is recorded: these never forget a finished task.
    pub(crate) history: Option<Box<Hazards<TaskId>>>,
    /// The version's number in a recording, from one on; zero before it is first needed.
    pub(crate) number: u32,
}

/// Where a datum is to be updated, if it was dealt to somebody: a hint, which any thread may change at any time.
#[derive(Default)]
pub struct Home(AtomicU32);

impl Home {
    pub(crate) fn set(&self, resource: Option<Resource>) {
        self.0.store(resource.map_or(0, |resource| u32::from(resource.0) + 1), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> Option<Resource> {
        self.0.load(Ordering::Relaxed).checked_sub(1).map(|resource| Resource(resource as u16))
    }
}

/// What tasks use of a version while they run, besides the place.
#[derive(Default)]
#[repr(C)]
pub struct Execution {
    /// The failure because of which the value is not valid, as `Arc::into_raw`; null while it is valid.
    poison: AtomicPtr<Failure>,
    pub(crate) exclusion: Exclusion,
    /// Private parts of a reduction into this version; each is a `Box<T>`, so they exist only for sized `T`. They belong to the
    /// version, not to the datum: under a new name the next reduction may begin before the last one has been combined.
    parts: Mutex<Vec<NonNull<()>>>,
    pub(crate) elsewhere: Elsewhere,
    pub(crate) home: Home,
    /// Tasks that may run elsewhere have named the datum.
    may_travel: AtomicBool,
}

// SAFETY: parts are values like the version's own, which are `Send + Sync` by the bounds of the constructors.
unsafe impl Send for Execution {}
// SAFETY: as above.
unsafe impl Sync for Execution {}

/// One place of a datum; see `datum/mod.rs` for who may touch what. The place lies with the tasks' half, beside the poison.
#[repr(C)]
pub(crate) struct Version<T: ?Sized> {
    submission: CachePadded<UnsafeCell<Submission>>,
    pub(crate) execution: Execution,
    place: NonNull<T>,
}

// Two lines for inserting, two for running.
const _: () = assert!(cfg!(any(loom, not(target_arch = "x86_64"))) || size_of::<Version<[u64]>>() == 256);

impl<T: ?Sized> Version<T> {
    pub(super) fn new(place: NonNull<T>) -> Self {
        Self { submission: CachePadded::default(), execution: Execution::default(), place }
    }

    /// Where the value is.
    #[inline]
    pub(crate) fn place(&self) -> NonNull<T> {
        self.place
    }

    /// The inserter's half.
    ///
    /// # Safety
    /// The caller is the inserter of the datum's level, and makes no second reference while this one lives.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "the right to it moves by protocol, not by borrow")]
    pub(crate) unsafe fn submission(&self) -> &mut Submission {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.submission.get() }
    }
}

impl Execution {
    /// A task that may run elsewhere names the datum.
    pub(crate) fn may_travel(&self) {
        self.may_travel.store(true, Ordering::Relaxed);
    }

    /// Whether the value may have to be brought home. Asked by the inserter.
    pub(crate) fn may_be_away(&self) -> bool {
        self.may_travel.load(Ordering::Relaxed) && !self.elsewhere.stays()
    }

    /// The failure that spoiled the value, if one did.
    ///
    /// Called by a task whose access follows, by its hazards, the access that set it, and precedes the next that may clear it;
    /// or by a task of a reduction, whose neighbours may set it but never clear it.
    #[inline]
    pub(crate) fn poison(&self) -> Option<Arc<Failure>> {
        let failure = self.poison.load(Ordering::Acquire);
        if failure.is_null() { None } else { Some(Self::cloned(failure)) }
    }

    #[cold]
    fn cloned(failure: *const Failure) -> Arc<Failure> {
        // SAFETY: made by `Arc::into_raw` in `spoil`, and not yet taken back: only a writer of the version, which the
        // hazards order before or after the caller, takes it back.
        unsafe {
            Arc::increment_strong_count(failure);
            Arc::from_raw(failure)
        }
    }

    /// The private parts of the reduction into this version.
    pub(crate) fn parts(&self) -> MutexGuard<'_, Vec<NonNull<()>>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the value as spoiled by `failure`. Called by a task that should have written it.
    #[cold]
    pub(crate) fn spoil(&self, failure: &Arc<Failure>) {
        self.replace(Arc::into_raw(failure.clone()).cast_mut());
    }

    /// Like [`spoil`](Self::spoil), for a task of a reduction: others of it may do the same, or look at the poison, at the same
    /// time. So a failure that stands there already stays: nobody may drop it.
    #[cold]
    pub(crate) fn spoil_first(&self, failure: &Arc<Failure>) {
        let failure = Arc::into_raw(failure.clone()).cast_mut();
        let null = std::ptr::null_mut();
        if self.poison.compare_exchange(null, failure, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            // SAFETY: made by `Arc::into_raw` above, and not published.
            drop(unsafe { Arc::from_raw(failure) });
        }
    }

    /// Marks the value as valid. Called by a task that has written it anew.
    #[inline]
    pub(crate) fn heal(&self) {
        if !self.poison.load(Ordering::Relaxed).is_null() {
            self.replace(std::ptr::null_mut());
        }
    }

    #[cold]
    fn replace(&self, failure: *mut Failure) {
        let old = self.poison.swap(failure, Ordering::AcqRel);
        if !old.is_null() {
            // SAFETY: made by `Arc::into_raw` in `spoil`; the swap took it out, so it is taken back once.
            drop(unsafe { Arc::from_raw(old) });
        }
    }
}

impl Drop for Execution {
    fn drop(&mut self) {
        self.replace(std::ptr::null_mut());
    }
}
