//! One run, as read from a file: lanes, tasks, hazards, other activities, plans and counters.
//!
//! Objects refer to each other by index: each name is stored once, and a task holds the indices of its kernel, site and
//! lane. Times are nanoseconds on the file's clock. Values missing from the file are `None`, zero or empty; each
//! analysis documents what it needs.

use superscalar_recording::{Hazard, Lane, Outcome, TileIndex};

/// A run. Built by a reader, or by hand in tests and simulations.
///
/// ```
/// use superscalar_traces::Trace;
/// assert_eq!(Trace::default().wall_ns(), 0);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// The lanes, in display order.
    pub lanes: Vec<Lane>,
    /// Names of kernels, each stored once. Tasks of one operation share a kernel.
    pub kernels: Vec<String>,
    /// The program lines that inserted tasks, as `file:line`, each stored once.
    pub sites: Vec<String>,
    /// Names of activities, counters' sources and memory nodes, each stored once.
    pub names: Vec<String>,
    /// Every task that ran, failed or was cancelled, sorted by `start_ns`, then by `id`.
    pub tasks: Vec<Task>,
    /// Hazards between tasks of `tasks`, sorted by `(to, from)`. A pair of tasks may have several.
    pub hazards: Vec<HazardEdge>,
    /// Transfers, evictions, stalls, allocation waits and spans of host threads, sorted by `start_ns`.
    pub activities: Vec<Activity>,
    /// What was predicted for planned operations, sorted by `start_ns`. Their slices are also activities.
    pub plans: Vec<Plan>,
    /// Counters, in file order.
    pub counters: Vec<Counter>,
    /// The other entries of the file's metadata (`otherData`), in file order.
    pub facts: Vec<(String, String)>,
    /// The most tasks that were allowed in flight, if the file contains it.
    pub window: Option<u64>,
    /// The number of records that the recorder dropped for lack of room.
    pub dropped: u64,
    /// The number of hazards that are missing from the file.
    pub hazards_left_out: u64,
}

impl Trace {
    /// Returns the earliest start and the latest end of all tasks and activities except host spans; `(0, 0)` if there
    /// are none.
    pub fn extent_ns(&self) -> (u64, u64) {
        let tasks = self.tasks.iter().map(|task| (task.start_ns, task.end_ns));
        let others = self.activities.iter().filter(|activity| activity.kind != ActivityKind::Host);
        let others = others.map(|activity| (activity.start_ns, activity.end_ns));
        tasks.chain(others).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0, 0))
    }

    /// Returns the makespan: the length of [`extent_ns`](Self::extent_ns).
    pub fn wall_ns(&self) -> u64 {
        let (start_ns, end_ns) = self.extent_ns();
        end_ns - start_ns
    }
}

/// A task that ended: it completed, failed, panicked or was cancelled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Task {
    /// Its number in the order of insertion.
    pub id: u64,
    /// Index into [`Trace::kernels`].
    pub kernel: u32,
    /// Index into [`Trace::sites`], if the file contains the insertion site.
    pub site: Option<u32>,
    /// Index into [`Trace::lanes`].
    pub lane: u32,
    /// When its body began.
    pub start_ns: u64,
    /// When its body ended; at least `start_ns`.
    pub end_ns: u64,
    /// When it was inserted.
    pub inserted_ns: Option<u64>,
    /// Its priority; higher runs earlier.
    pub priority: i32,
    /// The tile that it works on.
    pub index: TileIndex,
    /// How it ended.
    pub outcome: Outcome,
    /// The BLAS level of its work, 1 to 3; 0 if none was declared.
    pub level: u8,
    /// Its declared floating-point operations; zero if none were declared.
    pub flops: f64,
    /// Its declared bytes read and written; zero if none were declared.
    pub bytes: f64,
}

impl Task {
    /// Returns how long its body ran.
    pub fn length_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }
}

/// A hazard between two tasks: the later one waits for the earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HazardEdge {
    /// The earlier task: index into [`Trace::tasks`].
    pub from: u32,
    /// The later task: index into [`Trace::tasks`].
    pub to: u32,
    /// The kind of hazard.
    pub kind: Hazard,
    /// The number of the datum that both access, or 0.
    pub datum: u32,
}

/// An activity other than a task that took time on a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Activity {
    /// Its kind.
    pub kind: ActivityKind,
    /// Its name: index into [`Trace::names`].
    pub name: u32,
    /// Its lane: index into [`Trace::lanes`].
    pub lane: u32,
    /// When it began.
    pub start_ns: u64,
    /// When it ended; at least `start_ns`.
    pub end_ns: u64,
    /// Bytes moved, evicted or requested; 0 for the other kinds.
    pub bytes: u64,
    /// The source and destination memory nodes of a transfer: indices into [`Trace::names`].
    pub link: Option<(u32, u32)>,
    /// The [`Task::id`] of the task that caused it.
    pub task: Option<u64>,
}

/// The kinds of activities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ActivityKind {
    /// A copy of data between two memory nodes.
    Transfer,
    /// An eviction: a replica made room for another.
    Eviction,
    /// A stall; its name is that of a [`Stall`](superscalar_recording::Stall).
    Stall,
    /// A wait for device memory.
    Allocation,
    /// A span of a host thread, or the slice of a plan.
    Host,
}

/// What was predicted for an operation before it ran.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Plan {
    /// The operation's name: index into [`Trace::names`].
    pub name: u32,
    /// The program line that inserted its tasks: index into [`Trace::sites`].
    pub site: Option<u32>,
    /// When the insertion of its tasks began.
    pub start_ns: u64,
    /// When the insertion of its tasks ended.
    pub inserted_ns: Option<u64>,
    /// How long it was predicted to take.
    pub predicted_ns: u64,
    /// The lengths of its tiles; empty if it has none.
    pub tile: Vec<u64>,
    /// The predicted bytes over each link. A link has the name of its transfers: index into [`Trace::names`].
    pub traffic: Vec<(u32, u64)>,
}

/// A quantity over time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counter {
    /// Its name, such as `ready tasks`.
    pub name: String,
    /// `(time in ns, value)`, in ascending order of time. A value holds until the next sample.
    pub samples: Vec<(u64, f64)>,
}
