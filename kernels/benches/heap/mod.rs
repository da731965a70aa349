//! Drives an OpenCL device directly, without a runtime: copies bytes in and runs one call.

use std::{ptr::NonNull, sync::Arc, time::Duration};
use superscalar_devices::opencl::{OpenclDevice, OpenclQueue, Settings, devices, named};
use superscalar_runtime::{Device, DeviceError, DeviceMemory, DeviceRegion, Finished, HostRegion, Transfer};

/// A device with its heap.
pub struct Heap {
    device: Arc<OpenclDevice>,
    bytes: usize,
}

impl Heap {
    /// Opens the first device, or the first core of one that can be divided. Returns None with a message if there is
    /// none.
    ///
    /// # Panics
    /// If there is none although `REQUIRE_OPENCL` is 1, or it cannot be opened.
    pub fn open(bytes: usize) -> Option<Self> {
        let found = devices().expect("the drivers list their devices");
        if found.is_empty() {
            let required = std::env::var_os("REQUIRE_OPENCL").is_some_and(|value| value == "1");
            assert!(!required, "REQUIRE_OPENCL is 1, but there is no OpenCL device");
            eprintln!("SKIPPED: there is no OpenCL device");
            return None;
        }
        let settings = Settings { queues: 1, memory_bytes: Some(bytes), ..Settings::new(0) };
        let first = named("opencl:0", &found).expect("the first device is in the list");
        let device = OpenclDevice::open(&[(first, settings)]).expect("the device opens").remove(0);
        device.reserve().expect("the device has memory for the heap");
        Some(Self { device, bytes })
    }

    /// Returns the bytes of the heap.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the name of the device.
    pub fn name(&self) -> String {
        self.device.info().name
    }

    /// Copies bytes to the start of the heap.
    pub fn write(&self, bytes: &[u8]) {
        let (from, to) = Self::columns(bytes.as_ptr(), bytes.len());
        let transfer = Transfer::In { from, to };
        // SAFETY: `bytes` is borrowed until `finished` reports the end of the copy below, and the copy only reads it.
        let ticket = unsafe { self.device.copy(&transfer, &[]) }.expect("the copy is issued");
        self.finished(self.device.info().transfer_queue(&transfer), ticket).result.expect("the copy succeeds");
    }

    /// Issues a task to the queue and waits for its end.
    ///
    /// # Errors
    /// If the task cannot be issued, or ends with an error.
    pub fn run(
        &self,
        mut issue: impl FnMut(&mut OpenclQueue) -> Result<(), DeviceError>,
    ) -> Result<Finished, DeviceError> {
        let ticket = self
            .device
            .issue(0, &[], &mut |queue| issue(queue.downcast_mut::<OpenclQueue>().expect("the driver's queue")))?;
        let finished = self.finished(0, ticket);
        finished.result.clone().map(|()| finished)
    }

    fn finished(&self, queue: u16, ticket: u64) -> Finished {
        let mut found = None;
        while found.is_none() {
            self.device.poll(&mut |finished| {
                if (finished.queue, finished.ticket) == (queue, ticket) {
                    found = Some(finished);
                }
            });
            if found.is_none() {
                self.device.wait(Duration::from_millis(100));
            }
        }
        found.expect("the loop ends with a result")
    }

    /// Returns one column on the host, and one at the start of the heap.
    fn columns(base: *const u8, bytes: usize) -> (HostRegion, DeviceRegion) {
        let base = NonNull::new(base.cast_mut()).expect("a slice has an address");
        let host = HostRegion { base, row_bytes: bytes, columns: 1, stride_bytes: bytes };
        (host, DeviceRegion::like(&host, 0, 128))
    }
}
