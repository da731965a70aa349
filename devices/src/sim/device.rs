//! A simulated device as the runtime and tests see it. `unsafe` stands here for the interface's promise about host memory.

use super::{
    counters::Counters,
    engine::{Parts, Shared},
    faults::{Direction, Effect, Fault, Point},
    heap::Heap,
    queue::{SimQueue, seconds_ns},
    spec::Spec,
    timeline::{Condition, DeviceState, ENGINES, State, Work},
    transfer::{self, Copying},
};
use std::{
    any::Any,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use superscalar_runtime::{Device, DeviceError, DeviceInfo, DeviceMemory, Event, Finished, Issue, LinkInfo, Transfer};

/// A set of simulated devices that know each other: they wait for each other's events, and copy from each other's heaps.
pub struct Machine;

impl Machine {
    /// Makes the devices, in the order in which the runtime must be given them, before any other.
    ///
    /// # Errors
    /// If a spec makes no sense, or the system gives no threads.
    pub fn start(specs: &[Spec]) -> Result<Vec<Arc<SimDevice>>, DeviceError> {
        Self::start_at(0, specs)
    }

    /// The same, where so many other devices are given to the builder before these.
    ///
    /// # Errors
    /// As [`start`](Self::start), and if there are more devices than indices.
    pub fn start_at(first: u16, specs: &[Spec]) -> Result<Vec<Arc<SimDevice>>, DeviceError> {
        specs.iter().enumerate().try_for_each(|(place, spec)| spec.check(place, specs.len()))?;
        if usize::from(first) + specs.len() > usize::from(u16::MAX) {
            return Err(DeviceError::new(format!("{} devices from {first} on are too many", specs.len())));
        }
        let states = specs.iter().map(|spec| DeviceState::new(spec.name.clone(), spec.queues)).collect();
        let parts = specs.iter().cloned().map(Parts::new).collect();
        let shared = Arc::new(Shared::new(State::new(first, states), parts));
        (0..specs.len()).map(|place| SimDevice::start(&shared, first, place)).collect()
    }
}

/// One device of a [`Machine`]. When it is dropped, its work ends, its threads are joined, and its heap goes back to the system.
pub struct SimDevice {
    shared: Arc<Shared>,
    info: DeviceInfo,
    first: u16,
    place: usize,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl SimDevice {
    fn start(shared: &Arc<Shared>, first: u16, place: usize) -> Result<Arc<Self>, DeviceError> {
        let info = shared.devices[place].spec.info(first);
        // Made first, so that threads are joined if one of them can not be had.
        let threads = Mutex::new(Vec::with_capacity(ENGINES));
        let device = Self { shared: shared.clone(), info, first, place, threads };
        let engines = if shared.devices[place].spec.peers.is_empty() { ENGINES - 1 } else { ENGINES };
        for (engine, work) in ["kernels", "copies in", "copies out", "peers"].into_iter().take(engines).enumerate() {
            let (name, shared) = (format!("{} {work}", device.info.name), shared.clone());
            // A name with a zero byte would be a panic.
            let builder = thread::Builder::new().name(name.replace('\0', " "));
            let thread = builder.spawn(move || shared.run((place, engine)));
            let thread =
                thread.map_err(|error| DeviceError::new(format!("no thread for `{}`: {error}", device.info.name)))?;
            device.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        }
        Ok(Arc::new(device))
    }

    fn parts(&self) -> &Parts {
        &self.shared.devices[self.place]
    }

    /// The device is lost: from now on every call is refused, and all work in flight ends, with an error that says so. When this
    /// returns, copies of the device touch no host memory any more. It must not be called from a copy.
    pub fn lose(&self) {
        self.shared.lose(self.place, Condition::Lost("somebody told it so".to_owned()));
        self.shared.await_quiet(self.place);
    }

    /// Whether it is lost.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.shared.lock().devices[self.place].check().is_err()
    }

    /// One more fault; it counts from now.
    pub fn inject(&self, fault: Fault) {
        self.parts().injector.add(fault);
    }

    /// What happened so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let state = self.shared.lock();
        let at = &state.devices[self.place];
        let heap_peak_bytes = at.heap.as_ref().map_or(0, |heap| heap.peak_bytes() as u64);
        Counters { heap_peak_bytes, ..at.counters.clone() }
    }

    /// Holds back, or lets go, tasks and copies that have not begun.
    pub fn gate(&self, is_gated: bool) {
        let mut state = self.shared.lock();
        let at = &mut state.devices[self.place];
        at.is_gated = is_gated;
        at.opened_ns = self.shared.now_ns();
        drop(state);
        self.shared.wake_engines(self.place);
    }

    /// Waits until the counters are so, for so long at most; says whether they are.
    ///
    /// ```
    /// use std::time::Duration;
    /// use superscalar::devices::sim::{Machine, Spec};
    /// let devices = Machine::start(&[Spec::new("idle")])?;
    /// assert!(!devices[0].await_counters(Duration::from_millis(1), |counters| counters.issued > 0));
    /// # Ok::<(), superscalar::DeviceError>(())
    /// ```
    pub fn await_counters(&self, at_most: Duration, until: impl Fn(&Counters) -> bool) -> bool {
        let deadline = Instant::now() + at_most;
        let mut state = self.shared.lock();
        while !until(&state.devices[self.place].counters) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.shared.wait_for(&self.parts().changed, state, left);
        }
        true
    }

    /// Waits until so many tasks were issued, for so long at most; says whether they were.
    pub fn await_issued(&self, tasks: u64, at_most: Duration) -> bool {
        self.await_counters(at_most, |counters| counters.issued >= tasks)
    }

    /// Puts work into a queue, if the device is there and the events are.
    fn push(&self, queue: usize, waits: &[Event], work: Work) -> Result<u64, DeviceError> {
        let mut state = self.shared.lock();
        let pushed = state.devices[self.place].check().and_then(|()| {
            state.check_waits(waits)?;
            state.push(self.place, queue, waits, self.shared.now_ns(), work)
        });
        let engine = state.engine_at(self.place, queue);
        drop(state);
        self.shared.wake_engine(engine);
        self.parts().changed.notify_all();
        pushed
    }

    /// Counts a refusal; the device may be lost by it.
    fn refused<T>(&self, result: Result<T, DeviceError>) -> Result<T, DeviceError> {
        if let Err(error) = &result {
            self.shared.lock().devices[self.place].counters.refused += 1;
            if error.is_lost() {
                self.shared.lose(self.place, Condition::Lost(error.to_string()));
            }
        }
        result
    }

    fn strike(&self, point: Point, what: &str) -> Result<(), DeviceError> {
        let name = &self.info.name;
        match self.parts().injector.strikes(point) {
            Some(Effect::Fails) => Err(DeviceError::new(format!("{what} `{name}` failed, by an injected fault"))),
            Some(Effect::Loses) => Err(DeviceError::lost(format!("`{name}` was lost at {what}, by an injected fault"))),
            None => Ok(()),
        }
    }

    fn try_issue(&self, queue: u16, waits: &[Event], issue: Issue<'_>) -> Result<u64, DeviceError> {
        if queue >= self.info.queues {
            return Err(DeviceError::new(format!("`{}` has no queue {queue} for tasks", self.info.name)));
        }
        let state = self.shared.lock();
        state.devices[self.place].check()?;
        state.check_waits(waits)?;
        drop(state);
        let mut at = SimQueue::new(self.info.speed, self.parts().injector.clone());
        issue(&mut at as &mut dyn Any)?;
        self.push(queue.into(), waits, Work::Kernels(at.into_launches()?))
    }

    fn try_copy(&self, transfer: &Transfer, waits: &[Event]) -> Result<u64, DeviceError> {
        let state = self.shared.lock();
        state.devices[self.place].check()?;
        drop(state);
        let direction = transfer::direction(transfer);
        let what = match direction {
            Direction::In => "a copy into",
            Direction::Out => "a copy out of",
            Direction::Peer => "a copy from a peer into",
        };
        self.strike(Point::CopyCall(direction), what)?;
        let copying = self.copying(transfer)?;
        self.push(self.info.transfer_queue(transfer).into(), waits, Work::Copy(copying))
    }

    /// The copy, if it can be made.
    fn copying(&self, transfer: &Transfer) -> Result<Copying, DeviceError> {
        transfer::check_shapes(transfer)?;
        let state = self.shared.lock();
        let heap = state.devices[self.place].reserved()?.clone();
        let Spec { align, peers, host_link, .. } = &self.parts().spec;
        let (LinkInfo { bytes_per_s, latency_ns }, source) = match transfer {
            Transfer::In { to: own, .. } | Transfer::Out { from: own, .. } => {
                transfer::check_region(own, &heap, *align)?;
                (*host_link, None)
            }
            Transfer::Peer { device, from, to } => {
                transfer::check_region(to, &heap, *align)?;
                let peer = device.checked_sub(self.first);
                let link = peers.iter().find(|(known, _)| Some(*known) == peer);
                let &(peer, link) = link
                    .ok_or_else(|| DeviceError::new(format!("device {device} is no peer of `{}`", self.info.name)))?;
                let source = state.devices[usize::from(peer)].reserved()?.clone();
                transfer::check_region(from, &source, self.shared.devices[usize::from(peer)].spec.align)?;
                (link, Some(source))
            }
        };
        let model_ns = latency_ns + seconds_ns(transfer::bytes(transfer) as f64, bytes_per_s);
        Ok(Copying { transfer: *transfer, model_ns, heap, source })
    }
}

