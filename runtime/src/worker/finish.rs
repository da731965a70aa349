//! The end of a task: its successors are released, its slot is freed, and its scope counts it.

use crate::{
    schedule::ReadyTask,
    scope_state::ScopeState,
    seat::{Seat, UnreportedTasks},
    shared::{AfterRelease, Completed, Shared},
    task::{Release, Released},
};
use std::ptr::NonNull;

/// The effects of finishing one task.
struct Ending<'a> {
    /// The scope of the finished task.
    scope: NonNull<ScopeState>,
    /// A task that the finisher must run next.
    next: Option<ReadyTask>,
    /// The scope of pushed tasks for which no thread has been woken yet.
    pushed_in: Option<NonNull<ScopeState>>,
    completed: &'a mut Completed,
}

impl Shared {
    /// Marks a task done, releases its successors, frees its slot, and counts it. Returns a task that the caller must
    /// run next or push.
    pub(crate) fn finish(&self, seat: &Seat, index: u32) -> Option<ReadyTask> {
        let mut completed = Completed::new();
        let next = self.finish_one(seat, index, None, &mut completed);
        if let Some(placement) = self.placement.as_ref().filter(|_| !completed.is_empty()) {
            placement.retire_all(self, seat, completed);
        }
        next
    }

    /// Like [`finish`](Self::finish), but tasks that can now be retired are added to `completed`, and the caller must
    /// [retire](crate::shared::Placement::retire_all) them. `drawn_ns` is the recorded end of the task, if it is not
    /// now.
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
            // Read before the release: afterwards another thread may run the task and free its slot.
            let ready_scope = NonNull::from(waiting.scope());
            if let (Some(placement), Some(ended_ns)) = (placement, ended_ns) {
                placement.not_before(waiting, ended_ns);
            }
            let released = waiting.pending.release(release, waiting.successors.is_single_threaded());
            // Most releases are not the last one of their task.
            if placement.is_some() || released.runnable() {
                self.release_further(seat, successor, released, ready_scope, &mut ending);
            }
        });
        // SAFETY: this thread occupies the seat. The reference is taken only here, because the releases call policies,
        // and a custom policy may insert tasks on this seat.
        let local = unsafe { seat.local() };
        slot.successors.give_back(closed, &mut local.chunks);
        self.slab.give(index, &mut local.slots);
        if let Some(scope) = ending.pushed_in {
            self.wake_for(seat, scope);
        }
        self.count_done(seat, scope);
        ending.next
    }

    /// Acts on a release of a task: pushes the task if it has become ready.
    #[inline]
    fn after_release(&self, seat: &Seat, index: u32, released: Released) -> AfterRelease {
        match &self.placement {
            Some(placement) => placement.after_release(self, seat, index, released),
            None if released.runnable() => {
                self.push(seat, index);
                AfterRelease::Ready
            }
            None => AfterRelease::Nothing,
        }
    }

    /// Handles a release that may have made the successor ready.
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
            ending.next = self.hand_over(seat, successor);
            if ending.next.is_some() {
                return;
            }
        }
        match self.after_release(seat, successor, released) {
            AfterRelease::Nothing => return,
            AfterRelease::Retire => return ending.completed.push(successor),
            AfterRelease::Ready => {}
        }
        // All successors are of one scope, unless they share a handle between scopes.
        if let Some(other) = ending.pushed_in.replace(scope).filter(|other| *other != scope) {
            self.wake_for(seat, other);
        }
    }

    /// Returns a task that has just become ready, if the policy lets this seat run it next.
    #[inline]
    fn hand_over(&self, seat: &Seat, index: u32) -> Option<ReadyTask> {
        if self.placement.is_some() {
            return None;
        }
        let slot = self.slab.slot(index);
        // SAFETY: the task has just become ready and was not passed on, so only this thread accesses it.
        let header = unsafe { &slot.exec().header };
        // SAFETY: the task is ready in this slot. If it is not handed over, this value is dropped, and `push` makes the
        // next one.
        let task = unsafe { ReadyTask::of_runtime(slot.id(), header.priority, index) };
        if header.flags.worker().is_some() || !self.policy.hands_over(seat.place, &task) {
            return None;
        }
        if let Some(recorder) = &self.recorder {
            recorder.ready(seat);
        }
        Some(task)
    }

    /// Counts a finished task for its scope.
    #[inline]
    fn count_done(&self, seat: &Seat, scope: NonNull<ScopeState>) {
        // SAFETY: this thread occupies the seat; the reference ends with the statement.
        let reported_for = unsafe { seat.local().done.scope };
        // A body runs only after finished tasks of other scopes were reported, but devices finish tasks in any order.
        if reported_for.is_some_and(|other| other != scope) {
            self.report(seat);
        }
        // SAFETY: this thread occupies the seat; the reference ends before `report`.
        let done = unsafe { &mut seat.local().done };
        *done = UnreportedTasks { scope: Some(scope), count: done.count + 1 };
        // SAFETY: scope states are never freed while the runtime lives.
        if done.count >= self.report_every || unsafe { scope.as_ref() }.is_awaited() {
            self.report(seat);
        }
    }

    /// Reports the finished tasks to their scope.
    #[inline]
    pub(crate) fn report(&self, seat: &Seat) {
        // SAFETY: this thread occupies the seat; the reference ends with the statement.
        let UnreportedTasks { scope, count } = std::mem::take(unsafe { &mut seat.local().done });
        if let (Some(scope), 1..) = (scope, count) {
            // SAFETY: scope states are never freed while the runtime lives. The count may end the scope, and another
            // scope may then reuse the state. If its waiter is read instead, the worst effect is an
            // unnecessary wake-up.
            let scope = unsafe { scope.as_ref() };
            if let Some(waiter) = scope.count_done(count) {
                self.sleep.wake(waiter.0);
            }
        }
    }
}
