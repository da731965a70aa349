//! A trace that is written incrementally while the program runs, so that a crash leaves a readable file.
//!
//! Records arrive in pieces; each piece holds the records since the previous one. From each piece, this module writes
//! the slices of tasks that have ended, and the hazards between tasks whose slices are written: as arrows, or as
//! instants if one of the slices is too short or was written too long ago. A tail follows every piece, and the next
//! piece overwrites it. So the file is complete JSON after every write, and a prefix of it during one.
//!
//! Compared with the batch writer, it has no counters, which follow from the tasks, and a simpler layout of rows:
//! slices of a worker are assumed to nest, as those of one thread do; slices of other lanes go to the first free row.
//!
//! The records of a task may arrive in several pieces in any order, because threads are visited one after the other. A
//! span whose task's record has not arrived is held back for one piece.

use std::cmp::Reverse;
use std::collections::VecDeque;

use super::events::{Events, Moment, overflow_name};
use super::{RUNTIME_PID, lane_processes};
use crate::json::JsonWriter;
use crate::layout::check;
use crate::order::TaskOrder;
use crate::{Activity, HazardRecord, Lane, LaneKind, PlanRecord, Recording, RecordingError, Span, TaskId, TaskRecord};

/// The number of recent tasks whose slices are remembered as origins of arrows; about 10 MB.
const ENDED_MAX: usize = 1 << 18;

/// The position of a task's slice; `row` is [`NO_ROW`] for a task that has none yet.
#[derive(Clone, Copy)]
struct EndedSlice {
    row: u32,
    start_ns: u64,
    end_ns: u64,
}

const NO_ROW: u32 = u32::MAX;

/// The slices of the newest tasks, indexed by the task's number minus `first`.
#[derive(Default)]
struct EndedTasks {
    first: u64,
    tasks: VecDeque<EndedSlice>,
}

impl EndedTasks {
    fn insert(&mut self, task: TaskId, ended: EndedSlice) {
        if self.tasks.is_empty() {
            // Tasks that were inserted slightly earlier may end later.
            self.first = task.0.saturating_sub(ENDED_MAX as u64 / 2);
        }
        let Some(place) = task.0.checked_sub(self.first) else { return };
        if place >= 2 * ENDED_MAX as u64 {
            // After a gap in the numbers, none of the remembered tasks is near.
            self.tasks.clear();
            self.first = task.0 - ENDED_MAX as u64 / 2;
        }
        let place = (task.0 - self.first) as usize;
        if place >= self.tasks.len() {
            self.tasks.resize(place + 1, EndedSlice { row: NO_ROW, start_ns: 0, end_ns: 0 });
        }
        self.tasks[place] = ended;
        let surplus = self.tasks.len().saturating_sub(ENDED_MAX);
        self.tasks.drain(..surplus);
        self.first += surplus as u64;
    }

    fn get(&self, task: TaskId) -> Option<EndedSlice> {
        let place = usize::try_from(task.0.checked_sub(self.first)?).ok()?;
        self.tasks.get(place).copied().filter(|ended| ended.row != NO_ROW)
    }
}

/// One row of a lane.
struct GrowingRow {
    /// Index into `GrowingTrace::rows`.
    row: u32,
    busy_to_ns: u64,
}

/// A trace that is written incrementally while records arrive.
///
/// ```
/// # mod superscalar { pub use superscalar_recording as recording; }
/// use superscalar::recording::{GrowingTrace, Recording};
/// let mut trace = GrowingTrace::new(Recording::default());
/// let (mut file, tail) = trace.take_text();
/// // The text followed by the tail is a trace. The next text overwrites the tail.
/// trace.append(Recording { notices: vec!["late".to_owned()], ..Recording::default() })?;
/// let (more, tail_then) = trace.take_text();
/// file.extend(more);
/// assert!(tail_then.len() > tail.len());
/// # Ok::<(), superscalar::recording::RecordingError>(())
/// ```
pub struct GrowingTrace {
    events: Events<Vec<u8>>,
    /// The lanes and the metadata of the run; without records.
    run: Recording,
    /// The process number of each lane.
    pids: Vec<u64>,
    /// The rows of each lane so far.
    rows_of_lane: Vec<Vec<GrowingRow>>,
    /// `"pid":…,"tid":…` of each row.
    rows: Vec<String>,
    first_tid: u64,
    tasks: u64,
    /// Records of tasks that have not ended, sorted by number.
    records: Vec<TaskRecord>,
    /// Hazards whose later task has not ended.
    hazards: Vec<HazardRecord>,
    /// Spans of tasks whose record has not arrived.
    spans: Vec<Span>,
    ended: EndedTasks,
}

