//! [`Ring`]: the pinned buffers of a copier, and the pieces in them.
//!
//! Each piece takes the next buffer, is filled into it and then emptied from it, all in the order of the pieces. Three
//! counters therefore describe the state of the ring.

use super::{
    buffer::HostBuffer,
    context::Context,
    host_copy::Latch,
    pieces::Piece,
    stream::{Mark, Timing},
    transfer::{Address, CopyJob},
};
use cudarc::driver::sys::{CUevent, CUstream};
use std::sync::Arc;
use superscalar_runtime::DeviceError;

/// Long enough to hide the calls for a piece, short compared to a tile. Measured:
/// docs/measurements/2026-11-28-constants.md.
pub(super) const PIECE_BYTES: usize = 2 << 20;
/// The number of buffers. It keeps the host threads and the bus busy at the same time.
pub(super) const BUFFERS: usize = 12;

/// A piece of a copy that goes through a buffer.
#[derive(Clone, Copy)]
pub(super) struct BufferedPiece {
    pub(super) piece: Piece,
    pub(super) job: CopyJob,
    /// The number of the copy.
    pub(super) number: usize,
}

#[derive(Default)]
pub(super) struct Ring {
    memory: Option<HostBuffer>,
    slots: Vec<RingSlot>,
    counts: Counts,
}

/// How many pieces have started to be filled, have started to be emptied, and are done.
#[derive(Default)]
struct Counts {
    filling: usize,
    emptying: usize,
    done: usize,
}

struct RingSlot {
    /// Reached when the device has filled or emptied the buffer.
    mark: Mark,
    /// Open when a host thread has filled or emptied the buffer.
    latch: Arc<Latch>,
    part: Option<BufferedPiece>,
}

impl Ring {
    /// Allocates the buffers, if that was not done before.
    pub(super) fn prepare(&mut self, context: &Arc<Context>) -> Result<(), DeviceError> {
        if self.memory.is_some() {
            return Ok(());
        }
        let slot = |_| {
            Ok(RingSlot { mark: Mark::new(context, Timing::Untimed)?, latch: Arc::new(Latch::opened()), part: None })
        };
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

    /// Assigns a free buffer to the next piece. There must be one.
    pub(super) fn begin(&mut self, part: BufferedPiece) -> usize {
        debug_assert!(!self.is_full(), "no buffer is free");
        let slot = self.counts.filling % BUFFERS;
        self.counts.filling += 1;
        self.slots[slot].part = Some(part);
        slot
    }

    /// Returns the piece in a slot, and the address of its buffer.
    pub(super) fn part(&self, slot: usize) -> Option<(BufferedPiece, Address)> {
        let (part, memory) = (self.slots.get(slot)?.part?, self.memory.as_ref()?);
        Some((part, Address::Host(memory.base().as_ptr().wrapping_add(slot * PIECE_BYTES))))
    }

    /// Returns the latch of a slot.
    pub(super) fn latch(&self, slot: usize) -> &Latch {
        &self.slots[slot].latch
    }

    /// Closes and returns the latch of a slot, for a host thread to open.
    pub(super) fn closed_latch(&self, slot: usize) -> Arc<Latch> {
        let latch = &self.slots[slot].latch;
        latch.close();
        Arc::clone(latch)
    }

    /// Records the mark of a slot.
    pub(super) fn mark(&self, slot: usize, stream: CUstream) -> Result<(), DeviceError> {
        self.slots[slot].mark.record(stream)
    }

    /// Returns the event of a slot's mark.
    pub(super) fn event(&self, slot: usize) -> Option<CUevent> {
        self.slots.get(slot).map(|slot| slot.mark.raw())
    }

    /// Returns the slot of the piece that is emptied next, once its buffer is full.
    fn next_to_empty(&self) -> Option<usize> {
        let Counts { filling, emptying, .. } = self.counts;
        (emptying < filling).then_some(emptying % BUFFERS)
    }

    pub(super) fn emptying(&mut self) {
        self.counts.emptying += 1;
    }

    /// Returns the slot of the piece that is done next, once its buffer is empty.
    fn next_to_end(&self) -> Option<usize> {
        let Counts { emptying, done, .. } = self.counts;
        (done < emptying).then_some(done % BUFFERS)
    }

    pub(super) fn ended(&mut self) {
        self.counts.done += 1;
    }

    /// Returns whether a piece's buffer has been filled, or else emptied. `is_over` queries the driver.
    fn is_through(&self, slot: usize, is_filling: bool, is_over: impl Fn(CUevent) -> bool) -> bool {
        let RingSlot { mark, latch, part } = &self.slots[slot];
        let is_with_host = part.is_some_and(|part| matches!(part.job.from.address, Address::Host(_)) == is_filling);
        if is_with_host { latch.is_done() } else { is_over(mark.raw()) }
    }

    /// Returns the step that can be taken now, or the one to wait for.
    pub(super) fn next(&self, is_over: impl Fn(CUevent) -> bool) -> NextStep {
        let is_ready = |slot: &usize, is_filling| self.is_through(*slot, is_filling, &is_over);
        let (fill, end) = (self.next_to_empty(), self.next_to_end());
        if let Some(slot) = fill.filter(|slot| is_ready(slot, true)) {
            return NextStep::Ready(slot, true);
        }
        if let Some(slot) = end.filter(|slot| is_ready(slot, false)) {
            return NextStep::Ready(slot, false);
        }
        match (fill, end) {
            // Without a free buffer, no further piece can start.
            (_, Some(slot)) if self.is_full() => NextStep::Waiting(slot, false),
            (Some(slot), _) => NextStep::Waiting(slot, true),
            (None, Some(slot)) => NextStep::Waiting(slot, false),
            (None, None) => NextStep::Nothing,
        }
    }
}

/// The next step of a ring's pieces: the slot, and whether its buffer is being filled (or else emptied).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextStep {
    Ready(usize, bool),
    Waiting(usize, bool),
    Nothing,
}
