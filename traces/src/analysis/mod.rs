//! Where the time of a run went, and what could be gained.
//!
//! | module | the question |
//! |---|---|
//! | [`lanes`] | how long was each lane busy, how long did it wait for data alone, how long for anything else? |
//! | [`kernels`] | which kernels took the time, how fast were they, and how evenly? |
//! | [`links`] | what was moved between memory nodes, and how fast? |
//! | [`gaps`] | why did a lane do nothing, and which task ended that? |
//! | [`path`] | which chain of tasks could no number of workers have shortened? |
//! | [`parallelism`] | how many workers could the graph of tasks keep busy? |
//! | [`bounds`] | how long must the run take at least, and how near did it come? |
//! | [`replay`] | how long would it take with other workers or faster kernels? |
//! | [`comparison`] | what became slower from one run to another? |
//!
//! Each is a plain value: public fields, tables by `Display`, JSON by `serde`. Times are nanoseconds; tasks and lanes are places in
//! [`Trace::tasks`] and [`Trace::lanes`]. Nothing here fails: what a trace does not say is left out of the answer. Every analysis
//! takes time linear in the trace but for sorting.
//!
//! Hazards that a graph can not have (to a task that is not there, from a task to itself, around a circle) are not followed.

pub mod bounds;
pub mod comparison;
pub mod gaps;
pub mod kernels;
pub mod lanes;
pub mod links;
pub mod parallelism;
pub mod path;
pub mod replay;

mod insertion;
mod intervals;
mod occupancy;
mod table;

use crate::{Trace, graph::Graph};
use bounds::Bounds;
use gaps::Gaps;
use insertion::Insertions;
use kernels::Kernels;
use lanes::Lanes;
use links::Links;
use occupancy::Occupancy;
use parallelism::Parallelism;
use path::Path;
use replay::{Replay, WhatIfs};
use serde::Serialize;
use std::fmt;
use table::{percent, time};

/// All of the analyses of one run.
///
/// ```
/// use superscalar_traces::{Trace, analysis::Analysis};
/// let analysis = Analysis::new(&Trace::default());
/// assert_eq!(analysis.overview.tasks, 0);
/// println!("{analysis}");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Analysis {
    /// The run in a few numbers.
    pub overview: Overview,
    /// Where each lane's time went.
    pub lanes: Lanes,
    /// What each kernel took.
    pub kernels: Kernels,
    /// What was moved.
    pub links: Links,
    /// When and why lanes were idle.
    pub gaps: Gaps,
    /// The critical path.
    pub path: Path,
    /// How many tasks could have run at once.
    pub parallelism: Parallelism,
    /// The least time that the run needs.
    pub bounds: Bounds,
    /// Predictions for other workers and faster kernels.
    pub what_ifs: WhatIfs,
}

/// The run in a few numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overview {
    /// The makespan: [`Trace::wall_ns`].
    pub wall_ns: u64,
    /// Tasks that ended, one way or another.
    pub tasks: usize,
    /// Of these, tasks that did not complete.
    pub tasks_not_completed: usize,
    /// Hazards between them, each pair counted once.
    pub hazards: usize,
    /// Lanes on which tasks can run: workers and queues.
    pub lanes: usize,
    /// Time in tasks, over all lanes.
    pub work_ns: u64,
    /// The part of the lanes' time that was spent in tasks, 0 to 1.
    pub utilisation: f64,
    /// Declared floating-point operations of the completed tasks.
    pub flops: f64,
    /// The same per nanosecond of the makespan, which is GFLOP/s.
    pub rate_gflops: f64,
    /// Records for which the recorder had no room: with some, everything here is about a part of the run.
    pub dropped: u64,
    /// Hazards that the graph lacks or that were not followed.
    pub hazards_lacking: u64,
}

