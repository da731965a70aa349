//! Running tasks: a thread takes a ready task, runs it, finishes it, and searches or sleeps when there is none.

use crate::{
    datum::Exclusion,
    error::{Cause, Failure},
    recording::{Stall, TaskId},
    schedule::{Outlook, Place, ReadyTask, Resource, TaskFilter},
    scope_state::ScopeState,
    seat::{Frame, SearchBackoff, Seat, current_frame},
    shared::Shared,
    task::{Body, Exec, Fail, Label, TaskResult},
};
use std::{
    ptr::NonNull,
    sync::{Arc, LazyLock, atomic::Ordering},
    time::{Duration, Instant},
};

/// A thread's wait for a scope, during which it runs tasks.
pub(crate) struct Waiting<'a> {
    /// The scope whose count the thread waits for.
    pub(crate) scope: &'a ScopeState,
    /// How many of the scope's tasks must be done.
    pub(crate) target: u64,
    /// Run only tasks from this scope and from scopes inside it; `None`: run any task.
    pub(crate) within: Option<&'a ScopeState>,
    /// The name of the idle time in traces; `None`: it is not recorded, as at the end of a program.
    pub(crate) stall: Option<Stall>,
}

/// How long a worker searches for a task before it sleeps: much longer than waking a thread takes, and long enough to
/// bridge the serial code between two library calls (measured: docs/measurements/2026-11-28-constants.md).
const SEARCH_TIME: Duration = Duration::from_millis(2);

/// The outlook of a runtime in which all tasks run on the host.
struct HostOutlook {
    workers: u32,
}

impl Outlook for HostOutlook {
    fn workers(&self) -> usize {
        self.workers as usize
    }

    fn now_ns(&self) -> u64 {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed().as_nanos() as u64
    }
}

