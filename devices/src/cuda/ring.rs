//! [`Ring`]: the pinned buffers of a copier, and the pieces in them.
//!
//! Each piece takes the next buffer. It is filled, then emptied, then done; all in the order of the pieces. So three counters say how far
//! everything has come.

use super::{
    buffer::HostBuffer,
    context::Context,
    crew::Latch,
    pieces::Piece,
    stream::{Kind, Mark},
    transfer::{Job, Place},
};
use cudarc::driver::sys::{CUevent, CUstream};
use std::sync::Arc;
use superscalar_runtime::DeviceError;

/// A piece takes the bus some forty microseconds and one thread two hundred: long beside the calls for it, short beside a tile.
pub(super) const PIECE_BYTES: usize = 2 << 20;
/// How many buffers there are: work for the crew, and for the bus, at once.
pub(super) const BUFFERS: usize = 12;

/// A piece of a copy that goes through a buffer.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) piece: Piece,
    pub(super) job: Job,
    /// The copy's number.
    pub(super) number: usize,
}

#[derive(Default)]
pub(super) struct Ring {
    memory: Option<HostBuffer>,
    slots: Vec<Slot>,
    counts: Counts,
}

/// How many pieces have begun to be filled, to be emptied, and are done.
#[derive(Default)]
struct Counts {
    filling: usize,
    emptying: usize,
    done: usize,
}

struct Slot {
    /// Comes when the device has done its part with the buffer.
    mark: Mark,
    /// Is open when the crew has done its part.
    latch: Arc<Latch>,
    part: Option<Part>,
}

impl Ring {
    /// Takes the buffers from the system, if that was not done before.
    pub(super) fn prepare(&mut self, context: &Arc<Context>) -> Result<(), DeviceError> {
        if self.memory.is_some() {
            return Ok(());
        }
        let slot =
            |_| Ok(Slot { mark: Mark::new(context, Kind::Plain)?, latch: Arc::new(Latch::opened()), part: None });
        self.slots = (0..BUFFERS).map(slot).collect::<Result<_, DeviceError>>()?;
        self.memory = Some(HostBuffer::new(context, BUFFERS * PIECE_BYTES)?);
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.counts.done == self.counts.filling
    }

    pub(super) fn is_full(&self) -> bool {
        self.counts.filling - self.counts.done == BUFFERS
    }

    /// A buffer for the next piece; there must be one.
    pub(super) fn begin(&mut self, part: Part) -> usize {
        debug_assert!(!self.is_full(), "a piece without a buffer");
        let slot = self.counts.filling % BUFFERS;
        self.counts.filling += 1;
        self.slots[slot].part = Some(part);
        slot
    }

    /// The piece in a slot, and its buffer.
    pub(super) fn part(&self, slot: usize) -> Option<(Part, Place)> {
        let (part, memory) = (self.slots.get(slot)?.part?, self.memory.as_ref()?);
        Some((part, Place::Host(memory.place().as_ptr().wrapping_add(slot * PIECE_BYTES))))
    }

    /// The latch in a slot.
    pub(super) fn latch(&self, slot: usize) -> &Latch {
        &self.slots[slot].latch
    }

    /// The latch, for the crew to open.
    pub(super) fn closed_latch(&self, slot: usize) -> Arc<Latch> {
        let latch = &self.slots[slot].latch;
        latch.close();
        Arc::clone(latch)
    }

    /// Records the mark of a slot.
    pub(super) fn mark(&self, slot: usize, stream: CUstream) -> Result<(), DeviceError> {
        self.slots[slot].mark.record(stream)
    }

    /// The mark of a slot.
    pub(super) fn event(&self, slot: usize) -> Option<CUevent> {
        self.slots.get(slot).map(|slot| slot.mark.raw())
    }

    /// The piece that is emptied next: once its buffer is full.
    fn next_to_empty(&self) -> Option<usize> {
        let Counts { filling, emptying, .. } = self.counts;
        (emptying < filling).then_some(emptying % BUFFERS)
    }

    pub(super) fn emptying(&mut self) {
        self.counts.emptying += 1;
    }

    /// The piece that ends next: once its buffer is empty.
    fn next_to_end(&self) -> Option<usize> {
        let Counts { emptying, done, .. } = self.counts;
        (done < emptying).then_some(done % BUFFERS)
    }

    pub(super) fn ended(&mut self) {
        self.counts.done += 1;
    }

    /// Whether a piece's buffer is full, or else empty again. `is_over` asks the driver.
    fn is_through(&self, slot: usize, is_filling: bool, is_over: impl Fn(CUevent) -> bool) -> bool {
        let Slot { mark, latch, part } = &self.slots[slot];
        let is_with_crew = part.is_some_and(|part| matches!(part.job.from.place, Place::Host(_)) == is_filling);
        if is_with_crew { latch.is_done() } else { is_over(mark.raw()) }
    }

    /// The step that can be taken now, or, if none can, the one to wait for: a piece, and whether its buffer is being filled.
    pub(super) fn next(&self, is_over: impl Fn(CUevent) -> bool) -> Next {
        let is_ready = |slot: &usize, is_filling| self.is_through(*slot, is_filling, &is_over);
        let (fill, end) = (self.next_to_empty(), self.next_to_end());
        if let Some(slot) = fill.filter(|slot| is_ready(slot, true)) {
            return Next::Ready(slot, true);
        }
        if let Some(slot) = end.filter(|slot| is_ready(slot, false)) {
            return Next::Ready(slot, false);
        }
        match (fill, end) {
            // Without a free buffer nothing else goes on.
            (_, Some(slot)) if self.is_full() => Next::Waiting(slot, false),
            (Some(slot), _) => Next::Waiting(slot, true),
            (None, Some(slot)) => Next::Waiting(slot, false),
            (None, None) => Next::Nothing,
        }
    }
}

/// What a ring's pieces can do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Ready(usize, bool),
    Waiting(usize, bool),
    Nothing,
}
