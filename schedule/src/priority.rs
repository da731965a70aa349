//! Work stealing in bands of priority.

use super::{
    Outlook, Place, Policy, ReadyTask, Resource, Want,
    lanes::{Lanes, Order},
};
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicU32, Ordering};

const BANDS: usize = 16;
/// The band of priority zero; there are seven below and eight above.
const ORDINARY: usize = 7;

/// Urgent tasks first, wherever they are; among equals, a worker's own oldest, then another's oldest.
///
/// Priorities fall into bands of one each from -7 to 8; what lies beyond belongs to the outermost. A task of a band above
/// zero is preferred by every worker, even to its own ordinary tasks: this is what makes lookahead work, since the panel of
/// the next step overtakes the updates of this one. Among tasks of ordinary priority and below, a worker prefers its own.
/// Oldest first, by insertion, keeps the steps of a factorization in order, which feeds the panels soonest, and tasks together that have data in
/// common.
pub struct Priority {
    lanes: Lanes<BANDS>,
    /// How many tasks of bands above the ordinary are queued anywhere. Urgent tasks are few, so it is mostly read.
    urgent: CachePadded<AtomicU32>,
}

impl Priority {
    /// A policy for so many places.
    #[must_use]
    pub fn new(places: usize) -> Self {
        Self { lanes: Lanes::new(places, Order::OldestFirst), urgent: CachePadded::default() }
    }

    fn band(task: &ReadyTask) -> usize {
        (task.priority().clamp(-(ORDINARY as i32), (BANDS - 1 - ORDINARY) as i32) + ORDINARY as i32) as usize
    }

    /// The most urgent task of another place, if it is more urgent than all of one's own.
    #[cold]
    fn take_urgent(&self, by: Place, want: &Want<'_>) -> Option<ReadyTask> {
        let own = self.lanes.bands(by.0 as usize).checked_ilog2();
        let best = self.lanes.others(by).max_by_key(|&place| self.lanes.bands(place).checked_ilog2())?;
        let band = self.lanes.bands(best).checked_ilog2()?;
        let overtakes = band as usize > ORDINARY && own.is_none_or(|own| band > own);
        if overtakes { self.lanes.steal_one(best, want) } else { None }
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
        self.lanes.push(by, band, task);
        None
    }

    fn take(&self, by: Place, want: &Want<'_>) -> Option<ReadyTask> {
        let urgent = if self.urgent.load(Ordering::Relaxed) > 0 { self.take_urgent(by, want) } else { None };
        self.taken(urgent.or_else(|| self.lanes.take_own(by, want)))
    }

    fn steal(&self, by: Place, want: &Want<'_>) -> Option<ReadyTask> {
        self.taken(self.lanes.others(by).find_map(|victim| self.lanes.steal(by, victim, want)))
    }

    fn hands_over(&self, by: Place, _: &ReadyTask) -> bool {
        // With nothing of its own queued and nothing urgent anywhere, it would be the next.
        self.lanes.bands(by.0 as usize) == 0 && self.urgent.load(Ordering::Relaxed) == 0
    }
}
