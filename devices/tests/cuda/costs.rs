//! Prints the cost of calls, hops and copies, and fails only for absurd values. Run these tests alone, in a release
//! build.

use crate::bench::{Bench, apply, gpus, place};
use std::{
    ptr::NonNull,
    time::{Duration, Instant},
};
use superscalar_devices::cuda::{Options, PinnedBuffer, Queue};
use superscalar_runtime::{Device, DeviceError, DeviceRegion, Event, HostRegion, Transfer};

fn open(count: usize, heap_bytes: usize) -> Option<Bench> {
    Bench::open_with(count, |options| Options { heap_bytes: Some(heap_bytes), timed: false, ..options })
}

fn nothing(_: &mut Queue) -> Result<(), DeviceError> {
    Ok(())
}

/// Issues `tasks` tasks, up to `depth` ahead of their completion, as an issuer does. Returns the nanoseconds per task,
/// from the first issue to the last report.
fn ns_per_task(bench: &Bench, tasks: usize, depth: usize, mut task: impl FnMut(&Bench, usize) -> Event) -> f64 {
    let (mut issued, mut ended) = (0, 0);
    let begin = Instant::now();
    while ended < tasks {
        while issued < tasks && issued - ended < depth {
            task(bench, issued);
            issued += 1;
        }
        for device in &bench.devices {
            device.poll(&mut |finished| {
                finished.result.expect("it ends well");
                ended += 1;
            });
        }
    }
    begin.elapsed().as_nanos() as f64 / tasks as f64
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn repeated(mut measure: impl FnMut() -> f64) -> f64 {
    measure();
    median((0..5).map(|_| measure()).collect())
}

#[test]
#[ignore = "prints what calls cost; run alone"]
fn empty_tasks() {
    const TASKS: usize = 20_000;
    let Some(bench) = open(1, 1 << 20) else { return };
    for depth in [1, 4, 16, 64] {
        let plain = repeated(|| {
            ns_per_task(&bench, TASKS, depth, |bench, at| {
                bench.issue((0, (at % 4) as u16), &[], nothing).expect("a task")
            })
        });
        let one_queue = repeated(|| {
            ns_per_task(&bench, TASKS, depth, |bench, _| bench.issue((0, 0), &[], nothing).expect("a task"))
        });
        let with_two = repeated(|| {
            let mut last = Vec::new();
            ns_per_task(&bench, TASKS, depth, |bench, at| {
                let waits: Vec<Event> = last.iter().rev().take(2).copied().collect();
                let event = bench.issue((0, (at % 4) as u16), &waits, nothing).expect("a task");
                if last.len() == 4 {
                    last.remove(0);
                }
                last.push(event);
                event
            })
        });
        println!(
            "empty tasks, {depth} deep: {plain:.0} ns over four queues, {one_queue:.0} ns in one, \
             {with_two:.0} ns with two events of other queues"
        );
    }
    // Issuing alone.
    let mut events = Vec::new();
    let begin = Instant::now();
    for at in 0..1000u16 {
        events.push(bench.issue((0, at % 4), &[], nothing).expect("a task"));
    }
    let issuing = begin.elapsed().as_nanos() as f64 / 1000.0;
    println!("issuing an empty task: {issuing:.0} ns");
    let begin = Instant::now();
    let mut ended = 0;
    while ended < 1000 {
        bench.devices[0].poll(&mut |_| ended += 1);
    }
    println!("reporting it: {:.0} ns", begin.elapsed().as_nanos() as f64 / 1000.0);
}

fn add_one(queue: &mut Queue) -> Result<(), DeviceError> {
    apply(queue, "add", (0, 1), 1)
}

/// Runs a chain of small kernels, the kernel number `at` in queue `place(at)`. Returns the nanoseconds per kernel.
fn chain_ns(bench: &mut Bench, length: usize, place: impl Fn(usize) -> (u16, u16)) -> f64 {
    let begin = Instant::now();
    let mut last: Option<Event> = None;
    for at in 0..length {
        let waits: Vec<Event> = last.into_iter().collect();
        last = Some(bench.issue(place(at), &waits, add_one).expect("a task"));
        if at % 16 == 15 {
            bench.poll();
        }
    }
    bench.end_of(last.expect("a task")).result.expect("it ends well");
    begin.elapsed().as_nanos() as f64 / length as f64
}

#[test]
#[ignore = "prints what hops cost; run alone"]
fn chains() {
    const LENGTH: usize = 3000;
    let Some(mut bench) = open(2, 1 << 20) else { return };
    let same_gpu = bench.devices[0].class().ordinal == bench.devices[1].class().ordinal;
    let one = repeated(|| chain_ns(&mut bench, LENGTH, |_| (0, 0)));
    let two = repeated(|| chain_ns(&mut bench, LENGTH, |at| (0, (at % 2) as u16)));
    let hops = repeated(|| chain_ns(&mut bench, LENGTH, |at| ((at % 2) as u16, 0)));
    println!("a chain of small kernels: {:.2} us each in one queue, {:.2} us over two queues", one / 1e3, two / 1e3);
    let devices = if same_gpu { "two devices of one GPU" } else { "two GPUs" };
    println!("a chain that alternates between {devices}: {:.2} us each", hops / 1e3);
}

/// Returns the rate of copies that are issued together, in gigabytes per second.
fn gb_per_s(bench: &mut Bench, copies: &[(u16, Transfer)]) -> f64 {
    let bytes: usize = copies
        .iter()
        .map(|(_, transfer)| match transfer {
            Transfer::In { to, .. } | Transfer::Peer { to, .. } => to.row_bytes * to.columns,
            Transfer::Out { from, .. } => from.row_bytes * from.columns,
        })
        .sum();
    let begin = Instant::now();
    // SAFETY: the callers keep the memory valid until all copies have ended.
    let issue = |(device, transfer): &(u16, Transfer)| unsafe { bench.copy(*device, *transfer, &[]) }.expect("a copy");
    let events: Vec<Event> = copies.iter().map(issue).collect();
    let issued = begin.elapsed();
    for event in events {
        bench.end_of(event).result.expect("it ends well");
    }
    assert!(issued < Duration::from_secs(5), "copying took the caller {issued:?}");
    bytes as f64 / begin.elapsed().as_secs_f64() / 1e9
}

/// Tiles of 1024 x 1024 doubles: parts of a matrix with 16384 rows, or contiguous ones.
struct Tiles {
    base: *mut u8,
    is_strided: bool,
}

const TILE: usize = 8 << 20;
const TILES: usize = 48;

impl Tiles {
    fn host(&self, number: usize) -> HostRegion {
        let (offset, stride_bytes) = match self.is_strided {
            // Sixteen tiles below each other, then the next block column.
            true => ((number % 16) * 8192 + (number / 16) * 16 * TILE, 16384 * 8),
            false => (number * TILE, 8192),
        };
        let base = NonNull::new(self.base.wrapping_add(offset)).expect("not null");
        HostRegion { base, row_bytes: 8192, columns: 1024, stride_bytes }
    }

    fn device(number: usize) -> DeviceRegion {
        DeviceRegion { offset: number * TILE, row_bytes: 8192, columns: 1024, stride_bytes: 8192 }
    }

    fn inwards(&self, device: u16) -> Vec<(u16, Transfer)> {
        (0..TILES).map(|at| (device, Transfer::In { from: self.host(at), to: Self::device(at) })).collect()
    }

    fn out(&self, device: u16) -> Vec<(u16, Transfer)> {
        (0..TILES).map(|at| (device, Transfer::Out { from: Self::device(at), to: self.host(at) })).collect()
    }
}

#[test]
#[ignore = "prints what links move; run alone"]
fn links() {
    let Some(mut bench) = open(2, 2 * TILES * TILE) else { return };
    let mut pageable = [vec![1u8; TILES * TILE], vec![2u8; TILES * TILE]];
    let mut pinned = [(); 2].map(|()| PinnedBuffer::<u8>::new(TILES * TILE).expect("pinned memory"));
    for (name, bases) in [
        ("pinned", [pinned[0].as_mut_ptr(), pinned[1].as_mut_ptr()]),
        ("pageable", [pageable[0].as_mut_ptr(), pageable[1].as_mut_ptr()]),
    ] {
        for is_strided in [false, true] {
            let [one, other] = bases.map(|base| Tiles { base, is_strided });
            let into = repeated(|| gb_per_s(&mut bench, &one.inwards(0)));
            let out = repeated(|| gb_per_s(&mut bench, &one.out(0)));
            let both: Vec<_> = one.inwards(0).into_iter().zip(other.out(0)).flat_map(|(a, b)| [a, b]).collect();
            let both = repeated(|| gb_per_s(&mut bench, &both));
            let shape = if is_strided { "strided tiles" } else { "whole tiles" };
            println!("{name}, {shape}: {into:.1} GB/s in, {out:.1} out, {both:.1} both at once");
        }
    }
    if bench.memory(1).peers.is_empty() {
        println!("no peers");
        return;
    }
    let peer = |device: u16, is_strided: bool| -> Vec<(u16, Transfer)> {
        let region = |at: usize| match is_strided {
            true => DeviceRegion {
                offset: (at % 16) * 8192 + (at / 16) * 16 * TILE,
                stride_bytes: 16384 * 8,
                ..Tiles::device(at)
            },
            false => Tiles::device(at),
        };
        (0..TILES)
            .map(|at| (device, Transfer::Peer { device: 1 - device, from: region(at), to: Tiles::device(at) }))
            .collect()
    };
    for is_strided in [false, true] {
        let alone = repeated(|| gb_per_s(&mut bench, &peer(0, is_strided)));
        let both: Vec<_> = peer(0, is_strided).into_iter().zip(peer(1, is_strided)).flat_map(|(a, b)| [a, b]).collect();
        let both = repeated(|| gb_per_s(&mut bench, &both));
        println!(
            "peers, {}: {alone:.1} GB/s, {both:.1} both ways at once",
            if is_strided { "strided" } else { "whole" }
        );
    }
}

#[test]
#[ignore = "prints what copies cost the caller; run alone"]
fn small_copies() {
    if gpus().is_none() {
        return;
    }
    let Some(mut bench) = open(1, 1 << 20) else { return };
    let mut pinned = PinnedBuffer::<u8>::new(1 << 16).expect("pinned memory");
    let pageable = vec![0u8; 1 << 16];
    for (name, base) in [("pinned", pinned.as_mut_ptr().cast_const()), ("pageable", pageable.as_ptr())] {
        let figure = repeated(|| {
            let begin = Instant::now();
            let mut events = Vec::new();
            for at in 0..200 {
                let transfer = Transfer::In { from: crate::bench::host(base, 4096), to: place((at % 16) * 4096, 4096) };
                // SAFETY: the memory is valid until all copies have ended.
                events.push(unsafe { bench.copy(0, transfer, &[]) }.expect("a copy"));
            }
            let issuing = begin.elapsed().as_nanos() as f64 / 200.0;
            for event in events {
                bench.end_of(event).result.expect("it ends well");
            }
            println!("  {name}: {:.0} ns from issue to end", begin.elapsed().as_nanos() as f64 / 200.0);
            issuing
        });
        println!("a copy of 4 KiB, {name}: {figure:.0} ns of the caller's");
    }
}

#[test]
#[ignore = "prints what copies between peers cost; run alone"]
fn small_copies_between_peers() {
    const COPIES: usize = 200;
    let Some(mut bench) = open(2, 1 << 20) else { return };
    if bench.memory(1).peers.is_empty() {
        println!("no peers");
        return;
    }
    // Up to 16 KiB a kernel makes the copy, beyond that the driver.
    for bytes in [8, 512, 4096, 12 << 10, 16 << 10, (16 << 10) + 16, 32 << 10] {
        let transfer = Transfer::Peer { device: 0, from: place(0, bytes), to: place(0, bytes) };
        let mut issuing = Vec::new();
        let each = repeated(|| {
            let begin = Instant::now();
            // SAFETY: the copy involves no host memory.
            let copy = |_| unsafe { bench.copy(1, transfer, &[]) }.expect("a copy");
            let events: Vec<Event> = (0..COPIES).map(copy).collect();
            issuing.push(begin.elapsed().as_nanos() as f64 / COPIES as f64);
            for event in events {
                bench.end_of(event).result.expect("it ends well");
            }
            begin.elapsed().as_nanos() as f64 / COPIES as f64
        });
        println!("a copy of {bytes} bytes from a peer: {each:.0} ns, {:.0} ns of the caller's", median(issuing));
    }
}
