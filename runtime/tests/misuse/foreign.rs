//! Handles and tasks of one runtime used in another: they are refused, and no task is lost.

use super::runtime;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};
use superscalar_runtime::{Error, ErrorKind, Outlook, Place, Policy, ReadyTask, Resource, Runtime, TaskFilter};

fn never_runs() {
    unreachable!("the task was refused");
}

/// Checks that an error reports a handle of another runtime.
fn assert_foreign(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.to_string().contains("a handle of another runtime"), "{error}");
}

#[test]
fn lent_handle_of_another_runtime_is_refused() -> Result<(), Error> {
    let (a, b) = (runtime(2), runtime(2));
    let mut x = 1;
    a.scope(|s| {
        let x = s.lend(&mut x);
        s.spawn("own", x.read_write(), |x| *x += 1);
        b.scope(|t| {
            assert_foreign(&t.try_spawn("foreign", x.read_write(), |_| never_runs()).unwrap_err());
            assert_foreign(&t.try_spawn("in a list", vec![x.read(), x.read()], |_| never_runs()).unwrap_err());
            assert_foreign(&t.wait_for(x.read()).unwrap_err());
        })?;
        let cancelled = b.scope(|t| t.spawn("foreign", x.read_write(), |_| never_runs()));
        assert_foreign(&cancelled.unwrap_err());
        s.spawn("own", x.read_write(), |x| *x += 1);
        Ok::<(), Error>(())
    })??;
    assert_eq!(x, 3);
    Ok(())
}

#[test]
fn result_of_another_runtime_is_refused() -> Result<(), Error> {
    let (a, b) = (runtime(2), runtime(2));
    a.scope(|s| {
        let text = s.compute("text", (), |()| "x".repeat(40));
        b.scope(|t| assert_foreign(&t.try_spawn("foreign", text.read(), |_| never_runs()).unwrap_err()))
    })?
}

#[test]
fn registered_handle_of_another_runtime_is_refused() -> Result<(), Error> {
    let (a, b) = (runtime(2), runtime(2));
    let x = a.register(1);
    assert_foreign(&b.spawn("foreign", x.read_write(), |_| never_runs()).unwrap_err());
    b.scope(|t| assert_foreign(&t.try_spawn("foreign", x.write(), |_| never_runs()).unwrap_err()))?;
    a.spawn("own", x.read_write(), |x| *x += 1)?;
    assert_eq!(x.take()?, 2);
    b.wait()
}

/// Both bodies have the level number one, each in its own runtime.
#[test]
fn handle_of_a_body_of_another_runtime_is_refused() -> Result<(), Error> {
    let (a, b) = (Arc::new(runtime(1)), Arc::new(runtime(1)));
    let (inside_a, inside_b) = (a.clone(), b.clone());
    a.scope(|s| {
        s.spawn("a", (), move |()| {
            let x = inside_a.register(1);
            let inner = inside_b.clone();
            inside_b.scope(|t| {
                t.spawn("b", (), move |()| {
                    inner.scope(|u| {
                        assert_foreign(&u.try_spawn("foreign", x.read_write(), |_| never_runs()).unwrap_err());
                    })
                });
            })
        });
    })
}

/// A policy shared by several runtimes that gives the oldest task to any thread that asks.
#[derive(Clone, Default)]
struct Common(Arc<Mutex<VecDeque<ReadyTask>>>);

impl Policy for Common {
    fn name(&self) -> &'static str {
        "common"
    }

    fn push(&self, _: Place, task: ReadyTask, _: &dyn Outlook) -> Option<Resource> {
        self.0.lock().unwrap().push_back(task);
        // This device does not exist.
        Some(Resource::device(7))
    }

    fn take(&self, _: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        let mut tasks = self.0.lock().unwrap();
        // `accepts` must work for tasks of any runtime.
        tasks.iter().for_each(|task| _ = want.accepts(task));
        tasks.pop_front()
    }
}

/// A policy that returns a simulated task with the id of each real one before the real one.
#[derive(Default)]
struct Forger {
    tasks: Mutex<(VecDeque<ReadyTask>, bool)>,
}

impl Policy for Forger {
    fn name(&self) -> &'static str {
        "forger"
    }

    fn push(&self, _: Place, task: ReadyTask, outlook: &dyn Outlook) -> Option<Resource> {
        let forged = ReadyTask::simulated(task.id(), task.priority());
        assert!(outlook.forecast(&forged, Resource::HOST).is_none() && outlook.owner(&forged).is_none());
        self.tasks.lock().unwrap().0.push_back(task);
        None
    }

    fn take(&self, _: Place, want: &TaskFilter<'_>) -> Option<ReadyTask> {
        let (tasks, has_forged) = &mut *self.tasks.lock().unwrap();
        let forged = tasks.front().map(|task| ReadyTask::simulated(task.id(), task.priority()))?;
        _ = want.accepts(&forged);
        *has_forged = !*has_forged;
        if *has_forged { Some(forged) } else { tasks.pop_front() }
    }
}

