//! GPUs that are opened for tests, and the tests' kernels.

pub use crate::driver::bench::{Bench, HEAP_BYTES, Numbers, host, place};
use std::{
    ffi::c_void,
    ops::{Deref, DerefMut},
    sync::{Arc, Condvar, LazyLock, Mutex, PoisonError},
    time::Duration,
};
use superscalar_devices::cuda::{self, Options, PinnedBuffer, Program};
pub use superscalar_devices::cuda::{Cuda as Driver, Options as Settings, Queue};
use superscalar_runtime::{DeviceError, Event};

/// Returns the number of GPUs; if there are none, prints that the test is skipped and returns `None`.
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

/// The ordinals of GPUs that a test uses, while it uses them. GPUs have few channels and drivers have locks, so the
/// work of one test may delay that of another. Tests with upper bounds on durations therefore run alone.
pub struct Gpus {
    ordinals: Vec<usize>,
    is_alone: bool,
}

/// The number of tests that use GPUs; `usize::MAX` if one test uses them alone.
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

/// Returns the ordinals of `count` GPUs, repeated if there are fewer.
pub fn ordinals(count: usize) -> Option<Gpus> {
    Gpus::new(count, false)
}

/// What a bench holds besides its devices.
pub type Lease = Gpus;

/// Opens the first `count` devices by number, if there is a GPU. No heap is reserved.
pub fn open(count: usize, with: impl Fn(Options) -> Options) -> Option<(Vec<Arc<Driver>>, Gpus)> {
    Some(opened(ordinals(count)?, with))
}

fn opened(gpus: Gpus, with: impl Fn(Options) -> Options) -> (Vec<Arc<Driver>>, Gpus) {
    let options = Options { heap_bytes: Some(HEAP_BYTES), timed: true, cache: None, ..Options::default() };
    let devices = cuda::open_all(&gpus, 0, &with(options)).expect("devices open");
    (devices, gpus)
}

impl Bench {
    /// Opens the first `count` devices by number, while no other test uses a GPU.
    pub fn open_alone(count: usize, with: impl Fn(Options) -> Options) -> Option<Self> {
        Some(Self::of(opened(Gpus::new(count, true)?, with)))
    }
}

pub fn with_heap(heap_bytes: usize, options: Options) -> Options {
    Options { heap_bytes: Some(heap_bytes), ..options }
}

pub fn untimed(options: Options) -> Options {
    Options { timed: false, ..options }
}

/// Copies of at least this many bytes are timed.
pub const TIMED_BYTES_MIN: usize = 128 << 10;

/// Events that no device can wait for.
pub const STRANGERS: [Event; 2] = [Event { device: 9, queue: 0, ticket: 1 }, Event { device: 0, queue: 99, ticket: 1 }];

/// Returns host memory, pinned in every other round.
pub fn host_memory(round: usize, bytes: usize) -> Box<dyn DerefMut<Target = [u8]>> {
    if round.is_multiple_of(2) {
        return Box::new(vec![0u8; bytes]);
    }
    Box::new(PinnedBuffer::<u8>::new(bytes).expect("pinned memory"))
}

/// Kernels on `int`s in the heap. `spin` runs for `ns` nanoseconds and adds one at its end; `trap` ends abnormally.
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

/// A program with a kernel that is not in [`SOURCE`].
pub const OTHER: &str = "extern \"C\" __global__ void other(int *x) { x[0] = 1; }";

/// Compiles a text with options for the queue's device.
pub fn compile(queue: &mut Queue, text: &'static str, options: &[&str]) -> Result<(), DeviceError> {
    queue.compile(&Program::new("other", text, options)).map(drop)
}

pub static PROGRAM: LazyLock<Program> = LazyLock::new(|| Program::new("test kernels", SOURCE, &[]));

/// Returns the address of an argument.
pub fn argument<T>(value: &mut T) -> *mut c_void {
    (&raw mut *value).cast()
}

/// Sets, or adds to, `count` numbers at byte `offset`.
pub fn apply(queue: &mut Queue, kernel: &str, (offset, count): (usize, usize), value: i32) -> Result<(), DeviceError> {
    let function = queue.function(&PROGRAM, kernel)?;
    let (mut at, mut count, mut value) = (queue.address(offset)?, count as i32, value);
    let mut params = [argument(&mut at), argument(&mut count), argument(&mut value)];
    let blocks = (count as u32).div_ceil(256);
    // SAFETY: the kernels of `SOURCE` write only these numbers, which the tests keep within the heap.
    unsafe { queue.launch(function, [blocks, 1, 1], [256, 1, 1], 0, &mut params) }
}

/// Runs for `time`, then adds one to the number at byte `offset`.
pub fn spin(queue: &mut Queue, offset: usize, time: Duration) -> Result<(), DeviceError> {
    let function = queue.function(&PROGRAM, "spin")?;
    let (mut at, mut ns) = (queue.address(offset)?, time.as_nanos() as i64);
    let mut params = [argument(&mut at), argument(&mut ns)];
    // SAFETY: the kernel writes only this number, which the tests keep within the heap.
    unsafe { queue.launch(function, [1, 1, 1], [1, 1, 1], 0, &mut params) }
}

/// Writes three times the number at byte `from` to byte `to`.
pub fn triple(queue: &mut Queue, from: usize, to: usize) -> Result<(), DeviceError> {
    let function = queue.function(&PROGRAM, "triple")?;
    let (mut from, mut to) = (queue.address(from)?, queue.address(to)?);
    let mut params = [argument(&mut from), argument(&mut to)];
    // SAFETY: the kernel reads and writes only these numbers, which the tests keep within the heap.
    unsafe { queue.launch(function, [1, 1, 1], [1, 1, 1], 0, &mut params) }
}
