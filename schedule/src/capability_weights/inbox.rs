//! Tasks that are somebody's by a rule, on their way to their stations: who pushes one need not wait for those who weigh, look and take.

use super::{super::station::Assigned, Resource};
use crate::held;
use std::sync::{
    Mutex,
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
    /// Whether there may be any; written under the lock.
    any: AtomicBool,
}

impl Inbox {
    pub(super) fn put(&self, arrival: Arrival) {
        let mut arrivals = held(self.arrivals.lock());
        arrivals.push(arrival);
        self.any.store(true, Ordering::Release);
    }

    /// Whether anything may be in it: surely if it was put in before, and nobody has taken it out.
    pub(super) fn has_any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Takes all out, into an empty list, whose room is for others from then on.
    pub(super) fn swap(&self, empty: &mut Vec<Arrival>) {
        let mut arrivals = held(self.arrivals.lock());
        std::mem::swap(&mut *arrivals, empty);
        self.any.store(false, Ordering::Relaxed);
    }

    pub(super) fn remove_first(&self, mut will_do: impl FnMut(&Assigned) -> bool) -> Option<Assigned> {
        let mut arrivals = held(self.arrivals.lock());
        let found = arrivals.iter().position(|arrival| will_do(&arrival.assigned))?;
        Some(arrivals.remove(found).assigned)
    }
}
