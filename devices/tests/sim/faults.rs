//! Injected faults: each kind, at each of the first calls.

use crate::driving::{Driven, Host, LONG, one, region, set, start, start_at};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::channel,
    },
    time::Duration,
};
use superscalar_devices::sim::{Direction, Fault, Point, SimQueue, Spec};
use superscalar_runtime::{Cost, Device, DeviceError, DeviceMemory, Event, LinkInfo, Transfer};

const CALLS: u64 = 5;
const POINTS: [Point; 8] = [
    Point::CopyCall(Direction::In),
    Point::CopyCall(Direction::Out),
    Point::CopyCall(Direction::Peer),
    Point::Copy(Direction::In),
    Point::Copy(Direction::Out),
    Point::Copy(Direction::Peer),
    Point::Launch,
    Point::Kernel,
];

fn linked(fault: Fault) -> Vec<Driven> {
    let mut spec = Spec::new("a");
    spec.peers = vec![(1, LinkInfo { bytes_per_s: 0.0, latency_ns: 0 })];
    spec.faults = [fault].into();
    start(&[spec, Spec::new("b")])
}

/// Reaches a point once. Returns its error, whether it was returned immediately or reported.
fn reach(device: &Driven, point: Point, host: &mut Host) -> Result<(), DeviceError> {
    let at = region(0, (64, 1), 64);
    let event = match point {
        Point::Reserve => unreachable!("it is reached once, and has its own test"),
        Point::Launch | Point::Kernel => device.kernel(0, &[], Cost::default(), set(0, 64, 1)),
        Point::CopyCall(Direction::In) | Point::Copy(Direction::In) => {
            device.transfer(&Transfer::In { from: host.region(), to: at }, &[])
        }
        Point::CopyCall(Direction::Out) | Point::Copy(Direction::Out) => {
            device.transfer(&Transfer::Out { from: at, to: host.region() }, &[])
        }
        Point::CopyCall(Direction::Peer) | Point::Copy(Direction::Peer) => {
            device.transfer(&Transfer::Peer { device: 1, from: at, to: at }, &[])
        }
    };
    let is_refused_at_once = matches!(point, Point::CopyCall(_) | Point::Launch);
    let was_lost = device.is_lost();
    match event {
        Err(error) => {
            assert!(is_refused_at_once || was_lost, "{point:?}: {error}");
            Err(error)
        }
        Ok(event) => device.end(event).result,
    }
}

#[test]
fn faults_strike_at_their_call() {
    for point in POINTS {
        for nth in 1..=CALLS {
            for (fault, strikes) in [(Fault::once(point, nth), nth..=nth), (Fault::forever(point, nth), nth..=CALLS)] {
                let devices = linked(fault);
                let mut host = Host::new((64, 1), 64, |_, _| 3);
                for call in 1..=CALLS {
                    let result = reach(&devices[0], point, &mut host);
                    assert_eq!(result.is_err(), strikes.contains(&call), "{fault:?} at {call}: {result:?}");
                    assert!(!devices[0].is_lost());
                }
                let counters = devices[0].counters();
                assert_eq!(counters.failed + counters.refused, strikes.count() as u64);
                assert_eq!(counters.in_flight(), 0);
            }
        }
    }
}

#[test]
fn lost_device_stays_lost() {
    for point in POINTS {
        for nth in 1..=CALLS {
            let devices = linked(Fault::once(point, nth).losing());
            let mut host = Host::new((64, 1), 64, |_, _| 3);
            for call in 1..=CALLS {
                let result = reach(&devices[0], point, &mut host);
                assert_eq!(result.is_err(), call >= nth, "{point:?} {nth} at {call}: {result:?}");
                assert!(result.is_ok() || result.is_err_and(|error| error.is_lost()));
            }
            assert!(devices[0].is_lost() && !devices[1].is_lost());
            assert!(devices[0].reserve().is_err_and(|error| error.is_lost()));
            assert_eq!(devices[0].counters().in_flight(), 0);
            devices[1].ends_well(devices[1].idle_kernel(0, &[]).unwrap());
        }
    }
}

