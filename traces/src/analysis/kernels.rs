//! What each kernel took: its tasks' count, time, rate and spread.

use super::{
    intervals, label,
    occupancy::Occupancy,
    ratio,
    table::{Table, bytes, ms, percent, us},
};
use crate::{Outcome, Trace};
use serde::Serialize;
use std::{cmp::Reverse, fmt};

/// The kernels, the one with the most time first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Kernels {
    /// One row for each kernel that has tasks.
    pub rows: Vec<KernelTime>,
}

/// The tasks of one kernel.
///
/// The time of a task is its own: what tasks nested in it took is theirs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelTime {
    /// Its place in [`Trace::kernels`](crate::Trace::kernels).
    pub kernel: u32,
    /// Its name.
    pub name: String,
    /// Its tasks.
    pub tasks: usize,
    /// How they ended.
    pub outcomes: Outcomes,
    /// The time of all of them.
    pub total_ns: u64,
    /// The part of the time of all tasks of the run, 0 to 1.
    pub share: f64,
    /// The time of a task, over those that ran.
    pub length_ns: Spread,
    /// Operations declared by its completed tasks.
    pub flops: f64,
    /// The rate of all its completed tasks together, if operations were declared.
    pub rate_gflops: Option<f64>,
    /// The rate of a completed task.
    pub task_rate_gflops: Option<Spread>,
    /// Bytes that its tasks read and write, as declared.
    pub bytes: f64,
    /// The task that took longest: into [`Trace::tasks`](crate::Trace::tasks).
    pub slowest: Option<u32>,
    /// That task, as people name it: `gemm (4, 2, 0)`.
    pub slowest_label: String,
}

/// How the tasks of a kernel ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Outcomes {
    /// Their bodies returned successfully.
    pub completed: usize,
    /// Their bodies returned an error.
    pub failed: usize,
    /// Their bodies panicked.
    pub panicked: usize,
    /// Their bodies never ran.
    pub cancelled: usize,
}

/// How a quantity is distributed: the least, the quartiles and the greatest. Zeros for no values.
///
/// Quartiles are by nearest rank: each is one of the values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Spread {
    /// The least.
    pub min: f64,
    /// A quarter of the values are not above it.
    pub lower: f64,
    /// Half of the values are not above it.
    pub median: f64,
    /// Three quarters of the values are not above it.
    pub upper: f64,
    /// The greatest.
    pub max: f64,
}

impl Kernels {
    pub(super) fn new(trace: &Trace, occupancy: &Occupancy) -> Self {
        let mut tasks: Vec<Vec<u32>> = vec![Vec::new(); trace.kernels.len()];
        for (place, task) in trace.tasks.iter().enumerate() {
            if let Some(of_kernel) = tasks.get_mut(task.kernel as usize) {
                of_kernel.push(place as u32);
            }
        }
        let all_ns = intervals::sum(occupancy.own_ns.iter().copied());
        let used = tasks.into_iter().enumerate().filter(|(_, tasks)| !tasks.is_empty());
        let row = |(kernel, tasks): (usize, Vec<u32>)| KernelTime::new(trace, occupancy, all_ns, kernel as u32, &tasks);
        let mut rows: Vec<KernelTime> = used.map(row).collect();
        rows.sort_by_key(|row| Reverse(row.total_ns));
        Self { rows }
    }
}

impl KernelTime {
    fn new(trace: &Trace, occupancy: &Occupancy, all_ns: u64, kernel: u32, tasks: &[u32]) -> Self {
        let own_ns = |task: u32| occupancy.own_ns[task as usize];
        let (mut outcomes, mut bytes) = (Outcomes::default(), 0.0);
        let (mut flops, mut flops_ns) = (0.0, 0);
        let (mut lengths, mut rates) = (Vec::new(), Vec::new());
        for &place in tasks {
            let task = &trace.tasks[place as usize];
            *outcomes.count(task.outcome) += 1;
            bytes += task.bytes;
            if task.outcome != Outcome::Cancelled {
                lengths.push(own_ns(place) as f64);
            }
            if task.outcome == Outcome::Completed && task.flops > 0.0 && own_ns(place) > 0 {
                flops += task.flops;
                flops_ns = u64::saturating_add(flops_ns, own_ns(place));
                rates.push(task.flops / own_ns(place) as f64);
            }
        }
        let total_ns = intervals::sum(tasks.iter().map(|&task| own_ns(task)));
        let slowest = tasks.iter().copied().max_by_key(|&task| (own_ns(task), Reverse(task)));
        Self {
            kernel,
            name: trace.kernels[kernel as usize].clone(),
            tasks: tasks.len(),
            outcomes,
            total_ns,
            share: ratio(total_ns as f64, all_ns as f64),
            length_ns: Spread::of(lengths).unwrap_or_default(),
            flops,
            rate_gflops: (flops_ns > 0).then(|| flops / flops_ns as f64),
            task_rate_gflops: Spread::of(rates),
            bytes,
            slowest,
            slowest_label: slowest.map_or(String::new(), |task| label(trace, task)),
        }
    }
}

