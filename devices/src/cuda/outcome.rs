//! Outcomes: small places in pinned host memory that kernels write and the host reads when the task has ended.

use super::{buffer::HostBuffer, context::Context};
use cudarc::driver::sys::CUdeviceptr;
use std::{
    ffi::c_void,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};
use superscalar_runtime::DeviceError;

/// Bytes of an outcome: a cache line, so that no two tasks' outcomes share one.
pub const OUTCOME_BYTES_MAX: usize = 64;
/// Outcomes are taken from the driver so many at a time.
const BLOCK: usize = 256;

/// Looks at what a task has left.
pub(super) type Judge = Box<dyn FnOnce(&[u8]) -> Result<(), DeviceError> + Send>;

/// The outcomes of one queue's tasks.
pub(super) struct Outcomes {
    context: Arc<Context>,
    pool: Arc<Mutex<Pool>>,
}

#[derive(Default)]
struct Pool {
    blocks: Vec<HostBuffer>,
    free: Vec<Place>,
}

#[derive(Clone, Copy)]
struct Place {
    host: *mut u8,
    device: CUdeviceptr,
}

// SAFETY: it is the address of memory that its owner alone uses.
unsafe impl Send for Place {}

/// A zeroed place that is one task's own until it is dropped.
pub(super) struct Word {
    place: Place,
    pool: Arc<Mutex<Pool>>,
}

impl Outcomes {
    pub(super) fn new(context: Arc<Context>) -> Self {
        Self { context, pool: Arc::default() }
    }

    pub(super) fn take(&mut self) -> Result<Word, DeviceError> {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if pool.free.is_empty() {
            let block = HostBuffer::new(&self.context, BLOCK * OUTCOME_BYTES_MAX)?;
            let (host, device) = (block.place().as_ptr(), block.address()?);
            let offsets = (0..BLOCK).map(|at| at * OUTCOME_BYTES_MAX);
            pool.free.extend(
                offsets.map(|offset| Place { host: host.wrapping_add(offset), device: device + offset as CUdeviceptr }),
            );
            pool.blocks.push(block);
        }
        let place = pool.free.pop().ok_or_else(|| DeviceError::new("no place for an outcome"))?;
        // SAFETY: the place is in a block that stays with the pool, and nobody else has it.
        unsafe { place.host.write_bytes(0, OUTCOME_BYTES_MAX) };
        Ok(Word { place, pool: Arc::clone(&self.pool) })
    }
}

impl Word {
    /// Where the device finds it.
    pub(super) fn address(&self) -> CUdeviceptr {
        self.place.device
    }

    /// Where the host finds it.
    pub(super) fn place(&self) -> *mut c_void {
        self.place.host.cast()
    }

    /// What is there by now.
    pub(super) fn bytes(&self) -> [u8; OUTCOME_BYTES_MAX] {
        // SAFETY: the place has so many bytes; whoever asks knows that the task has ended, so nobody writes them.
        unsafe { self.place.host.cast::<[u8; OUTCOME_BYTES_MAX]>().read_volatile() }
    }
}

impl Drop for Word {
    fn drop(&mut self) {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).free.push(self.place);
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Word({:#x})", self.place.device)
    }
}
