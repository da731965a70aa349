//! User code that runs, panics or calls the runtime while the runtime is in the middle of an operation.

use super::{
    Bomb, BombError, quiet_panic, runtime,
    test_device::{Machine, Spec, queue},
};
use std::{
    process::Command,
    sync::{
        Arc, Barrier, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use superscalar_runtime::{
    BoundOf, Codelet, Commute, DeviceError, DeviceKind, Error, ErrorKind, Handle, Outlook, Place, Policy, PolicyName,
    ReadyTask, Resource, Runtime, TaskFilter, Updates,
};

/// A correct policy that panics when its flag is set.
struct Panics(Box<dyn Policy>, Arc<AtomicBool>);

impl Policy for Panics {
    fn name(&self) -> &'static str {
        "panics"
    }

    fn push(&self, by: Place, task: ReadyTask, outlook: &dyn Outlook) -> Option<Resource> {
        self.0.push(by, task, outlook)
    }

    fn take(&self, by: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        if self.1.load(Ordering::SeqCst) {
            quiet_panic();
        }
        self.0.take(by, want)
    }

    fn steal(&self, by: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        self.0.steal(by, want)
    }
}

/// Set in the environment of the child process of the test below.
const CHILD: &str = "MISUSE_POLICY_PANICS";

/// Runs only in the child process: its policy panics.
#[test]
fn child_leaves_a_scope_by_a_panic() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let panics = Arc::new(AtomicBool::new(false));
    let flag = panics.clone();
    let policy = |places| Box::new(Panics(PolicyName::Fifo.build(places), flag)) as Box<dyn Policy>;
    let rt = Runtime::builder().workers(2).bind(false).custom_policy(policy).build().expect("threads");
    let begun = Barrier::new(2);
    let left = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut x = 0;
        let _ = rt.scope(|s| {
            s.spawn("long", s.lend(&mut x).write(), |x| {
                begun.wait();
                std::thread::sleep(Duration::from_secs(5));
                *x = 1;
            });
            begun.wait();
            panics.store(true, Ordering::SeqCst);
        });
    }));
    // Here `x` is gone, but the task still writes it.
    println!("the scope was left: {}", left.is_err());
    std::process::exit(0);
}

