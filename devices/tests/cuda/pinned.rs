//! Pinned memory: registered memory is pinned while it is registered, also if ranges overlap.

use crate::bench::{Bench, gpus, host, place};
use std::ptr::NonNull;
use superscalar_devices::cuda::{PinnedBuffer, Registration, is_pinned, register};
use superscalar_runtime::Transfer;

const PAGE: usize = 4096;

fn registered(memory: &[u8]) -> Registration {
    let place = NonNull::from(memory).cast();
    // SAFETY: the tests drop registrations before memory, and wait for their copies.
    unsafe { register(place, memory.len()) }.expect("it is registered")
}

#[test]
fn registered_memory_is_pinned() {
    if gpus().is_none() {
        return;
    }
    let memory = vec![0u8; 64 * PAGE];
    let is = |from: usize, to: usize| is_pinned(memory[from..to].as_ptr(), to - from);
    assert!(!is(0, 64 * PAGE));
    let all = registered(&memory);
    assert!(is(0, 64 * PAGE) && is(100, 101) && all.bytes() == 64 * PAGE);
    drop(all);
    assert!(!is(0, 64 * PAGE) && !is(32 * PAGE, 33 * PAGE));
}

#[test]
fn overlapping_ranges_count_uses() {
    if gpus().is_none() {
        return;
    }
    let memory = vec![0u8; 64 * PAGE];
    let is = |from: usize, to: usize| is_pinned(memory[from..to].as_ptr(), to - from);
    let first = registered(&memory[..20 * PAGE]);
    let second = registered(&memory[10 * PAGE..40 * PAGE]);
    let inner = registered(&memory[12 * PAGE..13 * PAGE + 7]);
    drop(first);
    assert!(is(12 * PAGE, 13 * PAGE), "two still want it");
    assert!(is(30 * PAGE, 31 * PAGE));
    drop(second);
    assert!(is(12 * PAGE, 13 * PAGE), "one still wants it");
    assert!(!is(30 * PAGE, 31 * PAGE));
    drop(inner);
    assert!(!is(12 * PAGE, 13 * PAGE));
}

#[test]
fn empty_range_is_refused() {
    if gpus().is_none() {
        return;
    }
    // SAFETY: the call is refused.
    unsafe { register(NonNull::dangling(), 0) }.expect_err("nothing");
}

#[test]
fn copies_across_registrations_arrive() {
    let Some(mut bench) = Bench::open(1) else { return };
    let memory: Vec<u8> = (0..64 * PAGE).map(|at| (at % 251) as u8).collect();
    let (_first, _second) = (registered(&memory[..20 * PAGE]), registered(&memory[20 * PAGE..50 * PAGE]));
    for range in [0..10 * PAGE, 15 * PAGE..30 * PAGE, 40 * PAGE..60 * PAGE, 0..64 * PAGE] {
        let (from, bytes) = (memory[range.clone()].as_ptr(), range.len());
        let transfer = Transfer::In { from: host(from, bytes), to: place(0, bytes) };
        // SAFETY: the memory is valid until the end is reported.
        let event = unsafe { bench.copy(0, transfer, &[]) }.expect("a copy");
        bench.end_of(event).result.expect("it ends well");
        assert!(bench.read(0, 0, bytes, &[]) == memory[range]);
    }
}

#[test]
fn pinned_buffer_is_zeroed_and_pinned() {
    if gpus().is_none() {
        return;
    }
    let mut buffer = PinnedBuffer::<f64>::new(1000).expect("pinned memory");
    assert!(buffer.iter().all(|&x| x == 0.0) && buffer.len() == 1000);
    buffer[999] = 1.0;
    let place = buffer.as_ptr().cast();
    assert!(is_pinned(place, 8000));
    drop(buffer);
    assert!(!is_pinned(place, 8000));
    assert!(PinnedBuffer::<f64>::new(0).expect("nothing is fine").is_empty());
    PinnedBuffer::<f64>::new(usize::MAX / 4).expect_err("too much");
}
