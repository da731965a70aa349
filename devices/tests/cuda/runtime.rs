//! Random task programs through the runtime, on GPUs, compared with serial execution.
//!
//! A program is made from a seed, as in `tests/programs`. It runs on the host and up to three devices, on as many GPUs
//! as there are. The heaps hold little more than one task's data; vectors are in pageable or pinned memory. Afterwards
//! the devices must hold no data.
//!
//! `PROGRAMS=n` runs n seeds instead of the default number, `SEED=n` only this one.

#[path = "../programs/codelets.rs"]
mod codelets;
#[path = "../programs/program.rs"]
mod program;

use crate::bench::{argument, ordinals};
use codelets::{Call, Operands, UPDATE, Vector, run};
use program::{Program as Tasks, Random, mix, seeds};
use std::{
    collections::BTreeMap,
    ptr::NonNull,
    sync::{Arc, LazyLock},
};
use superscalar_devices::cuda::{self, Cuda, KIND, Options, Program, Queue, Registration};
use superscalar_runtime::{CopyKind, DeviceError, IssueContext, Lock, Runtime, TaskSpec};

/// The default number of seeds.
const SEEDS: u64 = 120;

/// The device's version of `mix`. The sources are first gathered in the task's scratch, which must belong to this task
/// only.
static KERNELS: LazyLock<Program> = LazyLock::new(|| {
    let source = r#"
typedef unsigned long long u64;
extern "C" __global__ void gather(const u64 *from, u64 *to, int count) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) to[i] = from[i];
}
extern "C" __global__ void mix(const u64 *sources, int count, u64 *target, int length, int overwrites, u64 number) {
    __shared__ u64 sum;
    if (threadIdx.x == 0) {
        u64 so_far = number;
        for (int i = 0; i < count; ++i) so_far = (so_far << 7 | so_far >> 57) ^ sources[i];
        sum = so_far;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < length; i += blockDim.x) {
        u64 old = overwrites ? 0 : target[i];
        target[i] = old * 31 + (sum ^ (u64)i);
    }
}
"#;
    Program::new("mixing", source, &[])
});

fn launch(
    context: &mut IssueContext<'_>,
    (sources, target): Operands,
    &(overwrites, number): &Call,
) -> Result<(), DeviceError> {
    let (target, scratch) = (target.region()?, context.scratch());
    let queue = context.queue::<Queue>()?;
    let [gather, mix] = [queue.function(&KERNELS, "gather")?, queue.function(&KERNELS, "mix")?];
    let mut count = 0;
    for source in sources {
        let source = source.region()?;
        let numbers = source.row_bytes / 8;
        let (mut from, mut to) = (queue.address(source.offset)?, queue.address(scratch.start + 8 * count)?);
        let mut length = numbers as i32;
        let mut params = [argument(&mut from), argument(&mut to), argument(&mut length)];
        // SAFETY: it reads an operand and writes the scratch, which has room for all sources.
        unsafe { queue.launch(gather, [1; 3], [32, 1, 1], 0, &mut params)? };
        count += numbers;
    }
    let (mut gathered, mut at) = (queue.address(scratch.start)?, queue.address(target.offset)?);
    let (mut count, mut length) = (count as i32, (target.row_bytes / 8) as i32);
    let (mut overwrites, mut number) = (i32::from(overwrites), number);
    let mut params = [
        argument(&mut gathered),
        argument(&mut count),
        argument(&mut at),
        argument(&mut length),
        argument(&mut overwrites),
        argument(&mut number),
    ];
    // SAFETY: it reads the scratch, and writes the target.
    unsafe { queue.launch(mix, [1; 3], [32, 1, 1], 0, &mut params) }
}

/// Opens one to three devices. Each has room for the needs of a single task, often for little more.
fn machine(random: &mut Random, gpus: &[usize], cache: &std::path::Path) -> Vec<Arc<Cuda>> {
    let gpus = &gpus[..1 + random.below(3)];
    let spare = if random.one_in(2) { 8 } else { 100 };
    // Four vectors of 48 numbers, and scratch for three, each aligned to 256 bytes.
    let bytes = 4 * 512 + 3 * 512 + 256 * random.below(spare);
    let options = Options {
        heap_bytes: Some(bytes),
        queues: 1 + random.below(3) as u16,
        depth: 1 + random.below(6),
        timed: random.one_in(2),
        // Programs are compiled once for all seeds.
        cache: Some(cache.to_owned()),
        ..Options::default()
    };
    cuda::open_all(gpus, 0, &options).expect("devices open")
}

