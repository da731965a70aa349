//! What all threads of a runtime share.

mod foreign;
mod seam;

use foreign::Foreign;
pub(crate) use seam::{Completed, Next, Placement};

use crate::{
    notices::Notices,
    recorder::{Recorder, RecorderSettings, worker_lane},
    recording::{Lane, Recording},
    schedule::{Place, Policy},
    scope_state::{ScopePool, ScopeState},
    seat::{KnownGuard, KnownLock, Locked, Seat, SeatQueue, Sleep, Strays},
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

/// Makes a policy for so many places.
pub(crate) type MakePolicy = Box<dyn FnOnce(usize) -> Box<dyn Policy> + Send>;

/// What a runtime is made of.
pub(crate) struct Parts {
    pub(crate) workers: u32,
    pub(crate) cores: Vec<topology::Core>,
    pub(crate) policy: MakePolicy,
    /// Whether it is the user's, and so is checked.
    pub(crate) has_custom_policy: bool,
    pub(crate) window: u64,
    pub(crate) notices: Arc<Notices>,
    pub(crate) placement: Option<Box<dyn Placement>>,
    pub(crate) recorder: Option<RecorderSettings>,
}

/// So many threads from outside are inside scopes of one runtime at a time, besides the first. Further ones wait.
pub(crate) const GUESTS: u32 = 62;

/// What all threads of a runtime share.
pub(crate) struct Shared {
    pub(crate) slab: Slab,
    pub(crate) policy: Box<dyn Policy>,
    /// What a policy of the user's gave to the wrong thread; the runtime's own do not.
    pub(crate) strays: Option<Strays>,
    pub(crate) locked: Locked,
    pub(crate) sleep: Sleep,
    pub(crate) scopes: ScopePool,
    /// None where all tasks run on the host.
    pub(crate) placement: Option<Box<dyn Placement>>,
    pub(crate) notices: Arc<Notices>,
    pub(crate) recorder: Option<Recorder>,
    pub(crate) own_numbers: CachePadded<AtomicU64>,
    pub(crate) workers: u32,
    /// At most so many tasks of one scope are in flight.
    pub(crate) window: u64,
    /// Finished tasks are counted in batches of this size.
    pub(crate) report_every: u64,
    pub(crate) seats: Box<[CachePadded<Seat>]>,
    pub(crate) queue: SeatQueue,
    /// The cores that workers are bound to; empty when they are not.
    pub(crate) cores: Vec<topology::Core>,
    pub(crate) front: Front,
    pub(crate) is_closing: AtomicBool,
}

/// Insertion from outside of scopes, and of handles that several threads share: one at a time.
pub(crate) struct Front {
    pub(crate) lock: KnownLock,
    /// How many tasks were inserted; changed with the lock held.
    pub(crate) inserted: AtomicU64,
    pub(crate) scope: NonNull<ScopeState>,
    /// One thread at a time waits for the front scope.
    pub(crate) waiting: Mutex<()>,
}

// SAFETY: `scope` points to a state in the pool, which lives as long as `Shared`.
unsafe impl Send for Front {}
// SAFETY: as above; states are `Sync`.
unsafe impl Sync for Front {}

impl Shared {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { workers, cores, policy, has_custom_policy, window, notices, placement, recorder } = parts;
        let others = placement.as_ref().map_or(0, |placement| placement.threads().len() as u32);
        let places = workers + GUESTS + 1 + others;
        let policy = policy(places as usize);
        let policy = if has_custom_policy { Box::new(Foreign(policy)) } else { policy };
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
            locked: Locked::new(workers),
            sleep: Sleep::new(places),
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
                lock: KnownLock::default(),
                inserted: AtomicU64::new(0),
                scope: front,
                waiting: Mutex::default(),
            },
            is_closing: AtomicBool::new(false),
        }
    }

    /// Leaves a seat, which the calling thread has, to the next.
    pub(crate) fn leave(&self, seat: &Seat) {
        seat.leave();
        self.queue.wake_one();
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Acquire)
    }

    /// Whether the seat is for a further thread from outside, which runs only tasks of its own scopes.
    pub(crate) fn is_guest(&self, seat: &Seat) -> bool {
        (self.workers..self.workers + GUESTS).contains(&seat.place.0)
    }

    /// Whether the seat is that of the only one who runs tasks of any scope.
    pub(crate) fn is_only_worker(&self, seat: &Seat) -> bool {
        self.workers == 1 && self.placement.is_none() && seat.place.0 == 0
    }

    /// The seat of a thread of the placement.
    pub(crate) fn other_seat(&self, thread: usize) -> &Seat {
        &self.seats[(self.workers + GUESTS + 1) as usize + thread]
    }

    /// The thread of the placement that has the seat of this place, if one has.
    pub(crate) fn other_at(&self, place: Place) -> Option<u16> {
        place.0.checked_sub(self.workers + GUESTS + 1).map(|thread| thread as u16)
    }

    /// Whether tasks may be in flight besides those of the calling thread's scope, which has ended.
    pub(crate) fn has_company(&self) -> bool {
        // The front scope is always open.
        self.scopes.open() > 1 || self.is_at_front() || self.inserted_at_front() > self.front_scope().done()
    }

    /// Serialises insertion of tasks that name shared data. Panics if the thread has the lock, as foreign code that is called
    /// meanwhile (what makes a fresh place, a policy) has come back: it would wait for itself.
    pub(crate) fn lock_front(&self) -> KnownGuard<'_> {
        assert!(
            !self.is_at_front(),
            "a shared handle was named by what is called while a task that names one is inserted"
        );
        self.front.lock.lock()
    }

    /// Whether the thread has the front lock.
    pub(crate) fn is_at_front(&self) -> bool {
        self.front.lock.is_mine()
    }

    /// How many tasks were inserted at the front so far.
    pub(crate) fn inserted_at_front(&self) -> u64 {
        let _front = self.lock_front();
        self.front.inserted.load(Ordering::Relaxed)
    }

    pub(crate) fn front_scope(&self) -> &ScopeState {
        // SAFETY: states live as long as `self`.
        unsafe { self.front.scope.as_ref() }
    }
}

/// The lanes of the host's seats, in their order.
fn lanes(workers: u32) -> Vec<Lane> {
    let workers = (0..workers).map(|worker| worker_lane(format!("worker {worker}")));
    let guests = (0..GUESTS).map(|guest| worker_lane(format!("guest {guest}")));
    workers.chain(guests).chain([worker_lane("front".to_owned())]).collect()
}
