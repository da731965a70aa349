//! The runtime of the process: started at first use and shared by all code that names no other.

use super::Runtime;
use crate::{recording::TaskId, worker::current_task};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

/// The runtime, and the process that started it: a child made by `fork` has the value but none of the threads.
struct Started {
    process: u32,
    runtime: Arc<Runtime>,
}

static STARTED: Mutex<Option<Started>> = Mutex::new(None);

fn started() -> MutexGuard<'static, Option<Started>> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the runtime of this process, and starts it if there is none yet. Only one of several threads that come
/// first runs `start`; the others wait for it.
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

/// Ends the runtime with the process, which completes its trace and saves its capability weights. While other code
/// still uses it, its tasks are not waited for, and only the trace is completed.
extern "C" fn end_at_exit() {
    // The lock is taken only if some thread starts a runtime at this moment.
    let Some(started) = STARTED.try_lock().ok().and_then(|mut started| started.take()) else { return };
    if started.process != std::process::id() {
        std::mem::forget(started);
        return;
    }
    let is_inside = current_task(&started.runtime.shared) != TaskId(0);
    match Arc::try_unwrap(started.runtime) {
        Ok(runtime) if !is_inside => drop(runtime),
        Ok(runtime) => {
            runtime.finish_trace();
            std::mem::forget(runtime);
        }
        Err(shared) => shared.finish_trace(),
    }
}
