//! Running a program on a random machine.

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

/// What has not ended by then never will.
const LONG: Duration = Duration::from_secs(30);

/// The numbers of a region.
///
/// # Safety
/// Nobody else uses them while the slice lives, and the heap lives longer.
unsafe fn numbers<'a>(heap: &SimHeap, region: DeviceRegion) -> Result<&'a mut [u64], DeviceError> {
    let base = heap.address(region.offset, region.row_bytes)?;
    // SAFETY: inside of the heap, aligned, and the caller's promise.
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
        // The kernel copies its sources to scratch first, which must be its own, too.
        let copied = DeviceRegion { offset: scratch.start, row_bytes: scratch.len() & !7, ..target };
        // SAFETY: the task's operands and scratch, which are different parts of the heap; sources are only read.
        let (target, copied) = unsafe { (numbers(heap, target)?, numbers(heap, copied)?) };
        let mut parts = Vec::new();
        let mut room = copied;
        for source in sources {
            // SAFETY: as above.
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

/// One to three devices; each has room for what a single task needs, often for little more.
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
        // Where something has failed, a copy between devices may end after the scope.
        let deadline = Instant::now() + if has_failed { LONG } else { Duration::ZERO };
        while rt.memory_in_use().iter().any(|memory| held(memory) != (0, 0, 0)) {
            let holds = rt.memory_in_use();
            assert!(Instant::now() < deadline, "seed {seed}: something is held: {holds:?} {program:#?}");
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}

/// Bytes, replicas and pins.
fn held(memory: &MemoryInUse) -> (usize, usize, u64) {
    (memory.bytes, memory.replicas, memory.pins)
}
