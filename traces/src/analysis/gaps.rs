//! When a lane did nothing, why, and which task ended that.

use serde::Serialize;

/// The gaps of all workers and queues: the times at which they were in no task. On each lane they add up to what it was not busy.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Gaps {
    /// Every gap, by lane, then by time. Not in the JSON.
    #[serde(skip)]
    pub all: Vec<Gap>,
    /// The time of each reason over all lanes, the longest first, without those that did not occur.
    pub totals: Vec<ReasonTotal>,
    /// The time of all gaps.
    pub total_ns: u64,
    /// The longest gaps, the longest first: at most [`Gaps::LONGEST_MAX`].
    pub longest: Vec<LongGap>,
}

impl Gaps {
    /// So many gaps are listed.
    pub const LONGEST_MAX: usize = 100;
}

/// A time for which a lane was in no task, and for which one reason holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// Into [`Trace::lanes`](crate::Trace::lanes).
    pub lane: u32,
    /// When it began.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// Why.
    pub reason: Reason,
    /// The next task on the lane, into [`Trace::tasks`](crate::Trace::tasks); `None` after the last.
    pub ended_by: Option<u32>,
    /// The predecessor of `ended_by` that ended last, if it was that which made it ready (and not its insertion).
    pub released_by: Option<u32>,
}

/// Why a lane was in no task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The next task, and every other, waited for tasks on other lanes.
    NoReadyTask,
    /// Data were on their way to the lane.
    Data,
    /// So many tasks were in flight that the next could not be inserted.
    WindowFull,
    /// A device's memory had no room.
    MemoryFull,
    /// The program had not got to the next task.
    NotInserted,
    /// The lane's own thread was inserting.
    Inserting,
    /// There was a ready task, and the lane had not taken it: taking and finishing tasks, waking up, other programs on the core.
    Overhead,
    /// Before the first task of the run.
    Start,
    /// After the lane's last task.
    End,
}

/// The time of one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ReasonTotal {
    /// The reason.
    pub reason: Reason,
    /// How often.
    pub gaps: usize,
    /// How long together.
    pub time_ns: u64,
}

/// A gap with its names, for a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LongGap {
    /// The gap.
    #[serde(flatten)]
    pub gap: Gap,
    /// The lane's name.
    pub lane_name: String,
    /// The task that ended it, as people name it; empty if none did.
    pub ended_by_label: String,
    /// The task that made that one ready, as people name it; empty if none did.
    pub released_by_label: String,
}

impl Gap {
    /// How long it was.
    pub fn length_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }
}

impl Reason {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 9] = [
        Self::NoReadyTask,
        Self::Data,
        Self::WindowFull,
        Self::MemoryFull,
        Self::NotInserted,
        Self::Inserting,
        Self::Overhead,
        Self::Start,
        Self::End,
    ];

    /// As tables and the report name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoReadyTask => "no ready task",
            Self::Data => "waiting for data",
            Self::WindowFull => "window full",
            Self::MemoryFull => "memory full",
            Self::NotInserted => "not inserted yet",
            Self::Inserting => "inserting",
            Self::Overhead => "overhead",
            Self::Start => "start",
            Self::End => "end",
        }
    }
}
