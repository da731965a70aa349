//! Two runs side by side: what became slower.

use super::gaps::Reason;
use serde::Serialize;

/// A run, `a`, and another, `b`. Differences and ratios are of `b` to `a`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The makespans.
    pub wall_ns: Pair,
    /// The time in tasks.
    pub work_ns: Pair,
    /// The critical paths.
    pub path_ns: Pair,
    /// Bytes moved between memory nodes.
    pub moved_bytes: Pair,
    /// Lanes that run tasks.
    pub lanes: Pair,
    /// Tasks.
    pub tasks: Pair,
    /// Each kernel of either, the one that became slowest first.
    pub kernels: Vec<KernelPair>,
    /// Each reason for idleness in either, the one that grew most first.
    pub idle: Vec<IdlePair>,
    /// What makes up the difference of lanes' time (in tasks by kernel, idle by reason), the greatest growth first.
    pub causes: Vec<Cause>,
}

/// One quantity in both runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Pair {
    /// In the first.
    pub a: f64,
    /// In the second.
    pub b: f64,
}

/// One kernel in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelPair {
    /// Its name.
    pub name: String,
    /// Its tasks.
    pub tasks: Pair,
    /// Their time.
    pub total_ns: Pair,
    /// The median of a task's time.
    pub median_ns: Pair,
}

/// One reason in both runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct IdlePair {
    /// The reason.
    pub reason: Reason,
    /// The time of lanes that it took.
    pub time_ns: Pair,
}

/// Something that took more, or less, of the lanes' time in the second run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cause {
    /// A kernel, or a reason for idleness.
    pub name: String,
    /// By how much its time grew.
    pub growth_ns: f64,
}
