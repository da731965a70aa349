//! The runners of the suite: the host's kernels, or a device behind its driver.

use super::Image;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use superscalar_kernels::{
    Scalar,
    device::{Call, DeviceBackend, DeviceCall, backends},
};
use superscalar_runtime::{
    Cost, Device, DeviceError, DeviceInfo, DeviceRegion, Event, HostRegion, IssueContext, MemoryInfo, Transfer,
};

/// Longer than any case takes. A driver that does not answer fails the test instead of blocking it.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Bytes after the scratch memory, which no kernel may write.
const GUARD_BYTES: usize = 1024;

/// Puts a call into a driver's queue.
type IssueFn<'i> = &'i mut dyn FnMut(&mut IssueContext<'_>) -> Result<(), DeviceError>;

/// Carries calls out.
pub trait Runner<T: Scalar> {
    /// Carries the call out on a heap with the contents of the image, and stores the new contents there.
    fn run(&mut self, call: &Call<T>, image: &mut Image) -> Result<(), DeviceError>;

    /// Returns whether triangular solves divide by subnormal elements, whose reciprocals overflow.
    fn divides_by_subnormals(&self) -> bool {
        true
    }

    /// Returns whether this is an NVIDIA GPU, for whose blocks some operands are larger.
    fn is_gpu(&self) -> bool {
        false
    }
}

/// The host's kernels, on host memory.
pub struct OnHost;

impl<T: Scalar> Runner<T> for OnHost {
    fn run(&mut self, call: &Call<T>, image: &mut Image) -> Result<(), DeviceError> {
        call.run_in(image.bytes_mut())
    }
}

/// A device, used as the runtime uses it: with copies, calls and events.
pub struct OnDevice {
    device: Arc<dyn Device>,
    info: DeviceInfo,
    memory: MemoryInfo,
    /// Ends that were reported.
    finished: Vec<(Event, Result<(), DeviceError>)>,
    /// The task queue of the next call.
    queue: u16,
}

impl OnDevice {
    /// Wraps a device with a heap, as the runtime's only device.
    pub fn new(device: Arc<dyn Device>) -> Self {
        let info = device.info();
        let memory = info.memory.clone().expect("a device with memory of its own");
        device.memory().expect("a device with memory of its own").reserve().expect("a heap");
        Self { device, info, memory, finished: Vec::new(), queue: 0 }
    }

    /// Copies a whole buffer to or from the start of the heap, after these events.
    fn copy(&self, buffer: &mut [u8], is_in: bool, waits: &[Event]) -> Event {
        let base = std::ptr::NonNull::from(&mut *buffer).cast();
        let row_bytes = buffer.len();
        let host = HostRegion { base, row_bytes, columns: 1, stride_bytes: row_bytes };
        let device = DeviceRegion::like(&host, 0, self.memory.align);
        let transfer = match is_in {
            true => Transfer::In { from: host, to: device },
            false => Transfer::Out { from: device, to: host },
        };
        let memory = self.device.memory().expect("a device with memory");
        // SAFETY: `run_with` owns the buffer, does not use it until the end is reported, and leaks it if that does not
        // happen.
        let ticket = unsafe { memory.copy(&transfer, waits) }.expect("a copy");
        Event { device: 0, queue: self.info.transfer_queue(&transfer), ticket }
    }

    /// Waits for the end of the work with this event. Returns `None` after [`TIMEOUT`].
    fn end(&mut self, event: Event) -> Option<Result<(), DeviceError>> {
        let start = Instant::now();
        loop {
            let finished = &mut self.finished;
            self.device.poll(&mut |end| {
                finished.push((Event { device: 0, queue: end.queue, ticket: end.ticket }, end.result));
            });
            if let Some(at) = finished.iter().position(|(known, _)| *known == event) {
                return Some(finished.swap_remove(at).1);
            }
            if start.elapsed() > TIMEOUT {
                return None;
            }
            self.device.wait(Duration::from_millis(100));
        }
    }

    fn issue(
        &mut self,
        scratch: std::ops::Range<usize>,
        wait: Event,
        issue: IssueFn<'_>,
    ) -> Result<Event, DeviceError> {
        let (queue, kind) = (self.queue, self.info.kind);
        self.queue = (queue + 1) % self.info.queues;
        let ticket = self.device.issue(queue, &[wait], &mut |driver| {
            issue(&mut IssueContext::new(kind, driver, Cost::default(), scratch.clone()))
        })?;
        Ok(Event { device: 0, queue, ticket })
    }

    fn backend<C: DeviceCall>(&self) -> &'static DeviceBackend<C> {
        backends().iter().find(|backend| backend.kind() == self.info.kind).expect("a backend for the driver's kind")
    }

    /// Carries the call out on a heap with the contents of the image, and stores the new contents there.
    pub fn carry_out<C: DeviceCall>(&mut self, call: &C, image: &mut Image) -> Result<(), DeviceError> {
        let backend = self.backend::<C>();
        self.run_with(backend.scratch_bytes(call), image, &mut |context| backend.issue(context, call))
    }

    /// Carries out the call that `issue` puts into the queue, with this many bytes of scratch memory.
    ///
    /// # Panics
    /// If the bytes after the scratch memory have changed.
    pub fn run_with(&mut self, scratch_bytes: usize, image: &mut Image, issue: IssueFn<'_>) -> Result<(), DeviceError> {
        // The scratch is after the image, and holds NaN.
        let operands = image.bytes().len();
        let start = operands.next_multiple_of(self.memory.align);
        let scratch = start..start + scratch_bytes;
        let (guard, bytes) = (scratch.end, scratch.end + GUARD_BYTES);
        assert!(bytes <= self.memory.bytes, "a heap of {} bytes for {bytes}", self.memory.bytes);
        let mut buffer = vec![0xff_u8; bytes];
        buffer[..operands].copy_from_slice(image.bytes());
        let loaded = self.copy(&mut buffer, true, &[]);
        let issued = self.issue(scratch, loaded, issue);
        let carried_out = issued.map(|event| self.end(event));
        let Some(copied) = self.end(loaded) else { time_out(buffer) };
        copied.expect("a copy into the heap");
        let outcome = match carried_out? {
            Some(outcome) => outcome,
            None => time_out(buffer),
        };
        // The copy does not wait for the call, because a copy that waits for a failed call would fail, too.
        let stored = self.copy(&mut buffer, false, &[]);
        let Some(copied) = self.end(stored) else { time_out(buffer) };
        copied.expect("a copy out of the heap");
        assert!(buffer[guard..].iter().all(|&byte| byte == 0xff), "bytes after the scratch memory were written");
        image.bytes_mut().copy_from_slice(&buffer[..operands]);
        outcome
    }
}

impl<T: Scalar> Runner<T> for OnDevice {
    fn run(&mut self, call: &Call<T>, image: &mut Image) -> Result<(), DeviceError> {
        self.carry_out(call, image)
    }
}

/// Panics, and leaks the buffer, which the driver may still use.
fn time_out(buffer: Vec<u8>) -> ! {
    std::mem::forget(buffer);
    panic!("no answer from the device in {TIMEOUT:?}")
}
