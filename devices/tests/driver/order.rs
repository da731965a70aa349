//! The order of work: events across queues, devices and copies; the issuer's sleep and wake-up.

use crate::bench::{Bench, STRANGERS, apply, host, place, spin, triple, untimed};
use std::time::{Duration, Instant};
use superscalar_runtime::{Device, Event, Transfer};

pub const LONG: Duration = Duration::from_millis(100);

#[test]
fn queue_waits_for_another() {
    let Some(mut bench) = Bench::open(1) else { return };
    bench.write(0, 0, &[0; 1024]);
    for round in 1..=5 {
        let long = bench.issue((0, 0), &[], |queue| spin(queue, 0, LONG / 20)).expect("a task");
        let after = bench.issue((0, 1), &[long], |queue| triple(queue, 0, 512)).expect("a task");
        assert_eq!(bench.read_ints(0, 512, 1, &[after]), [3 * round]);
        bench.end_of(after).result.expect("it ends well");
        bench.end_of(long).result.expect("it ends well");
    }
}

/// Issues a chain over two devices before any part of it is over: a copy in, a long kernel, a copy to the peer, a
/// kernel there, and a copy out.
pub fn chain(bench: &Bench, input: &[u8], output: &mut [u8]) -> (Event, Event) {
    let hold = bench.issue((0, 1), &[], |queue| spin(queue, 2048, LONG)).expect("a task");
    // SAFETY: the callers keep input and output valid and untouched until the chain is over.
    unsafe {
        let into = Transfer::In { from: host(input.as_ptr(), 4), to: place(0, 4) };
        let into = bench.copy(0, into, &[hold]).expect("a copy");
        let long = bench.issue((0, 0), &[into], |queue| spin(queue, 0, LONG)).expect("a task");
        let peer = Transfer::Peer { device: 0, from: place(0, 4), to: place(0, 4) };
        let peer = bench.copy(1, peer, &[long]).expect("a copy");
        let there = bench.issue((1, 1), &[peer], |queue| triple(queue, 0, 512)).expect("a task");
        let out = Transfer::Out { from: place(512, 4), to: host(output.as_mut_ptr(), 4) };
        (hold, bench.copy(1, out, &[there]).expect("a copy"))
    }
}

/// Issues the chain of [`chain`] through `memory` (eight bytes) and checks that issuing does not wait for the work,
/// which takes at least `least`.
pub fn chain_needs_no_host(bench: &mut Bench, memory: &mut [u8], least: Duration) {
    for _ in 0..2 {
        memory[..4].copy_from_slice(&41i32.to_ne_bytes());
        let (input, output) = memory.split_at_mut(4);
        let begin = Instant::now();
        let (hold, out) = chain(bench, input, output);
        let issued = begin.elapsed();
        bench.end_of(out).result.expect("it ends well");
        let ended = begin.elapsed();
        bench.end_of(hold).result.expect("it ends well");
        assert_eq!(memory[4..], (3 * 42i32).to_ne_bytes());
        assert!(ended >= least, "{ended:?}");
        // The first issue includes compilation, so the order is judged in the second round.
        println!("issued after {issued:?}, ended after {ended:?}");
        if issued * 2 < ended {
            return;
        }
    }
    panic!("issuing waited for the work");
}

#[test]
fn foreign_events_are_refused() {
    let Some(mut bench) = Bench::open(1) else { return };
    for stranger in STRANGERS {
        let error = bench.issue((0, 0), &[stranger], |_| Ok(())).expect_err("the device cannot wait for it");
        assert!(error.to_string().contains('9') && !error.is_lost(), "{error}");
    }
    let first = bench.issue((0, 0), &[], |queue| apply(queue, "set", (0, 1), 1)).expect("a task");
    bench.end_of(first).result.expect("it ends well");
    let second = bench.issue((0, 1), &[first], |queue| apply(queue, "add", (0, 1), 1)).expect("a task");
    bench.end_of(second).result.expect("it ends well");
    assert_eq!(bench.read_ints(0, 0, 1, &[]), [2]);
}

#[test]
fn tickets_are_reported_in_order() {
    let Some(bench) = Bench::open(1) else { return };
    let mut reported = vec![Vec::new(); 2];
    for round in 0..400u16 {
        bench
            .issue((0, round % 2), &[], |queue| apply(queue, "add", (4 * usize::from(round % 2), 1), 1))
            .expect("a task");
    }
    let deadline = Instant::now() + Duration::from_secs(60);
    while reported.iter().map(Vec::len).sum::<usize>() < 400 {
        assert!(Instant::now() < deadline, "only {reported:?}");
        let device = &bench.devices[0];
        device.poll(&mut |finished| reported[usize::from(finished.queue)].push(finished.ticket));
        device.wait(Duration::from_millis(10));
    }
    let expected: Vec<u64> = (1..=200).collect();
    assert_eq!(reported, [expected.clone(), expected]);
}

#[test]
fn issuer_sleeps_until_end_or_wake() {
    let Some(mut bench) = Bench::open_with(1, untimed) else { return };
    let far = Duration::from_secs(60);
    let warm = bench.issue((0, 0), &[], |queue| spin(queue, 0, Duration::ZERO)).expect("a task");
    bench.end_of(warm).result.expect("it ends well");
    let device = bench.devices[0].clone();
    // Consume the raise that `warm` may have left.
    device.wait(Duration::from_millis(1));
    let begin = Instant::now();
    device.wait(Duration::from_millis(30));
    assert!(begin.elapsed() >= Duration::from_millis(30), "nothing was to wake it");

    let long = bench.issue((0, 0), &[], |queue| spin(queue, 0, LONG / 4)).expect("a task");
    device.wait(far);
    let mut ended = Vec::new();
    device.poll(&mut |finished| ended.push(finished.ticket));
    assert_eq!(ended, [long.ticket], "it slept until the task was over");

    let begin = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            device.wake();
        });
        device.wait(far);
    });
    assert!(begin.elapsed() < far / 2, "woken by hand");

    // The issuer sleeps with empty queues when another thread issues a copy.
    let source = [5u8; 64];
    let begin = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            let transfer = Transfer::In { from: host(source.as_ptr(), 64), to: place(0, 64) };
            // SAFETY: the source is valid and unchanged until the copy's end.
            unsafe { bench.copy(0, transfer, &[]) }.expect("a copy");
        });
        device.wait(far);
    });
    assert!(begin.elapsed() < far / 2, "woken by the copy's end");
    while ended.len() < 2 {
        device.poll(&mut |finished| ended.push(finished.ticket));
    }
}

#[test]
fn device_closes_with_work_in_flight() {
    let Some(bench) = Bench::open(2) else { return };
    let long = bench.issue((0, 0), &[], |queue| spin(queue, 0, LONG)).expect("a task");
    bench.issue((1, 0), &[long], |queue| spin(queue, 0, LONG / 4)).expect("a task");
    let begin = Instant::now();
    drop(bench);
    assert!(begin.elapsed() < Duration::from_secs(60));
}
