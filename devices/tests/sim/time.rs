//! Modelled times. Lower bounds must hold in every try. Upper bounds must hold in one try of those within twenty
//! seconds, because a busy host causes delays.

use crate::driving::{Driven, Host, in_child, one, region, start};
use rustix::time::{ClockId, clock_gettime};
use std::{
    fmt::Debug,
    time::{Duration, Instant},
};
use superscalar_devices::sim::{Spec, parse};
use superscalar_runtime::{Cost, Device, LinkInfo, Speed, Transfer};

fn slow() -> Spec {
    Spec {
        speed: Speed { flops_per_s: 1e9, bytes_per_s: 1e8, latency_ns: 1_000_000 },
        host_link: LinkInfo { bytes_per_s: 1e8, latency_ns: 5_000_000 },
        ..Spec::new("slow")
    }
}

fn cost(flops: f64, bytes: f64) -> Cost {
    Cost { flops, bytes, level: None }
}

/// How long a measurement is repeated until it is as fast as it should be.
const PATIENCE: Duration = Duration::from_secs(20);

/// Repeats `run` until its result fits, and returns the number of tries.
fn tries_until<R: Debug>(fits: impl Fn(&R) -> bool, mut run: impl FnMut() -> R) -> u32 {
    let begun = Instant::now();
    let mut tries = 1;
    loop {
        let result = run();
        if fits(&result) {
            return tries;
        }
        assert!(begun.elapsed() < PATIENCE, "{result:?} in try {tries}");
        tries += 1;
    }
}

/// Returns the duration of `run`.
fn timed(run: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    run();
    begun.elapsed()
}

#[test]
fn kernel_takes_modelled_time() {
    let device = one(slow());
    for (cost, model_ns) in [(cost(20e6, 0.0), 21_000_000), (cost(1e6, 1e6), 11_000_000), (cost(0.0, 0.0), 1_000_000)] {
        let model = Duration::from_nanos(model_ns);
        let fits = |(took, busy_ns): &(Duration, Option<u64>)| {
            assert!(*took >= model && busy_ns.is_some_and(|busy_ns| busy_ns >= model_ns), "{took:?}, {busy_ns:?}");
            *took < model + Duration::from_millis(10) && *busy_ns == Some(model_ns)
        };
        tries_until(fits, || {
            let begun = Instant::now();
            let ended = device.ends_well(device.kernel(0, &[], cost, |_| Ok(())).unwrap());
            (begun.elapsed(), ended.busy_ns)
        });
    }
}

#[test]
fn late_notices_have_distinct_times() {
    let device = one(slow());
    let fits = |between_ns: &[u64; 2]| {
        assert!(between_ns.iter().all(|&ns| ns >= 5_000_000), "{between_ns:?}");
        *between_ns == [5_000_000; 2]
    };
    tries_until(fits, || {
        let begun = Instant::now();
        for _ in 0..3 {
            device.kernel(0, &[], cost(4e6, 0.0), |_| Ok(())).unwrap();
        }
        device.drained();
        std::thread::sleep(Duration::from_millis(20));
        let ago_ns: Vec<_> = device.reports().iter().map(|ended| ended.ended_ago_ns.unwrap()).collect();
        assert!(ago_ns[2] >= 20_000_000 && u128::from(ago_ns[0]) < begun.elapsed().as_nanos(), "{ago_ns:?}");
        [ago_ns[0] - ago_ns[1], ago_ns[1] - ago_ns[2]]
    });
}

#[test]
fn copy_takes_modelled_time() {
    let device = one(slow());
    let mut host = Host::new((1000, 1000), 1024, |_, _| 1);
    let transfer = Transfer::In { from: host.region(), to: region(0, (1000, 1000), 1024) };
    let model = Duration::from_millis(15);
    let fits = |took: &Duration| {
        assert!(*took >= model, "{took:?}");
        *took < model + Duration::from_millis(10)
    };
    let copies = tries_until(fits, || timed(|| drop(device.ends_well(device.transfer(&transfer, &[]).unwrap()))));
    let (traffic, copies) = (device.counters().copies_in, u64::from(copies));
    assert_eq!((traffic.copies, traffic.bytes), (copies, copies * 1_000_000));
    assert!(traffic.busy_ns >= copies * 15_000_000);
}

#[test]
fn slow_kernel_takes_its_real_time() {
    let device = one(Spec::new("a"));
    let used = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default();
    let fits = |busy_ns: &u64| {
        assert!(*busy_ns >= 20_000_000, "{busy_ns}");
        *busy_ns < 30_000_000
    };
    tries_until(fits, || {
        let kernel = device.kernel(0, &[], cost(1.0, 1.0), move |_| {
            let begun = used();
            while used() - begun < Duration::from_millis(20) {
                std::hint::spin_loop();
            }
            Ok(())
        });
        device.ends_well(kernel.unwrap()).busy_ns.unwrap()
    });
}

/// The number of kernels of 0.2 ms that are timed.
const SHORT: u32 = 100;

#[test]
fn short_kernels_accumulate_no_delay() {
    let device = one(Spec { speed: Speed { flops_per_s: 1e9, ..Speed::default() }, ..Spec::new("a") });
    let model = Duration::from_micros(200) * SHORT;
    let fits = |took: &Duration| {
        assert!(*took >= model, "{took:?}");
        *took < model.mul_f64(1.05)
    };
    tries_until(fits, || {
        timed(|| {
            let issued = (0..SHORT).map(|_| device.kernel(0, &[], cost(2e5, 0.0), |_| Ok(())).unwrap());
            let last = issued.last().unwrap();
            device.ends_well(last);
        })
    });
}

