//! Resources that leave tasks to faster ones, with devices that state wrong speeds.

mod test_device;

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use superscalar_runtime::{Codelet, Cost, DeviceKind, Error, Operand, PolicyName, Runtime, Speed, Updates};
use test_device::{Machine, Spec, TestDevice, queue};

const ALPHA: &str = "alpha";

fn runtime(workers: usize, policy: PolicyName, device: &Arc<TestDevice>) -> Result<Runtime, Error> {
    Runtime::builder().workers(workers).weights_file(None).policy(policy).device(device.clone()).build()
}

/// Returns a codelet `x = 31 x + parameter` of a million operations, which takes `host` on the host.
fn step(host: Duration) -> Codelet<Updates<u64>, u64> {
    let step = Codelet::new("step").cost(|_| Cost { flops: 1e6, bytes: 1e4, level: None });
    let step = step.on_device(DeviceKind(ALPHA), |context, x: Operand<u64>, parameter: &u64| {
        let parameter = *parameter;
        queue(context)?.put(move || {
            // SAFETY: the queue runs the work when its events are reached, and the scope waits for it.
            let x = unsafe { &mut *x.as_ptr() };
            *x = x.wrapping_mul(31).wrapping_add(parameter);
            Ok(())
        });
        Ok(())
    });
    step.on_host(move |x: &mut u64, parameter: &u64| {
        std::thread::sleep(host);
        *x = x.wrapping_mul(31).wrapping_add(*parameter);
        Ok(())
    })
}

#[test]
fn idle_issuer_sleeps_while_host_works() -> Result<(), Error> {
    let slow = Speed { flops_per_s: 1e3, ..Speed::default() };
    let devices = Machine::start(&[Spec { speed: slow, ..Spec::new(ALPHA) }]);
    let rt = runtime(2, PolicyName::Fifo, &devices[0])?;
    let mut x = 1;
    let before = devices[0].counters.waits.load(Ordering::SeqCst);
    rt.scope(|s| step(Duration::from_millis(1200)).spawn(s, s.lend(&mut x).read_write(), 0))?;
    assert_eq!((x, devices[0].issued()), (31, 0), "the host has run the task");
    let waits = devices[0].counters.waits.load(Ordering::SeqCst) - before;
    assert!(waits < 20, "the issuer has woken {waits} times");
    Ok(())
}

#[test]
fn device_takes_tasks_from_slow_host() -> Result<(), Error> {
    // The device states 50 ms per task. The host is assumed to take 125 µs, and takes 150 ms.
    let speed = Speed { flops_per_s: 2e7, ..Speed::default() };
    for policy in PolicyName::ALL {
        let devices = Machine::start(&[Spec { speed, ..Spec::new(ALPHA) }]);
        let rt = runtime(1, policy, &devices[0])?;
        let step = step(Duration::from_millis(150));
        let (mut data, (done, is_done)) = ([1; 12], std::sync::mpsc::channel());
        std::thread::scope(|threads| {
            threads.spawn(move || {
                if is_done.recv_timeout(Duration::from_secs(20)).is_err() {
                    eprintln!("{policy}: no resource takes the last tasks");
                    std::process::abort();
                }
            });
            let result = rt.scope(|s| data.iter_mut().for_each(|x| step.spawn(s, s.lend(x).read_write(), 5)));
            done.send(()).expect("the watching thread waits");
            result
        })?;
        assert_eq!(data, [36; 12], "{policy}");
    }
    Ok(())
}