#[test]
fn failed_reservation_can_be_repeated() {
    let spec = |fault: Fault| Spec { faults: [fault].into(), ..Spec::new("a") };
    let device = start_at(0, &[spec(Fault::once(Point::Reserve, 1))]).remove(0);
    assert!(device.reserve().is_err_and(|error| !error.is_lost()));
    assert!(device.reserve().is_ok());
    let device = start_at(0, &[spec(Fault::forever(Point::Reserve, 1))]).remove(0);
    assert!(device.reserve().is_err() && device.reserve().is_err());
    let device = start_at(0, &[spec(Fault::once(Point::Reserve, 1).losing())]).remove(0);
    assert!(device.reserve().is_err_and(|error| error.is_lost()));
    assert!(device.idle_kernel(0, &[]).is_err_and(|error| error.is_lost()));
}

#[test]
fn refused_launch_refuses_the_task() {
    let device = one(Spec { faults: [Fault::once(Point::Launch, 2)].into(), ..Spec::new("a") });
    let ran = Arc::new(AtomicBool::new(false));
    let issued = device.device.issue(0, &[], &mut |queue| {
        let queue = queue.downcast_mut::<SimQueue>().unwrap();
        for _ in 0..2 {
            let ran = ran.clone();
            // The implementation ignores the refusal.
            let _ = queue.launch(Cost::default(), move |_| {
                ran.store(true, Ordering::SeqCst);
                Ok(())
            });
        }
        Ok(())
    });
    assert!(issued.is_err());
    device.ends_well(device.idle_kernel(0, &[]).unwrap());
    assert!(!ran.load(Ordering::SeqCst), "nothing of a refused task runs");
}

#[test]
fn errors_and_panics_of_kernels_are_reported() {
    let device = one(Spec::new("a"));
    let panicked = device.kernel(0, &[], Cost::default(), |_| panic!("on purpose")).unwrap();
    assert!(device.ends_badly(panicked).to_string().contains("on purpose"));
    struct Grenade;
    impl Drop for Grenade {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                panic!("when dropped");
            }
        }
    }
    let payload = device.kernel(0, &[], Cost::default(), |_| std::panic::panic_any(Grenade)).unwrap();
    assert!(device.ends_badly(payload).to_string().contains("panicked"));
    let outcome = device
        .kernel(0, &[], Cost::default(), |_| Err(DeviceError::outcome(std::io::Error::other("not positive definite"))));
    assert_eq!(device.ends_badly(outcome.unwrap()).to_string(), "not positive definite");
    let lost = device.kernel(0, &[], Cost::default(), |_| Err(DeviceError::lost("it fell out"))).unwrap();
    let behind = device.idle_kernel(1, &[lost]);
    assert!(device.ends_badly(lost).is_lost() && device.is_lost());
    let behind = behind.map(|behind| device.ends_badly(behind));
    assert!(behind.unwrap_or_else(|refusal| refusal).is_lost());
}

#[test]
fn panic_in_dropped_kernel_is_contained() {
    struct Grenade;
    impl Drop for Grenade {
        fn drop(&mut self) {
            panic!("when dropped");
        }
    }
    let device = one(Spec::new("a"));
    let ticket = device.device.issue(0, &[], &mut |queue| {
        let queue = queue.downcast_mut::<SimQueue>().unwrap();
        let grenade = Grenade;
        queue.launch(Cost::default(), |_| Err(DeviceError::new("the first fails")))?;
        queue.launch(Cost::default(), move |_| {
            std::mem::forget(grenade);
            Ok(())
        })
    });
    let failed = device.event(0, ticket.unwrap());
    assert_eq!(device.ends_badly(failed).to_string(), "the first fails");
    device.ends_well(device.idle_kernel(0, &[]).unwrap());
}

/// Issues tasks and copies on several queues of a device, each waiting for the one before.
fn chain(device: &Driven, host: &mut Host) -> Vec<Event> {
    let at = region(0, (64, 4), 64);
    let mut events: Vec<Event> = Vec::new();
    for round in 0..4 {
        let waits = events.last().copied();
        let waits = waits.as_slice();
        let next = match round {
            0 => device.transfer(&Transfer::In { from: host.region(), to: at }, waits),
            1 => device.idle_kernel(0, waits),
            2 => device.idle_kernel(1, waits),
            _ => device.transfer(&Transfer::Out { from: at, to: host.region() }, waits),
        };
        events.push(next.unwrap());
    }
    events
}

