//! Data as the runtime knows them: a datum, its versions, and who may touch which half of them when.
//!
//! A **datum** is what a handle names. It has one **version**, the place that the user gave, and more where renaming is allowed:
//! a `write` that would have to wait for tasks which still use the old value takes a fresh place instead. Every access is
//! bound, at insertion, to the version that is current then.
//!
//! *Access rights.*
//!
//! | what | who |
//! |---|---|
//! | `Names` and [`Submission`] (current version, open reduction, hazards) | the inserter of the datum's level: the scope's thread, or whoever holds the front lock for a shared handle |
//! | [`Execution`](version::Execution) (poison, exclusion) | tasks; ordered by the hazards themselves, and atomic where they are not |
//! | the value | tasks, as their modes say: the hazards of its version order every writer before and after everyone else |
//!
//! The two halves lie on different cache lines: inserting an access dirties the first, running it only reads the second.

mod elsewhere;
mod exclusion;
#[cfg(all(loom, test))]
mod loom_tests;
mod version;

pub(crate) use elsewhere::{Elsewhere, Kept};
pub(crate) use exclusion::Exclusion;
pub use version::Execution;
pub(crate) use version::{Home, Submission, Version};

use crate::{hazard::TaskRef, panics::caught, recording::TaskId};
use std::{any::TypeId, cell::UnsafeCell, ptr::NonNull};

/// The level that a datum was made at: the body of this task, or the top (zero). Only tasks inserted at the same level may
/// name it: a task inserted inside a body could otherwise wait for the body's own task, which waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level(pub(crate) TaskId);

impl Level {
    pub(crate) const TOP: Self = Self(TaskId(0));
}

/// Where a datum was made: in which runtime, and at which level. Only there may tasks name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Compared, and never followed. A datum does not outlive its runtime, so no two runtimes share an address meanwhile.
    pub(crate) runtime: *const (),
    pub(crate) level: Level,
}

/// How many versions one datum may have at a time; beyond it a write waits, as it does without renaming.
const VERSIONS_MAX: usize = 8;

// The names' index is a byte.
const _: () = assert!(VERSIONS_MAX <= u8::MAX as usize);

/// Makes a fresh place.
type Fresh<T> = Box<dyn Fn() -> Box<T> + Send>;

/// What the inserter keeps of a datum.
#[repr(C)]
struct Names<T: ?Sized> {
    /// Index into `renamed`, or none for the first version.
    current: Option<u8>,
    open_reduction: Option<OpenReduction<T>>,
    fresh: Option<Fresh<T>>,
    renamed: Vec<Box<Version<T>>>,
}

/// Ends a reduction: called with the address of the inserter, whose type is not known here.
pub(crate) type Close<T> = unsafe fn(NonNull<()>, &Datum<T>);

/// A run of reductions that has not been combined into the value yet.
struct OpenReduction<T: ?Sized> {
    operation: TypeId,
    close: Close<T>,
}

/// A datum; see the module's head. What every insertion looks at stands first, on one cache line.
#[repr(C)]
pub(crate) struct Datum<T: ?Sized> {
    pub(crate) origin: Origin,
    /// Whether several threads may insert tasks that name it.
    pub(crate) shared: bool,
    names: UnsafeCell<Names<T>>,
    first: Version<T>,
}

// SAFETY: who touches what is laid down in the module's head; values are `Send + Sync` by the bounds of the constructors. The
// runtime's address is never followed.
unsafe impl<T: ?Sized + Send + Sync> Send for Datum<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for Datum<T> {}

impl<T: ?Sized> Datum<T> {
    /// A datum over `place`.
    ///
    /// # Safety
    /// `place` stays valid, and is touched by nobody else, until the datum is dropped; it is dropped after every task that
    /// names it is done.
    pub(crate) unsafe fn new(place: NonNull<T>, origin: Origin, shared: bool) -> Box<Self> {
        let names = Names { current: None, renamed: Vec::new(), fresh: None, open_reduction: None };
        let (names, first) = (UnsafeCell::new(names), Version::new(place));
        Box::new(Self { names, origin, shared, first })
    }

    /// The version that the next access binds to.
    ///
    /// # Safety
    /// The caller is the inserter of the datum's level.
    #[inline]
    pub(crate) unsafe fn current(&self) -> &Version<T> {
        // SAFETY: the inserter owns `names`; a version's box is not dropped before the datum.
        let names = unsafe { &*self.names.get() };
        names.current.map_or(&self.first, |at| &names.renamed[usize::from(at)])
    }

