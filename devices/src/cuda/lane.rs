//! [`Lane`]: a queue, as work is inserted into it and collected from it.
//!
//! Whoever inserts work holds one lock from the first command to the ticket, so that tickets follow the order of the
//! stream. The [`QueueState`] keeps what is in the queue; the issuer reads it at the same time. No lock is held while
//! an end is reported to the runtime or a task's outcome is checked.

use super::{
    clock::{DeviceClock, DeviceReading},
    copier::Copier,
    device_state::DeviceState,
    group::{Group, StreamWaits},
    marks::SpareMarks,
    queue::Queue,
    queue_state::{OldestEnd, PlainEnd, QueueState, QueuedWork, Stage},
    signal::Inserted,
    transfer::CopyJob,
};
use cudarc::driver::sys::CUstream;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};
use superscalar_runtime::{DeviceError, Event, Finished};

/// Copies of at least this many bytes are timed. The time of smaller copies is mostly latency, which says nothing about
/// a link's bandwidth, and timing costs more than it is worth.
const TIMED_COPY_BYTES: usize = 128 << 10;

#[derive(Debug)]
pub(super) struct Lane {
    number: u16,
    /// Whether tasks may be timed.
    may_time: bool,
    state: Arc<DeviceState>,
    group: Arc<Group>,
    insertion: Mutex<Insertion>,
}

/// The device's clock, and the host time at which an end was noticed.
type NoticedAt<'a> = (&'a DeviceClock, u64);

/// Records the end of work at `ended_ns` and returns the relation of the clocks.
fn reading(clock: Option<NoticedAt<'_>>, ended_ns: Option<f64>) -> Option<DeviceReading> {
    clock.zip(ended_ns).map(|((clock, noticed_ns), ended_ns)| clock.noticed(ended_ns, noticed_ns))
}

#[derive(Debug)]
struct Insertion {
    queue: Queue,
    spare_marks: SpareMarks,
    /// The thread that handles copies in pieces; started for the first of them.
    copier: Option<Copier>,
}

impl Lane {
    pub(super) fn new(queue: Queue, number: u16, may_time: bool, group: Arc<Group>) -> Self {
        let state = Arc::clone(&queue.state);
        Self {
            number,
            may_time,
            state,
            group,
            insertion: Mutex::new(Insertion { queue, spare_marks: SpareMarks::default(), copier: None }),
        }
    }

    fn queue_state(&self) -> &QueueState {
        &self.state.queues[usize::from(self.number)]
    }

    fn lock_insertion(&self) -> MutexGuard<'_, Insertion> {
        self.insertion.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the device's clock in this queue.
    pub(super) fn start_clock(&self) -> Result<(), DeviceError> {
        let stream = self.lock_insertion().queue.shared_stream();
        let clock = DeviceClock::start(&self.state.context, &stream)?;
        self.state.clock.set(clock).map_err(|_| DeviceError::new("the clock was started twice"))
    }

    /// Inserts the work that `fill` issues, behind the events, and times it if wanted. Returns its ticket.
    pub(super) fn put(
        &self,
        waits: &[Event],
        is_timed: bool,
        fill: impl FnOnce(&mut Queue) -> Result<(), DeviceError>,
    ) -> Result<u64, DeviceError> {
        self.group.check(waits)?;
        let insertion = &mut *self.lock_insertion();
        self.state.context.make_current()?;
        // The issuer must wait here, because a task's implementation cannot be stored for later. Copiers do not need
        // the issuer.
        self.group.await_events(waits);
        let ticket = self.put_now(insertion, waits, self.may_time && is_timed, fill)?;
        self.state.signal.nudge(Inserted::Task);
        Ok(ticket)
    }

