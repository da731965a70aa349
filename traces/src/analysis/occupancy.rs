//! Which tasks ran on which lane, one after another and one inside another.

use super::intervals::{self, Interval};
use crate::{LaneKind, Trace};
use std::cmp::Reverse;

/// Stands for no task.
pub(super) const NONE: u32 = u32::MAX;

/// The lanes that run tasks, and what ran on them.
pub(super) struct Occupancy {
    /// Workers and queues, and any other lane that has tasks, in the order of the trace.
    pub(super) rows: Vec<Row>,
    /// For each task the time that it spent itself, without what is nested in it.
    pub(super) own_ns: Vec<u64>,
    /// For each task the outermost one that it is nested in, or [`NONE`].
    pub(super) inside: Vec<u32>,
}

/// A lane that runs tasks.
pub(super) struct Row {
    pub(super) lane: u32,
    /// Its tasks by start; what is nested follows what it is nested in.
    pub(super) tasks: Vec<u32>,
    /// When it was in a task.
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
            let mut row = Row { lane: lane as u32, tasks, busy: Vec::new() };
            row.fill(trace, &mut own_ns, &mut inside);
            rows.push(row);
        }
        Self { rows, own_ns, inside }
    }

    /// The rows of like lanes, which take one another's tasks: those of one kind and process.
    pub(super) fn groups(&self, trace: &Trace) -> Vec<Vec<&Row>> {
        let key = |row: &Row| {
            let lane = &trace.lanes[row.lane as usize];
            (lane.kind, lane.process.as_str())
        };
        let mut groups: Vec<Vec<&Row>> = Vec::new();
        for row in &self.rows {
            match groups.iter_mut().find(|group| key(group[0]) == key(row)) {
                Some(group) => group.push(row),
                None => groups.push(vec![row]),
            }
        }
        groups
    }

    /// The time in tasks over all lanes.
    pub(super) fn work_ns(&self) -> u64 {
        intervals::sum(self.rows.iter().map(|row| intervals::length_ns(&row.busy)))
    }

    /// The part of the lanes' time that was spent in tasks.
    pub(super) fn utilisation(&self, wall_ns: u64) -> f64 {
        super::ratio(self.work_ns() as f64, wall_ns as f64 * self.rows.len() as f64)
    }
}

impl Row {
    fn fill(&mut self, trace: &Trace, own_ns: &mut [u64], inside: &mut [u32]) {
        let times = |place: u32| {
            let task = &trace.tasks[place as usize];
            (task.start_ns, task.end_ns)
        };
        // What took no time is over before anything else that begins at that moment, and not nested in it.
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
