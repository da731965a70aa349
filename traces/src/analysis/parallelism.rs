//! How many workers the graph of tasks could keep busy, and how many were.

use super::{
    occupancy::Occupancy,
    ratio,
    table::{Table, ms, percent},
};
use crate::{Trace, graph::Graph};
use serde::Serialize;
use std::fmt;

/// Parallelism by recorded times.
///
/// *Possible* is with workers without end, no overhead and everything inserted at the start: each task begins when the last of its
/// predecessors ends.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Parallelism {
    /// Time in tasks, over all lanes.
    pub work_ns: u64,
    /// The critical path.
    pub path_ns: u64,
    /// Work over path: the workers that could be kept busy on average.
    pub average: f64,
    /// Work over makespan: the lanes that were busy on average.
    pub achieved: f64,
    /// Work over makespan and lanes: the part of the lanes' time that was spent in tasks, 0 to 1.
    pub efficiency: f64,
    /// The most tasks that could run at once.
    pub width_max: usize,
    /// The possible parallelism over time, in steps of equal length: at most [`Parallelism::STEPS_MAX`].
    pub profile: Vec<Step>,
    /// For how long how many tasks could run at once.
    pub histogram: Vec<Widths>,
}

impl Parallelism {
    /// The profile has at most so many steps.
    pub const STEPS_MAX: usize = 200;
}

/// One step of the possible parallelism over time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Step {
    /// When it begins, from the start of the run that was thought of.
    pub start_ns: u64,
    /// When it ends.
    pub end_ns: u64,
    /// Tasks that could run in it, on average.
    pub width: f64,
}

/// For how long between so many and so many tasks could run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Widths {
    /// At least so many.
    pub from: usize,
    /// At most so many.
    pub to: usize,
    /// For so long.
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
        // Where one ends as another begins, the end comes first: they are not there at once.
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

/// For how long the width was from a power of two up to the next.
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

    fn rows(&self) -> Vec<Widths> {
        let row = |(power, &time_ns): (usize, &u64)| Widths {
            from: 1 << power,
            to: ((2 << power) - 1).min(self.width_max),
            time_ns,
        };
        self.times_ns.iter().enumerate().map(row).collect()
    }
}

/// The width over time, from the moments at which it changes, in time.
fn widths(changes: &[(u64, i64)], path_ns: u64) -> (Vec<Step>, Histogram) {
    let step_ns = path_ns.div_ceil(Parallelism::STEPS_MAX as u64).max(1);
    let mut profile: Vec<Step> = Vec::new();
    for place in 0..path_ns.div_ceil(step_ns) {
        let start_ns = place * step_ns;
        let end_ns = start_ns.saturating_add(step_ns).min(path_ns);
        profile.push(Step { start_ns, end_ns, width: 0.0 });
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

/// The averages, and for how long how many tasks could have run at once.
impl fmt::Display for Parallelism {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (average, achieved) = (self.average, self.achieved);
        write!(out, "  possible {average:.2} on average, {} at most; ", self.width_max)?;
        writeln!(out, "achieved {achieved:.2}, {} % of the lanes' time", percent(self.efficiency))?;
        let mut table = Table::new(&["tasks at once, possible", "ms", "%"]);
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
