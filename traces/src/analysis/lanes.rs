//! Where each lane's time went: in tasks, waiting for nothing but data on the move, or otherwise idle.

use super::gaps::ReasonTotal;
use crate::LaneKind;
use serde::Serialize;

/// The time of each lane that runs tasks, and of each group of lanes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lanes {
    /// The makespan, which the three parts of each row add up to.
    pub wall_ns: u64,
    /// One row for each worker and queue, in the order of the trace.
    pub rows: Vec<LaneTime>,
    /// One row for each process (`workers`, `cuda:0`) that has workers or queues: busy while any of its lanes is.
    pub processes: Vec<LaneTime>,
}

/// Where the time of one lane, or of the lanes of one process, went. `busy_ns + communication_ns + other_ns` is the makespan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LaneTime {
    /// The lane's place in the trace; for a process that of its first lane.
    pub lane: u32,
    /// The name of the lane or process.
    pub name: String,
    /// What it stands for.
    #[serde(serialize_with = "kind_name")]
    pub kind: LaneKind,
    /// Tasks that ran on it.
    pub tasks: usize,
    /// In tasks; nested ones counted once.
    pub busy_ns: u64,
    /// Not in a task, while data of its process moved or was evicted: communication that nothing hid.
    pub communication_ns: u64,
    /// Neither.
    pub other_ns: u64,
    /// Why it was not in a task, in the order of [`Reason::ALL`](super::gaps::Reason::ALL), without those that did not occur; they
    /// add up to `communication_ns + other_ns`. Empty for a process.
    pub idle: Vec<ReasonTotal>,
}

fn kind_name<S: serde::Serializer>(kind: &LaneKind, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(match kind {
        LaneKind::Worker => "worker",
        LaneKind::Queue => "queue",
        LaneKind::Link => "link",
        LaneKind::Host => "host",
    })
}
