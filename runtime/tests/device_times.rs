//! Spans in recordings: they show when a device ran a task, not when the end was noticed.

mod test_device;

use std::{
    sync::{Arc, atomic::Ordering},
    thread::sleep,
    time::{Duration, Instant},
};
use superscalar_runtime::{
    Codelet, DeviceKind, Error, Operand, Reads, Runtime, Updates,
    recording::{Recording, Span},
};
use test_device::{Machine, Spec, TestDevice, queue};

const MS: u64 = 1_000_000;

fn runtime(devices: &[Arc<TestDevice>]) -> Result<Runtime, Error> {
    let builder = Runtime::builder().workers(1).weights_file(None).trace(true);
    devices.iter().fold(builder, |builder, device| builder.device(device.clone())).build()
}

fn one_queue(kind: &'static str) -> Spec {
    Spec { queues: 1, depth: 8, ..Spec::new(kind) }
}

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// Returns a codelet that updates one datum.
fn write(kind: &'static str) -> Codelet<Updates<u64>, ()> {
    Codelet::new("write").on_device(DeviceKind(kind), |context, _: Operand<u64>, ()| {
        queue(context)?.put(|| Ok(()));
        Ok(())
    })
}

/// Returns a codelet that reads the first datum and updates the second.
fn follow(kind: &'static str) -> Codelet<(Reads<u64>, Updates<u64>), ()> {
    Codelet::new("follow").on_device(DeviceKind(kind), |context, _: (Operand<u64>, Operand<u64>), ()| {
        queue(context)?.put(|| Ok(()));
        Ok(())
    })
}

/// Waits until the device has finished `count` tasks, whose ends it has not reported.
fn await_finished(device: &TestDevice, count: u32) {
    let until = Instant::now() + Duration::from_secs(10);
    while device.finished() < count && Instant::now() < until {
        sleep(Duration::from_micros(200));
    }
    assert_eq!(device.finished(), count);
}

/// Returns the spans in the order of their tasks.
fn spans(recording: &Recording) -> Vec<Span> {
    let mut spans = recording.spans.clone();
    spans.sort_by_key(|span| span.task);
    spans
}

fn length_ns(span: &Span) -> u64 {
    span.end_ns - span.start_ns
}

/// Runs three tasks of one queue, whose ends are reported by one poll. `told` has what the device reports of each task:
/// its duration in milliseconds, and after how many milliseconds it ended. Returns their spans.
fn three_at_once(told: [Option<(u64, u64)>; 3]) -> Result<Vec<Span>, Error> {
    let devices = Machine::start(&[one_queue("alpha")]);
    let rt = runtime(&devices)?;
    let mut x = 0;
    devices[0].mute(true);
    rt.scope(|s| {
        let x = s.lend(&mut x);
        (0..3).for_each(|_| write("alpha").spawn(s, x.read_write(), ()));
        await_finished(&devices[0], 3);
        let begun = Instant::now();
        for (ticket, times) in (1..).zip(told) {
            times.into_iter().for_each(|(busy, ended)| devices[0].tells(0, ticket, ms(busy), begun + ms(ended)));
        }
        sleep(ms(30));
        devices[0].mute(false);
    })?;
    let spans = spans(&rt.take_recording().expect("a recording"));
    assert_eq!(spans.len(), 3);
    assert!(spans.is_sorted_by(|a, b| a.end_ns <= b.start_ns), "{spans:?}");
    Ok(spans)
}

#[test]
fn spans_follow_reported_times() -> Result<(), Error> {
    let spans = three_at_once([Some((3, 4)), Some((5, 12)), Some((2, 17))])?;
    assert_eq!(spans.iter().map(length_ns).collect::<Vec<_>>(), [3 * MS, 5 * MS, 2 * MS]);
    let all_ns = spans[2].end_ns - spans[0].start_ns;
    assert!((14 * MS..20 * MS).contains(&all_ns), "expected about 16 ms, found {all_ns} ns");
    Ok(())
}

#[test]
fn unknown_end_is_bounded() -> Result<(), Error> {
    let spans = three_at_once([Some((3, 4)), None, Some((2, 14))])?;
    assert_eq!((length_ns(&spans[0]), length_ns(&spans[2])), (3 * MS, 2 * MS));
    Ok(())
}

/// The device reports impossible times: some overlap, and one end is in the future.
#[test]
fn impossible_times_are_corrected() -> Result<(), Error> {
    let spans = three_at_once([Some((3, 9)), Some((4, 10)), Some((1, 60_000))])?;
    assert_eq!(length_ns(&spans[0]), 3 * MS);
    assert!(length_ns(&spans[1]) < 2 * MS && length_ns(&spans[2]) <= MS);
    assert!(spans[2].end_ns - spans[0].start_ns < 40_000 * MS);
    Ok(())
}

