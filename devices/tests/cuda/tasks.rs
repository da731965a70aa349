//! Tasks: kernels, their results, their errors.

#[path = "../late/ends.rs"]
mod ends;

use crate::bench::{Bench, HEAP_BYTES, PROGRAM, apply, argument};
use std::{thread::sleep, time::Duration};
use superscalar_devices::cuda::OUTCOME_BYTES_MAX;
use superscalar_runtime::{Device, DeviceError};

#[test]
fn a_kernel_runs_and_its_time_is_told() {
    let Some(mut bench) = Bench::open(1) else { return };
    let event = bench.issue((0, 0), &[], |queue| apply(queue, "set", (256, 100), 7)).expect("a task");
    assert_eq!(event.ticket, 1, "tickets count from one");
    let finished = bench.end_of(event);
    finished.result.expect("it ends well");
    assert!(finished.busy_ns.is_some_and(|ns| ns > 0), "busy for {:?}", finished.busy_ns);
    assert_eq!(bench.read_ints(0, 256, 100, &[]), [7; 100]);
}

#[test]
fn ends_that_are_noticed_late_are_told_apart() {
    let Some(mut bench) = Bench::open(1) else { return };
    let add = |queue: &mut _| apply(queue, "add", (0, 64), 1);
    // The clocks are compared by what is noticed at once.
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
    ends::are_told_apart(&ended);
}

