//! Queues of ready tasks, one set per place, from which others steal: what the stealing policies are made of.
//!
//! Each place has one queue per **band** of priority, all under one lock, which its owner takes uncontended unless somebody
//! steals. (A lock-free deque would save its owner no more than a few nanoseconds here, since taking from one needs a full
//! fence too, and it could not be searched by a thread that may take only some tasks.) A mask of the bands that are not empty
//! lies outside the lock, so that passing an empty place costs one load. It has a cache line of its own, which changes only when
//! a band gets its first task or loses its last: who passes by does not disturb the owner's pushes.

use super::{Place, ReadyTask, Want, held};
use crossbeam_utils::CachePadded;
use std::{
    collections::VecDeque,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
    },
};

/// Which of its own tasks a place takes first. Thieves always take the oldest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// That which was inserted first: a serial program is written so that what follows each other has data in common.
    OldestFirst,
    /// That which became ready last.
    NewestFirst,
}

impl Order {
    /// Puts a task that is ready now into its place.
    #[inline]
    fn put(self, queue: &mut VecDeque<ReadyTask>, task: ReadyTask) {
        if self == Self::NewestFirst || queue.back().is_none_or(|last| last.id() < task.id()) {
            return queue.push_back(task);
        }
        Self::put_late(queue, task);
    }

    /// Puts it before the tasks that were inserted later, but for those that are too far from the end.
    #[cold]
    fn put_late(queue: &mut VecDeque<ReadyTask>, task: ReadyTask) {
        let later_of = |tasks: &[ReadyTask], at_most| {
            tasks.iter().rev().take(at_most).take_while(|other| other.id() > task.id()).count()
        };
        // Slice by slice: the ends of a ring are dear to walk over.
        let (front, back) = queue.as_slices();
        let mut later = later_of(back, LATE_MAX);
        if later == back.len() {
            later += later_of(front, LATE_MAX.saturating_sub(later));
        }
        queue.insert(queue.len() - later, task);
    }
}

/// Stolen tasks that fit on the stack.
const LOOT_SMALL: usize = 16;
/// How far from the end of its queue a task that became ready late is put, at most, to be among its like.
const LATE_MAX: usize = 32;

type Queues<const BANDS: usize> = [VecDeque<ReadyTask>; BANDS];

struct Lane<const BANDS: usize> {
    /// Bit `b` is set while band `b` holds a task. Written under the lock.
    bands: CachePadded<AtomicU32>,
    /// Whether the place has looked for another's tasks, whatever they are.
    is_thief: AtomicBool,
    queues: CachePadded<Mutex<Queues<BANDS>>>,
}

/// The queues of all places.
pub(super) struct Lanes<const BANDS: usize> {
    lanes: Box<[Lane<BANDS>]>,
    order: Order,
    /// How many places have.
    thieves: AtomicUsize,
}

impl<const BANDS: usize> Lanes<BANDS> {
    pub(super) fn new(places: usize, order: Order) -> Self {
        let queues = || Mutex::new(std::array::from_fn(|_| VecDeque::new()));
        let lane = || Lane {
            bands: CachePadded::default(),
            is_thief: AtomicBool::default(),
            queues: CachePadded::new(queues()),
        };
        Self { lanes: (0..places).map(|_| lane()).collect(), order, thieves: AtomicUsize::new(0) }
    }

    /// The bands in which this place has tasks, as bits.
    #[inline]
    pub(super) fn bands(&self, place: usize) -> u32 {
        self.lanes[place].bands.load(Ordering::Acquire)
    }

    /// The other places, beginning with the next. That most are empty, as there are places for sixty guests, is a pause for who searches in vain: without it
    /// two workers and tasks of no work would take half as long again, as the thief would come back to the owner's lock so much sooner.
    pub(super) fn others(&self, place: Place) -> impl Iterator<Item = usize> {
        let (places, own) = (self.lanes.len(), place.0 as usize);
        (own + 1..own + places).map(move |other| if other < places { other } else { other - places })
    }

