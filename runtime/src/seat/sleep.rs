//! How idle workers sleep, and how no task is left lying while they do.
//!
//! # States
//!
//! A worker is *busy*, *searching* (it found nothing and looks again for two milliseconds), or *asleep*. Two counters say how
//! many search and how many sleep; the list of sleepers says which.
//!
//! # The race feared
//!
//! A worker looks at all queues and finds nothing; a task is pushed; the pusher sees nobody asleep; the worker falls asleep;
//! the task lies there while a worker sleeps. It can not happen:
//!
//! 1. the worker first enters the list of sleepers (raising `sleepers`), then a sequentially consistent fence, then it looks
//!    at the queues **once more**, and parks only if they are still empty;
//! 2. the pusher first pushes, then a sequentially consistent fence, then it reads `sleepers`.
//!
//! One of the two fences comes first in their single total order. If the pusher's does, the worker's last look sees the
//! task. If the worker's does, the pusher sees the sleeper and wakes it.
//!
//! A pusher that sees a worker *searching* need not wake another: that worker will find the task, for it, too, looks once more
//! after it has stopped counting as searching and entered the list. A worker that is being woken counts as searching from the
//! moment of the wake, not from when it is up: waking takes microseconds, a system call each, and the pusher of many small
//! tasks would otherwise pay one for every task. But one searcher may find one of two tasks; so whoever
//! ends a search with a task in hand, being the last to search, wakes one more. So as long as there are both tasks and
//! sleepers, somebody is on the way.
//!
//! # The understudy
//!
//! The first pool thread shares seat 0 with threads from outside (`seat/mod.rs`). While such a thread has the seat the understudy
//! can not work, so it is *benched*: it does not count as a sleeper, and no wake is spent on it. When the seat is left it is
//! put back on the list. A wake that reaches it after the seat was taken is passed on.
//!
//! `loom_tests.rs` explores this with two workers and two tasks.

use super::Parker;
use crate::sync::{AtomicU32, Mutex, Ordering, fence, held, total_order};
use crossbeam_utils::CachePadded;

/// Who searches and who sleeps; see the module's head.
///
/// The counters have cache lines of their own: every push reads the first, while each search writes the second.
pub(crate) struct Sleep {
    sleepers: CachePadded<AtomicU32>,
    searching: CachePadded<AtomicU32>,
    asleep: CachePadded<Mutex<Asleep>>,
    parkers: Box<[Parker]>,
    understudy: u32,
}

#[derive(Default)]
struct Asleep {
    /// May be woken for any task.
    list: Vec<u32>,
    /// Somebody else has the understudy's seat.
    barred: bool,
    /// The understudy sleeps, and is barred.
    benched: bool,
}

impl Sleep {
    /// Room for sleepers at so many places, and one more for the understudy.
    pub(crate) fn new(places: u32) -> Self {
        Self {
            sleepers: CachePadded::new(AtomicU32::new(0)),
            searching: CachePadded::new(AtomicU32::new(0)),
            asleep: CachePadded::new(Mutex::new(Asleep::default())),
            parkers: (0..=places).map(|_| Parker::new()).collect(),
            understudy: places,
        }
    }

    /// Where the understudy sleeps.
    pub(crate) fn understudy(&self) -> u32 {
        self.understudy
    }

    /// A worker that has found nothing begins to search.
    pub(crate) fn start_search(&self) {
        self.searching.fetch_add(1, Ordering::SeqCst);
    }

    /// How many workers search.
    pub(crate) fn searching(&self) -> u32 {
        self.searching.load(Ordering::Relaxed)
    }

    /// The search ends: with a task in hand, or to fall asleep.
    pub(crate) fn end_search(&self, found: bool) {
        let searching = self.searching.fetch_sub(1, Ordering::SeqCst) - 1;
        total_order();
        if found && searching == 0 {
            self.wake_one();
        }
    }

    /// Enters the list of sleepers. The caller must look at the queues once more before it [`sleep`](Self::sleep)s.
    pub(crate) fn announce(&self, place: u32) {
        self.change(|asleep| {
            if place == self.understudy && asleep.barred {
                asleep.benched = true;
            } else {
                asleep.list.push(place);
            }
        });
        fence(Ordering::SeqCst);
    }

    /// Leaves the list of sleepers, having found something after all. If somebody has just woken this worker, that wake is
    /// passed on: it was meant for a task that this worker may not be about to take.
    ///
    /// One who has `found` a task at the last look ends a search with it in hand, and wakes one more like any other: who pushed
    /// two tasks during the search woke nobody for either.
    pub(crate) fn withdraw(&self, place: u32, found: bool) {
        if !self.change(|asleep| asleep.remove(place, self.understudy)) {
            self.end_search(true);
        } else if found {
            total_order();
            if self.searching.load(Ordering::SeqCst) == 0 {
                self.wake_one();
            }
        }
    }

    /// Sleeps until woken, having announced itself. Says whether the one who woke it has counted it as searching already.
    #[must_use]
    pub(crate) fn sleep(&self, place: u32) -> bool {
        self.parkers[place as usize].park();
        // Still on the list: woken by name, perhaps by an old token. It is awake now, and must not be taken for asleep.
        !self.change(|asleep| asleep.remove(place, self.understudy))
    }

    /// Sleeps until woken by name.
    pub(crate) fn sleep_apart(&self, place: u32) {
        self.parkers[place as usize].park();
    }

    /// A task was pushed: sees to it that somebody comes, if somebody sleeps.
    #[inline]
    pub(crate) fn notify(&self) {
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) > 0 && self.searching.load(Ordering::Relaxed) == 0 {
            self.wake_one();
        }
    }

    /// Wakes one sleeper, if there is one.
    #[cold]
    pub(crate) fn wake_one(&self) {
        if self.sleepers.load(Ordering::SeqCst) == 0 {
            return;
        }
        let woken = self.change(|asleep| {
            let place = asleep.list.pop();
            // Under the lock: a worker that finds itself off the list takes this back, and must not be the first.
            if place.is_some() {
                self.searching.fetch_add(1, Ordering::SeqCst);
            }
            place
        });
        if let Some(place) = woken {
            self.parkers[place as usize].wake();
        }
    }

    /// Wakes whoever parks at this place, now or next.
    pub(crate) fn wake(&self, place: u32) {
        self.parkers[place as usize].wake();
    }

    /// Wakes everyone, to look at the shutdown flag.
    pub(crate) fn wake_all(&self) {
        self.parkers.iter().for_each(Parker::wake);
    }

    /// Somebody has taken the understudy's seat.
    pub(crate) fn bar_understudy(&self) {
        self.change(|asleep| {
            asleep.barred = true;
            asleep.benched |= asleep.remove(self.understudy, self.understudy);
        });
    }

    /// The understudy's seat is free again.
    pub(crate) fn admit_understudy(&self) {
        self.change(|asleep| {
            asleep.barred = false;
            if std::mem::take(&mut asleep.benched) {
                asleep.list.push(self.understudy);
            }
        });
    }

    fn change<R>(&self, how: impl FnOnce(&mut Asleep) -> R) -> R {
        let mut asleep = held(self.asleep.lock());
        let result = how(&mut asleep);
        let sleepers = asleep.list.len() as u32;
        if self.sleepers.load(Ordering::Relaxed) != sleepers {
            self.sleepers.store(sleepers, Ordering::SeqCst);
        }
        result
    }
}

impl Asleep {
    /// Whether the place was on the list (or the bench) and is not any more.
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
