//! The runtime behind the library: started by the first call that is worth it, and never before.
//!
//! **Forks.** A child has one thread, and a copy of a runtime whose workers do not exist. The state is under a lock that a fork takes before and
//! gives back after, in both processes, so that no child finds it taken: the system is told so when the library is loaded, before anybody can
//! take the lock. A child of a process that had a runtime leaves the copy alone and computes on its own thread; a child of one that had none
//! starts its own.
//!
//! **The end.** The runtime ends when the process does, with its trace. Who computes then still has it, and ends it.

use crate::{
    account,
    messages::say,
    settings::{Settings, settings},
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

/// A runtime, and the options of all calls.
pub(crate) struct Engine {
    pub(crate) runtime: Runtime,
    pub(crate) options: Options,
    threads: usize,
}

impl Engine {
    fn device_flops(&self) -> u64 {
        self.runtime.flops_issued().iter().sum()
    }

    /// What a routine came to. The BLAS can not return it, so that it is said.
    pub(crate) fn report(&self, name: &str, outcome: Result<(), dla::Error>) {
        if let Err(error) = outcome {
            say(&format!("superscalar: {name}: {error}; its result is of no use"));
        }
    }
}

struct State {
    engine: Option<Arc<Engine>>,
    /// Calls compute on their own threads from now on: in a child, or at the end.
    is_alone: bool,
    /// So they do since nothing could be started, until somebody sets the number of threads.
    has_failed: bool,
}

static STATE: Mutex<State> = Mutex::new(State { engine: None, is_alone: false, has_failed: false });
/// How many threads a program has asked for; zero if it has not.
static WANTED: AtomicUsize = AtomicUsize::new(0);
/// More threads than these for each processor are not started.
const THREADS_EACH: usize = 8;

extern "C" fn when_loaded() {
    // SAFETY: these functions take nothing, and stay: the library is never unloaded.
    unsafe {
        atexit(at_exit);
        pthread_atfork(before_fork, after_fork, in_child);
    }
}

// SAFETY: the loader calls what is in this section, which takes nothing, when it loads the library.
#[used]
#[unsafe(link_section = ".init_array")]
static WHEN_LOADED: extern "C" fn() = when_loaded;

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many threads compute.
pub(crate) fn threads() -> usize {
    let wanted = match WANTED.load(Ordering::Relaxed) {
        0 => settings().threads.unwrap_or_else(processors),
        wanted => wanted,
    };
    wanted.min(THREADS_EACH * processors())
}

/// How many processors the first thread that asked may use. To ask takes a tenth of a millisecond.
pub(crate) fn processors() -> usize {
    static KNOWN: AtomicUsize = AtomicUsize::new(0);
    if KNOWN.load(Ordering::Relaxed) == 0 {
        KNOWN.store(std::thread::available_parallelism().map_or(1, usize::from), Ordering::Relaxed);
    }
    KNOWN.load(Ordering::Relaxed)
}

/// Sets how many threads compute, from the next call on: with zero, as many as the settings say.
pub(crate) fn set_threads(threads: usize) {
    WANTED.store(threads, Ordering::Relaxed);
    state().has_failed = false;
}

/// Who computes a product of so many multiplications: none if it is the calling thread, by itself.
pub(crate) fn for_product(multiplications: u64) -> Option<Call> {
    let settings = settings();
    if account::is_on() {
        account::note(|work| work.multiplications += multiplications);
    }
    let is_small = multiplications <= settings.threshold || (threads() == 1 && !settings.has_devices);
    if is_small { None } else { called(settings) }
}

/// Whether several threads should compute what touches so many bytes once.
pub(crate) fn is_shared_stream(bytes: usize) -> bool {
    bytes >= settings().stream_bytes && threads() > 1
}

/// Who computes what touches so many bytes once: none if it is the calling thread. The devices have no part in it.
pub(crate) fn for_stream(bytes: usize) -> Option<Call> {
    if is_shared_stream(bytes) { called(settings()) } else { None }
}

fn called(settings: &Settings) -> Option<Call> {
    let flags = Flags::now();
    started(settings).map(|engine| {
        let device_flops = account::is_on().then(|| engine.device_flops());
        Call { engine, device_flops, _flags: flags }
    })
}

/// The engine, for one call.
pub(crate) struct Call {
    engine: Arc<Engine>,
    /// The floating-point operations that devices had been given before, if that is noted.
    device_flops: Option<u64>,
    _flags: Flags,
}

impl Drop for Call {
    fn drop(&mut self) {
        let Some(before) = self.device_flops else { return };
        let now = self.engine.device_flops();
        account::note(|work| {
            work.is_shared = true;
            work.device_flops += now - before;
        });
    }
}

impl std::ops::Deref for Call {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}

unsafe extern "C" {
    fn fegetenv(environment: *mut Flags) -> i32;
    fn fesetenv(environment: *const Flags) -> i32;
}

/// The floating-point exceptions of this thread, which are given back when the value is dropped. Scheduling divides by zero and such; NumPy warns
/// of what a product leaves behind. (C's `fenv_t`, which is smaller than this on every system.)
#[repr(C, align(16))]
struct Flags([u64; 32]);

impl Flags {
    fn now() -> Self {
        let mut flags = Self([0; 32]);
        // SAFETY: there is room.
        unsafe { fegetenv(&mut flags) };
        flags
    }
}

impl Drop for Flags {
    fn drop(&mut self) {
        // SAFETY: it was filled above.
        unsafe { fesetenv(self) };
    }
}

/// The runtime, which is started where there is none, or one with another number of threads.
fn started(settings: &Settings) -> Option<Arc<Engine>> {
    let mut state = state();
    let threads = threads();
    if state.is_alone || state.has_failed {
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
            say(&format!("superscalar: no runtime: {why}; calls compute on their own threads"));
            state.has_failed = true;
        }
    }
    let engine = state.engine.clone();
    drop(state);
    // Its workers may have to be waited for.
    drop(before);
    engine
}

