//! The runtime: what all its threads share, its start and its end.

mod visit;

use crate::{
    access::{Accesses, BoundOf, Item},
    builder::{Builder, Settings},
    datum::Level,
    device::Devices,
    error::Error,
    handle::Handle,
    insert::Inserter,
    memory::Memory,
    notices::Notices,
    recorder::{Recorder, RecorderSettings, TraceFile, device_lane, worker_lane},
    recording::{Lane, Stall, TaskId},
    schedule::{Foreign, Place, Policy},
    scope::{self, Entry, Scope, ScopePool, ScopeState},
    task::{Closure, Outcome, Slab, TaskSpec},
    topology,
    weights::Weights,
    worker::{KnownGuard, KnownLock, Locked, Seat, SeatQueue, Sleep, Strays, Waiting, current_frame, current_task},
};
use crossbeam_utils::CachePadded;
use std::{
    panic::Location,
    ptr::NonNull,
    sync::{
        Arc, Mutex, TryLockError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};
use visit::Visit;

/// So many threads from outside are inside scopes of one runtime at a time, besides the first. Further ones wait.
const GUESTS: u32 = 62;

/// How often a second thread that waits for background tasks looks whether they are done.
const FRONT_LOOK: Duration = Duration::from_micros(100);

/// What all threads of a runtime share.
pub(crate) struct Shared {
    pub(crate) slab: Slab,
    pub(crate) policy: Box<dyn Policy>,
    /// What a policy of the user's gave to the wrong thread; the runtime's own do not.
    pub(crate) strays: Option<Strays>,
    pub(crate) locked: Locked,
    pub(crate) sleep: Sleep,
    pub(crate) scopes: ScopePool,
    pub(crate) devices: Devices,
    pub(crate) weights: Weights,
    pub(crate) notices: Arc<Notices>,
    /// Whether the host's workers take tasks that a device could take.
    pub(crate) host_helps: bool,
    pub(crate) memory: Arc<Memory>,
    pub(crate) recorder: Option<Recorder>,
    pub(crate) own_numbers: CachePadded<AtomicU64>,
    pub(crate) workers: u32,
    /// At most so many tasks of one scope are in flight.
    pub(crate) window: u64,
    /// Finished tasks are counted in batches of this size.
    pub(crate) report_every: u64,
    seats: Box<[CachePadded<Seat>]>,
    queue: SeatQueue,
    /// The cores that workers are bound to; empty when they are not.
    cores: Vec<topology::Core>,
    front: Front,
    is_closing: AtomicBool,
}

/// Insertion from outside of scopes, and of handles that several threads share: one at a time.
struct Front {
    lock: KnownLock,
    /// How many tasks were inserted; changed with the lock held.
    inserted: AtomicU64,
    scope: NonNull<ScopeState>,
    /// One thread at a time waits for the front scope.
    waiting: Mutex<()>,
}

// SAFETY: `scope` points to a state in the pool, which lives as long as `Shared`.
unsafe impl Send for Front {}
// SAFETY: as above; states are `Sync`.
unsafe impl Sync for Front {}

impl Shared {
    fn new(settings: Settings, has_file: bool) -> Result<Self, Error> {
        let (workers, notices) = (settings.workers, Arc::<Notices>::default());
        let recorder = (settings.trace || has_file).then(|| {
            let (lanes, window, memory_bytes) = (lanes(&settings), settings.window, settings.trace_memory_bytes);
            let devices = settings.devices.iter().map(|device| device.info()).collect();
            let notices = notices.clone();
            Recorder::new(RecorderSettings { workers, window, lanes, devices, memory_bytes, has_file, notices })
        });
        let issuers = settings.devices.len() as u32;
        let devices = Devices::new(settings.devices)?;
        let infos: Vec<_> = devices.all.iter().map(|entry| entry.info.clone()).collect();
        let places = workers + GUESTS + 1 + issuers;
        let scopes = ScopePool::default();
        let (_, front) = scopes.take(false, None);
        let policy = (settings.policy)(places as usize);
        Ok(Self {
            slab: Slab::new(),
            policy: if settings.has_custom_policy { Box::new(Foreign(policy)) } else { policy },
            strays: settings.has_custom_policy.then(Strays::default),
            locked: Locked::new(workers),
            sleep: Sleep::new(places),
            scopes,
            weights: Weights::start(settings.weights_file, &devices, notices.clone())?,
            notices,
            host_helps: settings.host_helps,
            devices,
            memory: Arc::new(Memory::new(&infos)),
            recorder,
            own_numbers: CachePadded::default(),
            workers,
            window: settings.window,
            report_every: (settings.window / 4).clamp(1, 16),
            seats: (0..places).map(|place| CachePadded::new(Seat::new(Place(place)))).collect(),
            queue: SeatQueue::default(),
            cores: settings.cores,
            front: Front {
                lock: KnownLock::default(),
                inserted: AtomicU64::new(0),
                scope: front,
                waiting: Mutex::default(),
            },
            is_closing: AtomicBool::new(false),
        })
    }

    /// Leaves a seat, which the calling thread has, to the next.
    pub(crate) fn leave(&self, seat: &Seat) {
        seat.leave();
        self.queue.wake_one();
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Acquire)
    }

    /// Whether the seat is for a further thread from outside, which runs only tasks of its own scopes.
    pub(crate) fn is_guest(&self, seat: &Seat) -> bool {
        (self.workers..self.workers + GUESTS).contains(&seat.place.0)
    }

    /// Whether the seat is that of the only one who runs tasks of any scope.
    pub(crate) fn is_only_worker(&self, seat: &Seat) -> bool {
        self.workers == 1 && self.devices.is_empty() && seat.place.0 == 0
    }

    pub(crate) fn seats(&self) -> &[CachePadded<Seat>] {
        &self.seats
    }

    pub(crate) fn issuer_seat(&self, device: usize) -> &Seat {
        &self.seats[(self.workers + GUESTS + 1) as usize + device]
    }

    /// The device whose issuer has the seat of this place, if one has.
    pub(crate) fn device_at(&self, place: Place) -> Option<u16> {
        place.0.checked_sub(self.workers + GUESTS + 1).map(|device| device as u16)
    }

    /// Whether tasks may be in flight besides those of the calling thread's scope, which has ended.
    fn has_company(&self) -> bool {
        // The front scope is always open.
        self.scopes.open() > 1 || self.is_at_front() || self.inserted_at_front() > self.front_scope().done()
    }

    /// Serialises insertion of tasks that name shared data. Panics if the thread has the lock, as foreign code that is called
    /// meanwhile (what makes a fresh place, a policy) has come back: it would wait for itself.
    pub(crate) fn lock_front(&self) -> KnownGuard<'_> {
        assert!(
            !self.is_at_front(),
            "a shared handle was named by what is called while a task that names one is inserted"
        );
        self.front.lock.lock()
    }

    /// Whether the thread has the front lock.
    fn is_at_front(&self) -> bool {
        self.front.lock.is_mine()
    }

    /// How many tasks were inserted at the front so far.
    fn inserted_at_front(&self) -> u64 {
        let _front = self.lock_front();
        self.front.inserted.load(Ordering::Relaxed)
    }

    /// Inserts at the front: from outside of any scope; or further down, where foreign code that is called there drops a handle.
    /// (That is none of those that are named there: they are borrowed.)
    pub(crate) fn at_front<R>(&self, insert: impl FnOnce(&Inserter<'_>) -> R) -> R {
        let _front = (!self.is_at_front()).then(|| self.lock_front());
        let (seat, scope) = (&self.seats[(self.workers + GUESTS) as usize], self.front_scope());
        let inserter = Inserter::at_front(self, seat, scope);
        let result = insert(&inserter);
        self.front.inserted.fetch_add(inserter.inserted(), Ordering::Relaxed);
        result
    }

    /// Calls `with` where the calling thread stands: on the seat that it has, or on one that it takes for the time, and waits for where
    /// all are taken.
    pub(crate) fn with_entry<'a, R>(&'a self, with: impl FnOnce(Entry<'a>) -> R) -> R {
        if let Some(frame) = current_frame(self) {
            // SAFETY: a frame's seat and scopes belong to this runtime, which is alive.
            let entry = unsafe {
                Entry {
                    seat: frame.seat.as_ref(),
                    level: Level(frame.task),
                    parent: frame.scope,
                    within: frame.root.map(|root| root.as_ref()),
                }
            };
            return with(entry);
        }
        let sit = || {
            let mut outside = std::iter::once(0).chain(self.workers..self.workers + GUESTS);
            outside.find_map(|place| Some(&*self.seats[place as usize]).filter(|seat| seat.try_take()))
        };
        let seat = sit().unwrap_or_else(|| self.queue.wait(sit));
        let _visit = Visit::begin(self, seat);
        with(Entry { seat, level: Level::TOP, parent: None, within: None })
    }

    /// Waits, working, until every task inserted at the front so far is done; returns the first failure since the last call.
    fn wait_front(&self) -> Result<(), Error> {
        if current_task(self) != TaskId(0) {
            return Err(Error::refused("a task's body can not wait for the tasks around it"));
        }
        self.help_front_until(self.inserted_at_front(), None);
        self.front_scope().take_failure().map_or(Ok(()), |failure| Err(Error::failure(failure)))
    }

    /// Waits, working, until the front's window has room. Not while holding the front lock: the tasks run meanwhile may need
    /// it.
    fn await_front_room(&self) {
        let inserted = self.inserted_at_front();
        // Other threads insert, too, and more may be done by now than was inserted a moment ago.
        if inserted.saturating_sub(self.front_scope().done()) >= self.window {
            self.help_front_until(inserted - self.window + self.window.div_ceil(8), Some(Stall::WindowFull));
        }
    }

    fn help_front_until(&self, target: u64, stall: Option<Stall>) {
        let scope = self.front_scope();
        self.with_entry(|entry| {
            let within = self.is_guest(entry.seat).then_some(scope);
            while scope.done() < target {
                match self.front.waiting.try_lock() {
                    Err(TryLockError::WouldBlock) => {}
                    Ok(_) | Err(TryLockError::Poisoned(_)) => {
                        return self.help_until(entry.seat, &Waiting { scope, target, within, stall });
                    }
                }
                // Another thread waits already, and a scope knows one waiter. What it waits for may depend on tasks that only
                // this thread can run, so this one works, too, and looks again every now and then.
                if !self.run_one(entry.seat, within) {
                    self.stalled(entry.seat, stall, || std::thread::sleep(FRONT_LOOK));
                }
            }
        })
    }

    fn front_scope(&self) -> &ScopeState {
        // SAFETY: states live as long as `self`.
        unsafe { self.front.scope.as_ref() }
    }
}

