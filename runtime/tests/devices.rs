//! The device protocol with asynchronous test devices: two releases, events, late binding, failures, shutdown.

mod test_device;

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicU32, Ordering},
};
use std::{
    collections::HashSet,
    time::{Duration, Instant},
};
use superscalar_runtime::{
    Codelet, Cost, DeviceError, DeviceKind, Error, ErrorKind, Lock, Operand, PolicyName, Reads, Resource, Runtime,
    TaskSpec, Updates, WeightSource,
};
use test_device::{Machine, Spec, TestDevice, queue};

const ALPHA: &str = "alpha";

fn runtime(workers: usize, devices: &[Arc<TestDevice>]) -> Runtime {
    let builder = Runtime::builder().workers(workers).weights_file(None);
    devices.iter().fold(builder, |builder, device| builder.device(device.clone())).build().expect("threads")
}

/// Returns a codelet `x = 31 x + parameter` for this kind of device.
fn step(kind: &'static str) -> Codelet<Updates<u64>, u64> {
    Codelet::new("step").on_device(DeviceKind(kind), |context, x: Operand<u64>, parameter: &u64| {
        let parameter = *parameter;
        queue(context)?.put(move || {
            // SAFETY: the queue runs the work when its events are reached, and the scope waits for it.
            let x = unsafe { &mut *x.as_ptr() };
            *x = x.wrapping_mul(31).wrapping_add(parameter);
            Ok(())
        });
        Ok(())
    })
}

/// Returns a codelet `y += x` for this kind of device.
fn add(kind: &'static str) -> Codelet<(Reads<u64>, Updates<u64>), ()> {
    Codelet::new("add").on_device(DeviceKind(kind), |context, (x, y): (Operand<u64>, Operand<u64>), ()| {
        queue(context)?.put(move || {
            // SAFETY: the queue runs the work when its events are reached, and the scope waits for it.
            unsafe { *y.as_ptr() = (*y.as_ptr()).wrapping_add(*x.as_ptr()) };
            Ok(())
        });
        Ok(())
    })
}

fn chain(length: u64) -> u64 {
    (0..length).fold(1, |x: u64, i| x.wrapping_mul(31).wrapping_add(i))
}

#[test]
fn chain_is_issued_at_once() -> Result<(), Error> {
    let devices = Machine::start(&[Spec { depth: 100, queues: 1, ..Spec::new(ALPHA) }]);
    let rt = runtime(1, &devices);
    let mut x = 1;
    devices[0].gate(true);
    rt.scope(|s| {
        let (x, step) = (s.lend(&mut x), step(ALPHA));
        (0..50).for_each(|i| step.spawn(s, x.read_write(), i));
        assert!(devices[0].await_issued(50), "only {} of 50 are issued behind the gate", devices[0].issued());
        assert_eq!(devices[0].finished(), 0);
        devices[0].gate(false);
    })?;
    assert_eq!(x, chain(50));
    Ok(())
}

/// The issuer also issues the task that its last one has made ready for another, idle device.
#[test]
fn alternating_chain_stays_with_one_issuer() -> Result<(), Error> {
    let mut issuers = Vec::new();
    for _ in 0..20 {
        let devices = Machine::start(&[ALPHA, "beta"].map(|kind| Spec { depth: 100, ..Spec::new(kind) }));
        let rt = runtime(2, &devices);
        let (mut x, is_free) = (1, Arc::new(AtomicBool::new(false)));
        let threads = Arc::new(Mutex::new(Vec::new()));
        devices.iter().for_each(|device| device.gate(true));
        rt.scope(|s| {
            let x = s.lend(&mut x);
            // The first task is held, so that all are inserted before it can be issued.
            let is_free_now = is_free.clone();
            s.spawn("hold", x.read_write(), move |_: &mut u64| {
                while !is_free_now.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
            });
            for i in 0..40 {
                let threads = threads.clone();
                let kind = if i % 2 == 0 { ALPHA } else { "beta" };
                let step =
                    Codelet::new("step").on_device(DeviceKind(kind), move |context, x: Operand<u64>, i: &u64| {
                        threads.lock().expect("no panic").push(std::thread::current().id());
                        let i = *i;
                        queue(context)?.put(move || {
                            // SAFETY: the queue runs the work when its events are reached, and the scope waits for it.
                            unsafe { *x.as_ptr() = (*x.as_ptr()).wrapping_mul(31).wrapping_add(i) };
                            Ok(())
                        });
                        Ok(())
                    });
                step.spawn(s, x.read_write(), i);
            }
            is_free.store(true, Ordering::SeqCst);
            assert!(devices.iter().all(|device| device.await_issued(20)), "all are issued behind the gates");
            devices.iter().for_each(|device| device.gate(false));
        })?;
        assert_eq!(x, chain(40));
        let threads: HashSet<_> = threads.lock().expect("no panic").iter().copied().collect();
        issuers.push(threads.len());
    }
    // The other issuer may happen to be awake.
    assert!(issuers.contains(&1), "issuers of each chain: {issuers:?}");
    Ok(())
}

