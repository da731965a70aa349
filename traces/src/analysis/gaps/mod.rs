//! When a lane was idle, why, and which task ended the gap.
//!
//! A **gap** is a time between two tasks of a worker or a queue, before its first task or after its last. It is split
//! where its reason changes. The reason of each piece is decided as follows, where *T* is the next task on the lane;
//! *T* is ready when its last predecessor has ended and it has been inserted:
//!
//! 1. Before the first task of the run: [`Start`](Reason::Start). After the lane's last task: [`End`](Reason::End). On
//!    the lane whose thread inserts tasks, `End` applies only from the last insertion on; until then, rules 2 and 3
//!    apply.
//! 2. During a recorded stall or allocation wait of the lane, or a transfer or allocation wait for *T*: the recorded
//!    reason, [`Data`](Reason::Data), [`WindowFull`](Reason::WindowFull) or [`MemoryFull`](Reason::MemoryFull).
//! 3. On the lane whose thread inserts tasks, up to the last insertion within the gap:
//!    [`Inserting`](Reason::Inserting). If the window was full when the gap began, only from the moment on when it was
//!    no longer full.
//! 4. If *T* was ready for at least half of the remaining time: [`Overhead`](Reason::Overhead).
//! 5. If other tasks were ready for at least half of the time until *T* was ready: also [`Overhead`](Reason::Overhead),
//!    because the lane could have run those. This rule uses the counter of ready tasks, and only where all lanes are
//!    equivalent.
//! 6. If *T* waited for its insertion last: [`WindowFull`](Reason::WindowFull) if the window was full for at least half
//!    of that time, otherwise [`NotInserted`](Reason::NotInserted).
//! 7. Otherwise *T* waited for a predecessor: [`NoReadyTask`](Reason::NoReadyTask).
//!
//! Adjacent pieces with the same reason are merged. A task of zero length, such as a cancelled one, ends no gap.

mod causes;

use super::{
    insertion::Insertions,
    intervals, label,
    occupancy::Occupancy,
    table::{TextTable, ms, percent},
};
use crate::{Trace, graph::Graph};
use causes::Causes;
use serde::Serialize;
use std::{cmp::Reverse, fmt};

/// The gaps of all workers and queues: the times when they ran no task. The gaps of a lane add up to its idle time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Gaps {
    /// Every gap, sorted by lane, then by time. Not in the JSON.
    #[serde(skip)]
    pub all: Vec<Gap>,
    /// The time of each reason over all lanes, the longest first. Reasons that did not occur are left out.
    pub totals: Vec<ReasonTotal>,
    /// The total time of all gaps.
    pub total_ns: u64,
    /// When the run began. Tables show times relative to it.
    pub start_ns: u64,
    /// The longest gaps in descending order, at most [`Gaps::LONGEST_MAX`].
    pub longest: Vec<LongGap>,
}

impl Gaps {
    /// The maximum number of gaps in `longest`.
    pub const LONGEST_MAX: usize = 100;
}

/// A time during which a lane ran no task, with one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// The lane: index into [`Trace::lanes`](crate::Trace::lanes).
    pub lane: u32,
    /// When it began.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// Why the lane was idle.
    pub reason: Reason,
    /// The next task on the lane: index into [`Trace::tasks`](crate::Trace::tasks). `None` after the last.
    pub ended_by: Option<u32>,
    /// The predecessor of `ended_by` that ended last. `None` if `ended_by` became ready by its insertion.
    pub released_by: Option<u32>,
}

/// Why a lane ran no task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The next task, and every other inserted task, waited for tasks on other lanes.
    NoReadyTask,
    /// Data were being moved to the lane.
    Data,
    /// The window was full: the limit of tasks in flight kept the next task from being inserted.
    WindowFull,
    /// A device's memory had no room.
    MemoryFull,
    /// The program had not inserted the next task yet.
    NotInserted,
    /// The lane's own thread was running the program: inserting tasks, or between insertions.
    Inserting,
    /// A task was ready, but the lane had not taken it yet: time to take and finish tasks, to wake up, or time of other
    /// programs on the core.
    Overhead,
    /// Before the first task of the run.
    Start,
    /// After the last task of the lane.
    End,
}

/// The total time of one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ReasonTotal {
    /// The reason.
    pub reason: Reason,
    /// The number of gaps.
    pub gaps: usize,
    /// The total time of these gaps.
    pub time_ns: u64,
}

/// A gap with the names of its lane and tasks, for display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LongGap {
    /// The gap.
    #[serde(flatten)]
    pub gap: Gap,
    /// The lane's name.
    pub lane_name: String,
    /// The display name of the task that ended it; empty if there is none.
    pub ended_by_label: String,
    /// The display name of the task that made that one ready; empty if there is none.
    pub released_by_label: String,
}

