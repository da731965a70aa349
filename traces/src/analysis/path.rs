//! The critical path: the longest chain of tasks in which each waits for the one before.

use super::{
    intervals, label, ratio,
    table::{TextTable, ms, percent, plural, time, us},
};
use crate::{Lane, Trace, graph::Graph};
use serde::Serialize;
use std::{cmp::Reverse, fmt};

/// The critical path by recorded times. With these task times, no number of workers makes the run shorter.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Path {
    /// The total time of its tasks.
    pub length_ns: u64,
    /// The fraction of the makespan, 0 to 1.
    pub share: f64,
    /// Its tasks in order: indices into [`Trace::tasks`](crate::Trace::tasks).
    pub tasks: Vec<u32>,
    /// The share of each kernel, in descending order of time.
    pub blame: Vec<KernelOnPath>,
    /// The total time between consecutive tasks of the path: how long tasks on the path waited after their predecessor
    /// on the path had ended.
    pub waited_ns: u64,
}

/// The share of one kernel on the critical path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelOnPath {
    /// Index into [`Trace::kernels`](crate::Trace::kernels).
    pub kernel: u32,
    /// Its name.
    pub name: String,
    /// The number of its tasks on the path.
    pub tasks: usize,
    /// The time of these tasks.
    pub time_ns: u64,
    /// The fraction of the path's length, 0 to 1.
    pub share: f64,
}

impl Path {
    pub(super) fn new(trace: &Trace, graph: &Graph) -> Self {
        let task = |place: u32| &trace.tasks[place as usize];
        let chains = graph.chains_to(|place| task(place).length_ns());
        let longest = (0..graph.len() as u32).max_by_key(|&place| (chains[place as usize].0, Reverse(place)));
        let mut tasks: Vec<u32> = std::iter::successors(longest, |&place| chains[place as usize].1).collect();
        tasks.reverse();
        let length_ns = longest.map_or(0, |place| chains[place as usize].0);
        let waits = tasks.windows(2).map(|pair| task(pair[1]).start_ns.saturating_sub(task(pair[0]).end_ns));
        let waited_ns = intervals::sum(waits);
        let mut of_kernels = vec![(0, 0); trace.kernels.len()];
        for &place in &tasks {
            if let Some((count, time_ns)) = of_kernels.get_mut(task(place).kernel as usize) {
                *count += 1;
                *time_ns = u64::saturating_add(*time_ns, task(place).length_ns());
            }
        }
        let used = of_kernels.into_iter().enumerate().filter(|(_, (count, _))| *count > 0);
        let blame = used.map(|(kernel, (tasks, time_ns))| KernelOnPath {
            kernel: kernel as u32,
            name: trace.kernels[kernel].clone(),
            tasks,
            time_ns,
            share: ratio(time_ns as f64, length_ns as f64),
        });
        let mut blame: Vec<KernelOnPath> = blame.collect();
        blame.sort_by_key(|blame| Reverse(blame.time_ns));
        Self { length_ns, share: ratio(length_ns as f64, trace.wall_ns() as f64), tasks, blame, waited_ns }
    }

    /// Returns a table of the path's tasks, with the time that each waited after the one before.
    pub fn tasks_table(&self, trace: &Trace) -> impl fmt::Display {
        let begin_ns = trace.extent_ns().0;
        let mut table = TextTable::titled(
            "Tasks on the critical path",
            &["task", "id", "lane<", "from ms", "length us", "waited us"],
        );
        let mut end_ns = None;
        for &place in &self.tasks {
            let task = &trace.tasks[place as usize];
            let waited_ns = end_ns.map_or(0, |end_ns| task.start_ns.saturating_sub(end_ns));
            end_ns = Some(task.end_ns);
            table.row([
                label(trace, place),
                task.id.to_string(),
                trace.lanes.get(task.lane as usize).map_or(String::new(), Lane::full_name),
                ms(task.start_ns - begin_ns),
                us(task.length_ns() as f64),
                us(waited_ns as f64),
            ]);
        }
        table
    }
}

/// Writes the length of the path and the share of each kernel.
impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (length, share, waited) = (time(self.length_ns), percent(self.share), time(self.waited_ns));
        writeln!(out, "Critical path (%: of its length)")?;
        let tasks = plural(self.tasks.len(), "task");
        writeln!(out, "  {tasks}, {length}, {share} % of the makespan; time between its tasks in this run: {waited}")?;
        let mut table = TextTable::new(&["kernel", "tasks", "ms", "%"]);
        for blame in &self.blame {
            table.row([blame.name.clone(), blame.tasks.to_string(), ms(blame.time_ns), percent(blame.share)]);
        }
        table.fmt(out)
    }
}
