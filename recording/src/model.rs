//! The data of a run: lanes, hazards, spans, counters. Tasks are in `task.rs`, other activities in `activity.rs`,
//! predictions in `plan.rs`.

use crate::{Activity, NodeId, PlanRecord, TaskId, TaskRecord, activity::node_name, named::named};

/// All records of one run.
///
/// The vectors are in no particular order, except that the index in `lanes` is the lane's id. Records may be
/// incomplete: a recorder with bounded memory drops the oldest ones and counts them in `dropped`. Readers must
/// therefore accept spans and hazards whose task has no record.
///
/// ```
/// # mod superscalar { pub use superscalar_recording as recording; }
/// use superscalar::recording::Recording;
/// let empty = Recording::default();
/// assert_eq!(empty.dropped, 0);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recording {
    /// The lanes; [`Span::lane`] is an index into them.
    pub lanes: Vec<Lane>,
    /// One record per inserted task.
    pub tasks: Vec<TaskRecord>,
    /// One record per hazard found at insertion; a pair of tasks may have several.
    pub hazards: Vec<HazardRecord>,
    /// When and where tasks ran.
    pub spans: Vec<Span>,
    /// Other activities that took time on lanes.
    pub activities: Vec<Activity>,
    /// What was predicted for planned operations.
    pub plans: Vec<PlanRecord>,
    /// The names of memory nodes, such as `host` or `cuda:0`; [`NodeId`] is an index into them.
    pub nodes: Vec<String>,
    /// Samples of the runtime's counters.
    pub counters: Vec<CounterSample>,
    /// The number of records dropped for lack of room.
    pub dropped: u64,
    /// The recording is complete for tasks inserted after this time, in nanoseconds since the epoch; all dropped
    /// records are older. Counters begin here. Zero if nothing was dropped.
    pub whole_from_ns: u64,
    /// The maximum number of tasks of one scope in flight, if known.
    pub window: Option<u64>,
    /// The number of workers, if known.
    pub workers: Option<u32>,
    /// The name of the scheduling policy, if known.
    pub policy: Option<String>,
    /// The runtime's notices at that time (`Runtime::notices`).
    pub notices: Vec<String>,
}

/// One row of the trace: a resource that runs one task after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// The row's name, such as `worker 3`.
    pub name: String,
    /// The kind of resource.
    pub kind: LaneKind,
    /// The group that contains the row, such as `workers` or `cuda:0`. Lanes with the same group become threads of one
    /// process in the trace.
    pub process: String,
}

impl Lane {
    /// Returns the name for display outside its group: a device's queue includes the device.
    #[must_use]
    pub fn full_name(&self) -> String {
        if self.kind == LaneKind::Queue { format!("{} {}", self.process, self.name) } else { self.name.clone() }
    }
}

/// The kinds of lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LaneKind {
    /// A host thread that runs task bodies.
    Worker,
    /// An in-order queue of a device.
    Queue,
    /// A link between memory nodes.
    Link,
    /// A host thread with its own spans, which runs no tasks; also the predictions of plans.
    Host,
}

named!(LaneKind { Worker = "worker", Queue = "queue", Link = "link", Host = "host" });

/// The kinds of hazards, named from the later access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hazard {
    /// Read after write: the later task needs the value.
    RaW,
    /// Write after read: the later task overwrites a value that the earlier one reads.
    WaR,
    /// Write after write: the later value must remain.
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
    /// The kind of hazard.
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
/// A cancelled task has a span of length zero at the time of its cancellation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// The task.
    pub task: TaskId,
    /// Index into [`Recording::lanes`].
    pub lane: u32,
    /// Start, in nanoseconds since the recording's epoch.
    pub start_ns: u64,
    /// End, in nanoseconds since the recording's epoch; at least `start_ns`.
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
    /// Bytes transferred over a link since the start of the recording.
    LinkBytes {
        /// The source node.
        from: NodeId,
        /// The destination node.
        to: NodeId,
    },
    /// Bytes in use in the memory of a node.
    NodeBytes(NodeId),
}

impl Counter {
    /// Returns the counter's name in a trace. `nodes` holds the names of the memory nodes.
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

/// The value of a counter at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CounterSample {
    /// The counter.
    pub counter: Counter,
    /// The time, in nanoseconds since the recording's epoch.
    pub at_ns: u64,
    /// The number of tasks or bytes.
    pub value: u64,
}
