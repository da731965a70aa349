//! Records a run while it happens: tasks, hazards, spans and stalls, each at the seat where it occurred.
//!
//! A record is a push to the seat's own [`Page`]. Only collecting the page takes its lock from another thread. A full
//! page goes to the [`Ring`], which keeps the newest pages within a memory limit, counts the dropped records, and gives
//! the seat a page whose lists need not grow. So recording does not move old records and, once the ring is full, does
//! not allocate.
//!
//! Reading the clock is the most expensive part of a record. It is read when a task is inserted, begins and ends. A
//! task that becomes ready by one of these events gets the same time. Most counters of a recording (ready tasks, tasks
//! in the window, bytes over links) are computed from these times (`collect.rs`); only the use of device memory is
//! sampled. `file.rs` writes recordings to a file.
//!
//! Locks are taken in the order seat, ring.

mod collect;
mod file;
mod page;
mod ring;

pub(crate) use file::TraceFile;

use crate::{
    datum::VersionHazards,
    hazard::Mode,
    notices::Notices,
    recording::{
        Activity, ActivityKind, Counter, CounterSample, HazardRecord, Lane, LaneKind, NodeId, Outcome, PlanRecord,
        Prediction, Recording, Span, Stall, TaskId, TaskRecord,
    },
    schedule::Place,
    seat::Seat,
    sync::held,
    task::TaskSpec,
};
use crossbeam_utils::CachePadded;
use page::{Page, Record};
use ring::{Purpose, Ring};
use std::{
    panic::Location,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU32, Ordering},
    },
    time::Instant,
};

/// The maximum size of a page's records: some thousand records. Pages are smaller if memory is small.
const PAGE_BYTES_MAX: usize = 256 << 10;
/// The minimum number of pages in memory.
const PAGES_MIN: usize = 16;

/// The recorder's settings from the builder of a runtime.
pub(crate) struct RecorderSettings {
    pub(crate) memory_bytes: usize,
    pub(crate) has_file: bool,
    /// The lanes of the placement's threads and device queues.
    pub(crate) elsewhere: DeviceLanes,
}

/// The lanes of a recording that belong to devices.
#[derive(Default)]
pub(crate) struct DeviceLanes {
    /// The lanes of the threads that have seats.
    pub(crate) threads: Vec<Lane>,
    /// The lanes of each device's queues.
    pub(crate) queues: Vec<Vec<Lane>>,
    /// The names of the memory nodes; empty if all devices work in host memory.
    pub(crate) nodes: Vec<String>,
}

/// Records a run; see the module documentation.
pub(crate) struct Recorder {
    epoch: Instant,
    /// An empty recording with the lanes of all seats and queues, and of plans.
    blank: Recording,
    /// The first lane of each device's queues.
    queues: Vec<u32>,
    /// The lane of plans.
    plans: u32,
    /// For each lane of a queue, when its last work ended.
    ends: Mutex<Vec<u64>>,
    notices: Arc<Notices>,
    page_bytes: usize,
    data: AtomicU32,
    seats: Box<[CachePadded<Mutex<Page>>]>,
    ring: Mutex<Ring>,
}

impl Recorder {
    /// Creates a recorder. `blank` has the lanes of the host's seats, workers first, and no records.
    pub(crate) fn new(settings: RecorderSettings, mut blank: Recording, notices: Arc<Notices>) -> Self {
        let RecorderSettings { memory_bytes, has_file, elsewhere } = settings;
        let lanes = &mut blank.lanes;
        lanes.extend(elsewhere.threads);
        let seat = |place| CachePadded::new(Mutex::new(Page::new(place as u32)));
        let seats = (0..lanes.len()).map(seat).collect();
        let mut queues = Vec::new();
        for each in elsewhere.queues {
            queues.push(lanes.len() as u32);
            lanes.extend(each);
        }
        let plans = lanes.len() as u32;
        lanes.push(Lane { name: "plans".to_owned(), kind: LaneKind::Host, process: "plans".to_owned() });
        blank.nodes = elsewhere.nodes;
        Self {
            epoch: Instant::now(),
            page_bytes: (memory_bytes / PAGES_MIN).min(PAGE_BYTES_MAX),
            data: AtomicU32::new(0),
            seats,
            queues,
            plans,
            ends: Mutex::new(vec![0; blank.lanes.len()]),
            notices,
            ring: Mutex::new(Ring::new(memory_bytes, has_file)),
            blank,
        }
    }

