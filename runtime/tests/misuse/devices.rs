//! Misuse of devices: by a policy, and by wrong descriptions of devices.

use super::test_device::{Machine, Spec, queue};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};
use superscalar_runtime::{
    Codelet, Device, DeviceError, DeviceInfo, DeviceKind, Error, ErrorKind, Event, Finished, Issue, Operand, Outlook,
    Place, Policy, ReadyTask, Resource, Runtime, Speed, TaskFilter, Updates,
};

const ALPHA: &str = "alpha";

/// Returns a codelet `x = 31 x + parameter` for the device.
fn step() -> Codelet<Updates<u64>, u64> {
    Codelet::new("step").on_device(DeviceKind(ALPHA), |context, x: Operand<u64>, parameter: &u64| {
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

/// A policy that gives any task to any thread, and claims to keep tasks for a device that does not exist.
#[derive(Default)]
struct Indifferent(Mutex<VecDeque<ReadyTask>>);

impl Policy for Indifferent {
    fn name(&self) -> &'static str {
        "indifferent"
    }

    fn push(&self, _: Place, task: ReadyTask, _: &dyn Outlook) -> Option<Resource> {
        self.0.lock().expect("no panic").push_back(task);
        Some(Resource(u16::MAX))
    }

    fn take(&self, _: Place, _: &TaskFilter<'_>) -> Option<ReadyTask> {
        self.0.lock().expect("no panic").pop_front()
    }
}

/// The second task of each pair could run on the host as soon as the first has ended on its device, and not before.
#[test]
fn host_does_not_run_ahead_of_device() -> Result<(), Error> {
    for _ in 0..10 {
        let devices = Machine::start(&[Spec { depth: 1, queues: 1, ..Spec::new(ALPHA) }]);
        let builder = Runtime::builder().workers(2).weights_file(None).device(devices[0].clone());
        let rt = builder.custom_policy(|_| Box::<Indifferent>::default()).build()?;
        let (mut x, ran) = (1, Arc::new(AtomicU32::new(0)));
        devices[0].gate(true);
        rt.scope(|s| {
            let (x, ran_on_host) = (s.lend(&mut x), ran.clone());
            let on_device = step();
            let either = on_device.clone().on_host(move |x: &mut u64, parameter: &u64| {
                ran_on_host.fetch_add(1, Ordering::SeqCst);
                *x = x.wrapping_mul(31).wrapping_add(*parameter);
                Ok(())
            });
            for i in 0..10 {
                if i % 2 == 0 { &on_device } else { &either }.spawn(s, x.read_write(), i);
            }
            assert!(devices[0].await_issued(1));
            std::thread::sleep(Duration::from_millis(5));
            assert_eq!(ran.load(Ordering::SeqCst), 0, "the host ran before the device had finished");
            devices[0].gate(false);
        })?;
        assert_eq!(x, (0..10).fold(1, |x: u64, i| x.wrapping_mul(31).wrapping_add(i)));
    }
    Ok(())
}

/// A device that has a description and takes no work.
struct Described(DeviceInfo);

impl Described {
    fn build(devices: impl IntoIterator<Item = (&'static str, u16)>) -> Result<Runtime, Error> {
        let builder = Runtime::builder().workers(1).weights_file(None);
        let describe = |(kind, queues): (&'static str, u16)| {
            let (kind, speed) = (DeviceKind(kind), Speed::default());
            Self(DeviceInfo { name: kind.0.to_owned(), kind, queues, urgent_queues: 0, depth: 1, memory: None, speed })
        };
        let devices = devices.into_iter().map(describe);
        devices.fold(builder, |builder, device| builder.device(Arc::new(device))).build()
    }
}

// SAFETY: it takes no work, so it touches no data.
unsafe impl Device for Described {
    fn info(&self) -> DeviceInfo {
        self.0.clone()
    }

    fn can_wait_for(&self, _: u16) -> bool {
        true
    }

    fn issue(&self, _: u16, _: &[Event], _: Issue<'_>) -> Result<u64, DeviceError> {
        Err(DeviceError::new("the device takes no work"))
    }

    fn poll(&self, _: &mut dyn FnMut(Finished)) {}

    fn wait(&self, _: Duration) {
        std::thread::sleep(Duration::from_millis(1));
    }

    fn wake(&self) {}
}

#[test]
fn device_of_another_runtime_is_refused() -> Result<(), Error> {
    let device = Machine::start(&[Spec::new(ALPHA)])[0].clone();
    let build = |devices: usize| {
        let builder = Runtime::builder().workers(1).weights_file(None);
        (0..devices).fold(builder, |builder, _| builder.device(device.clone())).build()
    };
    let mut x = 1;
    let first = build(1)?;
    for devices in 1..=2 {
        let error = build(devices).map(drop).expect_err("the device belongs to the first runtime");
        assert!(error.kind() == ErrorKind::Setting && error.to_string().contains("already used"), "{error}");
    }
    first.scope(|s| step().spawn(s, s.lend(&mut x).read_write(), 2))?;
    drop(first);
    assert_eq!(build(2).map(drop).expect_err("the device is given twice").kind(), ErrorKind::Setting);
    // The refused runtimes have not kept the device.
    build(1)?.scope(|s| step().spawn(s, s.lend(&mut x).read_write(), 3))?;
    assert_eq!(x, (31 + 2) * 31 + 3);
    Ok(())
}

#[test]
fn too_many_kinds_or_queues_are_refused() {
    const NAMES: &str = "................................";
    let kinds: Vec<&'static str> = (1..=NAMES.len()).map(|len| &NAMES[..len]).collect();
    let each = |kinds: &[&'static str]| Described::build(kinds.iter().map(|&kind| (kind, 1)).collect::<Vec<_>>());
    let error = each(&kinds).map(drop).expect_err("32 kinds are too many");
    assert!(error.kind() == ErrorKind::Setting && error.to_string().contains("kinds"), "{error}");
    assert!(each(&kinds[1..]).is_ok());
    for (queues, is_valid) in [(0, false), (1021, true), (1022, false), (u16::MAX, false)] {
        assert_eq!(Described::build([(ALPHA, queues)]).is_ok(), is_valid, "{queues} queues");
    }
}

/// Runs only in a child process of the next test: a device is lost, and the host runs its task.
#[test]
fn child_loses_a_device() {
    if std::env::var_os("SUPERSCALAR_TEST_LOSES").is_none() {
        return;
    }
    let rt = Lost::build().expect("threads");
    let mut x = 1;
    let either = step().on_host(|x: &mut u64, _: &u64| {
        *x += 1;
        Ok(())
    });
    rt.scope(|s| either.spawn(s, s.lend(&mut x).read_write(), 0)).expect("the host has run the task");
    assert_eq!(x, 2);
    assert!(matches!(&rt.notices()[..], [one] if one.contains("lost")), "{:?}", rt.notices());
}

/// A notice that cannot be printed does not stop the program.
#[cfg(target_os = "linux")]
#[test]
fn notices_survive_full_standard_error() {
    let mut command = std::process::Command::new(std::env::current_exe().expect("the path of this test"));
    command.args(["devices::child_loses_a_device", "--exact", "--nocapture"]).env("SUPERSCALAR_TEST_LOSES", "1");
    let full = std::fs::File::options().write(true).open("/dev/full").expect("`/dev/full` exists on Linux");
    let mut child = command.stdout(std::process::Stdio::piped()).stderr(full).spawn().expect("a process");
    for _ in 0..1000 {
        if let Some(status) = child.try_wait().expect("a child") {
            let said = std::io::read_to_string(child.stdout.take().expect("a pipe")).expect("text");
            assert!(status.success() && said.contains("1 passed"), "{status}: {said}");
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().expect("a running child");
    panic!("the child hangs");
}

/// A device that is lost when it is first given work.
struct Lost(Described);

impl Lost {
    fn build() -> Result<Runtime, Error> {
        let (kind, speed) = (DeviceKind(ALPHA), Speed { flops_per_s: 1e12, ..Speed::default() });
        let info = DeviceInfo { name: "lost".into(), kind, queues: 1, urgent_queues: 0, depth: 1, memory: None, speed };
        let builder = Runtime::builder().workers(1).weights_file(None).host_helps(false);
        builder.device(Arc::new(Self(Described(info)))).build()
    }
}

// SAFETY: it takes no work, so it touches no data.
unsafe impl Device for Lost {
    fn info(&self) -> DeviceInfo {
        self.0.info()
    }

    fn can_wait_for(&self, _: u16) -> bool {
        true
    }

    fn issue(&self, _: u16, _: &[Event], _: Issue<'_>) -> Result<u64, DeviceError> {
        Err(DeviceError::lost("the device is gone"))
    }

    fn poll(&self, _: &mut dyn FnMut(Finished)) {}

    fn wait(&self, at_most: Duration) {
        self.0.wait(at_most);
    }

    fn wake(&self) {}
}