/// Runs a task on device `beta`, a successor of it on `alpha`, and an independent task behind the successor. Both
/// devices report when their tasks ended; `beta` reports last.
fn across_devices(first_ended: u64) -> Result<[Span; 3], Error> {
    let devices = Machine::start(&[one_queue("alpha"), one_queue("beta")]);
    let rt = runtime(&devices)?;
    let (mut x, mut y, mut z) = (0, 0, 0);
    devices.iter().for_each(|device| device.mute(true));
    rt.scope(|s| {
        let (x, y, z) = (s.lend(&mut x), s.lend(&mut y), s.lend(&mut z));
        write("beta").spawn(s, x.read_write(), ());
        assert!(devices[1].await_issued(1));
        follow("alpha").spawn(s, (x.read(), y.read_write()), ());
        assert!(devices[0].await_issued(1));
        write("alpha").spawn(s, z.read_write(), ());
        await_finished(&devices[0], 2);
        let begun = Instant::now();
        devices[1].tells(0, 1, ms(3), begun + ms(first_ended));
        devices[0].tells(0, 1, ms(4), begun + ms(11));
        devices[0].tells(0, 2, ms(5), begun + ms(18));
        sleep(ms(30));
        devices[0].mute(false);
        sleep(ms(20));
        devices[1].mute(false);
    })?;
    let spans = spans(&rt.take_recording().expect("a recording"));
    let [first, follower, behind] = spans.try_into().expect("three tasks");
    assert_ne!(first.lane, follower.lane);
    assert!(follower.lane == behind.lane && follower.end_ns <= behind.start_ns, "{follower:?}, {behind:?}");
    assert!(first.end_ns <= follower.start_ns, "{first:?}, {follower:?}");
    assert_eq!((length_ns(&first), length_ns(&behind)), (3 * MS, 5 * MS));
    Ok([first, follower, behind])
}

#[test]
fn late_report_keeps_the_successors_span() -> Result<(), Error> {
    let [_, follower, _] = across_devices(5)?;
    assert_eq!(length_ns(&follower), 4 * MS);
    Ok(())
}

/// If the clocks of the devices disagree, the trace follows the hazards.
#[test]
fn span_starts_after_its_predecessor() -> Result<(), Error> {
    let [first, follower, _] = across_devices(9)?;
    assert!(length_ns(&follower) < 4 * MS && follower.start_ns == first.end_ns, "{first:?}, {follower:?}");
    Ok(())
}

/// Runs 400 tasks one after the other, of two kernels by turns, which take these times. Returns how many of them the
/// device was not asked to time.
fn untimed_of_400(durations: [Duration; 2], traced: bool) -> Result<u32, Error> {
    let devices = Machine::start(&[Spec { tells_times: true, ..one_queue("alpha") }]);
    let rt = Runtime::builder().workers(1).weights_file(None).trace(traced).device(devices[0].clone()).build()?;
    let kernel = |name: &'static str, duration| {
        Codelet::new(name).on_device(DeviceKind("alpha"), move |context, _: Operand<u64>, ()| {
            queue(context)?.put(move || {
                sleep(duration);
                Ok(())
            });
            Ok(())
        })
    };
    let kernels = [kernel("first", durations[0]), kernel("second", durations[1])];
    let mut x = 0;
    rt.scope(|s| {
        let x = s.lend(&mut x);
        (0..400).for_each(|at| kernels[at % 2].spawn(s, x.read_write(), ()));
    })?;
    Ok(devices[0].counters.untimed.load(Ordering::SeqCst))
}

#[test]
fn brief_tasks_are_timed_now_and_then() -> Result<(), Error> {
    const BRIEF: Duration = Duration::ZERO;
    const LONG: Duration = Duration::from_micros(300);
    let untimed = untimed_of_400([BRIEF; 2], false)?;
    assert!((150..=350).contains(&untimed), "{untimed}: seven of eight, as soon as they are known");
    let untimed = untimed_of_400([BRIEF, LONG], false)?;
    assert!((50..=175).contains(&untimed), "{untimed}: seven of eight brief ones, and no long one");
    assert_eq!(untimed_of_400([BRIEF; 2], true)?, 0, "a recording has all times");
    assert_eq!(untimed_of_400([LONG; 2], false)?, 0, "measuring does not delay long tasks");
    Ok(())
}