    /// Allows a write to take a fresh place, made by `fresh`, where it would have to wait. Returns what is to be dropped: foreign
    /// code, for which the caller must have let go of the front lock.
    ///
    /// # Safety
    /// As for [`current`](Self::current).
    #[must_use]
    pub(crate) unsafe fn allow_renaming(&self, fresh: Fresh<T>) -> Option<Fresh<T>> {
        if self.first.execution.elsewhere.stays() {
            // What outlives the scope is the first place, and it has the entry.
            return Some(fresh);
        }
        // SAFETY: the inserter owns `names`.
        unsafe { &mut *self.names.get() }.fresh.replace(fresh)
    }

    /// Makes an idle version current, if renaming is allowed and the present one is not idle.
    ///
    /// # Safety
    /// As for [`current`](Self::current).
    #[inline]
    pub(crate) unsafe fn rename_if_busy(&self, is_done: impl Fn(TaskRef) -> bool) {
        // SAFETY: the inserter owns `names` and every version's submission half.
        unsafe {
            let is_idle = |version: &Version<T>| version.submission().hazards.is_idle(&is_done);
            if (*self.names.get()).fresh.is_none() || is_idle(self.current()) {
                return;
            }
            let names = &mut *self.names.get();
            let Some(fresh) = &names.fresh else { return };
            if is_idle(&self.first) {
                names.current = None;
            } else if let Some(at) = names.renamed.iter().position(|version| is_idle(version)) {
                names.current = Some(at as u8);
            } else if names.renamed.len() + 1 < VERSIONS_MAX {
                // Where the user's code panics there is no fresh place, and the write waits. The insertion is under way, so
                // the panic must not pass: others may already wait for the task.
                if let Ok(place) = caught(fresh) {
                    names.renamed.push(Box::new(Version::new(NonNull::from(Box::leak(place)))));
                    names.current = Some((names.renamed.len() - 1) as u8);
                }
            } else {
                // All are busy. The one whose turn was longest ago will be idle first.
                names.current = match names.current {
                    None => Some(0),
                    Some(at) => Some(at + 1).filter(|&at| usize::from(at) < names.renamed.len()),
                };
            }
        }
    }

    /// Opens a reduction by `operation`, to be ended by `close`.
    ///
    /// # Safety
    /// As for [`current`](Self::current). `close` may be called with whatever is given to [`close_reduction`](Self::close_reduction).
    pub(crate) unsafe fn open_reduction(&self, operation: TypeId, close: Close<T>) {
        // SAFETY: the inserter owns `names`.
        unsafe { &mut *self.names.get() }.open_reduction = Some(OpenReduction { operation, close });
    }

    /// Ends the open reduction, unless the next access continues it.
    ///
    /// # Safety
    /// As for [`current`](Self::current). `inserter` is what those who open reductions expect.
    #[inline]
    pub(crate) unsafe fn close_reduction(&self, inserter: NonNull<()>, next: Option<TypeId>) {
        // SAFETY: the inserter owns `names`; the reference ends before `close` looks at the datum again.
        let open = unsafe { &mut *self.names.get() }.open_reduction.take_if(|open| next != Some(open.operation));
        if let Some(open) = open {
            // SAFETY: `inserter` is what the opener's `close` expects, as the caller promises.
            unsafe { (open.close)(inserter, self) };
        }
    }

    /// Every version, for whoever waits for the whole datum.
    ///
    /// # Safety
    /// As for [`current`](Self::current).
    pub(crate) unsafe fn versions(&self) -> impl Iterator<Item = &Version<T>> {
        // SAFETY: the inserter owns `names`.
        let names = unsafe { &*self.names.get() };
        std::iter::once(&self.first).chain(names.renamed.iter().map(|version| &**version))
    }

    /// What tasks use of the first version.
    pub(crate) fn first_execution(&self) -> &Execution {
        &self.first.execution
    }

    /// The place that the user gave.
    pub(crate) fn home(&self) -> NonNull<T> {
        self.first.place()
    }
}

impl<T: ?Sized> Datum<T> {
    /// Brings the current value to the first place, where the user expects it.
    ///
    /// # Safety
    /// Every task that names the datum is done.
    pub(crate) unsafe fn settle(&self) {
        // SAFETY: no task uses any of the places any more; they are distinct allocations of the same size, since only sized
        // values are renamed.
        unsafe {
            let (current, first) = (self.current().place(), self.first.place());
            if let Some(_renamed) = (*self.names.get()).current.take() {
                let bytes = size_of_val(first.as_ref());
                std::ptr::swap_nonoverlapping(current.as_ptr().cast::<u8>(), first.as_ptr().cast::<u8>(), bytes);
            }
        }
    }
}

impl<T: ?Sized> Drop for Datum<T> {
    fn drop(&mut self) {
        for version in self.names.get_mut().renamed.drain(..) {
            // SAFETY: a renamed version's place was leaked from a box in `rename_if_busy`.
            drop(unsafe { Box::from_raw(version.place().as_ptr()) });
        }
    }
}
