//! What the tasks of a scope know of it.
//!
//! A scope's inserter knows how many tasks it has inserted; its tasks count how many are done. When the two are equal, the
//! scope may end. The last worker still touches the state after it has counted (to see whom to wake), so states are never
//! freed while the runtime lives: a pool hands them from scope to scope, and what a late reader sees of the next scope can
//! at worst make it wake a thread for nothing.
//!
//! # Waiting and counting
//!
//! The waiter stores its target and then its place, and looks at the count; the worker adds to the count and then looks for a
//! waiter. All four are sequentially consistent, so one of the two sees the other: no wake is lost.
//!
//! # Lone scopes
//!
//! In a runtime with one worker and no devices, a thread from outside that opens a scope on seat 0 is **alone** with it until
//! it ends: it has the seat of the only worker, so the understudy sleeps, and guests run only tasks of scopes inside their own.
//! The same holds for the scopes that the bodies of a lone scope open, and for no other: the body of a guest's task may run
//! on seat 0, too, but what it inserts lies inside the guest's scope.
//!
//! Such a scope's tasks are inserted, run and finished by one thread. Those that name no shared data have all their neighbours
//! in the same scope, and so nobody else changes anything of theirs: they go without locked instructions (`task/successors.rs`).
//! A task that names shared data may be waited for by tasks of other threads, and takes the ordinary way.

#[cfg(all(loom, test))]
mod loom_tests;

use crate::{
    error::Failure,
    recording::TaskId,
    schedule::Place,
    sync::{AtomicU32, AtomicU64, Ordering, held, total_order},
};
use crossbeam_utils::CachePadded;
use std::{
    ptr::NonNull,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicPtr},
    },
};

/// See the module's head.
#[derive(Default)]
pub(crate) struct ScopeState {
    /// The scope in whose task, or inside which, this one was opened.
    parent: AtomicPtr<ScopeState>,
    is_lone: AtomicBool,
    is_cancelled: AtomicBool,
    failure: Mutex<Option<Arc<Failure>>>,
    /// Who waits for the count, plus one. Zero: nobody.
    waiter: AtomicU32,
    /// Who waits, here or in a scope inside this one, and meanwhile runs only tasks from inside this one, plus one.
    picky: AtomicU32,
    counts: CachePadded<Counts>,
}

#[derive(Default)]
struct Counts {
    done: AtomicU64,
    target: AtomicU64,
}

impl ScopeState {
    #[inline]
    pub(crate) fn done(&self) -> u64 {
        total_order();
        self.counts.done.load(Ordering::SeqCst)
    }

    /// Counts finished tasks, and says whom to wake.
    #[inline]
    pub(crate) fn count_done(&self, count: u64) -> Option<Place> {
        let done = self.counts.done.fetch_add(count, Ordering::SeqCst) + count;
        total_order();
        let waiter = self.waiter.load(Ordering::SeqCst);
        (waiter != 0 && done >= self.counts.target.load(Ordering::Relaxed)).then(|| Place(waiter - 1))
    }

    /// The calling thread waits here until `target` tasks are done. There is one waiter at a time.
    pub(crate) fn wait_here(&self, place: Place, target: u64) {
        self.counts.target.store(target, Ordering::Relaxed);
        self.waiter.store(place.0 + 1, Ordering::SeqCst);
    }

    pub(crate) fn stop_waiting(&self) {
        self.waiter.store(0, Ordering::SeqCst);
    }

    /// Whether somebody waits, so that finished tasks should be counted at once.
    #[inline]
    pub(crate) fn is_awaited(&self) -> bool {
        self.waiter.load(Ordering::Relaxed) != 0
    }

    /// Who runs only tasks from inside this scope while it waits, and so is woken for each of them; or nobody any more.
    pub(crate) fn set_picky_waiter(&self, place: Option<Place>) {
        self.picky.store(place.map_or(0, |place| place.0 + 1), Ordering::Relaxed);
    }

    /// A waiter that runs only tasks from inside this scope.
    #[inline]
    pub(crate) fn picky_waiter(&self) -> Option<Place> {
        let picky = self.picky.load(Ordering::Relaxed);
        (picky != 0).then(|| Place(picky - 1))
    }