fn start(settings: &Settings, threads: usize) -> Result<Engine, String> {
    let start = || -> Result<Engine, String> {
        let builder = devices::builder().map_err(|error| error.to_string())?;
        // Threads of the program's own may be on any core.
        let runtime = builder.workers(threads).bind(false).build().map_err(|error| error.to_string())?;
        let options = settings.nb.map_or_else(Options::default, |nb| Options::default().nb(nb));
        Ok(Engine { runtime, options, threads })
    };
    catch_unwind(AssertUnwindSafe(start)).unwrap_or_else(|_| Err("an internal error".to_owned()))
}

thread_local! {
    /// The locks, while this thread forks.
    static HELD: RefCell<Option<(MutexGuard<'static, State>, account::Totals)>> = const { RefCell::new(None) };
}

extern "C" fn before_fork() {
    // A thread that is ending has no such place any more; what it forks does not use this library.
    let _ = HELD.try_with(|held| *held.borrow_mut() = Some((state(), account::totals())));
}

extern "C" fn after_fork() {
    let _ = HELD.try_with(|held| held.borrow_mut().take());
}

extern "C" fn in_child() {
    let _ = HELD.try_with(|held| {
        if let Some((mut state, mut totals)) = held.borrow_mut().take() {
            // The parent writes these.
            totals.clear();
            state.is_alone |= state.engine.is_some();
            std::mem::forget(state.engine.take());
        }
    });
}

extern "C" fn at_exit() {
    let _ = catch_unwind(account::write);
    let mut state = state();
    state.is_alone = true;
    let engine = state.engine.take();
    drop(state);
    // On a thread of its own: this one's thread-local values may be gone.
    let end = std::thread::Builder::new().spawn(move || drop(engine));
    let _ = end.map(std::thread::JoinHandle::join);
}
