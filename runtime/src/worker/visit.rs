//! Where a thread that calls the runtime stands: on the seat that it has, or on one that it takes for the time.

use crate::{
    datum::Level,
    scope_state::ScopeState,
    seat::{Seat, current_frame},
    shared::{GUESTS, Shared},
    topology,
};
use std::{ptr::NonNull, sync::atomic::Ordering};

/// Where a thread stands when it opens a scope.
pub(crate) struct Entry<'a> {
    pub(crate) seat: &'a Seat,
    pub(crate) level: Level,
    pub(crate) parent: Option<NonNull<ScopeState>>,
    /// While waiting, run only tasks inside this scope.
    pub(crate) within: Option<&'a ScopeState>,
}

impl Shared {
    /// Calls `with` where the calling thread stands: on the seat that it has, or on one that it takes for the time, and waits for where
    /// all are taken.
    pub(crate) fn with_entry<'a, R>(&'a self, with: impl FnOnce(Entry<'a>) -> R) -> R {
        if let Some(frame) = current_frame(std::ptr::from_ref(self).cast()) {
            // SAFETY: a frame's seat and scopes belong to this runtime, which is alive.
            let entry = unsafe {
                Entry {
                    seat: frame.seat.as_ref(),
                    level: Level(frame.task),
                    parent: frame.scope,
                    within: frame.root.map(|root| root.as_ref()),
                }
            };
            return with(entry);
        }
        let sit = || {
            let mut outside = std::iter::once(0).chain(self.workers..self.workers + GUESTS);
            outside.find_map(|place| Some(&*self.seats[place as usize]).filter(|seat| seat.try_take()))
        };
        let seat = sit().unwrap_or_else(|| self.queue.wait(sit));
        let _visit = Visit::begin(self, seat);
        with(Entry { seat, level: Level::TOP, parent: None, within: None })
    }
}

/// A thread from outside on a seat.
pub(super) struct Visit<'a> {
    shared: &'a Shared,
    seat: &'a Seat,
    moved_from: Option<topology::Affinity>,
}

impl<'a> Visit<'a> {
    pub(super) fn begin(shared: &'a Shared, seat: &'a Seat) -> Self {
        let mut moved_from = None;
        if seat.place.0 == 0 {
            shared.sleep.bar_understudy();
            // On the core of another worker the two would take turns, until the system notices.
            moved_from = shared.cores.first().and_then(topology::move_away_to);
        }
        Self { shared, seat, moved_from }
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        let Self { shared, seat, moved_from } = self;
        shared.report(seat);
        shared.leave(seat);
        if seat.place.0 == 0 {
            shared.sleep.admit_understudy();
            // Whoever locked a task to this worker meanwhile has woken the understudy, which could not sit down. Either it
            // finds the seat free now, or its failure came before the fence, and so did the push.
            crate::sync::fence(Ordering::SeqCst);
            if !shared.locked.is_empty() {
                shared.sleep.wake(shared.sleep.understudy());
            }
            // Tasks of others may lie in this seat's queue, and the understudy may be the only one to run them.
            if shared.has_company() {
                shared.sleep.notify();
            }
        }
        if let Some(affinity) = moved_from.take() {
            topology::restore(affinity);
        }
    }
}
