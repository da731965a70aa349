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
//! [`Trace::tasks`](crate::Trace::tasks) and [`Trace::lanes`](crate::Trace::lanes). Nothing here fails: what a trace does not say is left out of the answer. Every analysis
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

use bounds::Bounds;
use gaps::Gaps;
use kernels::Kernels;
use lanes::Lanes;
use links::Links;
use parallelism::Parallelism;
use path::Path;
use replay::WhatIfs;
use serde::Serialize;

/// All of the analyses of one run: `Analysis::new(&trace)`.
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
    /// The makespan: [`Trace::wall_ns`](crate::Trace::wall_ns).
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
