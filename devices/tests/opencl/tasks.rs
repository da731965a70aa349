//! Tasks: refused launches, and a task that fails.

use crate::bench::{Bench, apply, host, place, source};
use superscalar_devices::opencl::Arg;
use superscalar_runtime::{Device, DeviceError, Transfer};

pub fn refuses_wrong_launches(bench: &Bench) {
    // An argument of the wrong size, too few arguments, and too many.
    let (good, wide) = ([Arg::Heap, Arg::value(0u64), Arg::value(0i32)], Arg::value(0u64));
    let launch = |args: &[Arg]| {
        // SAFETY: the kernel writes the first number of the heap.
        bench.issue((0, 0), &[], |queue| unsafe { queue.launch(&source(), "set", args, &[1], None) })
    };
    for args in [&[good[0], wide, wide][..], &[good[0]], &[good[0], good[1], good[2], good[2]]] {
        let error = launch(args).expect_err("wrong arguments");
        assert!(error.to_string().contains("kernel `set`"), "{error}");
    }
}

#[test]
fn partly_issued_task_fails_its_successors() {
    let Some(mut bench) = Bench::open(2) else { return };
    bench.write(0, 0, &[0; 64]);
    let half = |queue: &mut _| {
        apply(queue, "set", (0, 1), 1)?;
        apply(queue, "no_such", (0, 1), 0)
    };
    let event = bench.issue((0, 0), &[], half).expect("a part of it is in the queue");
    let refuses_successors = |bench: &Bench| {
        for place in [(0, 0), (0, 1), (1, 0)] {
            // Devices of different platforms do not know each other's events.
            if bench.devices[usize::from(place.0)].can_wait_for(0) {
                let error = bench.issue(place, &[event], |queue| apply(queue, "set", (4, 1), 1));
                let error = error.expect_err("what it waits for has failed");
                assert!(!error.is_lost() && error.to_string().contains("did not run"), "{error}");
            }
        }
        let mut target = [0u8; 4];
        let transfer = Transfer::Out { from: place(0, 4), to: host(target.as_mut_ptr(), 4) };
        // SAFETY: the copy is refused.
        unsafe { bench.copy(0, transfer, &[event]) }.expect_err("what it waits for has failed");
    };
    refuses_successors(&bench);
    let beside = bench.issue((0, 1), &[], |queue| apply(queue, "set", (8, 1), 1)).expect("a task");
    let error = bench.end_of(event).result.expect_err("the rest is not");
    let (name, text) = (bench.devices[0].info().name, error.to_string());
    assert!(text.contains("no_such") && text.matches(name.as_str()).count() == 1, "{text}");
    bench.end_of(beside).result.expect("it waited for nothing");
    refuses_successors(&bench);
    assert_eq!(bench.read_ints(0, 0, 3, &[]), [1, 0, 1]);
}

#[test]
fn rejected_outcome_fails_successors() {
    let Some(mut bench) = Bench::open(1) else { return };
    let judged = |error: fn() -> DeviceError| {
        bench.issue((0, 0), &[], |queue| {
            apply(queue, "set", (0, 1), 1)?;
            queue.after(0..4, move |_| Err(error()))
        })
    };
    let wrong = judged(|| DeviceError::new("not accepted")).expect("a task");
    let outcome = judged(|| DeviceError::outcome(std::fmt::Error)).expect("a task");
    bench.end_of(wrong).result.expect_err("it is not accepted");
    assert!(bench.end_of(outcome).result.expect_err("an outcome").is_outcome());
    let behind = |event| bench.issue((0, 1), &[event], |queue| apply(queue, "set", (4, 1), 1));
    behind(wrong).expect_err("what it waits for has failed");
    let event = behind(outcome).expect("an outcome is no failure");
    bench.end_of(event).result.expect("it ends well");
}
