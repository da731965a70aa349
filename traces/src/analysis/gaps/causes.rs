//! Decides the reasons of gaps by the rules in the documentation of [`gaps`](super).

use super::{Gap, Reason};
use crate::{
    ActivityKind, Trace,
    analysis::{
        insertion::Insertions,
        intervals::{self, Interval, IntervalIndex},
        occupancy::{LaneTasks, Occupancy},
    },
    graph::Graph,
};
use superscalar_recording::{Counter, Stall};

/// The data that the reasons are decided from.
pub(super) struct Causes<'a> {
    trace: &'a Trace,
    graph: &'a Graph,
    insertions: &'a Insertions,
    extent_ns: Interval,
    /// When the first task of the run began.
    first_ns: u64,
    /// When there were ready tasks. `None` if the file has no such counter or the lanes are not equivalent.
    ready: Option<IntervalIndex>,
    /// Stalls and allocation waits, sorted by lane and start.
    of_lanes: Vec<(u32, Interval, Reason)>,
    /// Transfers and allocation waits, sorted by the [`Task::id`](crate::Task::id) of their task and by start.
    for_tasks: Vec<(u64, Interval, Reason)>,
}

/// A gap whose reason is not decided yet.
struct UndecidedGap {
    lane: u32,
    /// The next task on the lane; `None` after the last.
    task: Option<u32>,
    /// When the task was ready.
    ready_ns: u64,
    /// Whether the task became ready by its insertion and not by the end of a predecessor.
    is_by_insertion: bool,
    released_by: Option<u32>,
}

impl<'a> Causes<'a> {
    pub(super) fn new(trace: &'a Trace, occupancy: &Occupancy, graph: &'a Graph, insertions: &'a Insertions) -> Self {
        let with_tasks = occupancy.rows.iter().filter(|row| !row.tasks.is_empty());
        let mut kinds = with_tasks.map(|row| &trace.lanes[row.lane as usize]).map(|lane| (lane.kind, &lane.process));
        let first = kinds.next();
        let is_alike = kinds.all(|kind| Some(kind) == first);
        let counter = trace.counters.iter().find(|counter| counter.name == Counter::ReadyTasks.name(&[]) && is_alike);
        let ready = counter.map(|counter| {
            let spans = counter.samples.windows(2).filter(|pair| pair[0].1 > 0.0);
            IntervalIndex::new(intervals::union(spans.map(|pair| (pair[0].0, pair[1].0)).collect()))
        });
        let (mut of_lanes, mut for_tasks) = (Vec::new(), Vec::new());
        for activity in &trace.activities {
            let name = trace.names.get(activity.name as usize).map_or("", String::as_str);
            let span = (activity.start_ns, activity.end_ns);
            let reason = match activity.kind {
                ActivityKind::Stall => Stall::from_name(name).map(|stall| match stall {
                    Stall::Data => Reason::Data,
                    Stall::WindowFull => Reason::WindowFull,
                    Stall::MemoryFull => Reason::MemoryFull,
                }),
                ActivityKind::Allocation => Some(Reason::MemoryFull),
                ActivityKind::Transfer => Some(Reason::Data),
                ActivityKind::Eviction | ActivityKind::Host => None,
            };
            let Some(reason) = reason else { continue };
            if activity.kind != ActivityKind::Transfer {
                of_lanes.push((activity.lane, span, reason));
            }
            if let (Some(task), false) = (activity.task, activity.kind == ActivityKind::Stall) {
                for_tasks.push((task, span, reason));
            }
        }
        of_lanes.sort_unstable();
        for_tasks.sort_unstable();
        let first_ns = trace.tasks.iter().map(|task| task.start_ns).min().unwrap_or(0);
        Self { trace, graph, insertions, extent_ns: trace.extent_ns(), first_ns, ready, of_lanes, for_tasks }
    }

    /// Appends the gaps of one lane to `all`, in order of time. `inserts` says whether the lane's thread inserts tasks.
    pub(super) fn gaps_of(&self, row: &LaneTasks, inserts: bool, all: &mut Vec<Gap>) {
        let (mut at_ns, run_end_ns) = self.extent_ns;
        let first = all.len();
        let mut tasks = row.tasks.iter().copied();
        for &(start_ns, end_ns) in &row.busy {
            let takes_time = |task: &u32| {
                let task = &self.trace.tasks[*task as usize];
                task.start_ns >= start_ns && task.end_ns > task.start_ns
            };
            let task = tasks.find(takes_time).expect("each busy time begins with a task");
            if at_ns < start_ns {
                let open = self.open(row.lane, task);
                let begins_ns = self.first_ns.clamp(at_ns, start_ns);
                self.add(all, first, &open, (at_ns, begins_ns), Reason::Start);
                self.cut_at_records(&open, (begins_ns, start_ns), inserts, first, all);
            }
            at_ns = end_ns;
        }
        let open = UndecidedGap { lane: row.lane, task: None, ready_ns: 0, is_by_insertion: false, released_by: None };
        if inserts && row.busy.is_empty() {
            let begins_ns = self.first_ns.clamp(at_ns, run_end_ns);
            self.add(all, first, &open, (at_ns, begins_ns), Reason::Start);
            at_ns = begins_ns;
        }
        if let Some(last) = self.insertions.within((at_ns, run_end_ns)).last().filter(|_| inserts) {
            let last_ns = self.insertions.moments_ns[last] + 1;
            self.cut_at_records(&open, (at_ns, last_ns), inserts, first, all);
            at_ns = last_ns;
        }
        self.add(all, first, &open, (at_ns, run_end_ns), Reason::End);
    }

