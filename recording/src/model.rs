//! The data of a run: lanes, hazards, spans, counters. Tasks are in `task.rs`, other activities in `activity.rs`.

use crate::{Activity, NodeId, TaskId, TaskRecord, activity::node_name, named::named};

/// Everything one run left behind.
///
/// The vectors are in no particular order except `lanes`, whose index is the lane's id. Records
/// may be incomplete: a recorder with bounded memory drops the oldest to make room and counts them in
/// `dropped`, so every reader here copes with a span or a hazard whose task has no record.
///
/// ```
/// use superscalar::recording::Recording;
/// let empty = Recording::default();
/// assert_eq!(empty.dropped, 0);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recording {
    /// Where tasks ran; [`Span::lane`] indexes it.
    pub lanes: Vec<Lane>,
    /// One record per inserted task.
    pub tasks: Vec<TaskRecord>,
    /// One record per hazard found at insertion; a pair of tasks may have several.
    pub hazards: Vec<HazardRecord>,
    /// When and where tasks ran.
    pub spans: Vec<Span>,
    /// What else took time on lanes.
    pub activities: Vec<Activity>,
    /// The names of memory nodes, such as `host` or `cuda:0`; [`NodeId`] indexes it.
    pub nodes: Vec<String>,
    /// Samples of the runtime's counters.
    pub counters: Vec<CounterSample>,
    /// How many records the recorder had no room for.
    pub dropped: u64,
    /// The recording is whole for tasks inserted after this moment, in nanoseconds since the epoch: what was dropped
    /// is older. Counters begin here. Zero where nothing was dropped.
    pub whole_from_ns: u64,
    /// The most tasks of one scope that were allowed in flight, if that is known.
    pub window: Option<u64>,
    /// How many workers there were, if that is known.
    pub workers: Option<u32>,
    /// The name of the policy that ran the tasks, if that is known.
    pub policy: Option<String>,
    /// What the runtime had to say by then: its `Runtime::notices`.
    pub notices: Vec<String>,
}

/// One row of the trace: something that runs one task after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// The row's name, such as `worker 3`.
    pub name: String,
    /// What kind of executor it is.
    pub kind: LaneKind,
    /// The group that the row is shown under, such as `workers` or `cuda:0`. Lanes with equal
    /// groups become threads of one process of the trace.
    pub process: String,
}

impl Lane {
    /// Its name, for where it stands without its group: a device's queue with the device.
    #[must_use]
    pub fn full_name(&self) -> String {
        if self.kind == LaneKind::Queue { format!("{} {}", self.process, self.name) } else { self.name.clone() }
    }
}

/// What a lane stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LaneKind {
    /// A thread of the host that runs task bodies.
    Worker,
    /// An in-order queue of a device.
    Queue,
    /// A link between memory nodes.
    Link,
    /// A thread of the host with spans of its own, which runs no tasks.
    Host,
}

named!(LaneKind { Worker = "worker", Queue = "queue", Link = "link", Host = "host" });

/// Why one task had to wait for another, named from the later access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hazard {
    /// Read after write: the later task needs the value.
    RaW,
    /// Write after read: the later task overwrites what the earlier one still reads.
    WaR,
    /// Write after write: the later value must be the one that stays.
    WaW,
}

named!(Hazard { RaW = "RaW", WaR = "WaR", WaW = "WaW" });

/// A hazard from an earlier task to a later one over one datum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HazardRecord {
    /// The earlier task, which must finish first.
    pub from: TaskId,
    /// The later task, which waits.
    pub to: TaskId,
    /// Which of the three hazards it is.
    pub hazard: Hazard,
    /// The number of the datum that both tasks access.
    pub datum: u32,
}

/// How the run of a task ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The body returned successfully.
    #[default]
    Completed,
    /// The body returned an error.
    Failed,
    /// The body panicked.
    Panicked,
    /// The body never ran: a predecessor failed, or the scope was cancelled.
    Cancelled,
}

named!(Outcome { Completed = "completed", Failed = "failed", Panicked = "panicked", Cancelled = "cancelled" });

/// The time that a task spent on a lane.
///
/// A cancelled task has a span of length zero, at the moment it was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// The task.
    pub task: TaskId,
    /// Index into [`Recording::lanes`].
    pub lane: u32,
    /// Start, in nanoseconds since the recording's epoch.
    pub start_ns: u64,
    /// End, in nanoseconds since the recording's epoch; not before `start_ns`.
    pub end_ns: u64,
    /// How it ended.
    pub outcome: Outcome,
}

/// A quantity of the runtime that is sampled over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Counter {
    /// Tasks whose predecessors are all done and that no worker has taken yet.
    ReadyTasks,
    /// Tasks inserted and not yet retired.
    WindowTasks,
    /// Bytes that have gone over a link since the start of the recording.
    LinkBytes {
        /// Where they were.
        from: NodeId,
        /// Where they went.
        to: NodeId,
    },
    /// Bytes in use in the memory of a node.
    NodeBytes(NodeId),
}

impl Counter {
    /// The counter's name, as it appears in a trace, given the names of the memory nodes.
    pub fn name(self, nodes: &[String]) -> String {
        match self {
            Self::ReadyTasks => "ready tasks".to_owned(),
            Self::WindowTasks => "window tasks".to_owned(),
            Self::LinkBytes { from, to } => {
                format!("bytes {} to {}", node_name(from, nodes), node_name(to, nodes))
            }
            Self::NodeBytes(node) => format!("bytes in {}", node_name(node, nodes)),
        }
    }
}

/// The value of a counter at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CounterSample {
    /// Which counter.
    pub counter: Counter,
    /// When, in nanoseconds since the recording's epoch.
    pub at_ns: u64,
    /// How many tasks, or bytes.
    pub value: u64,
}
