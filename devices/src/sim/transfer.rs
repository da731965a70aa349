//! Copies: checks them and executes them. `unsafe` is needed here to move the bytes.

use super::{
    faults::Direction,
    heap::{Heap, SimHeap},
};
use std::{ptr::NonNull, sync::Arc};
use superscalar_runtime::{DeviceError, DeviceRegion, HostRegion, Transfer};

/// A copy checks after this many bytes whether the device is still available.
const CHECK_INTERVAL_BYTES: usize = 256 << 10;

/// A checked copy in a queue.
pub(super) struct PendingCopy {
    pub(super) transfer: Transfer,
    pub(super) model_ns: u64,
    /// The heap of the device that copies.
    pub(super) heap: Arc<Heap>,
    /// The peer's heap, if it copies from a peer.
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

/// Returns the bytes that the copy moves.
pub(super) fn bytes(transfer: &Transfer) -> usize {
    match transfer {
        Transfer::In { to: region, .. } | Transfer::Out { from: region, .. } | Transfer::Peer { to: region, .. } => {
            region.row_bytes * region.columns
        }
    }
}

/// Checks that both sides are non-empty rectangles of the same shape.
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
        "its columns in host memory overlap or exceed the address space"
    } else {
        return Ok(());
    };
    Err(DeviceError::new(format!("{transfer:?} is not a valid copy: {wrong}")))
}

fn is_addressable(host: &HostRegion) -> bool {
    let last = host.stride_bytes.checked_mul(host.columns - 1);
    let end = last.and_then(|last| last.checked_add(host.row_bytes));
    host.stride_bytes >= host.row_bytes && end.is_some_and(|end| end <= isize::MAX as usize)
}

/// Checks that the region is within the heap and that its columns are aligned and do not overlap.
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
    Err(DeviceError::new(format!("{region:?} cannot be copied: {wrong}")))
}

impl PendingCopy {
    /// Copies until done or `is_available` returns false, which is an error.
    ///
    /// # Safety
    /// The rules of [`DeviceMemory::copy`](superscalar_runtime::DeviceMemory::copy): the events of the copy are
    /// reached, and its end is not reported before this returns.
    pub(super) unsafe fn run(&self, is_available: &dyn Fn() -> bool) -> Result<(), DeviceError> {
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
        let mut until_check = 0;
        for column in 0..count {
            for start in (0..row_bytes).step_by(CHECK_INTERVAL_BYTES) {
                let piece_bytes = CHECK_INTERVAL_BYTES.min(row_bytes - start);
                if until_check < piece_bytes {
                    if !is_available() {
                        return Err(DeviceError::new("the device was lost during a copy"));
                    }
                    until_check = CHECK_INTERVAL_BYTES;
                }
                until_check -= piece_bytes;
                // SAFETY: the piece is within both regions. The heap's side is open through a window until this
                // returns, and no reference into it exists. The caller of `DeviceMemory::copy` keeps the host's side
                // valid, and unwritten or untouched, until the end is reported. The sides do not overlap: one is host
                // memory or another device's heap, since no device is its own peer.
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
