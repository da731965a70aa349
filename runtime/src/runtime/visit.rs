//! What begins and ends when a thread from outside takes a seat.

use super::Shared;
use crate::{topology, worker::Seat};
use std::sync::atomic::Ordering;

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