    /// The start of the recording's clock.
    pub(crate) fn epoch(&self) -> Instant {
        self.epoch
    }

    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }

    #[inline]
    fn page(&self, place: Place) -> MutexGuard<'_, Page> {
        held(self.seats[place.0 as usize].lock())
    }

    #[inline]
    fn seal_if_full(&self, page: &mut Page) {
        if page.bytes >= self.page_bytes {
            self.seal(page);
        }
    }

    /// Adds a record that has its own times.
    fn add<R: Record>(&self, seat: &Seat, record: R) {
        let mut page = self.page(seat.place);
        page.add(record);
        self.seal_if_full(&mut page);
    }

    #[cold]
    fn seal(&self, page: &mut Page) {
        let full = std::mem::take(page);
        *page = held(self.ring.lock()).seal(full);
    }

    /// Reads the clock and stores the time for later records of this seat, such as a task becoming ready.
    pub(crate) fn moment(&self, seat: &Seat) -> u64 {
        let now = self.now_ns();
        self.page(seat.place).last_ns = now;
        now
    }

    /// Records that a task is being inserted.
    #[inline]
    pub(crate) fn task(&self, seat: &Seat, id: TaskId, spec: &TaskSpec, site: &'static Location<'static>) {
        let TaskSpec { name, priority, level, index, flops, bytes, .. } = *spec;
        let inserted_ns = self.now_ns();
        let mut page = self.page(seat.place);
        page.last_ns = inserted_ns;
        page.add(TaskRecord { id, name, site, inserted_ns, priority, level, index, flops, bytes });
        self.seal_if_full(&mut page);
    }

    /// Records an access of the task in insertion to a version: every hazard with an earlier access, finished or not.
    #[inline(never)]
    pub(crate) fn access(&self, seat: &Seat, submission: &mut VersionHazards, to: TaskId, mode: Mode) {
        if submission.number == 0 {
            submission.number = self.data.fetch_add(1, Ordering::Relaxed) + 1;
        }
        let datum = submission.number;
        let mut page = self.page(seat.place);
        let history = submission.history.get_or_insert_default();
        history.access(mode, to, |_| false, |from, hazard| page.add(HazardRecord { from, to, hazard, datum }));
        self.seal_if_full(&mut page);
    }

    /// Records that a task has become ready, at the time last read at this seat.
    #[inline(never)]
    pub(crate) fn ready(&self, seat: &Seat) {
        let mut page = self.page(seat.place);
        let at_ns = page.last_ns;
        page.add(at_ns);
        self.seal_if_full(&mut page);
    }

    /// Records the end of a task at this seat. A cancelled task has no duration.
    #[inline(never)]
    pub(crate) fn span(&self, seat: &Seat, task: TaskId, started_ns: u64, outcome: Outcome) {
        let end_ns = self.now_ns();
        let start_ns = if outcome == Outcome::Cancelled { end_ns } else { started_ns };
        let mut page = self.page(seat.place);
        page.last_ns = end_ns;
        page.add(Span { task, lane: seat.place.0, start_ns, end_ns, outcome });
        self.seal_if_full(&mut page);
    }

    /// Records that the thread at this seat was stalled from `start_ns` until now.
    pub(crate) fn stall(&self, seat: &Seat, reason: Stall, start_ns: u64) {
        self.activity(seat, ActivityKind::Stall(reason), (start_ns, self.now_ns()));
    }

    /// Returns the time `ago_ns` before now; `None` if that is before the recording.
    pub(crate) fn ago(&self, ago_ns: u64) -> Option<u64> {
        self.now_ns().checked_sub(ago_ns)
    }

    /// Returns the lane of a device's queue.
    fn lane_of(&self, queue: DeviceQueue) -> u32 {
        self.queues[usize::from(queue.device)] + u32::from(queue.queue)
    }

    /// Returns the time range to record for work in this queue, whose end was reported or noticed at `ended_ns`. The
    /// range starts at the latest of three times: `since_ns`, the end of the queue's previous work, and, if the driver
    /// knows the duration, `busy_ns` before the end.
    pub(crate) fn lane_span(&self, queue: DeviceQueue, since_ns: u64, busy_ns: Option<u64>, ended_ns: u64) -> LaneSpan {
        let lane = self.lane_of(queue);
        let mut ends = held(self.ends.lock());
        let before_ns = &mut ends[lane as usize];
        let end_ns = ended_ns.max(since_ns).max(*before_ns);
        let begun_ns = busy_ns.map_or(since_ns, |busy_ns| end_ns.saturating_sub(busy_ns).max(since_ns));
        let start_ns = begun_ns.max(*before_ns).min(end_ns);
        *before_ns = end_ns;
        LaneSpan { lane, start_ns, end_ns }
    }

    /// Returns the range of work whose [`lane_span`](Self::lane_span) was computed before, and which began no sooner
    /// than `since_ns`.
    pub(crate) fn fixed_span(&self, queue: DeviceQueue, since_ns: u64, end_ns: u64) -> LaneSpan {
        LaneSpan { lane: self.lane_of(queue), start_ns: since_ns, end_ns: end_ns.max(since_ns) }
    }

    /// Records a task that a device has finished.
    pub(crate) fn device_span(&self, seat: &Seat, task: TaskId, slice: LaneSpan, outcome: Outcome) {
        let LaneSpan { lane, start_ns, end_ns } = slice;
        self.add(seat, Span { task, lane, start_ns, end_ns, outcome });
    }

    /// Records a copy that a device has finished.
    pub(crate) fn transfer(&self, seat: &Seat, (from, to): (u16, u16), bytes: usize, slice: LaneSpan) {
        let LaneSpan { lane, start_ns, end_ns } = slice;
        let kind = ActivityKind::Transfer { from: NodeId(from.into()), to: NodeId(to.into()), bytes: bytes as u64 };
        self.add(seat, Activity { kind, lane, start_ns, end_ns, task: None, datum: None });
    }

    /// Records that replicas of a memory node were evicted.
    pub(crate) fn eviction(&self, seat: &Seat, node: u16, bytes: u64) {
        let now_ns = self.now_ns();
        self.activity(seat, ActivityKind::Eviction { node: NodeId(node.into()), bytes }, (now_ns, now_ns));
    }

    /// Records that a task has waited for memory of a node from `since_ns` until now.
    pub(crate) fn allocation(&self, seat: &Seat, node: u16, bytes: u64, since_ns: u64) {
        self.activity(seat, ActivityKind::Allocation { node: NodeId(node.into()), bytes }, (since_ns, self.now_ns()));
    }

    /// Records that `bytes` bytes of a memory node are in use from now on.
    pub(crate) fn memory_in_use(&self, seat: &Seat, node: u16, bytes: u64) {
        let counter = Counter::NodeBytes(NodeId(node.into()));
        self.add(seat, CounterSample { counter, at_ns: self.now_ns(), value: bytes });
    }

    /// Records what was predicted for an operation whose tasks were inserted at this seat from `since` until now.
    pub(crate) fn plan(&self, seat: &Seat, since: Instant, prediction: Prediction, site: &'static Location<'static>) {
        let start_ns = since.saturating_duration_since(self.epoch).as_nanos() as u64;
        let inserted_ns = self.moment(seat);
        self.add(seat, PlanRecord { prediction, site, lane: self.plans, start_ns, inserted_ns });
    }

    /// Records an activity on the seat's own lane.
    fn activity(&self, seat: &Seat, kind: ActivityKind, (start_ns, end_ns): (u64, u64)) {
        let mut page = self.page(seat.place);
        page.last_ns = page.last_ns.max(end_ns);
        page.add(Activity { kind, lane: seat.place.0, start_ns, end_ns, task: None, datum: None });
        self.seal_if_full(&mut page);
    }

    /// Returns what was recorded since the last call.
    pub(crate) fn take(&self) -> Recording {
        self.seal_all();
        self.collect(held(self.ring.lock()).read(Purpose::Taking))
    }

    /// Seals the seats' current pages, so that they can be read.
    fn seal_all(&self) {
        for seat in &self.seats {
            let mut page = held(seat.lock());
            if !page.is_empty() {
                self.seal(&mut page);
            }
        }
    }

    /// Returns an empty recording with all lanes.
    fn blank(&self) -> Recording {
        Recording { notices: self.notices.texts(), ..self.blank.clone() }
    }
}

