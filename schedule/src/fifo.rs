//! First in, first out: one queue for all threads.

use super::{Outlook, Place, Policy, ReadyTask, Resource, TaskFilter, held};
use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard},
};

/// Runs tasks in the order in which they became ready. Priorities are ignored.
///
/// It is one queue under one lock, which is enough for tasks of tens of microseconds on a few cores.
#[derive(Default)]
pub struct Fifo {
    ready: Mutex<VecDeque<ReadyTask>>,
}

impl Fifo {
    fn ready(&self) -> MutexGuard<'_, VecDeque<ReadyTask>> {
        held(self.ready.lock())
    }
}

impl Policy for Fifo {
    fn name(&self) -> &'static str {
        "fifo"
    }

    fn weighs(&self) -> bool {
        false
    }

    fn push(&self, _: Place, task: ReadyTask, _: &dyn Outlook) -> Option<Resource> {
        self.ready().push_back(task);
        None
    }

    fn take(&self, _: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        let mut ready = self.ready();
        if want.is_any() {
            return ready.pop_front();
        }
        let at = ready.iter().position(|task| want.accepts(task))?;
        ready.remove(at)
    }
}
