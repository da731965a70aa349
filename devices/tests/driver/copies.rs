//! Rectangular copies: in, out, between peers, and invalid ones.

use super::bench::Numbers;
use crate::bench::{Bench, HEAP_BYTES, TIMED_BYTES_MIN, host, host_memory, open, place, with_heap};
use std::ptr::NonNull;
use superscalar_runtime::{DeviceMemory, DeviceRegion, HostRegion, Transfer};

fn random_region(
    numbers: &mut Numbers,
    (align, heap_bytes): (usize, usize),
    (row_bytes, columns): (usize, usize),
) -> DeviceRegion {
    let stride_bytes = row_bytes.next_multiple_of(align) + align * numbers.below(3);
    let rest = heap_bytes - stride_bytes * columns;
    DeviceRegion { offset: numbers.below(rest / align) * align, row_bytes, columns, stride_bytes }
}

/// Columns within memory: the offset of the first, and the distance between columns.
pub struct Columns<M> {
    pub memory: M,
    pub offset: usize,
    pub stride: usize,
}

/// Copies columns as a loop, for comparison.
pub fn copy_columns(from: Columns<&[u8]>, to: Columns<&mut [u8]>, (row_bytes, columns): (usize, usize)) {
    for column in 0..columns {
        let (source, target) = (from.offset + column * from.stride, to.offset + column * to.stride);
        to.memory[target..target + row_bytes].copy_from_slice(&from.memory[source..source + row_bytes]);
    }
}

/// Compares random copies, one at a time, with a loop.
pub fn random_copies(seed: u64, heap_bytes: usize, rounds: usize, shapes: impl Fn(&mut Numbers) -> (usize, usize)) {
    let Some(mut bench) = Bench::open_with(2, |settings| with_heap(heap_bytes, settings)) else { return };
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
        let mut memory = host_memory(round, host_stride * shape.1);
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
            0 => {
                let from = Columns { memory: &memory[..], offset: 0, stride: host_stride };
                copy_columns(from, Columns { memory: &mut heaps[device], offset, stride }, shape);
            }
            1 => {
                let to = Columns { memory: &mut expected[..], offset: 0, stride: host_stride };
                copy_columns(Columns { memory: &heaps[device], offset, stride }, to, shape);
            }
            _ => {
                let source = heaps[1 - device].clone();
                let from = Columns { memory: &source[..], offset: from.offset, stride: from.stride_bytes };
                copy_columns(from, Columns { memory: &mut heaps[device], offset, stride }, shape);
            }
        }
        // SAFETY: `memory` is valid and not accessed until the end is reported.
        let event = unsafe { bench.copy(device as u16, transfer, &[]) }.expect("a copy");
        let finished = bench.end_of(event);
        finished.result.expect("it ends well");
        assert!(finished.busy_ns.is_some() || shape.0 * shape.1 < TIMED_BYTES_MIN, "large copies are timed");
        assert!(memory[..] == expected[..], "seed {seed}: host memory after {transfer:?}");
    }
    for (device, heap) in heaps.iter().enumerate() {
        assert!(bench.read(device as u16, 0, heap_bytes, &[]) == *heap, "seed {seed}: the heap of {device}");
    }
}

#[test]
fn random_copies_match_loop() {
    for seed in 0..3 {
        random_copies(seed, HEAP_BYTES, 60, |numbers| (1 + numbers.below(2000), 1 + numbers.below(40)));
    }
}

#[test]
fn invalid_copies_are_refused() {
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
        // One of the two regions may be valid, but not both.
        let first = DeviceRegion { offset: 0, ..at };
        refused.push(Transfer::Peer { device: 1, from: first, to: at });
        refused.push(Transfer::Peer { device: 1, from: at, to: first });
    }
    // Overlapping columns, different shapes, no such peer, the device itself.
    let overlapping = HostRegion { columns: 4, stride_bytes: 100, ..source };
    refused.push(Transfer::In { from: overlapping, to: columns(good, 4, 1024) });
    refused.push(Transfer::In { from: source, to: place(0, 512) });
    refused.push(Transfer::Peer { device: 5, from: good, to: good });
    refused.push(Transfer::Peer { device: 0, from: good, to: place(2048, 1024) });
    for transfer in refused {
        // SAFETY: the copy is refused; otherwise the host's side would be `memory`, which stays valid.
        let error = unsafe { bench.copy(0, transfer, &[]) }.expect_err("not a copy");
        assert!(!error.is_lost(), "{error}");
    }
    bench.write(0, HEAP_BYTES - 1024, &[9; 1024]);
    assert_eq!(bench.read(0, HEAP_BYTES - 1024, 1024, &[]), [9; 1024], "up to the end is fine");
}

#[test]
fn heap_is_reserved_once() {
    let Some(opened) = open(1, |settings| settings) else { return };
    let device = &opened.0[0];
    let memory = [0u8; 64];
    let transfer = Transfer::In { from: host(memory.as_ptr(), 64), to: place(0, 64) };
    // SAFETY: the copy is refused.
    let error = unsafe { device.copy(&transfer, &[]) }.expect_err("no heap yet");
    assert!(error.to_string().contains("reserved"), "{error}");
    device.reserve().expect("a heap");
    device.reserve().expect_err("a second heap");
}
