//! Tasks that are somebody's by a rule, on their way to their stations: who pushes one need not wait for those who weigh, look and take.

use super::{super::station::Assigned, Resource};
use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

/// A task that goes to this resource's station.
pub(super) struct Arrival {
    pub(super) on: Resource,
    pub(super) is_panel: bool,
    pub(super) assigned: Assigned,
}

/// See the module's head. It is locked for a few instructions at a time.
#[derive(Default)]
pub(super) struct Inbox {
    arrivals: Mutex<Vec<Arrival>>,
    /// Whether there are any; written under the lock.
    any: AtomicBool,
}

impl Inbox {
    fn arrivals(&self) -> MutexGuard<'_, Vec<Arrival>> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn put(&self, arrival: Arrival) {
        let mut arrivals = self.arrivals();
        arrivals.push(arrival);
        self.any.store(true, Ordering::Release);
    }

    /// Whether anything was put in before, and is still there.
    pub(super) fn has_any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Takes all out, into an empty list, whose room is for others from then on.
    pub(super) fn swap(&self, empty: &mut Vec<Arrival>) {
        let mut arrivals = self.arrivals();
        std::mem::swap(&mut *arrivals, empty);
        self.any.store(false, Ordering::Relaxed);
    }

    pub(super) fn remove_first(&self, mut will_do: impl FnMut(&Assigned) -> bool) -> Option<Assigned> {
        let mut arrivals = self.arrivals();
        let found = arrivals.iter().position(|arrival| will_do(&arrival.assigned))?;
        Some(arrivals.remove(found).assigned)
    }
}
