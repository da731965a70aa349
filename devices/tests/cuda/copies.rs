//! Rectangular copies: small ones by a kernel, and large ones in pieces.

use crate::bench::{Bench, HEAP_BYTES, Numbers, host, host_memory, place};
use crate::driver::copies::{Columns, copy_columns, random_copies};
use superscalar_devices::cuda::Options;
use superscalar_runtime::{DeviceRegion, Event, Transfer};

/// Larger copies between heaps are the driver's commands, not a kernel.
const SMALL_BYTES_MAX: usize = 16 << 10;

/// Returns regions with unaligned offsets, with and without gaps between columns.
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

/// All sizes and alignments in both directions: the columns arrive, and no other byte changes.
#[test]
fn small_copies_between_heaps_match_loop() {
    let Some(mut bench) = Bench::open(2) else { return };
    if bench.memory(0).peers.is_empty() {
        eprintln!("SKIPPED: the GPUs do not reach each other");
        return;
    }
    let mut numbers = Numbers(11);
    for row_bytes in [1, 3, 7, 8, 12, 16, 100, 4096, SMALL_BYTES_MAX, SMALL_BYTES_MAX + 1] {
        for [from, to] in awkward_regions(row_bytes) {
            for device in [0, 1] {
                // The bytes that may change, and some around them.
                let span = |at: DeviceRegion| at.offset + at.stride_bytes * at.columns + 256;
                let mut contents = || -> Vec<u8> {
                    let bytes = span(from).max(span(to)).next_multiple_of(8);
                    (0..bytes / 8).flat_map(|_| numbers.next().to_ne_bytes()).collect()
                };
                let (source, mut expected) = (contents(), contents());
                bench.write(1 - device, 0, &source);
                bench.write(device, 0, &expected);
                let transfer = Transfer::Peer { device: 1 - device, from, to };
                // SAFETY: the copy involves no host memory.
                let event = unsafe { bench.copy(device, transfer, &[]) }.expect("a copy");
                bench.end_of(event).result.expect("it ends well");
                let sent = Columns { memory: &source[..], offset: from.offset, stride: from.stride_bytes };
                let target = Columns { memory: &mut expected[..], offset: to.offset, stride: to.stride_bytes };
                copy_columns(sent, target, (row_bytes, from.columns));
                assert!(bench.read(device, 0, expected.len(), &[]) == expected, "to {device}: {transfer:?}");
                assert!(bench.read(1 - device, 0, source.len(), &[]) == source, "from {}: {transfer:?}", 1 - device);
            }
        }
    }
}

/// Larger than all buffers of a copier together, in shapes that are divided in both ways.
#[test]
fn large_copies_go_in_pieces() {
    random_copies(7, 160 << 20, 12, |numbers| match numbers.below(4) {
        0 => (1 + numbers.below(40 << 20), 1),
        1 => ((2 << 20) + numbers.below(5 << 20), 1 + numbers.below(8)),
        2 => (1 + numbers.below(100_000), 1 + numbers.below(300)),
        _ => (1 + numbers.below(64), 1 + numbers.below(50_000)),
    });
}

/// Many copies in and out at the same time, which wait for each other.
#[test]
fn values_survive_repeated_copies() {
    const BYTES: usize = 3 << 20;
    let Some(mut bench) = Bench::open_with(1, |options| Options { heap_bytes: Some(16 << 20), ..options }) else {
        return;
    };
    for is_pinned in [false, true] {
        let mut memory = host_memory(usize::from(is_pinned), BYTES * 8);
        let mut numbers = Numbers(3);
        memory[..BYTES].iter_mut().for_each(|byte| *byte = numbers.below(256) as u8);
        let base = memory.as_mut_ptr();
        let (mut last, mut events): (Option<Event>, Vec<Event>) = (None, Vec::new());
        for hop in 0..7 {
            let at = |number: usize| host(base.wrapping_add(number * BYTES), BYTES);
            let there = place((hop % 4) * (4 << 20), BYTES);
            let waits: Vec<Event> = last.into_iter().collect();
            // SAFETY: the memory is valid until all copies are over, and each copy waits for the one before.
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
