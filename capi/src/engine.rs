//! The runtime behind the library. The first call that is large enough starts it.
//!
//! **Forks.** A child process has one thread and a copy of the runtime whose workers do not exist. A lock protects the
//! state. A fork takes the lock before and releases it after, in both processes, so no child inherits a locked lock.
//! The fork handlers are registered when the library is loaded, before any thread can take the lock. If the parent had
//! a runtime, the child ignores the copy and computes on its own thread; otherwise it can start its own runtime.
//!
//! **End of the process.** The runtime ends with the process and then writes its trace. A call that is running on
//! another thread holds a reference, and the last holder ends the runtime.

use crate::{
    messages::warn,
    settings::{Settings, settings},
    statistics,
};
use std::{
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};
use superscalar::{
    Runtime, devices,
    dla::{self, Options},
};

unsafe extern "C" {
    fn atexit(handler: extern "C" fn()) -> i32;
    fn pthread_atfork(prepare: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) -> i32;
}

/// A runtime and the options of all calls.
pub(crate) struct Engine {
    pub(crate) runtime: Runtime,
    pub(crate) options: Options,
    threads: usize,
}

impl Engine {
    fn device_flops(&self) -> u64 {
        self.runtime.flops_issued().iter().sum()
    }

    /// Prints the error of a routine, if any, since the BLAS cannot return errors.
    pub(crate) fn report(&self, name: &str, outcome: Result<(), dla::Error>) {
        if let Err(error) = outcome {
            warn(&format!("superscalar: {name}: {error}; the result is not valid"));
        }
    }
}

struct EngineState {
    engine: Option<Arc<Engine>>,
    /// No engine is started any more: in a forked child, or at the end of the process.
    is_stopped: bool,
    /// The last start failed. Calls use their own threads until the program sets the number of threads.
    has_failed: bool,
}

static STATE: Mutex<EngineState> = Mutex::new(EngineState { engine: None, is_stopped: false, has_failed: false });
/// The number of threads that the program has set; 0 if it has not.
static REQUESTED_THREADS: AtomicUsize = AtomicUsize::new(0);
/// The maximum number of threads per processor.
const THREADS_PER_PROCESSOR_MAX: usize = 8;

extern "C" fn on_load() {
    // SAFETY: the handlers take no arguments, and remain valid since the library is never unloaded.
    unsafe {
        atexit(at_exit);
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    }
}

// SAFETY: the loader calls the functions in this section when it loads the library; `on_load` ignores its arguments.
#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

fn state() -> MutexGuard<'static, EngineState> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the number of threads that compute.
pub(crate) fn threads() -> usize {
    let requested = match REQUESTED_THREADS.load(Ordering::Relaxed) {
        0 => settings().threads.unwrap_or_else(processors),
        requested => requested,
    };
    requested.min(THREADS_PER_PROCESSOR_MAX * processors())
}

/// Returns the number of processors that the process may use. The value is cached, since the query is slow.
pub(crate) fn processors() -> usize {
    static PROCESSORS: AtomicUsize = AtomicUsize::new(0);
    if PROCESSORS.load(Ordering::Relaxed) == 0 {
        PROCESSORS.store(std::thread::available_parallelism().map_or(1, usize::from), Ordering::Relaxed);
    }
    PROCESSORS.load(Ordering::Relaxed)
}

/// Sets the number of threads from the next call on. With 0, the settings determine the number.
pub(crate) fn set_threads(threads: usize) {
    REQUESTED_THREADS.store(threads, Ordering::Relaxed);
    state().has_failed = false;
}

/// Returns the engine for a product with this number of multiplications, or `None` if the calling thread computes it.
pub(crate) fn engine_for_product(multiplications: u64) -> Option<EngineGuard> {
    let settings = settings();
    if statistics::is_on() {
        statistics::record(|call| call.multiplications += multiplications);
    }
    let is_small = multiplications <= settings.threshold || (threads() == 1 && !settings.has_devices);
    if is_small { None } else { acquire(settings) }
}

/// Returns whether several threads should compute an operation that touches `bytes` bytes once.
pub(crate) fn is_parallel_stream(bytes: usize) -> bool {
    bytes >= settings().stream_bytes && threads() > 1
}

/// Returns the engine for an operation that touches `bytes` bytes once, or `None` if the calling thread computes it.
/// Devices do not take part in such operations.
pub(crate) fn engine_for_stream(bytes: usize) -> Option<EngineGuard> {
    if is_parallel_stream(bytes) { acquire(settings()) } else { None }
}

