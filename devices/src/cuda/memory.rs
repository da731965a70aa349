//! The heap, and copies to and from it.

use super::{
    buffer::DeviceBuffer,
    device::Cuda,
    pinned,
    transfer::{Address, CopyJob, CopySide, Shape, enqueue},
};
use cudarc::driver::sys::CUdeviceptr;
use superscalar_runtime::{DeviceError, DeviceMemory, DeviceRegion, Event, HostRegion, Transfer};

// SAFETY: a copy is reported as finished only when its event in the stream is reached.
unsafe impl DeviceMemory for Cuda {
    fn reserve(&self) -> Result<(), DeviceError> {
        self.state.check_not_lost()?;
        self.state.reserve().map_err(|error| self.state.device_error(error))
    }

    unsafe fn copy(&self, transfer: &Transfer, waits: &[Event]) -> Result<u64, DeviceError> {
        self.state.check_not_lost()?;
        let put = || {
            self.state.context.make_current()?;
            let job = self.copy_job(transfer)?;
            let lane = self.lane_of(transfer);
            let CopyJob { shape, from, to, in_pieces } = job;
            // SAFETY: the caller keeps host memory valid until the end is reported. Heaps are freed after all devices
            // of the group are closed. `job` has checked that the device can access the heaps of its peers. The
            // device's context is current.
            lane.copy(waits, in_pieces, job, |stream| unsafe {
                match &self.small_copies {
                    Some(small) => small.enqueue(stream, shape, from, to),
                    None => enqueue(stream, shape, from, to),
                }
            })
        };
        put().map_err(|error: DeviceError| self.state.device_error(error))
    }
}

impl Cuda {
    /// Checks both sides of a copy and describes it.
    fn copy_job(&self, transfer: &Transfer) -> Result<CopyJob, DeviceError> {
        let state = &self.state;
        let heap = state.heap()?;
        let (from, to, in_pieces) = match *transfer {
            Transfer::In { from, to } => (in_host(from)?, in_heap(to, heap)?, !is_reachable(&from)),
            Transfer::Out { from, to } => (in_heap(from, heap)?, in_host(to)?, !is_reachable(&to)),
            Transfer::Peer { device, from, to } => {
                let peer = self.group.member(device).filter(|_| self.has_peer(device));
                let peer = peer.ok_or_else(|| DeviceError::new(format!("device {device} is not a peer")))?;
                (in_heap(from, peer.heap()?)?, in_heap(to, heap)?, false)
            }
        };
        if from.1 != to.1 {
            let [Shape { row_bytes, columns }, Shape { row_bytes: other_bytes, columns: others }] = [from.1, to.1];
            let message = format!(
                "the shapes of a copy differ: {columns} columns of {row_bytes} bytes and {others} of {other_bytes}"
            );
            return Err(DeviceError::new(message));
        }
        Ok(CopyJob { shape: from.1, from: from.0, to: to.0, in_pieces })
    }
}

/// Returns whether the device can access a region of host memory directly.
fn is_reachable(region: &HostRegion) -> bool {
    let HostRegion { base, row_bytes, columns, stride_bytes } = *region;
    // `in_host` has checked that this does not overflow.
    pinned::is_pinned(base.as_ptr(), stride_bytes.saturating_mul(columns - 1).saturating_add(row_bytes))
}

fn in_heap(region: DeviceRegion, heap: &DeviceBuffer) -> Result<(CopySide, Shape), DeviceError> {
    let DeviceRegion { offset, row_bytes, columns, stride_bytes } = region;
    let shape = Shape { row_bytes, columns };
    let end = span(shape, stride_bytes).and_then(|span| offset.checked_add(span));
    if end.is_none_or(|end| end > heap.bytes()) {
        return Err(DeviceError::new(format!("{region:?} is not a valid region of a heap of {} bytes", heap.bytes())));
    }
    Ok((CopySide { address: Address::Device(heap.address() + offset as CUdeviceptr), stride: stride_bytes }, shape))
}

fn in_host(region: HostRegion) -> Result<(CopySide, Shape), DeviceError> {
    let HostRegion { base, row_bytes, columns, stride_bytes } = region;
    let shape = Shape { row_bytes, columns };
    if span(shape, stride_bytes).is_none_or(|span| (base.as_ptr() as usize).checked_add(span).is_none()) {
        return Err(DeviceError::new(format!("{region:?} is not a valid region")));
    }
    Ok((CopySide { address: Address::Host(base.as_ptr()), stride: stride_bytes }, shape))
}

/// Returns the distance from the first byte of the columns to the byte behind the last, or `None` if there are no
/// columns, they overlap, or the distance overflows.
fn span(shape: Shape, stride: usize) -> Option<usize> {
    let Shape { row_bytes, columns } = shape;
    let span = stride.checked_mul(columns.checked_sub(1)?)?.checked_add(row_bytes)?;
    (row_bytes > 0 && (columns == 1 || stride >= row_bytes)).then_some(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_columns() {
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