    #[inline]
    pub(super) fn push(&self, place: Place, band: usize, task: ReadyTask) {
        let lane = &self.lanes[place.0 as usize];
        let mut queues = lane.lock();
        self.order.put(&mut queues[band], task);
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

    /// A task of another place, from its highest band. If the thief may take any it takes along others of the same band, as many as are its share
    /// among all thieves. With fewer it would go through their successors far ahead of the others, and with more far behind: what tasks
    /// have in common would be fetched, or packed, again and again (a product of order 4096 on two cores, 2026-11-23: with 16 of 64 tasks, A was
    /// packed five times).
    pub(super) fn steal(&self, thief: Place, victim: usize, want: &Want<'_>) -> Option<ReadyTask> {
        let (own, lane) = (&self.lanes[thief.0 as usize], &self.lanes[victim]);
        if want.is_any() && !own.is_thief.load(Ordering::Relaxed) && !own.is_thief.swap(true, Ordering::Relaxed) {
            self.thieves.fetch_add(1, Ordering::Relaxed);
        }
        if lane.bands.load(Ordering::Acquire) == 0 {
            return None;
        }
        if !want.is_any() {
            return lane.take(want, Order::OldestFirst);
        }
        let mut queues = want.lock(&lane.queues)?;
        let band = lane.highest()?;
        let share = queues[band].len().div_ceil(self.thieves.load(Ordering::Relaxed).max(2));
        let mut loot = queues[band].drain(..share);
        let first = loot.next();
        let rest: smallvec::SmallVec<[ReadyTask; LOOT_SMALL]> = loot.collect();
        lane.mark(&queues, band);
        drop(queues);
        if !rest.is_empty() {
            let mut queues = own.lock();
            rest.into_iter().for_each(|task| self.order.put(&mut queues[band], task));
            own.mark(&queues, band);
        }
        first
    }
}

impl<const BANDS: usize> Lane<BANDS> {
    fn lock(&self) -> MutexGuard<'_, Queues<BANDS>> {
        held(self.queues.lock())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TaskId;

    fn task(id: u64) -> ReadyTask {
        ReadyTask::simulated(TaskId(id), 0)
    }

    /// All that the place has, as it takes them.
    fn own(lanes: &Lanes<1>, place: u32) -> Vec<u64> {
        std::iter::from_fn(|| lanes.take_own(Place(place), &Want::ANY)).map(|task| task.id().0).collect()
    }

    #[test]
    fn tasks_that_become_ready_late_are_taken_in_the_order_of_insertion() {
        let oldest: Lanes<1> = Lanes::new(1, Order::OldestFirst);
        let newest: Lanes<1> = Lanes::new(1, Order::NewestFirst);
        for id in [4, 7, 5, 1, 9, 8] {
            oldest.push(Place(0), 0, task(id));
            newest.push(Place(0), 0, task(id));
        }
        assert_eq!((own(&oldest, 0), own(&newest, 0)), (vec![1, 4, 5, 7, 8, 9], vec![8, 9, 1, 5, 7, 4]));
    }

    #[test]
    fn a_late_task_overtakes_so_many_and_no_more() {
        let lanes: Lanes<1> = Lanes::new(1, Order::OldestFirst);
        let many = LATE_MAX as u64 + 3;
        (1..=many).chain([0]).for_each(|id| lanes.push(Place(0), 0, task(id)));
        assert_eq!(own(&lanes, 0)[..5], [1, 2, 3, 0, 4]);
    }

    #[test]
    fn thieves_take_equal_shares_of_the_oldest() {
        let lanes: Lanes<1> = Lanes::new(4, Order::OldestFirst);
        let steal = |thief| lanes.steal(Place(thief), 0, &Want::ANY).map(|task| task.id().0);
        assert_eq!((steal(1), steal(2), steal(3)), (None, None, None));
        (0..90).for_each(|id| lanes.push(Place(0), 0, task(id)));
        assert_eq!((steal(1), own(&lanes, 1)), (Some(0), (1..30).collect()));
        assert_eq!((steal(2), own(&lanes, 2)), (Some(30), (31..50).collect()));
        assert_eq!(own(&lanes, 0), (50..90).collect::<Vec<_>>());
    }

    #[test]
    fn a_single_thief_takes_half() {
        let lanes: Lanes<1> = Lanes::new(2, Order::NewestFirst);
        (0..5).for_each(|id| lanes.push(Place(0), 0, task(id)));
        assert_eq!(lanes.steal(Place(1), 0, &Want::ANY).map(|task| task.id().0), Some(0));
        assert_eq!((own(&lanes, 1), own(&lanes, 0)), (vec![2, 1], vec![4, 3]));
    }
}
