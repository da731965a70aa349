//! Records a run while it happens: tasks, hazards and spans, each on the list of the seat where it occurred.
//!
//! A record is a push to the seat's own list, under a lock that nobody else takes until the recording is collected. The
//! counters of a recording (ready tasks, tasks in the window) are not sampled as they change but made from the moments that
//! each task was inserted, ready, begun and done. Lists are bounded; what does not fit is counted.

use crate::{
    datum::Submission,
    hazard::Mode,
    recording::{Counter, CounterSample, HazardRecord, Lane, LaneKind, Outcome, Recording, Span, TaskId, TaskRecord},
    sync::held,
    task::TaskSpec,
    worker::Seat,
};
use crossbeam_utils::CachePadded;
use std::{
    panic::Location,
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Instant,
};

/// Records that one seat keeps of each kind: at some hundred bytes a task, a few gigabytes in the worst case.
const KEPT_MAX: usize = 1 << 22;

/// See the module's head.
pub(crate) struct Recorder {
    epoch: Instant,
    workers: u32,
    data: AtomicU32,
    lists: Box<[CachePadded<Mutex<Lists>>]>,
}

#[derive(Default)]
struct Lists {
    tasks: Vec<TaskRecord>,
    /// When each task of `tasks` was inserted.
    inserted_ns: Vec<u64>,
    hazards: Vec<HazardRecord>,
    spans: Vec<Span>,
    ready_ns: Vec<u64>,
    dropped: u64,
}

impl Lists {
    fn has_room(&mut self, len: usize) -> bool {
        self.dropped += u64::from(len >= KEPT_MAX);
        len < KEPT_MAX
    }
}

impl Recorder {
    pub(crate) fn new(workers: u32, places: u32) -> Self {
        let lists = (0..places).map(|_| CachePadded::default()).collect();
        Self { epoch: Instant::now(), workers, data: AtomicU32::new(0), lists }
    }

    /// The start of the recording's clock.
    pub(crate) fn epoch(&self) -> Instant {
        self.epoch
    }

    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }

    fn list(&self, seat: &Seat) -> std::sync::MutexGuard<'_, Lists> {
        held(self.lists[seat.place.0 as usize].lock())
    }

    /// A task is being inserted.
    pub(crate) fn task(&self, seat: &Seat, id: TaskId, spec: &TaskSpec, site: &'static Location<'static>) {
        let now = self.now_ns();
        let mut list = self.list(seat);
        let len = list.tasks.len();
        if list.has_room(len) {
            let TaskSpec { name, priority, level, index, flops, bytes, .. } = *spec;
            list.tasks.push(TaskRecord { id, name, site, priority, level, index, flops, bytes });
            list.inserted_ns.push(now);
        }
    }

    /// The task being inserted accesses a version: every hazard with an earlier access, finished or not.
    pub(crate) fn access(&self, seat: &Seat, submission: &mut Submission, to: TaskId, mode: Mode) {
        if submission.number == 0 {
            submission.number = self.data.fetch_add(1, Ordering::Relaxed) + 1;
        }
        let datum = submission.number;
        let mut list = self.list(seat);
        submission.history.get_or_insert_default().access(
            mode,
            to,
            |_| false,
            |from, hazard| {
                let len = list.hazards.len();
                if list.has_room(len) {
                    list.hazards.push(HazardRecord { from, to, hazard, datum });
                }
            },
        );
    }

    /// A task has become ready.
    pub(crate) fn ready(&self, seat: &Seat) {
        let now = self.now_ns();
        let mut list = self.list(seat);
        let len = list.ready_ns.len();
        if list.has_room(len) {
            list.ready_ns.push(now);
        }
    }

    /// A task has ended here. One that was cancelled has taken no time.
    pub(crate) fn span(&self, seat: &Seat, task: TaskId, started_ns: u64, outcome: Outcome) {
        let end_ns = self.now_ns();
        let start_ns = if outcome == Outcome::Cancelled { end_ns } else { started_ns };
        let mut list = self.list(seat);
        let len = list.spans.len();
        if list.has_room(len) {
            list.spans.push(Span { task, lane: seat.place.0, start_ns, end_ns, outcome });
        }
    }

    /// Collects what was recorded, and starts anew.
    pub(crate) fn take(&self) -> Recording {
        let mut recording = Recording::default();
        let (mut inserted, mut ready) = (Vec::new(), Vec::new());
        for (place, list) in self.lists.iter().enumerate() {
            let list = std::mem::take(&mut *held(list.lock()));
            if list.spans.is_empty() && place >= self.workers as usize {
                // A place that has run nothing gets no lane.
            } else {
                let lane = recording.lanes.len() as u32;
                recording.lanes.push(self.lane(place));
                recording.spans.extend(list.spans.iter().map(|span| Span { lane, ..*span }));
            }
            recording.tasks.extend(list.tasks);
            recording.hazards.extend(list.hazards);
            recording.dropped += list.dropped;
            inserted.extend(list.inserted_ns);
            ready.extend(list.ready_ns);
        }
        recording.tasks.sort_unstable_by_key(|task| task.id);
        let begun = recording.spans.iter().map(|span| span.start_ns);
        recording.counters.extend(counter(Counter::ReadyTasks, ready, begun));
        let ended = recording.spans.iter().map(|span| span.end_ns);
        recording.counters.extend(counter(Counter::WindowTasks, inserted, ended));
        recording
    }

    fn lane(&self, place: usize) -> Lane {
        let name = match place < self.workers as usize {
            true => format!("worker {place}"),
            false => format!("guest {}", place - self.workers as usize),
        };
        Lane { name, kind: LaneKind::Worker, process: "workers".to_owned() }
    }
}

/// How many are under way at each moment that one enters or leaves.
fn counter(counter: Counter, enter: Vec<u64>, leave: impl Iterator<Item = u64>) -> Vec<CounterSample> {
    let enter = enter.into_iter().map(|at| (at, 1));
    let mut changes: Vec<(u64, i64)> = enter.chain(leave.map(|at| (at, -1))).collect();
    // At one moment, entering comes before leaving: what enters and leaves at once was there.
    changes.sort_unstable_by_key(|&(at, change)| (at, -change));
    let mut value = 0;
    let samples = changes.into_iter().map(|(at_ns, change)| {
        value += change;
        CounterSample { counter, at_ns, value: value.max(0) as u64 }
    });
    samples.collect()
}
