//! The end of devices: nothing hangs, and no resources are leaked.

use crate::driving::{Driven, Host, LONG, one, region, start};
use std::{
    fs,
    sync::{Arc, mpsc::channel},
    time::{Duration, Instant},
};
use superscalar_devices::sim::{Spec, parse};
use superscalar_runtime::{Cost, Speed, Transfer};

/// Waits until `so` returns true, for at most [`LONG`]. The system's tables lag while other threads start and end.
fn is_soon(so: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + LONG;
    loop {
        if so() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns how many threads of this process have names with this prefix. A thread gets its name after its start, and
/// disappears from the system's table after its end.
fn threads(prefix: &str) -> usize {
    let tasks = fs::read_dir("/proc/self/task").expect("the system tells of its threads");
    let name = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm")).unwrap_or_default();
    tasks.flatten().map(name).filter(|name| name.starts_with(prefix)).count()
}

/// Returns whether the address is in a mapping of this process.
fn is_mapped(address: usize) -> bool {
    let maps = fs::read_to_string("/proc/self/maps").expect("the system tells of its mappings");
    let range = |line: &str| {
        let (start, end) = line.split(' ').next()?.split_once('-')?;
        Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
    };
    maps.lines().filter_map(range).any(|range| range.contains(&address))
}

#[test]
fn dropped_device_leaks_nothing() {
    // Large, so that other allocations do not immediately reuse the addresses.
    let device = one(Spec { memory_bytes: 1 << 40, ..Spec::new("leftover") });
    let (sender, receiver) = channel();
    let kernel = device.kernel(0, &[], Cost::default(), move |heap| {
        sender.send(heap.address(1 << 39, 64)?.as_ptr() as usize).map_err(superscalar_runtime::DeviceError::outcome)
    });
    device.ends_well(kernel.unwrap());
    let address = receiver.recv_timeout(LONG).unwrap();
    assert!(is_soon(|| is_mapped(address)), "its memory is not mapped");
    assert!(is_soon(|| threads("leftover") == 3), "{} threads", threads("leftover"));
    drop(device);
    assert!(!is_mapped(address));
    assert!(is_soon(|| threads("leftover") == 0), "{} threads", threads("leftover"));
}

#[test]
fn device_drops_with_work_in_flight() {
    let slow = Speed { flops_per_s: 1.0, ..Speed::default() };
    for round in 0..20 {
        let devices = start(&[Spec { speed: slow, ..Spec::new("dropped") }, Spec::new("kept")]);
        let alive = Arc::new(());
        let mut host = Host::new((64, 1), 64, |_, _| 1);
        let held = |cost: f64, waits: &[superscalar_runtime::Event]| {
            let alive = alive.clone();
            let cost = Cost { flops: cost, ..Cost::default() };
            devices[0].kernel(0, waits, cost, move |_| {
                drop(alive);
                Ok(())
            })
        };
        // The first kernel takes an hour of modelled time; the others wait for it.
        let first = held(3600.0, &[]).unwrap();
        let second = held(0.0, &[first]).unwrap();
        let copy = Transfer::Out { from: region(0, (64, 1), 64), to: host.region() };
        devices[0].transfer(&copy, &[second]).unwrap();
        let elsewhere = devices[1].idle_kernel(0, &[second]).unwrap();
        std::thread::sleep(Duration::from_micros(round * 50));
        let begun = Instant::now();
        let mut devices = devices.into_iter();
        drop(devices.next());
        assert!(begun.elapsed() < LONG);
        assert_eq!(Arc::strong_count(&alive), 1, "kernels that never ran are dropped");
        assert!(host.holds_only(1));
        devices.for_each(|kept| assert!(!kept.ends_badly(elsewhere).is_lost()));
    }
}

#[test]
fn kernel_may_own_its_device() {
    let device = one(Spec::new("owned"));
    let (sender, receiver) = channel();
    let own = device.device.clone();
    let kernel = device.kernel(0, &[], Cost::default(), move |_| {
        std::thread::sleep(Duration::from_millis(20));
        drop(own);
        sender.send(()).map_err(superscalar_runtime::DeviceError::outcome)
    });
    kernel.unwrap();
    drop(device);
    receiver.recv_timeout(LONG).unwrap();
}

#[test]
fn many_machines_come_and_go() {
    let specs = parse("sim:0..3:flops=0:rate=0:latency=0:link=0:link-latency=0").unwrap();
    for _ in 0..100 {
        let devices = start(&specs);
        let mut last = Vec::new();
        for device in &devices {
            last = vec![device.idle_kernel(0, &last).unwrap()];
        }
        devices[2].ends_well(last[0]);
        devices.iter().for_each(Driven::drained);
    }
}
