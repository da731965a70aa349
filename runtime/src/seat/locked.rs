//! Tasks that only one worker may run.

use crate::{
    schedule::{Place, ReadyTask},
    sync::held,
};
use std::{
    collections::VecDeque,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Tasks that are locked to a worker, past the policy.
pub(crate) struct Locked {
    queues: Box<[Mutex<VecDeque<ReadyTask>>]>,
    /// How many there are in all; mostly none, and then nobody takes a lock.
    count: AtomicUsize,
}

impl Locked {
    pub(crate) fn new(workers: u32) -> Self {
        Self { queues: (0..workers).map(|_| Mutex::default()).collect(), count: AtomicUsize::new(0) }
    }

    /// A task of any worker's, when there are no workers.
    pub(crate) fn take_any(&self) -> Option<ReadyTask> {
        (0..self.queues.len() as u32).find_map(|worker| self.take(Place(worker)))
    }

    /// Whether there are none, for any worker.
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    pub(crate) fn push(&self, worker: u32, task: ReadyTask) {
        self.count.fetch_add(1, Ordering::Relaxed);
        held(self.queues[worker as usize].lock()).push_back(task);
    }

    /// The next task that is locked to this place. Nobody else can run it, so it is run wherever its worker waits: two workers
    /// whose bodies wait for tasks that are locked to each other would otherwise wait for ever.
    #[inline]
    pub(crate) fn take(&self, place: Place) -> Option<ReadyTask> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut queue = held(self.queues.get(place.0 as usize)?.lock());
        let task = queue.pop_front()?;
        self.count.fetch_sub(1, Ordering::Relaxed);
        Some(task)
    }
}
