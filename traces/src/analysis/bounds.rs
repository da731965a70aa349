//! Lower bounds of the makespan, and how close the run came to them.

use super::{
    insertion::Insertions,
    intervals,
    occupancy::{LaneTasks, Occupancy},
    ratio,
    replay::Replay,
    table::{TextTable, ms, percent, plural},
};
use crate::{Trace, graph::Graph};
use serde::Serialize;
use std::fmt;

/// Lower bounds of the makespan with the lanes of the run and each task taking its recorded time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Bounds {
    /// The makespan.
    pub wall_ns: u64,
    /// The length of the critical path.
    pub path_ns: u64,
    /// The largest bound of `groups`: the work spread evenly over the lanes, with each task on lanes of the kind and
    /// process that it ran on.
    pub work_ns: u64,
    /// The work of each group of equivalent lanes.
    pub groups: Vec<LaneGroup>,
    /// The largest sum, over all tasks, of two times: inserting the task and all tasks before it, without the program's
    /// waits; and the longest chain that starts with the task. `None` if the insertion times are not known.
    pub insertion_ns: Option<u64>,
    /// The largest of these bounds.
    pub bound_ns: u64,
    /// `bound_ns` over the makespan; at 1 no schedule can be shorter.
    pub nearness: f64,
}

/// Equivalent lanes, which take each other's tasks: those of one kind and process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LaneGroup {
    /// The name of the process.
    pub name: String,
    /// The number of its lanes.
    pub lanes: usize,
    /// Time in tasks on them.
    pub work_ns: u64,
    /// `work_ns` spread evenly over the lanes.
    pub bound_ns: u64,
}

impl Bounds {
    pub(super) fn new(
        trace: &Trace,
        occupancy: &Occupancy,
        graph: &Graph,
        insertions: &Insertions,
        replay: &Replay,
    ) -> Self {
        let chains = graph.chains_from(|task| trace.tasks[task as usize].length_ns());
        let path_ns = chains.iter().copied().max().unwrap_or(0);
        let (start_ns, wall_ns) = (trace.extent_ns().0, trace.wall_ns());
        let first_ns = insertions.moments_ns.first().copied();
        let insertion_ns = first_ns.and_then(|first_ns| {
            let inserted = replay.inserted().map(|(task, after_ns)| {
                // Unknown insertion times are replaced by the median, which may exceed the actual time.
                let at_ns = first_ns.saturating_add(after_ns).min(insertions.of(task));
                at_ns.saturating_sub(start_ns).saturating_add(chains[task as usize])
            });
            inserted.max()
        });
        let groups = groups(trace, occupancy);
        let work_ns = groups.iter().map(|group| group.bound_ns).max().unwrap_or(0);
        let bound_ns = path_ns.max(work_ns).max(insertion_ns.unwrap_or(0));
        let nearness = ratio(bound_ns as f64, wall_ns as f64);
        Self { wall_ns, path_ns, work_ns, groups, insertion_ns, bound_ns, nearness }
    }
}

fn groups(trace: &Trace, occupancy: &Occupancy) -> Vec<LaneGroup> {
    let group = |rows: Vec<&LaneTasks>| {
        let work_ns = intervals::sum(rows.iter().map(|row| intervals::length_ns(&row.busy)));
        let (name, lanes) = (trace.lanes[rows[0].lane as usize].process.clone(), rows.len());
        LaneGroup { name, lanes, work_ns, bound_ns: work_ns.div_ceil(lanes as u64) }
    };
    occupancy.groups(trace).into_iter().map(group).collect()
}

/// Writes each bound and its fraction of the makespan.
impl fmt::Display for Bounds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table =
            TextTable::titled("Lower bounds of the makespan", &["the run takes at least", "ms", "% of the makespan"]);
        let mut row = |name: String, bound_ns: u64| {
            table.row([name, ms(bound_ns), percent(ratio(bound_ns as f64, self.wall_ns as f64))]);
        };
        row("for its critical path".to_owned(), self.path_ns);
        for group in &self.groups {
            row(format!("for its work on {} of {}", plural(group.lanes, "lane"), group.name), group.bound_ns);
        }
        if let Some(insertion_ns) = self.insertion_ns {
            row("for inserting a task and the longest chain that starts with it".to_owned(), insertion_ns);
        }
        table.fmt(out)
    }
}
