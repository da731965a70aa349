//! What a worker does with a task: takes it, runs it, finishes it, and releases those that waited for it.

use crate::{
    datum::Exclusion,
    error::{Cause, Failure},
    recording::{Stall, TaskId},
    schedule::{Outlook, Place, ReadyTask, Resource, Want},
    scope_state::ScopeState,
    seat::{Frame, Seat, current_frame},
    shared::Shared,
    task::{Body, Exec, Fail, Label, Verdict},
};
use std::{
    ptr::NonNull,
    sync::{Arc, LazyLock, atomic::Ordering},
    time::{Duration, Instant},
};

/// Why a thread that could run tasks is waiting, and which it may run meanwhile.
pub(crate) struct Waiting<'a> {
    /// The scope whose count it waits for.
    pub(crate) scope: &'a ScopeState,
    /// So many of the scope's tasks must be done.
    pub(crate) target: u64,
    /// Run only tasks from this scope and from scopes inside it; `None`: run any.
    pub(crate) within: Option<&'a ScopeState>,
    /// What a trace calls the time in which there is no task to run; `None`: the end of a program has no name.
    pub(crate) stall: Option<Stall>,
}

/// How long a worker looks again before it falls asleep: many times what waking a thread costs (35 to 60 µs on a virtual machine), and as long as
/// a program takes for its serial work between two calls of a library. (OpenMP's threads look for 200 ms. Two cores of a Xeon, 2026-11-25,
/// order 512, where the operands are copied between two calls: gemmt 1.14 times as fast as with looks for 0.1 ms, potrf 1.07.)
const SEARCH: Duration = Duration::from_millis(2);
/// The longest pause between two looks, in turns of an empty loop: some microseconds.
const PAUSE_MAX: u32 = 256;

/// What policies may ask where all tasks run on the host.
struct HostAlone {
    workers: u32,
}

impl Outlook for HostAlone {
    fn workers(&self) -> usize {
        self.workers as usize
    }

    fn now_ns(&self) -> u64 {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed().as_nanos() as u64
    }
}

