//! What was moved between memory nodes, and what was evicted from them.

use serde::Serialize;

/// The traffic of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Links {
    /// One row for each pair of memory nodes between which data moved, the one with the most bytes first.
    pub rows: Vec<Link>,
    /// One row for each memory node that evicted, the one with the most bytes first.
    pub evictions: Vec<Evictions>,
}

/// The transfers from one memory node to another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Link {
    /// Where from; empty if the trace does not say.
    pub from: String,
    /// Where to; the name of the transfer if the trace does not say between which nodes it was.
    pub to: String,
    /// How many.
    pub transfers: usize,
    /// Bytes moved.
    pub bytes: u64,
    /// The time that at least one of them was under way.
    pub time_ns: u64,
    /// Bytes per nanosecond of that time, which is GB/s; zero if they took none.
    pub rate_gb_s: f64,
}

/// The replicas that one memory node gave up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evictions {
    /// The node.
    pub node: String,
    /// How many.
    pub evictions: usize,
    /// Bytes freed.
    pub bytes: u64,
    /// The time that at least one of them was under way.
    pub time_ns: u64,
}
