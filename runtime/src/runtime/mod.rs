//! The runtime as a program has it: its start, its end, and what is inserted outside of scopes.

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
    shared::{Parts, Shared},
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

/// Runs serial task code in parallel.
///
/// A runtime owns its workers; dropping it waits for the tasks in flight and ends them. A program usually has one. In a child
/// process made by `fork` there are no workers: it makes a runtime of its own, and may drop what it has inherited.
///
/// ```
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
    /// The process that has the threads.
    process: u32,
}

/// A trace that is written to a file, and the thread that does it while the runtime lives.
struct Trace {
    file: Arc<TraceFile>,
    thread: Option<JoinHandle<()>>,
}

impl Runtime {
    /// A runtime with the settings of the environment, and otherwise the defaults: one worker per physical core.
    ///
    /// # Errors
    /// A setting in the environment that is not valid, or threads that the system does not give.
    pub fn new() -> Result<Self, Error> {
        Self::builder().build()
    }

    /// Settings for a runtime.
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
        let parts = Parts { workers, cores, policy, has_custom_policy, window, notices, placement, recorder };
        let shared = Arc::new(Shared::new(parts));
        shared.enlist();
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

    /// Starts to write the trace that a setting asked for.
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

    /// Ends the trace that a setting asked for: from here on nothing is recorded that it will have.
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

    /// Runs `inside` with a scope, waits until every task inserted in it is done, and returns what `inside` returned.
    ///
    /// The calling thread is a worker while it is inside: where it must wait, it runs tasks, and with one worker nothing else
    /// does. So `inside` should not wait for a task by other means than the scope's own.
    ///
    /// A body may open a scope on the same runtime; waiting there runs only the tasks of that scope.
    ///
    /// Any number of threads may open scopes of one runtime. 63 are inside at a time, others wait until one of these
    /// leaves; so threads should not wait inside of scopes for more than 60 others to come into theirs.
    ///
    /// # Errors
    /// The first failure of a task. The tasks that did not depend on it have run.
    ///
    /// # Panics
    /// If `inside` panics, after its tasks are done.
    pub fn scope<'env, F, R>(&'env self, inside: F) -> Result<R, Error>
    where
        F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    {
        scope::enter(&self.shared, inside)
    }

    /// Gives a value to the runtime; tasks name it by the handle, in scopes and outside, on any thread.
    pub fn register<T: Send + Sync + 'static>(&self, value: T) -> Handle<T> {
        Handle::new(self.shared.clone(), value, Level(current_task(&self.shared)))
    }

    /// Inserts a task outside of any scope. It runs in the background; [`wait`](Self::wait) waits for it.
    ///
    /// # Errors
    /// As for [`Scope::try_spawn`]; and inside of a body, whose tasks need a scope.
    #[track_caller]
    pub fn spawn<A, F, O>(&self, spec: impl Into<TaskSpec>, accesses: A, body: F) -> Result<TaskId, Error>
    where
        A: Accesses<'static>,
        F: for<'t> FnOnce(Item<'t, BoundOf<A>>) -> O + Send + 'static,
        O: Outcome,
    {
        if current_task(&self.shared) != TaskId(0) {
            return Err(Error::refused("a task's body inserts tasks through a scope"));
        }
        let (spec, site) = (spec.into(), Location::caller());
        self.shared.await_front_room();
        // If the task is refused the body is dropped only here, away from the front lock: it may own handles.
        let mut body = Some(body);
        let make = |bound| Closure::new(bound, body.take().unwrap_or_else(|| unreachable!("made once")));
        self.shared.at_front(|inserter| inserter.insert(&spec, site, accesses, make))
    }

    /// Waits, working, until every task inserted outside of scopes is done.
    ///
    /// # Errors
    /// The first failure among them since the last call.
    pub fn wait(&self) -> Result<(), Error> {
        self.shared.wait_front()
    }
}

fn start_thread(name: String, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
    let thread = std::thread::Builder::new().name(name).spawn(work);
    thread.map_err(|error| Error::system("a thread could not be started", error))
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // A child of `fork` has a copy, and of all threads only this one: there is nobody to wait for, and files are the parent's.
            std::mem::forget((self.shared.clone(), std::mem::take(&mut self.threads), std::mem::take(&mut self.trace)));
            return;
        }
        // What was inserted at the front is finished; its failure, if nobody asked for it, is nobody's.
        let _ = self.shared.wait_front();
        self.shared.is_closing.store(true, Ordering::Release);
        self.shared.sleep.wake_all();
        self.shared.placement.iter().for_each(|placement| placement.wake());
        let own = std::thread::current().id();
        for thread in self.threads.drain(..) {
            // Dropped inside a task's body, by the last owner: that thread can not wait for itself. It ends by itself.
            if thread.thread().id() != own {
                let _ = thread.join();
            }
        }
        self.shared.placement.iter().for_each(|placement| placement.end());
        // With what that had to say.
        self.finish_trace();
    }
}
