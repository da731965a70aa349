//! Chains of work over two devices, concurrency, empty tasks, and the order of copies.

use crate::bench::{Bench, HEAP_BYTES, host, place, spin, triple};
use crate::driver::order::{LONG, chain, chain_needs_no_host};
use std::time::{Duration, Instant};
use superscalar_devices::cuda::Options;
use superscalar_runtime::{Device, Event, Transfer};

#[test]
fn chain_over_two_devices_needs_no_host() {
    let Some(mut bench) = Bench::open_alone(2, |options| options) else { return };
    if bench.memory(1).peers.is_empty() {
        eprintln!("SKIPPED: the GPUs do not reach each other");
        return;
    }
    let mut memory = superscalar_devices::cuda::PinnedBuffer::<u8>::new(8).expect("pinned memory");
    chain_needs_no_host(&mut bench, &mut memory, 2 * LONG);
}

/// The same chain through pageable memory. The issuer waits for the last piece, but the results are right.
#[test]
fn chain_through_pageable_memory() {
    let Some(mut bench) = Bench::open(2) else { return };
    if bench.memory(1).peers.is_empty() {
        eprintln!("SKIPPED: the GPUs do not reach each other");
        return;
    }
    for number in [41i32, 1000] {
        let (input, mut output) = (number.to_ne_bytes(), [0u8; 4]);
        let (hold, out) = chain(&bench, &input, &mut output);
        bench.end_of(out).result.expect("it ends well");
        bench.end_of(hold).result.expect("it ends well");
        assert_eq!(i32::from_ne_bytes(output), 3 * (number + 1));
    }
}

#[test]
fn queues_and_devices_work_concurrently() {
    let Some(mut bench) = Bench::open_alone(2, |options| options) else { return };
    for place in [(0, 0), (0, 1), (1, 0)] {
        let warm = bench.issue(place, &[], |queue| spin(queue, 0, Duration::ZERO)).expect("a task");
        bench.end_of(warm).result.expect("it ends well");
    }
    for (busy, idle) in [((0, 0), (0, 1)), ((0, 0), (1, 0)), ((1, 0), (0, 0))] {
        let long = bench.issue(busy, &[], |queue| spin(queue, 0, 5 * LONG)).expect("a task");
        let begin = Instant::now();
        for _ in 0..3 {
            let short = bench.issue(idle, &[], |queue| spin(queue, 64, Duration::ZERO)).expect("a task");
            bench.end_of(short).result.expect("it ends well");
        }
        assert!(begin.elapsed() < 3 * LONG, "{idle:?} waited for {busy:?}");
        bench.end_of(long).result.expect("it ends well");
        assert!(begin.elapsed() > 4 * LONG, "the long one was not long");
    }
}

/// Tasks that put nothing into their queue, timed and untimed.
#[test]
fn empty_task_ends_with_earlier_work() {
    for timed in [true, false] {
        let Some(mut bench) = Bench::open_alone(1, |options| Options { timed, ..options }) else { return };
        bench.write(0, 0, &[0; 1024]);
        let long = bench.issue((0, 0), &[], |queue| spin(queue, 0, LONG)).expect("a task");
        let empty: Vec<Event> = (0..3).map(|_| bench.issue((0, 0), &[long], |_| Ok(())).expect("a task")).collect();
        let apart = bench.issue((0, 1), &[], |_| Ok(())).expect("a task");
        let begin = Instant::now();
        bench.end_of(apart).result.expect("it ends well");
        assert!(begin.elapsed() < LONG / 2, "it waited for another queue");
        // Work that waits for an empty task waits for the long one.
        let after = bench.issue((0, 2), &[empty[1]], |queue| triple(queue, 0, 512)).expect("a task");
        let behind = bench.issue((0, 3), &[empty[2]], |_| Ok(())).expect("a task");
        bench.end_of(behind).result.expect("it ends well");
        assert_eq!(bench.read_ints(0, 0, 1, &[]), [1]);
        assert_eq!(bench.read_ints(0, 512, 1, &[after]), [3]);
        for event in [empty[2], after, long] {
            bench.end_of(event).result.expect("it ends well");
        }
    }
}

#[test]
fn mixed_copies_are_reported_in_order() {
    let Some(mut bench) = Bench::open(1) else { return };
    let pageable = vec![1u8; HEAP_BYTES / 2];
    let mut pinned = superscalar_devices::cuda::PinnedBuffer::<u8>::new(HEAP_BYTES / 2).expect("pinned memory");
    pinned.fill(2);
    let mut waits = Vec::new();
    for round in 0..40usize {
        let source: &[u8] = if round % 3 == 0 { &pageable } else { &pinned };
        let bytes = 1 + (round * 7919) % source.len();
        let transfer =
            Transfer::In { from: host(source.as_ptr(), bytes), to: place((round % 2) * HEAP_BYTES / 2, bytes) };
        // SAFETY: both memories are valid and unchanged until all copies have ended.
        waits.push(unsafe { bench.copy(0, transfer, &waits[..round.min(1)]) }.expect("a copy"));
    }
    let mut tickets = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(60);
    while tickets.len() < 40 {
        assert!(Instant::now() < deadline, "only {tickets:?}");
        bench.devices[0].poll(&mut |finished| {
            finished.result.expect("it ends well");
            tickets.push(finished.ticket);
        });
        bench.devices[0].wait(Duration::from_millis(10));
    }
    assert_eq!(tickets, (1..=40).collect::<Vec<u64>>());
    assert_eq!(bench.read(0, HEAP_BYTES / 2, 1, &[]), [1], "the last of the odd rounds was pageable");
}
