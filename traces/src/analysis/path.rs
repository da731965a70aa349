//! The critical path: the chain of tasks, each waiting for the one before, that took longest.

use serde::Serialize;

/// The critical path by recorded times: no number of workers makes the run shorter while its tasks take what they took.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Path {
    /// The time of its tasks.
    pub length_ns: u64,
    /// The part of the makespan, 0 to 1.
    pub share: f64,
    /// Its tasks, first to last: into [`Trace::tasks`](crate::Trace::tasks).
    pub tasks: Vec<u32>,
    /// What each kernel has on it, the most time first.
    pub blame: Vec<Blame>,
    /// The time between consecutive tasks of the path in the run: what its tasks waited although they were next.
    pub waited_ns: u64,
}

/// What one kernel has on the critical path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Blame {
    /// Its place in [`Trace::kernels`](crate::Trace::kernels).
    pub kernel: u32,
    /// Its name.
    pub name: String,
    /// Its tasks on the path.
    pub tasks: usize,
    /// Their time.
    pub time_ns: u64,
    /// The part of the path, 0 to 1.
    pub share: f64,
}
