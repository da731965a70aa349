//! Mutual exclusion among commuting accesses.
//!
//! Tasks that commute on a version become ready together, and the first one taken holds the version's exclusion while
//! it runs. A task that finds the exclusion held does not block its worker: it is *parked* here and made ready again
//! when the holder releases the exclusion. A task with several commuting accesses takes all its exclusions or none: at
//! the first one that is held, it releases those that it has and parks there. So no task holds one exclusion while it
//! waits for another, and no lock order is needed.

use crate::sync::{Mutex, MutexGuard, held};

/// The exclusion of one version.
#[derive(Default)]
pub struct Exclusion(Mutex<ExclusionState>);

#[derive(Default)]
struct ExclusionState {
    held: bool,
    parked: Vec<u32>,
}

impl Exclusion {
    /// Takes the exclusion for the task in `slot` and returns true, or parks the task and returns false.
    pub(crate) fn take_or_park(&self, slot: u32) -> bool {
        let mut state = self.lock();
        if state.held {
            state.parked.push(slot);
            return false;
        }
        state.held = true;
        true
    }

    /// Releases the exclusion, and returns a parked task that may try again.
    ///
    /// Returning one task is enough: whether it succeeds here or parks at another exclusion, it releases this exclusion
    /// again.
    #[must_use]
    pub(crate) fn release(&self) -> Option<u32> {
        let mut state = self.lock();
        state.held = false;
        state.parked.pop()
    }

    fn lock(&self) -> MutexGuard<'_, ExclusionState> {
        held(self.0.lock())
    }
}
