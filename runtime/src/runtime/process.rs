//! The runtime of the process: started at first use and shared by all code that names no other.

use super::Runtime;
use crate::panics::catch_panic;
use std::{
    sync::{Arc, Mutex, MutexGuard, Once, PoisonError, TryLockError},
    time::Duration,
};

/// The runtime, and the process that started it: a child made by `fork` has the value but none of the threads.
struct Started {
    process: u32,
    runtime: Arc<Runtime>,
}

static STARTED: Mutex<Option<Started>> = Mutex::new(None);

fn started() -> MutexGuard<'static, Option<Started>> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the runtime of this process, and starts it if there is none yet. If several threads come first, one of
/// them runs `start`, and the others wait for it.
///
/// The runtime is never dropped. When the process ends, its trace is completed and its capability weights are saved,
/// but tasks that are still running are not waited for: call [`Runtime::wait`] first. A child made by `fork` gets a
/// runtime of its own, unless another thread was inside of this function during the fork. `start` must not call this
/// function.
///
/// # Errors
/// What `start` returns. The next call tries again.
///
/// ```
/// # extern crate superscalar_runtime as superscalar;
/// use superscalar::{Runtime, process};
/// let one = process::runtime_or_start(Runtime::new)?;
/// let other = process::runtime_or_start(Runtime::new)?;
/// assert!(std::sync::Arc::ptr_eq(&one, &other));
/// # Ok::<(), superscalar::Error>(())
/// ```
pub fn runtime_or_start<E>(start: impl FnOnce() -> Result<Runtime, E>) -> Result<Arc<Runtime>, E> {
    let mut started = started();
    if let Some(runtime) = of_this_process(&started) {
        return Ok(runtime.clone());
    }
    let runtime = start()?;
    Ok(keep(&mut started, runtime))
}

/// Makes a runtime that of the process, for programs that choose its settings themselves.
///
/// # Errors
/// Gives the runtime back if the process has one already.
///
/// ```
/// # extern crate superscalar_runtime as superscalar;
/// use superscalar::{Runtime, process};
/// let rt = process::set_runtime(Runtime::builder().workers(2).build()?).unwrap_or_else(|_| panic!("used before"));
/// assert_eq!(rt.workers(), 2);
/// assert!(process::set_runtime(Runtime::new()?).is_err());
/// # Ok::<(), superscalar::Error>(())
/// ```
pub fn set_runtime(runtime: Runtime) -> Result<Arc<Runtime>, Runtime> {
    let mut started = started();
    if of_this_process(&started).is_some() {
        return Err(runtime);
    }
    Ok(keep(&mut started, runtime))
}

fn of_this_process(started: &Option<Started>) -> Option<&Arc<Runtime>> {
    let started = started.as_ref()?;
    (started.process == std::process::id()).then_some(&started.runtime)
}

fn keep(started: &mut Option<Started>, runtime: Runtime) -> Arc<Runtime> {
    static AT_EXIT: Once = Once::new();
    AT_EXIT.call_once(|| {
        // SAFETY: the handler takes no arguments, never unwinds, and lives as long as the program that this code is
        // linked into.
        unsafe { atexit(end_at_exit) };
    });
    let runtime = Arc::new(runtime);
    *started = Some(Started { process: std::process::id(), runtime: runtime.clone() });
    runtime
}

unsafe extern "C" {
    fn atexit(handler: extern "C" fn()) -> i32;
}

/// Completes the trace and saves the capability weights when the process ends. It waits for no task: one that never
/// ends, or that called `exit`, would keep the process from ending.
extern "C" fn end_at_exit() {
    // A panic must not unwind into C. What could not be written has been reported.
    let _ = catch_panic(|| {
        if let Some(started) = started_at_exit().filter(|started| started.process == std::process::id()) {
            started.runtime.finish_trace();
            started.runtime.shared.placement.iter().for_each(|placement| placement.end());
            // The threads end with the process; dropping the runtime would wait for them.
            std::mem::forget(started);
        }
    });
}

