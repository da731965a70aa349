//! Queues of ready tasks, one set per place, for the policies that steal.
//!
//! Each place has one queue per priority **band**. One lock guards all queues of a place; its owner takes it
//! uncontended unless another thread steals. (A lock-free deque would save the owner only a few nanoseconds, because
//! taking from it needs a full fence too, and it could not be searched by a thread that may take only some tasks.) A
//! mask of the nonempty bands is outside the lock, so that passing an empty place takes one load. The mask has a cache
//! line of its own and is written only when a band gets its first task or loses its last. So threads that pass by do
//! not slow down the owner's pushes.

use super::{Place, ReadyTask, TaskFilter, held};
use crossbeam_utils::CachePadded;
use std::{
    collections::VecDeque,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
    },
};

/// The order in which a place takes its own tasks. Thieves always take the oldest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The task inserted first. Consecutive tasks of a serial program usually share data.
    OldestFirst,
    /// The task that became ready last.
    NewestFirst,
}

impl Order {
    /// Inserts a task that is ready now.
    #[inline]
    fn insert(self, queue: &mut VecDeque<ReadyTask>, task: ReadyTask) {
        if self == Self::NewestFirst || queue.back().is_none_or(|last| last.id() < task.id()) {
            return queue.push_back(task);
        }
        Self::insert_by_id(queue, task);
    }

    /// Inserts the task before those of larger number, searching only a limited distance from the end.
    #[cold]
    fn insert_by_id(queue: &mut VecDeque<ReadyTask>, task: ReadyTask) {
        let later_of = |tasks: &[ReadyTask], at_most| {
            tasks.iter().rev().take(at_most).take_while(|other| other.id() > task.id()).count()
        };
        // Each slice is searched separately, because iterating over both halves of a ring buffer is slow.
        let (front, back) = queue.as_slices();
        let mut later = later_of(back, INSERT_SEARCH_MAX);
        if later == back.len() {
            later += later_of(front, INSERT_SEARCH_MAX.saturating_sub(later));
        }
        queue.insert(queue.len() - later, task);
    }
}

/// The number of stolen tasks that fit on the stack.
const STOLEN_INLINE: usize = 16;
/// How far from the end a task that became ready late is inserted at most, to be near the tasks inserted with it.
const INSERT_SEARCH_MAX: usize = 32;

type BandQueues<const BANDS: usize> = [VecDeque<ReadyTask>; BANDS];

struct PlaceQueues<const BANDS: usize> {
    /// Bit `b` is set while band `b` has a task. Written under the lock.
    bands: CachePadded<AtomicU32>,
    /// Whether the place has ever stolen without restriction.
    is_thief: AtomicBool,
    queues: CachePadded<Mutex<BandQueues<BANDS>>>,
}

/// The queues of all places.
pub(super) struct StealingQueues<const BANDS: usize> {
    places: Box<[PlaceQueues<BANDS>]>,
    order: Order,
    /// The number of places that have ever stolen without restriction.
    thief_count: AtomicUsize,
}

impl<const BANDS: usize> StealingQueues<BANDS> {
    pub(super) fn new(places: usize, order: Order) -> Self {
        let queues = || Mutex::new(std::array::from_fn(|_| VecDeque::new()));
        let place_queues = || PlaceQueues {
            bands: CachePadded::default(),
            is_thief: AtomicBool::default(),
            queues: CachePadded::new(queues()),
        };
        Self { places: (0..places).map(|_| place_queues()).collect(), order, thief_count: AtomicUsize::new(0) }
    }

    /// Returns the bands in which this place has tasks, as bits.
    #[inline]
    pub(super) fn bands(&self, place: usize) -> u32 {
        self.places[place].bands.load(Ordering::Acquire)
    }

    /// Iterates over the other places, beginning with the next one. Most are empty, because there are places for more
    /// than sixty guests. Scanning them delays a thread whose search fails, and so keeps it from contending for the
    /// owner's lock (measured: docs/measurements/2026-11-28-constants.md).
    pub(super) fn others(&self, place: Place) -> impl Iterator<Item = usize> {
        let (places, own) = (self.places.len(), place.0 as usize);
        (own + 1..own + places).map(move |other| if other < places { other } else { other - places })
    }

    #[inline]
    pub(super) fn push(&self, place: Place, band: usize, task: ReadyTask) {
        let place_queues = &self.places[place.0 as usize];
        let mut queues = place_queues.lock();
        self.order.insert(&mut queues[band], task);
        place_queues.update_mask(&queues, band);
    }

    /// Takes the next of the place's own tasks, from its highest band.
    #[inline]
    pub(super) fn take_own(&self, place: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        let place_queues = &self.places[place.0 as usize];
        if place_queues.bands.load(Ordering::Acquire) == 0 {
            return None;
        }
        place_queues.take(want, self.order)
    }

    /// Takes only the oldest task of another place's highest band.
    pub(super) fn steal_one(&self, victim: usize, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        self.places[victim].take(want, Order::OldestFirst)
    }

