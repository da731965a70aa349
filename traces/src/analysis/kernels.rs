//! The count, time, rate and distribution of each kernel's tasks.

use super::{
    intervals, label,
    occupancy::Occupancy,
    ratio,
    table::{TextTable, bytes, ms, percent, us},
};
use crate::{Outcome, Trace};
use serde::Serialize;
use std::{cmp::Reverse, fmt};

/// The kernels, in descending order of their time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Kernels {
    /// One row for each kernel that has tasks.
    pub rows: Vec<KernelTime>,
}

/// The tasks of one kernel.
///
/// The time of a task excludes the time of tasks nested in it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelTime {
    /// Index into [`Trace::kernels`](crate::Trace::kernels).
    pub kernel: u32,
    /// Its name.
    pub name: String,
    /// The number of its tasks.
    pub tasks: usize,
    /// How they ended.
    pub outcomes: Outcomes,
    /// The total time of its tasks.
    pub total_ns: u64,
    /// The fraction of the time of all tasks of the run, 0 to 1.
    pub share: f64,
    /// The distribution of the times of the tasks that ran.
    pub length_ns: Spread,
    /// Declared floating-point operations of its completed tasks.
    pub flops: f64,
    /// The rate of its completed tasks together, in GFLOP/s; `None` if no operations were declared.
    pub rate_gflops: Option<f64>,
    /// The distribution of the rates of its completed tasks, in GFLOP/s.
    pub task_rate_gflops: Option<Spread>,
    /// Declared bytes that its tasks read and write.
    pub bytes: f64,
    /// The longest task: index into [`Trace::tasks`](crate::Trace::tasks).
    pub slowest: Option<u32>,
    /// The display name of that task: `gemm (4, 2, 0)`.
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

/// The distribution of a quantity: minimum, quartiles and maximum. All zero if there are no values.
///
/// Quartiles are by nearest rank: each is one of the values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Spread {
    /// The minimum.
    pub min: f64,
    /// The lower quartile.
    pub lower: f64,
    /// The median.
    pub median: f64,
    /// The upper quartile.
    pub upper: f64,
    /// The maximum.
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

/// Writes `2 failed, 1 cancelled`, or nothing if all tasks completed.
impl fmt::Display for Outcomes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [(self.failed, "failed"), (self.panicked, "panicked"), (self.cancelled, "cancelled")];
        let occurring = counts.into_iter().filter(|(count, _)| *count > 0);
        let texts: Vec<String> = occurring.map(|(count, name)| format!("{count} {name}")).collect();
        out.write_str(&texts.join(", "))
    }
}

impl Spread {
    /// Returns the five values in ascending order.
    pub fn values(&self) -> [f64; 5] {
        [self.min, self.lower, self.median, self.upper, self.max]
    }

    /// Returns the distribution of values in any order; `None` if there are none.
    pub(super) fn of(mut values: Vec<f64>) -> Option<Self> {
        let last = values.len().checked_sub(1)?;
        values.sort_unstable_by(f64::total_cmp);
        let quartile = |quarters: usize| values[(values.len() * quarters).div_ceil(4).saturating_sub(1)];
        Some(Self { min: values[0], lower: quartile(1), median: quartile(2), upper: quartile(3), max: values[last] })
    }
}

const TIME_HEADS: [&str; 8] = ["time, us", "min", "lower", "median", "upper", "max", "slowest<", "<"];
const RATE_HEADS: [&str; 9] = ["GFLOP/s", "all", "min", "lower", "median", "upper", "max", "Gflop", "bytes"];

fn rate(rate: Option<f64>) -> String {
    rate.map_or(String::new(), |rate| format!("{rate:.2}"))
}

impl Kernels {
    /// Returns two tables of all kernels: times, then rates and bytes.
    pub fn full_table(&self) -> impl fmt::Display {
        let mut times = TextTable::titled("Time of a task by kernel", &TIME_HEADS);
        let mut rates = TextTable::titled("Rate of a task by kernel", &RATE_HEADS);
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

/// The number of kernels in the brief table.
const KERNELS_IN_BRIEF: usize = 12;

impl Kernels {
    /// Returns a table of the kernels with the most time.
    pub fn brief_table(&self) -> impl fmt::Display {
        let rest = self.rows.len().saturating_sub(KERNELS_IN_BRIEF);
        let table = self.table(KERNELS_IN_BRIEF);
        if rest == 0 { table.to_string() } else { format!("{table}  {rest} kernels with less time are not listed\n") }
    }

    fn table(&self, rows_max: usize) -> TextTable {
        let heads = ["kernel", "tasks", "ms", "%", "GFLOP/s", "median us", "quartiles<", "max us", "slowest<", "<"];
        let mut table = TextTable::titled("Kernels (%: of the time in tasks)", &heads);
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

/// Writes a table of the time and rate of each kernel, with the number of tasks that did not complete.
impl fmt::Display for Kernels {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table(usize::MAX).fmt(out)
    }
}
