//! Runs a program on a random machine.

#[path = "codelets.rs"]
mod codelets;

use crate::program::{self, Program, Random, mix};
use codelets::{Call, Operands, run};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use superscalar_devices::sim::{
    self, Direction, Fault, KIND, Machine, Point, SimDevice, SimHeap, SimQueue, Spec, Times,
};
use superscalar_runtime::{Cost, DeviceError, DeviceRegion, IssueContext, LinkInfo, MemoryInUse, Operand, Runtime};

/// Longer than any pending work takes.
const LONG: Duration = Duration::from_secs(30);

/// Returns the numbers in a region.
///
/// # Safety
/// No other work uses the region while the slice lives, and the heap outlives the slice.
unsafe fn numbers<'a>(heap: &SimHeap, region: DeviceRegion) -> Result<&'a mut [u64], DeviceError> {
    let base = heap.address(region.offset, region.row_bytes)?;
    // SAFETY: the region is within the heap and aligned. The caller guarantees exclusive use and the heap's lifetime.
    Ok(unsafe { std::slice::from_raw_parts_mut(base.cast().as_ptr(), region.row_bytes / 8) })
}

fn launch(
    context: &mut IssueContext<'_>,
    (sources, target): Operands,
    &(overwrites, number): &Call,
) -> Result<(), DeviceError> {
    let sources = sources.into_iter().map(Operand::region).collect::<Result<Vec<_>, _>>()?;
    let (target, scratch) = (target.region()?, context.scratch());
    context.queue::<SimQueue>()?.launch(Cost::default(), move |heap| {
        // The kernel first copies its sources to scratch, which must belong to this task only.
        let copied = DeviceRegion { offset: scratch.start, row_bytes: scratch.len() & !7, ..target };
        // SAFETY: these are the task's target and scratch, which do not overlap; no other work uses them.
        let (target, copied) = unsafe { (numbers(heap, target)?, numbers(heap, copied)?) };
        let mut parts = Vec::new();
        let mut room = copied;
        for source in sources {
            // SAFETY: it is an operand of the task, which other work may only read while the task runs, and it is only
            // read here.
            let source = unsafe { numbers(heap, source)? };
            let (part, rest) = room.split_at_mut(source.len());
            part.copy_from_slice(source);
            parts.push(&*part);
            room = rest;
        }
        mix(&parts, target, overwrites, number);
        Ok(())
    })
}

fn faults(random: &mut Random) -> Vec<Fault> {
    let directions = [Direction::In, Direction::Out, Direction::Peer];
    let fault = |random: &mut Random| {
        let direction = directions[random.below(3)];
        let point = [Point::CopyCall(direction), Point::Copy(direction), Point::Launch, Point::Kernel][random.below(4)];
        let times = if random.one_in(2) { Times::Once } else { Times::Forever };
        let fault = Fault { times, ..Fault::once(point, 1 + random.below(12) as u64) };
        if random.one_in(3) { fault.losing() } else { fault }
    };
    (0..1 + random.below(2)).map(|_| fault(random)).collect()
}

/// Makes one to three devices. Each has room for the needs of a single task, often for little more.
fn machine(random: &mut Random, with_faults: bool) -> Vec<Arc<SimDevice>> {
    let link = LinkInfo { bytes_per_s: 0.0, latency_ns: 0 };
    let count = 1 + random.below(3);
    let specs: Vec<Spec> = (0..count)
        .map(|at| {
            // Four vectors of 48 numbers, and scratch for three.
            let spare = if random.one_in(2) { 16 } else { 400 };
            let room = (4 + 3) * 48 * 8 + 64 * random.below(spare);
            let peers: Vec<u16> =
                (0..count as u16).filter(|&peer| usize::from(peer) != at && random.one_in(2)).collect();
            Spec {
                queues: 1 + random.below(3) as u16,
                depth: 1 + random.below(5),
                memory_bytes: room,
                peers: peers.into_iter().map(|peer| (peer, link)).collect(),
                faults: sim::Faults(if with_faults && random.one_in(2) { faults(random) } else { Vec::new() }),
                ..Spec::new(format!("sim:{at}"))
            }
        })
        .collect();
    Machine::start(&specs).unwrap_or_else(|error| panic!("{error}"))
}

pub fn check(seed: u64, with_faults: bool) {
    let random = &mut Random::new(seed);
    let devices = machine(random, with_faults);
    let builder = Runtime::builder().workers(1 + random.below(2)).bind(false).weights_file(None);
    let builder = devices.iter().fold(builder, |builder, device| builder.device(device.clone()));
    let rt = builder.build().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    for _ in 0..1 + random.below(8) {
        let program = Program::new(random);
        let mut data = program.data.clone();
        let result = run(&rt, &program, &mut data);
        let has_failed = result.is_err();
        match result {
            Ok(()) => assert_eq!(data, program.serial(), "seed {seed}: {program:#?}"),
            Err(error) => assert!(with_faults, "seed {seed}: {error}"),
        }
        // After a failure, a copy between devices may end later than the scope.
        let deadline = Instant::now() + if has_failed { LONG } else { Duration::ZERO };
        while rt.memory_in_use().iter().any(|memory| held(memory) != (0, 0, 0)) {
            let holds = rt.memory_in_use();
            assert!(Instant::now() < deadline, "seed {seed}: something is held: {holds:?} {program:#?}");
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}

/// Returns bytes, replicas and pins.
fn held(memory: &MemoryInUse) -> (usize, usize, u64) {
    (memory.bytes, memory.replicas, memory.pins)
}
