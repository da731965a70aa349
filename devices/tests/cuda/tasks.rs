//! Tasks: refused launches, outcomes, and tasks behind one that fails.

use crate::bench::{Bench, PROGRAM, apply, argument};
use superscalar_devices::cuda::OUTCOME_BYTES_MAX;
use superscalar_runtime::DeviceError;

pub fn refuses_wrong_launches(bench: &Bench) {
    // A block that is too large for every GPU.
    let error = bench.issue((0, 0), &[], |queue| {
        let function = queue.function(&PROGRAM, "set")?;
        let (mut at, mut count, mut value) = (queue.address(0)?, 1i32, 1i32);
        let mut params = [argument(&mut at), argument(&mut count), argument(&mut value)];
        // SAFETY: the launch is refused.
        unsafe { queue.launch(function, [1, 1, 1], [1 << 20, 1, 1], 0, &mut params) }
    });
    let error = error.expect_err("too large");
    assert!(error.to_string().contains("cuLaunchKernel") && !error.is_lost(), "{error}");
    let refused = bench.issue((0, 0), &[], |queue| queue.after(0..OUTCOME_BYTES_MAX + 1, |_| Ok(())));
    refused.expect_err("more than is read of the heap");
}

#[test]
fn kernel_outcome_reaches_the_host() {
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
fn partly_issued_task_fails_its_successors() {
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
        assert!(!error.is_lost() && error.to_string().contains("did not run"), "{error}");
    }
    bench.end_of(beside).result.expect("it waited for nothing");
    assert_eq!(bench.read_ints(0, 0, 4, &[]), [1, 0, 0, 1]);
    assert_eq!(bench.read_ints(1, 0, 1, &[]), [0]);
    // The same after the failure was reported.
    let late = bench.issue((0, 1), &[event], |queue| apply(queue, "set", (8, 1), 1)).expect("a place");
    bench.end_of(late).result.expect_err("what it waited for failed");
}

#[test]
fn library_handles_are_per_queue() {
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
