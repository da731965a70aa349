//! The threads of a machine. They run the work in its queues and keep its time.
//!
//! # How time is kept
//!
//! Every queue entry has a *modelled* start and end. It starts when its engine is free and its events are reached, both
//! in modelled time. It ends when its modelled duration has passed, or, if that is longer, the time that it really
//! took. The end is reported when the host's clock has reached it, never before. A thread wakes up some microseconds
//! late, and on a busy host much later. These delays do not add up, because the next entry starts at the modelled end
//! of the last one: modelled time catches up as long as the real work takes less time than the model says. Real work is
//! measured in the thread's own processor time for a similar reason: whether the host's cores are busy elsewhere is no
//! property of the device.
//!
//! A kernel is executed at the start of its time and a copy at the end. A task that does not wait for the end of a copy
//! thus cannot find the copied data by luck, and a task that overwrites the source too early corrupts the copy.
//!
//! # Who waits for whom
//!
//! One lock guards the machine's state. An engine's thread sleeps on its own condition variable until it has an entry
//! to start. It is woken by a push into an empty queue of its own, by the end of the entry that the first entry of its
//! queue waits for, by the gate, and by the loss of the device. Each of these changes the state under the lock before
//! it wakes the thread, and the thread checks the state under the lock before it sleeps, so no wake-up is lost. The
//! issuer sleeps on a second condition variable, tests on a third. Foreign code (kernels, their destructors, copies,
//! implementations) never runs under the lock.

use super::{
    faults::{Direction, Effect, Injector, Point},
    heap::Heap,
    queue::{Launch, drop_catching},
    spec::Spec,
    timeline::{ARITHMETIC, Condition, ENGINES, EndedEntry, EngineId, FollowUp, QueuedWork, StartedEntry, Timeline},
    transfer::{self, PendingCopy},
};
use rustix::time::{ClockId, clock_gettime};
use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use superscalar_runtime::{DeviceError, Transfer};

/// The last part of each wait is spun: with the smallest timer slack, a sleep usually ends this much too late.
const SPIN_NS: u64 = 15_000;

/// What all devices of a machine share.
pub(super) struct MachineInner {
    state: Mutex<Timeline>,
    epoch: Instant,
    pub(super) devices: Vec<DeviceInner>,
}

/// The part of a device that needs no lock.
pub(super) struct DeviceInner {
    pub(super) spec: Spec,
    pub(super) injector: Arc<Injector>,
    /// Whether the device is gone; read by copies that are in progress.
    is_gone: AtomicBool,
    engines: [Condvar; ENGINES],
    /// Notified when an entry has ended or the issuer was woken.
    pub(super) issuer: Condvar,
    /// Notified when an entry was pushed or has ended.
    pub(super) changed: Condvar,
}

impl DeviceInner {
    pub(super) fn new(spec: Spec) -> Self {
        let injector = Arc::new(Injector::new(&spec.faults));
        Self {
            spec,
            injector,
            is_gone: AtomicBool::new(false),
            engines: Default::default(),
            issuer: Condvar::new(),
            changed: Condvar::new(),
        }
    }
}