impl Analysis {
    /// Of a run.
    pub fn new(trace: &Trace) -> Self {
        let occupancy = Occupancy::new(trace);
        let graph = Graph::new(trace);
        let insertions = Insertions::new(trace, &occupancy);
        let gaps = Gaps::new(trace, &occupancy, &graph, &insertions);
        let kernels = Kernels::new(trace, &occupancy);
        let replay = Replay::of_parts(trace, &occupancy, &graph, &insertions);
        Self {
            overview: Overview::new(trace, &occupancy, &graph),
            lanes: Lanes::new(trace, &occupancy, &gaps),
            what_ifs: WhatIfs::new(&replay, &kernels),
            kernels,
            links: Links::new(trace),
            gaps,
            path: Path::new(trace, &graph),
            parallelism: Parallelism::new(trace, &occupancy, &graph),
            bounds: Bounds::new(trace, &occupancy, &graph, &insertions, &replay),
        }
    }
}

impl Overview {
    fn new(trace: &Trace, occupancy: &Occupancy, graph: &Graph) -> Self {
        let is_completed = |task: &&crate::Task| task.outcome == crate::Outcome::Completed;
        let wall_ns = trace.wall_ns();
        let flops: f64 = trace.tasks.iter().filter(is_completed).map(|task| task.flops).sum();
        Self {
            wall_ns,
            tasks: trace.tasks.len(),
            tasks_not_completed: trace.tasks.iter().filter(|task| !is_completed(task)).count(),
            hazards: graph.pairs,
            lanes: occupancy.rows.len(),
            work_ns: occupancy.work_ns(),
            utilisation: occupancy.utilisation(wall_ns),
            flops,
            rate_gflops: ratio(flops, wall_ns as f64),
            dropped: trace.dropped,
            hazards_lacking: trace.hazards_left_out + graph.refused,
        }
    }
}

/// Two or three lines.
impl fmt::Display for Overview {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tasks, hazards, lanes, .. } = self;
        write!(out, "{tasks} tasks, {hazards} hazards, {lanes} lanes; {}", time(self.wall_ns))?;
        write!(out, ", of which the lanes were busy {} %", percent(self.utilisation))?;
        if self.flops > 0.0 {
            write!(out, "; {:.2} GFLOP/s", self.rate_gflops)?;
        }
        writeln!(out)?;
        if self.tasks_not_completed > 0 {
            writeln!(out, "{} tasks did not complete", self.tasks_not_completed)?;
        }
        if self.dropped > 0 {
            writeln!(out, "{} records were dropped: what follows is about a part of the run", self.dropped)?;
        }
        if self.hazards_lacking > 0 {
            writeln!(
                out,
                "{} hazards are lacking: chains of tasks may be longer than said here",
                self.hazards_lacking
            )?;
        }
        Ok(())
    }
}

/// So many of the longest gaps are listed where all analyses are shown.
const GAPS_IN_BRIEF: usize = 5;

/// A screen or two: what somebody wants to know who has just recorded a run.
impl fmt::Display for Analysis {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}", self.overview)?;
        writeln!(out, "{}", self.lanes.brief_table())?;
        writeln!(out, "{}", self.gaps)?;
        if !self.gaps.longest.is_empty() {
            writeln!(out, "{}", self.gaps.longest_table(GAPS_IN_BRIEF))?;
        }
        writeln!(out, "{}", self.kernels.brief_table())?;
        if self.links.moved_bytes() > 0 || !self.links.evictions.is_empty() {
            writeln!(out, "{}", self.links)?;
        }
        writeln!(out, "{}", self.path)?;
        writeln!(out, "{}", self.parallelism)?;
        writeln!(out, "{}", self.bounds)?;
        write!(out, "{}", self.what_ifs)
    }
}

/// A part of a whole, or one quantity per another; zero where there is no whole.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// A task as people name it: `gemm (4, 2, 0)`.
fn label(trace: &Trace, task: u32) -> String {
    let task = &trace.tasks[task as usize];
    let kernel = trace.kernels.get(task.kernel as usize).map_or("task", String::as_str);
    match task.index.as_slice() {
        [] => format!("{kernel} {}", task.id),
        _ => format!("{kernel} {}", task.index),
    }
}