#[test]
fn queues_share_the_arithmetic_unit() {
    let device = one(slow());
    let begun = Instant::now();
    let kernels = [0, 1].map(|queue| device.kernel(queue, &[], cost(20e6, 0.0), |_| Ok(())).unwrap());
    kernels.into_iter().for_each(|kernel| drop(device.ends_well(kernel)));
    assert!(begun.elapsed() >= Duration::from_millis(42));
}

#[test]
fn times_add_up_along_events() {
    let devices = start(&[slow(), slow()]);
    let mut host = Host::new((1000, 1000), 1024, |_, _| 1);
    let begun = Instant::now();
    let first = devices[0].kernel(0, &[], cost(20e6, 0.0), |_| Ok(())).unwrap();
    let copy = Transfer::In { from: host.region(), to: region(0, (1000, 1000), 1024) };
    let copied = devices[1].transfer(&copy, &[first]).unwrap();
    let last = devices[1].kernel(0, &[copied], cost(20e6, 0.0), |_| Ok(())).unwrap();
    devices[1].ends_well(last);
    assert!(begun.elapsed() >= Duration::from_millis(21 + 15 + 21));
}

#[test]
fn copies_run_concurrently_with_kernels() {
    let device = one(slow());
    let shape = (1000, 3000);
    let (mut from, mut to) = (Host::new(shape, 1024, |_, _| 1), Host::new(shape, 1024, |_, _| 1));
    let (from, to) = (from.region(), to.region());
    // The copies take 35 ms each way, and the kernels 41 ms.
    let fits = |took: &Duration| {
        assert!(*took >= Duration::from_millis(41), "{took:?}");
        *took < Duration::from_millis(60)
    };
    tries_until(fits, || {
        timed(|| {
            let events = [
                device.transfer(&Transfer::In { from, to: region(0, shape, 1024) }, &[]),
                device.transfer(&Transfer::Out { from: region(8 << 20, shape, 1024), to }, &[]),
                device.kernel(0, &[], cost(40e6, 0.0), |_| Ok(())),
            ];
            events.into_iter().for_each(|event| drop(device.ends_well(event.unwrap())));
        })
    });
}

#[test]
fn copies_in_one_direction_share_link() {
    let device = one(slow());
    let mut host = Host::new((1000, 1000), 1024, |_, _| 1);
    let copy = Transfer::In { from: host.region(), to: region(0, (1000, 1000), 1024) };
    let begun = Instant::now();
    let copies = [0, 1].map(|_| device.transfer(&copy, &[]).unwrap());
    copies.into_iter().for_each(|copied| drop(device.ends_well(copied)));
    assert!(begun.elapsed() >= Duration::from_millis(30));
}

#[test]
fn copy_is_invisible_before_its_end() {
    let host_link = LinkInfo { bytes_per_s: 0.0, latency_ns: 500_000_000 };
    let device = one(Spec { host_link, ..Spec::new("a") });
    let mut host = Host::new((1000, 1000), 1024, |_, _| 1);
    let copied = device.transfer(&Transfer::In { from: host.region(), to: region(0, (1000, 1000), 1024) }, &[]);
    let early = device.kernel(0, &[], Cost::default(), crate::driving::expect(0, 1000, 0)).unwrap();
    let late = device.kernel(0, &[copied.unwrap()], Cost::default(), crate::driving::expect(0, 1000, 1)).unwrap();
    device.ends_well(early);
    device.ends_well(late);
}

#[test]
fn unequal_devices_take_unequal_times() {
    // Speeds of 10 : 8 : 5, one kernel on each device at once.
    let devices = start(&parse("sim:0..3").unwrap());
    let model_ns = [20_010_000, 25_010_000, 40_010_000];
    let fits = |busy_ns: &Vec<u64>| {
        assert!(busy_ns.iter().zip(model_ns).all(|(&busy_ns, model_ns)| busy_ns >= model_ns), "{busy_ns:?}");
        *busy_ns == model_ns
    };
    tries_until(fits, || {
        devices
            .iter()
            .map(|device| device.kernel(0, &[], cost(40e6, 0.0), |_| Ok(())).unwrap())
            .zip(&devices)
            .map(|(event, device): (_, &Driven)| device.ends_well(event).busy_ns.unwrap())
            .collect()
    });
}

#[test]
fn wait_ends_by_end_wake_or_timeout() {
    let device = one(slow());
    let begun = Instant::now();
    device.device.wait(Duration::from_millis(20));
    assert!(begun.elapsed() >= Duration::from_millis(20));
    device.device.wake();
    device.device.wait(crate::driving::LONG);
    let kernel = device.kernel(0, &[], cost(20e6, 0.0), |_| Ok(())).unwrap();
    device.device.wait(crate::driving::LONG);
    device.ends_well(kernel);
    assert!(begun.elapsed() < crate::driving::LONG);
}

#[test]
fn an_idle_machine_sleeps() {
    let status = in_child("time::an_idle_machine_sleeps", || {
        let devices = start(&parse("sim:0..4").unwrap());
        // One device with work that waits, one in the middle of a long kernel.
        devices[0].gate(true);
        let held = devices[0].idle_kernel(0, &[]).unwrap();
        devices[1].idle_kernel(0, &[held]).unwrap();
        devices[2].kernel(0, &[], cost(1e9, 0.0), |_| Ok(())).unwrap();
        let used = || clock_gettime(ClockId::ProcessCPUTime);
        let before = used();
        std::thread::sleep(Duration::from_millis(500));
        let after = used();
        let used_ns = (after.tv_sec - before.tv_sec) * 1_000_000_000 + after.tv_nsec - before.tv_nsec;
        assert!(used_ns < 20_000_000, "{used_ns}");
    });
    assert!(status.is_none_or(|status| status.success()), "{status:?}");
}
