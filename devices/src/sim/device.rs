//! A simulated device as the runtime and tests see it. `unsafe` is needed here to implement the traits and their copies
//! of host memory.

use super::{
    counters::Counters,
    engine::{DeviceInner, MachineInner},
    faults::{Direction, Effect, Fault, Point},
    heap::Heap,
    queue::{SimQueue, duration_ns},
    spec::Spec,
    timeline::{Condition, DeviceTimeline, ENGINES, QueuedWork, Timeline},
    transfer::{self, PendingCopy},
};
use std::{
    any::Any,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use superscalar_runtime::{Device, DeviceError, DeviceInfo, DeviceMemory, Event, Finished, Issue, LinkInfo, Transfer};

/// A set of simulated devices that know each other: they can wait for each other's events and copy from each other's
/// heaps.
pub struct Machine;

impl Machine {
    /// Makes the devices. The runtime must be given them in this order, before any other device.
    ///
    /// # Errors
    /// If a spec is invalid, or the system cannot start threads.
    pub fn start(specs: &[Spec]) -> Result<Vec<Arc<SimDevice>>, DeviceError> {
        Self::start_at(0, specs)
    }

    /// Like [`start`](Self::start), but with `first` other devices given to the runtime before these.
    ///
    /// # Errors
    /// As for [`start`](Self::start), and if the device indices would overflow.
    pub fn start_at(first: u16, specs: &[Spec]) -> Result<Vec<Arc<SimDevice>>, DeviceError> {
        specs.iter().enumerate().try_for_each(|(index, spec)| spec.check(index, specs.len()))?;
        if usize::from(first) + specs.len() > usize::from(u16::MAX) {
            return Err(DeviceError::new(format!(
                "{} devices from index {first} on are more than there are indices",
                specs.len()
            )));
        }
        let timelines = specs.iter().map(|spec| DeviceTimeline::new(spec.name.clone(), spec.queues)).collect();
        let devices = specs.iter().cloned().map(DeviceInner::new).collect();
        let shared = Arc::new(MachineInner::new(Timeline::new(first, timelines), devices));
        (0..specs.len()).map(|index| SimDevice::start(&shared, first, index)).collect()
    }
}

/// One device of a [`Machine`]. Dropping it ends its work, joins its threads, and returns its heap to the system.
pub struct SimDevice {
    shared: Arc<MachineInner>,
    info: DeviceInfo,
    first: u16,
    index: usize,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl SimDevice {
    fn start(shared: &Arc<MachineInner>, first: u16, index: usize) -> Result<Arc<Self>, DeviceError> {
        let info = shared.devices[index].spec.info(first);
        // Constructed first, so that started threads are joined if starting one fails.
        let threads = Mutex::new(Vec::with_capacity(ENGINES));
        let device = Self { shared: shared.clone(), info, first, index, threads };
        let engines = if shared.devices[index].spec.peers.is_empty() { ENGINES - 1 } else { ENGINES };
        for (engine, work) in ["kernels", "copies in", "copies out", "peers"].into_iter().take(engines).enumerate() {
            let (name, shared) = (format!("{} {work}", device.info.name), shared.clone());
            // A thread's name must not contain a zero byte.
            let builder = thread::Builder::new().name(name.replace('\0', " "));
            let thread = builder.spawn(move || shared.run((index, engine)));
            let thread = thread.map_err(|error| {
                DeviceError::new(format!("cannot start a thread for `{}`: {error}", device.info.name))
            })?;
            device.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        }
        Ok(Arc::new(device))
    }

    fn inner(&self) -> &DeviceInner {
        &self.shared.devices[self.index]
    }

    /// Makes the device lost: from now on every call is refused, and all work in flight ends with an error that says
    /// so. When this returns, copies of the device no longer touch host memory. It must not be called from a copy.
    pub fn lose(&self) {
        self.shared.lose(self.index, Condition::Lost("`lose` was called".to_owned()));
        self.shared.await_no_copies(self.index);
    }

    /// Returns whether the device is lost.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.shared.lock().devices[self.index].check().is_err()
    }

    /// Adds a fault. Its occurrences are counted from now.
    pub fn inject(&self, fault: Fault) {
        self.inner().injector.add(fault);
    }

    /// Returns what the device has done so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let state = self.shared.lock();
        let at = &state.devices[self.index];
        let heap_peak_bytes = at.heap.as_ref().map_or(0, |heap| heap.peak_bytes() as u64);
        Counters { heap_peak_bytes, ..at.counters.clone() }
    }

    /// Closes or opens the gate: while it is closed, no task or copy of this device starts.
    pub fn gate(&self, is_gated: bool) {
        let mut state = self.shared.lock();
        let at = &mut state.devices[self.index];
        at.is_gated = is_gated;
        at.opened_ns = self.shared.now_ns();
        drop(state);
        self.shared.wake_engines(self.index);
    }

    /// Waits until the counters satisfy `until`, for at most `at_most`. Returns whether they do.
    ///
    /// ```
    /// # mod superscalar { pub use superscalar_devices as devices; pub use superscalar_runtime::*; }
    /// use std::time::Duration;
    /// use superscalar::devices::sim::{Machine, Spec};
    /// let devices = Machine::start(&[Spec::new("idle")])?;
    /// assert!(!devices[0].await_counters(Duration::from_millis(1), |counters| counters.issued > 0));
    /// # Ok::<(), superscalar::DeviceError>(())
    /// ```
    pub fn await_counters(&self, at_most: Duration, until: impl Fn(&Counters) -> bool) -> bool {
        let deadline = Instant::now() + at_most;
        let mut state = self.shared.lock();
        while !until(&state.devices[self.index].counters) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.shared.wait_for(&self.inner().changed, state, left);
        }
        true
    }

    /// Waits until `tasks` tasks were issued, for at most `at_most`. Returns whether they were.
    pub fn await_issued(&self, tasks: u64, at_most: Duration) -> bool {
        self.await_counters(at_most, |counters| counters.issued >= tasks)
    }

    /// Puts work into a queue, if the device is available and the events exist.
    fn push(&self, queue: usize, waits: &[Event], work: QueuedWork) -> Result<u64, DeviceError> {
        let mut state = self.shared.lock();
        let pushed = state.devices[self.index].check().and_then(|()| {
            state.check_waits(waits)?;
            state.push(self.index, queue, waits, self.shared.now_ns(), work)
        });
        let engine = state.engine_at(self.index, queue);
        drop(state);
        self.shared.wake_engine(engine);
        self.inner().changed.notify_all();
        pushed
    }

    /// Counts a refused call. The device is lost if the error says so.
    fn refused<T>(&self, result: Result<T, DeviceError>) -> Result<T, DeviceError> {
        if let Err(error) = &result {
            self.shared.lock().devices[self.index].counters.refused += 1;
            if error.is_lost() {
                self.shared.lose(self.index, Condition::Lost(error.to_string()));
            }
        }
        result
    }

    fn strike(&self, point: Point, what: &str) -> Result<(), DeviceError> {
        let name = &self.info.name;
        match self.inner().injector.strikes(point) {
            Some(Effect::Fails) => Err(DeviceError::new(format!("{what} `{name}` failed: injected fault"))),
            Some(Effect::Loses) => Err(DeviceError::lost(format!("`{name}` was lost at {what}: injected fault"))),
            None => Ok(()),
        }
    }

    fn try_issue(&self, queue: u16, waits: &[Event], issue: Issue<'_>) -> Result<u64, DeviceError> {
        if queue >= self.info.queues {
            return Err(DeviceError::new(format!("`{}` has no queue {queue} for tasks", self.info.name)));
        }
        let state = self.shared.lock();
        state.devices[self.index].check()?;
        state.check_waits(waits)?;
        drop(state);
        let mut at = SimQueue::new(self.info.speed, self.inner().injector.clone());
        issue(&mut at as &mut dyn Any)?;
        self.push(queue.into(), waits, QueuedWork::Kernels(at.into_launches()?))
    }

    fn try_copy(&self, transfer: &Transfer, waits: &[Event]) -> Result<u64, DeviceError> {
        let state = self.shared.lock();
        state.devices[self.index].check()?;
        drop(state);
        let direction = transfer::direction(transfer);
        let what = match direction {
            Direction::In => "a copy into",
            Direction::Out => "a copy out of",
            Direction::Peer => "a copy from a peer into",
        };
        self.strike(Point::CopyCall(direction), what)?;
        let pending = self.pending_copy(transfer)?;
        self.push(self.info.transfer_queue(transfer).into(), waits, QueuedWork::Copy(pending))
    }

    /// Checks a copy and prepares it for its queue.
    fn pending_copy(&self, transfer: &Transfer) -> Result<PendingCopy, DeviceError> {
        transfer::check_shapes(transfer)?;
        let state = self.shared.lock();
        let heap = state.devices[self.index].reserved_heap()?.clone();
        let Spec { align, peers, host_link, .. } = &self.inner().spec;
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
                let source = state.devices[usize::from(peer)].reserved_heap()?.clone();
                transfer::check_region(from, &source, self.shared.devices[usize::from(peer)].spec.align)?;
                (link, Some(source))
            }
        };
        let model_ns = latency_ns + duration_ns(transfer::bytes(transfer) as f64, bytes_per_s);
        Ok(PendingCopy { transfer: *transfer, model_ns, heap, source })
    }
}

