//! OpenCL devices that are opened for tests, and the tests' kernels.

pub use crate::driver::bench::{Bench, HEAP_BYTES, host, place};
use std::{ops::DerefMut, sync::Arc, time::Duration};
use superscalar_devices::opencl::{Arg, DiscoveredDevice, Source, devices, named};
pub use superscalar_devices::opencl::{OpenclDevice as Driver, OpenclQueue as Queue, Settings};
use superscalar_runtime::{DeviceError, Event};

/// Returns the devices of the system; if there are none, prints that the test is skipped and returns `None`.
pub fn found() -> Option<Vec<DiscoveredDevice>> {
    let found = devices().expect("drivers answer");
    if !found.is_empty() {
        return Some(found);
    }
    let is_required = std::env::var_os("REQUIRE_OPENCL").is_some_and(|value| value == "1");
    assert!(!is_required, "REQUIRE_OPENCL=1, but there is no OpenCL device");
    eprintln!("SKIPPED: there is no OpenCL device");
    None
}

/// What a bench holds besides its devices.
pub type Lease = ();

/// Opens the first `count` devices by number, if there are any. No heap is reserved.
pub fn open(count: usize, with: impl Fn(Settings) -> Settings) -> Option<(Vec<Arc<Driver>>, ())> {
    let found = found()?;
    let chosen = (0..count as u16).map(|index| {
        let numbered = named(&format!("opencl:{index}"), &found).or_else(|_| named("opencl:0", &found));
        let settings = Settings { memory_bytes: Some(HEAP_BYTES), cache: None, ..Settings::new(index) };
        (numbered.expect("the first device"), with(settings))
    });
    Some((Driver::open(&chosen.collect::<Vec<_>>()).expect("devices open"), ()))
}

pub fn with_heap(heap_bytes: usize, settings: Settings) -> Settings {
    Settings { memory_bytes: Some(heap_bytes), ..settings }
}

/// All tasks are timed.
pub fn untimed(settings: Settings) -> Settings {
    settings
}

/// Copies of at least this many bytes are timed.
pub const TIMED_BYTES_MIN: usize = 1;

/// Events that no device can wait for.
pub const STRANGERS: [Event; 1] = [Event { device: 9, queue: 0, ticket: 1 }];

/// Returns host memory.
pub fn host_memory(_round: usize, bytes: usize) -> Box<dyn DerefMut<Target = [u8]>> {
    Box::new(vec![0u8; bytes])
}

/// Kernels on `int`s in the heap. `spin` runs for `rounds` iterations and adds one at its end.
pub const SOURCE: &str = "
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

/// A program with a kernel that is not in [`SOURCE`].
pub const OTHER: &str = "__kernel void other(__global int *heap) { heap[0] = 1; }";

pub fn source() -> Source {
    Source::new(SOURCE, "")
}

/// Compiles a text with options for the queue's device.
pub fn compile(queue: &mut Queue, text: &str, options: &[&str]) -> Result<(), DeviceError> {
    queue.compile(&Source::new(text, options.concat()))
}

/// Sets, or adds to, `count` numbers at byte `offset`.
pub fn apply(queue: &mut Queue, kernel: &str, (offset, count): (usize, usize), value: i32) -> Result<(), DeviceError> {
    let args = [Arg::Heap, Arg::value(offset as u64 / 4), Arg::value(value)];
    // SAFETY: the kernels of `source` write only these numbers, which the tests keep within the heap.
    unsafe { queue.launch(&source(), kernel, &args, &[count], None) }
}

/// Runs one iteration per nanosecond of `time`, then adds one to the number at byte `offset`.
pub fn spin(queue: &mut Queue, offset: usize, time: Duration) -> Result<(), DeviceError> {
    let args = [Arg::Heap, Arg::value(offset as u64 / 4), Arg::value(time.as_nanos() as i32)];
    // SAFETY: the kernel writes only one number of the heap.
    unsafe { queue.launch(&source(), "spin", &args, &[1], None) }
}

/// Writes three times the number at byte `from` to byte `to`.
pub fn triple(queue: &mut Queue, from: usize, to: usize) -> Result<(), DeviceError> {
    let args = [Arg::Heap, Arg::value(from as u64 / 4), Arg::value(to as u64 / 4)];
    // SAFETY: the kernel reads one number of the heap and writes another.
    unsafe { queue.launch(&source(), "triple", &args, &[1], None) }
}