impl Outcomes {
    fn count(&mut self, outcome: Outcome) -> &mut usize {
        match outcome {
            Outcome::Completed => &mut self.completed,
            Outcome::Failed => &mut self.failed,
            Outcome::Panicked => &mut self.panicked,
            Outcome::Cancelled => &mut self.cancelled,
        }
    }
}

/// `2 failed, 1 cancelled`; nothing if all completed.
impl fmt::Display for Outcomes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [(self.failed, "failed"), (self.panicked, "panicked"), (self.cancelled, "cancelled")];
        let occurring = counts.into_iter().filter(|(count, _)| *count > 0);
        let texts: Vec<String> = occurring.map(|(count, name)| format!("{count} {name}")).collect();
        out.write_str(&texts.join(", "))
    }
}

impl Spread {
    /// From the least to the greatest.
    pub fn values(&self) -> [f64; 5] {
        [self.min, self.lower, self.median, self.upper, self.max]
    }

    /// Of values in any order; `None` for none.
    pub(super) fn of(mut values: Vec<f64>) -> Option<Self> {
        let last = values.len().checked_sub(1)?;
        values.sort_unstable_by(f64::total_cmp);
        let quartile = |quarters: usize| values[(values.len() * quarters).div_ceil(4).saturating_sub(1)];
        Some(Self { min: values[0], lower: quartile(1), median: quartile(2), upper: quartile(3), max: values[last] })
    }
}

fn rate(rate: Option<f64>) -> String {
    rate.map_or(String::new(), |rate| format!("{rate:.2}"))
}

impl Kernels {
    /// All that is known of each kernel, as two tables: time, then rates and bytes.
    pub fn full_table(&self) -> impl fmt::Display {
        let mut times = Table::new(&["time, us", "least", "lower", "median", "upper", "most", "slowest<", "<"]);
        let mut rates = Table::new(&["GFLOP/s", "all", "least", "lower", "median", "upper", "most", "Gflop", "bytes"]);
        for row in &self.rows {
            let lengths = row.length_ns.values().map(us);
            let texts = [row.slowest_label.clone(), row.outcomes.to_string()];
            times.row(std::iter::once(row.name.clone()).chain(lengths).chain(texts));
            let spread =
                row.task_rate_gflops.map_or(Default::default(), |spread| spread.values().map(|one| rate(Some(one))));
            let flops = if row.flops > 0.0 { format!("{:.3}", 1e-9 * row.flops) } else { String::new() };
            let moved = if row.bytes > 0.0 { bytes(row.bytes) } else { String::new() };
            let first = [row.name.clone(), rate(row.rate_gflops)];
            rates.row(first.into_iter().chain(spread).chain([flops, moved]));
        }
        format!("{times}\n{rates}")
    }
}

/// Tables in brief have at most so many kernels.
const KERNELS_IN_BRIEF: usize = 12;

impl Kernels {
    /// Time and rate of the kernels with the most time.
    pub fn brief_table(&self) -> impl fmt::Display {
        let rest = self.rows.len().saturating_sub(KERNELS_IN_BRIEF);
        let table = self.table(KERNELS_IN_BRIEF);
        if rest == 0 { table.to_string() } else { format!("{table}  and {rest} kernels with less time\n") }
    }

    fn table(&self, rows_max: usize) -> Table {
        let heads = ["kernel", "tasks", "ms", "%", "GFLOP/s", "median us", "quartiles<", "most us", "slowest<", "<"];
        let mut table = Table::new(&heads);
        for row in self.rows.iter().take(rows_max) {
            let lengths = row.length_ns;
            table.row([
                row.name.clone(),
                row.tasks.to_string(),
                ms(row.total_ns),
                percent(row.share),
                rate(row.rate_gflops),
                us(lengths.median),
                format!("{} - {}", us(lengths.lower), us(lengths.upper)),
                us(lengths.max),
                row.slowest_label.clone(),
                row.outcomes.to_string(),
            ]);
        }
        table
    }
}

/// Time and rate of each kernel; where tasks did not complete, how many.
impl fmt::Display for Kernels {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table(usize::MAX).fmt(out)
    }
}
