//! Opened devices, and the little that tests do with them again and again.

use std::{
    collections::HashMap,
    ptr::NonNull,
    sync::Arc,
    time::{Duration, Instant},
};
use superscalar_devices::opencl::{Arg, Found, OpenclDevice, OpenclQueue, Settings, Source, devices, named};
use superscalar_runtime::{
    Device, DeviceError, DeviceMemory, DeviceRegion, Event, Finished, HostRegion, MemoryInfo, Transfer,
};

pub const HEAP_BYTES: usize = 1 << 20;

/// The devices of the system; none, with a word about it, if there are none.
pub fn found() -> Option<Vec<Found>> {
    let found = devices().expect("drivers answer");
    if !found.is_empty() {
        return Some(found);
    }
    let is_required = std::env::var_os("REQUIRE_OPENCL").is_some_and(|value| value == "1");
    assert!(!is_required, "REQUIRE_OPENCL=1, but there is no OpenCL device");
    eprintln!("SKIPPED: there is no OpenCL device");
    None
}

pub struct Bench {
    pub devices: Vec<Arc<OpenclDevice>>,
    ended: HashMap<Event, Finished>,
}

impl Bench {
    /// The first devices by number; none if the system has no OpenCL device. If it has fewer, the same ones are opened again.
    pub fn open(count: u16) -> Option<Self> {
        Self::open_with(count, |settings| settings)
    }

    pub fn open_with(count: u16, with: impl Fn(Settings) -> Settings) -> Option<Self> {
        let found = found()?;
        let chosen = (0..count).map(|index| {
            let numbered = named(&format!("opencl:{index}"), &found).or_else(|_| named("opencl:0", &found));
            let settings = Settings { memory_bytes: Some(HEAP_BYTES), cache: None, ..Settings::new(index) };
            (numbered.expect("the first device"), with(settings))
        });
        let devices = OpenclDevice::open(&chosen.collect::<Vec<_>>()).expect("devices open");
        for device in &devices {
            device.reserve().expect("a heap");
        }
        Some(Self { devices, ended: HashMap::new() })
    }

    pub fn memory(&self, device: u16) -> MemoryInfo {
        self.devices[usize::from(device)].info().memory.expect("OpenCL devices have memory")
    }

    /// Puts a task into a queue.
    pub fn issue(
        &self,
        (device, queue): (u16, u16),
        waits: &[Event],
        mut task: impl FnMut(&mut OpenclQueue) -> Result<(), DeviceError>,
    ) -> Result<Event, DeviceError> {
        let mut issue = |queue: &mut dyn std::any::Any| task(queue.downcast_mut().expect("an OpenCL queue"));
        let ticket = self.devices[usize::from(device)].issue(queue, waits, &mut issue)?;
        Ok(Event { device, queue, ticket })
    }

    /// Puts a copy into its queue.
    ///
    /// # Safety
    /// As for `DeviceMemory::copy`.
    pub unsafe fn copy(&self, device: u16, transfer: Transfer, waits: &[Event]) -> Result<Event, DeviceError> {
        let driver = &self.devices[usize::from(device)];
        // SAFETY: the caller's promise.
        let ticket = unsafe { driver.copy(&transfer, waits)? };
        Ok(Event { device, queue: driver.info().transfer_queue(&transfer), ticket })
    }

    /// Waits as an issuer does until the event is reported.
    pub fn end_of(&mut self, event: Event) -> Finished {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            self.poll();
            if let Some(finished) = self.ended.remove(&event) {
                return finished;
            }
            assert!(Instant::now() < deadline, "{event:?} does not end");
            self.devices[usize::from(event.device)].wait(Duration::from_millis(100));
        }
    }

    pub fn poll(&mut self) {
        for (device, driver) in self.devices.iter().enumerate() {
            driver.poll(&mut |finished| {
                let event = Event { device: device as u16, queue: finished.queue, ticket: finished.ticket };
                assert!(self.ended.insert(event, finished).is_none(), "{event:?} is reported twice");
            });
        }
    }

    /// Copies into a heap, and waits for it.
    pub fn write(&mut self, device: u16, offset: usize, bytes: &[u8]) {
        let transfer = Transfer::In { from: host(bytes.as_ptr(), bytes.len()), to: place(offset, bytes.len()) };
        // SAFETY: `bytes` is borrowed until the end is reported.
        let event = unsafe { self.copy(device, transfer, &[]) }.expect("a copy");
        self.end_of(event).result.expect("it ends well");
    }

    /// Copies out of a heap, and waits for it.
    pub fn read(&mut self, device: u16, offset: usize, bytes: usize, waits: &[Event]) -> Vec<u8> {
        let mut target = vec![0u8; bytes];
        let transfer = Transfer::Out { from: place(offset, bytes), to: host(target.as_mut_ptr(), bytes) };
        // SAFETY: nobody touches `target` until the end is reported.
        let event = unsafe { self.copy(device, transfer, waits) }.expect("a copy");
        self.end_of(event).result.expect("it ends well");
        target
    }

    pub fn read_ints(&mut self, device: u16, offset: usize, count: usize, waits: &[Event]) -> Vec<i32> {
        let bytes = self.read(device, offset, count * 4, waits);
        bytes.chunks_exact(4).map(|four| i32::from_ne_bytes(four.try_into().expect("four bytes"))).collect()
    }
}

/// One column of host memory.
pub fn host(base: *const u8, bytes: usize) -> HostRegion {
    let base = NonNull::new(base.cast_mut()).expect("not null");
    HostRegion { base, row_bytes: bytes, columns: 1, stride_bytes: bytes }
}

/// One column of a heap.
pub fn place(offset: usize, bytes: usize) -> DeviceRegion {
    DeviceRegion { offset, row_bytes: bytes, columns: 1, stride_bytes: bytes }
}

/// Kernels on `int`s in the heap. `spin` takes long, and ends by adding one.
pub fn source() -> Source {
    let text = "
        __kernel void set(__global int *heap, ulong at, int value) {
            heap[at + get_global_id(0)] = value;
        }
        __kernel void add(__global int *heap, ulong at, int value) {
            heap[at + get_global_id(0)] += value;
        }
        __kernel void triple(__global int *heap, ulong from, ulong to) {
            heap[to + get_global_id(0)] = 3 * heap[from + get_global_id(0)];
        }
        __kernel void spin(__global int *heap, ulong at, int rounds) {
            uint x = heap[at];
            for (int round = 0; round < rounds; ++round) x = x * 1664525u + 1013904223u;
            heap[at] = heap[at] + 1 + (x == 0x7fffffffu ? 1000 : 0);
        }";
    Source::new(text, "")
}

/// Sets, or adds to, `count` numbers from byte `offset` on.
pub fn apply(
    queue: &mut OpenclQueue,
    kernel: &str,
    (offset, count): (usize, usize),
    value: i32,
) -> Result<(), DeviceError> {
    let args = [Arg::Heap, Arg::value(offset as u64 / 4), Arg::value(value)];
    // SAFETY: the kernels of `source` write the numbers named, which the tests keep inside the heap.
    unsafe { queue.launch(&source(), kernel, &args, &[count], None) }
}
