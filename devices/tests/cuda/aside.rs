//! Tasks with work in a second stream: concurrency and waits.

use crate::bench::{Bench, spin, triple};
use std::time::{Duration, Instant};
use superscalar_devices::cuda::Queue;
use superscalar_runtime::DeviceError;

const LONG: Duration = Duration::from_millis(40);

/// Loads the programs and sets the numbers to zero.
fn warmed(mut bench: Bench) -> Bench {
    bench.write(0, 0, &[0; 1024]);
    let warm = |queue: &mut Queue| {
        spin(queue, 960, Duration::ZERO)?;
        queue.aside()?;
        spin(queue, 960, Duration::ZERO)
    };
    let warm = bench.issue((0, 0), &[], warm).expect("a task");
    bench.end_of(warm).result.expect("it ends well");
    bench
}

#[test]
fn second_stream_runs_concurrently() {
    let Some(mut bench) = Bench::open_alone(1, |options| options).map(warmed) else { return };
    let both = |queue: &mut Queue| {
        queue.aside()?;
        spin(queue, 0, LONG)?;
        queue.back();
        spin(queue, 64, LONG)
    };
    let mut shortest = Duration::MAX;
    for round in 1..=5 {
        let begin = Instant::now();
        let event = bench.issue((0, 0), &[], both).expect("a task");
        // Work behind the task waits for its second stream, in the same queue and in another.
        let behind = bench.issue((0, 0), &[], |queue| triple(queue, 0, 128)).expect("a task");
        let elsewhere = bench.issue((0, 1), &[event], |queue| triple(queue, 0, 192)).expect("a task");
        bench.end_of(event).result.expect("it ends well");
        let elapsed = begin.elapsed();
        assert!(elapsed >= LONG * 99 / 100, "{elapsed:?}, and each of both takes {LONG:?}");
        for (other, place) in [(behind, 128), (elsewhere, 192)] {
            bench.end_of(other).result.expect("it ends well");
            assert_eq!(bench.read_ints(0, place, 1, &[]), [3 * round]);
        }
        shortest = shortest.min(elapsed);
        if shortest < LONG * 17 / 10 {
            return;
        }
    }
    panic!("{shortest:?} at least for both, and each of them takes {LONG:?}");
}

#[test]
fn forks_and_joins_order_both_streams() {
    let Some(mut bench) = Bench::open(1).map(warmed) else { return };
    let before = bench.issue((0, 0), &[], |queue| spin(queue, 0, LONG)).expect("a task");
    let parts = |queue: &mut Queue| {
        queue.aside()?;
        // Runs behind the task before.
        triple(queue, 0, 64)?;
        queue.back();
        spin(queue, 128, LONG)?;
        queue.fork()?;
        queue.aside()?;
        triple(queue, 128, 192)?;
        spin(queue, 256, LONG)?;
        queue.join()?;
        triple(queue, 256, 320)
    };
    let event = bench.issue((0, 0), &[], parts).expect("a task");
    for event in [before, event] {
        bench.end_of(event).result.expect("it ends well");
    }
    assert_eq!([64, 192, 320].map(|place| bench.read_ints(0, place, 1, &[])[0]), [3; 3]);
}

#[test]
fn second_stream_of_failed_task_runs() {
    let Some(mut bench) = Bench::open(1).map(warmed) else { return };
    let failing = |queue: &mut Queue| {
        queue.aside()?;
        spin(queue, 0, LONG)?;
        Err(DeviceError::new("half of it"))
    };
    let begin = Instant::now();
    let failed = bench.issue((0, 0), &[], failing).expect("a task that ends");
    let next = bench.issue((0, 0), &[], |queue| triple(queue, 0, 64)).expect("a task");
    let error = bench.end_of(failed).result.expect_err("it has failed");
    assert!(error.to_string().contains("half of it") && begin.elapsed() >= LONG, "{error} after {:?}", begin.elapsed());
    bench.end_of(next).result.expect("it ends well");
    assert_eq!(bench.read_ints(0, 64, 1, &[]), [3]);
}
