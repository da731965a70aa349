//! Memory allocated by the driver: GPU memory and pinned host memory. The owning Rust value frees it.

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
        // SAFETY: the context is current, and the place for the address is valid.
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
            // SAFETY: this value owns the allocation, and no work in a queue uses it any more. A driver that refuses
            // leaks it.
            let _ = unsafe { sys::cuMemFree_v2(self.address) };
        }
    }
}

/// Pinned host memory that every GPU can access. It is not write-combined, so the host reads it at full speed.
#[derive(Debug)]
pub(super) struct HostBuffer {
    base: NonNull<u8>,
    bytes: usize,
    context: Arc<Context>,
}

// SAFETY: the value owns its memory, which is not tied to a thread.
unsafe impl Send for HostBuffer {}
// SAFETY: methods only return the address; the users of the buffer order their accesses to its contents.
unsafe impl Sync for HostBuffer {}

impl HostBuffer {
    pub(super) fn new(context: &Arc<Context>, bytes: usize) -> Result<Self, DeviceError> {
        context.make_current()?;
        let mut base = ptr::null_mut();
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: the context is current, and the place for the address is valid.
        check(unsafe { sys::cuMemHostAlloc(&raw mut base, bytes, flags) }, "cuMemHostAlloc")?;
        let base =
            NonNull::new(base.cast()).ok_or_else(|| DeviceError::new("cuMemHostAlloc returned a null address"))?;
        Ok(Self { base, bytes, context: Arc::clone(context) })
    }

    pub(super) fn base(&self) -> NonNull<u8> {
        self.base
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the address under which the GPU of its context finds it.
    pub(super) fn device_address(&self) -> Result<CUdeviceptr, DeviceError> {
        self.context.make_current()?;
        let mut address = 0;
        let base: *mut c_void = self.base.as_ptr().cast();
        // SAFETY: the context is current, and the memory was allocated as mapped.
        let code = unsafe { sys::cuMemHostGetDevicePointer_v2(&raw mut address, base, 0) };
        check(code, "cuMemHostGetDevicePointer")?;
        Ok(address)
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        if self.context.can_destroy() {
            // SAFETY: this value owns the allocation, and no work in a queue uses it any more. A driver that refuses
            // leaks it.
            let _ = unsafe { sys::cuMemFreeHost(self.base.as_ptr().cast()) };
        }
    }
}
