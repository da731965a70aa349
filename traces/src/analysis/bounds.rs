//! The least time that the run needs, and how near it came to that.

use super::{
    insertion::Insertions,
    intervals,
    occupancy::{Occupancy, Row},
    ratio,
    replay::Replay,
    table::{Table, ms, percent},
};
use crate::{Trace, graph::Graph};
use serde::Serialize;
use std::fmt;

/// Lower bounds of the makespan, with the lanes of the run and each task taking what it took.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Bounds {
    /// The makespan.
    pub wall_ns: u64,
    /// The critical path.
    pub path_ns: u64,
    /// The work, dealt evenly to the lanes, each task staying with lanes of the kind and process that it ran on: the greatest of
    /// `groups`.
    pub work_ns: u64,
    /// The work of each group of like lanes.
    pub groups: Vec<Group>,
    /// For the worst task, the time that inserting it and those before it took, without what the program waited for, and the
    /// longest chain from it on; `None` if it is not known when tasks were inserted.
    pub insertion_ns: Option<u64>,
    /// The greatest of them.
    pub bound_ns: u64,
    /// The greatest bound over the makespan: 1 is a run that no schedule betters.
    pub nearness: f64,
}

/// Lanes of one kind and process, which take one another's tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Group {
    /// The name of the process.
    pub name: String,
    /// Its lanes.
    pub lanes: usize,
    /// Time in tasks on them.
    pub work_ns: u64,
    /// The same, dealt evenly.
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
                // What is not known is taken from the usual, which may be more than it was.
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

fn groups(trace: &Trace, occupancy: &Occupancy) -> Vec<Group> {
    let group = |rows: Vec<&Row>| {
        let work_ns = intervals::sum(rows.iter().map(|row| intervals::length_ns(&row.busy)));
        let (name, lanes) = (trace.lanes[rows[0].lane as usize].process.clone(), rows.len());
        Group { name, lanes, work_ns, bound_ns: work_ns.div_ceil(lanes as u64) }
    };
    occupancy.groups(trace).into_iter().map(group).collect()
}

/// Each bound and its part of the makespan.
impl fmt::Display for Bounds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new(&["the run takes at least", "ms", "% of the makespan"]);
        let mut row = |name: String, bound_ns: u64| {
            table.row([name, ms(bound_ns), percent(ratio(bound_ns as f64, self.wall_ns as f64))]);
        };
        row("for its critical path".to_owned(), self.path_ns);
        for group in &self.groups {
            let lanes = if group.lanes == 1 { "lane" } else { "lanes" };
            row(format!("for its work on {} {lanes} of {}", group.lanes, group.name), group.bound_ns);
        }
        if let Some(insertion_ns) = self.insertion_ns {
            row("for its insertion and what follows".to_owned(), insertion_ns);
        }
        table.fmt(out)
    }
}
