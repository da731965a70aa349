//! Work stealing in priority bands.

use super::{
    Outlook, Place, Policy, ReadyTask, Resource, TaskFilter,
    stealing_queues::{Order, StealingQueues},
};
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicU32, Ordering};

const BANDS: usize = 16;
/// The band of priority zero; there are seven bands below it and eight above.
const ORDINARY: usize = 7;

/// Urgent tasks first, on any worker; among equally urgent ones, a worker's own oldest task, then the oldest of
/// another.
///
/// Each priority from -7 to 8 has a band of its own, and priorities beyond these limits belong to the outermost bands.
/// Every worker prefers a task of a band above zero, even to its own ordinary tasks. This makes lookahead work: the
/// panel of the next step overtakes the updates of the current one. Among tasks of priority zero and below, a worker
/// prefers its own. Taking the task that was inserted first keeps the steps of a factorization in order: panels become
/// ready as early as possible, and tasks that share data run close together.
pub struct Priority {
    queues: StealingQueues<BANDS>,
    /// The number of queued tasks in bands above the ordinary one. Urgent tasks are few, so it is mostly read.
    urgent: CachePadded<AtomicU32>,
}

impl Priority {
    /// Creates a policy for this number of places.
    #[must_use]
    pub fn new(places: usize) -> Self {
        Self { queues: StealingQueues::new(places, Order::OldestFirst), urgent: CachePadded::default() }
    }

    fn band(task: &ReadyTask) -> usize {
        (task.priority().clamp(-(ORDINARY as i32), (BANDS - 1 - ORDINARY) as i32) + ORDINARY as i32) as usize
    }

    /// Takes the most urgent task of another place, if it is more urgent than all tasks of this place.
    #[cold]
    fn take_urgent(&self, by: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        let own = self.queues.bands(by.0 as usize).checked_ilog2();
        let best = self.queues.others(by).max_by_key(|&place| self.queues.bands(place).checked_ilog2())?;
        let band = self.queues.bands(best).checked_ilog2()?;
        let overtakes = band as usize > ORDINARY && own.is_none_or(|own| band > own);
        if overtakes { self.queues.steal_one(best, want) } else { None }
    }

    fn taken(&self, task: Option<ReadyTask>) -> Option<ReadyTask> {
        if task.as_ref().is_some_and(|task| Self::band(task) > ORDINARY) {
            self.urgent.fetch_sub(1, Ordering::Relaxed);
        }
        task
    }
}

impl Policy for Priority {
    fn name(&self) -> &'static str {
        "priority"
    }

    fn weighs(&self) -> bool {
        false
    }

    fn push(&self, by: Place, task: ReadyTask, _: &dyn Outlook) -> Option<Resource> {
        let band = Self::band(&task);
        if band > ORDINARY {
            self.urgent.fetch_add(1, Ordering::Relaxed);
        }
        self.queues.push(by, band, task);
        None
    }

    fn take(&self, by: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        let urgent = if self.urgent.load(Ordering::Relaxed) > 0 { self.take_urgent(by, want) } else { None };
        self.taken(urgent.or_else(|| self.queues.take_own(by, want)))
    }

    fn steal(&self, by: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        self.taken(self.queues.others(by).find_map(|victim| self.queues.steal(by, victim, want)))
    }

    fn hands_over(&self, by: Place, _: &ReadyTask) -> bool {
        // If the place has no queued tasks and there are no urgent tasks, this task would be the next.
        self.queues.bands(by.0 as usize) == 0 && self.urgent.load(Ordering::Relaxed) == 0
    }
}
