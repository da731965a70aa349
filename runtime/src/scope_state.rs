//! The state of a scope that its tasks share.
//!
//! A scope's inserter knows how many tasks it has inserted, and its tasks count how many are done. When the two are
//! equal, the scope may end. The last worker still reads the state after it has counted, to find the waiter to wake. So
//! states are never freed while the runtime lives: a pool passes them from scope to scope. A late reader may see the
//! state of the next scope, and can then at worst wake a thread unnecessarily.
//!
//! # Waiting and counting
//!
//! The waiter stores its target, then its place, and then reads the count. A worker adds to the count and then reads
//! the waiter. The four accesses are sequentially consistent, so at least one of the two sees the other, and no wake-up
//! is lost.
//!
//! # Single-threaded scopes
//!
//! In a runtime with one worker and no devices, a thread from outside that opens a scope on seat 0 is the only thread
//! that runs its tasks: it has the seat of the only worker, so the understudy sleeps, and guests run only tasks of
//! scopes inside their own. The same holds for the scopes that bodies of such a scope open, but for no others: the body
//! of a guest's task may also run on seat 0, but its tasks belong to the guest's scope.
//!
//! One thread inserts, runs and finishes the tasks of such a scope. If a task names no shared data, all its neighbours
//! are in the same scope, so no other thread changes its state, and it needs no locked instructions
//! (`task/successors.rs`). A task that names shared data may have successors from other threads, and uses the general
//! protocol.

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

/// The state of one scope; see the [module](self) documentation.
#[derive(Default)]
pub(crate) struct ScopeState {
    /// The scope whose task opened this one, or inside which it was opened.
    parent: AtomicPtr<ScopeState>,
    is_single_threaded: AtomicBool,
    is_cancelled: AtomicBool,
    failure: Mutex<Option<Arc<Failure>>>,
    /// The place of the thread that waits for the count, plus one; zero if there is none.
    waiter: AtomicU32,
    /// The place, plus one, of a thread that waits for this scope or for one inside it; zero if there is none. While it
    /// waits, it runs only tasks from inside this scope.
    restricted: AtomicU32,
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

    /// Counts finished tasks, and returns the waiter to wake, if any.
    #[inline]
    pub(crate) fn count_done(&self, count: u64) -> Option<Place> {
        let done = self.counts.done.fetch_add(count, Ordering::SeqCst) + count;
        total_order();
        let waiter = self.waiter.load(Ordering::SeqCst);
        (waiter != 0 && done >= self.counts.target.load(Ordering::Relaxed)).then(|| Place(waiter - 1))
    }

    /// Registers the calling thread as waiting until `target` tasks are done. There is one waiter at a time.
    pub(crate) fn wait_here(&self, place: Place, target: u64) {
        self.counts.target.store(target, Ordering::Relaxed);
        self.waiter.store(place.0 + 1, Ordering::SeqCst);
    }

    pub(crate) fn stop_waiting(&self) {
        self.waiter.store(0, Ordering::SeqCst);
    }

    /// Returns whether a thread waits, so that finished tasks should be counted at once.
    #[inline]
    pub(crate) fn is_awaited(&self) -> bool {
        self.waiter.load(Ordering::Relaxed) != 0
    }

    /// Sets or clears the waiter that runs only tasks from inside this scope. It is woken for each of them.
    pub(crate) fn set_restricted_waiter(&self, place: Option<Place>) {
        self.restricted.store(place.map_or(0, |place| place.0 + 1), Ordering::Relaxed);
    }

    /// Returns the waiter that runs only tasks from inside this scope.
    #[inline]
    pub(crate) fn restricted_waiter(&self) -> Option<Place> {
        let restricted = self.restricted.load(Ordering::Relaxed);
        (restricted != 0).then(|| Place(restricted - 1))
    }

    /// Returns whether one thread inserts, runs and finishes every task of this scope; see the [module](self)
    /// documentation.
    #[inline]
    pub(crate) fn is_single_threaded(&self) -> bool {
        self.is_single_threaded.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn parent(&self) -> Option<&ScopeState> {
        // SAFETY: states live as long as the runtime, and a scope's parent is open at least as long as the scope.
        unsafe { self.parent.load(Ordering::Relaxed).as_ref() }
    }

    /// Returns whether this scope is `other` or inside it.
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

    /// Records the failure of a task, unless the scope has one already.
    pub(crate) fn fail(&self, failure: &Arc<Failure>) {
        held(self.failure.lock()).get_or_insert_with(|| failure.clone());
    }

    /// Cancels the tasks that have not begun, with `failure` as the cause.
    pub(crate) fn cancel(&self, failure: &Arc<Failure>) {
        self.fail(failure);
        self.is_cancelled.store(true, Ordering::Release);
    }

    /// Returns the reason why tasks of this scope must not run, if it or an enclosing scope is cancelled.
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

    /// Returns the scope's first failure so far.
    pub(crate) fn failure(&self) -> Option<Arc<Failure>> {
        held(self.failure.lock()).clone()
    }

    /// Takes the scope's failure, and ends its cancellation.
    pub(crate) fn take_failure(&self) -> Option<Arc<Failure>> {
        self.is_cancelled.store(false, Ordering::Relaxed);
        held(self.failure.lock()).take()
    }
}

/// All states ever made, and those that are free.
#[derive(Default)]
pub(crate) struct ScopePool(Mutex<PooledScopes>);

#[derive(Default)]
#[expect(clippy::vec_box, reason = "states are referred to by address")]
struct PooledScopes {
    all: Vec<Box<ScopeState>>,
    free: Vec<usize>,
}

impl ScopePool {
    /// Takes a state for a scope inside `parent`, and returns its index in the pool and the state.
    ///
    /// `single_threaded` says whether the scope is opened on the seat of the only worker. The scope is then
    /// single-threaded if its parent is.
    pub(crate) fn take(
        &self,
        single_threaded: bool,
        parent: Option<NonNull<ScopeState>>,
    ) -> (usize, NonNull<ScopeState>) {
        let mut pool = held(self.0.lock());
        let at = pool.free.pop().unwrap_or_else(|| {
            pool.all.push(Box::default());
            pool.all.len() - 1
        });
        let state = &pool.all[at];
        state.parent.store(parent.map_or(std::ptr::null_mut(), NonNull::as_ptr), Ordering::Relaxed);
        state
            .is_single_threaded
            .store(single_threaded && state.parent().is_none_or(ScopeState::is_single_threaded), Ordering::Relaxed);
        state.is_cancelled.store(false, Ordering::Relaxed);
        *held(state.failure.lock()) = None;
        state.waiter.store(0, Ordering::Relaxed);
        state.restricted.store(0, Ordering::Relaxed);
        state.counts.done.store(0, Ordering::Relaxed);
        (at, NonNull::from(&**state))
    }

    /// Returns a state to the pool. All tasks of its scope are done.
    pub(crate) fn give(&self, at: usize) {
        held(self.0.lock()).free.push(at);
    }

    /// Returns how many tasks are done in the open scopes.
    pub(crate) fn done(&self) -> u64 {
        let pool = held(self.0.lock());
        let open = pool.all.iter().enumerate().filter(|(at, _)| !pool.free.contains(at));
        open.map(|(_, state)| state.done()).sum()
    }

    /// Returns how many scopes are open.
    pub(crate) fn open(&self) -> usize {
        let pool = held(self.0.lock());
        pool.all.len() - pool.free.len()
    }
}

/// The task number of a failure that stands for a cancelled scope, whose name is the scope's.
pub(crate) const NO_TASK: TaskId = TaskId(0);
