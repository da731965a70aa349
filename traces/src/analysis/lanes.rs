//! How each lane spent its time: in tasks, waiting for communication that no task hides, or idle for other reasons.

use super::{
    gaps::{self, Gaps, ReasonTotal},
    intervals::{self, Interval},
    occupancy::Occupancy,
    ratio,
    table::{TextTable, ms, percent},
};
use crate::{Activity, ActivityKind, Lane, LaneKind, Trace};
use serde::Serialize;
use std::fmt;

/// The time of each lane that runs tasks, and of each process.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lanes {
    /// The makespan; the three times of each row add up to it.
    pub wall_ns: u64,
    /// One row for each worker and queue, in the order of the trace.
    pub rows: Vec<LaneTime>,
    /// One row for each process (`workers`, `cuda:0`) that has workers or queues; a process is busy while any of its
    /// lanes is.
    pub processes: Vec<LaneTime>,
}

/// How one lane, or the lanes of one process together, spent the time. `busy_ns + communication_ns + other_ns` is the
/// makespan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LaneTime {
    /// The lane: index into [`Trace::lanes`]; for a process, its first lane.
    pub lane: u32,
    /// The name of the lane or process.
    pub name: String,
    /// The kind of the lane.
    #[serde(serialize_with = "kind_name")]
    pub kind: LaneKind,
    /// The number of tasks that ran on it.
    pub tasks: usize,
    /// The time in tasks; nested tasks count once.
    pub busy_ns: u64,
    /// The time outside tasks during which data of its process moved or was evicted: communication that tasks did not
    /// hide.
    pub communication_ns: u64,
    /// The remaining time.
    pub other_ns: u64,
    /// The idle time by reason, in the order of [`Reason::ALL`](super::gaps::Reason::ALL), without reasons that did not
    /// occur. The times add up to `communication_ns + other_ns`. Empty for a process.
    pub idle: Vec<ReasonTotal>,
}

impl Lanes {
    pub(super) fn new(trace: &Trace, occupancy: &Occupancy, gaps: &Gaps) -> Self {
        let wall_ns = trace.wall_ns();
        let mut processes: Vec<LanesOfProcess<'_>> = Vec::new();
        let mut rows = Vec::new();
        for row in &occupancy.rows {
            let lane = &trace.lanes[row.lane as usize];
            let known = processes.iter().position(|process| process.first.process == lane.process);
            let place = known.unwrap_or_else(|| {
                processes.push(LanesOfProcess::new(trace, row.lane));
                processes.len() - 1
            });
            let process = &mut processes[place];
            process.busy.extend(&row.busy);
            process.tasks += row.tasks.len();
            let (tasks, idle) = (row.tasks.len(), gaps::totals(gaps.of_lane(row.lane)));
            let time = LaneTime::new((row.lane, lane), tasks, wall_ns, &row.busy, &process.moving);
            rows.push(LaneTime { idle, ..time });
        }
        let processes = processes.into_iter().map(|process| process.time(wall_ns)).collect();
        Self { wall_ns, rows, processes }
    }

    /// Returns a table of the idle time of each lane by reason, with a legend.
    pub fn idle_table(&self) -> impl fmt::Display {
        let occurs = |reason: &gaps::Reason| self.rows.iter().any(|row| row.idle_ns(*reason) > 0);
        let reasons: Vec<gaps::Reason> = gaps::Reason::ALL.into_iter().filter(occurs).collect();
        let heads: Vec<&'static str> = std::iter::once("idle, ms").chain(reasons.iter().map(|r| r.name())).collect();
        let mut table = TextTable::titled("Idle time of each lane by reason", &heads);
        for row in &self.rows {
            let times = reasons.iter().map(|&reason| ms(row.idle_ns(reason)));
            table.row(std::iter::once(row.name.clone()).chain(times));
        }
        format!("{table}{}", gaps::legend(reasons))
    }
}

const LANE_HEADS: [&str; 8] = ["lane", "tasks", "busy ms", "%", "communication ms", "%", "idle ms", "%"];

const LANE_LEGEND: &str =
    "    busy: in tasks; communication: in no task while data moved to or from its device; idle: the rest\n";

/// The number of lanes in the brief table.
const LANES_IN_BRIEF: usize = 12;