    /// Inserts a task, or the single command of a copy.
    fn put_now(
        &self,
        Insertion { queue, spare_marks, .. }: &mut Insertion,
        waits: &[Event],
        is_timed: bool,
        fill: impl FnOnce(&mut Queue) -> Result<(), DeviceError>,
    ) -> Result<u64, DeviceError> {
        let mut work = QueuedWork::default();
        let (refused, mut is_empty) = match self.group.add_waits(queue.raw(), (self.state.index, self.number), waits)? {
            StreamWaits::Ready { is_any } => (None, !is_any && !is_timed),
            StreamWaits::Refused(error) => (Some(error), false),
        };
        work.marks = self.queue_state().marks(spare_marks, is_timed)?;
        if let Some(begin) = &work.marks.begin {
            begin.record(queue.raw())?;
        }
        queue.begin();
        let result = refused.map_or_else(|| fill(queue).map_err(|error| (error, false)), |error| Err((error, true)));
        let contents = queue.end()?;
        if let Err((error, is_refused)) = result {
            if error.is_lost() || !contents.may_have_work && !is_refused {
                self.queue_state().keep(work.marks);
                return Err(error);
            }
            self.group.note_failure();
            work.failed = Some(error);
        }
        is_empty &= work.failed.is_none() && !contents.may_have_work && contents.checks.is_empty();
        if is_empty {
            // There is nothing to mark: the task is over when the work before it is.
            spare_marks.keep(std::mem::take(&mut work.marks));
        } else if let Some(end) = &work.marks.end {
            end.record(queue.raw())?;
        }
        work.checks = contents.checks;
        Ok(self.queue_state().push(work, waits))
    }

    /// Inserts a copy: as one command, if it need not go through the copier. The device's context must be current in
    /// this thread.
    pub(super) fn copy(
        &self,
        waits: &[Event],
        in_pieces: bool,
        job: CopyJob,
        command: impl FnOnce(CUstream) -> Result<(), DeviceError>,
    ) -> Result<u64, DeviceError> {
        self.group.check(waits)?;
        let insertion = &mut *self.lock_insertion();
        if !in_pieces && !self.queue_state().has_copier_work() && !self.group.any_at_copiers(waits) {
            let is_timed = job.shape.bytes() >= TIMED_COPY_BYTES;
            let put = |queue: &mut Queue| command(queue.raw()).map(|()| queue.note_work());
            let ticket = self.put_now(insertion, waits, is_timed, put)?;
            self.state.signal.nudge(if job.is_between_heaps() { Inserted::PeerCopy } else { Inserted::HostCopy });
            return Ok(ticket);
        }
        if insertion.copier.is_none() {
            let stream = insertion.queue.shared_stream();
            let copier = Copier::start(Arc::clone(&self.state), Arc::clone(&self.group), self.number, stream)?;
            insertion.copier = Some(copier);
        }
        let work = QueuedWork { stage: Stage::AtCopier, ..QueuedWork::default() };
        let ticket = self.queue_state().push(work, waits);
        if let Some(copier) = &insertion.copier {
            copier.give(ticket, waits.to_vec(), job);
        }
        self.state.signal.nudge(Inserted::HostCopy);
        Ok(ticket)
    }

    /// Removes the work that is over and reports it. If the device is lost, all remaining work is removed.
    pub(super) fn collect(&self, report: &mut dyn FnMut(Finished)) {
        while self.queue_state().in_flight() > 0 {
            let over = match self.state.loss() {
                Some(_) => self.count_abandoned(),
                None => match self.queue_state().over() {
                    Ok(over) => over,
                    Err(error) => {
                        self.lose(error);
                        continue;
                    }
                },
            };
            if over == 0 {
                if self.group.give_up_if_stuck(&self.state, usize::from(self.number)).is_some() {
                    self.group.note_failure();
                    continue;
                }
                return;
            }
            let clock = self.state.clock.get().map(|clock| (clock, clock.now_ns()));
            self.collect_oldest(over, clock, report);
            if !self.state.is_lost() {
                return;
            }
        }
    }

