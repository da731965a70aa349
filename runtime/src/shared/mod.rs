//! The state that all threads of a runtime share.

mod foreign;
mod seam;

use foreign::AbortingPolicy;
pub(crate) use seam::{AfterRelease, Completed, Placement};

use crate::{
    notices::Notices,
    recorder::{Recorder, RecorderSettings, worker_lane},
    recording::{Lane, Recording},
    schedule::{Place, Policy},
    scope_state::{ScopePool, ScopeState},
    seat::{HolderGuard, HolderLock, LockedTasks, Seat, SeatQueue, Sleep, Strays},
    task::Slab,
    topology,
};
use crossbeam_utils::CachePadded;
use std::{
    ptr::NonNull,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

/// Makes a policy for a given number of places.
pub(crate) type MakePolicy = Box<dyn FnOnce(usize) -> Box<dyn Policy> + Send>;

/// The components of a runtime.
pub(crate) struct RuntimeParts {
    pub(crate) workers: u32,
    pub(crate) cores: Vec<topology::Core>,
    pub(crate) policy: MakePolicy,
    /// Whether the policy is the user's; such a policy is guarded and checked.
    pub(crate) has_custom_policy: bool,
    pub(crate) window: u64,
    pub(crate) notices: Arc<Notices>,
    pub(crate) placement: Option<Box<dyn Placement>>,
    pub(crate) recorder: Option<RecorderSettings>,
}

/// The largest number of threads from outside that can be inside scopes of one runtime at a time, in addition to the
/// first. Further threads wait.
pub(crate) const GUESTS_MAX: u32 = 62;

/// The state that all threads of a runtime share.
pub(crate) struct Shared {
    pub(crate) slab: Slab,
    pub(crate) policy: Box<dyn Policy>,
    /// Tasks that a custom policy gave to the wrong thread; `None` for built-in policies, which do not do that.
    pub(crate) strays: Option<Strays>,
    pub(crate) locked: LockedTasks,
    pub(crate) sleep: Sleep,
    pub(crate) scopes: ScopePool,
    /// `None` if all tasks run on the host.
    pub(crate) placement: Option<Box<dyn Placement>>,
    pub(crate) notices: Arc<Notices>,
    pub(crate) recorder: Option<Recorder>,
    pub(crate) own_numbers: CachePadded<AtomicU64>,
    pub(crate) workers: u32,
    /// The largest number of tasks of one scope in flight.
    pub(crate) window: u64,
    /// Finished tasks are counted in batches of this size.
    pub(crate) report_every: u64,
    pub(crate) seats: Box<[CachePadded<Seat>]>,
    pub(crate) queue: SeatQueue,
    /// The cores that workers are bound to; empty if they are not bound.
    pub(crate) cores: Vec<topology::Core>,
    pub(crate) front: Front,
    pub(crate) is_closing: AtomicBool,
}

/// The state of insertion outside of scopes, and of handles that several threads share. One thread inserts at a time.
pub(crate) struct Front {
    pub(crate) lock: HolderLock,
    /// The number of inserted tasks; changed only with the lock held.
    pub(crate) inserted: AtomicU64,
    pub(crate) scope: NonNull<ScopeState>,
    /// Held by the thread that waits for the front scope, which allows one waiter at a time.
    pub(crate) waiting: Mutex<()>,
}

// SAFETY: `scope` points to a state in the pool, which lives as long as `Shared`.
unsafe impl Send for Front {}
// SAFETY: `scope` points to a state in the pool, which lives as long as `Shared`; states are `Sync`.
unsafe impl Sync for Front {}

impl Shared {
    pub(crate) fn new(parts: RuntimeParts) -> Self {
        let RuntimeParts { workers, cores, policy, has_custom_policy, window, notices, placement, recorder } = parts;
        let placement_threads = placement.as_ref().map_or(0, |placement| placement.threads().len() as u32);
        let places = workers + GUESTS_MAX + 1 + placement_threads;
        let policy = policy(places as usize);
        let policy = if has_custom_policy { Box::new(AbortingPolicy(policy)) } else { policy };
        let recorder = recorder.map(|settings| {
            let (lanes, policy) = (lanes(workers), Some(policy.name().to_owned()));
            let (window, workers) = (Some(window), Some(workers));
            let blank = Recording { lanes, window, workers, policy, ..Recording::default() };
            Recorder::new(settings, blank, notices.clone())
        });
        let scopes = ScopePool::default();
        let (_, front) = scopes.take(false, None);
        Self {
            slab: Slab::new(),
            policy,
            strays: has_custom_policy.then(Strays::default),
            locked: LockedTasks::new(workers),
            sleep: Sleep::new(places, workers),
            scopes,
            placement,
            notices,
            recorder,
            own_numbers: CachePadded::default(),
            workers,
            window,
            report_every: (window / 4).clamp(1, 16),
            seats: (0..places).map(|place| CachePadded::new(Seat::new(Place(place)))).collect(),
            queue: SeatQueue::default(),
            cores,
            front: Front {
                lock: HolderLock::default(),
                inserted: AtomicU64::new(0),
                scope: front,
                waiting: Mutex::default(),
            },
            is_closing: AtomicBool::new(false),
        }
    }

    /// Frees the seat that the calling thread occupies, and wakes a thread that waits for one.
    pub(crate) fn leave(&self, seat: &Seat) {
        seat.leave();
        self.queue.wake_one();
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Acquire)
    }

    /// Returns whether the seat is for a further thread from outside, which runs only tasks of its own scopes.
    pub(crate) fn is_guest(&self, seat: &Seat) -> bool {
        (self.workers..self.workers + GUESTS_MAX).contains(&seat.place.0)
    }

    /// Returns whether the seat belongs to the only thread that runs tasks of any scope.
    pub(crate) fn is_only_worker(&self, seat: &Seat) -> bool {
        self.workers == 1 && self.placement.is_none() && seat.place.0 == 0
    }

    /// Returns the seat of a thread of the placement.
    pub(crate) fn other_seat(&self, thread: usize) -> &Seat {
        &self.seats[(self.workers + GUESTS_MAX + 1) as usize + thread]
    }

    /// Returns the thread of the placement that has the seat of this place, if there is one.
    pub(crate) fn other_at(&self, place: Place) -> Option<u16> {
        place.0.checked_sub(self.workers + GUESTS_MAX + 1).map(|thread| thread as u16)
    }

    /// Returns whether tasks may be in flight outside the calling thread's scope, which has ended.
    pub(crate) fn has_other_tasks(&self) -> bool {
        // The front scope is always open.
        self.scopes.open() > 1 || self.is_at_front() || self.inserted_at_front() > self.front_scope().done()
    }

    /// Serializes insertion of tasks that name shared data. Panics if the thread holds the lock already: foreign code
    /// called during an insertion (a policy, or the function that makes a fresh place) would otherwise wait for its own
    /// thread.
    pub(crate) fn lock_front(&self) -> HolderGuard<'_> {
        assert!(
            !self.is_at_front(),
            "a shared handle was used by foreign code that runs inside an insertion of a shared handle"
        );
        self.front.lock.lock()
    }

    /// Returns whether the thread holds the front lock.
    pub(crate) fn is_at_front(&self) -> bool {
        self.front.lock.is_held_by_this_thread()
    }

    /// Returns how many tasks were inserted at the front so far.
    pub(crate) fn inserted_at_front(&self) -> u64 {
        let _front = self.lock_front();
        self.front.inserted.load(Ordering::Relaxed)
    }

    pub(crate) fn front_scope(&self) -> &ScopeState {
        // SAFETY: states live as long as `self`.
        unsafe { self.front.scope.as_ref() }
    }
}

/// Returns the lanes of the host's seats, in the order of the seats.
fn lanes(workers: u32) -> Vec<Lane> {
    let workers = (0..workers).map(|worker| worker_lane(format!("worker {worker}")));
    let guests = (0..GUESTS_MAX).map(|guest| worker_lane(format!("guest {guest}")));
    workers.chain(guests).chain([worker_lane("front".to_owned())]).collect()
}
