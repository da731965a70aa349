//! Tasks as the runtime holds them: slots, references to them, and the list of those that wait.

mod body;
mod closure;
#[cfg(all(loom, test))]
mod loom_tests;
mod pending;
mod predecessors;
mod slab;
mod slot;
mod spec;
mod successors;

pub(crate) use body::{Body, BoxError, Fail, Runnable, Verdict, caught, guarded};
pub use closure::Outcome;
pub(crate) use closure::{Closure, Compute, Probe, discard_bound, run_bound};
pub(crate) use pending::{Pending, Release, Released};
pub(crate) use predecessors::{Few, Predecessors};
pub(crate) use slab::{Slab, SlotCache};
pub(crate) use slot::{Exec, Flags, Header, Label, Slot};
pub use spec::{Lock, TaskSpec};
pub(crate) use successors::{Added, ChunkCache};

/// A task that was inserted at some time: the slot it was given, and the slot's generation then.
///
/// It may be kept for ever. Once the task is done, every use of the reference finds that out, even if the slot has been
/// given to other tasks since.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct TaskRef(u64);

impl TaskRef {
    /// Slot indices have 24 bits: at most 16 million tasks in flight.
    pub(crate) const SLOT_BITS: u32 = 24;
    /// The last generation of a slot. Less than there is room for here: the word that holds a slot's generation holds more than
    /// it (`successors.rs`).
    pub(crate) const GENERATION_MAX: u64 = (1 << 36) - 1;

    #[inline]
    pub(crate) fn new(generation: u64, slot: u32) -> Self {
        Self(generation << Self::SLOT_BITS | u64::from(slot))
    }

    #[inline]
    pub(crate) fn slot(self) -> u32 {
        (self.0 & ((1 << Self::SLOT_BITS) - 1)) as u32
    }

    #[inline]
    pub(crate) fn generation(self) -> u64 {
        self.0 >> Self::SLOT_BITS
    }
}
