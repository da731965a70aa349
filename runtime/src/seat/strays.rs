//! Storage for tasks that a custom policy gave to the wrong thread; see `worker/strays.rs`.

use crate::{
    schedule::{ReadyTask, TaskFilter},
    sync::held,
};
use std::{
    collections::VecDeque,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

/// The stray tasks of one runtime.
#[derive(Default)]
pub(crate) struct Strays {
    tasks: Mutex<VecDeque<ReadyTask>>,
    /// The number of tasks. It is usually zero, and then no lock is needed.
    count: AtomicUsize,
}

impl Strays {
    pub(crate) fn put(&self, task: ReadyTask) {
        let mut tasks = held(self.tasks.lock());
        tasks.push_back(task);
        self.count.store(tasks.len(), Ordering::SeqCst);
    }

    pub(crate) fn take(&self, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        if self.count.load(Ordering::SeqCst) == 0 {
            return None;
        }
        let mut tasks = held(self.tasks.lock());
        let at = tasks.iter().position(|task| want.accepts(task))?;
        let task = tasks.remove(at);
        self.count.store(tasks.len(), Ordering::SeqCst);
        task
    }
}