/// Returns the lane of a seat where a thread runs tasks.
pub(crate) fn worker_lane(name: String) -> Lane {
    Lane { name, kind: LaneKind::Worker, process: "workers".to_owned() }
}

/// A queue of a device.
#[derive(Clone, Copy)]
pub(crate) struct DeviceQueue {
    pub(crate) device: u16,
    pub(crate) queue: u16,
}

/// The time range of work on a lane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LaneSpan {
    pub(crate) lane: u32,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
}

#[cfg(all(test, not(loom)))]
mod cost {
    use super::*;
    use std::hint::black_box;

    const RECORDS: u64 = 200_000;
    const ROUNDS: usize = 15;

    /// Returns the median of several rounds, in nanoseconds per record, into a full ring.
    fn cost_ns(record: impl Fn(&Recorder, &Seat, u64)) -> f64 {
        let settings = RecorderSettings { memory_bytes: 16 << 20, has_file: false, elsewhere: DeviceLanes::default() };
        let lanes = vec![worker_lane("worker 0".to_owned())];
        let blank = Recording { lanes, workers: Some(1), window: Some(1), ..Recording::default() };
        let (recorder, seat) = (Recorder::new(settings, blank, Arc::default()), Seat::new(Place(0)));
        let mut rounds: Vec<f64> = (0..=ROUNDS)
            .map(|_| {
                let begun = Instant::now();
                (0..RECORDS).for_each(|at| record(&recorder, &seat, at));
                begun.elapsed().as_nanos() as f64 / RECORDS as f64
            })
            .skip(1)
            .collect();
        rounds.sort_by(f64::total_cmp);
        rounds[rounds.len() / 2]
    }

    #[test]
    #[ignore = "prints timings; needs a release build on a quiet machine"]
    fn of_each_kind_of_record() {
        let spec = TaskSpec::new("task");
        let clock = |recorder: &Recorder, _: &Seat, _| {
            black_box(recorder.now_ns());
        };
        println!("clock {:.1} ns", cost_ns(clock));
        let site = Location::caller();
        println!("task {:.1} ns", cost_ns(|recorder, seat, at| recorder.task(seat, TaskId(at), &spec, site)));
        println!("ready {:.1} ns", cost_ns(|recorder, seat, _| recorder.ready(seat)));
        let span = |recorder: &Recorder, seat: &Seat, at| {
            let started_ns = recorder.now_ns();
            recorder.span(seat, TaskId(at), started_ns, Outcome::Completed);
        };
        println!("span, with two clock reads {:.1} ns", cost_ns(span));
        let submission = std::cell::RefCell::new(VersionHazards::default());
        let access = |recorder: &Recorder, seat: &Seat, at| {
            recorder.access(seat, &mut submission.borrow_mut(), TaskId(at), Mode::ReadWrite);
        };
        println!("access, with one hazard {:.1} ns", cost_ns(access));
    }
}
