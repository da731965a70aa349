//! Rectangular copies: in, out, between peers, of pinned memory and of any other; and what is refused.

use crate::bench::{Bench, HEAP_BYTES, Numbers, host, ordinals, place};
use std::ptr::NonNull;
use superscalar_devices::cuda::{self, Options, PinnedBuffer};
use superscalar_runtime::{DeviceMemory, DeviceRegion, Event, HostRegion, Transfer};

fn random_region(
    numbers: &mut Numbers,
    (align, heap_bytes): (usize, usize),
    (row_bytes, columns): (usize, usize),
) -> DeviceRegion {
    let stride_bytes = row_bytes.next_multiple_of(align) + align * numbers.below(3);
    let rest = heap_bytes - stride_bytes * columns;
    DeviceRegion { offset: numbers.below(rest / align) * align, row_bytes, columns, stride_bytes }
}

/// What a copy between columns does.
fn model(from: (&[u8], usize, usize), to: (&mut [u8], usize, usize), (row_bytes, columns): (usize, usize)) {
    for column in 0..columns {
        let (source, target) = (from.1 + column * from.2, to.1 + column * to.2);
        to.0[target..target + row_bytes].copy_from_slice(&from.0[source..source + row_bytes]);
    }
}

/// Random copies, each awaited, against a loop.
fn random_copies(seed: u64, heap_bytes: usize, rounds: usize, shapes: impl Fn(&mut Numbers) -> (usize, usize)) {
    let open = Bench::open_with(2, |options| Options { heap_bytes: Some(heap_bytes), ..options });
    let Some(mut bench) = open else { return };
    let mut numbers = Numbers(seed);
    let align = bench.memory(0).align;
    let kinds = if bench.memory(0).peers.is_empty() { 2 } else { 3 };
    let mut heaps = [vec![0u8; heap_bytes], vec![0u8; heap_bytes]];
    for (device, heap) in heaps.iter_mut().enumerate() {
        heap.chunks_exact_mut(8).for_each(|eight| eight.copy_from_slice(&numbers.next().to_ne_bytes()));
        bench.write(device as u16, 0, heap);
    }
    for round in 0..rounds {
        let shape = shapes(&mut numbers);
        let host_stride = shape.0 + numbers.below(50);
        let bytes = host_stride * shape.1;
        let mut pageable = vec![0u8; bytes];
        let mut pinned = PinnedBuffer::<u8>::new(bytes).expect("pinned memory");
        let memory: &mut [u8] = if round % 2 == 0 { &mut pageable } else { &mut pinned };
        memory.iter_mut().for_each(|byte| *byte = numbers.below(256) as u8);
        let base = NonNull::new(memory.as_mut_ptr()).expect("not null");
        let region = HostRegion { base, row_bytes: shape.0, columns: shape.1, stride_bytes: host_stride };
        let [at, from] = [(); 2].map(|()| random_region(&mut numbers, (align, heap_bytes), shape));
        let device = numbers.below(2);
        let kind = numbers.below(kinds);
        let transfer = match kind {
            0 => Transfer::In { from: region, to: at },
            1 => Transfer::Out { from: at, to: region },
            _ => Transfer::Peer { device: 1 - device as u16, from, to: at },
        };
        let mut expected = memory.to_vec();
        let (offset, stride) = (at.offset, at.stride_bytes);
        match kind {
            0 => model((memory, 0, host_stride), (&mut heaps[device], offset, stride), shape),
            1 => model((&heaps[device], offset, stride), (&mut expected, 0, host_stride), shape),
            _ => {
                let source = heaps[1 - device].clone();
                model((&source, from.offset, from.stride_bytes), (&mut heaps[device], offset, stride), shape);
            }
        }
        // SAFETY: `memory` is not touched until the end is reported.
        let event = unsafe { bench.copy(device as u16, transfer, &[]) }.expect("a copy");
        let finished = bench.end_of(event);
        finished.result.expect("it ends well");
        assert!(finished.busy_ns.is_some() || shape.0 * shape.1 < 128 << 10, "large copies are timed");
        assert!(memory == &expected[..], "seed {seed}: host memory after {transfer:?}");
    }
    for (device, heap) in heaps.iter().enumerate() {
        assert!(bench.read(device as u16, 0, heap_bytes, &[]) == *heap, "seed {seed}: the heap of {device}");
    }
}

