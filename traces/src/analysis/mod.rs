//! Where the time of a run went, and what could be gained.
//!
//! | module | question |
//! |---|---|
//! | [`lanes`] | how long was each lane busy, waiting only for data, or idle for other reasons? |
//! | [`kernels`] | which kernels took the time, how fast were they, and how evenly? |
//! | [`links`] | what was moved between memory nodes, and how fast? |
//! | [`plans`] | what was predicted for planned operations, and what happened? |
//! | [`gaps`] | why was a lane idle, and which task ended the gap? |
//! | [`path`] | which chain of tasks limits the run with any number of workers? |
//! | [`parallelism`] | how many workers could the task graph keep busy? |
//! | [`bounds`] | how long must the run take at least, and how close did it come? |
//! | [`replay`] | how long would it take with other workers or faster kernels? |
//! | [`comparison`] | what became slower from one run to another? |
//!
//! Each analysis is a plain value: public fields, tables by `Display`, JSON by `serde`. Times are nanoseconds; tasks
//! and lanes are indices into [`Trace::tasks`] and [`Trace::lanes`]. No analysis fails: results that need data missing
//! from the trace are left out. Apart from sorting, every analysis takes time linear in the size of the trace.
//!
//! Impossible hazards (to a missing task, from a task to itself, on a cycle) are ignored.

pub mod bounds;
pub mod comparison;
pub mod gaps;
pub mod kernels;
pub mod lanes;
pub mod links;
pub mod parallelism;
pub mod path;
pub mod plans;
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
use plans::Plans;
use replay::{Replay, WhatIfs};
use serde::Serialize;
use std::fmt;
use table::{percent, plural, time};

/// All analyses of one run.
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
    /// The time and rate of each kernel.
    pub kernels: Kernels,
    /// The transfers between memory nodes.
    pub links: Links,
    /// What was predicted for planned operations, and what happened.
    pub plans: Plans,
    /// When and why lanes were idle.
    pub gaps: Gaps,
    /// The critical path.
    pub path: Path,
    /// How many tasks could have run at the same time.
    pub parallelism: Parallelism,
    /// Lower bounds of the makespan.
    pub bounds: Bounds,
    /// Predictions for other workers and faster kernels.
    pub what_ifs: WhatIfs,
}

/// The run in a few numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overview {
    /// The makespan: [`Trace::wall_ns`].
    pub wall_ns: u64,
    /// Tasks that ended: completed, failed, panicked or cancelled.
    pub tasks: usize,
    /// How many of these did not complete.
    pub tasks_not_completed: usize,
    /// Pairs of tasks with a hazard.
    pub hazards: usize,
    /// Lanes on which tasks can run: workers and queues.
    pub lanes: usize,
    /// Time in tasks, summed over all lanes.
    pub work_ns: u64,
    /// The fraction of the lanes' time that was spent in tasks, 0 to 1.
    pub utilisation: f64,
    /// Declared floating-point operations of the completed tasks.
    pub flops: f64,
    /// `flops` per nanosecond of the makespan, which is GFLOP/s.
    pub rate_gflops: f64,
    /// Records that the recorder dropped for lack of room. If there are any, all results cover only a part of the run.
    pub dropped: u64,
    /// Hazards that are missing from the file or were ignored because they are impossible.
    pub hazards_lacking: u64,
}

impl Analysis {
    /// Analyses a run.
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
            plans: Plans::new(trace),
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

/// Writes two or three lines.
impl fmt::Display for Overview {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tasks, hazards, lanes, .. } = self;
        let (tasks, lanes) = (plural(*tasks, "task"), plural(*lanes, "lane"));
        write!(out, "{tasks}, {} with hazards, {lanes}; {}", plural(*hazards, "pair"), time(self.wall_ns))?;
        write!(out, ", of which the lanes were busy {} %", percent(self.utilisation))?;
        if self.flops > 0.0 {
            write!(out, "; {:.2} GFLOP/s", self.rate_gflops)?;
        }
        writeln!(out)?;
        if self.tasks_not_completed > 0 {
            writeln!(out, "{} did not complete", plural(self.tasks_not_completed, "task"))?;
        }
        if self.dropped > 0 {
            writeln!(out, "{} records were dropped: the results cover only a part of the run", self.dropped)?;
        }
        if self.hazards_lacking > 0 {
            let missing = self.hazards_lacking;
            writeln!(out, "{missing} hazards are missing: chains of tasks may be longer than shown here")?;
        }
        Ok(())
    }
}

/// The number of gaps that the brief summary lists.
const GAPS_IN_BRIEF: usize = 5;

/// Writes the brief summary of all analyses, one or two screens.
impl fmt::Display for Analysis {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.overview.tasks == 0 {
            return write!(out, "{}no task was recorded", self.overview);
        }
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
        if !self.plans.rows.is_empty() {
            writeln!(out, "{}", self.plans)?;
        }
        writeln!(out, "{}", self.path)?;
        writeln!(out, "{}", self.parallelism)?;
        writeln!(out, "{}", self.bounds)?;
        write!(out, "{}", self.what_ifs)
    }
}

/// Returns `part / whole`, or zero if `whole` is zero.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Returns the display name of a task: `gemm (4, 2, 0)`.
fn label(trace: &Trace, task: u32) -> String {
    let task = &trace.tasks[task as usize];
    let kernel = trace.kernels.get(task.kernel as usize).map_or("task", String::as_str);
    match task.index.as_slice() {
        [] => format!("{kernel} {}", task.id),
        _ => format!("{kernel} {}", task.index),
    }
}