// SAFETY: what an engine has reported, it has done.
unsafe impl Device for SimDevice {
    fn info(&self) -> DeviceInfo {
        self.info.clone()
    }

    fn can_wait_for(&self, device: u16) -> bool {
        self.shared.lock().place(device).is_some()
    }

    fn issue(&self, queue: u16, waits: &[Event], issue: Issue<'_>) -> Result<u64, DeviceError> {
        self.refused(self.try_issue(queue, waits, issue))
    }

    fn poll(&self, report: &mut dyn FnMut(Finished)) {
        let finished = std::mem::take(&mut self.shared.lock().devices[self.place].finished);
        let now_ns = self.shared.now_ns();
        for (one, end_ns) in finished {
            report(Finished { ended_ago_ns: end_ns.map(|end_ns| now_ns.saturating_sub(end_ns)), ..one });
        }
    }

    fn wait(&self, at_most: Duration) {
        let deadline = Instant::now() + at_most;
        let mut state = self.shared.lock();
        while state.devices[self.place].finished.is_empty() && !state.devices[self.place].is_woken {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.shared.wait_for(&self.parts().issuer, state, left);
        }
        state.devices[self.place].is_woken = false;
    }

    fn wake(&self) {
        self.shared.lock().devices[self.place].is_woken = true;
        self.parts().issuer.notify_all();
    }