#[test]
fn random_copies_do_what_a_loop_does() {
    for seed in 0..3 {
        random_copies(seed, HEAP_BYTES, 60, |numbers| (1 + numbers.below(2000), 1 + numbers.below(40)));
    }
}

/// Beyond so many bytes, copies between heaps are the driver's commands, and no kernel's.
const SMALL_BYTES_MAX: usize = 16 << 10;

/// Regions that begin anywhere, with columns next to each other or with gaps between them.
fn awkward_regions(row_bytes: usize) -> Vec<[DeviceRegion; 2]> {
    let region = |offset, columns, gap| DeviceRegion { offset, row_bytes, columns, stride_bytes: row_bytes + gap };
    let mut pairs = Vec::new();
    for (from, to) in [(0, 0), (16, 32), (8, 24), (4, 12), (1, 1), (3, 16), (64, 7)] {
        for (from_gap, to_gap) in [(0, 0), (0, 5), (3, 0), (4, 12), (16, 32), (1, 1)] {
            for columns in [1, 3, SMALL_BYTES_MAX / row_bytes] {
                if columns > 0 && columns * (row_bytes + 32) < HEAP_BYTES - 1024 {
                    pairs.push([region(256 + from, columns, from_gap), region(256 + to, columns, to_gap)]);
                }
            }
        }
    }
    pairs
}

/// Every size in every alignment, in both directions: what the columns have arrives, and nothing else is touched.
#[test]
fn small_copies_between_heaps_do_what_a_loop_does() {
    let Some(mut bench) = Bench::open(2) else { return };
    if bench.memory(0).peers.is_empty() {
        eprintln!("SKIPPED: the GPUs do not reach each other");
        return;
    }
    let mut numbers = Numbers(11);
    for row_bytes in [1, 3, 7, 8, 12, 16, 100, 4096, SMALL_BYTES_MAX, SMALL_BYTES_MAX + 1] {
        for [from, to] in awkward_regions(row_bytes) {
            for device in [0, 1] {
                // What may be touched, and some bytes around it.
                let span = |at: DeviceRegion| at.offset + at.stride_bytes * at.columns + 256;
                let mut contents = || -> Vec<u8> {
                    let bytes = span(from).max(span(to)).next_multiple_of(8);
                    (0..bytes / 8).flat_map(|_| numbers.next().to_ne_bytes()).collect()
                };
                let (source, mut expected) = (contents(), contents());
                bench.write(1 - device, 0, &source);
                bench.write(device, 0, &expected);
                let transfer = Transfer::Peer { device: 1 - device, from, to };
                // SAFETY: no host memory has part in it.
                let event = unsafe { bench.copy(device, transfer, &[]) }.expect("a copy");
                bench.end_of(event).result.expect("it ends well");
                let target = (&mut expected[..], to.offset, to.stride_bytes);
                model((&source, from.offset, from.stride_bytes), target, (row_bytes, from.columns));
                assert!(bench.read(device, 0, expected.len(), &[]) == expected, "to {device}: {transfer:?}");
                assert!(bench.read(1 - device, 0, source.len(), &[]) == source, "from {}: {transfer:?}", 1 - device);
            }
        }
    }
}

/// Larger than the buffers of a copier together, in shapes that are cut in both ways.
#[test]
fn large_copies_go_in_pieces() {
    random_copies(7, 160 << 20, 12, |numbers| match numbers.below(4) {
        0 => (1 + numbers.below(40 << 20), 1),
        1 => ((2 << 20) + numbers.below(5 << 20), 1 + numbers.below(8)),
        2 => (1 + numbers.below(100_000), 1 + numbers.below(300)),
        _ => (1 + numbers.below(64), 1 + numbers.below(50_000)),
    });
}

