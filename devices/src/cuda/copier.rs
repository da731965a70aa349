//! [`Copier`]: the thread that handles a queue's copies between the device and host memory that the device cannot
//! access.
//!
//! A copy is split into pieces that go through a ring of pinned buffers (`ring`). For a copy in, a host thread
//! (`host_copy`) fills a buffer and the device empties it; for a copy out, the device fills it and a host thread
//! empties it. Pieces keep their order, and those of the next copy follow immediately, so neither the host threads nor
//! the bus idle between copies.
//!
//! # When a copy may begin
//!
//! Host memory must not be read before the events that the copy waits for are reached, so for a copy in, this thread
//! waits for them. In practice they usually are reached already, because memory in the heap is reassigned only when
//! nobody uses it any more. A copy out reads the heap, for which the stream can wait.
//!
//! # When a copy ends
//!
//! A copy in ends on the device; once all of it is in the stream, it is like any other work there. A copy out has two
//! ends. The event behind its last piece means that the heap was read, which is what tasks wait for. The copy is over
//! when a host thread has written the last piece to its destination.
//!
//! # No deadlock
//!
//! This thread waits for events of other queues. The work of those queues may itself be held by their copiers, which
//! may wait for copies held by this one. Therefore, before this thread waits for anything, it finishes all copies that
//! it has started. A copy can only wait for work that was inserted before it, so the oldest copy over all queues that
//! no copier has started can always start.

use super::{
    device_state::DeviceState,
    group::{Group, StreamWaits},
    host_copy::{HostCopy, HostCopyThreads},
    marks::{SpareMarks, WorkMarks},
    pieces::Pieces,
    queue_state::{EventStatus, QueueState, Stage},
    ring::{BufferedPiece, NextStep, PIECE_BYTES, Ring},
    stream::{Stream, is_over},
    transfer::{Address, CopyJob, CopySide, enqueue},
};
use crate::signal::nap_exactly;
use cudarc::driver::sys::CUevent;
use std::{
    collections::VecDeque,
    sync::{
        Arc,
        mpsc::{Receiver, Sender, TryRecvError, channel},
    },
    thread::{self, Builder, JoinHandle},
    time::{Duration, Instant},
};
use superscalar_runtime::{DeviceError, Event};

/// The owner of the copier thread. When dropped, it waits until the thread has finished all copies that it was given.
#[derive(Debug)]
pub(super) struct Copier {
    orders: Option<Sender<CopyOrder>>,
    thread: Option<JoinHandle<()>>,
}

/// A copy with its ticket and the events that it waits for.
#[derive(Debug)]
struct CopyOrder {
    ticket: u64,
    waits: Vec<Event>,
    job: CopyJob,
}

impl Copier {
    pub(super) fn start(
        state: Arc<DeviceState>,
        group: Arc<Group>,
        queue: u16,
        stream: Arc<Stream>,
    ) -> Result<Self, DeviceError> {
        let (orders, given) = channel();
        let name = format!("superscalar-copier-{}-{queue}", state.index);
        let this = CopierThread {
            state,
            group,
            queue,
            stream,
            ring: Ring::default(),
            spare_marks: SpareMarks::default(),
            started: VecDeque::new(),
            ended: 0,
        };
        let thread = Builder::new().name(name).spawn(move || this.run(&given));
        let thread =
            thread.map_err(|error| DeviceError::new(format!("cannot start a thread for copies in pieces: {error}")))?;
        Ok(Self { orders: Some(orders), thread: Some(thread) })
    }

    /// Hands a copy to the thread. The copy is already in the queue's state.
    pub(super) fn give(&self, ticket: u64, waits: Vec<Event>, job: CopyJob) {
        if let Some(orders) = &self.orders {
            // The thread ends only when this value is dropped, so the receiver exists.
            let _ = orders.send(CopyOrder { ticket, waits, job });
        }
    }
}

