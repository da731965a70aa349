//! How many workers the task graph could keep busy, and how many were busy.

use super::{
    occupancy::Occupancy,
    ratio,
    table::{TextTable, ms, percent},
};
use crate::{Trace, graph::Graph};
use serde::Serialize;
use std::fmt;

/// The parallelism of a run, by recorded task times.
///
/// *Possible* parallelism assumes unlimited workers, no overhead, and all tasks inserted at the start: each task begins
/// when the last of its predecessors ends.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Parallelism {
    /// Time in tasks, summed over all lanes.
    pub work_ns: u64,
    /// The length of the critical path.
    pub path_ns: u64,
    /// `work_ns` over `path_ns`: the average number of workers that could be kept busy.
    pub average: f64,
    /// `work_ns` over the makespan: the average number of busy lanes.
    pub achieved: f64,
    /// The fraction of the lanes' time that was spent in tasks, 0 to 1.
    pub efficiency: f64,
    /// The largest number of tasks that could run at the same time.
    pub width_max: usize,
    /// The possible parallelism over time, in at most [`Parallelism::STEPS_MAX`] intervals of equal length.
    pub profile: Vec<ProfileStep>,
    /// The time for which each range of numbers of tasks could run at the same time.
    pub histogram: Vec<WidthTime>,
}

impl Parallelism {
    /// The maximum number of intervals in the profile.
    pub const STEPS_MAX: usize = 200;
}

/// One interval of the possible parallelism over time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ProfileStep {
    /// When it begins, relative to the start of the hypothetical run.
    pub start_ns: u64,
    /// When it ends.
    pub end_ns: u64,
    /// The average number of tasks that could run in it.
    pub width: f64,
}

/// The time for which a number of tasks within a range could run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct WidthTime {
    /// The smallest number of the range.
    pub from: usize,
    /// The largest number of the range.
    pub to: usize,
    /// The time.
    pub time_ns: u64,
}

impl Parallelism {
    pub(super) fn new(trace: &Trace, occupancy: &Occupancy, graph: &Graph) -> Self {
        let length_ns = |task: u32| trace.tasks[task as usize].length_ns();
        let chains = graph.chains_to(length_ns);
        let mut changes = Vec::with_capacity(2 * chains.len());
        for (task, &(end_ns, _)) in chains.iter().enumerate() {
            if length_ns(task as u32) > 0 {
                changes.extend([(end_ns - length_ns(task as u32), 1), (end_ns, -1)]);
            }
        }
        // If one task ends when another begins, the end is counted first: the two do not run at the same time.
        changes.sort_unstable();
        let path_ns = changes.last().map_or(0, |change| change.0);
        let (work_ns, wall_ns) = (occupancy.work_ns(), trace.wall_ns());
        let (profile, histogram) = widths(&changes, path_ns);
        Self {
            work_ns,
            path_ns,
            average: ratio(work_ns as f64, path_ns as f64),
            achieved: ratio(work_ns as f64, wall_ns as f64),
            efficiency: occupancy.utilisation(wall_ns),
            width_max: histogram.width_max,
            profile,
            histogram: histogram.rows(),
        }
    }
}

/// The time at each width, by powers of two: entry `i` covers the widths from 2^i to 2^(i+1) - 1.
#[derive(Default)]
struct Histogram {
    times_ns: Vec<u64>,
    width_max: usize,
}

impl Histogram {
    fn add(&mut self, width: usize, time_ns: u64) {
        let Some(power) = width.checked_ilog2() else { return };
        if time_ns > 0 {
            let power = power as usize;
            self.times_ns.resize(self.times_ns.len().max(power + 1), 0);
            self.times_ns[power] += time_ns;
            self.width_max = self.width_max.max(width);
        }
    }

    fn rows(&self) -> Vec<WidthTime> {
        let row = |(power, &time_ns): (usize, &u64)| WidthTime {
            from: 1 << power,
            to: ((2 << power) - 1).min(self.width_max),
            time_ns,
        };
        self.times_ns.iter().enumerate().map(row).collect()
    }
}

/// Returns the profile and the histogram of widths. `changes` holds `(time, change of width)` in ascending order of
/// time.
fn widths(changes: &[(u64, i64)], path_ns: u64) -> (Vec<ProfileStep>, Histogram) {
    let step_ns = path_ns.div_ceil(Parallelism::STEPS_MAX as u64).max(1);
    let mut profile: Vec<ProfileStep> = Vec::new();
    for place in 0..path_ns.div_ceil(step_ns) {
        let start_ns = place * step_ns;
        let end_ns = start_ns.saturating_add(step_ns).min(path_ns);
        profile.push(ProfileStep { start_ns, end_ns, width: 0.0 });
    }
    let (mut at_ns, mut width, mut histogram) = (0, 0_i64, Histogram::default());
    for &(next_ns, change) in changes {
        histogram.add(width.max(0) as usize, next_ns - at_ns);
        while at_ns < next_ns {
            let step = &mut profile[(at_ns / step_ns) as usize];
            let until_ns = next_ns.min(step.end_ns);
            step.width += width as f64 * ratio((until_ns - at_ns) as f64, (step.end_ns - step.start_ns) as f64);
            at_ns = until_ns;
        }
        width += change;
    }
    (profile, histogram)
}

/// Writes the averages and the histogram.
impl fmt::Display for Parallelism {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (average, achieved) = (self.average, self.achieved);
        writeln!(out, "Parallelism")?;
        writeln!(out, "  tasks at once with unlimited workers: {average:.2} on average, {} at most", self.width_max)?;
        writeln!(
            out,
            "  tasks at once in this run: {achieved:.2} on average; its lanes were {} % busy",
            percent(self.efficiency)
        )?;
        let mut table = TextTable::new(&["with unlimited workers, at once", "ms", "%"]);
        for widths in &self.histogram {
            let range = if widths.from == widths.to {
                widths.from.to_string()
            } else {
                format!("{} to {}", widths.from, widths.to)
            };
            table.row([range, ms(widths.time_ns), percent(ratio(widths.time_ns as f64, self.path_ns as f64))]);
        }
        table.fmt(out)
    }
}
