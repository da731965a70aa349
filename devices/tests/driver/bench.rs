//! Opened devices with the operations that the tests share.

use crate::bench::{Driver, Lease, Queue, Settings, open};
use std::{
    collections::HashMap,
    ptr::NonNull,
    sync::Arc,
    time::{Duration, Instant},
};
use superscalar_runtime::{
    Device, DeviceError, DeviceMemory, DeviceRegion, Event, Finished, HostRegion, MemoryInfo, Transfer,
};

pub const HEAP_BYTES: usize = 1 << 20;

pub struct Bench {
    pub devices: Vec<Arc<Driver>>,
    ended: HashMap<Event, Finished>,
    /// Dropped last.
    _lease: Lease,
}

impl Bench {
    /// Opens the first `count` devices by number, or returns `None` if there is no device. If there are fewer, they are
    /// opened repeatedly.
    pub fn open(count: usize) -> Option<Self> {
        Self::open_with(count, |settings| settings)
    }

    pub fn open_with(count: usize, with: impl Fn(Settings) -> Settings) -> Option<Self> {
        open(count, with).map(Self::of)
    }

    /// Reserves the heaps of opened devices.
    pub fn of((devices, lease): (Vec<Arc<Driver>>, Lease)) -> Self {
        for device in &devices {
            device.reserve().expect("a heap");
        }
        Self { devices, ended: HashMap::new(), _lease: lease }
    }

    pub fn memory(&self, device: u16) -> MemoryInfo {
        self.devices[usize::from(device)].info().memory.expect("it has memory")
    }

    /// Issues a task.
    pub fn issue(
        &self,
        (device, queue): (u16, u16),
        waits: &[Event],
        mut task: impl FnMut(&mut Queue) -> Result<(), DeviceError>,
    ) -> Result<Event, DeviceError> {
        let mut issue = |queue: &mut dyn std::any::Any| task(queue.downcast_mut().expect("a queue of the driver"));
        let ticket = self.devices[usize::from(device)].issue(queue, waits, &mut issue)?;
        Ok(Event { device, queue, ticket })
    }

    /// Issues a copy.
    ///
    /// # Safety
    /// The rules of `DeviceMemory::copy`.
    pub unsafe fn copy(&self, device: u16, transfer: Transfer, waits: &[Event]) -> Result<Event, DeviceError> {
        let driver = &self.devices[usize::from(device)];
        // SAFETY: the caller keeps the rules of `DeviceMemory::copy`: both regions stay valid until the copy has ended.
        let ticket = unsafe { driver.copy(&transfer, waits)? };
        Ok(Event { device, queue: driver.info().transfer_queue(&transfer), ticket })
    }

    /// Polls and waits, as an issuer does, until the event is reported.
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

    /// Copies into a heap and waits for the end.
    pub fn write(&mut self, device: u16, offset: usize, bytes: &[u8]) {
        let transfer = Transfer::In { from: host(bytes.as_ptr(), bytes.len()), to: place(offset, bytes.len()) };
        // SAFETY: `bytes` is borrowed until the end is reported.
        let event = unsafe { self.copy(device, transfer, &[]) }.expect("a copy");
        self.end_of(event).result.expect("it ends well");
    }

    /// Copies out of a heap and waits for the end.
    pub fn read(&mut self, device: u16, offset: usize, bytes: usize, waits: &[Event]) -> Vec<u8> {
        let mut target = vec![0u8; bytes];
        let transfer = Transfer::Out { from: place(offset, bytes), to: host(target.as_mut_ptr(), bytes) };
        // SAFETY: `target` is valid and not accessed until the end is reported.
        let event = unsafe { self.copy(device, transfer, waits) }.expect("a copy");
        self.end_of(event).result.expect("it ends well");
        target
    }

    pub fn read_ints(&mut self, device: u16, offset: usize, count: usize, waits: &[Event]) -> Vec<i32> {
        let bytes = self.read(device, offset, count * 4, waits);
        bytes.chunks_exact(4).map(|four| i32::from_ne_bytes(four.try_into().expect("four bytes"))).collect()
    }
}

/// Returns a region of one column of host memory.
pub fn host(base: *const u8, bytes: usize) -> HostRegion {
    let base = NonNull::new(base.cast_mut()).expect("not null");
    HostRegion { base, row_bytes: bytes, columns: 1, stride_bytes: bytes }
}

/// Returns a region of one column of a heap.
pub fn place(offset: usize, bytes: usize) -> DeviceRegion {
    DeviceRegion { offset, row_bytes: bytes, columns: 1, stride_bytes: bytes }
}

/// A pseudo-random number generator (splitmix64), so that failures can be reproduced.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}