impl Drop for Copier {
    fn drop(&mut self) {
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The state of the thread.
struct CopierThread {
    state: Arc<DeviceState>,
    group: Arc<Group>,
    queue: u16,
    stream: Arc<Stream>,
    ring: Ring,
    spare_marks: SpareMarks,
    /// Copies that have started and not ended, in order. `ended` counts those before them; together they number the
    /// copies.
    started: VecDeque<StartedCopy>,
    ended: usize,
}

struct StartedCopy {
    ticket: u64,
    since: Instant,
    marks: WorkMarks,
    failed: Option<DeviceError>,
}

impl CopierThread {
    fn run(mut self, orders: &Receiver<CopyOrder>) {
        nap_exactly();
        loop {
            let order = match orders.try_recv() {
                Ok(order) => order,
                Err(TryRecvError::Empty) if self.ring.is_empty() => match orders.recv() {
                    Ok(order) => order,
                    Err(_) => return,
                },
                Err(TryRecvError::Empty) => {
                    self.advance();
                    continue;
                }
                Err(TryRecvError::Disconnected) => return self.drain(),
            };
            self.start_copy(&order);
            if order.job.in_pieces {
                self.copy_in_pieces(order.job);
            } else {
                self.copy_at_once(order.job);
            }
        }
    }

    fn queue_state(&self) -> &QueueState {
        &self.state.queues[usize::from(self.queue)]
    }

    /// Waits for the events of a copy, on the host or in the stream.
    fn start_copy(&mut self, order: &CopyOrder) {
        let CopyOrder { ticket, waits, job } = order;
        let mut started =
            StartedCopy { ticket: *ticket, since: Instant::now(), marks: WorkMarks::default(), failed: None };
        let is_read_here = job.in_pieces && matches!(job.from.address, Address::Host(_));
        let own = (self.state.index, self.queue);
        let must_wait = |event: &Event| match self.group.status(*event) {
            // Work in this queue comes first anyway.
            _ if (event.device, event.queue) == own => false,
            EventStatus::Over => false,
            EventStatus::Event(_, stage) => is_read_here || stage != Stage::Issued,
            EventStatus::NoEvent | EventStatus::Failed => true,
        };
        let awaited: Vec<Event> = waits.iter().copied().filter(must_wait).collect();
        if !awaited.is_empty() {
            self.drain();
            started.failed = self.group.await_ends(&self.state, &awaited);
        }
        if started.failed.is_none() {
            let others: Vec<Event> = waits.iter().filter(|event| (event.device, event.queue) != own).copied().collect();
            started.failed = self.add_waits(&mut started.marks, own, &others).err();
        }
        started.since = Instant::now();
        self.started.push_back(started);
    }

    /// Makes the stream wait for the events, and marks the beginning.
    fn add_waits(&mut self, marks: &mut WorkMarks, own: (u16, u16), waits: &[Event]) -> Result<(), DeviceError> {
        self.state.check_not_lost()?;
        self.state.context.make_current()?;
        if let StreamWaits::Refused(error) = self.group.add_waits(self.stream.raw(), own, waits)? {
            return Err(error);
        }
        *marks = self.state.queues[usize::from(self.queue)].marks(&mut self.spare_marks, true)?;
        marks.begin.as_ref().map_or(Ok(()), |begin| begin.record(self.stream.raw()))
    }

    /// Issues a copy that needs no buffer but must keep its order behind others.
    fn copy_at_once(&mut self, job: CopyJob) {
        // All earlier copies must be in the stream first.
        let number = self.last_number();
        self.drain();
        let CopyJob { shape, from, to, .. } = job;
        self.unless_failed(number, |this| {
            // SAFETY: the runtime keeps both sides valid and unchanged until the end is reported, which is not before
            // the copy's mark is reached.
            unsafe { enqueue(this.stream.raw(), shape, from, to) }
        });
        self.finish_issue(number);
    }

    /// Issues a copy through the buffers.
    fn copy_in_pieces(&mut self, job: CopyJob) {
        let number = self.last_number();
        self.unless_failed(number, |this| this.ring.prepare(&this.state.context));
        if self.has_failed(number) {
            self.drain();
            return self.finish_copy(number);
        }
        for piece in Pieces::new(job.shape, PIECE_BYTES) {
            while self.ring.is_full() {
                self.advance();
            }
            let slot = self.ring.begin(BufferedPiece { piece, job, number });
            self.fill(slot);
            while let NextStep::Ready(slot, is_filling) = self.next() {
                self.continue_piece(slot, is_filling);
            }
        }
    }

    fn last_number(&self) -> usize {
        self.ended + self.started.len() - 1
    }

    fn has_failed(&self, number: usize) -> bool {
        self.started.get(number - self.ended).is_none_or(|started| started.failed.is_some())
    }

    /// Runs `act` for a copy, unless the copy has failed. Records an error.
    fn unless_failed(&mut self, number: usize, act: impl FnOnce(&mut Self) -> Result<(), DeviceError>) {
        if !self.has_failed(number)
            && let Err(error) = act(self)
            && let Some(started) = self.started.get_mut(number - self.ended)
        {
            started.failed = Some(error);
        }
    }

    /// Fills a buffer: from host memory by a host thread, or from the heap by the device.
    fn fill(&mut self, slot: usize) {
        let Some((BufferedPiece { piece, job, number }, buffer)) = self.ring.part(slot) else { return };
        let (from, to) =
            (job.from.at(piece.row, piece.column), CopySide { address: buffer, stride: piece.shape.row_bytes });
        self.move_piece(slot, number, from, to);
        if piece.is_last && matches!(job.from.address, Address::Device(_)) {
            self.finish_device_part(number);
        }
    }

    /// Empties a buffer: to the heap by the device, or to host memory by a host thread.
    fn empty(&mut self, slot: usize) {
        let Some((BufferedPiece { piece, job, number }, buffer)) = self.ring.part(slot) else { return };
        let (from, to) =
            (CopySide { address: buffer, stride: piece.shape.row_bytes }, job.to.at(piece.row, piece.column));
        self.move_piece(slot, number, from, to);
        if piece.is_last && matches!(job.to.address, Address::Device(_)) {
            self.finish_issue(number);
        }
    }

    /// Starts to move a piece to or from its buffer.
    fn move_piece(&mut self, slot: usize, number: usize, from: CopySide, to: CopySide) {
        let Some((BufferedPiece { piece, .. }, _)) = self.ring.part(slot) else { return };
        self.unless_failed(number, |this| match (from.address, to.address) {
            (Address::Host(source), Address::Host(target)) => {
                let (shape, done) = (piece.shape, this.ring.closed_latch(slot));
                let (from_stride, to_stride) = (from.stride, to.stride);
                // SAFETY: the runtime keeps host memory valid and unchanged until the end of the copy is reported,
                // which is not before all pieces are done. Only this piece uses the buffer, and the device does not
                // access it now: it has filled it, or has not started to empty it.
                unsafe {
                    HostCopyThreads::shared().give(HostCopy {
                        shape,
                        from: source,
                        from_stride,
                        to: target,
                        to_stride,
                        done,
                    });
                }
                Ok(())
            }
            _ => {
                // SAFETY: the runtime keeps the heap's region until the end of the copy is reported. Only this piece
                // uses the buffer, which is pinned, and no host thread accesses it now: it has filled it, or has not
                // started to empty it.
                unsafe { enqueue(this.stream.raw(), piece.shape, from, to)? };
                this.ring.mark(slot, this.stream.raw())
            }
        });
    }

    /// Advances a piece by one step, and waits for the step if necessary.
    fn advance(&mut self) {
        match self.next() {
            NextStep::Ready(slot, is_filling) => self.continue_piece(slot, is_filling),
            NextStep::Waiting(slot, is_filling) => {
                self.await_piece(slot, is_filling);
                self.continue_piece(slot, is_filling);
            }
            NextStep::Nothing => {}
        }
    }

    fn next(&self) -> NextStep {
        self.ring.next(|mark| is_over(mark).unwrap_or(true))
    }

    /// Continues with a piece whose buffer is full, or empty again.
    fn continue_piece(&mut self, slot: usize, is_filling: bool) {
        if is_filling {
            self.ring.emptying();
            return self.empty(slot);
        }
        self.ring.ended();
        if let Some((BufferedPiece { piece, job, number }, _)) = self.ring.part(slot)
            && piece.is_last
            && matches!(job.to.address, Address::Host(_))
        {
            self.finish_copy(number);
        }
    }

    /// Waits until a piece's buffer is full, or empty again.
    fn await_piece(&mut self, slot: usize, is_filling: bool) {
        let Some((BufferedPiece { job, number, .. }, _)) = self.ring.part(slot) else { return };
        let is_with_host = matches!(job.from.address, Address::Host(_)) == is_filling;
        if is_with_host {
            HostCopyThreads::shared().wait(self.ring.latch(slot));
        } else if let Some(mark) = self.ring.event(slot)
            && let Err(error) = self.await_mark(mark)
        {
            self.unless_failed(number, |_| Err(error));
        }
    }

    /// Waits for a mark by polling. A blocking call might never return: the stream may wait for a lost device, and this
    /// device may be given up because of that.
    fn await_mark(&self, mark: CUevent) -> Result<(), DeviceError> {
        while !is_over(mark)? {
            self.state.check_not_lost()?;
            thread::sleep(Duration::from_micros(20));
        }
        Ok(())
    }

    /// Completes the issue of a copy in, or of one that needs no buffer: all of it is in the stream.
    fn finish_issue(&mut self, number: usize) {
        self.unless_failed(number, |this| {
            let started = &this.started[number - this.ended];
            started.marks.end.as_ref().map_or(Ok(()), |end| end.record(this.stream.raw()))
        });
        if self.has_failed(number) {
            return self.finish_copy(number);
        }
        let Some(started) = self.started.pop_front() else { return };
        self.ended += 1;
        self.queue_state().set_issued(started.ticket, started.marks);
    }

    /// Records the mark behind the last piece of a copy out.
    fn finish_device_part(&mut self, number: usize) {
        let mut mark = None;
        self.unless_failed(number, |this| {
            mark = this.started[number - this.ended].marks.end.take();
            mark.as_ref().map_or(Ok(()), |mark| mark.record(this.stream.raw()))
        });
        if let (false, Some(mark)) = (self.has_failed(number), mark) {
            let marks = WorkMarks { begin: self.started[number - self.ended].marks.begin.take(), end: Some(mark) };
            self.queue_state().set_writing_host(self.started[number - self.ended].ticket, marks);
        }
    }

    /// Completes the oldest copy, which is over or has failed.
    fn finish_copy(&mut self, number: usize) {
        debug_assert_eq!(number, self.ended, "copies end in order");
        let Some(started) = self.started.pop_front() else { return };
        self.ended += 1;
        if started.failed.is_some() {
            self.group.note_failure();
        }
        let busy_ns = u64::try_from(started.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.queue_state().keep(started.marks);
        let result = started.failed.map_or(Ok(()), |error| Err(self.state.device_error(error)));
        self.queue_state().set_copier_done(started.ticket, busy_ns, result);
        // No mark in a stream reports this end, so wake the issuer.
        self.state.signal.raise();
    }

    /// Completes all pieces in the ring.
    fn drain(&mut self) {
        while !self.ring.is_empty() {
            self.advance();
        }
    }
}