    /// Whether one thread inserts, runs and finishes every task of this scope; see the module's head.
    #[inline]
    pub(crate) fn is_lone(&self) -> bool {
        self.is_lone.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn parent(&self) -> Option<&ScopeState> {
        // SAFETY: states live as long as the runtime, and a scope's parent is open at least as long as the scope.
        unsafe { self.parent.load(Ordering::Relaxed).as_ref() }
    }

    /// Whether this is `other` or lies inside it.
    pub(crate) fn is_within(&self, other: &ScopeState) -> bool {
        let mut next = Some(self);
        while let Some(scope) = next {
            if std::ptr::eq(scope, other) {
                return true;
            }
            next = scope.parent();
        }
        false
    }

    /// The first failure of a task is the scope's.
    pub(crate) fn fail(&self, failure: &Arc<Failure>) {
        held(self.failure.lock()).get_or_insert_with(|| failure.clone());
    }

    /// Cancels the tasks that have not begun, with this as the cause.
    pub(crate) fn cancel(&self, failure: &Arc<Failure>) {
        self.fail(failure);
        self.is_cancelled.store(true, Ordering::Release);
    }

    /// Why tasks of this scope shall not run, if they shall not. A scope inside a cancelled one is cancelled.
    #[inline]
    pub(crate) fn cancelled(&self) -> Option<Arc<Failure>> {
        let mut next = Some(self);
        while let Some(scope) = next {
            if scope.is_cancelled.load(Ordering::Relaxed) {
                return held(scope.failure.lock()).clone();
            }
            next = scope.parent();
        }
        None
    }

    /// The scope's first failure so far.
    pub(crate) fn failure(&self) -> Option<Arc<Failure>> {
        held(self.failure.lock()).clone()
    }

    /// The scope's failure, taken: it is not cancelled any more.
    pub(crate) fn take_failure(&self) -> Option<Arc<Failure>> {
        self.is_cancelled.store(false, Ordering::Relaxed);
        held(self.failure.lock()).take()
    }
}

/// All states ever made, and those free for the next scope.
#[derive(Default)]
pub(crate) struct ScopePool(Mutex<Pool>);

#[derive(Default)]
#[expect(clippy::vec_box, reason = "states are referred to by address")]
struct Pool {
    all: Vec<Box<ScopeState>>,
    free: Vec<usize>,
}

impl ScopePool {
    /// A fresh state inside `parent`, and its number in the pool.
    ///
    /// `lone` says whether the scope is opened on the seat of the only worker; it is lone then if its parent is.
    pub(crate) fn take(&self, lone: bool, parent: Option<NonNull<ScopeState>>) -> (usize, NonNull<ScopeState>) {
        let mut pool = held(self.0.lock());
        let at = pool.free.pop().unwrap_or_else(|| {
            pool.all.push(Box::default());
            pool.all.len() - 1
        });
        let state = &pool.all[at];
        state.parent.store(parent.map_or(std::ptr::null_mut(), NonNull::as_ptr), Ordering::Relaxed);
        state.is_lone.store(lone && state.parent().is_none_or(ScopeState::is_lone), Ordering::Relaxed);
        state.is_cancelled.store(false, Ordering::Relaxed);
        *held(state.failure.lock()) = None;
        state.waiter.store(0, Ordering::Relaxed);
        state.picky.store(0, Ordering::Relaxed);
        state.counts.done.store(0, Ordering::Relaxed);
        (at, NonNull::from(&**state))
    }

    /// Gives a state back. All tasks of its scope are done.
    pub(crate) fn give(&self, at: usize) {
        held(self.0.lock()).free.push(at);
    }

    /// How many tasks are done in the scopes that are open.
    pub(crate) fn done(&self) -> u64 {
        let pool = held(self.0.lock());
        let open = pool.all.iter().enumerate().filter(|(at, _)| !pool.free.contains(at));
        open.map(|(_, state)| state.done()).sum()
    }

    /// How many scopes are open.
    pub(crate) fn open(&self) -> usize {
        let pool = held(self.0.lock());
        pool.all.len() - pool.free.len()
    }
}

/// Serial numbers of tasks cancelled with their scope are of no use to the reader; the name is the scope's.
pub(crate) const NO_TASK: TaskId = TaskId(0);
