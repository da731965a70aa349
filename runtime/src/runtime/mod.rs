//! The runtime object: its start and its end, and insertion outside of scopes.

mod builder;
#[cfg(feature = "placement")]
mod devices;
mod inspect;
pub mod process;

pub use builder::{Builder, settings_table};

use crate::{
    datum::Level,
    error::Error,
    handle::Handle,
    insert::{Accesses, BoundOf, Closure, Item, Outcome},
    notices::Notices,
    recorder::{RecorderSettings, TraceFile},
    recording::TaskId,
    scope::{self, Scope},
    shared::{RuntimeParts, Shared},
    task::TaskSpec,
    topology,
    worker::current_task,
};
use builder::Settings;
use std::{
    panic::Location,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    thread::JoinHandle,
};

/// A runtime: runs serial task code in parallel.
///
/// A runtime owns its workers. Dropping it waits for the tasks in flight and then ends the workers. A program usually
/// has one runtime. A child process created by `fork` has no workers: it creates a runtime of its own, and may drop the
/// inherited one.
///
/// ```
/// # extern crate superscalar_runtime as superscalar;
/// use superscalar::Runtime;
/// # fn main() -> Result<(), superscalar::Error> {
/// let rt = Runtime::new()?;
/// let (mut x, mut y) = (vec![1.0; 100], vec![1.0; 100]);
/// rt.scope(|s| {
///     let (x, y) = (s.lend(&mut x), s.lend(&mut y));
///     s.spawn("scale", x.read_write(), |x| x.iter_mut().for_each(|v| *v *= 2.0));
///     s.spawn("axpy", (x.read(), y.read_write()), |(x, y)| for (y, x) in y.iter_mut().zip(x) { *y += x });
/// })?;
/// assert_eq!(y, vec![3.0; 100]);
/// # Ok(())
/// # }
/// ```
pub struct Runtime {
    pub(crate) shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    trace: Mutex<Option<Trace>>,
    /// The process that started the threads.
    process: u32,
}

/// A trace that is written to a file, and the thread that writes it while the runtime lives.
struct Trace {
    file: Arc<TraceFile>,
    thread: Option<JoinHandle<()>>,
}

impl Runtime {
    /// Starts a runtime with the settings of the environment, and defaults otherwise: one worker per physical core.
    ///
    /// # Errors
    /// Returns an error if a setting in the environment is not valid, or if threads cannot be started.
    pub fn new() -> Result<Self, Error> {
        Self::builder().build()
    }

    /// Returns a builder for the settings of a runtime.
    pub fn builder() -> Builder {
        Builder::default()
    }

    fn start(settings: Settings) -> Result<Self, Error> {
        let Settings { workers, cores, policy, has_custom_policy, window, .. } = settings;
        let file = settings.trace_file.and_then(|file| TraceFile::open(&file)).map(Arc::new);
        let notices = Arc::<Notices>::default();
        #[cfg(feature = "placement")]
        let (placement, elsewhere) = settings.places.build(&notices)?;
        #[cfg(not(feature = "placement"))]
        let (placement, elsewhere) = (None, crate::recorder::DeviceLanes::default());
        let recorder = (settings.trace || file.is_some()).then(|| RecorderSettings {
            memory_bytes: settings.trace_memory_bytes,
            has_file: file.is_some(),
            elsewhere,
        });
        let parts = RuntimeParts { workers, cores, policy, has_custom_policy, window, notices, placement, recorder };
        let shared = Arc::new(Shared::new(parts));
        shared.register_for_strays();
        let trace = Mutex::new(file.map(|file| Trace { file, thread: None }));
        let mut runtime = Self { shared, threads: Vec::new(), trace, process: std::process::id() };
        runtime.start_trace()?;
        for worker in 0..runtime.shared.workers {
            runtime.start_thread(format!("superscalar-{worker}"), move |shared| {
                if let Some(core) = shared.cores.get(worker as usize) {
                    topology::bind(core);
                }
                let seat = &shared.seats[worker as usize];
                if worker == 0 {
                    shared.work_as_understudy(seat);
                } else if seat.try_take() {
                    shared.work(seat);
                }
            })?;
        }
        let names = runtime.shared.placement.as_ref().map_or_else(Vec::new, |placement| placement.threads());
        for (thread, name) in names.into_iter().enumerate() {
            runtime.start_thread(name, move |shared| {
                shared.placement.iter().for_each(|placement| placement.run_thread(shared, thread));
            })?;
        }
        Ok(runtime)
    }

