//! [`Lane`]: a queue, as work is put into it and collected from it.
//!
//! One lock is held by whoever puts work in, from the first command to the ticket, so that tickets count in the stream's order. What is in the
//! queue is the affair of its [`Line`], which the issuer looks through meanwhile. No lock is held while the runtime is told of an end, or a
//! task's result is judged.

use super::{
    board::Board,
    clock::{DeviceClock, DeviceReading},
    copier::Copier,
    group::{Group, Waits},
    line::{Closed, Line, Opened, Stage, Work},
    marks::Stock,
    queue::Queue,
    signal::Put,
    transfer::Job,
};
use cudarc::driver::sys::CUstream;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};
use superscalar_runtime::{DeviceError, Event, Finished};

/// Copies of so many bytes are timed. Of smaller ones most of the time is latency, which says nothing of a link, and timing them costs
/// more than they do.
const TIMED_COPY_BYTES: usize = 128 << 10;

#[derive(Debug)]
pub(super) struct Lane {
    number: u16,
    /// Whether tasks are timed.
    is_timed: bool,
    board: Arc<Board>,
    group: Arc<Group>,
    entrance: Mutex<Entrance>,
}

/// The device's clock, and when by the host's it was noticed that something is over.
type Noticed<'a> = (&'a DeviceClock, u64);

/// How the clocks stand to each other, now that work was noticed which ended then.
fn reading(clock: Option<Noticed<'_>>, ended_ns: Option<f64>) -> Option<DeviceReading> {
    clock.zip(ended_ns).map(|((clock, noticed_ns), ended_ns)| clock.noticed(ended_ns, noticed_ns))
}

#[derive(Debug)]
struct Entrance {
    queue: Queue,
    stock: Stock,
    /// Who serves copies that go in pieces, from the first one on.
    copier: Option<Copier>,
}

impl Lane {
    pub(super) fn new(queue: Queue, number: u16, is_timed: bool, group: Arc<Group>) -> Self {
        let board = Arc::clone(&queue.board);
        Self {
            number,
            is_timed,
            board,
            group,
            entrance: Mutex::new(Entrance { queue, stock: Stock::default(), copier: None }),
        }
    }

    fn line(&self) -> &Line {
        &self.board.lines[usize::from(self.number)]
    }

    fn enter(&self) -> MutexGuard<'_, Entrance> {
        self.entrance.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the device's clock in this queue.
    pub(super) fn start_clock(&self) -> Result<(), DeviceError> {
        let stream = self.enter().queue.shared_stream();
        let clock = DeviceClock::start(&self.board.context, &stream)?;
        self.board.clock.set(clock).map_err(|_| DeviceError::new("its clock was started twice"))
    }

    /// Puts into the queue, behind the events, what `fill` puts there; returns its ticket.
    pub(super) fn put(
        &self,
        waits: &[Event],
        fill: impl FnOnce(&mut Queue) -> Result<(), DeviceError>,
    ) -> Result<u64, DeviceError> {
        self.group.check(waits)?;
        let entrance = &mut *self.enter();
        self.board.context.make_current()?;
        // A task's implementation is here now and can not be kept for later, so the issuer waits. Copiers do not need it.
        self.group.await_events(waits);
        let ticket = self.put_now(entrance, waits, self.is_timed, fill)?;
        self.board.signal.nudge(Put::Task);
        Ok(ticket)
    }

    /// Puts in a task, or the one command of a copy.
    fn put_now(
        &self,
        Entrance { queue, stock, .. }: &mut Entrance,
        waits: &[Event],
        is_timed: bool,
        fill: impl FnOnce(&mut Queue) -> Result<(), DeviceError>,
    ) -> Result<u64, DeviceError> {
        let mut work = Work::default();
        let (refused, mut is_empty) = match self.group.condition(queue.raw(), (self.board.index, self.number), waits)? {
            Waits::Ready { is_any } => (None, !is_any && !is_timed),
            Waits::Refused(error) => (Some(error), false),
        };
        work.marks = self.line().marks(stock, is_timed)?;
        if let Some(begin) = &work.marks.begin {
            begin.record(queue.raw())?;
        }
        queue.begin();
        let result = refused.map_or_else(|| fill(queue).map_err(|error| (error, false)), |error| Err((error, true)));
        let filling = queue.end()?;
        if let Err((error, is_refused)) = result {
            if error.is_lost() || !filling.is_begun && !is_refused {
                self.line().keep(work.marks);
                return Err(error);
            }
            self.group.note_failure();
            work.failed = Some(error);
        }
        is_empty &= work.failed.is_none() && !filling.is_begun && filling.judges.is_empty();
        if is_empty {
            // Then there is nothing to mark: it is over when what is before it is.
            stock.keep(std::mem::take(&mut work.marks));
        } else if let Some(end) = &work.marks.end {
            end.record(queue.raw())?;
        }
        work.judges = filling.judges;
        Ok(self.line().push(work, waits))
    }

