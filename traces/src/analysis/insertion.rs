//! When tasks were inserted, by which lane, and when the window was full.
//!
//! A file usually contains the insertion time of each task. Older files do not, but their counter of tasks in the
//! window rises by one at each insertion, and tasks are numbered in the order of insertion. If there are as many rises
//! as tasks, and no rise comes after the start of its task, the rises are the insertion times.
//!
//! The file does not name the **inserting lane**. A thread that runs a task inserts nothing (unless the task has tasks
//! of its own). The inserting lane is therefore the worker into whose tasks the fewest insertions fall. If more than a
//! few fall into them, a separate thread inserts.

use super::{
    intervals::{self, Interval, IntervalIndex},
    occupancy::{LaneTasks, Occupancy},
};
use crate::{ActivityKind, LaneKind, Trace};
use superscalar_recording::{Counter, Stall};

/// The fraction of insertions that may fall into the inserting lane's tasks, because clocks are read slightly before
/// and after.
const STRAYS_FRACTION_MAX: f64 = 0.01;
/// The window counts as full from this fraction on: the runtime counts the end of a task slightly later than the trace.
const FULL_FRACTION: f64 = 15.0 / 16.0;

/// The insertions of a run.
pub(super) struct Insertions {
    /// The insertion time of each task; empty unless known for all.
    pub(super) at_ns: Vec<u64>,
    /// The tasks in the order of insertion; in the order of their ids if the times are not known.
    pub(super) order: Vec<u32>,
    /// The insertion times, ascending.
    pub(super) moments_ns: Vec<u64>,
    /// The inserting lane, as an index into the occupancy's rows.
    pub(super) row: Option<usize>,
    /// When the window was full.
    pub(super) full: IntervalIndex,
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
        let full = IntervalIndex::new(window_full(trace, &moments_ns));
        Self { at_ns, order, moments_ns, row, full }
    }

    /// Returns the task's insertion time, or zero if it is not known.
    pub(super) fn of(&self, task: u32) -> u64 {
        self.at_ns.get(task as usize).copied().unwrap_or(0)
    }

    /// Returns the insertions within an interval, as indices into `moments_ns`.
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
    let is_worker = |row: &LaneTasks| trace.lanes[row.lane as usize].kind == LaneKind::Worker;
    let before = |at_ns: u64| moments_ns.partition_point(|&moment| moment <= at_ns);
    let inside = |row: &LaneTasks| -> usize {
        row.busy.iter().map(|&(start_ns, end_ns)| before(end_ns - 1).saturating_sub(before(start_ns))).sum()
    };
    let workers = occupancy.rows.iter().enumerate().filter(|(_, row)| is_worker(row));
    let (strays, row) = workers.map(|(place, row)| (inside(row), place)).min()?;
    (!moments_ns.is_empty() && strays as f64 <= STRAYS_FRACTION_MAX * moments_ns.len() as f64).then_some(row)
}

/// Returns the times when the window was full, each until the next insertion, and the recorded stalls with that reason.
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
            if in_flight as f64 >= FULL_FRACTION * window as f64 && in_flight > 0 {
                full.push((pair[0], pair[1]));
            }
        }
    }
    intervals::union(full)
}