impl GrowingTrace {
    /// Starts a trace with the lanes and the metadata of `run`, which must have no records.
    pub fn new(run: Recording) -> Self {
        let (processes, pids) = lane_processes(&run.lanes);
        let first_tid = RUNTIME_PID + processes.len() as u64 + 1;
        let mut events = Events::new(JsonWriter::new(Vec::new()), 0);
        for (place, process) in processes.into_iter().enumerate() {
            events.process(RUNTIME_PID + 1 + place as u64, process, place + 1).expect("a vector takes every write");
        }
        let rows_of_lane = run.lanes.iter().map(|_| Vec::new()).collect();
        Self {
            events,
            run,
            pids,
            rows_of_lane,
            rows: Vec::new(),
            first_tid,
            tasks: 0,
            records: Vec::new(),
            hazards: Vec::new(),
            spans: Vec::new(),
            ended: EndedTasks::default(),
        }
    }

    /// Adds the records since the last call, and adds `dropped` to the number of lost records. The lanes are those of
    /// [`new`](Self::new); counters are ignored.
    ///
    /// # Errors
    /// If a span, an activity or a plan is on a lane that does not exist, or ends before it starts. Then nothing of the
    /// piece is added.
    pub fn append(&mut self, piece: Recording) -> Result<(), RecordingError> {
        check(&piece, self.run.lanes.len())?;
        let mut records = std::mem::take(&mut self.records);
        self.tasks += piece.tasks.len() as u64;
        self.run.notices = piece.notices;
        self.run.dropped += piece.dropped;
        self.run.whole_from_ns = self.run.whole_from_ns.max(piece.whole_from_ns);
        records.extend(piece.tasks);
        records.sort_by_key(|task| task.id);
        let order = TaskOrder::new(records.iter().map(|task| task.id));
        let mut is_done = vec![false; records.len()];

        let mut spans = std::mem::take(&mut self.spans);
        let held_back = spans.len();
        spans.extend(piece.spans);
        let mut ready: Vec<(&Span, Option<usize>)> = Vec::with_capacity(spans.len());
        for (at, span) in spans.iter().enumerate() {
            match order.index_of(span.task) {
                None if at >= held_back => self.spans.push(*span),
                place => ready.push((span, place)),
            }
        }
        ready.sort_by_key(|(span, _)| (span.lane, span.start_ns, Reverse(span.end_ns)));
        for (span, place) in ready {
            let (start_ns, end_ns) = (span.start_ns, span.end_ns);
            let row = self.row(span.lane, start_ns, end_ns)?;
            let record = place.map(|place| &records[place]);
            self.events.task(&self.rows[row as usize], start_ns..end_ns, span, record)?;
            self.ended.insert(span.task, EndedSlice { row, start_ns, end_ns });
            if let Some(place) = place {
                is_done[place] = true;
            }
        }
        let mut is_done = is_done.into_iter();
        records.retain(|_| is_done.next() == Some(false));
        if piece.dropped > 0 {
            // The ends of these tasks may be among the dropped records.
            records.retain(|task| task.id.0 >= self.ended.first);
        }
        self.records = records;
        self.append_activities(&piece.activities, &piece.nodes)?;
        self.append_plans(&piece.plans, &piece.nodes)?;
        self.append_hazards(piece.hazards)
    }

    fn append_activities(&mut self, activities: &[Activity], nodes: &[String]) -> Result<(), RecordingError> {
        let mut activities: Vec<&Activity> = activities.iter().collect();
        activities.sort_by_key(|activity| (activity.lane, activity.start_ns, Reverse(activity.end_ns)));
        for activity in activities {
            let (start_ns, end_ns) = (activity.start_ns, activity.end_ns);
            let row = self.row(activity.lane, start_ns, end_ns)?;
            self.events.activity(&self.rows[row as usize], start_ns..end_ns, activity, nodes)?;
        }
        Ok(())
    }

    fn append_plans(&mut self, plans: &[PlanRecord], nodes: &[String]) -> Result<(), RecordingError> {
        let mut plans: Vec<&PlanRecord> = plans.iter().collect();
        plans.sort_by_key(|plan| (plan.lane, plan.start_ns, Reverse(plan.predicted_end_ns())));
        for plan in plans {
            let (start_ns, end_ns) = (plan.start_ns, plan.predicted_end_ns());
            let row = self.row(plan.lane, start_ns, end_ns)?;
            self.events.plan(&self.rows[row as usize], start_ns..end_ns, plan, nodes)?;
        }
        Ok(())
    }

