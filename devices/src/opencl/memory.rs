//! The heap, and copies to and from it.
//!
//! The heap is one buffer. If the device's memory is the host's, it is allocated with `CL_MEM_ALLOC_HOST_PTR`, so that
//! both can access it and copies are not staged. Other devices copy directly from and to the user's memory; their
//! drivers stage that through pinned memory.

use super::{context::Heap, device::OpenclDevice, object::Buffer, queue::OpenclQueue};
use crate::{
    heap::not_allocated,
    signal::Inserted::{HostCopy, PeerCopy},
};
use ocl::ffi;
use std::ptr;
use superscalar_runtime::{Device, DeviceError, DeviceMemory, DeviceRegion, Event, HostRegion, Transfer};

// SAFETY: a copy is reported as finished only when its event is complete.
unsafe impl DeviceMemory for OpenclDevice {
    fn reserve(&self) -> Result<(), DeviceError> {
        self.check_not_lost()?;
        let state = &self.state;
        if state.heap.get().is_some() {
            return Err(DeviceError::new("the heap is already reserved"));
        }
        let heap = self.allocate().map_err(|error| self.device_error(error))?;
        state.context.add_heap(state.index, heap.clone());
        state.heap.set(heap).map_err(|_| DeviceError::new("the heap was reserved by two threads at once"))
    }

    unsafe fn copy(&self, transfer: &Transfer, waits: &[Event]) -> Result<u64, DeviceError> {
        self.check_not_lost()?;
        let state = &self.state;
        let heap = state.heap()?;
        let lane = &self.lanes[usize::from(self.info().transfer_queue(transfer))];
        let put = match *transfer {
            Transfer::In { from, to } => {
                let (place, host) = (Columns::in_heap(to, heap)?, Columns::in_host(from)?);
                let shape = place.shape_with(&host)?;
                // SAFETY: the caller keeps the host's memory valid and unwritten until the end is reported.
                lane.put((HostCopy, true), waits, |queue| unsafe {
                    copy_in(queue, shape, (heap, &place), (from.base.as_ptr(), &host))
                })
            }
            Transfer::Out { from, to } => {
                let (place, host) = (Columns::in_heap(from, heap)?, Columns::in_host(to)?);
                let shape = place.shape_with(&host)?;
                // SAFETY: the caller keeps the host's memory valid and unused until the end is reported.
                lane.put((HostCopy, true), waits, |queue| unsafe {
                    copy_out(queue, shape, (heap, &place), (to.base.as_ptr(), &host))
                })
            }
            Transfer::Peer { device, from, to } => {
                let peer = state.context.heap(device).filter(|_| device != state.index);
                let peer =
                    peer.ok_or_else(|| DeviceError::new(format!("device {device} is not a peer with a heap")))?;
                let (from, to) = (Columns::in_heap(from, &peer)?, Columns::in_heap(to, heap)?);
                let shape = from.shape_with(&to)?;
                lane.put((PeerCopy, true), waits, |queue| copy_from_peer(queue, shape, (&peer, &from), (heap, &to)))
            }
        };
        put.map_err(|error| self.device_error(error))
    }
}

impl OpenclDevice {
    fn allocate(&self) -> Result<Heap, DeviceError> {
        let (context, bytes) = (&self.state.context.context, self.state.heap_bytes);
        let place = if self.class().is_unified { ffi::CL_MEM_ALLOC_HOST_PTR } else { 0 };
        let mut code = 0;
        // SAFETY: the context exists. No host memory is passed.
        let buffer = unsafe {
            let flags = ffi::CL_MEM_READ_WRITE | place;
            let raw = ffi::clCreateBuffer(context.raw(), flags, bytes, ptr::null_mut(), &raw mut code);
            Buffer::made(raw, code, "clCreateBuffer")
        };
        let heap = buffer.map(|buffer| Heap::new(buffer, bytes)).map_err(|error| not_allocated(bytes, &error))?;
        // Many drivers allocate a buffer at its first use. Use it now, to detect that there is no memory for it.
        let lane = &self.lanes[usize::from(self.info().queues)];
        lane.run_now(|queue| queue.fill(&heap, 0..1)).map_err(|error| not_allocated(bytes, &error))?;
        Ok(heap)
    }
}

/// Columns that were checked to be within their memory.
struct Columns {
    offset: usize,
    shape: Shape,
    stride: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    row_bytes: usize,
    columns: usize,
}

impl Shape {
    fn bytes(self) -> usize {
        self.row_bytes * self.columns
    }

    fn region(self) -> [usize; 3] {
        [self.row_bytes, self.columns, 1]
    }
}

impl Columns {
    fn in_heap(region: DeviceRegion, heap: &Heap) -> Result<Self, DeviceError> {
        let DeviceRegion { offset, row_bytes, columns, stride_bytes } = region;
        let columns = Self::new(offset, Shape { row_bytes, columns }, stride_bytes);
        columns.filter(|(_, end)| *end <= heap.bytes()).map(|(columns, _)| columns).ok_or_else(|| {
            DeviceError::new(format!("{region:?} is not a valid region of a heap of {} bytes", heap.bytes()))
        })
    }