    /// Starts writing the trace file, if there is one.
    fn start_trace(&mut self) -> Result<(), Error> {
        let trace = self.trace.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(Trace { file, thread }) = trace else { return Ok(()) };
        let (shared, file) = (self.shared.clone(), file.clone());
        *thread = Some(start_thread("superscalar-trace".to_owned(), move || {
            if let Some(recorder) = &shared.recorder {
                file.begin(recorder);
                file.grow_until_end(recorder);
            }
        })?);
        Ok(())
    }

    /// Ends the trace file, if there is one. It does not receive what is recorded from here on.
    fn finish_trace(&self) {
        let trace = self.trace.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Trace { file, thread }) = trace else { return };
        file.stop();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
        if let Some(recorder) = &self.shared.recorder {
            file.finish(recorder);
        }
    }

    fn start_thread(&mut self, name: String, work: impl FnOnce(&Shared) + Send + 'static) -> Result<(), Error> {
        let shared = self.shared.clone();
        self.threads.push(start_thread(name, move || work(&shared))?);
        Ok(())
    }

    /// Runs `inside` with a scope, waits until all tasks of the scope are done, and returns the result of `inside`.
    ///
    /// The calling thread acts as a worker: when it has to wait, it runs tasks. With one worker, no other thread does.
    /// So `inside` should wait for tasks only through the scope.
    ///
    /// A task's body may open a scope on the same runtime. Waiting there runs only the tasks of that scope.
    ///
    /// Any number of threads may open scopes of one runtime. At most 63 of them are inside a scope at a time, and
    /// others wait until one leaves. So a thread inside a scope should not wait for more than 60 other threads to enter
    /// theirs.
    ///
    /// # Errors
    /// Returns the first failure of a task. The tasks that did not depend on it have run.
    ///
    /// # Panics
    /// Panics if `inside` panics, after the scope's tasks are done.
    pub fn scope<'env, F, R>(&'env self, inside: F) -> Result<R, Error>
    where
        F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    {
        scope::enter(&self.shared, inside)
    }

    /// Gives a value to the runtime and returns its handle. Tasks name the value by the handle, in scopes and outside,
    /// on any thread.
    pub fn register<T: Send + Sync + 'static>(&self, value: T) -> Handle<T> {
        Handle::new(self.shared.clone(), value, Level(current_task(&self.shared)))
    }

    /// Inserts a task outside of any scope. It runs in the background; [`wait`](Self::wait) waits for it.
    ///
    /// # Errors
    /// Returns the errors of [`Scope::try_spawn`], and an error if it is called inside a task's body, where insertion
    /// needs a scope.
    #[track_caller]
    pub fn spawn<A, F, O>(&self, spec: impl Into<TaskSpec>, accesses: A, body: F) -> Result<TaskId, Error>
    where
        A: Accesses<'static>,
        F: for<'t> FnOnce(Item<'t, BoundOf<A>>) -> O + Send + 'static,
        O: Outcome,
    {
        if current_task(&self.shared) != TaskId(0) {
            return Err(Error::refused(
                "`Runtime::spawn` was called inside a task's body: open a scope to spawn tasks there",
            ));
        }
        let (spec, site) = (spec.into(), Location::caller());
        self.shared.await_front_room();
        // A refused body is dropped here, where the front lock is not held: it may own handles, whose destructors take
        // it.
        let mut body = Some(body);
        let make = |bound| Closure::new(bound, body.take().unwrap_or_else(|| unreachable!("`make` is called once")));
        self.shared.at_front(|inserter| inserter.insert(&spec, site, accesses, make))
    }

    /// Waits until all tasks inserted outside of scopes are done, running tasks meanwhile.
    ///
    /// # Errors
    /// Returns the first failure of such a task since the last call.
    pub fn wait(&self) -> Result<(), Error> {
        self.shared.wait_front()
    }
}

fn start_thread(name: String, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
    let thread = std::thread::Builder::new().name(name).spawn(work);
    thread.map_err(|error| Error::system("cannot start a thread", error))
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // After `fork`, the child has a copy of the runtime but only this thread, so there is no thread to join.
            // Files belong to the parent.
            std::mem::forget((self.shared.clone(), std::mem::take(&mut self.threads), std::mem::take(&mut self.trace)));
            return;
        }
        // The tasks at the front are finished; a failure that no call of `wait` has returned is dropped.
        let _ = self.shared.wait_front();
        self.shared.is_closing.store(true, Ordering::Release);
        self.shared.sleep.wake_all();
        self.shared.placement.iter().for_each(|placement| placement.wake());
        let own = std::thread::current().id();
        for thread in self.threads.drain(..) {
            // The last owner may be a task's body. Then this thread is a worker; it cannot join itself, and ends on its
            // own.
            if thread.thread().id() != own {
                let _ = thread.join();
            }
        }
        self.shared.placement.iter().for_each(|placement| placement.end());
        // Last, so that the trace has the notices of the placement's end.
        self.finish_trace();
    }
}