    fn append_hazards(&mut self, new: Vec<HazardRecord>) -> Result<(), RecordingError> {
        let mut waiting = std::mem::take(&mut self.hazards);
        waiting.extend(new);
        for hazard in waiting {
            let Some(later) = self.ended.get(hazard.to) else {
                // Keep it until its task ends, unless the task was forgotten because records were dropped.
                if hazard.to.0 >= self.ended.first {
                    self.hazards.push(hazard);
                } else {
                    self.events.written.hazards_left_out += 1;
                }
                continue;
            };
            let row = |ended: EndedSlice| &*self.rows[ended.row as usize];
            let enter = Moment { row: row(later), at_ns: later.start_ns + 1 };
            let earlier = self.ended.get(hazard.from);
            let drawable = |earlier: &EndedSlice| {
                let both_have_an_inside = earlier.end_ns - earlier.start_ns > 1 && later.end_ns - later.start_ns > 1;
                both_have_an_inside && earlier.end_ns - 1 < enter.at_ns
            };
            match earlier.filter(drawable) {
                Some(earlier) => {
                    let leave = Moment { row: row(earlier), at_ns: earlier.end_ns - 1 };
                    self.events.arrow(&hazard, leave, enter)?;
                }
                None => self.events.hidden_hazard(&hazard, Moment { row: row(later), at_ns: later.start_ns })?,
            }
        }
        Ok(())
    }

    /// Returns the row for a slice of this lane. A worker has one row.
    fn row(&mut self, lane: u32, start_ns: u64, end_ns: u64) -> Result<u32, RecordingError> {
        let nests = self.run.lanes[lane as usize].kind == LaneKind::Worker;
        let rows = &mut self.rows_of_lane[lane as usize];
        if let Some(row) = rows.iter_mut().find(|row| nests || row.busy_to_ns <= start_ns) {
            row.busy_to_ns = end_ns;
            return Ok(row.row);
        }
        let (row, overflow) = (self.rows.len() as u32, rows.len());
        rows.push(GrowingRow { row, busy_to_ns: end_ns });
        let (pid, tid) = (self.pids[lane as usize], self.first_tid + u64::from(row));
        self.rows.push(format!("\"pid\":{pid},\"tid\":{tid}"));
        let Lane { name, kind, .. } = &self.run.lanes[lane as usize];
        let sort_index = (lane as usize) << 8 | overflow.min(255);
        self.events.thread(&self.rows[row as usize], &overflow_name(name, overflow), kind.name(), sort_index)?;
        Ok(row)
    }

