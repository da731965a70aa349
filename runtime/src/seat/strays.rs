//! Tasks that a policy of the user's gave to the wrong thread; `worker/strays.rs` says how.

use crate::{
    schedule::{ReadyTask, Want},
    sync::held,
};
use std::{
    collections::VecDeque,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

/// The tasks that went astray in one runtime.
#[derive(Default)]
pub(crate) struct Strays {
    tasks: Mutex<VecDeque<ReadyTask>>,
    /// How many there are; mostly none, and then nobody takes the lock.
    count: AtomicUsize,
}

impl Strays {
    pub(crate) fn put(&self, task: ReadyTask) {
        let mut tasks = held(self.tasks.lock());
        tasks.push_back(task);
        self.count.store(tasks.len(), Ordering::SeqCst);
    }

    pub(crate) fn take(&self, want: &Want<'_>) -> Option<ReadyTask> {
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
