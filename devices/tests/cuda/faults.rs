//! Permanent faults: a device is lost, while the process and independent work continue.
//!
//! CUDA gives up a GPU for the whole process, so each of these tests has a process of its own: the test starts this
//! program again, with an environment variable that names it.

use crate::bench::{Bench, HEAP_BYTES, PROGRAM, apply, argument, host, ordinals, place, spin};
use std::{
    process::Command,
    time::{Duration, Instant},
};
use superscalar_devices::cuda::{LOST_DEVICE_TIMEOUT, Queue};
use superscalar_runtime::{DeviceError, DeviceMemory, Transfer};

const VARIABLE: &str = "SUPERSCALAR_TEST_CUDA_FAULT";

/// Runs a part of a test in a process of its own.
fn apart(test: &str, part: fn()) {
    if std::env::var(VARIABLE).is_ok_and(|value| value == test) {
        return part();
    }
    let Some(_gpus) = ordinals(1) else { return };
    let program = std::env::current_exe().expect("this program");
    let name = format!("faults::{test}");
    let output = Command::new(program)
        .args(["--exact", &name, "--nocapture", "--test-threads", "1"])
        .env(VARIABLE, test)
        .output()
        .expect("it starts");
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{text}");
    // A program without a test of this name would succeed, too.
    let has_run = output.status.success() && text.contains("1 passed");
    assert!(has_run, "the part in a process of its own: {}", output.status);
}

/// Writes far outside of all allocations.
fn trap(queue: &mut Queue) -> Result<(), DeviceError> {
    let function = queue.function(&PROGRAM, "trap")?;
    let mut at = queue.address(0)?;
    let mut params = [argument(&mut at)];
    // SAFETY: the kernel ends abnormally, in a process that was started for that.
    unsafe { queue.launch(function, [1, 1, 1], [1, 1, 1], 0, &mut params) }
}

#[test]
fn abnormal_end_loses_device_and_work() {
    apart("abnormal_end_loses_device_and_work", || {
        let mut bench = Bench::open(1).expect("a GPU");
        let memory = vec![1u8; HEAP_BYTES];
        let before = bench.issue((0, 0), &[], |queue| apply(queue, "set", (0, 1), 1)).expect("a task");
        bench.end_of(before).result.expect("it ends well");
        let hold = bench.issue((0, 0), &[], |queue| spin(queue, 0, Duration::from_millis(50))).expect("a task");
        let wrong = bench.issue((0, 0), &[hold], trap).expect("it is issued");
        let behind = bench.issue((0, 1), &[wrong], |queue| apply(queue, "set", (64, 1), 1)).expect("a task");
        let transfer = Transfer::In { from: host(memory.as_ptr(), HEAP_BYTES), to: place(0, HEAP_BYTES) };
        // SAFETY: the memory is valid until the end of the test.
        let copy = unsafe { bench.copy(0, transfer, &[behind]) }.expect("a copy");
        let errors = [wrong, behind, copy].map(|event| bench.end_of(event).result.expect_err("the device is lost"));
        for error in errors {
            println!("{error}");
            assert!(
                error.is_lost() && error.to_string().contains("cuda:0") && error.to_string().contains("CUDA_ERROR_")
            );
        }
        let error = bench.issue((0, 0), &[], |_| Ok(())).expect_err("it takes nothing more");
        assert!(error.is_lost(), "{error}");
        // SAFETY: the copy is refused.
        assert!(unsafe { bench.copy(0, transfer, &[]) }.expect_err("nor copies").is_lost());
        assert!(bench.devices[0].reserve().expect_err("nor a heap").is_lost());
        let begin = Instant::now();
        drop(bench);
        assert!(begin.elapsed() < Duration::from_secs(20), "closing took {:?}", begin.elapsed());
    });
}

#[test]
fn waits_for_a_lost_device_end() {
    apart("waits_for_a_lost_device_end", || {
        let mut bench = Bench::open(2).expect("a GPU");
        if bench.devices[0].class().ordinal == bench.devices[1].class().ordinal {
            eprintln!("SKIPPED: there is only one GPU");
            return;
        }
        // Compile and load the kernels before they are needed.
        for device in [0, 1] {
            let warm = bench.issue((device, 0), &[], |queue| apply(queue, "set", (0, 1), 1)).expect("a task");
            bench.end_of(warm).result.expect("it ends well");
        }
        let hold = bench.issue((0, 0), &[], |queue| spin(queue, 0, Duration::from_millis(50))).expect("a task");
        let wrong = bench.issue((0, 0), &[hold], trap).expect("it is issued");
        let waiting = bench.issue((1, 0), &[wrong], |queue| apply(queue, "set", (64, 1), 1)).expect("a task");
        let begin = Instant::now();
        assert!(bench.end_of(wrong).result.expect_err("the device is lost").is_lost());
        let error = bench.end_of(waiting).result.expect_err("what it waited for is lost");
        println!("after {:?}: {error} (lost: {})", begin.elapsed(), error.is_lost());
        assert!(begin.elapsed() < LOST_DEVICE_TIMEOUT + Duration::from_secs(5));
        if !error.is_lost() {
            // The driver has released the stream, so the second device continues.
            let after = bench.issue((1, 0), &[], |queue| apply(queue, "set", (0, 1), 5)).expect("a task");
            bench.end_of(after).result.expect("it ends well");
            assert_eq!(bench.read_ints(1, 0, 1, &[]), [5]);
        }
        let late = bench.issue((1, 1), &[wrong], |queue| apply(queue, "set", (64, 1), 1));
        match late {
            Ok(late) => drop(bench.end_of(late).result.expect_err("what it waited for is lost")),
            Err(error) => println!("{error}"),
        }
        let begin = Instant::now();
        drop(bench);
        assert!(begin.elapsed() < Duration::from_secs(20), "closing took {:?}", begin.elapsed());
    });
}
