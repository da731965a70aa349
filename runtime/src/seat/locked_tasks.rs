//! Tasks that are locked to one worker.

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

/// The ready tasks that are locked to a worker. They bypass the policy.
pub(crate) struct LockedTasks {
    queues: Box<[Mutex<VecDeque<ReadyTask>>]>,
    /// The number of tasks for all workers. It is usually zero, and then no lock is taken.
    count: AtomicUsize,
}

impl LockedTasks {
    pub(crate) fn new(workers: u32) -> Self {
        Self { queues: (0..workers).map(|_| Mutex::default()).collect(), count: AtomicUsize::new(0) }
    }

    /// Takes a task of any worker, after the workers have ended.
    pub(crate) fn take_any(&self) -> Option<ReadyTask> {
        (0..self.queues.len() as u32).find_map(|worker| self.take(Place(worker)))
    }

    /// Returns whether there are no tasks for any worker.
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    pub(crate) fn push(&self, worker: u32, task: ReadyTask) {
        self.count.fetch_add(1, Ordering::Relaxed);
        held(self.queues[worker as usize].lock()).push_back(task);
    }

    /// Takes the next task that is locked to this place. A worker takes its locked tasks wherever it waits, because no
    /// other thread can run them. Otherwise two workers whose bodies wait for tasks locked to each other would wait
    /// forever.
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
