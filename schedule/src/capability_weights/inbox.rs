//! The inbox of bound tasks on their way to their stations. A thread that pushes one need not wait for the lock of the
//! scheduler's state, under which others compare forecasts and steal.

use super::{super::station::Assigned, Resource};
use crate::held;
use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

/// A task assigned to the station of a resource.
pub(super) struct Arrival {
    pub(super) on: Resource,
    pub(super) is_panel: bool,
    pub(super) assigned: Assigned,
}

/// The inbox; see the [module](self) documentation. Its lock is held only for a few instructions.
#[derive(Default)]
pub(super) struct Inbox {
    arrivals: Mutex<Vec<Arrival>>,
    /// Whether the inbox may have tasks; written under the lock.
    any: AtomicBool,
}

impl Inbox {
    pub(super) fn put(&self, arrival: Arrival) {
        let mut arrivals = held(self.arrivals.lock());
        arrivals.push(arrival);
        self.any.store(true, Ordering::Release);
    }

    /// Returns whether the inbox may have tasks. True if one was put in before and none has been taken out since.
    pub(super) fn has_any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Takes all tasks out by swapping with an empty list, whose memory the inbox then uses.
    pub(super) fn swap(&self, empty: &mut Vec<Arrival>) {
        let mut arrivals = held(self.arrivals.lock());
        std::mem::swap(&mut *arrivals, empty);
        self.any.store(false, Ordering::Relaxed);
    }

    pub(super) fn remove_first(&self, mut accepts: impl FnMut(&Assigned) -> bool) -> Option<Assigned> {
        let mut arrivals = held(self.arrivals.lock());
        let found = arrivals.iter().position(|arrival| accepts(&arrival.assigned))?;
        Some(arrivals.remove(found).assigned)
    }
}
