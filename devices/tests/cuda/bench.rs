//! Opened devices, and the little that tests do with them again and again.

use std::{
    collections::HashMap,
    ffi::c_void,
    ops::Deref,
    ptr::NonNull,
    sync::{Arc, Condvar, LazyLock, Mutex, PoisonError},
    time::{Duration, Instant},
};
use superscalar_devices::cuda::{self, Cuda, Options, Program, Queue};
use superscalar_runtime::{
    Device, DeviceError, DeviceMemory, DeviceRegion, Event, Finished, HostRegion, MemoryInfo, Transfer,
};

pub const HEAP_BYTES: usize = 1 << 20;

/// How many GPUs there are; none, with a word about it, if there are none.
pub fn gpus() -> Option<usize> {
    let count = cuda::count().expect("the driver answers");
    if count > 0 {
        return Some(count);
    }
    let is_required = std::env::var_os("REQUIRE_CUDA").is_some_and(|value| value == "1");
    assert!(!is_required, "REQUIRE_CUDA=1, but there is no GPU");
    eprintln!("SKIPPED: there is no GPU");
    None
}

/// The numbers of GPUs that a test uses, as long as it uses them. A GPU has few channels, and a driver locks: what one test puts into a stream may
/// wait for another's work. So who bounds how long something takes is alone.
pub struct Gpus {
    ordinals: Vec<usize>,
    is_alone: bool,
}

/// How many tests use GPUs; `usize::MAX` if one does alone.
static USERS: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

impl Gpus {
    fn new(count: usize, is_alone: bool) -> Option<Self> {
        let there = gpus()?;
        let users = USERS.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = |users: &mut usize| if is_alone { *users > 0 } else { *users == usize::MAX };
        let mut users = USERS.1.wait_while(users, waiting).unwrap_or_else(PoisonError::into_inner);
        *users = if is_alone { usize::MAX } else { *users + 1 };
        Some(Self { ordinals: (0..count).map(|number| number % there).collect(), is_alone })
    }
}

impl Drop for Gpus {
    fn drop(&mut self) {
        let mut users = USERS.0.lock().unwrap_or_else(PoisonError::into_inner);
        *users = if self.is_alone { 0 } else { *users - 1 };
        USERS.1.notify_all();
    }
}

impl Deref for Gpus {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.ordinals
    }
}

/// The numbers of so many GPUs, over and over if there are fewer.
pub fn ordinals(count: usize) -> Option<Gpus> {
    Gpus::new(count, false)
}

pub struct Bench {
    pub devices: Vec<Arc<Cuda>>,
    ended: HashMap<Event, Finished>,
    /// Given back last.
    _gpus: Gpus,
}

impl Bench {
    /// The first devices by number; none if the machine has no GPU. If it has fewer, the same ones are opened again.
    pub fn open(count: usize) -> Option<Self> {
        Self::open_with(count, |options| options)
    }

    /// The same while no other test uses a GPU.
    pub fn open_alone(count: usize, with: impl Fn(Options) -> Options) -> Option<Self> {
        Some(Self::on(Gpus::new(count, true)?, with))
    }

    pub fn open_with(count: usize, with: impl Fn(Options) -> Options) -> Option<Self> {
        Some(Self::on(ordinals(count)?, with))
    }

    fn on(gpus: Gpus, with: impl Fn(Options) -> Options) -> Self {
        let options = Options { heap_bytes: Some(HEAP_BYTES), timed: true, cache: None, ..Options::default() };
        let devices = cuda::open_all(&gpus, 0, &with(options)).expect("devices open");
        for device in &devices {
            device.reserve().expect("a heap");
        }
        Self { devices, ended: HashMap::new(), _gpus: gpus }
    }

    pub fn memory(&self, device: u16) -> MemoryInfo {
        self.devices[usize::from(device)].info().memory.expect("GPUs have memory")
    }

    /// Puts a task into a queue.
    pub fn issue(
        &self,
        (device, queue): (u16, u16),
        waits: &[Event],
        mut task: impl FnMut(&mut Queue) -> Result<(), DeviceError>,
    ) -> Result<Event, DeviceError> {
        let mut issue = |queue: &mut dyn std::any::Any| task(queue.downcast_mut().expect("a queue of CUDA"));
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

/// Kernels on `int`s in the heap. `spin` takes so many nanoseconds, and ends by adding one; `trap` ends abnormally.
pub const SOURCE: &str = r#"
extern "C" __global__ void set(int *at, int count, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) at[i] = value;
}
extern "C" __global__ void add(int *at, int count, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) at[i] += value;
}
extern "C" __global__ void triple(const int *from, int *to) {
    *to = 3 * *from;
}
extern "C" __global__ void spin(int *at, long long ns) {
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while ((long long)(now - begin) < ns);
    *at += 1;
}
extern "C" __global__ void trap(int *at) {
    *(volatile int *)(at + (1ll << 50)) = 1;
}
"#;

pub static PROGRAM: LazyLock<Program> = LazyLock::new(|| Program::new("test kernels", SOURCE, &[]));

/// The address of an argument.
pub fn argument<T>(value: &mut T) -> *mut c_void {
    (&raw mut *value).cast()
}

/// Sets, or adds to, `count` numbers from byte `offset` on.
pub fn apply(queue: &mut Queue, kernel: &str, (offset, count): (usize, usize), value: i32) -> Result<(), DeviceError> {
    let function = queue.function(&PROGRAM, kernel)?;
    let (mut at, mut count, mut value) = (queue.address(offset)?, count as i32, value);
    let mut params = [argument(&mut at), argument(&mut count), argument(&mut value)];
    let blocks = (count as u32).div_ceil(256);
    // SAFETY: the kernels of `SOURCE` write the numbers named, which the tests keep inside the heap.
    unsafe { queue.launch(function, [blocks, 1, 1], [256, 1, 1], 0, &mut params) }
}

/// Takes so long, and then adds one to the number at a byte.
pub fn spin(queue: &mut Queue, offset: usize, time: Duration) -> Result<(), DeviceError> {
    let function = queue.function(&PROGRAM, "spin")?;
    let (mut at, mut ns) = (queue.address(offset)?, time.as_nanos() as i64);
    let mut params = [argument(&mut at), argument(&mut ns)];
    // SAFETY: as above.
    unsafe { queue.launch(function, [1, 1, 1], [1, 1, 1], 0, &mut params) }
}

/// Writes three times the number at one byte to another.
pub fn triple(queue: &mut Queue, from: usize, to: usize) -> Result<(), DeviceError> {
    let function = queue.function(&PROGRAM, "triple")?;
    let (mut from, mut to) = (queue.address(from)?, queue.address(to)?);
    let mut params = [argument(&mut from), argument(&mut to)];
    // SAFETY: as above.
    unsafe { queue.launch(function, [1, 1, 1], [1, 1, 1], 0, &mut params) }
}

/// A generator of numbers (splitmix64), so that a failure can be had again.
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
