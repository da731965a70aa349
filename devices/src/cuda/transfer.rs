//! [`Job`]: a rectangular copy as the driver is asked for it, between two places that are known to be what they should.

use super::failure::check;
use cudarc::driver::sys::{self, CUDA_MEMCPY2D, CUdeviceptr, CUmemorytype, CUstream};
use std::{ffi::c_void, ptr};
use superscalar_runtime::DeviceError;

/// How large columns are, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) row_bytes: usize,
    pub(super) columns: usize,
}

impl Shape {
    pub(super) fn bytes(self) -> usize {
        self.row_bytes * self.columns
    }
}

/// One side of a copy: where its first column is, and how far it is from one to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) place: Place,
    pub(super) stride: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Host(*mut u8),
    Device(CUdeviceptr),
}

impl End {
    /// A byte of a column.
    pub(super) fn at(self, row: usize, column: usize) -> Self {
        let offset = row + column * self.stride;
        let place = match self.place {
            Place::Host(base) => Place::Host(base.wrapping_add(offset)),
            Place::Device(base) => Place::Device(base + offset as CUdeviceptr),
        };
        Self { place, ..self }
    }

    /// Whether there are no gaps between columns of this shape.
    pub(super) fn is_whole(self, shape: Shape) -> bool {
        shape.columns == 1 || self.stride == shape.row_bytes
    }
}

/// A copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) shape: Shape,
    pub(super) from: End,
    pub(super) to: End,
    /// Whether one side is host memory that the device can not reach.
    pub(super) in_pieces: bool,
}

// SAFETY: addresses and a shape; using them is the unsafe part.
unsafe impl Send for Job {}

impl Job {
    /// Whether the host has no part in it.
    pub(super) fn is_between_heaps(&self) -> bool {
        matches!((&self.from.place, &self.to.place), (Place::Device(_), Place::Device(_)))
    }
}

/// Puts a copy into a stream: one command.
///
/// # Safety
/// Both ends stay valid until it has ended, and host memory is pinned. From when the stream comes to it, nobody writes what it reads or touches
/// what it writes.
pub(super) unsafe fn enqueue(stream: CUstream, shape: Shape, from: End, to: End) -> Result<(), DeviceError> {
    let bytes = shape.bytes();
    if !from.is_whole(shape) || !to.is_whole(shape) {
        // SAFETY: the caller's promise.
        return unsafe { enqueue_columns(stream, shape, from, to) };
    }
    // SAFETY: the caller's promise; without gaps the columns are so many bytes.
    unsafe {
        match (from.place, to.place) {
            (Place::Host(from), Place::Device(to)) => {
                check(sys::cuMemcpyHtoDAsync_v2(to, from.cast::<c_void>(), bytes, stream), "cuMemcpyHtoDAsync")
            }
            (Place::Device(from), Place::Host(to)) => {
                check(sys::cuMemcpyDtoHAsync_v2(to.cast::<c_void>(), from, bytes, stream), "cuMemcpyDtoHAsync")
            }
            (Place::Device(from), Place::Device(to)) => {
                check(sys::cuMemcpyAsync(to, from, bytes, stream), "cuMemcpyAsync")
            }
            (Place::Host(from), Place::Host(to)) => {
                let (from, to) = (from as usize as CUdeviceptr, to as usize as CUdeviceptr);
                check(sys::cuMemcpyAsync(to, from, bytes, stream), "cuMemcpyAsync")
            }
        }
    }
}

/// The same for columns with gaps between them.
///
/// # Safety
/// As for [`enqueue`].
unsafe fn enqueue_columns(stream: CUstream, shape: Shape, from: End, to: End) -> Result<(), DeviceError> {
    // From one column to the next; where there is but one, anything that is long enough.
    let pitch = |end: End| end.stride.max(shape.row_bytes);
    let (source, target) = (Side::of(from.place), Side::of(to.place));
    let copy = CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: source.kind,
        srcHost: source.host,
        srcDevice: source.device,
        srcArray: ptr::null_mut(),
        srcPitch: pitch(from),
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: target.kind,
        dstHost: target.host,
        dstDevice: target.device,
        dstArray: ptr::null_mut(),
        dstPitch: pitch(to),
        WidthInBytes: shape.row_bytes,
        Height: shape.columns,
    };
    // SAFETY: the caller's promise. The description is read before the call returns.
    check(unsafe { sys::cuMemcpy2DAsync_v2(&raw const copy, stream) }, "cuMemcpy2DAsync")
}

/// A place as CUDA describes it.
struct Side {
    kind: CUmemorytype,
    host: *mut c_void,
    device: CUdeviceptr,
}

impl Side {
    fn of(place: Place) -> Self {
        match place {
            Place::Host(host) => Self { kind: CUmemorytype::CU_MEMORYTYPE_HOST, host: host.cast(), device: 0 },
            // Of whichever GPU: addresses are the same everywhere.
            Place::Device(device) => Self { kind: CUmemorytype::CU_MEMORYTYPE_UNIFIED, host: ptr::null_mut(), device },
        }
    }
}
