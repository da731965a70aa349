//! Mutual exclusion among commuting accesses.
//!
//! Tasks that commute on a version become ready together; whoever is taken first holds the version's exclusion while it runs.
//! A task that finds it held does not block its worker: it is *parked* here, and made ready again when the holder lets go. A
//! task with several commuting accesses takes all its exclusions or none: on the first that is held it lets go of those
//! that it had, and parks there. So nobody holds one exclusion while waiting for another, and no order among them is needed.

use crate::sync::{Mutex, MutexGuard, held};

/// The exclusion of one version.
#[derive(Default)]
pub struct Exclusion(Mutex<State>);

#[derive(Default)]
struct State {
    held: bool,
    parked: Vec<u32>,
}

impl Exclusion {
    /// Takes the exclusion for the task in `slot`, or parks it.
    pub(crate) fn take_or_park(&self, slot: u32) -> bool {
        let mut state = self.lock();
        if state.held {
            state.parked.push(slot);
            return false;
        }
        state.held = true;
        true
    }

    /// Lets go, and returns a parked task that may try again.
    ///
    /// One suffices: whether it succeeds here or parks elsewhere, it lets go of this exclusion in turn.
    #[must_use]
    pub(crate) fn let_go(&self) -> Option<u32> {
        let mut state = self.lock();
        state.held = false;
        state.parked.pop()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        held(self.0.lock())
    }
}
