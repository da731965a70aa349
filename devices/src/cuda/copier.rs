//! [`Copier`]: the thread that serves a queue's copies between the device and host memory that it can not reach.
//!
//! A copy goes in pieces through a ring of pinned buffers (`ring`): on the way in the crew fills a buffer and the device empties it, on the way
//! out it is the other way round. Pieces keep their order, and those of the next copy follow at once, so neither the crew nor the bus
//! waits between copies.
//!
//! # When a copy may begin
//!
//! Host memory that is read must not be read before the events that the copy waits for have come; so a copy in waits for them here.
//! In practice they have: a place in the heap is given away when nobody uses it any more. A copy out reads the heap, for which the stream can wait
//! by itself.
//!
//! # When a copy ends
//!
//! A copy in ends on the device, so once all of it is in the stream it is like any other work there. A copy out *lands*: its event, behind the last
//! piece, says that the heap was read, which is what tasks wait for; it is over when the crew has brought the last piece to its place.
//!
//! # No circle
//!
//! This thread waits for events of other queues, which may be in the hands of their copiers only; those may wait for what is in this one's. So
//! before it waits for anything it brings what it has begun to its end. A copy can only wait for what was put into a queue before
//! it, over all queues, so the oldest copy that any copier has not begun can always begin.

use super::{
    board::Board,
    crew::{Crew, HostCopy},
    group::{Group, Waits},
    line::{Line, Look, Stage},
    marks::{Marks, Stock},
    pieces::Pieces,
    ring::{Next, PIECE_BYTES, Part, Ring},
    signal::nap_exactly,
    stream::{Stream, is_over},
    transfer::{End, Job, Place, enqueue},
};
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

/// See the module's head. When it is dropped it serves what it was given, and ends.
#[derive(Debug)]
pub(super) struct Copier {
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

/// A copy, with its ticket and what it waits for.
#[derive(Debug)]
struct Order {
    ticket: u64,
    waits: Vec<Event>,
    job: Job,
}

impl Copier {
    pub(super) fn start(
        board: Arc<Board>,
        group: Arc<Group>,
        line: u16,
        stream: Arc<Stream>,
    ) -> Result<Self, DeviceError> {
        let (orders, given) = channel();
        let name = format!("superscalar-copier-{}-{line}", board.index);
        let server = Server {
            board,
            group,
            line,
            stream,
            ring: Ring::default(),
            stock: Stock::default(),
            begun: VecDeque::new(),
            ended: 0,
        };
        let thread = Builder::new().name(name).spawn(move || server.serve(&given));
        let thread = thread.map_err(|error| DeviceError::new(format!("no thread for copies in pieces: {error}")))?;
        Ok(Self { orders: Some(orders), thread: Some(thread) })
    }

