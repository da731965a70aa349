//! The threads of a machine: they do what stands in its queues, and keep its time.
//!
//! # How time is kept
//!
//! Every entry has a *modelled* start and end. It starts when its engine is free and its events are reached, both by the model,
//! and ends when its modelled time has passed, or when it has been done for as long as that really took. The end is reported
//! when it has come on the host's clock, too, and never before. A thread wakes some microseconds late, and on a busy host much
//! later; but since the next entry starts at the modelled end of the last one, delays do not add up: the host's clock
//! catches up, as long as doing takes less than the model says. What is done is timed in the thread's own processor
//! time, for the same reason: that the host's cores were busy elsewhere is no property of the device.
//!
//! A kernel is done at the start of its time. A copy is done at the end of it, so that whoever does not wait for the
//! copy's end does not find its data by luck, and who overwrites its source too early spoils it.
//!
//! # Who waits for whom
//!
//! One lock over the machine's state. An engine's thread sleeps on its own condition until it has something to begin; it is woken by
//! a push into an empty queue of its own, by the end of what its queue's first entry waits for, by the gate, and by the
//! device's loss. Each of these changes the state under the lock before it wakes, and the thread looks under the lock before
//! it sleeps, so no wake is lost. The issuer sleeps on another condition, tests on a third. Nothing foreign (kernels, their
//! being dropped, copies, implementations) runs under the lock.