fn acquire(settings: &Settings) -> Option<EngineGuard> {
    let float_environment = FloatEnvironment::save();
    engine(settings).map(|engine| {
        let device_flops = statistics::is_on().then(|| engine.device_flops());
        EngineGuard { engine, device_flops, _float_environment: float_environment }
    })
}

/// A reference to the engine for the duration of one call. It records the work of devices, and restores the thread's
/// floating-point environment.
pub(crate) struct EngineGuard {
    engine: Arc<Engine>,
    /// The floating-point operations issued to devices before the call, if calls are recorded.
    device_flops: Option<u64>,
    _float_environment: FloatEnvironment,
}

impl Drop for EngineGuard {
    fn drop(&mut self) {
        let Some(before) = self.device_flops else { return };
        let now = self.engine.device_flops();
        statistics::record(|call| {
            call.is_shared = true;
            call.device_flops += now - before;
        });
    }
}

impl std::ops::Deref for EngineGuard {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}

unsafe extern "C" {
    fn fegetenv(environment: *mut FloatEnvironment) -> i32;
    fn fesetenv(environment: *const FloatEnvironment) -> i32;
}

/// The floating-point environment of this thread, which is restored on drop. Scheduling may divide by zero, and NumPy
/// warns about exception flags that a product leaves set. (C's `fenv_t` is smaller than this type on every system.)
#[repr(C, align(16))]
struct FloatEnvironment([u64; 32]);

impl FloatEnvironment {
    fn save() -> Self {
        let mut saved = Self([0; 32]);
        // SAFETY: `saved` is larger than C's `fenv_t`, and this function owns it.
        unsafe { fegetenv(&mut saved) };
        saved
    }
}

impl Drop for FloatEnvironment {
    fn drop(&mut self) {
        // SAFETY: `save` filled this value on this thread.
        unsafe { fesetenv(self) };
    }
}

/// Returns the engine. Starts one if there is none or if the number of threads has changed.
fn engine(settings: &Settings) -> Option<Arc<Engine>> {
    let mut state = state();
    let threads = threads();
    if state.is_stopped || state.has_failed {
        return None;
    }
    if let Some(engine) = state.engine.as_ref().filter(|engine| engine.threads == threads) {
        return Some(engine.clone());
    }
    let before = state.engine.take();
    let engine = start(settings, threads);
    match engine {
        Ok(engine) => state.engine = Some(Arc::new(engine)),
        Err(why) => {
            warn(&format!("superscalar: no runtime: {why}; calls compute on their own threads"));
            state.has_failed = true;
        }
    }
    let engine = state.engine.clone();
    drop(state);
    // Dropped without the lock, since this may wait for workers.
    drop(before);
    engine
}

fn start(settings: &Settings, threads: usize) -> Result<Engine, String> {
    let start = || -> Result<Engine, String> {
        let builder = devices::builder().map_err(|error| error.to_string())?;
        // Workers are not bound, since the program's own threads may run on any core.
        let runtime = builder.workers(threads).bind(false).build().map_err(|error| error.to_string())?;
        let options = settings.nb.map_or_else(Options::default, |nb| Options::default().nb(nb));
        Ok(Engine { runtime, options, threads })
    };
    catch_unwind(AssertUnwindSafe(start)).unwrap_or_else(|_| Err("an internal error".to_owned()))
}

thread_local! {
    /// The locks that this thread holds while it forks.
    static FORK_LOCKS: RefCell<Option<ForkLocks>> = const { RefCell::new(None) };
}

/// The lock of the engine and that of the statistics.
type ForkLocks = (MutexGuard<'static, EngineState>, statistics::TotalsGuard);

extern "C" fn before_fork() {
    // Fails on a thread whose thread-local values are destroyed; the child of such a thread does not use this library.
    let _ = FORK_LOCKS.try_with(|held| *held.borrow_mut() = Some((state(), statistics::lock_totals())));
}

extern "C" fn after_fork_in_parent() {
    let _ = FORK_LOCKS.try_with(|held| held.borrow_mut().take());
}

extern "C" fn after_fork_in_child() {
    let _ = FORK_LOCKS.try_with(|held| {
        if let Some((mut state, mut totals)) = held.borrow_mut().take() {
            // The parent writes its own statistics.
            totals.clear();
            state.is_stopped |= state.engine.is_some();
            std::mem::forget(state.engine.take());
        }
    });
}

extern "C" fn at_exit() {
    let _ = catch_unwind(statistics::write_totals);
    let mut state = state();
    state.is_stopped = true;
    let engine = state.engine.take();
    drop(state);
    // On another thread, since the thread-local values of this one may be destroyed.
    let end = std::thread::Builder::new().spawn(move || drop(engine));
    let _ = end.map(std::thread::JoinHandle::join);
}
