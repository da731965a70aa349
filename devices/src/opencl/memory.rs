//! The heap, and copies to and from it.
//!
//! The heap is one buffer. Where the device's memory is the host's, it is asked for with `CL_MEM_ALLOC_HOST_PTR`: memory that both reach, so
//! that a copy is a copy in memory and nothing is staged. Other devices copy straight from and to the user's memory; drivers
//! pass that through pinned memory of their own.

use super::{context::Heap, device::OpenclDevice, object::Buffer, queue::OpenclQueue};
use ocl::ffi;
use std::ptr;
use superscalar_runtime::{Device, DeviceError, DeviceMemory, DeviceRegion, Event, HostRegion, Transfer};

// SAFETY: a queue reports a copy when its event is complete.
unsafe impl DeviceMemory for OpenclDevice {
    fn reserve(&self) -> Result<(), DeviceError> {
        self.check_not_lost()?;
        let common = &self.common;
        if common.heap.get().is_some() {
            return Err(DeviceError::new("its heap is reserved already"));
        }
        let heap = self.allocate().map_err(|error| self.noted(error))?;
        common.context.add_heap(common.index, heap.clone());
        common.heap.set(heap).map_err(|_| DeviceError::new("its heap was reserved twice at once"))
    }

    unsafe fn copy(&self, transfer: &Transfer, waits: &[Event]) -> Result<u64, DeviceError> {
        self.check_not_lost()?;
        let common = &self.common;
        let heap = common.heap()?;
        let lane = &self.lanes[usize::from(self.info().transfer_queue(transfer))];
        let put = match *transfer {
            Transfer::In { from, to } => {
                let (place, host) = (Columns::in_heap(to, heap)?, Columns::in_host(from)?);
                let shape = place.shape_with(&host)?;
                // SAFETY: the host's memory is there until the end is reported, as the caller promises.
                lane.put(waits, |queue| unsafe { copy_in(queue, shape, (heap, &place), (from.base.as_ptr(), &host)) })
            }
            Transfer::Out { from, to } => {
                let (place, host) = (Columns::in_heap(from, heap)?, Columns::in_host(to)?);
                let shape = place.shape_with(&host)?;
                // SAFETY: as above.
                lane.put(waits, |queue| unsafe { copy_out(queue, shape, (heap, &place), (to.base.as_ptr(), &host)) })
            }
            Transfer::Peer { device, from, to } => {
                let peer = common.context.heap(device).filter(|_| device != common.index);
                let peer = peer.ok_or_else(|| DeviceError::new(format!("it has no peer with a heap at {device}")))?;
                let (from, to) = (Columns::in_heap(from, &peer)?, Columns::in_heap(to, heap)?);
                let shape = from.shape_with(&to)?;
                lane.put(waits, |queue| copy_from_peer(queue, shape, (&peer, &from), (heap, &to)))
            }
        };
        put.map_err(|error| self.noted(error))
    }
}

impl OpenclDevice {
    fn allocate(&self) -> Result<Heap, DeviceError> {
        let (context, bytes) = (&self.common.context.context, self.common.heap_bytes);
        let place = if self.class().is_unified { ffi::CL_MEM_ALLOC_HOST_PTR } else { 0 };
        let mut code = 0;
        // SAFETY: the context is there, and the buffer begins without contents.
        let buffer = unsafe {
            let flags = ffi::CL_MEM_READ_WRITE | place;
            let raw = ffi::clCreateBuffer(context.raw(), flags, bytes, ptr::null_mut(), &raw mut code);
            Buffer::made(raw, code, "clCreateBuffer")
        };
        let heap = buffer.map(|buffer| Heap::new(buffer, bytes)).map_err(|error| no_heap(bytes, &error))?;
        // Many drivers make a buffer when it is first used; then is the time to learn that there is no room.
        let lane = &self.lanes[usize::from(self.info().queues)];
        lane.try_out(|queue| queue.fill(&heap, 0..1)).map_err(|error| no_heap(bytes, &error))?;
        Ok(heap)
    }
}

fn no_heap(bytes: usize, error: &DeviceError) -> DeviceError {
    let message = format!("no heap of {bytes} bytes: {error}");
    if error.is_lost() { DeviceError::lost(message) } else { DeviceError::new(message) }
}

/// Columns that are known to lie where they should.
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
        columns
            .filter(|(_, end)| *end <= heap.bytes())
            .map(|(columns, _)| columns)
            .ok_or_else(|| DeviceError::new(format!("{region:?} is no region of a heap of {} bytes", heap.bytes())))
    }

    fn in_host(region: HostRegion) -> Result<Self, DeviceError> {
        let HostRegion { row_bytes, columns, stride_bytes, .. } = region;
        let columns = Self::new(0, Shape { row_bytes, columns }, stride_bytes);
        columns.map(|(columns, _)| columns).ok_or_else(|| DeviceError::new(format!("{region:?} is no region")))
    }

    /// The columns, and where they end. None if there are none, they overlap, or do not end.
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
        let message = format!("a copy of {columns} columns of {row_bytes} bytes to or from {others} of {other_bytes}");
        Err(DeviceError::new(message))
    }

    /// Whether there are no gaps between them.
    fn is_whole(&self) -> bool {
        self.shape.columns == 1 || self.stride == self.shape.row_bytes
    }

    /// From one column to the next; where there is but one, anything that is long enough.
    fn pitch(&self) -> usize {
        self.stride.max(self.shape.row_bytes)
    }

    fn origin(&self) -> [usize; 3] {
        [self.offset, 0, 0]
    }
}

/// Copies between the heap and host memory, in one direction: by one function of OpenCL's if neither has gaps, by
/// another one else.
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
                    // SAFETY: queue, buffer and events are there, and the caller answers for the memory.
                    unsafe { ffi::$whole(queue, heap, block, place.offset, shape.bytes(), base, count, waits, event) }
                });
            }
            let (origin, host_origin, region) = (place.origin(), host.origin(), shape.region());
            queue.put(stringify!($rect), |queue, count, waits, event| {
                // SAFETY: as above.
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
    /// Host memory into the heap.
    ///
    /// # Safety
    /// The columns from `base` on can be read until the command has ended.
    copy_in(*const u8) = clEnqueueWriteBuffer, clEnqueueWriteBufferRect;

    /// The heap into host memory.
    ///
    /// # Safety
    /// The columns from `base` on are the command's alone until it has ended.
    copy_out(*mut u8) = clEnqueueReadBuffer, clEnqueueReadBufferRect;
}

/// One heap into another.
fn copy_from_peer(
    queue: &mut OpenclQueue,
    shape: Shape,
    (source, from): (&Heap, &Columns),
    (target, to): (&Heap, &Columns),
) -> Result<(), DeviceError> {
    queue.put("clEnqueueCopyBufferRect", |queue, count, waits, event| {
        // SAFETY: queue, buffers and events are there; both buffers belong to the queue's context.
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