impl Gaps {
    pub(super) fn new(trace: &Trace, occupancy: &Occupancy, graph: &Graph, insertions: &Insertions) -> Self {
        let causes = Causes::new(trace, occupancy, graph, insertions);
        let mut all = Vec::new();
        for (place, row) in occupancy.rows.iter().enumerate() {
            causes.gaps_of(row, insertions.row == Some(place), &mut all);
        }
        let mut totals = totals(&all);
        totals.sort_by_key(|total| Reverse(total.time_ns));
        let total_ns = intervals::sum(totals.iter().map(|total| total.time_ns));
        let longest = longest(trace, &all);
        Self { all, totals, total_ns, start_ns: trace.extent_ns().0, longest }
    }

    /// Returns the gaps of one lane.
    pub fn of_lane(&self, lane: u32) -> &[Gap] {
        let start = self.all.partition_point(|gap| gap.lane < lane);
        let end = self.all.partition_point(|gap| gap.lane <= lane);
        &self.all[start..end]
    }

    /// Returns the total time of a reason in nanoseconds.
    pub fn time_ns(&self, reason: Reason) -> u64 {
        self.totals.iter().find(|total| total.reason == reason).map_or(0, |total| total.time_ns)
    }

    /// Returns a table of the `count` longest gaps.
    pub fn longest_table(&self, count: usize) -> impl fmt::Display {
        let mut table = TextTable::titled(
            "Longest idle times",
            &["lane", "from ms", "length ms", "reason<", "ended by<", "made ready by<"],
        );
        for long in self.longest.iter().take(count) {
            let gap = &long.gap;
            table.row([
                long.lane_name.clone(),
                ms(gap.start_ns.saturating_sub(self.start_ns)),
                ms(gap.length_ns()),
                gap.reason.name().to_owned(),
                long.ended_by_label.clone(),
                long.released_by_label.clone(),
            ]);
        }
        table
    }
}

/// Writes a table of the reasons with their times, and a legend that explains them.
impl fmt::Display for Gaps {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table =
            TextTable::titled("Idle time by reason, all lanes (%: of the idle time)", &["reason", "ms", "%", "gaps"]);
        for total in &self.totals {
            let share = super::ratio(total.time_ns as f64, self.total_ns as f64);
            let name = total.reason.name().to_owned();
            table.row([name, ms(total.time_ns), percent(share), total.gaps.to_string()]);
        }
        table.fmt(out)?;
        out.write_str(&legend(self.totals.iter().map(|total| total.reason)))
    }
}

/// Explains reasons, one line each.
pub(super) fn legend(reasons: impl IntoIterator<Item = Reason>) -> String {
    reasons.into_iter().map(|reason| format!("    {}: {}\n", reason.name(), reason.explanation())).collect()
}

/// Returns the total time of each reason that occurs, in the order of [`Reason::ALL`].
pub(super) fn totals(gaps: &[Gap]) -> Vec<ReasonTotal> {
    let mut totals = Reason::ALL.map(|reason| ReasonTotal { reason, gaps: 0, time_ns: 0 });
    for gap in gaps {
        let total = &mut totals[gap.reason as usize];
        total.gaps += 1;
        total.time_ns = total.time_ns.saturating_add(gap.length_ns());
    }
    totals.into_iter().filter(|total| total.gaps > 0).collect()
}

fn longest(trace: &Trace, all: &[Gap]) -> Vec<LongGap> {
    let mut order: Vec<&Gap> = all.iter().collect();
    let key = |gap: &&Gap| (Reverse(gap.length_ns()), gap.start_ns, gap.lane);
    if order.len() > Gaps::LONGEST_MAX {
        order.select_nth_unstable_by_key(Gaps::LONGEST_MAX, key);
        order.truncate(Gaps::LONGEST_MAX);
    }
    order.sort_unstable_by_key(key);
    let named = |task: Option<u32>| task.map_or(String::new(), |task| label(trace, task));
    let long = |gap: &Gap| LongGap {
        gap: *gap,
        lane_name: trace.lanes[gap.lane as usize].full_name(),
        ended_by_label: named(gap.ended_by),
        released_by_label: named(gap.released_by),
    };
    order.into_iter().map(long).collect()
}

impl Gap {
    /// Returns its length.
    pub fn length_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }
}

impl Reason {
    /// All reasons, in the order of tables.
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

    /// Returns the reason's name in tables and in the report.
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

    /// Returns a short explanation of the reason, without a full stop.
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::NoReadyTask => "every inserted task that the lane could run waited for other tasks",
            Self::Data => "the next task's data were still being moved to the lane's memory",
            Self::WindowFull => "too many tasks were in flight to insert the next one",
            Self::MemoryFull => "the device's memory had no room for the next task's data",
            Self::NotInserted => "the program had not inserted the next task",
            Self::Inserting => "the lane's own thread was inserting tasks",
            Self::Overhead => "a task was ready, but the lane had not started it",
            Self::Start => "before the first task of the run",
            Self::End => "after the last task of the lane",
        }
    }
}
