//! Memory from the driver: of a GPU, and pinned host memory. Each is owned by a Rust value that gives it back.

use super::{context::Context, failure::check};
use cudarc::driver::sys::{self, CUdeviceptr};
use std::{
    ffi::c_void,
    ptr::{self, NonNull},
    sync::Arc,
};
use superscalar_runtime::DeviceError;

/// Memory of a GPU.
#[derive(Debug)]
pub(super) struct DeviceBuffer {
    address: CUdeviceptr,
    bytes: usize,
    context: Arc<Context>,
}

impl DeviceBuffer {
    pub(super) fn new(context: &Arc<Context>, bytes: usize) -> Result<Self, DeviceError> {
        context.make_current()?;
        let mut address = 0;
        // SAFETY: the context is current.
        check(unsafe { sys::cuMemAlloc_v2(&raw mut address, bytes) }, "cuMemAlloc")?;
        Ok(Self { address, bytes, context: Arc::clone(context) })
    }

    #[inline]
    pub(super) fn address(&self) -> CUdeviceptr {
        self.address
    }

    #[inline]
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        if self.context.can_destroy() {
            // SAFETY: it was allocated for this value, and nothing that uses it is in a queue any more. A driver that refuses leaks it.
            let _ = unsafe { sys::cuMemFree_v2(self.address) };
        }
    }
}

/// Pinned host memory, for every GPU. It is not write-combined: the host reads it as fast as any other.
#[derive(Debug)]
pub(super) struct HostBuffer {
    place: NonNull<u8>,
    bytes: usize,
    context: Arc<Context>,
}

// SAFETY: memory of its own, which belongs to no thread.
unsafe impl Send for HostBuffer {}
// SAFETY: as above; who writes it is its users' affair.
unsafe impl Sync for HostBuffer {}

impl HostBuffer {
    pub(super) fn new(context: &Arc<Context>, bytes: usize) -> Result<Self, DeviceError> {
        context.make_current()?;
        let mut place = ptr::null_mut();
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: the context is current.
        check(unsafe { sys::cuMemHostAlloc(&raw mut place, bytes, flags) }, "cuMemHostAlloc")?;
        let place =
            NonNull::new(place.cast()).ok_or_else(|| DeviceError::new("cuMemHostAlloc answers with nothing"))?;
        Ok(Self { place, bytes, context: Arc::clone(context) })
    }

    pub(super) fn place(&self) -> NonNull<u8> {
        self.place
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where the GPU of its context finds it.
    pub(super) fn address(&self) -> Result<CUdeviceptr, DeviceError> {
        self.context.make_current()?;
        let mut address = 0;
        let place: *mut c_void = self.place.as_ptr().cast();
        // SAFETY: the context is current, and the memory was allocated as mapped.
        let code = unsafe { sys::cuMemHostGetDevicePointer_v2(&raw mut address, place, 0) };
        check(code, "cuMemHostGetDevicePointer")?;
        Ok(address)
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        if self.context.can_destroy() {
            // SAFETY: it was allocated for this value, and nothing that uses it is in a queue any more. A driver that refuses leaks it.
            let _ = unsafe { sys::cuMemFreeHost(self.place.as_ptr().cast()) };
        }
    }
}