    /// Puts a copy into the queue: one command, if it need not go through the copier. The device's context is the thread's current one.
    pub(super) fn copy(
        &self,
        waits: &[Event],
        in_pieces: bool,
        job: Job,
        command: impl FnOnce(CUstream) -> Result<(), DeviceError>,
    ) -> Result<u64, DeviceError> {
        self.group.check(waits)?;
        let entrance = &mut *self.enter();
        if !in_pieces && !self.line().is_with_copier() && !self.group.is_with_copiers(waits) {
            let is_timed = job.shape.bytes() >= TIMED_COPY_BYTES;
            let put = |queue: &mut Queue| command(queue.raw()).map(|()| queue.note_begun());
            let ticket = self.put_now(entrance, waits, is_timed, put)?;
            self.board.signal.nudge(if job.is_between_heaps() { Put::PeerCopy } else { Put::HostCopy });
            return Ok(ticket);
        }
        if entrance.copier.is_none() {
            let stream = entrance.queue.shared_stream();
            let copier = Copier::start(Arc::clone(&self.board), Arc::clone(&self.group), self.number, stream)?;
            entrance.copier = Some(copier);
        }
        let work = Work { stage: Stage::Held, ..Work::default() };
        let ticket = self.line().push(work, waits);
        if let Some(copier) = &entrance.copier {
            copier.give(ticket, waits.to_vec(), job);
        }
        self.board.signal.nudge(Put::HostCopy);
        Ok(ticket)
    }

    /// Takes out what is found to be over, and tells of it; of a lost device all that is left.
    pub(super) fn collect(&self, report: &mut dyn FnMut(Finished)) {
        while self.line().in_flight() > 0 {
            let over = match self.board.loss() {
                Some(_) => self.abandoned(),
                None => match self.line().over() {
                    Ok(over) => over,
                    Err(error) => {
                        self.lose(error);
                        continue;
                    }
                },
            };
            if over == 0 {
                if self.group.give_up_if_stuck(&self.board, usize::from(self.number)).is_some() {
                    self.group.note_failure();
                    continue;
                }
                return;
            }
            let clock = self.board.clock.get().map(|clock| (clock, clock.now_ns()));
            self.collect_oldest(over, clock, report);
            if !self.board.is_lost() {
                return;
            }
        }
    }

    /// Takes out so many, which are over, as was noticed at that moment of the clock.
    fn collect_oldest(&self, mut over: usize, clock: Option<Noticed<'_>>, report: &mut dyn FnMut(Finished)) {
        let mut closed = [Closed::default(); 16];
        while over > 0 {
            // Where nothing has failed, work without a judge has ended well.
            let may_fail = self.group.has_failures() || self.board.is_lost();
            let room = if may_fail { 0 } else { over.min(closed.len()) };
            let count = self.line().close_plain(&mut closed[..room], clock.map(|(clock, _)| clock));
            let reading = reading(clock, closed[..count].iter().rev().find_map(|closed| closed.ended_ns));
            for &Closed { ticket, busy_ns, ended_ns } in &closed[..count] {
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

    /// How much of the queue of a lost device is reported now: all but what a copier still has.
    fn abandoned(&self) -> usize {
        let front = self.line().front();
        usize::from(front.is_some_and(|front| !matches!(front.stage, Stage::Held | Stage::Landing)))
    }

    fn lose(&self, error: DeviceError) {
        let error = if error.is_lost() { error } else { DeviceError::lost(error.to_string()) };
        self.board.noted(error);
        self.group.note_failure();
    }

    fn collect_front(&self, clock: Option<Noticed<'_>>, report: &mut dyn FnMut(Finished)) {
        let opened = self.line().open_front(clock.map(|(clock, _)| clock));
        let Some(Opened { ticket, judges, failed, busy_ns, ended_ns }) = opened else { return };
        let mut result = failed.map_or(Ok(()), Err);
        if let Some(loss) = self.board.loss() {
            result = Err(loss.clone());
        }
        for (word, judge) in judges {
            result = result.and_then(|()| judge(&word.bytes()));
        }
        if result.is_ok() && self.group.has_failures() {
            let failed = self.group.failed_among(self.line().awaited(ticket));
            result = failed.map_or(Ok(()), |event| Err(self.group.failure_behind(event)));
        }
        let has_failed = result.as_ref().is_err_and(|error| !error.is_outcome());
        if has_failed {
            self.group.note_failure();
        }
        self.line().close_front(has_failed);
        let result = result.map_err(|error| self.board.noted(error));
        // Not before, as to judge may have taken time.
        let ended_ago_ns = reading(clock, ended_ns).zip(ended_ns).map(|(reading, ended_ns)| reading.ago_ns(ended_ns));
        report(Finished { queue: self.number, ticket, busy_ns, ended_ago_ns, result });
    }

    /// Waits until everything has ended, and forgets it. What a driver does not end is left alone.
    pub(super) fn close(&mut self) {
        let entrance = self.entrance.get_mut().unwrap_or_else(PoisonError::into_inner);
        drop(entrance.copier.take());
        let stream = entrance.queue.shared_stream();
        // Not by a call that waits: a stream may wait for a device that is lost.
        while let Ok(false) = stream.is_empty() {
            let line = usize::from(self.number);
            if self.board.is_lost() || self.group.give_up_if_stuck(&self.board, line).is_some() {
                break;
            }
            thread::sleep(Duration::from_micros(50));
        }
        let mut left = usize::MAX;
        while self.line().in_flight() < left {
            left = self.line().in_flight();
            self.collect(&mut |_| ());
        }
    }
}
