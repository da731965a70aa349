//! Data as the runtime represents them: a datum, its versions, and the access rights to their parts.
//!
//! A **datum** is the object that a handle names. Its first **version** is the place that the user gave. If renaming is
//! allowed, it may have more: a `write` that would have to wait for tasks that still use the old value takes a fresh
//! place instead. At insertion, every access is bound to the version that is current then.
//!
//! *Access rights.*
//!
//! - The inserter of the datum's level accesses `InsertionState` (current version, open reduction) and
//!   [`VersionHazards`]. It is the scope's thread, or the holder of the front lock for a shared handle.
//! - Tasks access [`Execution`](version::Execution) (poison, exclusion). The hazards order these accesses, and the
//!   fields are atomic where they do not.
//! - Tasks access the value, according to their modes: the hazards of its version order every writer before or after
//!   all other users.
//!
//! The data of the inserter and of the tasks are on different cache lines: insertion writes the first, and a task only
//! reads the second.

mod directory_entry;
mod exclusion;
#[cfg(all(loom, test))]
mod loom_tests;
mod route;
mod version;

pub(crate) use directory_entry::{DirectoryEntry, EntryCell};
pub(crate) use exclusion::Exclusion;
pub(crate) use route::Route;
pub use version::Execution;
pub(crate) use version::{HomeCell, Version, VersionHazards};

use crate::{hazard::TaskRef, panics::catch_panic, recording::TaskId};
use std::{any::TypeId, cell::UnsafeCell, ptr::NonNull};

/// The level that a datum was made at: inside the body of this task, or at the top (zero). Only tasks inserted at the
/// same level may name it. Otherwise a task inserted inside a body could wait for the body's own task, which waits for
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level(pub(crate) TaskId);

impl Level {
    pub(crate) const TOP: Self = Self(TaskId(0));
}

/// The runtime and the level that a datum was made in. Tasks from elsewhere may not name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Only compared, never dereferenced. A datum does not outlive its runtime, so no other runtime has this address
    /// meanwhile.
    pub(crate) runtime: *const (),
    pub(crate) level: Level,
}

/// The largest number of versions of one datum. A further write waits, as it does without renaming.
const VERSIONS_MAX: usize = 8;

// `InsertionState::current` is a byte.
const _: () = assert!(VERSIONS_MAX <= u8::MAX as usize);

/// Makes a fresh place.
type MakePlace<T> = Box<dyn Fn() -> Box<T> + Send>;

/// The part of a datum that its inserter uses.
#[repr(C)]
struct InsertionState<T: ?Sized> {
    /// Index into `renamed`, or `None` for the first version.
    current: Option<u8>,
    open_reduction: Option<OpenReduction<T>>,
    fresh: Option<MakePlace<T>>,
    renamed: Vec<Box<Version<T>>>,
}

/// Ends a reduction. It is called with the address of the inserter, whose type this module does not know.
pub(crate) type CloseReduction<T> = unsafe fn(NonNull<()>, &Datum<T>);

/// A run of reductions that has not been combined into the value yet.
struct OpenReduction<T: ?Sized> {
    operation: TypeId,
    close: CloseReduction<T>,
}

/// A datum; see the [module](self) documentation. The fields that every insertion reads come first, on one cache line.
#[repr(C)]
pub(crate) struct Datum<T: ?Sized> {
    pub(crate) origin: Origin,
    /// Whether several threads may insert tasks that name the datum.
    pub(crate) shared: bool,
    insertion: UnsafeCell<InsertionState<T>>,
    first: Version<T>,
}

// SAFETY: the access rights are those of the module documentation, and values are `Send + Sync` by the bounds of the
// constructors. The runtime's address is never dereferenced.
unsafe impl<T: ?Sized + Send + Sync> Send for Datum<T> {}
// SAFETY: the access rights are those of the module documentation, and values are `Send + Sync` by the bounds of the
// constructors.
unsafe impl<T: ?Sized + Send + Sync> Sync for Datum<T> {}

impl<T: ?Sized> Datum<T> {
    /// Creates a datum over `place`.
    ///
    /// # Safety
    /// `place` stays valid, and no other code accesses it, until the datum is dropped; the datum is dropped after every
    /// task that names it is done.
    pub(crate) unsafe fn new(place: NonNull<T>, origin: Origin, shared: bool) -> Box<Self> {
        let insertion = InsertionState { current: None, renamed: Vec::new(), fresh: None, open_reduction: None };
        let (insertion, first) = (UnsafeCell::new(insertion), Version::new(place));
        Box::new(Self { insertion, origin, shared, first })
    }

    /// Returns the version that the next access binds to.
    ///
    /// # Safety
    /// The caller is the inserter of the datum's level.
    #[inline]
    pub(crate) unsafe fn current(&self) -> &Version<T> {
        // SAFETY: the caller is the inserter, which owns `insertion`; a version's box is not dropped before the datum.
        let insertion = unsafe { &*self.insertion.get() };
        insertion.current.map_or(&self.first, |at| &insertion.renamed[usize::from(at)])
    }

