//! How idle workers sleep, and why no ready task is overlooked while they do.
//!
//! # States
//!
//! A worker is *busy*, *searching* (it found no task and polls for two milliseconds), or *asleep*. Two counters hold
//! the number of searching and sleeping workers, and a list holds the sleepers.
//!
//! # The race to avoid
//!
//! A worker looks at all queues and finds nothing. A task is pushed, and the pusher sees no sleeper. The worker falls
//! asleep, and the task waits although a worker is idle. The following order prevents this:
//!
//! 1. The worker enters the list of sleepers (which raises `sleepers`), executes a sequentially consistent fence, and
//!    then looks at the queues **once more**. It parks only if they are still empty.
//! 2. The pusher pushes, executes a sequentially consistent fence, and then reads `sleepers`.
//!
//! One of the two fences comes first in their total order. If it is the pusher's, the worker's last look sees the task.
//! If it is the worker's, the pusher sees the sleeper and wakes it.
//!
//! A pusher that sees enough *searching* workers need not wake another one: a quarter of the workers, at least one and
//! at most [`SEARCHERS_MAX`]. A searching worker will find the task, because it too looks once more after it has
//! entered the list and no longer counts as searching. A worker that is being woken counts as searching from the moment
//! of the wake-up call. The call takes some microseconds, and otherwise a pusher of many small tasks would make one for
//! every task. However, one searcher may find only one of two tasks. So a worker that ends its search with a task, and
//! leaves fewer than enough that search, wakes another worker. As long as there are both tasks and sleepers, a worker
//! is therefore on its way. Several are on their way at once because a woken worker starts some 40 microseconds later.
//!
//! # The understudy
//!
//! The first pool thread shares seat 0 with threads from outside (`seat/mod.rs`). While such a thread has the seat, the
//! understudy cannot work. It is then *benched*: it does not count as a sleeper, and no wake-up is spent on it. When
//! the seat is left, it returns to the list. If a wake-up reaches it after the seat was taken, it passes the wake-up
//! on.
//!
//! `loom_tests.rs` explores this protocol with two workers and two tasks.

use super::Parker;
use crate::sync::{AtomicU32, Mutex, Ordering, fence, held, total_order};
use crossbeam_utils::CachePadded;

/// The most workers that search before a push wakes no further one. With fewer than four times as many workers, a
/// quarter of them is enough.
const SEARCHERS_MAX: u32 = 4;

/// The searching and sleeping workers; see the [module](self) documentation.
///
/// The counters have cache lines of their own: every push reads the first, and each search writes the second.
pub(crate) struct Sleep {
    sleepers: CachePadded<AtomicU32>,
    searching: CachePadded<AtomicU32>,
    asleep: CachePadded<Mutex<Sleepers>>,
    parkers: Box<[Parker]>,
    understudy: u32,
    /// While this many workers search, no further one is woken.
    enough_searchers: u32,
}

#[derive(Default)]
struct Sleepers {
    /// Workers that may be woken for any task.
    list: Vec<u32>,
    /// Another thread has the understudy's seat.
    barred: bool,
    /// The understudy sleeps while another thread has its seat.
    benched: bool,
}

impl Sleep {
    /// Creates the state for this number of places, plus one for the understudy. The number of workers determines how
    /// many searching workers are enough.
    pub(crate) fn new(places: u32, workers: u32) -> Self {
        Self {
            sleepers: CachePadded::new(AtomicU32::new(0)),
            searching: CachePadded::new(AtomicU32::new(0)),
            asleep: CachePadded::new(Mutex::new(Sleepers::default())),
            parkers: (0..=places).map(|_| Parker::new()).collect(),
            understudy: places,
            enough_searchers: (workers / 4).clamp(1, SEARCHERS_MAX),
        }
    }

    /// Returns the place at which the understudy sleeps.
    pub(crate) fn understudy(&self) -> u32 {
        self.understudy
    }

