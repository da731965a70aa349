//! The least time that the run needs, and how near it came to that.

use serde::Serialize;

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
    /// For the worst task, its insertion and the longest chain from it on; `None` if the trace does not say when tasks were inserted.
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
