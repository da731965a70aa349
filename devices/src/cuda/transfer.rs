//! [`CopyJob`]: a checked rectangular copy in the form that the driver takes.

use super::failure::check;
use cudarc::driver::sys::{self, CUDA_MEMCPY2D, CUdeviceptr, CUmemorytype, CUstream};
use std::{ffi::c_void, ptr};
use superscalar_runtime::DeviceError;

/// The number and size of columns.
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

/// One side of a copy: the address of its first column, and the distance between columns in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CopySide {
    pub(super) address: Address,
    pub(super) stride: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Address {
    Host(*mut u8),
    Device(CUdeviceptr),
}

impl CopySide {
    /// Returns the side that starts at this byte of this column.
    pub(super) fn at(self, row: usize, column: usize) -> Self {
        let offset = row + column * self.stride;
        let address = match self.address {
            Address::Host(base) => Address::Host(base.wrapping_add(offset)),
            Address::Device(base) => Address::Device(base + offset as CUdeviceptr),
        };
        Self { address, ..self }
    }

    /// Returns whether columns of this shape have no gaps between them.
    pub(super) fn has_no_gaps(self, shape: Shape) -> bool {
        shape.columns == 1 || self.stride == shape.row_bytes
    }
}

/// A copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyJob {
    pub(super) shape: Shape,
    pub(super) from: CopySide,
    pub(super) to: CopySide,
    /// Whether one side is host memory that the device cannot access.
    pub(super) in_pieces: bool,
}

// SAFETY: it consists of addresses and sizes; only `enqueue` and the copier use the addresses, under their own
// conditions.
unsafe impl Send for CopyJob {}

impl CopyJob {
    /// Returns whether neither side is host memory.
    pub(super) fn is_between_heaps(&self) -> bool {
        matches!((&self.from.address, &self.to.address), (Address::Device(_), Address::Device(_)))
    }
}

/// Puts a copy into a stream, as one command.
///
/// # Safety
/// Both sides stay valid until the copy has ended, and host memory is pinned. From the time when the stream reaches the
/// copy, nobody writes the source, and nobody else accesses the destination.
pub(super) unsafe fn enqueue(stream: CUstream, shape: Shape, from: CopySide, to: CopySide) -> Result<(), DeviceError> {
    let bytes = shape.bytes();
    if !from.has_no_gaps(shape) || !to.has_no_gaps(shape) {
        // SAFETY: the caller guarantees the same conditions.
        return unsafe { enqueue_columns(stream, shape, from, to) };
    }
    // SAFETY: the caller keeps both sides valid. Without gaps, the columns are `bytes` consecutive bytes.
    unsafe {
        match (from.address, to.address) {
            (Address::Host(from), Address::Device(to)) => {
                check(sys::cuMemcpyHtoDAsync_v2(to, from.cast::<c_void>(), bytes, stream), "cuMemcpyHtoDAsync")
            }
            (Address::Device(from), Address::Host(to)) => {
                check(sys::cuMemcpyDtoHAsync_v2(to.cast::<c_void>(), from, bytes, stream), "cuMemcpyDtoHAsync")
            }
            (Address::Device(from), Address::Device(to)) => {
                check(sys::cuMemcpyAsync(to, from, bytes, stream), "cuMemcpyAsync")
            }
            (Address::Host(from), Address::Host(to)) => {
                let (from, to) = (from as usize as CUdeviceptr, to as usize as CUdeviceptr);
                check(sys::cuMemcpyAsync(to, from, bytes, stream), "cuMemcpyAsync")
            }
        }
    }
}

/// Like [`enqueue`], for columns with gaps between them.
///
/// # Safety
/// As for [`enqueue`].
unsafe fn enqueue_columns(stream: CUstream, shape: Shape, from: CopySide, to: CopySide) -> Result<(), DeviceError> {
    // The distance between columns. For a single column, any length of at least its size will do.
    let pitch = |end: CopySide| end.stride.max(shape.row_bytes);
    let (source, target) = (DriverAddress::of(from.address), DriverAddress::of(to.address));
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
    // SAFETY: the caller keeps both sides valid. The description is read before the call returns.
    check(unsafe { sys::cuMemcpy2DAsync_v2(&raw const copy, stream) }, "cuMemcpy2DAsync")
}

/// An address in the form of CUDA's copy descriptions.
struct DriverAddress {
    kind: CUmemorytype,
    host: *mut c_void,
    device: CUdeviceptr,
}

impl DriverAddress {
    fn of(address: Address) -> Self {
        match address {
            Address::Host(host) => Self { kind: CUmemorytype::CU_MEMORYTYPE_HOST, host: host.cast(), device: 0 },
            // The address determines the GPU, since all share one address space.
            Address::Device(device) => {
                Self { kind: CUmemorytype::CU_MEMORYTYPE_UNIFIED, host: ptr::null_mut(), device }
            }
        }
    }
}
