//! One run as it was read from a file: lanes, tasks, hazards, other activities and counters.
//!
//! Everything is indexed by place: names are kept once each, and a task names its kernel, its site and its lane by number. Times
//! are nanoseconds on the file's clock. What a file does not say is `None`, zero or empty; analyses say what they need.

use superscalar_recording::{Hazard, Lane, Outcome, TileIndex};

/// A run. Built by a reader, or by hand in tests and simulations.
///
/// ```
/// use superscalar_traces::Trace;
/// assert_eq!(Trace::default().wall_ns(), 0);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// Where things happened, in the order of display.
    pub lanes: Vec<Lane>,
    /// Names of kernels, each once: what tasks of one operation have in common.
    pub kernels: Vec<String>,
    /// The lines of the program that inserted tasks, as `file:line`, each once.
    pub sites: Vec<String>,
    /// Names of activities, counters' sources and memory nodes, each once.
    pub names: Vec<String>,
    /// One for each task that ran, failed or was cancelled, by `start_ns`, then by `id`.
    pub tasks: Vec<Task>,
    /// Hazards between tasks of `tasks`, by `(to, from)`; a pair may have several.
    pub hazards: Vec<HazardEdge>,
    /// Transfers, evictions, stalls, allocation waits and spans of the host, by `start_ns`.
    pub activities: Vec<Activity>,
    /// Counters, in the order of the file.
    pub counters: Vec<Counter>,
    /// What else the file says of itself, in its order.
    pub facts: Vec<(String, String)>,
    /// The most tasks that were allowed in flight, if the file says it.
    pub window: Option<u64>,
    /// Records for which the recorder had no room.
    pub dropped: u64,
    /// Hazards that the file says it could not draw.
    pub hazards_left_out: u64,
}

impl Trace {
    /// The earliest start and the latest end of a task or an activity other than a host's span; zeros for none.
    pub fn extent_ns(&self) -> (u64, u64) {
        let tasks = self.tasks.iter().map(|task| (task.start_ns, task.end_ns));
        let others = self.activities.iter().filter(|activity| activity.kind != ActivityKind::Host);
        let others = others.map(|activity| (activity.start_ns, activity.end_ns));
        tasks.chain(others).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0, 0))
    }

    /// The makespan: the length of [`extent_ns`](Self::extent_ns).
    pub fn wall_ns(&self) -> u64 {
        let (start_ns, end_ns) = self.extent_ns();
        end_ns - start_ns
    }
}

/// A task that ended, one way or another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Task {
    /// Its number in the serial program.
    pub id: u64,
    /// Into [`Trace::kernels`].
    pub kernel: u32,
    /// Into [`Trace::sites`], if the file says where it was inserted.
    pub site: Option<u32>,
    /// Into [`Trace::lanes`].
    pub lane: u32,
    /// When its body began.
    pub start_ns: u64,
    /// When its body ended; not before `start_ns`.
    pub end_ns: u64,
    /// When it was inserted.
    pub inserted_ns: Option<u64>,
    /// Its priority; higher runs earlier.
    pub priority: i32,
    /// Which tile it works on.
    pub index: TileIndex,
    /// How it ended.
    pub outcome: Outcome,
    /// The BLAS level of its work, 1 to 3, or 0 where none was declared.
    pub level: u8,
    /// Floating-point operations declared for it; zero where none were.
    pub flops: f64,
    /// Bytes that it reads and writes, as declared; zero where none were.
    pub bytes: f64,
}

impl Task {
    /// How long its body ran.
    pub fn length_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }
}

/// A pair of tasks of which one had to wait for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HazardEdge {
    /// The earlier task: into [`Trace::tasks`].
    pub from: u32,
    /// The later one: into [`Trace::tasks`].
    pub to: u32,
    /// Which of the three.
    pub kind: Hazard,
    /// The number of the datum that both access, or 0.
    pub datum: u32,
}

/// Something other than a task that took time on a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Activity {
    /// What it was.
    pub kind: ActivityKind,
    /// Into [`Trace::names`].
    pub name: u32,
    /// Into [`Trace::lanes`].
    pub lane: u32,
    /// When it began.
    pub start_ns: u64,
    /// When it ended; not before `start_ns`.
    pub end_ns: u64,
    /// Bytes moved, evicted or asked for; 0 for the others.
    pub bytes: u64,
    /// The memory nodes it went between, into [`Trace::names`]: for transfers.
    pub link: Option<(u32, u32)>,
    /// The task that it was for: its [`Task::id`].
    pub task: Option<u64>,
}

/// What an activity was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ActivityKind {
    /// A copy of data between two memory nodes.
    Transfer,
    /// A replica made room for another.
    Eviction,
    /// A lane could not go on; the name is that of a [`Stall`](superscalar_recording::Stall).
    Stall,
    /// A wait for memory of a device.
    Allocation,
    /// A span of a host thread.
    Host,
}

/// A quantity over time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counter {
    /// Its name, such as `ready tasks`.
    pub name: String,
    /// `(moment in ns, value)`, in time; each holds until the next.
    pub samples: Vec<(u64, f64)>,
}