#[test]
fn late_task_is_issued_at_once() -> Result<(), Error> {
    let devices = Machine::start(&[Spec::new(ALPHA)]);
    let rt = runtime(2, &devices);
    let mut x = 0;
    // Longer than an issuer spins, and shorter than its timeouts.
    std::thread::sleep(Duration::from_millis(20));
    let start = Instant::now();
    for i in 0..20 {
        rt.scope(|s| step(ALPHA).spawn(s, s.lend(&mut x).read_write(), i))?;
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(start.elapsed() < Duration::from_secs(3), "20 tasks took {:?}", start.elapsed());
    Ok(())
}

#[test]
fn diamond_is_ordered_by_events() -> Result<(), Error> {
    for round in 0..50 {
        let spec = Spec { delay_us_max: 50, depth: 100, ..Spec::new(ALPHA) };
        let devices = Machine::start(&[spec.clone(), Spec { kind: DeviceKind("beta"), ..spec }]);
        let rt = runtime(1, &devices);
        let (mut top, mut left, mut right, mut bottom) = (1, 0, 0, 0);
        devices.iter().for_each(|device| device.gate(true));
        rt.scope(|s| {
            let (top, left) = (s.lend(&mut top), s.lend(&mut left));
            let (right, bottom) = (s.lend(&mut right), s.lend(&mut bottom));
            step(ALPHA).spawn(s, top.read_write(), round);
            add(ALPHA).spawn(s, (top.read(), left.read_write()), ());
            add("beta").spawn(s, (top.read(), right.read_write()), ());
            add("beta").spawn(s, (left.read(), bottom.read_write()), ());
            add(ALPHA).spawn(s, (right.read(), bottom.read_write()), ());
            step("beta").spawn(s, bottom.read_write(), 1);
            assert!(devices[0].await_issued(3) && devices[1].await_issued(3), "all six are issued behind the gates");
            devices.iter().for_each(|device| device.gate(false));
        })?;
        assert_eq!(bottom, 2 * (31 + round) * 31 + 1);
    }
    Ok(())
}

#[test]
fn host_tasks_wait_for_device_work() -> Result<(), Error> {
    let devices = Machine::start(&[Spec { delay_us_max: 300, ..Spec::new(ALPHA) }]);
    let rt = runtime(2, &devices);
    let (mut x, mut seen) = (1, Vec::new());
    rt.scope(|s| {
        let (x, seen) = (s.lend(&mut x), s.lend(&mut seen));
        for i in 0..20 {
            step(ALPHA).spawn(s, x.read_write(), i);
            s.spawn("look", (x.read(), seen.read_write()), |(x, seen): (&u64, &mut Vec<u64>)| seen.push(*x));
        }
    })?;
    assert_eq!(seen, (1..=20).map(chain).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn busy_device_leaves_tasks_to_the_host() -> Result<(), Error> {
    PolicyName::ALL.into_iter().try_for_each(leaves_tasks_to_the_host)
}

fn leaves_tasks_to_the_host(policy: PolicyName) -> Result<(), Error> {
    let devices = Machine::start(&[Spec { depth: 2, ..Spec::new(ALPHA) }]);
    let builder = Runtime::builder().workers(2).policy(policy).weights_file(None);
    let rt = builder.device(devices[0].clone()).build()?;
    let on_host = Arc::new(AtomicU32::new(0));
    let counted = on_host.clone();
    let both = step(ALPHA).on_host(move |x, parameter: &u64| {
        *x = x.wrapping_mul(31).wrapping_add(*parameter);
        counted.fetch_add(1, Ordering::SeqCst);
        Ok(())
    });
    let mut data = [1; 40];
    devices[0].gate(true);
    rt.scope(|s| {
        for x in data.iter_mut() {
            both.spawn(s, s.lend(x).read_write(), 7);
        }
        let until = Instant::now() + Duration::from_secs(10);
        while on_host.load(Ordering::SeqCst) < 38 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        devices[0].gate(false);
    })?;
    assert_eq!(data, [38; 40]);
    let (on_host, on_device) = (on_host.load(Ordering::SeqCst), devices[0].finished());
    assert_eq!(on_host + on_device, 40);
    assert!(on_device <= 2 && on_host >= 38, "{policy}: {on_device} on the device, {on_host} on the host");
    Ok(())
}

#[test]
fn task_durations_become_weights() -> Result<(), Error> {
    let devices = Machine::start(&[Spec { delay_us_max: 200, ..Spec::new(ALPHA) }]);
    let rt = runtime(1, &devices);
    let cost = |_: &u64| Cost { flops: 1e6, bytes: 1e3, level: None };
    let both = step(ALPHA).cost(cost).on_host(|x, parameter: &u64| {
        *x += parameter;
        Ok(())
    });
    let mut data = [0; 20];
    rt.scope(|s| {
        for (i, x) in data.iter_mut().enumerate() {
            let lock = if i < 10 { Lock::Device } else { Lock::Host };
            both.spawn_as(s, TaskSpec::new("weighed").lock(lock), s.lend(x).read_write(), 1);
        }
    })?;
    for (resource, name) in [(Resource::HOST, "host"), (Resource::device(0), "alpha:0")] {
        let weights = rt.capability_weights();
        let weight = weights.iter().find(|weight| weight.resource == resource).expect("a measured weight");
        assert_eq!((weight.name.as_str(), weight.kernel.as_str()), (name, "weighed"));
        assert!((1..=10).contains(&weight.samples), "{weight:?}");
        assert_eq!(weight.source, WeightSource::Measured);
        assert!(weight.rate > 0.0 && (weight.flops / 1e6 - 1.0).abs() < 1e-6, "{weight:?}");
        let same = rt.capability_weight(resource, "weighed", cost(&0));
        assert!((same.rate / weight.rate - 1.0).abs() < 1e-6, "{same:?} instead of {weight:?}");
    }
    assert_eq!(rt.capability_weight(Resource::HOST, "unknown", cost(&0)).source, WeightSource::Assumed);
    assert!(rt.notices().is_empty());
    Ok(())
}

#[test]
fn locks_bind_to_the_host_or_to_devices() -> Result<(), Error> {
    let devices = Machine::start(&[Spec::new(ALPHA)]);
    let rt = runtime(2, &devices);
    let both = step(ALPHA).on_host(|x, parameter: &u64| {
        *x += parameter;
        Ok(())
    });
    let mut data = [0; 20];
    rt.scope(|s| {
        for (i, x) in data.iter_mut().enumerate() {
            let lock = if i < 10 { Lock::Device } else { Lock::Host };
            both.spawn_as(s, TaskSpec::new("bound").lock(lock), s.lend(x).read_write(), 1);
        }
    })?;
    assert_eq!(devices[0].finished(), 10);
    Ok(())
}

#[test]
fn codelet_without_a_resource_is_refused() -> Result<(), Error> {
    let devices = Machine::start(&[Spec::new(ALPHA)]);
    let rt = runtime(1, &devices);
    let mut x = 0;
    let refused = rt.scope(|s| step("gamma").spawn(s, s.lend(&mut x).read_write(), 1)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused);
    let refused = rt.scope(|s| {
        let x = s.lend(&mut x);
        step(ALPHA).try_spawn_as(s, TaskSpec::new("here").lock(Lock::Host), x.read_write(), 1).map(drop)
    })?;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Refused);
    Ok(())
}

/// The stage at which a task fails.
#[derive(Clone, Copy, Debug, PartialEq)]
enum At {
    Issue,
    Completion,
    Panic,
}

#[test]
fn failure_poisons_issued_successors() -> Result<(), Error> {
    for at in [At::Issue, At::Completion, At::Panic] {
        for gated in [false, true] {
            let devices = Machine::start(&[Spec { depth: 100, ..Spec::new(ALPHA) }]);
            let rt = runtime(2, &devices);
            let (mut x, mut y, host_ran) = (1, 1, AtomicBool::new(false));
            devices[0].gate(gated);
            let bad = Codelet::<Updates<u64>, ()>::new("bad").on_device(DeviceKind(ALPHA), move |context, _, ()| {
                match at {
                    At::Issue => return Err(DeviceError::new("no")),
                    At::Completion => queue(context)?.put(|| Err(DeviceError::new("no"))),
                    At::Panic => queue(context)?.put(|| std::panic::resume_unwind(Box::new("no"))),
                }
                Ok(())
            });
            let error = rt
                .scope(|s| {
                    let (x, y) = (s.lend(&mut x), s.lend(&mut y));
                    bad.spawn(s, x.read_write(), ());
                    (0..5).for_each(|i| step(ALPHA).spawn(s, x.read_write(), i));
                    s.spawn("after", x.read(), |_: &u64| host_ran.store(true, Ordering::SeqCst));
                    (0..5).for_each(|i| step(ALPHA).spawn(s, y.read_write(), i));
                    if gated && at != At::Issue {
                        assert!(devices[0].await_issued(11), "all tasks but the host's are issued");
                    }
                    devices[0].gate(false);
                })
                .unwrap_err();
            assert_eq!((error.kind(), error.task()), (ErrorKind::Device, Some("bad")), "{at:?}");
            assert!(!host_ran.load(Ordering::SeqCst), "{at:?}: the host's task used a poisoned value");
            assert_eq!(y, chain(5), "{at:?}: independent work is done");
        }
    }
    Ok(())
}

#[test]
fn a_panicking_implementation_fails_its_task() {
    let devices = Machine::start(&[Spec::new(ALPHA)]);
    let rt = runtime(1, &devices);
    let bad = Codelet::<Updates<u64>, ()>::new("bad")
        .on_device(DeviceKind(ALPHA), |_, _, ()| std::panic::resume_unwind(Box::new("while issuing")));
    let mut x = 0;
    let error = rt.scope(|s| bad.spawn(s, s.lend(&mut x).read_write(), ())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Device);
}

#[test]
fn cancelled_scope_waits_for_the_device() {
    let devices = Machine::start(&[Spec { depth: 3, queues: 1, delay_us_max: 100, ..Spec::new(ALPHA) }]);
    let rt = runtime(2, &devices);
    let mut x = 1;
    devices[0].gate(true);
    let error = rt
        .scope(|s| {
            let x = s.lend(&mut x);
            (0..30).for_each(|i| step(ALPHA).spawn(s, x.read_write(), i));
            assert!(devices[0].await_issued(3));
            s.cancel();
            devices[0].gate(false);
        })
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert_eq!(devices[0].finished(), devices[0].issued(), "the queue is empty");
    assert!(devices[0].issued() < 30, "tasks that were not issued are cancelled");
}

#[test]
fn device_without_waits_gets_tasks_later() -> Result<(), Error> {
    let first = Spec { depth: 50, delay_us_max: 50, ..Spec::new(ALPHA) };
    let second = Spec { kind: DeviceKind("beta"), waits_for: Vec::new(), ..first.clone() };
    let devices = Machine::start(&[first, second]);
    let rt = runtime(1, &devices);
    let (mut x, mut y) = (1, 0);
    devices[0].gate(true);
    rt.scope(|s| {
        let (x, y) = (s.lend(&mut x), s.lend(&mut y));
        for i in 0..10 {
            step(ALPHA).spawn(s, x.read_write(), i);
            add("beta").spawn(s, (x.read(), y.read_write()), ());
        }
        assert!(devices[0].await_issued(1));
        std::thread::sleep(Duration::from_millis(10));
        assert_eq!(devices[1].issued(), 0, "the second device cannot wait for the first");
        devices[0].gate(false);
    })?;
    assert_eq!(y, (1..=10).map(chain).fold(0, u64::wrapping_add));
    Ok(())
}

/// The queues of the tasks in a step of a factorization.
struct StepQueues {
    panel: u16,
    updates: Vec<u16>,
    next_panel: u16,
}

/// Runs a step of a factorization: a panel, an update of each other column, and the next panel after the first update.
/// Returns the queues of the panel, of the updates, and of the next panel.
fn queues_of_a_step(urgent_queues: u16, priority: i32) -> Result<StepQueues, Error> {
    const UPDATES: usize = 6;
    let devices = Machine::start(&[Spec { depth: 100, queues: 4, urgent_queues, ..Spec::new(ALPHA) }]);
    let rt = runtime(1, &devices);
    let mut columns = [1; UPDATES + 1];
    devices[0].gate(true);
    rt.scope(|s| {
        let columns: Vec<_> = columns.iter_mut().map(|column| s.lend(column)).collect();
        let (step, add) = (step(ALPHA), add(ALPHA));
        step.spawn_as(s, TaskSpec::new("panel").priority(priority), columns[0].read_write(), 1);
        columns[1..].iter().for_each(|column| add.spawn(s, (columns[0].read(), column.read_write()), ()));
        // By then everything else is in the queues.
        assert!(devices[0].await_issued(UPDATES as u32 + 1));
        step.spawn_as(s, TaskSpec::new("panel").priority(priority), columns[1].read_write(), 1);
        assert!(devices[0].await_issued(UPDATES as u32 + 2));
        devices[0].gate(false);
    })?;
    assert_eq!((columns[0], columns[1], columns[2]), (32, 33 * 31 + 1, 33));
    let queues = devices[0].queues();
    Ok(StepQueues { panel: queues[0], updates: queues[1..=UPDATES].to_vec(), next_panel: queues[UPDATES + 1] })
}

#[test]
fn next_panel_skips_unrelated_updates() -> Result<(), Error> {
    let StepQueues { panel, updates, next_panel } = queues_of_a_step(0, 0)?;
    let all: std::collections::BTreeSet<u16> = updates.iter().copied().collect();
    assert_eq!(all.len(), 4, "updates are spread over all queues: {updates:?}");
    assert_eq!((updates[0], next_panel), (panel, panel), "a task continues the queue of its predecessor");
    assert!(!updates[1..].contains(&panel), "unrelated updates precede the next panel: {updates:?}");
    Ok(())
}

#[test]
fn urgent_tasks_use_the_urgent_queue() -> Result<(), Error> {
    let StepQueues { panel, updates, next_panel } = queues_of_a_step(1, 4)?;
    assert_eq!((panel, next_panel), (0, 0));
    assert!(!updates.contains(&0), "an ordinary task is in the urgent queue: {updates:?}");
    Ok(())
}

#[test]
fn long_chain_ends_before_first_report() -> Result<(), Error> {
    const LENGTH: u64 = 4000;
    let devices = Machine::start(&[Spec::new(ALPHA), Spec { kind: DeviceKind("beta"), ..Spec::new(ALPHA) }]);
    let rt = runtime(1, &devices);
    let mut x = 1;
    devices[0].mute(true);
    rt.scope(|s| {
        let (x, later) = (s.lend(&mut x), step("beta"));
        step(ALPHA).spawn(s, x.read_write(), 0);
        (1..LENGTH).for_each(|i| later.spawn(s, x.read_write(), i));
        assert!(devices[1].await_issued(LENGTH as u32 - 1), "{} are issued", devices[1].issued());
        while devices[1].finished() < LENGTH as u32 - 1 {
            std::thread::sleep(Duration::from_millis(1));
        }
        // The issuer has probably noticed all ends by then.
        std::thread::sleep(Duration::from_millis(50));
        devices[0].mute(false);
    })?;
    assert_eq!(x, chain(LENGTH));
    Ok(())
}

#[test]
fn runtime_releases_its_devices() -> Result<(), Error> {
    for _ in 0..20 {
        let devices = Machine::start(&[Spec::new(ALPHA), Spec::new("beta"), Spec::new(ALPHA)]);
        let rt = runtime(2, &devices);
        let mut x = 1;
        rt.scope(|s| {
            let x = s.lend(&mut x);
            (0..10).for_each(|i| step(if i % 2 == 0 { ALPHA } else { "beta" }).spawn(s, x.read_write(), i));
        })?;
        assert_eq!(x, chain(10));
        drop(rt);
        assert!(devices.iter().all(|device| Arc::strong_count(device) == 1), "the runtime still holds a device");
    }
    Ok(())
}

#[test]
fn unsaved_weights_are_in_the_trace() -> Result<(), Error> {
    let folder = std::env::temp_dir().join(format!("superscalar-not-kept-{}", std::process::id()));
    let (weights, trace) = (folder.join("weights.json"), folder.join("trace.json"));
    // A folder at the path of the lock file makes saving fail.
    std::fs::create_dir_all(folder.join("weights.json.lock")).expect("a folder");
    let devices = Machine::start(&[Spec::new(ALPHA)]);
    let builder = Runtime::builder().workers(1).weights_file(Some(weights)).trace_file(&trace);
    let rt = builder.device(devices[0].clone()).build()?;
    let (mut x, step) = (1, step(ALPHA).cost(|_| Cost { flops: 1e6, bytes: 1e4, level: None }));
    // Outliers restart the estimate, so repeat until a weight has enough samples.
    while !rt.capability_weights().iter().any(|weight| weight.samples >= 8) {
        rt.scope(|s| step.spawn(s, s.lend(&mut x).read_write(), 0))?;
    }
    assert!(rt.notices().is_empty());
    drop(rt);
    let text = std::fs::read_to_string(&trace).expect("a trace");
    std::fs::remove_dir_all(&folder).expect("a folder");
    assert!(text.contains("capability weights are not kept"), "{}", &text[text.len().saturating_sub(500)..]);
    Ok(())
}
