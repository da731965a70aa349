//! An OpenCL device driven directly, without a runtime: bytes in, one call, bytes out.

use std::{ptr::NonNull, sync::Arc, time::Duration};
use superscalar_devices::opencl::{OpenclDevice, OpenclQueue, Settings, devices, named};
use superscalar_kernels::opencl::Class;
use superscalar_runtime::{Device, DeviceError, DeviceMemory, DeviceRegion, Finished, HostRegion, Transfer};

/// A device with its heap.
pub struct Heap {
    device: Arc<OpenclDevice>,
    bytes: usize,
}

impl Heap {
    /// The first device, or the first core of one that can be divided; none, and it says so, if there is none.
    ///
    /// # Panics
    /// If there is none although `REQUIRE_OPENCL` is 1, or it does not open.
    pub fn open(bytes: usize) -> Option<Self> {
        let found = devices().expect("drivers answer");
        if found.is_empty() {
            let required = std::env::var_os("REQUIRE_OPENCL").is_some_and(|value| value == "1");
            assert!(!required, "REQUIRE_OPENCL=1, and there is no OpenCL device");
            eprintln!("SKIPPED: there is no OpenCL device");
            return None;
        }
        let settings = Settings { queues: 1, memory_bytes: Some(bytes), ..Settings::new(0) };
        let first = named("opencl:0", &found).expect("there is a device");
        let device = OpenclDevice::open(&[(first, settings)]).expect("it opens").remove(0);
        device.reserve().expect("so much memory");
        Some(Self { device, bytes })
    }

    /// Bytes of the heap.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// What the device is called.
    pub fn name(&self) -> String {
        self.device.info().name
    }

    /// The device's class.
    pub fn class(&self) -> Class {
        Class::of(self.device.class())
    }

    /// Copies bytes to the heap's start.
    pub fn write(&self, bytes: &[u8]) {
        let (from, to) = Self::columns(bytes.as_ptr(), bytes.len());
        let transfer = Transfer::In { from, to };
        // SAFETY: the bytes are borrowed until the copy's end is reported below, and only read.
        let ticket = unsafe { self.device.copy(&transfer, &[]) }.expect("the copy is taken");
        self.finished(self.device.info().transfer_queue(&transfer), ticket).result.expect("the copy is done");
    }

    /// Copies bytes from the heap's start.
    pub fn read(&self, bytes: &mut [u8]) {
        let (to, from) = Self::columns(bytes.as_mut_ptr(), bytes.len());
        let transfer = Transfer::Out { from, to };
        // SAFETY: the bytes are borrowed exclusively until the copy's end is reported below.
        let ticket = unsafe { self.device.copy(&transfer, &[]) }.expect("the copy is taken");
        self.finished(self.device.info().transfer_queue(&transfer), ticket).result.expect("the copy is done");
    }

    /// Puts a task into the queue and waits for its end.
    ///
    /// # Errors
    /// If the task is not taken, or ends with an error.
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
        found.expect("it was found")
    }

    /// One column on the host, and at the heap's start.
    fn columns(base: *const u8, bytes: usize) -> (HostRegion, DeviceRegion) {
        let base = NonNull::new(base.cast_mut()).expect("a slice has an address");
        let host = HostRegion { base, row_bytes: bytes, columns: 1, stride_bytes: bytes };
        (host, DeviceRegion::like(&host, 0, 128))
    }
}
