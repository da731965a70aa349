//! A chain of work over two devices, and two cores that work at the same time.

use crate::bench::{Bench, spin};
use crate::driver::order::{LONG, chain_needs_no_host};
use std::time::Duration;
use superscalar_runtime::Device;

#[test]
fn chain_over_two_devices_needs_no_host() {
    let Some(mut bench) = Bench::open(2) else { return };
    chain_needs_no_host(&mut bench, &mut [0; 8], Duration::ZERO);
}

/// While one core is busy, another finishes its tasks. If they took turns, the short tasks would end after the long
/// one.
#[test]
fn two_cores_work_at_the_same_time() {
    let Some(found) = crate::bench::found() else { return };
    if superscalar_devices::opencl::named("opencl:1", &found).is_err() {
        eprintln!("SKIPPED: there is only one OpenCL device");
        return;
    }
    let Some(mut bench) = Bench::open(2) else { return };
    for device in [0, 1] {
        let warm = bench.issue((device, 0), &[], |queue| spin(queue, 0, Duration::ZERO)).expect("a task");
        bench.end_of(warm).result.expect("it ends well");
    }
    for (busy, idle) in [(0, 1), (1, 0)] {
        let long = bench.issue((busy, 0), &[], |queue| spin(queue, 0, 8 * LONG)).expect("a task");
        for _ in 0..3 {
            let short = bench.issue((idle, 0), &[], |queue| spin(queue, 0, Duration::ZERO)).expect("a task");
            bench.end_of(short).result.expect("it ends well");
        }
        let mut is_over = false;
        bench.devices[usize::from(busy)].poll(&mut |finished| is_over |= finished.ticket == long.ticket);
        assert!(!is_over, "device {idle} waited for device {busy}");
        // The end was polled without the bench, so wait for it here.
        while !is_over {
            bench.devices[usize::from(busy)].wait(Duration::from_secs(1));
            bench.devices[usize::from(busy)].poll(&mut |finished| is_over |= finished.ticket == long.ticket);
        }
    }
}
