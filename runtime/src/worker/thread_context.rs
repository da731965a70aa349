//! The seat and scope of a thread that calls the runtime. A thread from outside takes a seat for the duration of the
//! call.

use crate::{
    datum::Level,
    scope_state::ScopeState,
    seat::{Seat, current_frame},
    shared::{GUESTS_MAX, Shared},
    topology,
};
use std::{ptr::NonNull, sync::atomic::Ordering};

/// The seat, level and enclosing scope of a thread that calls the runtime.
pub(crate) struct ThreadContext<'a> {
    pub(crate) seat: &'a Seat,
    pub(crate) level: Level,
    pub(crate) parent: Option<NonNull<ScopeState>>,
    /// While waiting, run only tasks inside this scope.
    pub(crate) within: Option<&'a ScopeState>,
}

impl Shared {
    /// Calls `with` with the context of the calling thread. A thread without a seat takes one for the call, and waits
    /// for one if all are taken.
    pub(crate) fn with_thread_context<'a, R>(&'a self, with: impl FnOnce(ThreadContext<'a>) -> R) -> R {
        if let Some(frame) = current_frame(std::ptr::from_ref(self).cast()) {
            // SAFETY: a frame's seat and scopes belong to this runtime, which is alive.
            let context = unsafe {
                ThreadContext {
                    seat: frame.seat.as_ref(),
                    level: Level(frame.task),
                    parent: frame.scope,
                    within: frame.root.map(|root| root.as_ref()),
                }
            };
            return with(context);
        }
        let take_seat = || {
            let mut outside = std::iter::once(0).chain(self.workers..self.workers + GUESTS_MAX);
            outside.find_map(|place| Some(&*self.seats[place as usize]).filter(|seat| seat.try_take()))
        };
        let seat = take_seat().unwrap_or_else(|| self.queue.wait(take_seat));
        let _visit = OutsideVisit::begin(self, seat);
        with(ThreadContext { seat, level: Level::TOP, parent: None, within: None })
    }
}

/// A thread from outside that has taken a seat.
pub(super) struct OutsideVisit<'a> {
    shared: &'a Shared,
    seat: &'a Seat,
    moved_from: Option<topology::Affinity>,
}

impl<'a> OutsideVisit<'a> {
    pub(super) fn begin(shared: &'a Shared, seat: &'a Seat) -> Self {
        let mut moved_from = None;
        if seat.place.0 == 0 {
            shared.sleep.bar_understudy();
            // If the thread shared a core with another worker, the two would alternate until the system moves one of
            // them.
            moved_from = shared.cores.first().and_then(topology::move_away_to);
        }
        Self { shared, seat, moved_from }
    }
}

impl Drop for OutsideVisit<'_> {
    fn drop(&mut self) {
        let Self { shared, seat, moved_from } = self;
        shared.report(seat);
        shared.leave(seat);
        if seat.place.0 == 0 {
            shared.sleep.admit_understudy();
            // A thread that locked a task to this worker meanwhile has woken the understudy, which could not take the
            // seat. Either the understudy finds the seat free now, or its failed attempt came before this fence, and so
            // did the push.
            crate::sync::fence(Ordering::SeqCst);
            if !shared.locked.is_empty() {
                shared.sleep.wake(shared.sleep.understudy());
            }
            // This seat's queue may have tasks of other scopes, and the understudy may be the only thread to run them.
            if shared.has_other_tasks() {
                shared.sleep.notify();
            }
        }
        if let Some(affinity) = moved_from.take() {
            topology::restore(affinity);
        }
    }
}