    fn open(&self, lane: u32, task: u32) -> UndecidedGap {
        let inserted_ns = self.insertions.of(task);
        let releaser = self.graph.releaser(self.trace, task);
        let released_ns = releaser.map_or(0, |from| self.trace.tasks[from as usize].end_ns);
        let is_by_insertion = inserted_ns > released_ns;
        let released_by = releaser.filter(|_| !is_by_insertion);
        UndecidedGap { lane, task: Some(task), ready_ns: inserted_ns.max(released_ns), is_by_insertion, released_by }
    }

    /// Applies the rules from 2 on.
    fn cut_at_records(&self, open: &UndecidedGap, gap: Interval, inserts: bool, first: usize, all: &mut Vec<Gap>) {
        let number = open.task.map(|task| self.trace.tasks[task as usize].id);
        // The intervals of one lane do not overlap: only the last one before the gap can extend into it.
        let from = self.of_lanes.partition_point(|entry| (entry.0, entry.1) < (open.lane, gap)).saturating_sub(1);
        let of_lane = self.of_lanes[from..].iter().skip_while(|entry| entry.0 < open.lane);
        let of_lane = of_lane.take_while(|entry| entry.0 == open.lane && entry.1.0 < gap.1);
        let from = self.for_tasks.partition_point(|entry| Some(entry.0) < number);
        let for_task = self.for_tasks[from..].iter().take_while(|entry| Some(entry.0) == number);
        let lane_records = of_lane.map(|&(_, span, reason)| (span, reason));
        let mut records: Vec<(Interval, Reason)> =
            lane_records.chain(for_task.map(|&(_, span, reason)| (span, reason))).collect();
        records.sort_unstable();
        let mut at_ns = gap.0;
        for ((start_ns, end_ns), reason) in records {
            let (start_ns, end_ns) = (start_ns.clamp(at_ns, gap.1), end_ns.clamp(at_ns, gap.1));
            if start_ns < end_ns {
                self.cut_at_insertions(open, (at_ns, start_ns), inserts, first, all);
                self.add(all, first, open, (start_ns, end_ns), reason);
                at_ns = end_ns;
            }
        }
        self.cut_at_insertions(open, (at_ns, gap.1), inserts, first, all);
    }

    /// Applies the rules from 3 on.
    fn cut_at_insertions(&self, open: &UndecidedGap, gap: Interval, inserts: bool, first: usize, all: &mut Vec<Gap>) {
        let within = if inserts { self.insertions.within(gap) } else { 0..0 };
        let Some(last) = within.clone().last() else {
            return self.add(all, first, open, gap, self.reason(open, gap));
        };
        let last_ns = self.insertions.moments_ns[last];
        let from_ns = self.insertions.full.end_around(gap.0).unwrap_or(gap.0).min(last_ns);
        for free in [(gap.0, from_ns), (last_ns, gap.1)] {
            if free.0 == last_ns {
                self.add(all, first, open, (from_ns, last_ns), Reason::Inserting);
            }
            self.add(all, first, open, free, self.reason(open, free));
        }
    }

    /// Applies rules 4 to 7. After its last task, the lane's thread only inserts.
    fn reason(&self, open: &UndecidedGap, gap: Interval) -> Reason {
        if open.task.is_none() {
            let is_full = self.insertions.full.within_ns(gap) >= (gap.1 - gap.0).div_ceil(2);
            return if is_full { Reason::WindowFull } else { Reason::Inserting };
        }
        let ready_ns = open.ready_ns.clamp(gap.0, gap.1);
        let waited_ns = ready_ns - gap.0;
        let is_most = |part_ns: u64| part_ns >= waited_ns.div_ceil(2);
        if gap.1 - ready_ns >= waited_ns {
            return Reason::Overhead;
        }
        let waiting = (gap.0, ready_ns);
        if self.ready.as_ref().is_some_and(|ready| is_most(ready.within_ns(waiting))) {
            return Reason::Overhead;
        }
        match open.is_by_insertion {
            true if is_most(self.insertions.full.within_ns(waiting)) => Reason::WindowFull,
            true => Reason::NotInserted,
            false => Reason::NoReadyTask,
        }
    }

    /// Appends a piece of a gap, or extends the previous piece if that has the same reason. `first` is the index of the
    /// lane's first gap.
    fn add(&self, all: &mut Vec<Gap>, first: usize, open: &UndecidedGap, (start_ns, end_ns): Interval, reason: Reason) {
        if start_ns >= end_ns {
            return;
        }
        let before = all[first..].last_mut();
        if let Some(before) = before.filter(|before| before.end_ns == start_ns && before.reason == reason) {
            before.end_ns = end_ns;
            return;
        }
        let UndecidedGap { lane, task: ended_by, released_by, .. } = *open;
        all.push(Gap { lane, start_ns, end_ns, reason, ended_by, released_by });
    }
}