/// Pins some of the vectors.
fn pin_some(random: &mut Random, data: &mut [Vector]) -> Vec<Registration> {
    let chosen = data.iter_mut().filter(|_| random.one_in(3));
    // SAFETY: the vectors outlive the returned registrations, and are not moved meanwhile.
    let pin = |vector: &mut Vector| unsafe { cuda::register(NonNull::from(&mut vector[..]).cast(), vector.len() * 8) };
    chosen.map(|vector| pin(vector).expect("pinned memory")).collect()
}

#[test]
fn results_match_serial_execution() {
    let Some(gpus) = ordinals(3) else { return };
    let cache = std::env::temp_dir().join(format!("superscalar-cuda-runtime-{}", std::process::id()));
    let mut copies = BTreeMap::<(bool, bool, CopyKind), u64>::new();
    for seed in seeds(SEEDS) {
        let random = &mut Random::new(seed);
        let devices = machine(random, &gpus, &cache);
        let builder = Runtime::builder().workers(1 + random.below(2)).bind(false).weights_file(None);
        let builder = devices.into_iter().fold(builder, |builder, device| builder.device(device));
        let rt = builder.build().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        for _ in 0..1 + random.below(8) {
            let tasks = Tasks::new(random);
            let mut data = tasks.data.clone();
            let pinned = pin_some(random, &mut data);
            run(&rt, &tasks, &mut data).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            drop(pinned);
            assert_eq!(data, tasks.serial(), "seed {seed}: {tasks:#?}");
            for memory in rt.memory_in_use() {
                let held = (memory.bytes, memory.replicas, memory.pins);
                assert_eq!(held, (0, 0, 0), "seed {seed}: {memory:?} {tasks:#?}");
            }
        }
        for one in rt.traffic() {
            *copies.entry((one.from == "host", one.to == "host", one.kind)).or_default() += one.copies;
        }
    }
    let _ = std::fs::remove_dir_all(&cache);
    println!("copies by (from the host, to it, why): {copies:?}");
    if seeds(SEEDS) == (0..SEEDS) {
        for kind in [(true, false, CopyKind::Fetch), (false, true, CopyKind::Fetch)] {
            assert!(copies.contains_key(&kind), "no copies of this kind: {kind:?}");
        }
        assert!(copies.contains_key(&(false, false, CopyKind::Fetch)), "no copies between devices");
    }
}

/// Each task reads what the task before has written, so they run one after the other. There is room for two vectors and
/// scratch: the third vector replaces the one that was read.
#[test]
fn unused_replica_is_evicted() {
    const TASKS: usize = 9;
    let Some(ordinals) = ordinals(1) else { return };
    let options = Options { heap_bytes: Some(3 * 512), queues: 1, ..Options::default() };
    let device = cuda::open_all(&ordinals[..1], 0, &options).expect("a device").remove(0);
    let rt = Runtime::builder().workers(1).bind(false).weights_file(None).device(device).build().expect("a runtime");
    let mut data: Vec<Vector> = (0..3).map(|at| vec![at; 48]).collect();
    let mut expected = data.clone();
    let result = rt.scope(|s| {
        let data: Vec<_> = data.iter_mut().map(|vector| s.lend(vector)).collect();
        for number in 0..TASKS {
            let (source, target) = (data[(number + 2) % 3].read(), data[number % 3].read_write());
            let spec = TaskSpec::new("task").lock(Lock::Device);
            UPDATE.spawn_as(s, spec, (vec![source], target), (false, number as u64));
        }
    });
    result.expect("it fits by turns");
    for number in 0..TASKS {
        let source = expected[(number + 2) % 3].clone();
        mix(&[&source], &mut expected[number % 3], false, number as u64);
    }
    assert_eq!(data, expected);
    // From the second task on, each fetches a vector for which another one must be evicted.
    assert!(rt.memory_in_use()[0].evicted.0 >= TASKS as u64 - 2, "{:?}", rt.memory_in_use());
}