    fn memory(&self) -> Option<&dyn DeviceMemory> {
        Some(self)
    }
}

// SAFETY: what an engine has reported, it has done.
unsafe impl DeviceMemory for SimDevice {
    fn reserve(&self) -> Result<(), DeviceError> {
        self.refused(self.strike(Point::Reserve, "the heap of").and_then(|()| {
            let mut state = self.shared.lock();
            let at = &mut state.devices[self.place];
            at.check()?;
            if at.heap.is_some() {
                return Err(DeviceError::new(format!("the heap of `{}` is reserved already", self.info.name)));
            }
            at.heap = Some(Arc::new(Heap::map(self.parts().spec.memory_bytes)?));
            Ok(())
        }))
    }

    unsafe fn copy(&self, transfer: &Transfer, waits: &[Event]) -> Result<u64, DeviceError> {
        self.refused(self.try_copy(transfer, waits))
    }
}

impl Drop for SimDevice {
    fn drop(&mut self) {
        self.shared.lose(self.place, Condition::Dropped);
        for thread in self.threads.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // The last owner may be a kernel; a thread can not join itself, and ends by itself.
            if thread.thread().id() != thread::current().id() {
                // A thread of a machine does not panic: kernels are caught.
                let _ = thread.join();
            }
        }
        self.shared.lock().devices[self.place].heap = None;
    }
}
