//! A recording in a few lines of text, for a terminal.

use std::collections::BTreeMap;
use std::fmt;

use super::order::TaskOrder;
use super::{Outcome, Recording};

/// Which operations took the time, and how busy each lane was.
///
/// Counts and times are of spans. The rate is that of the completed ones and is printed where
/// flops were declared. Printed through `Display`.
///
/// ```
/// use superscalar_runtime::recording::{Recording, Summary};
/// let text = Summary::new(&Recording::default()).to_string();
/// assert!(text.contains("0 spans"));
/// ```
#[derive(Debug, Clone)]
pub struct Summary {
    operations: Vec<(&'static str, Operation)>,
    lanes: Vec<(String, u64)>,
    spans: usize,
    elapsed_ns: u64,
    dropped: u64,
    notices: Vec<String>,
}

#[derive(Debug, Clone, Default)]
struct Operation {
    spans: u64,
    not_completed: u64,
    busy_ns: u64,
    completed_ns: u64,
    flops: f64,
}

impl Summary {
    /// Adds up `recording`. Spans whose task has no record count as an operation named `task`.
    pub fn new(recording: &Recording) -> Self {
        let order = TaskOrder::new(recording.tasks.iter().map(|task| task.id));
        let mut records = vec![None; order.len()];
        for task in &recording.tasks {
            if let Some(place) = order.place(task.id) {
                records[place] = Some(task);
            }
        }
        let mut operations: BTreeMap<&str, Operation> = BTreeMap::new();
        let mut lanes: Vec<(String, u64)> = recording.lanes.iter().map(|lane| (lane.full_name(), 0)).collect();
        for span in &recording.spans {
            let record = order.place(span.task).and_then(|place| records[place]);
            let ran_ns = span.end_ns.saturating_sub(span.start_ns);
            let operation = operations.entry(record.map_or("task", |task| task.name)).or_default();
            operation.spans += 1;
            operation.busy_ns += ran_ns;
            if span.outcome == Outcome::Completed {
                operation.completed_ns += ran_ns;
                operation.flops += record.map_or(0.0, |task| task.flops);
            } else {
                operation.not_completed += 1;
            }
            if let Some((_, busy_ns)) = lanes.get_mut(span.lane as usize) {
                *busy_ns += ran_ns;
            }
        }
        let mut operations: Vec<_> = operations.into_iter().collect();
        operations.sort_by_key(|(_, operation)| std::cmp::Reverse(operation.busy_ns));
        let start_ns = recording.spans.iter().map(|span| span.start_ns).min();
        let end_ns = recording.spans.iter().map(|span| span.end_ns).max();
        let elapsed_ns = end_ns.unwrap_or(0).saturating_sub(start_ns.unwrap_or(0));
        let (dropped, notices) = (recording.dropped, recording.notices.clone());
        Self { operations, lanes, spans: recording.spans.len(), elapsed_ns, dropped, notices }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elapsed_ms = self.elapsed_ns as f64 * 1e-6;
        write!(out, "{} spans in {elapsed_ms:.3} ms", self.spans)?;
        if self.dropped > 0 {
            write!(out, ", {} records dropped", self.dropped)?;
        }
        writeln!(out)?;
        for (name, operation) in &self.operations {
            let busy_ms = operation.busy_ns as f64 * 1e-6;
            let mean_us = operation.busy_ns as f64 * 1e-3 / operation.spans as f64;
            let count = operation.spans;
            write!(out, "  {name:<16} {count:>9} x {mean_us:>11.3} us = {busy_ms:>11.3} ms")?;
            if operation.flops > 0.0 && operation.completed_ns > 0 {
                let rate = operation.flops / operation.completed_ns as f64;
                write!(out, "  {rate:>9.2} GFLOP/s")?;
            }
            if operation.not_completed > 0 {
                write!(out, "  {} not completed", operation.not_completed)?;
            }
            writeln!(out)?;
        }
        for (name, busy_ns) in &self.lanes {
            let share = *busy_ns as f64 / self.elapsed_ns.max(1) as f64;
            writeln!(out, "  {name:<16} busy {:>5.1} %", 100.0 * share)?;
        }
        for notice in &self.notices {
            writeln!(out, "  note: {notice}")?;
        }
        Ok(())
    }
}