/// Many copies at once, in and out at the same time, which wait for each other.
#[test]
fn values_that_go_in_and_out_again_and_again_arrive() {
    const BYTES: usize = 3 << 20;
    let Some(mut bench) = Bench::open_with(1, |options| Options { heap_bytes: Some(16 << 20), ..options }) else {
        return;
    };
    for is_pinned in [false, true] {
        let mut pageable = vec![0u8; BYTES * 8];
        let mut pinned = PinnedBuffer::<u8>::new(BYTES * 8).expect("pinned memory");
        let memory: &mut [u8] = if is_pinned { &mut pinned } else { &mut pageable };
        let mut numbers = Numbers(3);
        memory[..BYTES].iter_mut().for_each(|byte| *byte = numbers.below(256) as u8);
        let base = memory.as_mut_ptr();
        let (mut last, mut events): (Option<Event>, Vec<Event>) = (None, Vec::new());
        for hop in 0..7 {
            let at = |number: usize| host(base.wrapping_add(number * BYTES), BYTES);
            let there = place((hop % 4) * (4 << 20), BYTES);
            let waits: Vec<Event> = last.into_iter().collect();
            // SAFETY: the memory is there until all is over, and each copy waits for the one before.
            unsafe {
                let into = bench.copy(0, Transfer::In { from: at(hop), to: there }, &waits).expect("a copy");
                let out = bench.copy(0, Transfer::Out { from: there, to: at(hop + 1) }, &[into]).expect("a copy");
                events.extend([into, out]);
                last = Some(out);
            }
        }
        for event in events {
            bench.end_of(event).result.expect("it ends well");
        }
        let (first, last) = (&memory[..BYTES], &memory[7 * BYTES..]);
        assert!(first == last, "pinned: {is_pinned}");
    }
}

#[test]
fn copies_outside_a_heap_or_of_nothing_are_refused() {
    let Some(mut bench) = Bench::open(2) else { return };
    let memory = [1u8; 4096];
    let good = place(0, 1024);
    let source = host(memory.as_ptr(), 1024);
    let columns = |region: DeviceRegion, columns, stride_bytes| DeviceRegion { columns, stride_bytes, ..region };
    let wrong_places = [
        place(HEAP_BYTES - 1023, 1024),
        place(usize::MAX - 100, 1024),
        columns(place(HEAP_BYTES - 2048, 1024), 3, 1024),
        columns(good, 2, usize::MAX / 2 + 1),
        columns(good, 0, 1024),
        place(0, 0),
    ];
    let shaped = |at: DeviceRegion| HostRegion { row_bytes: at.row_bytes, columns: at.columns, ..source };
    let mut refused: Vec<Transfer> = Vec::new();
    for at in wrong_places {
        let host = HostRegion { stride_bytes: at.row_bytes, ..shaped(at) };
        refused.push(Transfer::In { from: host, to: at });
        refused.push(Transfer::Out { from: at, to: host });
        // One of the sides may be right; the other is not.
        let first = DeviceRegion { offset: 0, ..at };
        refused.push(Transfer::Peer { device: 1, from: first, to: at });
        refused.push(Transfer::Peer { device: 1, from: at, to: first });
    }
    // Columns that overlap, two shapes, no such peer, itself.
    let overlapping = HostRegion { columns: 4, stride_bytes: 100, ..source };
    refused.push(Transfer::In { from: overlapping, to: columns(good, 4, 1024) });
    refused.push(Transfer::In { from: source, to: place(0, 512) });
    refused.push(Transfer::Peer { device: 5, from: good, to: good });
    refused.push(Transfer::Peer { device: 0, from: good, to: place(2048, 1024) });
    for transfer in refused {
        // SAFETY: it is refused, or else the host's side is `memory`, which stays.
        let error = unsafe { bench.copy(0, transfer, &[]) }.expect_err("not a copy");
        assert!(!error.is_lost(), "{error}");
    }
    bench.write(0, HEAP_BYTES - 1024, &[9; 1024]);
    assert_eq!(bench.read(0, HEAP_BYTES - 1024, 1024, &[]), [9; 1024], "up to the end is fine");
}

#[test]
fn there_is_one_heap_and_none_before_it_is_reserved() {
    let Some(ordinals) = ordinals(1) else { return };
    let options = Options { heap_bytes: Some(HEAP_BYTES), ..Options::default() };
    let device = cuda::open(ordinals[0], &options).expect("it opens");
    let memory = [0u8; 64];
    let transfer = Transfer::In { from: host(memory.as_ptr(), 64), to: place(0, 64) };
    // SAFETY: it is refused.
    let error = unsafe { device.copy(&transfer, &[]) }.expect_err("no heap yet");
    assert!(error.to_string().contains("reserved"), "{error}");
    device.reserve().expect("a heap");
    device.reserve().expect_err("a second heap");
}
