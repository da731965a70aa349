//! Misuse by users: it is refused with an error that says why, or fails its task. It never hangs the program, and
//! aborts it only if a policy panics.

mod counts;
mod devices;
mod foreign;
mod reentry;
#[path = "../test_device/mod.rs"]
mod test_device;

use std::{
    process::Command,
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};
use superscalar_runtime::{
    Error, ErrorKind, Outlook, Place, Policy, PolicyName, ReadyTask, Reduction, Resource, Runtime, TaskFilter,
};

fn runtime(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).build().expect("threads")
}

/// Panics without printing a message.
fn quiet_panic() -> ! {
    std::panic::resume_unwind(Box::new("quiet"))
}

#[test]
fn handle_named_twice_is_refused() -> Result<(), Error> {
    let rt = runtime(2);
    let mut x = 1;
    rt.scope(|s| {
        let x = s.lend(&mut x);
        s.spawn("both", (x.read(), x.read()), |(a, b)| assert_eq!(a, b));
        let refused = s.try_spawn("twice", (x.read(), x.read_write()), |_| ()).unwrap_err();
        assert_eq!((refused.kind(), refused.task()), (ErrorKind::Refused, Some("twice")));
        assert!(refused.to_string().contains("twice") && refused.to_string().contains(file!()), "{refused}");
        s.spawn("still", x.read_write(), |x| *x += 1);
    })?;
    assert_eq!(x, 2);
    let cancelled = rt.scope(|s| {
        let x = s.lend(&mut x);
        s.spawn("twice", [x.write(), x.write()], |_| ());
    });
    assert_eq!(cancelled.unwrap_err().kind(), ErrorKind::Refused);
    Ok(())
}

#[test]
fn repeated_handle_in_long_list_is_refused() -> Result<(), Error> {
    let rt = runtime(1);
    let mut data = [0; 40];
    rt.scope(|s| {
        let data: Vec<_> = data.iter_mut().map(|x| s.lend(x)).collect();
        for (first, second) in [(0, 39), (15, 16), (16, 17), (38, 39), (0, 1)] {
            let mut all: Vec<_> = data.iter().map(|x| x.read_write()).collect();
            all[second] = data[first].read_write();
            assert_eq!(s.try_spawn("many", all, |_| ()).unwrap_err().kind(), ErrorKind::Refused);
        }
        let all: Vec<_> = data.iter().map(|x| x.read_write()).collect();
        s.spawn("many", all, |all| all.into_iter().for_each(|x| *x = 1));
        let same: Vec<_> = (0..40).map(|_| data[7].read()).collect();
        s.spawn("same", same, |same| assert!(same.iter().all(|x| **x == 1)));
    })?;
    assert_eq!(data, [1; 40]);
    Ok(())
}

#[test]
fn handle_of_another_level_is_refused() -> Result<(), Error> {
    let rt = runtime(2);
    let outer = Arc::new(rt.register(1));
    let (rt, named) = (&rt, outer.clone());
    rt.scope(|s| {
        s.spawn("body", (), move |()| {
            let refused = rt.scope(|s| s.try_spawn("inner", named.read(), |_| ()).map(drop)).unwrap();
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::Refused);
        });
    })?;
    Ok(())
}

#[test]
fn waiting_outside_a_body_is_refused() -> Result<(), Error> {
    let rt = Arc::new(runtime(1));
    let handle = rt.register(7);
    let inside = rt.clone();
    rt.spawn("waits", (), move |()| {
        assert_eq!(inside.wait().unwrap_err().kind(), ErrorKind::Refused);
        assert_eq!(inside.spawn("more", (), |()| ()).unwrap_err().kind(), ErrorKind::Refused);
        let taken = handle.take().unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::Refused);
    })?;
    rt.wait()
}

#[test]
fn refused_task_may_own_handles() -> Result<(), Error> {
    let rt = runtime(1);
    let (named, captured) = (rt.register(1), rt.register(2));
    let refused = rt.spawn("twice", (named.read(), named.write()), move |_| drop(captured));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(named.take()?, 1);
    rt.wait()
}

#[test]
fn panicking_scope_joins_its_tasks() {
    let rt = runtime(2);
    let ran = AtomicU32::new(0);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = rt.scope(|s| {
            for _ in 0..100 {
                s.spawn("counts", (), |()| _ = ran.fetch_add(1, Ordering::SeqCst));
            }
            quiet_panic();
        });
    }));
    assert!(panicked.is_err());
    assert_eq!(ran.load(Ordering::SeqCst), 100);
    assert_eq!(rt.scope(|_| 5).unwrap(), 5);
}