impl MachineInner {
    pub(super) fn new(state: Timeline, devices: Vec<DeviceInner>) -> Self {
        Self { state: Mutex::new(state), epoch: Instant::now(), devices }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Timeline> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wait<'a>(&self, on: &Condvar, state: MutexGuard<'a, Timeline>) -> MutexGuard<'a, Timeline> {
        on.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Like [`wait`](Self::wait), but for at most `at_most`.
    pub(super) fn wait_for<'a>(
        &self,
        on: &Condvar,
        state: MutexGuard<'a, Timeline>,
        at_most: Duration,
    ) -> MutexGuard<'a, Timeline> {
        on.wait_timeout(state, at_most).unwrap_or_else(PoisonError::into_inner).0
    }

    pub(super) fn now_ns(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    pub(super) fn wake_engine(&self, (device, engine): EngineId) {
        self.devices[device].engines[engine].notify_one();
    }

    pub(super) fn wake_engines(&self, device: usize) {
        (0..ENGINES).for_each(|engine| self.wake_engine((device, engine)));
    }

    /// Releases the lock, wakes the threads that the change concerns, and drops leftover work.
    pub(super) fn wake_and_drop(&self, device: usize, state: MutexGuard<'_, Timeline>, follow_up: FollowUp) {
        drop(state);
        follow_up.engines.into_iter().for_each(|engine| self.wake_engine(engine));
        self.devices[device].issuer.notify_all();
        self.devices[device].changed.notify_all();
        drop_catching(follow_up.dropped);
    }

    /// Marks the device as gone.
    pub(super) fn lose(&self, device: usize, condition: Condition) {
        let mut state = self.lock();
        self.devices[device].is_gone.store(true, Ordering::Relaxed);
        let follow_up = state.lose(device, condition, self.now_ns());
        self.wake_and_drop(device, state, follow_up);
    }

    /// Returns when no copy of a lost device touches host memory any more.
    pub(super) fn await_no_copies(&self, device: usize) {
        let mut state = self.lock();
        while state.devices[device].copies_running > 0 {
            state = self.wait(&self.devices[device].changed, state);
        }
    }

    /// The main loop of an engine's thread; returns when its device is dropped.
    pub(super) fn run(&self, at: EngineId) {
        // By default a sleep may end 50 µs late. If the slack cannot be set, the default stays.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let (device, engine) = at;
        let mut state = self.lock();
        loop {
            if state.devices[device].condition == Condition::Dropped {
                return;
            }
            let Some(StartedEntry { queue, ticket, start_ns, awaits_failure, work }) = state.begin(at) else {
                state = self.wait(&self.devices[device].engines[engine], state);
                continue;
            };
            let heap = state.devices[device].reserved_heap().cloned();
            drop(state);
            let (busy_ns, result) = match work {
                _ if awaits_failure => (0, Err(DeviceError::new("an event that it waited for belongs to failed work"))),
                QueuedWork::Kernels(launches) => self.run_kernels(device, start_ns, launches, heap),
                QueuedWork::Copy(pending) => self.run_copy((device, engine), start_ns, &pending),
            };
            if let Err(error) = &result
                && error.is_lost()
            {
                self.lose(device, Condition::Lost(error.to_string()));
            }
            state = self.lock();
            let ended = EndedEntry { queue, ticket, end_ns: start_ns + busy_ns, busy_ns, result };
            let follow_up = state.end(device, ended);
            self.wake_and_drop(device, state, follow_up);
            state = self.lock();
        }
    }

    /// Runs the kernels of one task and returns when their time is over, with its length.
    fn run_kernels(
        &self,
        device: usize,
        start_ns: u64,
        launches: Vec<Launch>,
        heap: Result<Arc<Heap>, DeviceError>,
    ) -> (u64, Result<(), DeviceError>) {
        let (mut busy_ns, mut ran, injector) = (0, 0, &self.devices[device].injector);
        let mut launches = launches.into_iter();
        let result = heap.and_then(|heap| {
            launches.try_for_each(|launch| {
                let (model_ns, begun_ns) = (launch.model_ns, processor_ns());
                let result = launch.run(&heap, injector);
                busy_ns += model_ns.max(processor_ns() - begun_ns);
                ran += u64::from(result.is_ok());
                result
            })
        });
        drop_catching(launches);
        self.sleep_until((device, ARITHMETIC), start_ns + busy_ns);
        // The wait is cut short if the device is lost.
        let busy_ns = busy_ns.min(self.now_ns().saturating_sub(start_ns));
        let counters = &mut self.lock().devices[device].counters;
        counters.kernels += ran;
        counters.kernels_busy_ns += busy_ns;
        (busy_ns, result)
    }

    /// Waits until the copy's time is over, then copies. Returns the length of that time.
    fn run_copy(&self, at: EngineId, start_ns: u64, pending: &PendingCopy) -> (u64, Result<(), DeviceError>) {
        let DeviceInner { injector, is_gone, changed, .. } = &self.devices[at.0];
        let direction = transfer::direction(&pending.transfer);
        let strikes = injector.strikes(Point::Copy(direction));
        self.sleep_until(at, start_ns + pending.model_ns);
        // The wait is cut short if the device is lost.
        let model_ns = pending.model_ns.min(self.now_ns().saturating_sub(start_ns));
        match strikes {
            Some(Effect::Fails) => return (model_ns, Err(DeviceError::new("a copy failed: injected fault"))),
            Some(Effect::Loses) => {
                return (model_ns, Err(DeviceError::lost("the device was lost in a copy: injected fault")));
            }
            None => {}
        }
        let mut state = self.lock();
        let can_copy = state.devices[at.0].check().and_then(|()| match pending.transfer {
            Transfer::Peer { device, .. } => state.index_of(device).map_or(Ok(()), |peer| {
                let is_there = state.devices[peer].check();
                is_there.map_err(|error| DeviceError::new(format!("a copy from a peer failed: {error}")))
            }),
            _ => Ok(()),
        });
        if let Err(error) = can_copy {
            return (model_ns, Err(error));
        }
        state.devices[at.0].copies_running += 1;
        drop(state);
        let begun_ns = processor_ns();
        // SAFETY: `begin` returned the copy, so its events are reached. The caller reports its end after this returns.
        let result = unsafe { pending.run(&|| !is_gone.load(Ordering::Relaxed)) };
        let busy_ns = model_ns.max(processor_ns() - begun_ns);
        let mut state = self.lock();
        let at = &mut state.devices[at.0];
        at.copies_running -= 1;
        changed.notify_all();
        if result.is_ok() {
            let traffic = match (direction, pending.transfer) {
                (_, Transfer::Peer { device, .. }) => at.counters.peer(device),
                (Direction::Out, _) => &mut at.counters.copies_out,
                _ => &mut at.counters.copies_in,
            };
            traffic.add(transfer::bytes(&pending.transfer), busy_ns);
        }
        (busy_ns, result)
    }

    /// Returns at `until_ns`, or as soon as the device is lost.
    fn sleep_until(&self, (device, engine): EngineId, until_ns: u64) {
        let mut state = self.lock();
        while state.devices[device].condition == Condition::Available {
            let left_ns = until_ns.saturating_sub(self.now_ns());
            if left_ns <= SPIN_NS {
                break;
            }
            let at_most = Duration::from_nanos(left_ns - SPIN_NS);
            state = self.wait_for(&self.devices[device].engines[engine], state, at_most);
        }
        let is_there = state.devices[device].condition == Condition::Available;
        drop(state);
        while is_there && self.now_ns() < until_ns {
            std::hint::spin_loop();
        }
    }
}

/// Returns the processor time of the calling thread.
fn processor_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