/// There are as many tasks as initial slots, so each simulated task seems to be in a slot.
#[test]
fn simulated_tasks_are_not_run() -> Result<(), Error> {
    for workers in [1, 3] {
        let make = |_| Box::new(Forger::default()) as Box<dyn Policy>;
        let rt = Runtime::builder().workers(workers).bind(false).custom_policy(make).build()?;
        let mut runs = vec![0; 64];
        rt.scope(|s| {
            for run in &mut runs {
                s.spawn("count", s.lend(run).read_write(), |run| *run += 1);
            }
        })?;
        assert_eq!(runs, vec![1; 64]);
    }
    Ok(())
}

fn with_policy(common: &Common, workers: usize) -> Runtime {
    let common = common.clone();
    let rt = Runtime::builder().workers(workers).bind(false).custom_policy(|_| Box::new(common)).build();
    // The workers look for tasks before they fall asleep, and would find those of the test first.
    std::thread::sleep(Duration::from_millis(50));
    rt.expect("threads")
}

#[test]
fn foreign_task_fails_its_scope() -> Result<(), Error> {
    let common = Common::default();
    let (a, b) = (with_policy(&common, 1), with_policy(&common, 1));
    let (mut x, mut y) = (0, 0);
    let failed = a.scope(|s| {
        s.spawn("first", s.lend(&mut x).write(), |x| *x = 1);
        // This scope waits for its own task, and is first given the other runtime's.
        b.scope(|t| t.spawn("second", t.lend(&mut y).write(), |y| *y = 1))
    });
    let error = failed.unwrap_err();
    assert_eq!((error.kind(), error.task()), (ErrorKind::Refused, Some("first")));
    assert!(error.to_string().contains("policy `common`"), "{error}");
    assert_eq!((x, y), (0, 1));
    // Both runtimes work again when used one at a time.
    a.scope(|s| s.spawn("again", s.lend(&mut x).write(), |x| *x = 2))?;
    assert_eq!(x, 2);
    Ok(())
}

/// The scope of background tasks lives as long as the runtime, so it must not stay cancelled.
#[test]
fn background_scope_recovers_from_foreign_task() -> Result<(), Error> {
    let common = Common::default();
    let (a, b) = (with_policy(&common, 1), with_policy(&common, 1));
    // The worker of `a` is busy, so that the other runtime's thread is the first to look.
    let mut y = 0;
    let (begun, may_end) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
    std::thread::scope(|threads| {
        threads.spawn(|| {
            a.scope(|_| {
                begun.wait();
                may_end.wait();
            })
        });
        begun.wait();
        a.spawn("first", (), |()| ()).expect("a valid task");
        b.scope(|t| t.spawn("second", t.lend(&mut y).write(), |y| *y = 1)).expect("its own task succeeds");
        may_end.wait();
    });
    assert_eq!(a.wait().unwrap_err().kind(), ErrorKind::Refused);
    // The worker of `b` might take another task.
    drop(b);
    let ran = Arc::new(Mutex::new(0));
    let counts = ran.clone();
    a.spawn("fails", (), |()| Err::<(), _>("on purpose"))?;
    a.spawn("independent", (), move |()| *counts.lock().unwrap() += 1)?;
    assert_eq!((a.wait().unwrap_err().kind(), *ran.lock().unwrap(), y), (ErrorKind::TaskFailed, 1, 1));
    Ok(())
}

#[test]
fn policy_shared_by_busy_runtimes_loses_no_task() {
    let common = Common::default();
    std::thread::scope(|threads| {
        for _ in 0..3 {
            let rt = with_policy(&common, 2);
            threads.spawn(move || {
                for _ in 0..50 {
                    let mut sums = [0; 8];
                    let result = rt.scope(|s| {
                        for sum in &mut sums {
                            let sum = s.lend(sum);
                            (0..20).for_each(|i| s.spawn("add", sum.read_write(), move |sum| *sum += i));
                        }
                    });
                    match result {
                        Ok(()) => assert_eq!(sums, [190; 8]),
                        Err(error) => assert_eq!(error.kind(), ErrorKind::Refused, "{error}"),
                    }
                }
            });
        }
    });
}
