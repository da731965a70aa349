//! Tasks: kernels, their results, their errors.

use super::ends;
use crate::bench::{Bench, HEAP_BYTES, apply};
use std::{thread::sleep, time::Duration};
use superscalar_runtime::{Device, DeviceError};

#[test]
fn kernel_runs_and_is_timed() {
    let Some(mut bench) = Bench::open(1) else { return };
    let event = bench.issue((0, 0), &[], |queue| apply(queue, "set", (256, 100), 7)).expect("a task");
    assert_eq!(event.ticket, 1, "tickets count from one");
    let finished = bench.end_of(event);
    finished.result.expect("it ends well");
    assert!(finished.busy_ns.is_some_and(|ns| ns > 0), "busy for {:?}", finished.busy_ns);
    assert_eq!(bench.read_ints(0, 256, 100, &[]), [7; 100]);
}

#[test]
fn late_notices_have_distinct_times() {
    let Some(mut bench) = Bench::open(1) else { return };
    let add = |queue: &mut _| apply(queue, "add", (0, 64), 1);
    // Ends that are noticed immediately calibrate the device's clock against the host's.
    for _ in 0..10 {
        let event = bench.issue((0, 0), &[], add).expect("a task");
        bench.end_of(event).result.expect("it ends well");
    }
    let mut events = vec![bench.issue((0, 0), &[], add).expect("a task")];
    for queue in [1, 0, 0, 1] {
        let before = events.last().copied();
        events.push(bench.issue((0, queue), before.as_slice(), add).expect("a task"));
    }
    let late = Duration::from_millis(50);
    sleep(late);
    let ended: Vec<_> = events.into_iter().map(|event| bench.end_of(event)).collect();
    ends::have_distinct_times(&ended);
}

#[test]
fn task_of_several_kernels_or_none() {
    let Some(mut bench) = Bench::open(1) else { return };
    let several = |queue: &mut _| {
        apply(queue, "set", (0, 64), 5)?;
        apply(queue, "add", (0, 64), 2)?;
        apply(queue, "add", (0, 64), -1)
    };
    let first = bench.issue((0, 0), &[], several).expect("a task");
    let second = bench.issue((0, 1), &[first], |_| Ok(())).expect("a task");
    bench.end_of(second).result.expect("it ends well");
    // The second task waited for the first, so the first is over.
    bench.poll();
    assert!(bench.end_of(first).result.is_ok());
    assert_eq!(bench.read_ints(0, 0, 64, &[]), [6; 64]);
}

fn judge(bytes: &[u8]) -> Result<(), DeviceError> {
    match bytes {
        [0, 0, 0, 0] => Ok(()),
        other => Err(DeviceError::new(format!("left {other:?}"))),
    }
}

#[test]
fn outcome_in_heap_is_checked() {
    let Some(mut bench) = Bench::open(1) else { return };
    let judged = |value: i32| {
        bench.issue((0, 0), &[], |queue| {
            apply(queue, "set", (128, 1), value)?;
            queue.after(128..132, judge)
        })
    };
    let (good, bad) = (judged(0).expect("a task"), judged(9).expect("a task"));
    bench.end_of(good).result.expect("zero is fine");
    let error = bench.end_of(bad).result.expect_err("nine is not");
    assert!(error.to_string().ends_with("left [9, 0, 0, 0]") && !error.is_lost(), "{error}");
    for wrong in [HEAP_BYTES - 2..HEAP_BYTES + 2, 8..8] {
        let refused = bench.issue((0, 0), &[], |queue| queue.after(wrong.clone(), |_| Ok(())));
        refused.expect_err("outside the heap, or nothing");
    }
}

#[test]
fn refused_task_leaves_no_trace() {
    let Some(mut bench) = Bench::open(1) else { return };
    let error = bench.issue((0, 0), &[], |queue| apply(queue, "no_such", (0, 1), 0)).expect_err("no such kernel");
    assert!(error.to_string().contains("no_such") && !error.is_lost(), "{error}");
    crate::tasks::refuses_wrong_launches(&bench);
    let event = bench.issue((0, 0), &[], |queue| apply(queue, "set", (0, 1), 1)).expect("a task");
    assert_eq!(event.ticket, 1, "what was refused has no ticket");
    bench.end_of(event).result.expect("the device works as before");
}

#[test]
fn copy_queues_take_no_tasks() {
    let Some(bench) = Bench::open(1) else { return };
    let queues = bench.devices[0].info().queues;
    bench.issue((0, queues), &[], |_| Ok(())).expect_err("a queue for copies");
}
