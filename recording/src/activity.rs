//! Activities on lanes other than tasks: transfers, evictions, stalls, waits for memory.

use super::{TaskId, named::named};

/// A memory node: index into [`Recording::nodes`](super::Recording::nodes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// An activity other than a task's body that took time on a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Activity {
    /// Its kind.
    pub kind: ActivityKind,
    /// Index into [`Recording::lanes`](super::Recording::lanes).
    pub lane: u32,
    /// Start, in nanoseconds since the recording's epoch.
    pub start_ns: u64,
    /// End, in nanoseconds since the recording's epoch; at least `start_ns`.
    pub end_ns: u64,
    /// The task that caused it, if there was one.
    pub task: Option<TaskId>,
    /// The number of the datum concerned, if there was one.
    pub datum: Option<u32>,
}

/// The kinds of activities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ActivityKind {
    /// A copy of data between two memory nodes.
    Transfer {
        /// The source node.
        from: NodeId,
        /// The destination node.
        to: NodeId,
        /// The bytes copied.
        bytes: u64,
    },
    /// A replica made room for another.
    Eviction {
        /// The node whose memory became free.
        node: NodeId,
        /// The bytes freed.
        bytes: u64,
    },
    /// The lane could not continue.
    Stall(Stall),
    /// A wait for memory.
    Allocation {
        /// The node whose memory was full.
        node: NodeId,
        /// The bytes requested.
        bytes: u64,
    },
}

/// The reason of a stall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stall {
    /// Data were being moved.
    Data,
    /// The window was full: no more tasks were allowed in flight, and the inserting thread found none to run meanwhile.
    WindowFull,
    /// A memory node was full.
    MemoryFull,
}

named!(Stall { Data = "data", WindowFull = "window full", MemoryFull = "memory full" });

impl ActivityKind {
    /// Returns the category in a trace.
    pub const fn category(self) -> &'static str {
        match self {
            Self::Transfer { .. } => "transfer",
            Self::Eviction { .. } => "eviction",
            Self::Stall(_) => "stall",
            Self::Allocation { .. } => "allocation",
        }
    }

    /// Returns the name in a trace. `nodes` holds the names of the memory nodes.
    pub(super) fn label(self, nodes: &[String]) -> String {
        match self {
            Self::Transfer { from, to, .. } => format!("{} to {}", node_name(from, nodes), node_name(to, nodes)),
            Self::Eviction { node, .. } | Self::Allocation { node, .. } => node_name(node, nodes).to_owned(),
            Self::Stall(reason) => reason.name().to_owned(),
        }
    }
}

/// Returns the node's name, or a generic name if the recording does not name it.
pub(super) fn node_name(node: NodeId, nodes: &[String]) -> &str {
    nodes.get(node.0 as usize).map_or("memory node", String::as_str)
}
