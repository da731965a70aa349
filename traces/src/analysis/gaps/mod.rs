//! When a lane did nothing, why, and which task ended that.
//!
//! A **gap** is a time between two tasks of a worker or a queue, before its first or after its last. It is cut where its reason
//! changes; each piece has one reason, decided so (*T* is the next task on the lane, ready when its last predecessor has ended
//! and it has been inserted):
//!
//! 1. After the lane's last task: [`End`](Reason::End); on the lane whose thread inserts, only from its last insertion on, and until then by
//!    2 and 3. Before the first task of the run: [`Start`](Reason::Start).
//! 2. While the file has a stall or an allocation wait of the lane, or a transfer or an allocation wait for *T*: what that says,
//!    [`Data`](Reason::Data), [`WindowFull`](Reason::WindowFull) or [`MemoryFull`](Reason::MemoryFull).
//! 3. On the lane whose thread inserts, up to the last insertion within the gap (and, if the window was full when it began, only
//!    from then on when it was not): [`Inserting`](Reason::Inserting).
//! 4. If *T* was ready for at least half of what is left: [`Overhead`](Reason::Overhead).
//! 5. If other tasks were ready for at least half of the time until *T* was: [`Overhead`](Reason::Overhead), too, for the lane
//!    could have run those. (By the counter of ready tasks; only where all lanes are alike, so that it could indeed.)
//! 6. If what *T* waited for last was its insertion: [`WindowFull`](Reason::WindowFull) if the window was full for at least half of
//!    that time, [`NotInserted`](Reason::NotInserted) otherwise.
//! 7. Otherwise it waited for a predecessor: [`NoReadyTask`](Reason::NoReadyTask).
//!
//! Neighbouring pieces with the same reason are one. A task that took no time, such as a cancelled one, ends no gap.

mod causes;

use super::{
    insertion::Insertions,
    intervals, label,
    occupancy::Occupancy,
    table::{Table, ms, percent},
};
use crate::{Trace, graph::Graph};
use causes::Causes;
use serde::Serialize;
use std::{cmp::Reverse, fmt};

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
    /// When the run began: tables count from there.
    pub start_ns: u64,
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
    /// The lane's own thread was in the program: inserting tasks, or between insertions.
    Inserting,
    /// There was a ready task, and the lane had not taken it: taking and finishing tasks, waking up, other programs on the core.
    Overhead,
    /// Before the first task of the run.
    Start,
    /// The lane ran no task from then on.
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

    /// The gaps of one lane.
    pub fn of_lane(&self, lane: u32) -> &[Gap] {
        let start = self.all.partition_point(|gap| gap.lane < lane);
        let end = self.all.partition_point(|gap| gap.lane <= lane);
        &self.all[start..end]
    }

    /// The time of a reason, in nanoseconds.
    pub fn time_ns(&self, reason: Reason) -> u64 {
        self.totals.iter().find(|total| total.reason == reason).map_or(0, |total| total.time_ns)
    }

    /// A table of the longest so many gaps.
    pub fn longest_table(&self, count: usize) -> impl fmt::Display {
        let mut table = Table::new(&["lane", "from ms", "length ms", "reason<", "ended by<", "made ready by<"]);
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

/// The reasons with their time.
impl fmt::Display for Gaps {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new(&["idle because", "ms", "%", "gaps"]);
        for total in &self.totals {
            let share = super::ratio(total.time_ns as f64, self.total_ns as f64);
            let name = total.reason.name().to_owned();
            table.row([name, ms(total.time_ns), percent(share), total.gaps.to_string()]);
        }
        table.fmt(out)
    }
}

/// The time of each reason that occurs, in the order of [`Reason::ALL`].
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
