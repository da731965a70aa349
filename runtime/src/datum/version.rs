//! A version: one place that holds a datum's value, with its hazards and its poison.

use super::{EntryCell, Exclusion, route::RouteCell};
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
        atomic::{AtomicBool, AtomicPtr, AtomicU16, Ordering},
    },
};

/// The inserter's part of a version. The hazards fill one cache line, and the recording's fields are on the next.
#[derive(Default)]
#[repr(C)]
pub(crate) struct VersionHazards {
    pub(crate) hazards: Hazards<TaskRef>,
    /// The same hazards among serial numbers. They exist only while a run is recorded, and keep finished tasks.
    pub(crate) history: Option<Box<Hazards<TaskId>>>,
    /// The version's number in a recording, counted from one; zero before it is first needed.
    pub(crate) number: u32,
}

/// The resource that should update a datum, if the datum was dealt. It is a hint, which any thread may change at any
/// time.
#[derive(Default)]
pub struct HomeCell(AtomicU16);

impl HomeCell {
    pub(crate) fn set(&self, resource: Option<Resource>) {
        self.0.store(resource.map_or(0, |resource| resource.0.saturating_add(1)), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> Option<Resource> {
        self.0.load(Ordering::Relaxed).checked_sub(1).map(Resource)
    }
}

/// The part of a version that tasks use while they run, besides the place.
#[derive(Default)]
#[repr(C)]
pub struct Execution {
    /// The failure that poisoned the value, from `Arc::into_raw`; null while the value is valid.
    poison: AtomicPtr<Failure>,
    pub(crate) exclusion: Exclusion,
    /// Partial values of a reduction into this version. Each is a `Box<T>`, so they exist only for sized `T`. They
    /// belong to the version, not to the datum: after renaming, the next reduction may begin before the previous one
    /// has been combined.
    partial_values: Mutex<Vec<NonNull<()>>>,
    pub(crate) elsewhere: EntryCell,
    pub(crate) home: HomeCell,
    pub(crate) route: RouteCell,
    /// Whether a task that may run on a device has named the datum.
    has_device_tasks: AtomicBool,
}

// SAFETY: partial values are values like the version's own, which are `Send + Sync` by the bounds of the constructors.
unsafe impl Send for Execution {}
// SAFETY: the list of partial values is behind a lock, and they are `Send + Sync` by the bounds of the constructors.
unsafe impl Sync for Execution {}

/// One version of a datum; see `datum/mod.rs` for the access rights. The place is next to the tasks' part.
#[repr(C)]
pub(crate) struct Version<T: ?Sized> {
    hazard_state: CachePadded<UnsafeCell<VersionHazards>>,
    pub(crate) execution: Execution,
    place: NonNull<T>,
}

// Two cache lines for insertion, two for execution.
const _: () = assert!(cfg!(any(loom, not(target_arch = "x86_64"))) || size_of::<Version<[u64]>>() == 256);

impl<T: ?Sized> Version<T> {
    pub(super) fn new(place: NonNull<T>) -> Self {
        Self { hazard_state: CachePadded::default(), execution: Execution::default(), place }
    }

    /// Returns the place of the value.
    #[inline]
    pub(crate) fn place(&self) -> NonNull<T> {
        self.place
    }

    /// Returns the inserter's part.
    ///
    /// # Safety
    /// The caller is the inserter of the datum's level, and makes no second reference while this one lives.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "access rights move by protocol, not by borrow")]
    pub(crate) unsafe fn hazard_state(&self) -> &mut VersionHazards {
        // SAFETY: the caller is the inserter of the datum's level and makes no second reference, by this function's
        // contract.
        unsafe { &mut *self.hazard_state.get() }
    }
}

impl Execution {
    /// Records that a task that may run on a device names the datum.
    pub(crate) fn set_has_device_tasks(&self) {
        self.has_device_tasks.store(true, Ordering::Relaxed);
    }

    /// Returns whether the value may have to be copied back to the host. Called by the inserter.
    pub(crate) fn may_be_on_device(&self) -> bool {
        self.has_device_tasks.load(Ordering::Relaxed) && !self.elsewhere.stays()
    }

    /// Returns the failure that poisoned the value, if any.
    ///
    /// The caller is a task whose access follows, by its hazards, the access that set the poison, and precedes the next
    /// access that may clear it; or a task of a reduction, whose neighbours may set the poison but never clear it.
    #[inline]
    pub(crate) fn poison(&self) -> Option<Arc<Failure>> {
        let failure = self.poison.load(Ordering::Acquire);
        if failure.is_null() { None } else { Some(Self::clone_failure(failure)) }
    }

    #[cold]
    fn clone_failure(failure: *const Failure) -> Arc<Failure> {
        // SAFETY: made by `Arc::into_raw` in `set_poison`, and still owned by the version. Only a writer of the version
        // takes it back, and the hazards order every writer before or after the caller.
        unsafe {
            Arc::increment_strong_count(failure);
            Arc::from_raw(failure)
        }
    }

    /// Returns the partial values of the reduction into this version.
    pub(crate) fn partial_values(&self) -> MutexGuard<'_, Vec<NonNull<()>>> {
        self.partial_values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the value as poisoned by `failure`. Called by a task that should have written it.
    #[cold]
    pub(crate) fn set_poison(&self, failure: &Arc<Failure>) {
        self.replace_poison(Arc::into_raw(failure.clone()).cast_mut());
    }

    /// Like [`set_poison`](Self::set_poison), for a task of a reduction: other tasks of the reduction may set or read
    /// the poison at the same time. So an existing failure is kept, because no one may drop it.
    #[cold]
    pub(crate) fn set_first_poison(&self, failure: &Arc<Failure>) {
        let failure = Arc::into_raw(failure.clone()).cast_mut();
        let null = std::ptr::null_mut();
        if self.poison.compare_exchange(null, failure, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            // SAFETY: made by `Arc::into_raw` above, and not published.
            drop(unsafe { Arc::from_raw(failure) });
        }
    }

    /// Marks the value as valid. Called by a task that has overwritten it.
    #[inline]
    pub(crate) fn clear_poison(&self) {
        if !self.poison.load(Ordering::Relaxed).is_null() {
            self.replace_poison(std::ptr::null_mut());
        }
    }

    #[cold]
    fn replace_poison(&self, failure: *mut Failure) {
        let old = self.poison.swap(failure, Ordering::AcqRel);
        if !old.is_null() {
            // SAFETY: made by `Arc::into_raw` in `set_poison`. The swap removed it, so it is taken back only once.
            drop(unsafe { Arc::from_raw(old) });
        }
    }
}

impl Drop for Execution {
    fn drop(&mut self) {
        self.replace_poison(std::ptr::null_mut());
    }
}