/// A value that panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            quiet_panic();
        }
    }
}

#[derive(Debug)]
struct BombError(Bomb);

impl std::fmt::Debug for Bomb {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Bomb")
    }
}

impl std::fmt::Display for BombError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a bomb")
    }
}

impl std::error::Error for BombError {}

#[test]
fn panicking_drops_fail_only_their_task() -> Result<(), Error> {
    let rt = runtime(2);
    let bomb = Bomb;
    let failed = rt.scope(|s| s.spawn("captures", (), move |()| drop(bomb))).unwrap_err();
    assert_eq!(failed.kind(), ErrorKind::TaskPanicked);
    // In a value that the scope owns, and in one that a handle owns.
    rt.scope(|s| s.spawn("owned", s.own(Bomb).read(), |_| ()))?;
    let handle = rt.register(Bomb);
    rt.spawn("reads", handle.read(), |_| ())?;
    drop(handle);
    rt.wait()?;
    // In the captures of a cancelled task.
    let bomb = Bomb;
    let cancelled = rt.scope(|s| {
        s.cancel();
        s.spawn("cancelled", (), move |()| drop(bomb));
    });
    assert_eq!(cancelled.unwrap_err().kind(), ErrorKind::Cancelled);
    // The runtime still works.
    let mut x = 0;
    rt.scope(|s| s.spawn("fine", s.lend(&mut x).write(), |x| *x = 1))?;
    assert_eq!(x, 1);
    Ok(())
}

#[test]
fn panicking_error_drops_keep_workers() {
    let rt = runtime(2);
    for _ in 0..20 {
        let mut data = [0; 8];
        let result = rt.scope(|s| {
            for x in data.iter_mut() {
                let x = s.lend(x);
                s.spawn("fails", x.read_write(), |_| Err::<(), _>(BombError(Bomb)));
                s.spawn("writes", x.write(), |x| *x = 1);
            }
        });
        assert_eq!(result.as_ref().unwrap_err().kind(), ErrorKind::TaskFailed);
        let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(result)));
        drop(dropped);
        assert_eq!(data, [1; 8]);
    }
}

/// A reduction whose steps panic on request.
struct Fragile;

static FRAGILE: AtomicU32 = AtomicU32::new(0);

impl Reduction<u64> for Fragile {
    fn identity() -> u64 {
        if FRAGILE.load(Ordering::SeqCst) == 1 { quiet_panic() } else { 0 }
    }

    fn combine(into: &mut u64, part: u64) {
        if FRAGILE.load(Ordering::SeqCst) == 2 { quiet_panic() } else { *into += part }
    }
}

#[test]
fn panicking_reductions_fail_the_scope() -> Result<(), Error> {
    let rt = runtime(2);
    for (when, fails) in [(0, false), (1, true), (2, true), (0, false)] {
        FRAGILE.store(when, Ordering::SeqCst);
        let mut x = 0;
        let result = rt.scope(|s| {
            let x = s.lend(&mut x);
            (0..10).for_each(|i| s.spawn("add", x.reduce(Fragile), move |x| *x += i));
        });
        assert_eq!(result.is_err(), fails, "{result:?}");
        if !fails {
            assert_eq!(x, 45);
        }
    }
    Ok(())
}

#[test]
fn panicking_factories_keep_values_correct() -> Result<(), Error> {
    let rt = runtime(2);
    let failed = rt.scope(|s| {
        let pool = s.scratch(|| -> u64 { quiet_panic() });
        s.spawn("scratch", pool.access(), |_| ());
    });
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::TaskPanicked);
    for round in 0..50 {
        let (mut x, mut y, mut seen) = (0, 0, Vec::new());
        rt.scope(|s| {
            let (y, seen) = (s.lend(&mut y), s.lend(&mut seen));
            let x = s.lend(&mut x).renaming(|| -> u64 { quiet_panic() });
            for i in 0..5 {
                s.spawn("write", (y.read_write(), x.write()), move |(y, x)| {
                    *y += 1;
                    *x = i;
                });
                s.spawn("read", (x.read(), seen.read_write()), |(x, seen): (&u64, &mut Vec<u64>)| {
                    std::thread::yield_now();
                    seen.push(*x);
                });
            }
        })?;
        assert_eq!((x, y, seen), (4, 5, vec![0, 1, 2, 3, 4]), "round {round}");
    }
    Ok(())
}