impl Lanes {
    /// Returns a table of the times of each lane. If there are many lanes, it lists only the least and the most busy
    /// ones.
    pub fn brief_table(&self) -> impl fmt::Display {
        if self.rows.len() <= LANES_IN_BRIEF {
            return self.to_string();
        }
        let mut rows: Vec<&LaneTime> = self.rows.iter().collect();
        rows.sort_by_key(|row| row.busy_ns);
        let (least, most) = (&rows[..LANES_IN_BRIEF / 2], &rows[rows.len() - LANES_IN_BRIEF / 2..]);
        let table = self.table(least.iter().chain(most).copied().chain(&self.processes));
        format!("{table}  {} lanes in between are not listed\n{LANE_LEGEND}", rows.len() - LANES_IN_BRIEF)
    }

    fn table<'a>(&self, rows: impl Iterator<Item = &'a LaneTime>) -> TextTable {
        let mut table = TextTable::titled("Time of each lane (%: of the run)", &LANE_HEADS);
        for row in rows {
            let mut cells = vec![row.name.clone(), row.tasks.to_string()];
            for part_ns in [row.busy_ns, row.communication_ns, row.other_ns] {
                cells.push(ms(part_ns));
                cells.push(percent(ratio(part_ns as f64, self.wall_ns as f64)));
            }
            table.row(cells);
        }
        table
    }
}

/// Writes a table of the times of each lane. If there are several processes, and one has several lanes, rows for the
/// processes follow.
impl fmt::Display for Lanes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_several = self.processes.len() > 1 && self.rows.len() > self.processes.len();
        let processes = if has_several { self.processes.as_slice() } else { &[] };
        write!(out, "{}{LANE_LEGEND}", self.table(self.rows.iter().chain(processes)))
    }
}

impl LaneTime {
    fn new((place, lane): (u32, &Lane), tasks: usize, wall_ns: u64, busy: &[Interval], moving: &[Interval]) -> Self {
        let busy_ns = intervals::length_ns(busy);
        let communication_ns = intervals::length_ns(moving) - intervals::shared_ns(busy, moving);
        let (name, kind, other_ns) = (lane.full_name(), lane.kind, wall_ns - busy_ns - communication_ns);
        Self { lane: place, name, kind, tasks, busy_ns, communication_ns, other_ns, idle: Vec::new() }
    }

    /// Returns the idle time of the lane with this reason, in nanoseconds.
    pub fn idle_ns(&self, reason: gaps::Reason) -> u64 {
        self.idle.iter().find(|total| total.reason == reason).map_or(0, |total| total.time_ns)
    }
}

/// The lanes of one process.
struct LanesOfProcess<'a> {
    /// The first of them.
    first: &'a Lane,
    /// The index of `first`.
    place: u32,
    tasks: usize,
    busy: Vec<Interval>,
    /// The times when data of the process moved.
    moving: Vec<Interval>,
}

impl<'a> LanesOfProcess<'a> {
    fn new(trace: &'a Trace, place: u32) -> Self {
        let first = &trace.lanes[place as usize];
        let is_its_lane = |lane: u32| trace.lanes.get(lane as usize).is_some_and(|lane| lane.process == first.process);
        let is_its_node = |node: u32| trace.names.get(node as usize) == Some(&first.process);
        let moves = |activity: &&Activity| {
            matches!(activity.kind, ActivityKind::Transfer | ActivityKind::Eviction)
                && (is_its_lane(activity.lane)
                    || activity.link.is_some_and(|(from, to)| is_its_node(from) || is_its_node(to)))
        };
        let moving = trace.activities.iter().filter(moves);
        let moving = intervals::union(moving.map(|activity| (activity.start_ns, activity.end_ns)).collect());
        Self { first, place, tasks: 0, busy: Vec::new(), moving }
    }

    fn time(self, wall_ns: u64) -> LaneTime {
        let busy = intervals::union(self.busy);
        let time = LaneTime::new((self.place, self.first), self.tasks, wall_ns, &busy, &self.moving);
        LaneTime { name: self.first.process.clone(), ..time }
    }
}

fn kind_name<S: serde::Serializer>(kind: &LaneKind, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(kind.name())
}
