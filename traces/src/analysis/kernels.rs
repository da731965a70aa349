//! What each kernel took: its tasks' count, time, rate and spread.

use serde::Serialize;

/// The kernels, the one with the most time first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Kernels {
    /// One row for each kernel that has tasks.
    pub rows: Vec<KernelTime>,
}

/// The tasks of one kernel.
///
/// The time of a task is its own: what tasks nested in it took is theirs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelTime {
    /// Its place in [`Trace::kernels`](crate::Trace::kernels).
    pub kernel: u32,
    /// Its name.
    pub name: String,
    /// Its tasks.
    pub tasks: usize,
    /// How they ended.
    pub outcomes: Outcomes,
    /// The time of all of them.
    pub total_ns: u64,
    /// The part of the time of all tasks of the run, 0 to 1.
    pub share: f64,
    /// The time of a task, over those that ran.
    pub length_ns: Spread,
    /// Operations declared by its completed tasks.
    pub flops: f64,
    /// The rate of all its completed tasks together, if operations were declared.
    pub rate_gflops: Option<f64>,
    /// The rate of a completed task.
    pub task_rate_gflops: Option<Spread>,
    /// Bytes that its tasks read and write, as declared.
    pub bytes: f64,
    /// The task that took longest: into [`Trace::tasks`](crate::Trace::tasks).
    pub slowest: Option<u32>,
    /// That task, as people name it: `gemm (4, 2, 0)`.
    pub slowest_label: String,
}

/// How the tasks of a kernel ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Outcomes {
    /// Their bodies returned successfully.
    pub completed: usize,
    /// Their bodies returned an error.
    pub failed: usize,
    /// Their bodies panicked.
    pub panicked: usize,
    /// Their bodies never ran.
    pub cancelled: usize,
}

/// How a quantity is distributed: the least, the quartiles and the greatest. Zeros for no values.
///
/// Quartiles are by nearest rank: each is one of the values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Spread {
    /// The least.
    pub min: f64,
    /// A quarter of the values are not above it.
    pub lower: f64,
    /// Half of the values are not above it.
    pub median: f64,
    /// Three quarters of the values are not above it.
    pub upper: f64,
    /// The greatest.
    pub max: f64,
}