    /// Returns the text of the events since the last call, and the tail that completes the file after them.
    pub fn take_text(&mut self) -> (Vec<u8>, Vec<u8>) {
        let text = self.events.json.take();
        self.events.tail(&self.run, self.tasks, false, &[]);
        (text, self.events.json.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hazard, Outcome, Prediction, TileIndex};
    use serde_json::Value;
    use std::panic::Location;

    fn lane(name: &str, kind: LaneKind) -> Lane {
        Lane { name: name.to_owned(), kind, process: "all".to_owned() }
    }

    fn growing() -> GrowingTrace {
        let lanes = vec![lane("worker 0", LaneKind::Worker), lane("queues", LaneKind::Queue)];
        GrowingTrace::new(Recording { lanes, window: Some(9), ..Recording::default() })
    }

    #[track_caller]
    fn task(id: u64) -> TaskRecord {
        let (id, site, index) = (TaskId(id), Location::caller(), TileIndex::NONE);
        TaskRecord { id, name: "step", site, inserted_ns: 1, priority: 0, level: None, index, flops: 0.0, bytes: 0.0 }
    }

    fn span(task: u64, lane: u32, time_ns: std::ops::Range<u64>) -> Span {
        let (start_ns, end_ns) = (time_ns.start, time_ns.end);
        Span { task: TaskId(task), lane, start_ns, end_ns, outcome: Outcome::Completed }
    }

    fn after(from: u64, to: u64) -> HazardRecord {
        HazardRecord { from: TaskId(from), to: TaskId(to), hazard: Hazard::RaW, datum: 1 }
    }

    fn piece(tasks: Vec<TaskRecord>, hazards: Vec<HazardRecord>, spans: Vec<Span>) -> Recording {
        Recording { tasks, hazards, spans, ..Recording::default() }
    }

    /// Appends a piece, and returns the events of the complete file with the fields that matter here.
    fn grow(trace: &mut GrowingTrace, text: &mut Vec<u8>, piece: Recording) -> Vec<String> {
        trace.append(piece).expect("its lanes are there");
        let (new, tail) = trace.take_text();
        text.extend_from_slice(&new);
        let whole: Value = serde_json::from_slice(&[&**text, &*tail].concat()).expect("whole JSON after every piece");
        assert_eq!(whole["otherData"]["complete"], false);
        let events = whole["traceEvents"].as_array().expect("events").iter();
        let shown = events.filter(|event| event["ph"] != "M").map(|event| {
            let (phase, name) = (event["ph"].as_str().unwrap_or(""), event["name"].as_str().unwrap_or(""));
            let which = if phase == "X" { &event["args"]["task"] } else { &event["args"]["from"] };
            format!("{phase} {name} {which} {}", event["tid"])
        });
        shown.collect()
    }

    #[test]
    fn tasks_wait_for_their_end_and_record() {
        let (mut trace, mut text) = (growing(), Vec::new());
        // The end of task 2 arrives before its insertion, that of task 1 after.
        let first = piece(vec![task(1)], vec![after(1, 2)], vec![span(2, 0, 30..40)]);
        assert_eq!(grow(&mut trace, &mut text, first), [""; 0]);
        let second = piece(vec![task(2)], vec![], vec![span(1, 0, 10..20)]);
        let expected = ["X step 1 3", "X step 2 3", "s RaW 1 3", "f RaW null 3"];
        assert_eq!(grow(&mut trace, &mut text, second), expected);
        // A span whose task record never arrives is written with a generic name, one piece later.
        let third = piece(vec![], vec![], vec![span(3, 0, 50..60)]);
        assert_eq!(grow(&mut trace, &mut text, third).len(), expected.len());
        let events = grow(&mut trace, &mut text, Recording::default());
        assert_eq!(events[expected.len()..], ["X task 3 3"]);
        assert!(trace.records.is_empty() && trace.hazards.is_empty() && trace.spans.is_empty());
    }

    #[test]
    fn plans_are_appended() {
        let (mut trace, mut text) = (growing(), Vec::new());
        let prediction = Prediction { name: "gemm", time_ns: 100, ..Prediction::default() };
        let plan = PlanRecord { prediction, site: Location::caller(), lane: 1, start_ns: 10, inserted_ns: 20 };
        let later = PlanRecord { start_ns: 50, ..plan.clone() };
        // They overlap, so they are on two rows.
        let events = grow(&mut trace, &mut text, Recording { plans: vec![later, plan], ..Recording::default() });
        assert_eq!(events, ["X gemm null 3", "X gemm null 4"]);
    }

    #[test]
    fn hazards_without_arrows_are_instants() {
        let (mut trace, mut text) = (growing(), Vec::new());
        // Task 2 was cancelled, so it has no inside; task 3 began before task 1 ended.
        let tasks = (1..4).map(task).collect();
        let spans = vec![span(1, 0, 10..20), span(2, 0, 20..20), span(3, 1, 15..30)];
        let events = grow(&mut trace, &mut text, piece(tasks, vec![after(1, 2), after(1, 3), after(0, 3)], spans));
        assert_eq!(events[3..], ["i RaW 1 3", "i RaW 1 4", "i RaW 0 4"]);
    }

    #[test]
    fn slices_of_a_queue_do_not_cross() {
        let (mut trace, mut text) = (growing(), Vec::new());
        let spans = vec![span(1, 1, 0..10), span(2, 1, 5..15), span(3, 1, 10..20)];
        let events = grow(&mut trace, &mut text, piece((1..4).map(task).collect(), vec![], spans));
        assert_eq!(events, ["X step 1 3", "X step 2 4", "X step 3 3"]);
        let events = grow(&mut trace, &mut text, piece(vec![task(4)], vec![], vec![span(4, 1, 12..30)]));
        assert_eq!(events[3..], ["X step 4 5"], "both rows were busy");
    }

    #[test]
    fn invalid_spans_are_refused() {
        let mut trace = growing();
        for wrong in [span(1, 2, 0..9), Span { end_ns: 1, ..span(1, 0, 2..9) }] {
            let error = trace.append(piece(vec![task(1)], vec![], vec![wrong])).expect_err("it cannot be drawn");
            assert!(error.to_string().starts_with("a span of task"), "{error}");
        }
        assert!(trace.tasks == 0 && trace.records.is_empty(), "nothing of the pieces was added");
    }

    #[test]
    fn old_slices_are_forgotten() {
        let mut ended = EndedTasks::default();
        let at = |row| EndedSlice { row, start_ns: 1, end_ns: 2 };
        let max = ENDED_MAX as u64;
        for id in [5, 6, max, 2 * max, 2 * max - 1, 40 * max] {
            ended.insert(TaskId(id), at(7));
            assert_eq!(ended.get(TaskId(id)).map(|ended| ended.row), Some(7), "{id}");
            assert!(ended.tasks.len() <= ENDED_MAX + 1);
        }
        assert!([5, 2 * max, 40 * max + 1, u64::MAX].iter().all(|&id| ended.get(TaskId(id)).is_none()));
    }
}