impl Shared {
    /// Returns the outlook for policies. `None` without a placement, where it is not needed, and `None` while the
    /// runtime ends: a policy must not keep tasks for a thread that may have ended already.
    fn outlook(&self) -> Option<Box<dyn Outlook + '_>> {
        self.placement.as_ref().filter(|_| !self.is_closing())?.outlook(self)
    }

    /// Pushes a task to the policy, and returns the resource that the policy keeps it for, if any.
    #[inline]
    pub(crate) fn give_policy(&self, by: Place, task: ReadyTask) -> Option<Resource> {
        match &self.placement {
            None => self.policy.push(by, task, &HostOutlook { workers: self.workers }),
            Some(placement) => placement.push(self, by, task),
        }
    }

    /// Returns whether a host worker can take this task now.
    #[inline]
    pub(crate) fn host_can_take(&self, task: &ReadyTask) -> bool {
        self.is_own(task) && self.placement.as_ref().is_none_or(|placement| placement.host_can_take(self, task))
    }

    /// Takes a task for this seat without stealing.
    #[inline]
    fn own_task(&self, seat: &Seat, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        match self.locked.take(seat.place) {
            None => self.ask_policy(want, |policy| policy.take(seat.place, want)),
            locked => locked,
        }
    }

    /// Takes a task for this seat, stealing if necessary.
    fn any_task(&self, seat: &Seat, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        self.own_task(seat, want).or_else(|| self.ask_policy(want, |policy| policy.steal(seat.place, want)))
    }

    /// Polls for a task until the search time ends, and ends the search that the caller has started. The pauses between
    /// polls grow, because each poll disturbs pushing and running threads, and because tasks too small to be worth
    /// stealing can accumulate meanwhile.
    fn poll_for_task(&self, seat: &Seat, want: &TaskFilter<'_>, should_stop: &impl Fn() -> bool) -> Option<ReadyTask> {
        let start = Instant::now();
        // SAFETY: this thread occupies the seat; the reference ends with the statement.
        let first_poll = unsafe { seat.local() }.backoff.begin(start);
        let found = (first_poll..).find_map(|poll| {
            SearchBackoff::pause(poll, first_poll, self.sleep.searching());
            let is_over = should_stop();
            let found = if is_over { None } else { self.any_task(seat, &want.hasty(true)) };
            (found.is_some() || is_over || start.elapsed() > SEARCH_TIME).then_some(found)
        });
        let found = found.flatten();
        if found.is_some() {
            // SAFETY: this thread occupies the seat; the reference ends with the statement.
            unsafe { seat.local() }.backoff.end();
        }
        self.sleep.end_search(found.is_some());
        found
    }

    /// Runs tasks, beginning with `next`, until a search finds none.
    fn run_until_idle(&self, seat: &Seat, want: &TaskFilter<'_>, mut next: Option<ReadyTask>) {
        loop {
            let task = next.or_else(|| self.own_task(seat, want)).or_else(|| {
                self.report(seat);
                self.sleep.start_search();
                self.poll_for_task(seat, want, &|| self.is_closing())
            });
            let Some(task) = task else { return };
            next = self.run_task(seat, task);
        }
    }

    /// The loop of a pool thread with a seat of its own, until shutdown.
    pub(crate) fn work(&self, seat: &Seat) {
        let want_host = |task: &ReadyTask| self.host_can_take(task);
        let outlook = self.outlook();
        let want = if self.placement.is_none() {
            TaskFilter::ANY
        } else {
            TaskFilter::of(&want_host).with(outlook.as_deref())
        };
        let mut next = None;
        loop {
            let task = next.or_else(|| self.own_task(seat, &want));
            let Some(task) = task.or_else(|| self.search(seat, &want, || self.is_closing())) else { return };
            next = self.run_task(seat, task);
        }
    }

    /// The loop of the first pool thread, which works while no thread from outside has its seat.
    pub(crate) fn work_as_understudy(&self, seat: &Seat) {
        let want_host = |task: &ReadyTask| self.host_can_take(task);
        let outlook = self.outlook();
        let want = if self.placement.is_none() {
            TaskFilter::ANY
        } else {
            TaskFilter::of(&want_host).with(outlook.as_deref())
        };
        let place = self.sleep.understudy();
        while !self.is_closing() {
            if seat.try_take() {
                // A thread that wants this seat cannot ask for it, so the understudy leaves it whenever it is idle.
                self.run_until_idle(seat, &want, None);
                self.leave(seat);
            }
            self.sleep.announce(place);
            // Look once more, now that pushers can see this thread asleep. It does not count as searching here, because
            // pushers would then rely on it to look again, and it looks only if the seat is free.
            if seat.try_take() {
                let last = self.any_task(seat, &want);
                if last.is_some() {
                    self.sleep.withdraw(place, true);
                    self.run_until_idle(seat, &want, last);
                    self.leave(seat);
                    continue;
                }
                self.leave(seat);
            }
            if self.is_closing() {
                return;
            }
            if self.sleep.sleep(place) {
                // If another thread has taken the seat, it does not search for the task behind this wake-up, so pass
                // the wake-up on.
                self.sleep.end_search(seat.is_taken());
            }
        }
    }

    /// Searches for a task, then sleeps until one is pushed. Returns `None` when `should_stop` is true.
    fn search(&self, seat: &Seat, want: &TaskFilter<'_>, should_stop: impl Fn() -> bool) -> Option<ReadyTask> {
        self.report(seat);
        self.sleep.start_search();
        loop {
            if let Some(task) = self.poll_for_task(seat, want, &should_stop) {
                return Some(task);
            }
            self.sleep.announce(seat.place.0);
            // Look again even if `should_stop` is true: a push during the search has woken no other thread.
            let last = self.any_task(seat, want);
            if last.is_some() || should_stop() {
                self.sleep.withdraw(seat.place.0, last.is_some());
                return last;
            }
            if !self.sleep.sleep(seat.place.0) {
                self.sleep.start_search();
            }
        }
    }

    /// Runs tasks until the awaited number of the scope's tasks is done.
    pub(crate) fn help_until(&self, seat: &Seat, waiting: &Waiting<'_>) {
        let scope = waiting.scope;
        let reached = || scope.done() >= waiting.target;
        self.report(seat);
        if reached() {
            return;
        }
        let accepts = |task: &ReadyTask| {
            self.host_can_take(task)
                && waiting.within.is_none_or(|within| self.slab.slot(task.slot()).scope().is_within(within))
        };
        let any = waiting.within.is_none() && self.placement.is_none();
        let outlook = self.outlook();
        let want = if any { TaskFilter::ANY } else { TaskFilter::of(&accepts).with(outlook.as_deref()) };
        // The count is on a cache line that all workers write, so it is read only when this seat has just reported.
        let mut next: Option<ReadyTask> = None;
        while !(self.has_reported(seat) && reached()) {
            let task = next.take().or_else(|| self.own_task(seat, &want)).or_else(|| {
                scope.wait_here(seat.place, waiting.target);
                // The waiter is registered on the scope that limits its tasks, because any task inside it may be
                // needed.
                waiting.within.inspect(|within| within.set_restricted_waiter(Some(seat.place)));
                let found = self.stalled(seat, waiting.stall, || match waiting.within {
                    None => self.search(seat, &want, reached),
                    Some(_) => self.search_within(seat, &want, reached),
                });
                scope.stop_waiting();
                waiting.within.inspect(|within| within.set_restricted_waiter(None));
                found
            });
            let Some(task) = task else { break };
            next = self.run_task(seat, task);
        }
        if let Some(task) = next {
            // Read before the push: afterwards another thread may run the task and free its slot.
            let scope = NonNull::from(self.slab.slot(task.slot()).scope());
            self.give_policy(seat.place, task);
            self.wake_for(seat, scope);
        }
    }

    /// Runs `search` and records its duration as a stall, if the stall has a name.
    pub(crate) fn stalled<R>(&self, seat: &Seat, stall: Option<Stall>, search: impl FnOnce() -> R) -> R {
        let (Some(recorder), Some(reason)) = (&self.recorder, stall) else { return search() };
        let start_ns = recorder.now_ns();
        let found = search();
        recorder.stall(seat, reason, start_ns);
        found
    }

    /// Runs one task that this seat can take, limited to tasks inside `within`. Returns whether there was one.
    pub(crate) fn run_one(&self, seat: &Seat, within: Option<&ScopeState>) -> bool {
        let accepts = |task: &ReadyTask| {
            self.host_can_take(task)
                && within.is_none_or(|within| self.slab.slot(task.slot()).scope().is_within(within))
        };
        let outlook = self.outlook();
        let task = self.any_task(seat, &TaskFilter::of(&accepts).with(outlook.as_deref()));
        let found = task.is_some();
        if let Some(next) = task.and_then(|task| self.run_task(seat, task)) {
            // Read before the push: afterwards another thread may run the task and free its slot.
            let scope = NonNull::from(self.slab.slot(next.slot()).scope());
            self.give_policy(seat.place, next);
            self.wake_for(seat, scope);
        }
        self.report(seat);
        found
    }

    /// Runs all remaining tasks after the workers may have ended.
    pub(crate) fn run_leftovers(&self, seat: &Seat) {
        while self.run_one(seat, None) {}
        while let Some(task) = self.locked.take_any() {
            if let Some(next) = self.run_task(seat, task) {
                self.give_policy(seat.place, next);
            }
            while self.run_one(seat, None) {}
        }
    }

    fn has_reported(&self, seat: &Seat) -> bool {
        // SAFETY: this thread occupies the seat; the reference ends with the statement.
        unsafe { seat.local() }.done.count == 0
    }

    /// Like [`search`](Self::search), for a thread that can run only some tasks. It is not in the list of sleepers,
    /// where it could consume a wake-up that is meant for a worker. A push of a task of its scope wakes it through the
    /// scope.
    fn search_within(&self, seat: &Seat, want: &TaskFilter<'_>, reached: impl Fn() -> bool) -> Option<ReadyTask> {
        self.report(seat);
        loop {
            // A sequentially consistent fence, paired with `wake_for`: either the pusher sees the registered waiter, or
            // this thread sees the push.
            crate::sync::fence(Ordering::SeqCst);
            if reached() {
                return None;
            }
            if let Some(task) = self.any_task(seat, want) {
                return Some(task);
            }
            self.sleep.sleep_unlisted(seat.place.0);
        }
    }

    /// Runs and finishes a task that the caller has taken. Returns a task that became ready by this, which the caller
    /// must run next or push.
    pub(crate) fn run_task(&self, seat: &Seat, task: ReadyTask) -> Option<ReadyTask> {
        let index = task.slot();
        let slot = self.slab.slot(index);
        let scope = slot.scope();
        debug_assert!(
            seat.place.0 == 0 || !slot.successors.is_single_threaded(),
            "a task of a single-threaded scope runs only on seat 0"
        );
        // SAFETY: this thread has taken the task, so it owns the slot's `exec` until the task is done.
        let Exec { header, body, label } = unsafe { slot.exec() };
        let id = slot.id();
        if self.placement.as_ref().is_some_and(|placement| !placement.admit(self, slot, index, body)) {
            return None;
        }
        let mut held = Vec::new();
        if header.flags.commutes() && !self.hold_exclusions(seat, index, body, &mut held) {
            return None;
        }
        // SAFETY: this thread occupies the seat; the reference ends before the body runs.
        let done = unsafe { &seat.local().done };
        if done.count > 0 && done.scope != Some(NonNull::from(scope)) {
            self.report(seat);
        }
        let started = self.recorder.as_ref().map(|recorder| recorder.now_ns());
        let placement = self.placement.as_deref().map(|placement| (placement, placement.now_ns()));
        let fail = |cause: Cause| self.failed(scope, id, label, cause);
        let frame = Frame {
            runtime: std::ptr::from_ref(self).cast(),
            seat: NonNull::from(seat),
            task: id,
            scope: Some(NonNull::from(scope)),
            root: None,
            outer: None,
        };
        // The frame is needed even if the body is only dropped, because the destructors of its captures are foreign
        // code.
        let result = Frame::enter(frame, || match scope.cancelled() {
            None => match placement.and_then(|(placement, _)| placement.failure(slot)) {
                None => body.run(&fail),
                Some(cause) => fail_without_data(cause, body, &fail),
            },
            Some(failure) => {
                body.discard(&failure);
                TaskResult::Cancelled(failure)
            }
        });
        self.record_cancellation(scope, &result);
        if let Some(recorder) = &self.recorder {
            recorder.span(seat, id, started.unwrap_or(0), result.outcome());
        }
        if let Some((placement, begun_ns)) = placement {
            placement.ended(self, index, begun_ns, &result);
        }
        if !held.is_empty() {
            self.release_exclusions(seat, &held);
        }
        self.finish(seat, index)
    }

    /// Records the failure of a cancelled task in its scope, even if the failure comes from another scope.
    #[inline]
    pub(crate) fn record_cancellation(&self, scope: &ScopeState, result: &TaskResult) {
        if let TaskResult::Cancelled(failure) = result {
            scope.fail(failure);
        }
    }

    /// Takes the exclusions of the task's commuting accesses, or parks the task.
    #[cold]
    fn hold_exclusions(&self, seat: &Seat, index: u32, body: &Body, held: &mut Vec<*const Exclusion>) -> bool {
        let mut wanted = Vec::new();
        body.exclusions(&mut wanted);
        for exclusion in wanted {
            // SAFETY: versions live until every task that names their datum is done.
            if unsafe { &*exclusion }.take_or_park(index) {
                held.push(exclusion);
            } else {
                // From here on another thread may run the task, so this thread must not access its slot.
                if let (Some(recorder), false) = (&self.recorder, held.is_empty()) {
                    // Reads the clock, because releasing may make tasks ready, and nothing was recorded here just now.
                    recorder.moment(seat);
                }
                self.release_exclusions(seat, held);
                return false;
            }
        }
        true
    }

    /// Releases exclusions, and pushes the tasks that were parked for them.
    #[inline]
    fn release_exclusions(&self, seat: &Seat, held: &[*const Exclusion]) {
        for &exclusion in held {
            // SAFETY: versions live until every task that names their datum is done, and the holder's task is not done.
            if let Some(parked) = unsafe { &*exclusion }.release() {
                // Read before the push: afterwards another thread may run the task and free its slot.
                let scope = NonNull::from(self.slab.slot(parked).scope());
                self.push(seat, parked);
                self.wake_for(seat, scope);
            }
        }
    }

    /// Makes the failure of a task and records it in the task's scope.
    pub(crate) fn failed(&self, scope: &ScopeState, task: TaskId, label: &Label, cause: Cause) -> Arc<Failure> {
        let failure = Arc::new(Failure { task, name: label.name, site: label.site, cause });
        scope.fail(&failure);
        failure
    }

    /// Makes a task ready: pushes it to its locked worker or to the policy. Returns the resource that the policy keeps
    /// it for.
    #[inline]
    pub(crate) fn push(&self, seat: &Seat, index: u32) -> Option<Resource> {
        let slot = self.slab.slot(index);
        // SAFETY: the task has just become ready and was not passed on, so only this thread accesses it.
        let header = unsafe { &slot.exec().header };
        // SAFETY: the task is ready in this slot, and no other thread has it: it has just become ready, or this thread
        // had taken it.
        let task = unsafe { ReadyTask::of_runtime(slot.id(), header.priority, index) };
        if let Some(recorder) = &self.recorder {
            recorder.ready(seat);
        }
        match header.flags.worker() {
            None => self.give_policy(seat.place, task),
            Some(worker) => {
                self.push_locked(u32::from(worker) % self.workers, task);
                None
            }
        }
    }

    /// Makes a task ready for one worker, bypassing the policy.
    #[cold]
    fn push_locked(&self, worker: u32, task: ReadyTask) {
        self.locked.push(worker, task);
        crate::sync::fence(Ordering::SeqCst);
        self.sleep.wake(worker);
        if worker == 0 {
            self.sleep.wake(self.sleep.understudy());
        }
    }

    /// Wakes threads that may run tasks of this scope, after a push.
    #[inline]
    pub(crate) fn wake_for(&self, seat: &Seat, scope: NonNull<ScopeState>) {
        // SAFETY: scope states are never freed while the runtime lives.
        let is_single_threaded = unsafe { scope.as_ref() }.is_single_threaded();
        // No other thread runs its tasks, so a serial run needs no fence.
        if is_single_threaded && seat.place.0 == 0 {
            return;
        }
        self.wake_all_for(scope);
    }

    /// Like [`wake_for`](Self::wake_for), but also if this thread is the only one that runs the scope's tasks.
    pub(crate) fn wake_all_for(&self, scope: NonNull<ScopeState>) {
        self.sleep.notify();
        // SAFETY: scope states are never freed while the runtime lives.
        let mut next = Some(unsafe { scope.as_ref() });
        while let Some(scope) = next {
            if let Some(waiter) = scope.restricted_waiter() {
                self.sleep.wake(waiter.0);
            }
            next = scope.parent();
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Handles may have been dropped while the workers ended. No other thread is left, so the seat is free.
        self.run_leftovers(&self.seats[0]);
    }
}

/// Fails a task whose data could not be copied to the host. A separate cold function, because error values would slow
/// down every task.
#[cold]
fn fail_without_data(cause: Cause, body: &mut Body, fail: Fail<'_>) -> TaskResult {
    let failure = fail(cause);
    body.discard(&failure);
    TaskResult::Failed(failure)
}

/// Returns the task whose body the calling thread runs for this runtime, or zero outside of bodies.
pub(crate) fn current_task(shared: &Shared) -> TaskId {
    current_frame(std::ptr::from_ref(shared).cast()).map_or(TaskId(0), |frame| frame.task)
}
