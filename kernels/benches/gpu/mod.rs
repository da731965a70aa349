//! The GPU that benchmarks use through its driver.

use std::{
    ptr::NonNull,
    sync::Arc,
    time::{Duration, Instant},
};
use superscalar_devices::cuda::{self, Cuda, Queue};
use superscalar_kernels::{
    Scalar,
    device::{Call, backends},
};
use superscalar_runtime::{Cost, Device, DeviceError, DeviceRegion, Event, HostRegion, IssueContext, Transfer};

/// Calls per round.
pub const CALLS: usize = 20;
/// Rounds per benchmark; the median is reported.
pub const ROUNDS: usize = 5;

/// The GPU, of which the first queue is used, and the extent of the operands.
pub struct Gpu {
    pub device: Arc<Cuda>,
    /// Bytes of the heap that operands occupy; scratch begins after them.
    pub operands: usize,
}

impl Gpu {
    /// Waits for the end of a ticket.
    pub fn end(&self, queue: u16, ticket: u64) -> Result<(), DeviceError> {
        let mut ended = None;
        while ended.is_none() {
            self.device.poll(&mut |end| {
                if (end.queue, end.ticket) == (queue, ticket) {
                    ended = Some(end.result);
                } else if let Err(error) = end.result {
                    eprintln!("an earlier call failed: {error}");
                }
            });
            if ended.is_none() {
                self.device.wait(Duration::from_millis(1));
            }
        }
        ended.unwrap_or(Ok(()))
    }

    /// Copies bytes to the start of the heap.
    pub fn load(&self, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let info = self.device.info();
        let base = NonNull::from(&mut *bytes).cast();
        let host = HostRegion { base, row_bytes: bytes.len(), columns: 1, stride_bytes: bytes.len() };
        let align = info.memory.as_ref().map_or(1, |memory| memory.align);
        let transfer = Transfer::In { from: host, to: DeviceRegion::like(&host, 0, align) };
        let memory = self.device.memory().ok_or_else(|| DeviceError::new("the GPU has no memory"))?;
        // SAFETY: `bytes` is borrowed until `end` below reports the end of the copy.
        let ticket = unsafe { memory.copy(&transfer, &[])? };
        self.end(info.transfer_queue(&transfer), ticket)
    }

    /// Issues a call to the queue.
    pub fn issue<T: Scalar>(&self, call: &Call<T>) -> Result<u64, DeviceError> {
        let info = self.device.info();
        let backend = backends::<Call<T>>().iter().find(|backend| backend.kind() == cuda::KIND);
        let backend = backend.ok_or_else(|| DeviceError::new("there is no backend for CUDA"))?;
        let start = self.operands.next_multiple_of(256);
        let scratch = start..start + backend.scratch_bytes(call);
        // Untimed, as the peers' calls and the runtime's brief ones are.
        self.device.issue_untimed(0, &[] as &[Event], &mut |driver| {
            backend.issue(&mut IssueContext::new(info.kind, driver, Cost::default(), scratch.clone()), call)
        })
    }

    /// Returns the seconds per repetition of some queued calls.
    pub fn seconds<T: Scalar>(&self, calls: &[Call<T>]) -> Result<f64, DeviceError> {
        let mut times = Vec::new();
        // The first round compiles the kernels and wakes the GPU.
        for round in 0..=ROUNDS {
            let start = Instant::now();
            let mut last = 0;
            for _ in 0..CALLS {
                for call in calls {
                    last = self.issue(call)?;
                }
            }
            self.end(0, last)?;
            if round > 0 {
                times.push(start.elapsed().as_secs_f64() / CALLS as f64);
            }
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    }

    /// Returns the seconds per repetition of some queued calls in one round, after one that is not counted.
    pub fn round<T: Scalar>(&self, calls: &[Call<T>]) -> Result<f64, DeviceError> {
        let queue = |count: usize| {
            let mut last = 0;
            for call in (0..count).flat_map(|_| calls) {
                last = self.issue(call)?;
            }
            self.end(0, last)
        };
        queue(1)?;
        let start = Instant::now();
        queue(CALLS)?;
        Ok(start.elapsed().as_secs_f64() / CALLS as f64)
    }

    /// Returns the address of the heap.
    pub fn address(&self) -> Result<u64, DeviceError> {
        let (info, mut address) = (self.device.info(), Ok(0));
        let ticket = self.device.issue(0, &[] as &[Event], &mut |driver| {
            let mut context = IssueContext::new(info.kind, driver, Cost::default(), 0..0);
            address = context.queue::<Queue>()?.address(0);
            Ok(())
        })?;
        self.end(0, ticket)?;
        address
    }
}
