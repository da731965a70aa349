//! Which tasks ran on which lane, and how they nest.

use super::intervals::{self, Interval};
use crate::{LaneKind, Trace};
use std::cmp::Reverse;

/// No task.
pub(super) const NONE: u32 = u32::MAX;

/// The lanes that run tasks, with their tasks.
pub(super) struct Occupancy {
    /// Workers and queues, and any other lane that has tasks, in the order of the trace.
    pub(super) rows: Vec<LaneTasks>,
    /// For each task its own time, without the time of tasks nested in it.
    pub(super) own_ns: Vec<u64>,
    /// For each task the outermost task that it is nested in, or [`NONE`].
    pub(super) inside: Vec<u32>,
}

/// A lane that runs tasks.
pub(super) struct LaneTasks {
    pub(super) lane: u32,
    /// Its tasks, sorted by start; a nested task follows the task that contains it.
    pub(super) tasks: Vec<u32>,
    /// The times when it ran tasks.
    pub(super) busy: Vec<Interval>,
}

impl Occupancy {
    pub(super) fn new(trace: &Trace) -> Self {
        let mut own_ns: Vec<u64> = trace.tasks.iter().map(|task| task.length_ns()).collect();
        let mut tasks: Vec<Vec<u32>> = vec![Vec::new(); trace.lanes.len()];
        for (place, task) in trace.tasks.iter().enumerate() {
            match tasks.get_mut(task.lane as usize) {
                Some(lane) => lane.push(place as u32),
                None => own_ns[place] = 0,
            }
        }
        let mut inside = vec![NONE; trace.tasks.len()];
        let mut rows = Vec::new();
        for (lane, (tasks, described)) in tasks.into_iter().zip(&trace.lanes).enumerate() {
            if tasks.is_empty() && !matches!(described.kind, LaneKind::Worker | LaneKind::Queue) {
                continue;
            }
            let mut row = LaneTasks { lane: lane as u32, tasks, busy: Vec::new() };
            row.fill(trace, &mut own_ns, &mut inside);
            rows.push(row);
        }
        Self { rows, own_ns, inside }
    }

    /// Returns the rows of each group of equivalent lanes, which take each other's tasks: those of one kind and
    /// process.
    pub(super) fn groups(&self, trace: &Trace) -> Vec<Vec<&LaneTasks>> {
        let key = |row: &LaneTasks| {
            let lane = &trace.lanes[row.lane as usize];
            (lane.kind, lane.process.as_str())
        };
        let mut groups: Vec<Vec<&LaneTasks>> = Vec::new();
        for row in &self.rows {
            match groups.iter_mut().find(|group| key(group[0]) == key(row)) {
                Some(group) => group.push(row),
                None => groups.push(vec![row]),
            }
        }
        groups
    }

    /// Returns the time in tasks, summed over all lanes.
    pub(super) fn work_ns(&self) -> u64 {
        intervals::sum(self.rows.iter().map(|row| intervals::length_ns(&row.busy)))
    }

    /// Returns the fraction of the lanes' time that was spent in tasks.
    pub(super) fn utilisation(&self, wall_ns: u64) -> f64 {
        super::ratio(self.work_ns() as f64, wall_ns as f64 * self.rows.len() as f64)
    }
}

impl LaneTasks {
    fn fill(&mut self, trace: &Trace, own_ns: &mut [u64], inside: &mut [u32]) {
        let times = |place: u32| {
            let task = &trace.tasks[place as usize];
            (task.start_ns, task.end_ns)
        };
        // A task of zero length ends before anything else that begins at the same time, and is not nested in it.
        self.tasks.sort_by_key(|&place| {
            let (start_ns, end_ns) = times(place);
            (start_ns, start_ns < end_ns, Reverse(end_ns))
        });
        let mut open: Vec<u32> = Vec::new();
        for &place in &self.tasks {
            let (start_ns, end_ns) = times(place);
            intervals::unite(&mut self.busy, (start_ns, end_ns));
            while open.last().is_some_and(|&outer| times(outer).1 <= start_ns) {
                open.pop();
            }
            if let Some(&outer) = open.last() {
                let own = &mut own_ns[outer as usize];
                *own = own.saturating_sub(end_ns.min(times(outer).1) - start_ns);
                let outermost = inside[outer as usize];
                inside[place as usize] = if outermost == NONE { outer } else { outermost };
            }
            open.push(place);
        }
    }
}