    /// Takes the oldest task of another place's highest band. A thief that accepts any task also takes further tasks of
    /// the band: its equal share among all thieves. With unequal shares, thieves would work on distant parts of the
    /// program, and data that their tasks share would be fetched or packed repeatedly (measured:
    /// docs/measurements/2026-11-28-constants.md).
    pub(super) fn steal(&self, thief: Place, victim: usize, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        let (own, place_queues) = (&self.places[thief.0 as usize], &self.places[victim]);
        if want.is_any() && !own.is_thief.load(Ordering::Relaxed) && !own.is_thief.swap(true, Ordering::Relaxed) {
            self.thief_count.fetch_add(1, Ordering::Relaxed);
        }
        if place_queues.bands.load(Ordering::Acquire) == 0 {
            return None;
        }
        if !want.is_any() {
            return place_queues.take(want, Order::OldestFirst);
        }
        let mut queues = want.lock(&place_queues.queues)?;
        let band = place_queues.highest()?;
        let share = queues[band].len().div_ceil(self.thief_count.load(Ordering::Relaxed).max(2));
        let mut stolen = queues[band].drain(..share);
        let first = stolen.next();
        let rest: smallvec::SmallVec<[ReadyTask; STOLEN_INLINE]> = stolen.collect();
        place_queues.update_mask(&queues, band);
        drop(queues);
        if !rest.is_empty() {
            let mut queues = own.lock();
            rest.into_iter().for_each(|task| self.order.insert(&mut queues[band], task));
            own.update_mask(&queues, band);
        }
        first
    }
}

impl<const BANDS: usize> PlaceQueues<BANDS> {
    fn lock(&self) -> MutexGuard<'_, BandQueues<BANDS>> {
        held(self.queues.lock())
    }

    fn highest(&self) -> Option<usize> {
        self.bands.load(Ordering::Relaxed).checked_ilog2().map(|band| band as usize)
    }

    fn take(&self, want: &TaskFilter<'_>, order: Order) -> Option<ReadyTask> {
        let mut queues = want.lock(&self.queues)?;
        if !want.is_any() {
            return self.take_accepted(&mut queues, want, order);
        }
        let band = self.highest()?;
        let found = match order {
            Order::OldestFirst => queues[band].pop_front(),
            Order::NewestFirst => queues[band].pop_back(),
        };
        self.update_mask(&queues, band);
        found
    }

    /// Takes the first task that `want` accepts, from the highest band that has one.
    #[cold]
    fn take_accepted(&self, queues: &mut BandQueues<BANDS>, want: &TaskFilter<'_>, order: Order) -> Option<ReadyTask> {
        let mut bands = self.bands.load(Ordering::Relaxed);
        while let Some(band) = bands.checked_ilog2() {
            let queue = &mut queues[band as usize];
            let at = match order {
                Order::OldestFirst => queue.iter().position(|task| want.accepts(task)),
                Order::NewestFirst => queue.iter().rposition(|task| want.accepts(task)),
            };
            if let Some(found) = at.and_then(|at| queue.remove(at)) {
                self.update_mask(queues, band as usize);
                return Some(found);
            }
            bands &= !(1 << band);
        }
        None
    }

    /// Updates the mask for one band. The caller holds the lock.
    #[inline]
    fn update_mask(&self, queues: &BandQueues<BANDS>, band: usize) {
        let bands = self.bands.load(Ordering::Relaxed);
        let now = if queues[band].is_empty() { bands & !(1 << band) } else { bands | 1 << band };
        if now != bands {
            self.bands.store(now, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TaskId;

    fn task(id: u64) -> ReadyTask {
        ReadyTask::simulated(TaskId(id), 0)
    }

    /// Returns all tasks of the place, in the order in which it takes them.
    fn own(queues: &StealingQueues<1>, place: u32) -> Vec<u64> {
        std::iter::from_fn(|| queues.take_own(Place(place), &TaskFilter::ANY)).map(|task| task.id().0).collect()
    }

    #[test]
    fn late_tasks_are_taken_in_insertion_order() {
        let oldest: StealingQueues<1> = StealingQueues::new(1, Order::OldestFirst);
        let newest: StealingQueues<1> = StealingQueues::new(1, Order::NewestFirst);
        for id in [4, 7, 5, 1, 9, 8] {
            oldest.push(Place(0), 0, task(id));
            newest.push(Place(0), 0, task(id));
        }
        assert_eq!((own(&oldest, 0), own(&newest, 0)), (vec![1, 4, 5, 7, 8, 9], vec![8, 9, 1, 5, 7, 4]));
    }

    #[test]
    fn late_task_moves_forward_a_limited_distance() {
        let queues: StealingQueues<1> = StealingQueues::new(1, Order::OldestFirst);
        let many = INSERT_SEARCH_MAX as u64 + 3;
        (1..=many).chain([0]).for_each(|id| queues.push(Place(0), 0, task(id)));
        assert_eq!(own(&queues, 0)[..5], [1, 2, 3, 0, 4]);
    }

    #[test]
    fn thieves_take_equal_shares() {
        let queues: StealingQueues<1> = StealingQueues::new(4, Order::OldestFirst);
        let steal = |thief| queues.steal(Place(thief), 0, &TaskFilter::ANY).map(|task| task.id().0);
        assert_eq!((steal(1), steal(2), steal(3)), (None, None, None));
        (0..90).for_each(|id| queues.push(Place(0), 0, task(id)));
        assert_eq!((steal(1), own(&queues, 1)), (Some(0), (1..30).collect()));
        assert_eq!((steal(2), own(&queues, 2)), (Some(30), (31..50).collect()));
        assert_eq!(own(&queues, 0), (50..90).collect::<Vec<_>>());
    }

    #[test]
    fn single_thief_takes_half() {
        let queues: StealingQueues<1> = StealingQueues::new(2, Order::NewestFirst);
        (0..5).for_each(|id| queues.push(Place(0), 0, task(id)));
        assert_eq!(queues.steal(Place(1), 0, &TaskFilter::ANY).map(|task| task.id().0), Some(0));
        assert_eq!((own(&queues, 1), own(&queues, 0)), (vec![2, 1], vec![4, 3]));
    }
}