    /// Gives it a copy, whose work is in the queue's line by now.
    pub(super) fn give(&self, ticket: u64, waits: Vec<Event>, job: Job) {
        if let Some(orders) = &self.orders {
            // The thread ends only when this value does.
            let _ = orders.send(Order { ticket, waits, job });
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

/// The thread's side.
struct Server {
    board: Arc<Board>,
    group: Arc<Group>,
    line: u16,
    stream: Arc<Stream>,
    ring: Ring,
    stock: Stock,
    /// Copies that have begun and not ended, in order, and how many have ended: together they number the copies.
    begun: VecDeque<Begun>,
    ended: usize,
}

struct Begun {
    ticket: u64,
    since: Instant,
    marks: Marks,
    failed: Option<DeviceError>,
}

impl Server {
    fn serve(mut self, orders: &Receiver<Order>) {
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
            self.begin(&order);
            if order.job.in_pieces {
                self.pass(order.job);
            } else {
                self.pass_whole(order.job);
            }
        }
    }

    fn line(&self) -> &Line {
        &self.board.lines[usize::from(self.line)]
    }

    /// Waits for what a copy waits for, on the host or in the stream.
    fn begin(&mut self, order: &Order) {
        let Order { ticket, waits, job } = order;
        let mut begun = Begun { ticket: *ticket, since: Instant::now(), marks: Marks::default(), failed: None };
        let is_read_here = job.in_pieces && matches!(job.from.place, Place::Host(_));
        let own = (self.board.index, self.line);
        let must_wait = |event: &Event| match self.group.look(*event) {
            // What is in this queue comes before anyway.
            _ if (event.device, event.queue) == own => false,
            Look::Over => false,
            Look::Event(_, stage) => is_read_here || stage != Stage::Issued,
            Look::Held | Look::Failed => true,
        };
        let awaited: Vec<Event> = waits.iter().copied().filter(must_wait).collect();
        if !awaited.is_empty() {
            self.drain();
            begun.failed = self.group.await_ends(&self.board, &awaited);
        }
        if begun.failed.is_none() {
            let others: Vec<Event> = waits.iter().filter(|event| (event.device, event.queue) != own).copied().collect();
            begun.failed = self.put_first(&mut begun.marks, own, &others).err();
        }
        begun.since = Instant::now();
        self.begun.push_back(begun);
    }

    /// Makes the stream wait, and marks the beginning.
    fn put_first(&mut self, marks: &mut Marks, own: (u16, u16), waits: &[Event]) -> Result<(), DeviceError> {
        self.board.check_not_lost()?;
        self.board.context.make_current()?;
        if let Waits::Refused(error) = self.group.condition(self.stream.raw(), own, waits)? {
            return Err(error);
        }
        *marks = self.board.lines[usize::from(self.line)].marks(&mut self.stock, true)?;
        marks.begin.as_ref().map_or(Ok(()), |begin| begin.record(self.stream.raw()))
    }

    /// A copy that comes behind others and needs no buffer.
    fn pass_whole(&mut self, job: Job) {
        // All before it is to be in the stream first.
        let number = self.youngest();
        self.drain();
        let Job { shape, from, to, .. } = job;
        self.attempt(number, |server| {
            // SAFETY: the runtime keeps both sides as they are until the end is reported, and nothing is reported before.
            unsafe { enqueue(server.stream.raw(), shape, from, to) }
        });
        self.settle(number);
    }

    /// A copy through the buffers.
    fn pass(&mut self, job: Job) {
        let number = self.youngest();
        self.attempt(number, |server| server.ring.prepare(&server.board.context));
        if self.has_failed(number) {
            self.drain();
            return self.end(number);
        }
        for piece in Pieces::new(job.shape, PIECE_BYTES) {
            while self.ring.is_full() {
                self.advance();
            }
            let slot = self.ring.begin(Part { piece, job, number });
            self.fill(slot);
            while let Next::Ready(slot, is_filling) = self.next() {
                self.step(slot, is_filling);
            }
        }
    }

    fn youngest(&self) -> usize {
        self.ended + self.begun.len() - 1
    }

    fn has_failed(&self, number: usize) -> bool {
        self.begun.get(number - self.ended).is_none_or(|begun| begun.failed.is_some())
    }

    /// Does something for a copy, unless that has failed.
    fn attempt(&mut self, number: usize, act: impl FnOnce(&mut Self) -> Result<(), DeviceError>) {
        if !self.has_failed(number)
            && let Err(error) = act(self)
            && let Some(begun) = self.begun.get_mut(number - self.ended)
        {
            begun.failed = Some(error);
        }
    }

    /// Host memory to a buffer, by the crew; or the heap to a buffer, by the device.
    fn fill(&mut self, slot: usize) {
        let Some((Part { piece, job, number }, buffer)) = self.ring.part(slot) else { return };
        let (from, to) = (job.from.at(piece.row, piece.column), End { place: buffer, stride: piece.shape.row_bytes });
        self.move_piece(slot, number, from, to);
        if piece.is_last && matches!(job.from.place, Place::Device(_)) {
            self.land(number);
        }
    }

    /// The buffer to the heap, by the device; or the buffer to host memory, by the crew.
    fn empty(&mut self, slot: usize) {
        let Some((Part { piece, job, number }, buffer)) = self.ring.part(slot) else { return };
        let (from, to) = (End { place: buffer, stride: piece.shape.row_bytes }, job.to.at(piece.row, piece.column));
        self.move_piece(slot, number, from, to);
        if piece.is_last && matches!(job.to.place, Place::Device(_)) {
            self.settle(number);
        }
    }

    /// Starts to move a piece to or from its buffer.
    fn move_piece(&mut self, slot: usize, number: usize, from: End, to: End) {
        let Some((Part { piece, .. }, _)) = self.ring.part(slot) else { return };
        self.attempt(number, |server| match (from.place, to.place) {
            (Place::Host(source), Place::Host(target)) => {
                let (shape, done) = (piece.shape, server.ring.closed_latch(slot));
                let (from_stride, to_stride) = (from.stride, to.stride);
                // SAFETY: the runtime keeps host memory as it is until the end is reported, and that is not before all pieces are done. The
                // buffer is the piece's own, and the device is not at it: it has filled it, or not yet begun to empty it.
                unsafe {
                    Crew::get().give(HostCopy { shape, from: source, from_stride, to: target, to_stride, done });
                }
                Ok(())
            }
            _ => {
                // SAFETY: as above, with device and crew in each other's place; buffers are pinned.
                unsafe { enqueue(server.stream.raw(), piece.shape, from, to)? };
                server.ring.mark(slot, server.stream.raw())
            }
        });
    }

    /// Brings a piece one step forward, and waits for that if need be.
    fn advance(&mut self) {
        match self.next() {
            Next::Ready(slot, is_filling) => self.step(slot, is_filling),
            Next::Waiting(slot, is_filling) => {
                self.await_step(slot, is_filling);
                self.step(slot, is_filling);
            }
            Next::Nothing => {}
        }
    }

    fn next(&self) -> Next {
        self.ring.next(|mark| is_over(mark).unwrap_or(true))
    }

    /// A piece's buffer is full, or empty again.
    fn step(&mut self, slot: usize, is_filling: bool) {
        if is_filling {
            self.ring.emptying();
            return self.empty(slot);
        }
        self.ring.ended();
        if let Some((Part { piece, job, number }, _)) = self.ring.part(slot)
            && piece.is_last
            && matches!(job.to.place, Place::Host(_))
        {
            self.end(number);
        }
    }

    /// Waits until a piece's buffer is full, or else empty again.
    fn await_step(&mut self, slot: usize, is_filling: bool) {
        let Some((Part { job, number, .. }, _)) = self.ring.part(slot) else { return };
        let is_with_crew = matches!(job.from.place, Place::Host(_)) == is_filling;
        if is_with_crew {
            Crew::get().wait(self.ring.latch(slot));
        } else if let Some(mark) = self.ring.event(slot)
            && let Err(error) = self.await_mark(mark)
        {
            self.attempt(number, |_| Err(error));
        }
    }

    /// Not by a call of the driver's that waits: the stream may wait for a device that is lost, and this one be given up for it.
    fn await_mark(&self, mark: CUevent) -> Result<(), DeviceError> {
        while !is_over(mark)? {
            self.board.check_not_lost()?;
            thread::sleep(Duration::from_micros(20));
        }
        Ok(())
    }

    /// A copy in, or one that needs no buffer, is in the stream.
    fn settle(&mut self, number: usize) {
        self.attempt(number, |server| {
            let begun = &server.begun[number - server.ended];
            begun.marks.end.as_ref().map_or(Ok(()), |end| end.record(server.stream.raw()))
        });
        if self.has_failed(number) {
            return self.end(number);
        }
        let Some(begun) = self.begun.pop_front() else { return };
        self.ended += 1;
        self.line().issued(begun.ticket, begun.marks);
    }

    /// The last piece of a copy out is in the stream.
    fn land(&mut self, number: usize) {
        let mut mark = None;
        self.attempt(number, |server| {
            mark = server.begun[number - server.ended].marks.end.take();
            mark.as_ref().map_or(Ok(()), |mark| mark.record(server.stream.raw()))
        });
        if let (false, Some(mark)) = (self.has_failed(number), mark) {
            let marks = Marks { begin: self.begun[number - self.ended].marks.begin.take(), end: Some(mark) };
            self.line().landing(self.begun[number - self.ended].ticket, marks);
        }
    }

    /// The oldest copy is over, or has failed.
    fn end(&mut self, number: usize) {
        debug_assert_eq!(number, self.ended, "copies end in order");
        let Some(begun) = self.begun.pop_front() else { return };
        self.ended += 1;
        if begun.failed.is_some() {
            self.group.note_failure();
        }
        let busy_ns = u64::try_from(begun.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.line().keep(begun.marks);
        let result = begun.failed.map_or(Ok(()), |error| Err(self.board.noted(error)));
        self.line().landed(begun.ticket, busy_ns, result);
        // No mark in a stream says so.
        self.board.signal.raise();
    }

    /// Brings all pieces to their end.
    fn drain(&mut self) {
        while !self.ring.is_empty() {
            self.advance();
        }
    }
}