use super::{
    faults::{Direction, Effect, Injector, Point},
    heap::Heap,
    queue::{Launch, drop_guarded},
    spec::Spec,
    timeline::{ARITHMETIC, Aftermath, Begun, Condition, ENGINES, Ended, EngineAt, State, Work},
    transfer::{self, Copying},
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

/// The last stretch of a wait is spun: so long a sleep, asked for with the least slack, is late by as a rule.
const SPIN_NS: u64 = 15_000;

/// What all of a machine's devices share.
pub(super) struct Shared {
    state: Mutex<State>,
    epoch: Instant,
    pub(super) devices: Vec<Parts>,
}

/// What belongs to one device, and stands outside the lock.
pub(super) struct Parts {
    pub(super) spec: Spec,
    pub(super) injector: Arc<Injector>,
    /// That the device is gone, for copies that are on their way.
    is_gone: AtomicBool,
    engines: [Condvar; ENGINES],
    /// Something has ended, or the issuer was woken.
    pub(super) issuer: Condvar,
    /// Something was issued or has ended.
    pub(super) changed: Condvar,
}

impl Parts {
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

impl Shared {
    pub(super) fn new(state: State, devices: Vec<Parts>) -> Self {
        Self { state: Mutex::new(state), epoch: Instant::now(), devices }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wait<'a>(&self, on: &Condvar, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        on.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for so long at most.
    pub(super) fn wait_for<'a>(
        &self,
        on: &Condvar,
        state: MutexGuard<'a, State>,
        at_most: Duration,
    ) -> MutexGuard<'a, State> {
        on.wait_timeout(state, at_most).unwrap_or_else(PoisonError::into_inner).0
    }

    pub(super) fn now_ns(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    pub(super) fn wake_engine(&self, (device, engine): EngineAt) {
        self.devices[device].engines[engine].notify_one();
    }

    pub(super) fn wake_engines(&self, device: usize) {
        (0..ENGINES).for_each(|engine| self.wake_engine((device, engine)));
    }

    /// Wakes whom the change concerns, and drops, without the lock, what it left over.
    pub(super) fn settle(&self, device: usize, state: MutexGuard<'_, State>, aftermath: Aftermath) {
        drop(state);
        aftermath.engines.into_iter().for_each(|engine| self.wake_engine(engine));
        self.devices[device].issuer.notify_all();
        self.devices[device].changed.notify_all();
        drop_guarded(aftermath.dropped);
    }

    /// The device is gone, from now on.
    pub(super) fn lose(&self, device: usize, condition: Condition) {
        let mut state = self.lock();
        self.devices[device].is_gone.store(true, Ordering::Relaxed);
        let aftermath = state.lose(device, condition, self.now_ns());
        self.settle(device, state, aftermath);
    }

    /// Returns when no copy of a device that is gone touches host memory any more.
    pub(super) fn await_quiet(&self, device: usize) {
        let mut state = self.lock();
        while state.devices[device].copying > 0 {
            state = self.wait(&self.devices[device].changed, state);
        }
    }

    /// What an engine's thread does until its device is dropped.
    pub(super) fn run(&self, at: EngineAt) {
        // A sleep is otherwise up to 50 µs late. Where it can not be set, it stays so.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let (device, engine) = at;
        let mut state = self.lock();
        loop {
            if state.devices[device].condition == Condition::Dropped {
                return;
            }
            let Some(Begun { queue, ticket, start_ns, is_spoiled, work }) = state.begin(at) else {
                state = self.wait(&self.devices[device].engines[engine], state);
                continue;
            };
            let heap = state.devices[device].reserved().cloned();
            drop(state);
            let (busy_ns, result) = match work {
                _ if is_spoiled => (0, Err(DeviceError::new("something that it waited for has failed"))),
                Work::Kernels(launches) => self.run_kernels(device, start_ns, launches, heap),
                Work::Copy(copying) => self.run_copy((device, engine), start_ns, &copying),
            };
            if let Err(error) = &result
                && error.is_lost()
            {
                self.lose(device, Condition::Lost(error.to_string()));
            }
            state = self.lock();
            let ended = Ended { queue, ticket, end_ns: start_ns + busy_ns, busy_ns, result };
            let aftermath = state.end(device, ended);
            self.settle(device, state, aftermath);
            state = self.lock();
        }
    }

    /// Does the kernels of one task, and returns when their time is over, with how long that was.
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
        drop_guarded(launches);
        self.sleep_until((device, ARITHMETIC), start_ns + busy_ns);
        // It is cut short if the device is gone.
        let busy_ns = busy_ns.min(self.now_ns().saturating_sub(start_ns));
        let counters = &mut self.lock().devices[device].counters;
        counters.kernels += ran;
        counters.kernels_busy_ns += busy_ns;
        (busy_ns, result)
    }

    /// Waits until a copy's time is over, and does it.
    fn run_copy(&self, at: EngineAt, start_ns: u64, copying: &Copying) -> (u64, Result<(), DeviceError>) {
        let Parts { injector, is_gone, changed, .. } = &self.devices[at.0];
        let direction = transfer::direction(&copying.transfer);
        let strikes = injector.strikes(Point::Copy(direction));
        self.sleep_until(at, start_ns + copying.model_ns);
        // It is cut short if the device is gone.
        let model_ns = copying.model_ns.min(self.now_ns().saturating_sub(start_ns));
        match strikes {
            Some(Effect::Fails) => return (model_ns, Err(DeviceError::new("a copy failed, by an injected fault"))),
            Some(Effect::Loses) => {
                return (model_ns, Err(DeviceError::lost("the device was lost in a copy, by an injected fault")));
            }
            None => {}
        }
        let mut state = self.lock();
        let can_copy = state.devices[at.0].check().and_then(|()| match copying.transfer {
            Transfer::Peer { device, .. } => state.place(device).map_or(Ok(()), |peer| {
                let is_there = state.devices[peer].check();
                is_there.map_err(|error| DeviceError::new(format!("a copy from a peer failed: {error}")))
            }),
            _ => Ok(()),
        });
        if let Err(error) = can_copy {
            return (model_ns, Err(error));
        }
        state.devices[at.0].copying += 1;
        drop(state);
        let begun_ns = processor_ns();
        // SAFETY: `begin` gave it out, so its events are reached; its end is reported by the caller, afterwards.
        let result = unsafe { copying.run(&|| !is_gone.load(Ordering::Relaxed)) };
        let busy_ns = model_ns.max(processor_ns() - begun_ns);
        let mut state = self.lock();
        let at = &mut state.devices[at.0];
        at.copying -= 1;
        changed.notify_all();
        if result.is_ok() {
            let traffic = match (direction, copying.transfer) {
                (_, Transfer::Peer { device, .. }) => at.counters.peer(device),
                (Direction::Out, _) => &mut at.counters.copies_out,
                _ => &mut at.counters.copies_in,
            };
            traffic.add(transfer::bytes(&copying.transfer), busy_ns);
        }
        (busy_ns, result)
    }

    /// Returns when it is so late, or the device is gone.
    fn sleep_until(&self, (device, engine): EngineAt, until_ns: u64) {
        let mut state = self.lock();
        while state.devices[device].condition == Condition::There {
            let left_ns = until_ns.saturating_sub(self.now_ns());
            if left_ns <= SPIN_NS {
                break;
            }
            let at_most = Duration::from_nanos(left_ns - SPIN_NS);
            state = self.wait_for(&self.devices[device].engines[engine], state, at_most);
        }
        let is_there = state.devices[device].condition == Condition::There;
        drop(state);
        while is_there && self.now_ns() < until_ns {
            std::hint::spin_loop();
        }
    }
}

/// Processor time of the calling thread.
fn processor_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