    /// Removes and reports the oldest `over` pieces of work, whose end was noticed at the clock's time.
    fn collect_oldest(&self, mut over: usize, clock: Option<NoticedAt<'_>>, report: &mut dyn FnMut(Finished)) {
        let mut closed = [PlainEnd::default(); 16];
        while over > 0 {
            // Without any failure, work without outcomes to check has ended well.
            let may_fail = self.group.has_failures() || self.state.is_lost();
            let room = if may_fail { 0 } else { over.min(closed.len()) };
            let count = self.queue_state().remove_plain(&mut closed[..room], clock.map(|(clock, _)| clock));
            let reading = reading(clock, closed[..count].iter().rev().find_map(|closed| closed.ended_ns));
            for &PlainEnd { ticket, busy_ns, ended_ns } in &closed[..count] {
                let ended_ago_ns = reading.zip(ended_ns).map(|(reading, ended_ns)| reading.ago_ns(ended_ns));
                report(Finished { queue: self.number, ticket, busy_ns, ended_ago_ns, result: Ok(()) });
            }
            over -= count;
            if count < room || room == 0 {
                self.collect_front(clock, report);
                over -= 1;
            }
        }
    }

    /// Returns how much of the queue of a lost device can be reported now: all except what a copier still holds.
    fn count_abandoned(&self) -> usize {
        let front = self.queue_state().oldest();
        usize::from(front.is_some_and(|front| !matches!(front.stage, Stage::AtCopier | Stage::WritingHost)))
    }

    fn lose(&self, error: DeviceError) {
        let error = if error.is_lost() { error } else { DeviceError::lost(error.to_string()) };
        self.state.device_error(error);
        self.group.note_failure();
    }

    fn collect_front(&self, clock: Option<NoticedAt<'_>>, report: &mut dyn FnMut(Finished)) {
        let opened = self.queue_state().take_checks_of_oldest(clock.map(|(clock, _)| clock));
        let Some(OldestEnd { ticket, checks, failed, busy_ns, ended_ns }) = opened else { return };
        let mut result = failed.map_or(Ok(()), Err);
        if let Some(loss) = self.state.loss() {
            result = Err(loss.clone());
        }
        for (slot, judge) in checks {
            result = result.and_then(|()| judge(&slot.bytes()));
        }
        if result.is_ok() && self.group.has_failures() {
            let failed = self.group.first_failed(self.queue_state().awaited(ticket));
            result = failed.map_or(Ok(()), |event| Err(self.group.awaited_failure(event)));
        }
        let has_failed = result.as_ref().is_err_and(|error| !error.is_outcome());
        if has_failed {
            self.group.note_failure();
        }
        self.queue_state().remove_oldest(has_failed);
        let result = result.map_err(|error| self.state.device_error(error));
        // Only now, because checking an outcome may take time.
        let ended_ago_ns = reading(clock, ended_ns).zip(ended_ns).map(|(reading, ended_ns)| reading.ago_ns(ended_ns));
        report(Finished { queue: self.number, ticket, busy_ns, ended_ago_ns, result });
    }

    /// Waits until all work has ended, and removes it. Work that the driver does not end is abandoned.
    pub(super) fn close(&mut self) {
        let insertion = self.insertion.get_mut().unwrap_or_else(PoisonError::into_inner);
        drop(insertion.copier.take());
        let stream = insertion.queue.shared_stream();
        // Poll instead of a blocking call: a stream may wait for a lost device.
        while let Ok(false) = stream.is_empty() {
            let queue = usize::from(self.number);
            if self.state.is_lost() || self.group.give_up_if_stuck(&self.state, queue).is_some() {
                break;
            }
            thread::sleep(Duration::from_micros(50));
        }
        let mut left = usize::MAX;
        while self.queue_state().in_flight() < left {
            left = self.queue_state().in_flight();
            self.collect(&mut |_| ());
        }
    }
}