#[test]
fn panicking_policy_aborts_the_process() {
    let output = Command::new(std::env::current_exe().expect("the path of this test"))
        .args(["--exact", "reentry::child_leaves_a_scope_by_a_panic", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .expect("the test starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("a policy has panicked"), "{:?}: {said}", output.status);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("the scope was left"));
}

#[test]
fn panicking_codelet_drops_keep_workers() -> Result<(), Error> {
    type Commutes = BoundOf<Commute<'static, 'static, u64>>;
    let rt = runtime(2);
    for round in 0..20 {
        let (mut data, is_cancelled) = ([0; 10], round % 2 == 1);
        let result = rt.scope(|s| {
            if is_cancelled {
                s.cancel();
            }
            for x in &mut data {
                let x = s.lend(x);
                let bomb = Bomb;
                let codelet = Codelet::<Commutes, ()>::new("last").on_host(move |x, ()| {
                    let _ = &bomb;
                    *x += 1;
                    Ok(())
                });
                codelet.spawn(s, x.commute(), ());
                // Usually the task drops the last reference.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(codelet)));
            }
        });
        // Whether the task or the program drops the last reference depends on timing.
        let kinds = [ErrorKind::TaskPanicked, ErrorKind::Cancelled];
        assert!(result.as_ref().map_or_else(|error| kinds.contains(&error.kind()), |()| !is_cancelled), "{result:?}");
        assert_eq!(data, [u64::from(!is_cancelled); 10]);
    }
    Ok(())
}

/// A factory owns a handle and is replaced by another factory.
#[test]
fn former_factory_may_own_handles() -> Result<(), Error> {
    let rt = runtime(1);
    let other = rt.register(1);
    let first = move || {
        let _ = &other;
        1
    };
    let x = rt.register(0).renaming(first).renaming(|| 2);
    rt.spawn("write", x.write(), |x| *x = 3)?;
    assert_eq!(x.take()?, 3);
    Ok(())
}

/// A factory drops a handle, or names one in a task, while the lock that both need is held for the write that calls it.
#[test]
fn factory_may_use_handles() -> Result<(), Error> {
    let rt = Arc::new(runtime(2));
    for drops in [true, false] {
        let (inner, calls) = (Arc::downgrade(&rt), Arc::new(AtomicUsize::new(0)));
        let (own, counts) = (Mutex::new(Some(rt.register(1))), calls.clone());
        let x = rt.register(0).renaming(move || {
            counts.fetch_add(1, Ordering::SeqCst);
            let handle = own.lock().unwrap_or_else(PoisonError::into_inner).take();
            match (handle, inner.upgrade()) {
                (Some(handle), Some(rt)) if !drops => {
                    rt.scope(|s| s.spawn("inner", handle.read(), |_| ())).expect("refused or done");
                }
                _ => {}
            }
            7
        });
        let (begun, may_end) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let barriers = (begun.clone(), may_end.clone());
        rt.spawn("busy", x.read_write(), move |_| {
            barriers.0.wait();
            barriers.1.wait();
        })?;
        begun.wait();
        rt.spawn("write", x.write(), |x| *x = 3)?;
        may_end.wait();
        assert_eq!((x.take()?, calls.load(Ordering::SeqCst)), (3, 1));
    }
    Ok(())
}

/// A device's work returns an outcome that panics when the device's issuer drops it in a cancelled scope.
#[test]
fn panicking_outcome_drops_keep_issuers() {
    const KIND: &str = "device";
    let devices = Machine::start(&[Spec::new(KIND)]);
    let rt = Runtime::builder().workers(1).weights_file(None).device(devices[0].clone()).build().expect("threads");
    let fails = Codelet::<Updates<u64>, ()>::new("fails").on_device(DeviceKind(KIND), |context, _, ()| {
        queue(context)?.put(|| Err(DeviceError::outcome(BombError(Bomb))));
        Ok(())
    });
    for is_cancelled in [true, false] {
        let mut data = [0; 8];
        devices[0].gate(true);
        let result = rt.scope(|s| {
            data.iter_mut().for_each(|x| fails.spawn(s, s.lend(x).read_write(), ()));
            if is_cancelled {
                // Wait until a task is in the queues.
                while rt.tasks_issued()[0] == 0 {
                    std::thread::yield_now();
                }
                s.cancel();
            }
            devices[0].gate(false);
        });
        let expected = if is_cancelled { ErrorKind::Cancelled } else { ErrorKind::TaskFailed };
        assert_eq!(result.unwrap_err().kind(), expected);
    }
}

/// A value that, when it is dropped, waits for a task that names the handle.
struct Waits(Arc<Runtime>, Arc<Handle<u64>>, Arc<AtomicBool>);

impl Drop for Waits {
    fn drop(&mut self) {
        let Self(rt, handle, was_refused) = self;
        let result = rt.scope(|s| s.try_spawn("inner", handle.read(), |_| ()).map(drop));
        let is_refused = result.is_ok_and(|inner| inner.is_err_and(|error| error.kind() == ErrorKind::Refused));
        was_refused.store(is_refused, Ordering::SeqCst);
    }
}

/// The captures of a body are dropped at the body's level, whether or not it runs, so a wait for the outer level is
/// refused.
#[test]
fn cancelled_captures_drop_at_body_level() -> Result<(), Error> {
    let rt = Arc::new(runtime(2));
    let handle = Arc::new(rt.register(1));
    for is_cancelled in [false, true] {
        let was_refused = Arc::new(AtomicBool::new(false));
        let waits = Waits(rt.clone(), handle.clone(), was_refused.clone());
        let result = rt.scope(|s| {
            if is_cancelled {
                s.cancel();
            }
            s.spawn("owns", handle.read_write(), move |_| drop(waits));
        });
        assert_eq!(result.is_err(), is_cancelled);
        assert!(was_refused.load(Ordering::SeqCst), "cancelled: {is_cancelled}");
    }
    Ok(())
}

/// A policy that inserts its own tasks on the seat that has just finished a task with many successors.
struct Inserts(Box<dyn Policy>, Arc<std::sync::OnceLock<Arc<Runtime>>>, AtomicBool);

impl Policy for Inserts {
    fn name(&self) -> &'static str {
        "inserts"
    }

    fn push(&self, by: Place, task: ReadyTask, outlook: &dyn Outlook) -> Option<Resource> {
        if let Some(rt) = self.1.get()
            && !self.2.swap(true, Ordering::SeqCst)
        {
            let mut sum = 0;
            let inserted = rt.scope(|s| {
                let sum = s.lend(&mut sum);
                (0..100).for_each(|_| s.spawn("read", sum.read(), |_| ()));
                s.spawn("write", sum.write(), |sum| *sum = 1);
            });
            assert!(inserted.is_ok() && sum == 1);
            self.2.store(false, Ordering::SeqCst);
        }
        self.0.push(by, task, outlook)
    }

    fn take(&self, by: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        self.0.take(by, want)
    }

    fn steal(&self, by: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        self.0.steal(by, want)
    }
}

#[test]
fn policy_that_inserts_tasks() -> Result<(), Error> {
    let cell = Arc::new(std::sync::OnceLock::new());
    let own = cell.clone();
    let policy = |places| {
        Box::new(Inserts(PolicyName::WorkStealing.build(places), own, AtomicBool::new(false))) as Box<dyn Policy>
    };
    let rt = Arc::new(Runtime::builder().workers(1).bind(false).custom_policy(policy).build()?);
    assert!(cell.set(rt.clone()).is_ok());
    let (mut x, mut y) = (0, vec![0; 100]);
    rt.scope(|s| {
        let x = s.lend(&mut x);
        s.spawn("write", x.write(), |x| *x = 1);
        for y in &mut y {
            s.spawn("read", (x.read(), s.lend(y).write()), |(x, y)| *y = *x);
        }
    })?;
    assert_eq!(y, [1; 100]);
    // The policy and the runtime own each other.
    std::mem::forget(rt);
    Ok(())
}