    /// Counts a worker that has found no task as searching.
    pub(crate) fn start_search(&self) {
        self.searching.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns how many workers are searching.
    pub(crate) fn searching(&self) -> u32 {
        self.searching.load(Ordering::Relaxed)
    }

    /// Ends the search, with a task (`found`) or to fall asleep.
    pub(crate) fn end_search(&self, found: bool) {
        let searching = self.searching.fetch_sub(1, Ordering::SeqCst) - 1;
        total_order();
        if found && searching < self.enough_searchers {
            self.wake_one();
        }
    }

    /// Enters the list of sleepers. The caller must look at the queues once more before it calls
    /// [`sleep`](Self::sleep).
    pub(crate) fn announce(&self, place: u32) {
        self.update(|asleep| {
            if place == self.understudy && asleep.barred {
                asleep.benched = true;
            } else {
                asleep.list.push(place);
            }
        });
        fence(Ordering::SeqCst);
    }

    /// Leaves the list of sleepers without sleeping. If another thread has just woken this worker, the wake-up is
    /// passed on, because it may have been for another task.
    ///
    /// If the worker has `found` a task at the last look, this counts as a search that ends with a task, so it wakes
    /// another worker too: a thread that pushed two tasks during the search woke no worker for either.
    pub(crate) fn withdraw(&self, place: u32, found: bool) {
        if !self.update(|asleep| asleep.remove(place, self.understudy)) {
            self.end_search(true);
        } else if found {
            total_order();
            if self.searching.load(Ordering::SeqCst) < self.enough_searchers {
                self.wake_one();
            }
        }
    }

    /// Sleeps until woken, after `announce`. Returns whether the waking thread has already counted this one as
    /// searching.
    #[must_use]
    pub(crate) fn sleep(&self, place: u32) -> bool {
        self.parkers[place as usize].park();
        // Still on the list: it was woken by place, perhaps by an old token. It is awake now and must leave the list.
        !self.update(|asleep| asleep.remove(place, self.understudy))
    }

    /// Sleeps until woken by place, without being in the list of sleepers.
    pub(crate) fn sleep_unlisted(&self, place: u32) {
        self.parkers[place as usize].park();
    }

    /// Ensures, after a push, that a sleeping worker wakes up if no worker, or too few, are searching.
    #[inline]
    pub(crate) fn notify(&self) {
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) > 0 && self.searching.load(Ordering::Relaxed) < self.enough_searchers {
            self.wake_one();
        }
    }

    /// Wakes one sleeper, if there is one.
    #[cold]
    pub(crate) fn wake_one(&self) {
        if self.sleepers.load(Ordering::SeqCst) == 0 {
            return;
        }
        let woken = self.update(|asleep| {
            let place = asleep.list.pop();
            // Counted under the lock: a worker removed from the list subtracts it later, so it must be added first.
            if place.is_some() {
                self.searching.fetch_add(1, Ordering::SeqCst);
            }
            place
        });
        if let Some(place) = woken {
            self.parkers[place as usize].wake();
        }
    }

    /// Wakes the thread that parks at this place, now or next.
    pub(crate) fn wake(&self, place: u32) {
        self.parkers[place as usize].wake();
    }

    /// Wakes all threads, which then check the shutdown flag.
    pub(crate) fn wake_all(&self) {
        self.parkers.iter().for_each(Parker::wake);
    }

    /// Records that another thread has taken the understudy's seat.
    pub(crate) fn bar_understudy(&self) {
        self.update(|asleep| {
            asleep.barred = true;
            asleep.benched |= asleep.remove(self.understudy, self.understudy);
        });
    }

    /// Records that the understudy's seat is free again.
    pub(crate) fn admit_understudy(&self) {
        self.update(|asleep| {
            asleep.barred = false;
            if std::mem::take(&mut asleep.benched) {
                asleep.list.push(self.understudy);
            }
        });
    }

    fn update<R>(&self, how: impl FnOnce(&mut Sleepers) -> R) -> R {
        let mut asleep = held(self.asleep.lock());
        let result = how(&mut asleep);
        let sleepers = asleep.list.len() as u32;
        if self.sleepers.load(Ordering::Relaxed) != sleepers {
            self.sleepers.store(sleepers, Ordering::SeqCst);
        }
        result
    }
}

impl Sleepers {
    /// Removes the place from the list or the bench, and returns whether it was there.
    fn remove(&mut self, place: u32, understudy: u32) -> bool {
        match self.list.iter().position(|&other| other == place) {
            Some(at) => {
                self.list.swap_remove(at);
                true
            }
            None => place == understudy && std::mem::take(&mut self.benched),
        }
    }
}
