//! What the suite is run on: the host's kernels, or a device behind its driver.

use super::Image;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use superscalar_kernels::{
    Scalar,
    device::{Backend, Call, backends},
};
use superscalar_runtime::{
    Cost, Device, DeviceError, DeviceInfo, DeviceRegion, Event, HostRegion, IssueContext, MemoryInfo, Transfer,
};

/// Longer than any case takes; a driver that does not answer fails the test and does not hang it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes behind the scratch memory, which nobody may write.
const GUARD_BYTES: usize = 1024;

/// Puts a call into a driver's queue.
type Issue<'i> = &'i mut dyn FnMut(&mut IssueContext<'_>) -> Result<(), DeviceError>;

/// Something that carries calls out.
pub trait Runner<T: Scalar> {
    /// Carries the call out on a heap with these contents, which become those that it leaves.
    fn run(&mut self, call: &Call<T>, image: &mut Image) -> Result<(), DeviceError>;

    /// Whether panels are among them.
    fn has_panels(&self) -> bool {
        true
    }

    /// Whether triangular solves divide by elements whose reciprocals overflow: subnormal ones.
    fn divides_by_subnormals(&self) -> bool {
        true
    }

    /// Whether it is an NVIDIA GPU, for whose blocks some operands are larger.
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

/// A device, which is given what the runtime gives it: copies, calls and events.
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
    /// A device with a heap, as the runtime's only one.
    pub fn new(device: Arc<dyn Device>) -> Self {
        let info = device.info();
        let memory = info.memory.clone().expect("a device with memory of its own");
        device.memory().expect("a device with memory of its own").reserve().expect("a heap");
        Self { device, info, memory, finished: Vec::new(), queue: 0 }
    }

    /// Copies all of a buffer to or from the start of the heap, behind these events.
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
        // SAFETY: `run` leaves the buffer alone until the end is reported, and gives it up if that does not come.
        let ticket = unsafe { memory.copy(&transfer, waits) }.expect("a copy");
        Event { device: 0, queue: self.info.transfer_queue(&transfer), ticket }
    }

    /// Waits for the end of what has this event.
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
            if start.elapsed() > PATIENCE {
                return None;
            }
            self.device.wait(Duration::from_millis(100));
        }
    }

    fn issue(&mut self, scratch: std::ops::Range<usize>, wait: Event, issue: Issue<'_>) -> Result<Event, DeviceError> {
        let (queue, kind) = (self.queue, self.info.kind);
        self.queue = (queue + 1) % self.info.queues;
        let ticket = self.device.issue(queue, &[wait], &mut |driver| {
            issue(&mut IssueContext::new(kind, driver, Cost::default(), scratch.clone()))
        })?;
        Ok(Event { device: 0, queue, ticket })
    }

    fn backend<T: Scalar>(&self) -> &'static Backend<T> {
        backends().iter().find(|backend| backend.kind() == self.info.kind).expect("a backend for the driver's kind")
    }

    /// Carries a call out that is put into the queue so, and has so many bytes of scratch memory.
    ///
    /// # Panics
    /// If what lies behind the scratch memory has changed.
    pub fn run_by(&mut self, scratch_bytes: usize, image: &mut Image, issue: Issue<'_>) -> Result<(), DeviceError> {
        // The scratch lies behind the image, and holds NaN.
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
        let Some(copied) = self.end(loaded) else { given_up(buffer) };
        copied.expect("a copy into the heap");
        let outcome = match carried_out? {
            Some(outcome) => outcome,
            None => given_up(buffer),
        };
        // The call has ended; a copy that waited for one that has failed would fail, too.
        let stored = self.copy(&mut buffer, false, &[]);
        let Some(copied) = self.end(stored) else { given_up(buffer) };
        copied.expect("a copy out of the heap");
        assert!(buffer[guard..].iter().all(|&byte| byte == 0xff), "written behind the scratch memory");
        image.bytes_mut().copy_from_slice(&buffer[..operands]);
        outcome
    }
}

impl<T: Scalar> Runner<T> for OnDevice {
    fn has_panels(&self) -> bool {
        self.backend::<T>().has_panels()
    }

    fn run(&mut self, call: &Call<T>, image: &mut Image) -> Result<(), DeviceError> {
        let backend = self.backend::<T>();
        self.run_by(backend.scratch_bytes(call), image, &mut |context| backend.issue(context, call))
    }
}

/// Fails, and leaves the driver the memory that it may still use.
fn given_up(buffer: Vec<u8>) -> ! {
    std::mem::forget(buffer);
    panic!("no answer from the device in {PATIENCE:?}")
}
