//! The end of a task: its successors are released, its slot is free again, its scope counts it.

use crate::{
    schedule::ReadyTask,
    scope_state::ScopeState,
    seat::{Done, Seat},
    shared::{Completed, Next, Shared},
    task::{Release, Released},
};
use std::ptr::NonNull;

/// What the end of one task has led to.
struct Ending<'a> {
    /// The scope of the task that ends.
    scope: NonNull<ScopeState>,
    /// A task that the finisher is to run next.
    next: Option<ReadyTask>,
    /// The scope of tasks that were pushed, and for which nobody was woken yet.
    pushed_in: Option<NonNull<ScopeState>>,
    completed: &'a mut Completed,
}

impl Shared {
    /// Marks a task done, releases its successors, frees its slot, and counts it. Returns a task to run next, or push.
    pub(crate) fn finish(&self, seat: &Seat, index: u32) -> Option<ReadyTask> {
        let mut completed = Completed::new();
        let next = self.finish_one(seat, index, None, &mut completed);
        if let Some(placement) = self.placement.as_ref().filter(|_| !completed.is_empty()) {
            placement.retire_all(self, seat, completed);
        }
        next
    }

    /// The same, but for tasks that are settled by it, too: the caller must [retire](crate::shared::Placement::retire_all) them. `drawn_ns` is when a recording
    /// lets the task end, if that is not now.
    #[inline]
    pub(crate) fn finish_one(
        &self,
        seat: &Seat,
        index: u32,
        drawn_ns: Option<u64>,
        completed: &mut Completed,
    ) -> Option<ReadyTask> {
        let slot = self.slab.slot(index);
        let scope = NonNull::from(slot.scope());
        let mut ending = Ending { scope, next: None, pushed_in: None, completed };
        let placement = self.placement.as_deref();
        if placement.is_some() {
            seat.count(-1);
        }
        let closed = slot.successors.close();
        let release = if closed.issued { Release::Done } else { Release::Both };
        let recorder = self.recorder.as_ref().filter(|_| placement.is_some());
        let ended_ns = recorder.map(|recorder| drawn_ns.unwrap_or_else(|| recorder.now_ns()));
        slot.successors.drain(closed, |successor| {
            let waiting = self.slab.slot(successor);
            // Looked up before the release: from then on another thread may run the task and free its slot.
            let ready_scope = NonNull::from(waiting.scope());
            if let (Some(placement), Some(ended_ns)) = (placement, ended_ns) {
                placement.not_before(waiting, ended_ns);
            }
            let released = waiting.pending.release(release, waiting.successors.is_alone());
            // Most releases are not a task's last.
            if placement.is_some() || released.runnable() {
                self.release_further(seat, successor, released, ready_scope, &mut ending);
            }
        });
        // SAFETY: the occupant's own. Not taken before: a policy of the user's, which the releases have called, may insert tasks here.
        let local = unsafe { seat.local() };
        slot.successors.give_back(closed, &mut local.chunks);
        self.slab.give(index, &mut local.slots);
        if let Some(scope) = ending.pushed_in {
            self.wake_for(seat, scope);
        }
        self.count_done(seat, scope);
        ending.next
    }

    /// What to do about a task that has had a release.
    #[inline]
    fn after_release(&self, seat: &Seat, index: u32, released: Released) -> Next {
        match &self.placement {
            Some(placement) => placement.after_release(self, seat, index, released),
            None if released.runnable() => {
                self.push(seat, index);
                Next::Ready
            }
            None => Next::Nothing,
        }
    }

    /// Does what a release asks for.
    #[inline(never)]
    fn release_further(
        &self,
        seat: &Seat,
        successor: u32,
        released: Released,
        scope: NonNull<ScopeState>,
        ending: &mut Ending<'_>,
    ) {
        if released.runnable() && ending.next.is_none() && scope == ending.scope {
            ending.next = self.handed_over(seat, successor);
            if ending.next.is_some() {
                return;
            }
        }
        match self.after_release(seat, successor, released) {
            Next::Nothing => return,
            Next::Retire => return ending.completed.push(successor),
            Next::Ready => {}
        }
        // Successors are of one scope, but for those that share a handle between scopes.
        if let Some(other) = ending.pushed_in.replace(scope).filter(|other| *other != scope) {
            self.wake_for(seat, other);
        }
    }

    /// A task that has just become ready, if the policy lets this seat run it next.
    #[inline]
    fn handed_over(&self, seat: &Seat, index: u32) -> Option<ReadyTask> {
        if self.placement.is_some() {
            return None;
        }
        let slot = self.slab.slot(index);
        // SAFETY: the task has just become ready and was not handed to anyone; only this thread knows of it.
        let header = unsafe { &slot.exec().header };
        // SAFETY: it is ready in this slot; where it is not handed over this value ends here, and `push` makes the next.
        let task = unsafe { ReadyTask::of_runtime(slot.id(), header.priority, index) };
        if header.flags.worker().is_some() || !self.policy.hands_over(seat.place, &task) {
            return None;
        }
        if let Some(recorder) = &self.recorder {
            recorder.ready(seat);
        }
        Some(task)
    }

    /// Counts a finished task towards its scope.
    #[inline]
    fn count_done(&self, seat: &Seat, scope: NonNull<ScopeState>) {
        // SAFETY: the occupant's own; the reference ends with the statement.
        let reported_for = unsafe { seat.local().done.scope };
        // Bodies are run after a report of other scopes' tasks, but devices finish tasks in any order.
        if reported_for.is_some_and(|other| other != scope) {
            self.report(seat);
        }
        // SAFETY: as above.
        let done = unsafe { &mut seat.local().done };
        *done = Done { scope: Some(scope), count: done.count + 1 };
        // SAFETY: scopes' states are never freed while the runtime lives.
        if done.count >= self.report_every || unsafe { scope.as_ref() }.is_awaited() {
            self.report(seat);
        }
    }

    /// Reports the finished tasks to their scope.
    #[inline]
    pub(crate) fn report(&self, seat: &Seat) {
        // SAFETY: the occupant's own.
        let Done { scope, count } = std::mem::take(unsafe { &mut seat.local().done });
        if let (Some(scope), 1..) = (scope, count) {
            // SAFETY: scopes' states are never freed while the runtime lives. Once counted, the scope may end and its state
            // be given to another; what is read of it then can at worst wake somebody for nothing.
            let scope = unsafe { scope.as_ref() };
            if let Some(waiter) = scope.count_done(count) {
                self.sleep.wake(waiter.0);
            }
        }
    }
}