#[test]
fn a_task_may_be_several_kernels_or_none() {
    let Some(mut bench) = Bench::open(1) else { return };
    let several = |queue: &mut _| {
        apply(queue, "set", (0, 64), 5)?;
        apply(queue, "add", (0, 64), 2)?;
        apply(queue, "add", (0, 64), -1)
    };
    let first = bench.issue((0, 0), &[], several).expect("a task");
    let second = bench.issue((0, 1), &[first], |_| Ok(())).expect("a task");
    bench.end_of(second).result.expect("it ends well");
    // The second waited for the first, so that one is over.
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
fn what_a_task_leaves_in_the_heap_is_judged_when_it_ends() {
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
    for wrong in [HEAP_BYTES - 2..HEAP_BYTES + 2, 8..8, 0..OUTCOME_BYTES_MAX + 1] {
        let refused = bench.issue((0, 0), &[], |queue| queue.after(wrong.clone(), |_| Ok(())));
        refused.expect_err("outside the heap, nothing, or too much");
    }
}

#[test]
fn a_kernel_writes_its_outcome_where_the_host_reads_it() {
    let Some(mut bench) = Bench::open(1) else { return };
    let with_outcome = |value: i32| {
        bench.issue((0, 1), &[], |queue| {
            let mut at = queue.outcome(move |left| match left {
                0 => Ok(()),
                minor => Err(DeviceError::outcome(std::io::Error::other(format!("minor {minor}")))),
            })?;
            let function = queue.function(&PROGRAM, "set")?;
            let (mut count, mut value) = (1i32, value);
            let mut params = [argument(&mut at), argument(&mut count), argument(&mut value)];
            // SAFETY: the kernel writes one number, the outcome.
            unsafe { queue.launch(function, [1, 1, 1], [1, 1, 1], 0, &mut params) }
        })
    };
    let events: Vec<_> = (0..600).map(|value| with_outcome(value % 3).expect("a task")).collect();
    for (value, event) in events.into_iter().enumerate() {
        let result = bench.end_of(event).result;
        match value % 3 {
            0 => result.expect("zero is fine"),
            minor => {
                let error = result.expect_err("anything else is not");
                assert!(error.is_outcome() && error.to_string() == format!("minor {minor}"), "{error}");
            }
        }
    }
}

#[test]
fn a_task_that_is_refused_leaves_no_trace() {
    let Some(mut bench) = Bench::open(1) else { return };
    let error = bench.issue((0, 0), &[], |queue| apply(queue, "no_such", (0, 1), 0)).expect_err("no such kernel");
    assert!(error.to_string().contains("no_such") && !error.is_lost(), "{error}");
    // A block that no GPU has room for.
    let error = bench.issue((0, 0), &[], |queue| {
        let function = queue.function(&PROGRAM, "set")?;
        let (mut at, mut count, mut value) = (queue.address(0)?, 1i32, 1i32);
        let mut params = [argument(&mut at), argument(&mut count), argument(&mut value)];
        // SAFETY: it does not run.
        unsafe { queue.launch(function, [1, 1, 1], [1 << 20, 1, 1], 0, &mut params) }
    });
    let error = error.expect_err("too large");
    assert!(error.to_string().contains("cuLaunchKernel") && !error.is_lost(), "{error}");
    let event = bench.issue((0, 0), &[], |queue| apply(queue, "set", (0, 1), 1)).expect("a task");
    assert_eq!(event.ticket, 1, "what was refused has no ticket");
    bench.end_of(event).result.expect("the device works as before");
}

#[test]
fn a_task_that_fails_half_way_in_ends_with_the_error_and_fails_those_behind_it() {
    let Some(mut bench) = Bench::open(2) else { return };
    bench.write(0, 0, &[0; 64]);
    bench.write(1, 0, &[0; 64]);
    let half = |queue: &mut _| {
        apply(queue, "set", (0, 1), 1)?;
        apply(queue, "no_such", (0, 1), 0)
    };
    let event = bench.issue((0, 0), &[], half).expect("a part of it is in the queue");
    let behind = [
        bench.issue((0, 0), &[event], |queue| apply(queue, "set", (4, 1), 1)).expect("a place"),
        bench.issue((0, 1), &[event], |queue| apply(queue, "set", (8, 1), 1)).expect("a place"),
        bench.issue((1, 0), &[event], |queue| apply(queue, "set", (0, 1), 1)).expect("a place"),
    ];
    let beside = bench.issue((0, 1), &[], |queue| apply(queue, "set", (12, 1), 1)).expect("a task");
    let error = bench.end_of(event).result.expect_err("the rest is not");
    assert!(error.to_string().contains("no_such"), "{error}");
    for event in behind {
        let error = bench.end_of(event).result.expect_err("what it waited for failed");
        assert!(!error.is_lost() && error.to_string().contains("waited for"), "{error}");
    }
    bench.end_of(beside).result.expect("it waited for nothing");
    assert_eq!(bench.read_ints(0, 0, 4, &[]), [1, 0, 0, 1]);
    assert_eq!(bench.read_ints(1, 0, 1, &[]), [0]);
    // Also when it was reported.
    let late = bench.issue((0, 1), &[event], |queue| apply(queue, "set", (8, 1), 1)).expect("a place");
    bench.end_of(late).result.expect_err("what it waited for failed");
}

#[test]
fn queues_for_copies_take_no_tasks() {
    let Some(bench) = Bench::open(1) else { return };
    let queues = bench.devices[0].info().queues;
    bench.issue((0, queues), &[], |_| Ok(())).expect_err("a queue for copies");
}

#[test]
fn the_handles_of_the_libraries_are_made_once_for_each_queue() {
    let Some(mut bench) = Bench::open(1) else { return };
    let mut seen = Vec::new();
    for queue in [0, 0, 1] {
        let event = bench.issue((0, queue), &[], |queue| {
            seen.push((queue.blas()? as usize, queue.solver()? as usize, queue.stream() as usize));
            Ok(())
        });
        match event {
            Ok(event) => bench.end_of(event).result.expect("it ends well"),
            Err(error) => {
                assert!(error.to_string().contains("is not found"), "{error}");
                eprintln!("SKIPPED: {error}");
                return;
            }
        }
    }
    assert_eq!(seen[0], seen[1]);
    assert!(seen[0].0 != seen[2].0 && seen[0].1 != seen[2].1 && seen[0].2 != seen[2].2);
}
