//! How many workers the graph of tasks could keep busy, and how many were.

use serde::Serialize;

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