impl Shared {
    /// What policies may ask. Nothing without a placement, where nobody needs it; and nothing of a runtime that ends, in which
    /// no task is to be kept for somebody who may have gone.
    fn outlook(&self) -> Option<Box<dyn Outlook + '_>> {
        self.placement.as_ref().filter(|_| !self.is_closing())?.outlook(self)
    }

    /// Gives a task to the policy, which says whom it keeps the task for.
    #[inline]
    pub(crate) fn give_policy(&self, by: Place, task: ReadyTask) -> Option<Resource> {
        match &self.placement {
            None => self.policy.push(by, task, &HostAlone { workers: self.workers }),
            Some(placement) => placement.push(self, by, task),
        }
    }

    /// Whether a worker of the host can take this task now.
    #[inline]
    pub(crate) fn host_can_take(&self, task: &ReadyTask) -> bool {
        self.is_own(task) && self.placement.as_ref().is_none_or(|placement| placement.host_can_take(self, task))
    }

    /// A task for this seat that need not be taken from another's share.
    #[inline]
    fn own_task(&self, seat: &Seat, want: &Want<'_>) -> Option<ReadyTask> {
        match self.locked.take(seat.place) {
            None => self.ask_policy(want, |policy| policy.take(seat.place, want)),
            locked => locked,
        }
    }

    /// Any task for this seat.
    fn any_task(&self, seat: &Seat, want: &Want<'_>) -> Option<ReadyTask> {
        self.own_task(seat, want).or_else(|| self.ask_policy(want, |policy| policy.steal(seat.place, want)))
    }

    /// Looks for a task, again and again for a while, and ends the search that the caller has started. The looks grow apart: each costs those who push and those who work, and
    /// tasks that are too small to be worth a visit collect meanwhile.
    fn look_around(&self, seat: &Seat, want: &Want<'_>, enough: &impl Fn() -> bool) -> Option<ReadyTask> {
        let start = Instant::now();
        // SAFETY: the occupant's own; not kept.
        let first = unsafe { seat.local() }.visits.begin(start);
        let found = (first..).find_map(|look| {
            // The more search, the longer each waits, so that their visits together do not become more frequent.
            let pause = (self.sleep.searching() << look.min(first.max(6))).min(PAUSE_MAX);
            (0..pause).for_each(|_| std::hint::spin_loop());
            let is_over = enough();
            let found = if is_over { None } else { self.any_task(seat, &want.hasty(true)) };
            (found.is_some() || is_over || start.elapsed() > SEARCH).then_some(found)
        });
        let found = found.flatten();
        if found.is_some() {
            // SAFETY: as above.
            unsafe { seat.local() }.visits.end();
        }
        self.sleep.end_search(found.is_some());
        found
    }

    /// Runs tasks while there are any, beginning with one that it may have.
    fn drain(&self, seat: &Seat, want: &Want<'_>, mut next: Option<ReadyTask>) {
        loop {
            let task = next.or_else(|| self.own_task(seat, want)).or_else(|| {
                self.report(seat);
                self.sleep.start_search();
                self.look_around(seat, want, &|| self.is_closing())
            });
            let Some(task) = task else { return };
            next = self.run_task(seat, task);
        }
    }

    /// What a pool thread with a seat of its own does until shutdown.
    pub(crate) fn work(&self, seat: &Seat) {
        let want_host = |task: &ReadyTask| self.host_can_take(task);
        let outlook = self.outlook();
        let want = if self.placement.is_none() { Want::ANY } else { Want::of(&want_host).with(outlook.as_deref()) };
        let mut next = None;
        loop {
            let task = next.or_else(|| self.own_task(seat, &want));
            let Some(task) = task.or_else(|| self.search(seat, &want, || self.is_closing())) else { return };
            next = self.run_task(seat, task);
        }
    }

    /// What the first pool thread does: it works while nobody from outside has its seat.
    pub(crate) fn work_as_understudy(&self, seat: &Seat) {
        let want_host = |task: &ReadyTask| self.host_can_take(task);
        let outlook = self.outlook();
        let want = if self.placement.is_none() { Want::ANY } else { Want::of(&want_host).with(outlook.as_deref()) };
        let place = self.sleep.understudy();
        while !self.is_closing() {
            if seat.try_take() {
                // Nobody is waiting for this thread's seat: it is left whenever there is nothing to do.
                self.drain(seat, &want, None);
                self.leave(seat);
            }
            self.sleep.announce(place);
            // Once more, now that pushers can see it asleep; not as one who searches, whom they would rely on to look again; and
            // not while another has the seat.
            if seat.try_take() {
                let last = self.any_task(seat, &want);
                if last.is_some() {
                    self.sleep.withdraw(place, true);
                    self.drain(seat, &want, last);
                    self.leave(seat);
                    continue;
                }
                self.leave(seat);
            }
            if self.is_closing() {
                return;
            }
            if self.sleep.sleep(place) {
                // Whoever has the seat now does not look for what this wake was for.
                self.sleep.end_search(seat.is_taken());
            }
        }
    }

    /// Looks for a task for a while, then sleeps until there is one. `None` when `enough` says so.
    fn search(&self, seat: &Seat, want: &Want<'_>, enough: impl Fn() -> bool) -> Option<ReadyTask> {
        self.report(seat);
        self.sleep.start_search();
        loop {
            if let Some(task) = self.look_around(seat, want, &enough) {
                return Some(task);
            }
            self.sleep.announce(seat.place.0);
            // Also one who has had enough looks: a push during the search has woken nobody.
            let last = self.any_task(seat, want);
            if last.is_some() || enough() {
                self.sleep.withdraw(seat.place.0, last.is_some());
                return last;
            }
            if !self.sleep.sleep(seat.place.0) {
                self.sleep.start_search();
            }
        }
    }

    /// Runs tasks until the scope has as many done as it waits for.
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
        let want = if any { Want::ANY } else { Want::of(&accepts).with(outlook.as_deref()) };
        // The count lies on a line that all workers write, so it is looked at only when this seat has just reported.
        let mut next: Option<ReadyTask> = None;
        while !(self.has_reported(seat) && reached()) {
            let task = next.take().or_else(|| self.own_task(seat, &want)).or_else(|| {
                scope.wait_here(seat.place, waiting.target);
                // On the scope within which it runs tasks: what it waits for may depend on any of them.
                waiting.within.inspect(|within| within.set_picky_waiter(Some(seat.place)));
                let found = self.stalled(seat, waiting.stall, || match waiting.within {
                    None => self.search(seat, &want, reached),
                    Some(_) => self.search_within(seat, &want, reached),
                });
                scope.stop_waiting();
                waiting.within.inspect(|within| within.set_picky_waiter(None));
                found
            });
            let Some(task) = task else { break };
            next = self.run_task(seat, task);
        }
        if let Some(task) = next {
            // Looked up before the push: from then on another thread may run the task and free its slot.
            let scope = NonNull::from(self.slab.slot(task.slot()).scope());
            self.give_policy(seat.place, task);
            self.wake_for(seat, scope);
        }
    }

    /// Does what this seat's thread does for want of a task, and records for how long, if that has a name.
    pub(crate) fn stalled<R>(&self, seat: &Seat, stall: Option<Stall>, search: impl FnOnce() -> R) -> R {
        let (Some(recorder), Some(reason)) = (&self.recorder, stall) else { return search() };
        let start_ns = recorder.now_ns();
        let found = search();
        recorder.stall(seat, reason, start_ns);
        found
    }

    /// Runs one task, if there is one that this seat can take, or one from inside `within`; says whether there was.
    pub(crate) fn run_one(&self, seat: &Seat, within: Option<&ScopeState>) -> bool {
        let accepts = |task: &ReadyTask| {
            self.host_can_take(task)
                && within.is_none_or(|within| self.slab.slot(task.slot()).scope().is_within(within))
        };
        let outlook = self.outlook();
        let task = self.any_task(seat, &Want::of(&accepts).with(outlook.as_deref()));
        let found = task.is_some();
        if let Some(next) = task.and_then(|task| self.run_task(seat, task)) {
            // Looked up before the push: from then on another thread may run the task and free its slot.
            let scope = NonNull::from(self.slab.slot(next.slot()).scope());
            self.give_policy(seat.place, next);
            self.wake_for(seat, scope);
        }
        self.report(seat);
        found
    }

    /// Runs what is left where no worker may be there any more.
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
        // SAFETY: the occupant's own.
        unsafe { seat.local() }.done.count == 0
    }

    /// Like [`search`](Self::search), for a thread that can run only some tasks. It is not in the list of sleepers, so that
    /// no wake that is meant for a worker is lost on it; whoever pushes a task of its scope wakes it by the scope.
    fn search_within(&self, seat: &Seat, want: &Want<'_>, reached: impl Fn() -> bool) -> Option<ReadyTask> {
        self.report(seat);
        loop {
            // Sequentially consistent, against `wake_waiter`: either the pusher sees `wait_here`, or this sees its push.
            crate::sync::fence(Ordering::SeqCst);
            if reached() {
                return None;
            }
            if let Some(task) = self.any_task(seat, want) {
                return Some(task);
            }
            self.sleep.sleep_apart(seat.place.0);
        }
    }

    /// Runs one task, which the caller has taken, and finishes it. Returns a task that this has made ready and that the caller
    /// is to run next, or push.
    pub(crate) fn run_task(&self, seat: &Seat, task: ReadyTask) -> Option<ReadyTask> {
        let index = task.slot();
        let slot = self.slab.slot(index);
        let scope = slot.scope();
        debug_assert!(seat.place.0 == 0 || !slot.successors.is_alone(), "a lone scope's task is for the only worker");
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
        // SAFETY: the occupant's own; not kept over the body.
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
        // Also where the body is only dropped: what it owns is foreign code, too.
        let verdict = Frame::enter(frame, || match scope.cancelled() {
            None => match placement.and_then(|(placement, _)| placement.failure(slot)) {
                None => body.run(&fail),
                Some(cause) => fail_without_data(cause, body, &fail),
            },
            Some(failure) => {
                body.discard(&failure);
                Verdict::Cancelled(failure)
            }
        });
        self.tell_cancelled(scope, &verdict);
        if let Some(recorder) = &self.recorder {
            recorder.span(seat, id, started.unwrap_or(0), verdict.outcome());
        }
        if let Some((placement, begun_ns)) = placement {
            placement.ended(self, index, begun_ns, &verdict);
        }
        if !held.is_empty() {
            self.let_go(seat, &held);
        }
        self.finish(seat, index)
    }

    /// The scope of a cancelled task returns the cause, also if that lies in another scope.
    #[inline]
    pub(crate) fn tell_cancelled(&self, scope: &ScopeState, verdict: &Verdict) {
        if let Verdict::Cancelled(failure) = verdict {
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
                // From here on another thread may run the task: nothing of its slot is touched any more.
                if let (Some(recorder), false) = (&self.recorder, held.is_empty()) {
                    // Nothing was recorded at this seat just now, and what is let go may make tasks ready.
                    recorder.moment(seat);
                }
                self.let_go(seat, held);
                return false;
            }
        }
        true
    }

    /// Lets go of exclusions, and pushes the tasks that were parked for them.
    #[inline]
    fn let_go(&self, seat: &Seat, held: &[*const Exclusion]) {
        for &exclusion in held {
            // SAFETY: versions live until every task that names their datum is done, and the holder's task is not done.
            if let Some(parked) = unsafe { &*exclusion }.let_go() {
                // Looked up before the push: from then on another thread may run the task and free its slot.
                let scope = NonNull::from(self.slab.slot(parked).scope());
                self.push(seat, parked);
                self.wake_for(seat, scope);
            }
        }
    }

    /// Makes the failure of a task and tells its scope.
    pub(crate) fn failed(&self, scope: &ScopeState, task: TaskId, label: &Label, cause: Cause) -> Arc<Failure> {
        let failure = Arc::new(Failure { task, name: label.name, site: label.site, cause });
        scope.fail(&failure);
        failure
    }

    /// Makes a task ready: to its locked worker, or to the policy, which says whom it keeps the task for.
    #[inline]
    pub(crate) fn push(&self, seat: &Seat, index: u32) -> Option<Resource> {
        let slot = self.slab.slot(index);
        // SAFETY: the task has just become ready and was not handed to anyone; only this thread knows of it.
        let header = unsafe { &slot.exec().header };
        // SAFETY: it is ready in this slot, and nobody else has it: who pushes a task has just made it ready, or gives back what it took.
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

    /// Makes a task ready for one worker, past the policy.
    #[cold]
    fn push_locked(&self, worker: u32, task: ReadyTask) {
        self.locked.push(worker, task);
        crate::sync::fence(Ordering::SeqCst);
        self.sleep.wake(worker);
        if worker == 0 {
            self.sleep.wake(self.sleep.understudy());
        }
    }

    /// Wakes whoever should come after a push of tasks of this scope.
    #[inline]
    pub(crate) fn wake_for(&self, seat: &Seat, scope: NonNull<ScopeState>) {
        // SAFETY: scopes' states are never freed while the runtime lives.
        let is_lone = unsafe { scope.as_ref() }.is_lone();
        // Nobody else runs its tasks: a serial run pays for no fence.
        if is_lone && seat.place.0 == 0 {
            return;
        }
        self.wake_all_for(scope);
    }

    /// The same, whoever the calling thread is.
    pub(crate) fn wake_all_for(&self, scope: NonNull<ScopeState>) {
        self.sleep.notify();
        // SAFETY: scopes' states are never freed while the runtime lives.
        let mut next = Some(unsafe { scope.as_ref() });
        while let Some(scope) = next {
            if let Some(waiter) = scope.picky_waiter() {
                self.sleep.wake(waiter.0);
            }
            next = scope.parent();
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Handles may have been dropped while the workers ended. Nobody else is left, so the seat is free.
        self.run_leftovers(&self.seats[0]);
    }
}

/// How a task ends whose data could not be brought home. Kept apart: error values in the way of every task cost each 7 ns.
#[cold]
fn fail_without_data(cause: Cause, body: &mut Body, fail: Fail<'_>) -> Verdict {
    let failure = fail(cause);
    body.discard(&failure);
    Verdict::Failed(failure)
}

/// The number of the body that the calling thread runs for this runtime; zero outside of bodies.
pub(crate) fn current_task(shared: &Shared) -> TaskId {
    current_frame(std::ptr::from_ref(shared).cast()).map_or(TaskId(0), |frame| frame.task)
}
