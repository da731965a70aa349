//! What waits for what: events across queues, devices and copies; what runs at the same time; sleeping and waking.

use crate::bench::{Bench, apply, host, place, source};
use std::time::{Duration, Instant};
use superscalar_devices::opencl::Arg;
use superscalar_runtime::{Device, Event, Transfer};

/// Rounds of `spin` that take some tenths of a second on a fast core.
const LONG: i32 = 100_000_000;

/// A task that takes long and then adds one to the number at byte 0.
fn spin(bench: &Bench, place: (u16, u16), rounds: i32, waits: &[Event]) -> Event {
    let task = |queue: &mut superscalar_devices::opencl::OpenclQueue| {
        let args = [Arg::Heap, Arg::value(0u64), Arg::value(rounds)];
        // SAFETY: it writes the heap's first number.
        unsafe { queue.launch(&source(), "spin", &args, &[1], None) }
    };
    bench.issue(place, waits, task).expect("a task")
}

/// A task that writes three times the number at byte 0 to byte 512.
fn triple(bench: &Bench, place: (u16, u16), waits: &[Event]) -> Event {
    let task = |queue: &mut superscalar_devices::opencl::OpenclQueue| {
        let args = [Arg::Heap, Arg::value(0u64), Arg::value(128u64)];
        // SAFETY: it writes one number of the heap.
        unsafe { queue.launch(&source(), "triple", &args, &[1], None) }
    };
    bench.issue(place, waits, task).expect("a task")
}

#[test]
fn a_queue_waits_for_another() {
    let Some(mut bench) = Bench::open(1) else { return };
    bench.write(0, 0, &[0; 1024]);
    for round in 1..=5 {
        let long = spin(&bench, (0, 0), LONG / 20, &[]);
        let after = triple(&bench, (0, 1), &[long]);
        assert_eq!(bench.read_ints(0, 512, 1, &[after]), [3 * round]);
        bench.end_of(after).result.expect("it ends well");
        bench.end_of(long).result.expect("it ends well");
    }
}

/// In, a long kernel there, from peer to peer, a kernel there, out: all in the queues before anything of it is over.
#[test]
fn a_chain_over_two_devices_needs_no_host() {
    let Some(mut bench) = Bench::open(2) else { return };
    bench.write(1, 0, &[0; 1024]);
    let input = 41i32.to_ne_bytes();
    let mut output = [0u8; 4];
    let issue_all = |bench: &Bench, output: &mut [u8; 4]| {
        let hold = spin(bench, (0, 1), LONG, &[]);
        // SAFETY: input and output are there, and not touched, until the chain is over.
        unsafe {
            let into = Transfer::In { from: host(input.as_ptr(), 4), to: place(0, 4) };
            let into = bench.copy(0, into, &[hold]).expect("a copy");
            let long = spin(bench, (0, 0), LONG, &[into]);
            let peer = Transfer::Peer { device: 0, from: place(0, 4), to: place(0, 4) };
            let peer = bench.copy(1, peer, &[long]).expect("a copy");
            let there = triple(bench, (1, 1), &[peer]);
            let out = Transfer::Out { from: place(512, 4), to: host(output.as_mut_ptr(), 4) };
            (hold, bench.copy(1, out, &[there]).expect("a copy"))
        }
    };
    let begin = Instant::now();
    let (hold, out) = issue_all(&bench, &mut output);
    let issued = begin.elapsed();
    bench.end_of(out).result.expect("it ends well");
    let ended = begin.elapsed();
    bench.end_of(hold).result.expect("it ends well");
    assert_eq!(i32::from_ne_bytes(output), 3 * 42);
    // Compiling is a part of the first issue; so the order is judged on a second go.
    bench.write(1, 0, &[0; 1024]);
    let begin = Instant::now();
    let (_, out) = issue_all(&bench, &mut output);
    let issued_again = begin.elapsed();
    bench.end_of(out).result.expect("it ends well");
    let ended_again = begin.elapsed();
    let times = [issued, ended, issued_again, ended_again];
    assert!(issued_again * 2 < ended_again, "issuing waited for the work: {times:?}");
}

