//! Copies: what can be copied, and the copying. `unsafe` stands here for that.

use super::{
    faults::Direction,
    heap::{Heap, SimHeap},
};
use std::{ptr::NonNull, sync::Arc};
use superscalar_runtime::{DeviceError, DeviceRegion, HostRegion, Transfer};

/// Whether the device is still there is looked at after so many bytes.
const PIECE_BYTES: usize = 256 << 10;

/// A copy in a queue, found possible.
pub(super) struct Copying {
    pub(super) transfer: Transfer,
    pub(super) model_ns: u64,
    /// The heap of its own device.
    pub(super) heap: Arc<Heap>,
    /// The heap that it reads, if it is a peer's.
    pub(super) source: Option<Arc<Heap>>,
}

/// Columns at an address.
struct Columns {
    base: NonNull<u8>,
    stride_bytes: usize,
}

pub(super) fn direction(transfer: &Transfer) -> Direction {
    match transfer {
        Transfer::In { .. } => Direction::In,
        Transfer::Out { .. } => Direction::Out,
        Transfer::Peer { .. } => Direction::Peer,
    }
}

/// Bytes that it moves.
pub(super) fn bytes(transfer: &Transfer) -> usize {
    match transfer {
        Transfer::In { to: region, .. } | Transfer::Out { from: region, .. } | Transfer::Peer { to: region, .. } => {
            region.row_bytes * region.columns
        }
    }
}

/// Whether both sides are rectangles of one shape.
pub(super) fn check_shapes(transfer: &Transfer) -> Result<(), DeviceError> {
    let shape = |region: &DeviceRegion| (region.row_bytes, region.columns);
    let (from, to, host) = match transfer {
        Transfer::In { from, to } => ((from.row_bytes, from.columns), shape(to), Some(from)),
        Transfer::Out { from, to } => (shape(from), (to.row_bytes, to.columns), Some(to)),
        Transfer::Peer { from, to, .. } => (shape(from), shape(to), None),
    };
    let wrong = if from != to {
        "its sides differ in shape"
    } else if from.0 == 0 || from.1 == 0 {
        "it is empty"
    } else if host.is_some_and(|host| !is_addressable(host)) {
        "its columns in host memory overlap, or do not fit in it"
    } else {
        return Ok(());
    };
    Err(DeviceError::new(format!("{transfer:?} is no copy: {wrong}")))
}

fn is_addressable(host: &HostRegion) -> bool {
    let last = host.stride_bytes.checked_mul(host.columns - 1);
    let end = last.and_then(|last| last.checked_add(host.row_bytes));
    host.stride_bytes >= host.row_bytes && end.is_some_and(|end| end <= isize::MAX as usize)
}

/// Whether the region lies in a heap of so many bytes as columns of this alignment do.
pub(super) fn check_region(region: &DeviceRegion, heap: &Heap, align: usize) -> Result<(), DeviceError> {
    let DeviceRegion { offset, row_bytes, columns, stride_bytes } = *region;
    let span = stride_bytes.checked_mul(columns - 1).and_then(|last| last.checked_add(row_bytes));
    let end = span.and_then(|span| span.checked_add(offset));
    let wrong = if end.is_none_or(|end| end > heap.bytes()) {
        format!("it is not in a heap of {} bytes", heap.bytes())
    } else if !offset.is_multiple_of(align) || columns > 1 && !stride_bytes.is_multiple_of(align) {
        format!("its columns do not begin at multiples of {align} bytes")
    } else if columns > 1 && stride_bytes < row_bytes {
        "its columns overlap".to_owned()
    } else {
        return Ok(());
    };
    Err(DeviceError::new(format!("{region:?} can not be copied: {wrong}")))
}

impl Copying {
    /// Copies, for as long as `goes_on` says so; an error if it did not to the end.
    ///
    /// # Safety
    /// The rules of [`DeviceMemory::copy`](superscalar_runtime::DeviceMemory::copy): its events are reached, and its end is not
    /// reported before this returns.
    pub(super) unsafe fn run(&self, goes_on: &dyn Fn() -> bool) -> Result<(), DeviceError> {
        let own = SimHeap::new(self.heap.clone());
        let source = self.source.clone().map(SimHeap::new);
        let host = |region: &HostRegion| Columns { base: region.base, stride_bytes: region.stride_bytes };
        let (from, to) = match &self.transfer {
            Transfer::In { from, to } => (host(from), columns(&own, to)?),
            Transfer::Out { from, to } => (columns(&own, from)?, host(to)),
            Transfer::Peer { from, to, .. } => (columns(source.as_ref().unwrap_or(&own), from)?, columns(&own, to)?),
        };
        let (row_bytes, count) = match &self.transfer {
            Transfer::In { to: region, .. }
            | Transfer::Out { from: region, .. }
            | Transfer::Peer { to: region, .. } => (region.row_bytes, region.columns),
        };
        let mut until_look = 0;
        for column in 0..count {
            for start in (0..row_bytes).step_by(PIECE_BYTES) {
                let piece_bytes = PIECE_BYTES.min(row_bytes - start);
                if until_look < piece_bytes {
                    if !goes_on() {
                        return Err(DeviceError::new("the device was lost during a copy"));
                    }
                    until_look = PIECE_BYTES;
                }
                until_look -= piece_bytes;
                // SAFETY: the piece is in both regions. The heap's side is open through a window for as long as this runs, and no
                // reference into it exists. Host memory is there, unwritten or untouched, by the caller's promise. The sides do
                // not overlap: one is host memory or another heap. (A device is no peer of its own.)
                unsafe {
                    let from = from.base.add(column * from.stride_bytes + start);
                    let to = to.base.add(column * to.stride_bytes + start);
                    from.copy_to_nonoverlapping(to, piece_bytes);
                }
            }
        }
        Ok(())
    }
}

fn columns(heap: &SimHeap, region: &DeviceRegion) -> Result<Columns, DeviceError> {
    let span = region.stride_bytes * (region.columns - 1) + region.row_bytes;
    Ok(Columns { base: heap.address(region.offset, span)?, stride_bytes: region.stride_bytes })
}
