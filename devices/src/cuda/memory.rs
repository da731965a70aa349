//! The heap, and copies to and from it.

use super::{
    buffer::DeviceBuffer,
    device::Cuda,
    pinned,
    transfer::{End, Job, Place, Shape, enqueue},
};
use cudarc::driver::sys::CUdeviceptr;
use superscalar_runtime::{DeviceError, DeviceMemory, DeviceRegion, Event, HostRegion, Transfer};

// SAFETY: a stream reports a copy when its event is reached.
unsafe impl DeviceMemory for Cuda {
    fn reserve(&self) -> Result<(), DeviceError> {
        self.board.check_not_lost()?;
        self.board.reserve().map_err(|error| self.board.noted(error))
    }

    unsafe fn copy(&self, transfer: &Transfer, waits: &[Event]) -> Result<u64, DeviceError> {
        self.board.check_not_lost()?;
        let put = || {
            self.board.context.make_current()?;
            let job = self.job(transfer)?;
            let lane = self.lane_of(transfer);
            let Job { shape, from, to, in_pieces } = job;
            // SAFETY: the host's memory is there until the end is reported, as the caller promises; heaps are, until all devices
            // that were opened together are closed. The device reaches the heaps of its peers, as `job` has seen, and its context is current.
            lane.copy(waits, in_pieces, job, |stream| unsafe {
                match &self.small_copies {
                    Some(small) => small.enqueue(stream, shape, from, to),
                    None => enqueue(stream, shape, from, to),
                }
            })
        };
        put().map_err(|error: DeviceError| self.board.noted(error))
    }
}

impl Cuda {
    /// The copy, with both its ends looked at.
    fn job(&self, transfer: &Transfer) -> Result<Job, DeviceError> {
        let board = &self.board;
        let heap = board.heap()?;
        let (from, to, in_pieces) = match *transfer {
            Transfer::In { from, to } => (in_host(from)?, in_heap(to, heap)?, !is_reachable(&from)),
            Transfer::Out { from, to } => (in_heap(from, heap)?, in_host(to)?, !is_reachable(&to)),
            Transfer::Peer { device, from, to } => {
                let peer = self.group.member(device).filter(|_| self.has_peer(device));
                let peer = peer.ok_or_else(|| DeviceError::new(format!("it has no peer {device}")))?;
                (in_heap(from, peer.heap()?)?, in_heap(to, heap)?, false)
            }
        };
        if from.1 != to.1 {
            let [Shape { row_bytes, columns }, Shape { row_bytes: other_bytes, columns: others }] = [from.1, to.1];
            let message = format!("a copy of {columns} columns of {row_bytes} bytes to {others} of {other_bytes}");
            return Err(DeviceError::new(message));
        }
        Ok(Job { shape: from.1, from: from.0, to: to.0, in_pieces })
    }
}

/// Whether the device can reach a region of host memory by itself.
fn is_reachable(region: &HostRegion) -> bool {
    let HostRegion { base, row_bytes, columns, stride_bytes } = *region;
    // `in_host` has seen that it does not overflow.
    pinned::is_pinned(base.as_ptr(), stride_bytes.saturating_mul(columns - 1).saturating_add(row_bytes))
}

fn in_heap(region: DeviceRegion, heap: &DeviceBuffer) -> Result<(End, Shape), DeviceError> {
    let DeviceRegion { offset, row_bytes, columns, stride_bytes } = region;
    let shape = Shape { row_bytes, columns };
    let end = span(shape, stride_bytes).and_then(|span| offset.checked_add(span));
    if end.is_none_or(|end| end > heap.bytes()) {
        return Err(DeviceError::new(format!("{region:?} is no region of a heap of {} bytes", heap.bytes())));
    }
    Ok((End { place: Place::Device(heap.address() + offset as CUdeviceptr), stride: stride_bytes }, shape))
}

fn in_host(region: HostRegion) -> Result<(End, Shape), DeviceError> {
    let HostRegion { base, row_bytes, columns, stride_bytes } = region;
    let shape = Shape { row_bytes, columns };
    if span(shape, stride_bytes).is_none_or(|span| (base.as_ptr() as usize).checked_add(span).is_none()) {
        return Err(DeviceError::new(format!("{region:?} is no region")));
    }
    Ok((End { place: Place::Host(base.as_ptr()), stride: stride_bytes }, shape))
}

/// From the first byte of columns to behind the last. None if there are none, they overlap, or do not end.
fn span(shape: Shape, stride: usize) -> Option<usize> {
    let Shape { row_bytes, columns } = shape;
    let span = stride.checked_mul(columns.checked_sub(1)?)?.checked_add(row_bytes)?;
    (row_bytes > 0 && (columns == 1 || stride >= row_bytes)).then_some(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_end_somewhere_or_are_none() {
        let of = |row_bytes, columns, stride| span(Shape { row_bytes, columns }, stride);
        assert_eq!(of(8, 3, 10), Some(28));
        assert_eq!(of(8, 1, 0), Some(8));
        assert_eq!(of(8, 2, 7), None);
        assert_eq!(of(8, 0, 8), None);
        assert_eq!(of(0, 1, 8), None);
        assert_eq!(of(8, 3, usize::MAX / 2 + 1), None);
        assert_eq!(of(usize::MAX, 2, usize::MAX), None);
    }
}