#[test]
fn work_of_lost_device_ends() {
    for is_gated in [false, true] {
        let devices = start(&[Spec::new("a"), Spec::new("b")]);
        let (a, b) = (&devices[0], &devices[1]);
        a.gate(is_gated);
        let mut host = Host::new((64, 4), 64, |_, _| 3);
        let ((started, has_started), (release, may_end)) = (channel(), channel());
        let slow = a.kernel(0, &[], Cost::default(), move |_| {
            started.send(()).map_err(DeviceError::outcome)?;
            may_end.recv_timeout(LONG).map_err(DeviceError::outcome)
        });
        let slow = slow.unwrap();
        let behind = a.idle_kernel(0, &[]).unwrap();
        let events = chain(a, &mut host);
        let elsewhere = b.idle_kernel(0, &[events[3], behind]).unwrap();
        if !is_gated {
            has_started.recv_timeout(LONG).unwrap();
        }
        a.lose();
        // If the kernel has not started, the receiver is gone.
        let _ = release.send(());
        // The first copy waits for nothing, and may have ended before.
        for &event in events[usize::from(!is_gated)..].iter().chain([&slow, &behind]) {
            assert!(a.ends_badly(event).is_lost(), "{event:?}");
        }
        // Work of another device that waits for lost work ends, and fails without that device being lost.
        assert!(!b.ends_badly(elsewhere).is_lost());
        a.drained();
        // The tickets of each queue are reported in order, once each.
        for queue in 0..5 {
            let reports = a.reports();
            let tickets = reports.iter().filter(|report| report.queue == queue).map(|report| report.ticket);
            assert!(tickets.clone().eq(1..=tickets.count() as u64));
        }
        assert!(a.idle_kernel(0, &[]).is_err_and(|error| error.is_lost()));
    }
}

#[test]
fn lost_device_writes_no_host_memory() {
    // A copy that waits for its modelled time, and one that is moving bytes.
    for link in [LinkInfo { bytes_per_s: 1e9, latency_ns: 5_000_000_000 }, LinkInfo { bytes_per_s: 0.0, latency_ns: 0 }]
    {
        let shape = (1 << 20, 48);
        let device = one(Spec { host_link: link, ..Spec::new("a") });
        let mut host = Host::new(shape, 1 << 20, |_, _| 0xEE);
        let copied = device.transfer(&Transfer::Out { from: region(0, shape, 1 << 20), to: host.region() }, &[]);
        std::thread::sleep(Duration::from_millis(1));
        device.lose();
        let copied_bytes =
            |host: &Host| (0..48).map(|at| host.column(at).iter().filter(|&&byte| byte == 0).count()).sum();
        let before: usize = copied_bytes(&host);
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(copied_bytes(&host), before);
        if link.latency_ns > 0 {
            assert_eq!(before, 0, "nothing is copied before the copy's time is over");
        }
        let result = device.end(copied.unwrap()).result;
        assert!(result.is_ok() && before == 48 << 20 || result.is_err_and(|error| error.is_lost()));
    }
}

#[test]
fn copy_from_lost_peer_fails() {
    let devices = linked(Fault::once(Point::Reserve, 99));
    let at = region(0, (64, 1), 64);
    devices[0].gate(true);
    let copied = devices[0].transfer(&Transfer::Peer { device: 1, from: at, to: at }, &[]).unwrap();
    devices[1].lose();
    devices[0].gate(false);
    let error = devices[0].ends_badly(copied);
    assert!(!error.is_lost() && error.to_string().contains("`b` is lost"), "{error}");
    devices[0].ends_well(devices[0].idle_kernel(0, &[]).unwrap());
}

#[test]
fn faults_can_come_later() {
    let device = one(Spec::new("a"));
    device.ends_well(device.idle_kernel(0, &[]).unwrap());
    device.inject(Fault::once(Point::Kernel, 2));
    device.ends_well(device.idle_kernel(0, &[]).unwrap());
    assert!(!device.ends_badly(device.idle_kernel(0, &[]).unwrap()).is_lost());
    device.ends_well(device.idle_kernel(0, &[]).unwrap());
}
