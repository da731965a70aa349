//! Queues of ready tasks, one set per place, from which others steal: what the stealing policies are made of.
//!
//! Each place has one queue per **band** of priority, all under one lock, which its owner takes uncontended unless somebody
//! steals. (A lock-free deque would save its owner no more than a few nanoseconds here, since taking from one needs a full
//! fence too, and it could not be searched by a thread that may take only some tasks.) A mask of the bands that are not empty
//! lies outside the lock, so that passing an empty place costs one load. It has a cache line of its own, which changes only when
//! a band gets its first task or loses its last: who passes by does not disturb the owner's pushes.

use super::{Place, ReadyTask, Want};
use crossbeam_utils::CachePadded;
use std::{
    collections::VecDeque,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

/// From which end a place takes its own tasks. Thieves always take the oldest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    OldestFirst,
    NewestFirst,
}

/// At most so many tasks are stolen at once, and at most half of the victim's.
const LOOT_MAX: usize = 16;

type Queues<const BANDS: usize> = [VecDeque<ReadyTask>; BANDS];

struct Lane<const BANDS: usize> {
    /// Bit `b` is set while band `b` holds a task. Written under the lock.
    bands: CachePadded<AtomicU32>,
    queues: CachePadded<Mutex<Queues<BANDS>>>,
}

/// The queues of all places.
pub(super) struct Lanes<const BANDS: usize> {
    lanes: Box<[Lane<BANDS>]>,
    order: Order,
}

impl<const BANDS: usize> Lanes<BANDS> {
    pub(super) fn new(places: usize, order: Order) -> Self {
        let queues = || Mutex::new(std::array::from_fn(|_| VecDeque::new()));
        let lane = || Lane { bands: CachePadded::default(), queues: CachePadded::new(queues()) };
        Self { lanes: (0..places).map(|_| lane()).collect(), order }
    }

    /// The bands in which this place has tasks, as bits.
    #[inline]
    pub(super) fn bands(&self, place: usize) -> u32 {
        self.lanes[place].bands.load(Ordering::Acquire)
    }

    /// The other places, beginning with the next.
    pub(super) fn others(&self, place: Place) -> impl Iterator<Item = usize> {
        let (places, own) = (self.lanes.len(), place.0 as usize);
        (own + 1..own + places).map(move |other| if other < places { other } else { other - places })
    }

    #[inline]
    pub(super) fn push(&self, place: Place, band: usize, task: ReadyTask) {
        let lane = &self.lanes[place.0 as usize];
        let mut queues = lane.lock();
        queues[band].push_back(task);
        lane.mark(&queues, band);
    }

    /// The next of the place's own tasks, from its highest band.
    #[inline]
    pub(super) fn take_own(&self, place: Place, want: &Want<'_>) -> Option<ReadyTask> {
        let lane = &self.lanes[place.0 as usize];
        if lane.bands.load(Ordering::Acquire) == 0 {
            return None;
        }
        lane.take(want, self.order)
    }

    /// The oldest task of another place, from its highest band, and no other.
    pub(super) fn steal_one(&self, victim: usize, want: &Want<'_>) -> Option<ReadyTask> {
        self.lanes[victim].take(want, Order::OldestFirst)
    }

    /// A task of another place, from its highest band. The thief also takes along some of the same band if it may take any.
    pub(super) fn steal(&self, thief: Place, victim: usize, want: &Want<'_>) -> Option<ReadyTask> {
        let lane = &self.lanes[victim];
        if lane.bands.load(Ordering::Acquire) == 0 {
            return None;
        }
        if !want.is_any() {
            return lane.take(want, Order::OldestFirst);
        }
        let mut queues = want.lock(&lane.queues)?;
        let band = lane.highest()?;
        let half = queues[band].len().div_ceil(2).min(LOOT_MAX);
        let mut loot = queues[band].drain(..half);
        let first = loot.next();
        let rest: smallvec::SmallVec<[ReadyTask; LOOT_MAX]> = loot.collect();
        lane.mark(&queues, band);
        drop(queues);
        if !rest.is_empty() {
            let own = &self.lanes[thief.0 as usize];
            let mut queues = own.lock();
            queues[band].extend(rest);
            own.mark(&queues, band);
        }
        first
    }
}

impl<const BANDS: usize> Lane<BANDS> {
    fn lock(&self) -> MutexGuard<'_, Queues<BANDS>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn highest(&self) -> Option<usize> {
        self.bands.load(Ordering::Relaxed).checked_ilog2().map(|band| band as usize)
    }

    fn take(&self, want: &Want<'_>, order: Order) -> Option<ReadyTask> {
        let mut queues = want.lock(&self.queues)?;
        if !want.is_any() {
            return self.take_accepted(&mut queues, want, order);
        }
        let band = self.highest()?;
        let found = match order {
            Order::OldestFirst => queues[band].pop_front(),
            Order::NewestFirst => queues[band].pop_back(),
        };
        self.mark(&queues, band);
        found
    }

    /// The first task that `want` accepts, from the highest band that has one.
    #[cold]
    fn take_accepted(&self, queues: &mut Queues<BANDS>, want: &Want<'_>, order: Order) -> Option<ReadyTask> {
        let mut bands = self.bands.load(Ordering::Relaxed);
        while let Some(band) = bands.checked_ilog2() {
            let queue = &mut queues[band as usize];
            let at = match order {
                Order::OldestFirst => queue.iter().position(|task| want.accepts(task)),
                Order::NewestFirst => queue.iter().rposition(|task| want.accepts(task)),
            };
            if let Some(found) = at.and_then(|at| queue.remove(at)) {
                self.mark(queues, band as usize);
                return Some(found);
            }
            bands &= !(1 << band);
        }
        None
    }

    /// Makes the mask tell the truth about a band. The caller holds the lock.
    #[inline]
    fn mark(&self, queues: &Queues<BANDS>, band: usize) {
        let bands = self.bands.load(Ordering::Relaxed);
        let now = if queues[band].is_empty() { bands & !(1 << band) } else { bands | 1 << band };
        if now != bands {
            self.bands.store(now, Ordering::Release);
        }
    }
}