    fn in_host(region: HostRegion) -> Result<Self, DeviceError> {
        let HostRegion { row_bytes, columns, stride_bytes, .. } = region;
        let columns = Self::new(0, Shape { row_bytes, columns }, stride_bytes);
        columns.map(|(columns, _)| columns).ok_or_else(|| DeviceError::new(format!("{region:?} is not a valid region")))
    }

    /// Returns the columns and the offset behind their last byte, or `None` if there are no columns, they overlap, or
    /// the offset overflows.
    fn new(offset: usize, shape: Shape, stride: usize) -> Option<(Self, usize)> {
        let Shape { row_bytes, columns } = shape;
        let last = stride.checked_mul(columns.checked_sub(1)?)?;
        let end = offset.checked_add(last)?.checked_add(row_bytes)?;
        (row_bytes > 0 && (columns == 1 || stride >= row_bytes)).then_some((Self { offset, shape, stride }, end))
    }

    fn shape_with(&self, other: &Self) -> Result<Shape, DeviceError> {
        let (Shape { row_bytes, columns }, theirs) = (self.shape, other.shape);
        if self.shape == theirs {
            return Ok(self.shape);
        }
        let Shape { row_bytes: other_bytes, columns: others } = theirs;
        let message = format!(
            "the shapes of a copy differ: {columns} columns of {row_bytes} bytes and {others} of {other_bytes}"
        );
        Err(DeviceError::new(message))
    }

    /// Returns whether there are no gaps between the columns.
    fn is_whole(&self) -> bool {
        self.shape.columns == 1 || self.stride == self.shape.row_bytes
    }

    /// Returns the distance between columns. For a single column, any length of at least its size will do.
    fn pitch(&self) -> usize {
        self.stride.max(self.shape.row_bytes)
    }

    fn origin(&self) -> [usize; 3] {
        [self.offset, 0, 0]
    }
}

/// Defines a copy between the heap and host memory in one direction. It calls one OpenCL function if neither side has
/// gaps, and another one otherwise.
macro_rules! copies {
    ($($(#[$doc:meta])* $name:ident($Base:ty) = $whole:ident, $rect:ident;)*) => {$(
        $(#[$doc])*
        unsafe fn $name(
            queue: &mut OpenclQueue,
            shape: Shape,
            (heap, place): (&Heap, &Columns),
            (base, host): ($Base, &Columns),
        ) -> Result<(), DeviceError> {
            let (heap, base, block) = (heap.raw(), base.cast(), ffi::CL_FALSE);
            if host.is_whole() && place.is_whole() {
                return queue.put(stringify!($whole), |queue, count, waits, event| {
                    // SAFETY: queue, buffer and events exist. The caller keeps the host's columns valid until the
                    // command has ended.
                    unsafe { ffi::$whole(queue, heap, block, place.offset, shape.bytes(), base, count, waits, event) }
                });
            }
            let (origin, host_origin, region) = (place.origin(), host.origin(), shape.region());
            queue.put(stringify!($rect), |queue, count, waits, event| {
                // SAFETY: queue, buffer and events exist. The caller keeps the host's columns valid until the command
                // has ended.
                unsafe {
                    ffi::$rect(
                        queue, heap, block, origin.as_ptr(), host_origin.as_ptr(), region.as_ptr(), place.pitch(), 0,
                        host.pitch(), 0, base, count, waits, event,
                    )
                }
            })
        }
    )*};
}

copies! {
    /// Copies from host memory into the heap.
    ///
    /// # Safety
    /// The columns at `base` can be read until the command has ended.
    copy_in(*const u8) = clEnqueueWriteBuffer, clEnqueueWriteBufferRect;

    /// Copies from the heap into host memory.
    ///
    /// # Safety
    /// The columns at `base` are valid and not accessed by anyone else until the command has ended.
    copy_out(*mut u8) = clEnqueueReadBuffer, clEnqueueReadBufferRect;
}

/// Copies from one heap into another.
fn copy_from_peer(
    queue: &mut OpenclQueue,
    shape: Shape,
    (source, from): (&Heap, &Columns),
    (target, to): (&Heap, &Columns),
) -> Result<(), DeviceError> {
    queue.put("clEnqueueCopyBufferRect", |queue, count, waits, event| {
        // SAFETY: queue, buffers and events exist, and both buffers belong to the queue's context.
        unsafe {
            ffi::clEnqueueCopyBufferRect(
                queue,
                source.raw(),
                target.raw(),
                from.origin().as_ptr(),
                to.origin().as_ptr(),
                shape.region().as_ptr(),
                from.pitch(),
                0,
                to.pitch(),
                0,
                count,
                waits,
                event,
            )
        }
    })
}