    /// Allows a write that would have to wait to use a fresh place, made by `fresh`. Returns a value to drop: it is
    /// foreign code, so the caller must release the front lock first.
    ///
    /// # Safety
    /// The caller is the inserter of the datum's level.
    #[must_use]
    pub(crate) unsafe fn allow_renaming(&self, fresh: MakePlace<T>) -> Option<MakePlace<T>> {
        if self.first.execution.elsewhere.stays() {
            // The entry in the directory belongs to the first place, which outlives the scope.
            return Some(fresh);
        }
        // SAFETY: the caller is the inserter, which owns `insertion`.
        unsafe { &mut *self.insertion.get() }.fresh.replace(fresh)
    }

    /// Makes an idle version current, if renaming is allowed and the current version is not idle.
    ///
    /// # Safety
    /// The caller is the inserter of the datum's level.
    #[inline]
    pub(crate) unsafe fn rename_if_busy(&self, is_done: impl Fn(TaskRef) -> bool) {
        // SAFETY: the caller is the inserter, which owns `insertion` and every version's `hazard_state`.
        unsafe {
            let is_idle = |version: &Version<T>| version.hazard_state().hazards.is_idle(&is_done);
            if (*self.insertion.get()).fresh.is_none() || is_idle(self.current()) {
                return;
            }
            let insertion = &mut *self.insertion.get();
            let Some(fresh) = &insertion.fresh else { return };
            if is_idle(&self.first) {
                insertion.current = None;
            } else if let Some(at) = insertion.renamed.iter().position(|version| is_idle(version)) {
                insertion.current = Some(at as u8);
            } else if insertion.renamed.len() + 1 < VERSIONS_MAX {
                // If the user's code panics, there is no fresh place and the write waits. The panic must not propagate,
                // because the insertion is in progress and other tasks may already wait for the new task.
                if let Ok(place) = catch_panic(fresh) {
                    insertion.renamed.push(Box::new(Version::new(NonNull::from(Box::leak(place)))));
                    insertion.current = Some((insertion.renamed.len() - 1) as u8);
                }
            } else {
                // All versions are busy. The one that has been current least recently will probably be idle first.
                insertion.current = match insertion.current {
                    None => Some(0),
                    Some(at) => Some(at + 1).filter(|&at| usize::from(at) < insertion.renamed.len()),
                };
            }
        }
    }

    /// Opens a reduction by `operation`, to be ended by `close`.
    ///
    /// # Safety
    /// The caller is the inserter of the datum's level. `close` may be called with any address that is passed to
    /// [`close_reduction`](Self::close_reduction).
    pub(crate) unsafe fn open_reduction(&self, operation: TypeId, close: CloseReduction<T>) {
        // SAFETY: the caller is the inserter, which owns `insertion`.
        unsafe { &mut *self.insertion.get() }.open_reduction = Some(OpenReduction { operation, close });
    }

    /// Ends the open reduction, unless the next access continues it.
    ///
    /// # Safety
    /// The caller is the inserter of the datum's level. `inserter` is the address that the `close` functions expect.
    #[inline]
    pub(crate) unsafe fn close_reduction(&self, inserter: NonNull<()>, next: Option<TypeId>) {
        // SAFETY: the caller is the inserter, which owns `insertion`; the reference ends before `close` uses the datum
        // again.
        let open = unsafe { &mut *self.insertion.get() }.open_reduction.take_if(|open| next != Some(open.operation));
        if let Some(open) = open {
            // SAFETY: by this function's contract, `inserter` is the address that the opener's `close` expects.
            unsafe { (open.close)(inserter, self) };
        }
    }

    /// Iterates over all versions, for a task that waits for the whole datum.
    ///
    /// # Safety
    /// The caller is the inserter of the datum's level.
    pub(crate) unsafe fn versions(&self) -> impl Iterator<Item = &Version<T>> {
        // SAFETY: the caller is the inserter, which owns `insertion`.
        let insertion = unsafe { &*self.insertion.get() };
        std::iter::once(&self.first).chain(insertion.renamed.iter().map(|version| &**version))
    }

    /// Returns the execution part of the first version.
    pub(crate) fn first_execution(&self) -> &Execution {
        &self.first.execution
    }

    /// Returns the place that the user gave.
    pub(crate) fn home(&self) -> NonNull<T> {
        self.first.place()
    }
}

impl<T: ?Sized> Datum<T> {
    /// Moves the current value to the first place, where the user expects it.
    ///
    /// # Safety
    /// Every task that names the datum is done.
    pub(crate) unsafe fn settle(&self) {
        // SAFETY: no task uses any of the places any more. They are distinct allocations of the same size, because only
        // sized values are renamed.
        unsafe {
            let (current, first) = (self.current().place(), self.first.place());
            if let Some(_renamed) = (*self.insertion.get()).current.take() {
                let bytes = size_of_val(first.as_ref());
                std::ptr::swap_nonoverlapping(current.as_ptr().cast::<u8>(), first.as_ptr().cast::<u8>(), bytes);
            }
        }
    }
}

impl<T: ?Sized> Drop for Datum<T> {
    fn drop(&mut self) {
        for version in self.insertion.get_mut().renamed.drain(..) {
            // SAFETY: a renamed version's place was leaked from a box in `rename_if_busy`.
            drop(unsafe { Box::from_raw(version.place().as_ptr()) });
        }
    }
}