#[test]
fn invalid_settings_are_named() {
    for builder in [Runtime::builder().workers(0), Runtime::builder().workers(5000)] {
        let error = builder.build().map(drop).unwrap_err();
        assert!(error.kind() == ErrorKind::Setting && error.to_string().contains("workers"), "{error}");
    }
    let error = Runtime::builder().window(0).build().map(drop).unwrap_err();
    assert!(error.kind() == ErrorKind::Setting && error.to_string().contains("window"), "{error}");
}

/// Runs only in a child process of the next test: builds a runtime with settings from the environment.
#[test]
fn child_builds_a_runtime() {
    let Some(expected) = std::env::var_os("SUPERSCALAR_TEST_EXPECTS") else { return };
    match Runtime::new() {
        Ok(rt) => {
            assert_eq!(expected, "fine");
            assert_eq!((rt.workers(), rt.policy()), (3, PolicyName::WorkStealing.as_str()));
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Setting);
            assert!(error.to_string().contains(expected.to_str().unwrap()), "{error}");
        }
    }
}

#[test]
fn environment_errors_name_the_variable() {
    let this = std::env::current_exe().unwrap();
    let child = |expects: &str, variables: &[(&str, &str)]| {
        let mut command = Command::new(&this);
        command.args(["child_builds_a_runtime", "--exact"]).env("SUPERSCALAR_TEST_EXPECTS", expects);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        // The count is checked, because a filter without a match succeeds, too.
        assert!(output.status.success() && said.contains("1 passed"), "{expects}: {said}");
    };
    for (variable, value) in [
        ("SUPERSCALAR_WORKERS", "0"),
        ("SUPERSCALAR_WORKERS", "many"),
        ("SUPERSCALAR_WORKERS", "-1"),
        ("SUPERSCALAR_BIND", "maybe"),
        ("SUPERSCALAR_POLICY", "random"),
        ("SUPERSCALAR_WINDOW", " "),
        ("SUPERSCALAR_WINDOW", "99999999999999999999"),
    ] {
        child(variable, &[(variable, value)]);
    }
    let fine = [("SUPERSCALAR_WORKERS", "3"), ("SUPERSCALAR_POLICY", "work-stealing")];
    child("fine", &fine);
    // An empty variable counts as not set.
    let empty = ["BIND", "WINDOW", "TRACE", "TRACE_MEMORY", "WEIGHTS"].map(|name| format!("SUPERSCALAR_{name}"));
    child("fine", &[&fine[..], &empty.each_ref().map(|name| (name.as_str(), ""))].concat());
}

/// A policy that gives any task to any thread.
#[derive(Default)]
struct Indifferent(Mutex<Vec<ReadyTask>>);

impl Policy for Indifferent {
    fn name(&self) -> &'static str {
        "indifferent"
    }

    fn push(&self, _: Place, task: ReadyTask, _: &dyn Outlook) -> Option<Resource> {
        self.0.lock().unwrap().push(task);
        None
    }

    fn take(&self, _: Place, _: &TaskFilter<'_>) -> Option<ReadyTask> {
        self.0.lock().unwrap().pop()
    }
}

/// A guest is given the only worker's tasks, which must go back to it, and no task is lost. (In a round in which the
/// understudy has the worker's seat, either thread may run them.)
#[test]
fn policy_ignoring_wants_loses_no_task() {
    let rt = Runtime::builder().workers(1).custom_policy(|_| Box::<Indifferent>::default()).build().unwrap();
    for _ in 0..20 {
        let (inserted, waited) = (Barrier::new(2), Barrier::new(2));
        let (mut ours, mut theirs) = (0u64, 0u64);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                inserted.wait();
                rt.scope(|s| s.spawn("guest", s.lend(&mut theirs).write(), |x| *x = 1)).unwrap();
                waited.wait();
            });
            let run = rt.scope(|s| {
                let x = s.lend(&mut ours);
                for _ in 0..10 {
                    s.spawn("own", x.read_write(), |x| *x += 1);
                }
                inserted.wait();
                waited.wait();
            });
            run.unwrap();
        });
        assert_eq!((ours, theirs), (10, 1));
    }
}
