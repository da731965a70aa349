//! What else takes time on a lane: transfers, evictions, waits.

use super::{TaskId, named::named};

/// A memory node, by its place in [`Recording::nodes`](super::Recording::nodes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Something other than a task's body that took time on a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Activity {
    /// What it was.
    pub kind: ActivityKind,
    /// Index into [`Recording::lanes`](super::Recording::lanes).
    pub lane: u32,
    /// Start, in nanoseconds since the recording's epoch.
    pub start_ns: u64,
    /// End, in nanoseconds since the recording's epoch; not before `start_ns`.
    pub end_ns: u64,
    /// The task that it was for, if it was for one.
    pub task: Option<TaskId>,
    /// The number of the datum that it was about, if it was about one.
    pub datum: Option<u32>,
}

/// What an activity was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ActivityKind {
    /// A copy of data between two memory nodes.
    Transfer {
        /// Where the data was.
        from: NodeId,
        /// Where it went.
        to: NodeId,
        /// How much it was.
        bytes: u64,
    },
    /// A replica made room for another.
    Eviction {
        /// Whose memory.
        node: NodeId,
        /// How much became free.
        bytes: u64,
    },
    /// The lane could not go on.
    Stall(Stall),
    /// A wait for memory.
    Allocation {
        /// Whose memory.
        node: NodeId,
        /// How much was asked for.
        bytes: u64,
    },
}

/// Why a lane could not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stall {
    /// Data were on their way.
    Data,
    /// As many tasks as allowed were in flight, and the inserting thread found none to run meanwhile.
    WindowFull,
    /// A memory node was full.
    MemoryFull,
}

named!(Stall { Data = "data", WindowFull = "window full", MemoryFull = "memory full" });

impl ActivityKind {
    /// The category, as it appears in a trace.
    pub const fn category(self) -> &'static str {
        match self {
            Self::Transfer { .. } => "transfer",
            Self::Eviction { .. } => "eviction",
            Self::Stall(_) => "stall",
            Self::Allocation { .. } => "allocation",
        }
    }

    /// The name, as it appears in a trace, given the names of the memory nodes.
    pub(super) fn label(self, nodes: &[String]) -> String {
        match self {
            Self::Transfer { from, to, .. } => format!("{} to {}", node_name(from, nodes), node_name(to, nodes)),
            Self::Eviction { node, .. } | Self::Allocation { node, .. } => node_name(node, nodes).to_owned(),
            Self::Stall(reason) => reason.name().to_owned(),
        }
    }
}

/// The node's name; for one that the recording does not name, only that it is one.
pub(super) fn node_name(node: NodeId, nodes: &[String]) -> &str {
    nodes.get(node.0 as usize).map_or("memory node", String::as_str)
}