// SAFETY: an engine reports an end only after it has executed the work.
unsafe impl Device for SimDevice {
    fn info(&self) -> DeviceInfo {
        self.info.clone()
    }

    fn can_wait_for(&self, device: u16) -> bool {
        self.shared.lock().index_of(device).is_some()
    }

    fn issue(&self, queue: u16, waits: &[Event], issue: Issue<'_>) -> Result<u64, DeviceError> {
        self.refused(self.try_issue(queue, waits, issue))
    }

    fn poll(&self, report: &mut dyn FnMut(Finished)) {
        let finished = std::mem::take(&mut self.shared.lock().devices[self.index].finished);
        let now_ns = self.shared.now_ns();
        for (one, end_ns) in finished {
            report(Finished { ended_ago_ns: end_ns.map(|end_ns| now_ns.saturating_sub(end_ns)), ..one });
        }
    }

    fn wait(&self, at_most: Duration) {
        let deadline = Instant::now() + at_most;
        let mut state = self.shared.lock();
        while state.devices[self.index].finished.is_empty() && !state.devices[self.index].is_woken {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.shared.wait_for(&self.inner().issuer, state, left);
        }
        state.devices[self.index].is_woken = false;
    }

    fn wake(&self) {
        self.shared.lock().devices[self.index].is_woken = true;
        self.inner().issuer.notify_all();
    }