/// The lanes of all seats, in their order.
fn lanes(settings: &Settings) -> Vec<Lane> {
    let workers = (0..settings.workers).map(|worker| worker_lane(format!("worker {worker}")));
    let guests = (0..GUESTS).map(|guest| worker_lane(format!("guest {guest}")));
    let issuers = settings.devices.iter().map(|device| device_lane(device.info().name));
    workers.chain(guests).chain([worker_lane("front".to_owned())]).chain(issuers).collect()
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Handles may have been dropped while the workers ended. Nobody else is left, so the seat is free.
        self.run_leftovers(&self.seats[0]);
    }
}

/// Runs serial task code in parallel.
///
/// A runtime owns its workers; dropping it waits for the tasks in flight and ends them. A program usually has one. In a child
/// process made by `fork` there are no workers: it makes a runtime of its own, and may drop what it has inherited.
///
/// ```
/// use superscalar_runtime::Runtime;
/// # fn main() -> Result<(), superscalar_runtime::Error> {
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
    trace: Option<Trace>,
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

    pub(crate) fn start(mut settings: Settings) -> Result<Self, Error> {
        let file = settings.trace_file.take().and_then(|file| TraceFile::open(&file)).map(Arc::new);
        let shared = Arc::new(Shared::new(settings, file.is_some())?);
        shared.enlist();
        let trace = file.map(|file| Trace { file, thread: None });
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
        for device in 0..runtime.shared.devices.len() {
            runtime.start_thread(format!("superscalar-issuer-{device}"), move |shared| shared.issue_tasks(device))?;
        }
        Ok(runtime)
    }

    /// Starts to write the trace that a setting asked for.
    fn start_trace(&mut self) -> Result<(), Error> {
        let Some(Trace { file, thread }) = &mut self.trace else { return Ok(()) };
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
    fn finish_trace(&mut self) {
        let Some(Trace { file, thread }) = self.trace.take() else { return };
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
            std::mem::forget((self.shared.clone(), std::mem::take(&mut self.threads), self.trace.take()));
            return;
        }
        // What was inserted at the front is finished; its failure, if nobody asked for it, is nobody's.
        let _ = self.shared.wait_front();
        self.shared.is_closing.store(true, Ordering::Release);
        self.shared.sleep.wake_all();
        self.shared.devices.wake_all();
        let own = std::thread::current().id();
        for thread in self.threads.drain(..) {
            // Dropped inside a task's body, by the last owner: that thread can not wait for itself. It ends by itself.
            if thread.thread().id() != own {
                let _ = thread.join();
            }
        }
        self.shared.weights.save();
        // With what that had to say.
        self.finish_trace();
    }
}