/// While a core is busy, another finishes what it is given. If they took turns, the short tasks came behind the long one.
#[test]
fn two_cores_work_at_the_same_time() {
    let Some(found) = crate::bench::found() else { return };
    if superscalar_devices::opencl::named("opencl:1", &found).is_err() {
        eprintln!("SKIPPED: there is only one OpenCL device");
        return;
    }
    let Some(mut bench) = Bench::open(2) else { return };
    for device in [0, 1] {
        let warm = spin(&bench, (device, 0), 1, &[]);
        bench.end_of(warm).result.expect("it ends well");
    }
    for (busy, idle) in [(0, 1), (1, 0)] {
        let long = spin(&bench, (busy, 0), 8 * LONG, &[]);
        for _ in 0..3 {
            let short = spin(&bench, (idle, 0), 1, &[]);
            bench.end_of(short).result.expect("it ends well");
        }
        let mut is_over = false;
        bench.devices[usize::from(busy)].poll(&mut |finished| is_over |= finished.ticket == long.ticket);
        assert!(!is_over, "device {idle} waited for device {busy}");
        // Polled past the bench's notes, so the end is awaited by hand.
        while !is_over {
            bench.devices[usize::from(busy)].wait(Duration::from_secs(1));
            bench.devices[usize::from(busy)].poll(&mut |finished| is_over |= finished.ticket == long.ticket);
        }
    }
}

#[test]
fn events_of_strangers_are_refused_and_old_ones_are_over() {
    let Some(mut bench) = Bench::open(1) else { return };
    let stranger = Event { device: 9, queue: 0, ticket: 1 };
    let error = bench.issue((0, 0), &[stranger], |_| Ok(())).expect_err("it can not wait for that");
    assert!(error.to_string().contains('9') && !error.is_lost(), "{error}");
    let first = bench.issue((0, 0), &[], |queue| apply(queue, "set", (0, 1), 1)).expect("a task");
    bench.end_of(first).result.expect("it ends well");
    let second = bench.issue((0, 1), &[first], |queue| apply(queue, "add", (0, 1), 1)).expect("a task");
    bench.end_of(second).result.expect("it ends well");
    assert_eq!(bench.read_ints(0, 0, 1, &[]), [2]);
}

#[test]
fn tickets_of_a_queue_are_reported_in_order() {
    let Some(mut bench) = Bench::open(1) else { return };
    let mut reported = vec![Vec::new(); 2];
    for round in 0..40u16 {
        bench.issue((0, round % 2), &[], |queue| apply(queue, "add", (0, 1), 1)).expect("a task");
    }
    let deadline = Instant::now() + Duration::from_secs(60);
    while reported.iter().map(Vec::len).sum::<usize>() < 40 {
        assert!(Instant::now() < deadline, "only {reported:?}");
        let device = &mut bench.devices[0];
        device.poll(&mut |finished| reported[usize::from(finished.queue)].push(finished.ticket));
        device.wait(Duration::from_millis(10));
    }
    let expected: Vec<u64> = (1..=20).collect();
    assert_eq!(reported, [expected.clone(), expected]);
}

#[test]
fn an_issuer_sleeps_until_something_ends_or_it_is_woken() {
    let Some(mut bench) = Bench::open(1) else { return };
    let far = Duration::from_secs(60);
    let warm = spin(&bench, (0, 0), 1, &[]);
    bench.end_of(warm).result.expect("it ends well");
    let device = bench.devices[0].clone();
    // What `warm` has left.
    device.wait(Duration::from_millis(1));
    let begin = Instant::now();
    device.wait(Duration::from_millis(30));
    assert!(begin.elapsed() >= Duration::from_millis(30), "nothing was to wake it");

    let long = spin(&bench, (0, 0), LONG / 4, &[]);
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
}

#[test]
fn a_device_may_be_closed_while_it_works() {
    let Some(bench) = Bench::open(2) else { return };
    let long = spin(&bench, (0, 0), LONG, &[]);
    spin(&bench, (1, 0), LONG / 4, &[long]);
    let begin = Instant::now();
    drop(bench);
    assert!(begin.elapsed() < Duration::from_secs(60));
}