    fn memory(&self) -> Option<&dyn DeviceMemory> {
        Some(self)
    }
}

// SAFETY: an engine reports an end only after it has executed the copy.
unsafe impl DeviceMemory for SimDevice {
    fn reserve(&self) -> Result<(), DeviceError> {
        self.refused(self.strike(Point::Reserve, "the heap of").and_then(|()| {
            let mut state = self.shared.lock();
            let at = &mut state.devices[self.index];
            at.check()?;
            if at.heap.is_some() {
                return Err(DeviceError::new(format!("the heap of `{}` is already reserved", self.info.name)));
            }
            let heap = Heap::map(self.inner().spec.memory_bytes);
            let named = |error| DeviceError::new(format!("`{}`: {error}", self.info.name));
            at.heap = Some(Arc::new(heap.map_err(named)?));
            Ok(())
        }))
    }

    unsafe fn copy(&self, transfer: &Transfer, waits: &[Event]) -> Result<u64, DeviceError> {
        self.refused(self.try_copy(transfer, waits))
    }
}

impl Drop for SimDevice {
    fn drop(&mut self) {
        self.shared.lose(self.index, Condition::Dropped);
        for thread in self.threads.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // The last owner may be a kernel. A thread cannot join itself; it ends on its own.
            if thread.thread().id() != thread::current().id() {
                // The threads of a machine do not panic: panics in kernels are caught.
                let _ = thread.join();
            }
        }
        self.shared.lock().devices[self.index].heap = None;
    }
}