/// Takes the runtime out, unless another thread keeps the lock because it is starting one.
fn started_at_exit() -> Option<Started> {
    for _ in 0..10 {
        match STARTED.try_lock() {
            Ok(mut started) => return started.take(),
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner().take(),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name of the variable that makes a test play the part of a child process.
    const PART: &str = "SUPERSCALAR_PROCESS_TEST";

    /// Runs a test of this module in a process of its own, and returns what it printed.
    fn in_child(test: &str, part: &str) -> std::process::Output {
        let test = format!("runtime::process::tests::{test}");
        let mut command = std::process::Command::new(std::env::current_exe().expect("the test's program"));
        command.args([&test, "--exact", "--nocapture"]).env(PART, part).output().expect("the program can be run")
    }

    fn endless() {
        loop {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn leave() {
        std::process::exit(7)
    }

    #[test]
    fn endless_task_does_not_keep_the_process() {
        if std::env::var_os(PART).is_none() {
            let output = in_child("endless_task_does_not_keep_the_process", "endless");
            assert_eq!(output.status.code(), Some(7), "{output:?}");
            return;
        }
        let rt = runtime_or_start(|| Runtime::builder().workers(2).bind(false).build()).expect("threads");
        rt.spawn("endless", (), |()| endless()).expect("it is accepted");
        std::process::exit(7);
    }

    #[test]
    fn exit_in_a_body_completes_the_trace() {
        let file = std::env::temp_dir().join(format!("superscalar-exit-{}.json", std::process::id()));
        if std::env::var_os(PART).is_none() {
            let output = in_child("exit_in_a_body_completes_the_trace", &file.to_string_lossy());
            assert_eq!(output.status.code(), Some(7), "{output:?}");
            let text = std::fs::read_to_string(&file).expect("there is a trace");
            let _ = std::fs::remove_file(&file);
            assert!(text.contains("\"complete\": true") || text.contains("\"complete\":true"), "{text}");
            return;
        }
        let file = std::env::var_os(PART).expect("the name of the file");
        let build = || Runtime::builder().workers(2).bind(false).trace_file(std::path::PathBuf::from(&file)).build();
        let rt = runtime_or_start(build).expect("threads");
        let mut x = 0;
        let _ = rt.scope(|s| s.spawn("leaves", s.lend(&mut x).write(), |_| leave()));
    }

    #[test]
    fn first_use_in_a_body_gets_all_cores() {
        if std::env::var_os(PART).is_none() {
            let output = in_child("first_use_in_a_body_gets_all_cores", "cores");
            assert!(output.status.success(), "{output:?}");
            return;
        }
        let expected = Runtime::new().expect("threads").workers();
        let outer = Runtime::builder().workers(expected).bind(true).build().expect("threads");
        let (mut inner, mut inside) = (0, 0);
        outer
            .scope(|s| {
                s.spawn("first use", s.lend(&mut inner).write(), |inner| {
                    *inner = runtime_or_start(Runtime::new).expect("threads").workers();
                });
                inside = Runtime::new().expect("threads").workers();
            })
            .expect("the task succeeds");
        assert_eq!((inner, inside), (expected, expected));
    }

    #[test]
    fn threads_share_the_first_runtime() {
        if std::env::var_os(PART).is_none() {
            let output = in_child("threads_share_the_first_runtime", "share");
            assert!(output.status.success(), "{output:?}");
            return;
        }
        let start = || Runtime::builder().workers(1).bind(false).build();
        let failed: Result<_, &str> = runtime_or_start(|| Err("not now"));
        assert_eq!(failed.err(), Some("not now"));
        let panicked = std::panic::catch_unwind(|| runtime_or_start::<()>(|| panic!("on purpose")));
        assert!(panicked.is_err());
        let runtimes: Vec<_> = std::thread::scope(|s| {
            let threads: Vec<_> = (0..8).map(|_| s.spawn(|| runtime_or_start(start).expect("threads"))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        assert!(runtimes.iter().all(|runtime| Arc::ptr_eq(runtime, &runtimes[0])));
        assert!(set_runtime(start().expect("threads")).is_err());
    }
}
