//! When tasks were inserted, by which lane, and when the window kept them out.
//!
//! A file says for each task when it was inserted. Older ones do not, but the counter of tasks in the window rises by one at
//! each insertion, and numbers of tasks are given in the order of insertion: if there are as many rises as tasks, and none comes
//! after the start of its task, those are the moments.
//!
//! **Who inserts** is not in the file either. A thread that is in a task inserts nothing (unless the task has tasks of its own),
//! so the inserting lane is the worker into whose tasks the fewest insertions fall: hardly any, or it is a thread apart.

use super::{
    intervals::{self, Interval, Measured},
    occupancy::{Occupancy, Row},
};
use crate::{ActivityKind, LaneKind, Trace};
use superscalar_recording::{Counter, Stall};

/// So large a part of the insertions may fall into the inserting lane's tasks: clocks are read a little before and after.
const STRAYS_MAX: f64 = 0.01;
/// The window counts as full with this part of it in use: the runtime counts ends a little later than the trace.
const FULL: f64 = 15.0 / 16.0;

/// The insertions of a run.
pub(super) struct Insertions {
    /// For each task, when it was inserted; empty if not known for all.
    pub(super) at_ns: Vec<u64>,
    /// The tasks in the order of insertion; by number if the times are not known.
    pub(super) order: Vec<u32>,
    /// The same moments, ascending.
    pub(super) moments_ns: Vec<u64>,
    /// The lane that inserted, as a place in the occupancy's rows.
    pub(super) row: Option<usize>,
    /// When the window kept the next task out.
    pub(super) full: Measured,
}

impl Insertions {
    pub(super) fn new(trace: &Trace, occupancy: &Occupancy) -> Self {
        let mut order: Vec<u32> = (0..trace.tasks.len() as u32).collect();
        order.sort_by_key(|&place| trace.tasks[place as usize].id);
        let at_ns = recorded(trace).or_else(|| counted(trace, &order)).unwrap_or_default();
        if !at_ns.is_empty() {
            order.sort_by_key(|&place| at_ns[place as usize]);
        }
        let moments_ns: Vec<u64> =
            if at_ns.is_empty() { Vec::new() } else { order.iter().map(|&place| at_ns[place as usize]).collect() };
        let row = inserting_row(trace, occupancy, &moments_ns);
        let full = Measured::new(window_full(trace, &moments_ns));
        Self { at_ns, order, moments_ns, row, full }
    }

    /// When the task was inserted; zero if it is not known.
    pub(super) fn of(&self, task: u32) -> u64 {
        self.at_ns.get(task as usize).copied().unwrap_or(0)
    }

    /// The insertions within an interval, as places in `moments_ns`.
    pub(super) fn within(&self, (start_ns, end_ns): Interval) -> std::ops::Range<usize> {
        let place = |at_ns| self.moments_ns.partition_point(|&moment| moment < at_ns);
        place(start_ns)..place(end_ns)
    }
}

fn recorded(trace: &Trace) -> Option<Vec<u64>> {
    trace.tasks.iter().map(|task| task.inserted_ns).collect()
}

fn counted(trace: &Trace, by_number: &[u32]) -> Option<Vec<u64>> {
    let samples = &trace.counters.iter().find(|counter| counter.name == Counter::WindowTasks.name(&[]))?.samples;
    let mut before = 0.0;
    let mut rises = Vec::new();
    for &(at_ns, value) in samples {
        if value > before {
            rises.push(at_ns);
        }
        before = value;
    }
    if rises.len() != by_number.len() || !rises.is_sorted() {
        return None;
    }
    let mut at_ns = vec![0; by_number.len()];
    by_number.iter().zip(rises).for_each(|(&place, rise)| at_ns[place as usize] = rise);
    let is_possible = trace.tasks.iter().zip(&at_ns).all(|(task, &at_ns)| at_ns <= task.start_ns);
    is_possible.then_some(at_ns)
}

fn inserting_row(trace: &Trace, occupancy: &Occupancy, moments_ns: &[u64]) -> Option<usize> {
    let is_worker = |row: &Row| trace.lanes[row.lane as usize].kind == LaneKind::Worker;
    let before = |at_ns: u64| moments_ns.partition_point(|&moment| moment <= at_ns);
    let inside = |row: &Row| -> usize {
        row.busy.iter().map(|&(start_ns, end_ns)| before(end_ns - 1).saturating_sub(before(start_ns))).sum()
    };
    let workers = occupancy.rows.iter().enumerate().filter(|(_, row)| is_worker(row));
    let (strays, row) = workers.map(|(place, row)| (inside(row), place)).min()?;
    (!moments_ns.is_empty() && strays as f64 <= STRAYS_MAX * moments_ns.len() as f64).then_some(row)
}

/// From when so many tasks were in flight that nothing more could be inserted, until the next insertion; and where the file
/// says it.
fn window_full(trace: &Trace, moments_ns: &[u64]) -> Vec<Interval> {
    let is_stall = |activity: &&crate::Activity| {
        let name = trace.names.get(activity.name as usize);
        activity.kind == ActivityKind::Stall && name.is_some_and(|name| name == Stall::WindowFull.name())
    };
    let stalls = trace.activities.iter().filter(is_stall);
    let mut full: Vec<Interval> = stalls.map(|stall| (stall.start_ns, stall.end_ns)).collect();
    if let Some(window) = trace.window {
        let mut ends_ns: Vec<u64> = trace.tasks.iter().map(|task| task.end_ns).collect();
        ends_ns.sort_unstable();
        let mut ended = 0;
        for (place, pair) in moments_ns.windows(2).enumerate() {
            while ends_ns.get(ended).is_some_and(|&end_ns| end_ns <= pair[0]) {
                ended += 1;
            }
            let in_flight = (place + 1).saturating_sub(ended);
            if in_flight as f64 >= FULL * window as f64 && in_flight > 0 {
                full.push((pair[0], pair[1]));
            }
        }
    }
    intervals::union(full)
}
