//! Outcomes: small slots in pinned host memory that kernels write and the host reads after the task has ended.

use super::{buffer::HostBuffer, context::Context};
use cudarc::driver::sys::CUdeviceptr;
use std::{
    ffi::c_void,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};
use superscalar_runtime::DeviceError;

/// The size of an outcome in bytes: a cache line, so that the outcomes of two tasks do not share one.
pub const OUTCOME_BYTES_MAX: usize = 64;
/// The number of outcomes that are allocated at a time.
const BLOCK: usize = 256;

/// Checks the outcome of a task.
pub(super) type OutcomeCheck = Box<dyn FnOnce(&[u8]) -> Result<(), DeviceError> + Send>;

/// The outcomes of one queue's tasks.
pub(super) struct Outcomes {
    context: Arc<Context>,
    pool: Arc<Mutex<SlotPool>>,
}

#[derive(Default)]
struct SlotPool {
    blocks: Vec<HostBuffer>,
    free: Vec<SlotAddress>,
}

#[derive(Clone, Copy)]
struct SlotAddress {
    host: *mut u8,
    device: CUdeviceptr,
}

// SAFETY: it is the address of memory that only the slot's owner accesses.
unsafe impl Send for SlotAddress {}

/// A zeroed slot that belongs to one task until it is dropped.
pub(super) struct OutcomeSlot {
    address: SlotAddress,
    pool: Arc<Mutex<SlotPool>>,
}

impl Outcomes {
    pub(super) fn new(context: Arc<Context>) -> Self {
        Self { context, pool: Arc::default() }
    }

    pub(super) fn take(&mut self) -> Result<OutcomeSlot, DeviceError> {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if pool.free.is_empty() {
            let block = HostBuffer::new(&self.context, BLOCK * OUTCOME_BYTES_MAX)?;
            let (host, device) = (block.base().as_ptr(), block.device_address()?);
            let offsets = (0..BLOCK).map(|at| at * OUTCOME_BYTES_MAX);
            pool.free.extend(
                offsets.map(|offset| SlotAddress {
                    host: host.wrapping_add(offset),
                    device: device + offset as CUdeviceptr,
                }),
            );
            pool.blocks.push(block);
        }
        let address = pool.free.pop().ok_or_else(|| DeviceError::new("no free slot for an outcome"))?;
        // SAFETY: the slot is part of a block that the pool keeps, and nobody else owns it.
        unsafe { address.host.write_bytes(0, OUTCOME_BYTES_MAX) };
        Ok(OutcomeSlot { address, pool: Arc::clone(&self.pool) })
    }
}

impl OutcomeSlot {
    /// Returns the address for the device.
    pub(super) fn device_address(&self) -> CUdeviceptr {
        self.address.device
    }

    /// Returns the address for the host.
    pub(super) fn host_address(&self) -> *mut c_void {
        self.address.host.cast()
    }

    /// Returns the current content.
    pub(super) fn bytes(&self) -> [u8; OUTCOME_BYTES_MAX] {
        // SAFETY: the slot has this size. Callers know that the task has ended, so nobody writes it.
        unsafe { self.address.host.cast::<[u8; OUTCOME_BYTES_MAX]>().read_volatile() }
    }
}

impl Drop for OutcomeSlot {
    fn drop(&mut self) {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).free.push(self.address);
    }
}

impl fmt::Debug for OutcomeSlot {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "OutcomeSlot({:#x})", self.address.device)
    }
}
