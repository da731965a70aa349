//! Devices for tests: real asynchrony without hardware.
//!
//! A [`Machine`] is a set of devices. Each device has in-order queues, and each queue has a thread. The thread takes
//! one piece of work at a time, waits for its events, sleeps for a random time, and runs the work. Work can wait for
//! events of other queues and devices. A *gate* holds a device's work back, so that a test can see what is issued
//! before anything runs. Refusals and failures can be injected, and everything is counted.

// Each test binary uses only a part of it.
#![allow(dead_code)]

use std::{
    collections::{HashMap, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};
use superscalar_runtime::{Device, DeviceError, DeviceInfo, DeviceKind, Event, Finished, Issue, Speed};

/// Work as an implementation puts it into a queue.
pub type Work = Box<dyn FnOnce() -> Result<(), DeviceError> + Send>;

/// The queue as an implementation sees it: it takes one piece of work.
#[derive(Default)]
pub struct TestQueue {
    work: Option<Work>,
}

impl TestQueue {
    pub fn put(&mut self, work: impl FnOnce() -> Result<(), DeviceError> + Send + 'static) {
        assert!(self.work.is_none(), "a task puts in only one piece of work");
        self.work = Some(Box::new(work));
    }
}

/// The properties of a device.
#[derive(Clone, Debug)]
pub struct Spec {
    pub kind: DeviceKind,
    pub queues: u16,
    pub urgent_queues: u16,
    pub depth: usize,
    /// The other devices whose events its queues can wait for.
    pub waits_for: Vec<u16>,
    /// The maximum of the random delay before each piece of work.
    pub delay_us_max: u64,
    /// Whether it reports how long work took, and when it ended.
    pub tells_times: bool,
    /// The speed that it states.
    pub speed: Speed,
}

impl Spec {
    pub fn new(kind: &'static str) -> Self {
        Self {
            kind: DeviceKind(kind),
            queues: 2,
            urgent_queues: 0,
            depth: 4,
            waits_for: (0..16).collect(),
            delay_us_max: 0,
            tells_times: false,
            speed: Speed::default(),
        }
    }
}

/// A set of devices.
pub struct Machine {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    devices: Vec<DeviceState>,
    is_closing: bool,
}

struct DeviceState {
    queues: Vec<QueueState>,
    /// Finished work that was not reported yet.
    finished: Vec<FinishedWork>,
    is_gated: bool,
    wakes: u32,
}

struct FinishedWork {
    queue: u16,
    ticket: u64,
    times: Times,
    result: Result<(), DeviceError>,
}

struct QueuedWork {
    ticket: u64,
    events: Vec<Event>,
    work: Work,
}

/// The duration of work, and when it ended.
type Times = (Duration, Instant);

#[derive(Default)]
struct QueueState {
    waiting: VecDeque<QueuedWork>,
    issued: u64,
    finished: u64,
}

/// The events counted so far.
#[derive(Default)]
pub struct Counters {
    pub issued: AtomicU32,
    pub refused: AtomicU32,
    pub finished: AtomicU32,
    /// Number of events that queues were told to wait for.
    pub events: AtomicU32,
    /// Number of calls of `wait`.
    pub waits: AtomicU32,
    /// Number of tasks whose durations were not wanted.
    pub untimed: AtomicU32,
}

/// One device of a [`Machine`].
pub struct TestDevice {
    machine: Arc<Machine>,
    index: usize,
    spec: Spec,
    pub counters: Arc<Counters>,
    /// The number of following calls of `issue` that are refused.
    pub refuse_next: AtomicU32,
    /// Whether it holds its reports back.
    is_mute: AtomicBool,
    /// The queue of each piece of work, in the order of issue.
    queues: Mutex<Vec<u16>>,
    /// The times that it reports, by queue and ticket.
    times: Mutex<HashMap<(u16, u64), Times>>,
    /// The next piece of work that finishes reports a failure, whatever its result.
    pub fail_next: Arc<AtomicBool>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Machine {
    /// Creates the devices, in the order in which the runtime must be given them.
    pub fn start(specs: &[Spec]) -> Vec<Arc<TestDevice>> {
        let device = |spec: &Spec| DeviceState {
            queues: (0..spec.queues).map(|_| QueueState::default()).collect(),
            finished: Vec::new(),
            is_gated: false,
            wakes: 0,
        };
        let state = State { devices: specs.iter().map(device).collect(), is_closing: false };
        let machine = Arc::new(Self { state: Mutex::new(state), changed: Condvar::new() });
        specs.iter().enumerate().map(|(index, spec)| TestDevice::start(&machine, index, spec)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    fn run_queue(&self, device: usize, queue: usize, delays: &Delays, counters: &Counters, fail_next: &AtomicBool) {
        let mut state = self.lock();
        loop {
            while !state.is_closing && state.next_can_run(device, queue).is_none() {
                state = self.wait(state);
            }
            if state.is_closing {
                return;
            }
            let next = state.devices[device].queues[queue].waiting.pop_front();
            let Some(QueuedWork { ticket, work, .. }) = next else { continue };
            drop(state);
            let begun = Instant::now();
            delays.sleep();
            let mut result =
                catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(DeviceError::new("the work panicked")));
            if fail_next.swap(false, Ordering::SeqCst) {
                result = Err(DeviceError::new("injected"));
            }
            let times = (begun.elapsed(), Instant::now());
            counters.finished.fetch_add(1, Ordering::SeqCst);
            state = self.lock();
            state.devices[device].queues[queue].finished = ticket;
            state.devices[device].finished.push(FinishedWork { queue: queue as u16, ticket, times, result });
            self.changed.notify_all();
        }
    }
}

impl State {
    /// Returns whether all events of the first piece of work are reached.
    fn next_can_run(&self, device: usize, queue: usize) -> Option<()> {
        let QueuedWork { events, .. } = self.devices[device].queues[queue].waiting.front()?;
        let reached = |event: &Event| {
            let queue = &self.devices[usize::from(event.device)].queues[usize::from(event.queue)];
            queue.finished >= event.ticket
        };
        (!self.devices[device].is_gated && events.iter().all(reached)).then_some(())
    }
}

/// Random delays, without a shared generator.
struct Delays {
    us_max: u64,
    state: AtomicU64,
}

impl Delays {
    fn sleep(&self) {
        if self.us_max == 0 {
            return;
        }
        let mut x = self.state.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let us = (x >> 33) % (self.us_max + 1);
        if us > 0 {
            std::thread::sleep(Duration::from_micros(us));
        }
    }
}

impl TestDevice {
    fn start(machine: &Arc<Machine>, index: usize, spec: &Spec) -> Arc<Self> {
        let (counters, fail_next) = (Arc::<Counters>::default(), Arc::<AtomicBool>::default());
        let start = |queue: u16| {
            let (machine, counters, fail_next) = (machine.clone(), counters.clone(), fail_next.clone());
            let delays = Delays { us_max: spec.delay_us_max, state: AtomicU64::new(u64::from(queue)) };
            std::thread::spawn(move || machine.run_queue(index, queue.into(), &delays, &counters, &fail_next))
        };
        let threads = (0..spec.queues).map(start).collect();
        Arc::new(Self {
            machine: machine.clone(),
            index,
            spec: spec.clone(),
            counters: counters.clone(),
            refuse_next: AtomicU32::new(0),
            is_mute: AtomicBool::new(false),
            queues: Mutex::default(),
            times: Mutex::default(),
            fail_next: fail_next.clone(),
            threads: Mutex::new(threads),
        })
    }

    /// Holds back work that has not begun, or lets it run.
    pub fn gate(&self, is_gated: bool) {
        self.machine.lock().devices[self.index].is_gated = is_gated;
        self.machine.changed.notify_all();
    }

    /// Holds back the reports of finished work, or sends them.
    pub fn mute(&self, is_mute: bool) {
        let _state = self.machine.lock();
        self.is_mute.store(is_mute, Ordering::SeqCst);
        self.machine.changed.notify_all();
    }

    /// Sets the duration and the end time that it will report for this work.
    pub fn tells(&self, queue: u16, ticket: u64, busy: Duration, ended: Instant) {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        times.insert((queue, ticket), (busy, ended));
    }

    pub fn issued(&self) -> u32 {
        self.counters.issued.load(Ordering::SeqCst)
    }

    /// Returns the queue of each piece of work so far, in the order of issue.
    pub fn queues(&self) -> Vec<u16> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn finished(&self) -> u32 {
        self.counters.finished.load(Ordering::SeqCst)
    }

    /// Aborts the process if an event is invalid. A panic here would only end the issuer, and look like a hang.
    fn check(&self, waits: &[Event]) {
        let state = self.machine.lock();
        for event in waits {
            let own = usize::from(event.device) == self.index;
            let issued = state.devices[usize::from(event.device)].queues[usize::from(event.queue)].issued;
            if !(1..=issued).contains(&event.ticket) || !own && !self.can_wait_for(event.device) {
                eprintln!("device {} was told to wait for {event:?}", self.index);
                std::process::abort();
            }
        }
    }

    /// Waits up to ten seconds until `count` pieces of work were issued; returns whether they were. If not, all gates
    /// are opened, so that a test that panics then can end.
    pub fn await_issued(&self, count: u32) -> bool {
        let until = std::time::Instant::now() + Duration::from_secs(10);
        while self.issued() < count && std::time::Instant::now() < until {
            std::thread::sleep(Duration::from_micros(200));
        }
        let is_issued = self.issued() >= count;
        if !is_issued {
            self.machine.lock().devices.iter_mut().for_each(|device| device.is_gated = false);
            self.machine.changed.notify_all();
        }
        is_issued
    }
}

impl Drop for TestDevice {
    fn drop(&mut self) {
        self.machine.lock().is_closing = true;
        self.machine.changed.notify_all();
        for thread in self.threads.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = thread.join();
        }
    }
}

// SAFETY: its threads run work after its events, and report it when it has ended.
unsafe impl Device for TestDevice {
    fn info(&self) -> DeviceInfo {
        let Spec { kind, queues, urgent_queues, depth, .. } = self.spec;
        DeviceInfo {
            name: format!("{}:{}", kind.0, self.index),
            kind,
            queues,
            urgent_queues,
            depth,
            memory: None,
            speed: self.spec.speed,
        }
    }

    fn can_wait_for(&self, device: u16) -> bool {
        self.spec.waits_for.contains(&device)
    }

    fn issue(&self, queue: u16, waits: &[Event], issue: Issue<'_>) -> Result<u64, DeviceError> {
        self.check(waits);
        let refused = self.refuse_next.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        let mut at = TestQueue::default();
        let result = if refused.is_ok() { Err(DeviceError::new("refused")) } else { issue(&mut at) };
        if let Err(error) = result {
            self.counters.refused.fetch_add(1, Ordering::SeqCst);
            return Err(error);
        }
        let work = at.work.take().unwrap_or_else(|| Box::new(|| Ok(())));
        self.counters.events.fetch_add(waits.len() as u32, Ordering::SeqCst);
        self.queues.lock().unwrap_or_else(PoisonError::into_inner).push(queue);
        let mut state = self.machine.lock();
        let queue = &mut state.devices[self.index].queues[usize::from(queue)];
        queue.issued += 1;
        let ticket = queue.issued;
        queue.waiting.push_back(QueuedWork { ticket, events: waits.to_vec(), work });
        self.counters.issued.fetch_add(1, Ordering::SeqCst);
        self.machine.changed.notify_all();
        Ok(ticket)
    }

    fn issue_untimed(&self, queue: u16, waits: &[Event], issue: Issue<'_>) -> Result<u64, DeviceError> {
        self.counters.untimed.fetch_add(1, Ordering::SeqCst);
        self.issue(queue, waits, issue)
    }

    fn poll(&self, report: &mut dyn FnMut(Finished)) {
        if self.is_mute.load(Ordering::SeqCst) {
            return;
        }
        let finished = std::mem::take(&mut self.machine.lock().devices[self.index].finished);
        let ns = |time: Duration| time.as_nanos() as u64;
        for FinishedWork { queue, ticket, times, result } in finished {
            let told = self.times.lock().unwrap_or_else(PoisonError::into_inner).remove(&(queue, ticket));
            let times = told.or(self.spec.tells_times.then_some(times));
            let (busy_ns, ended_ago_ns) = times.map(|(busy, ended)| (ns(busy), ns(ended.elapsed()))).unzip();
            report(Finished { queue, ticket, busy_ns, ended_ago_ns, result });
        }
    }

    fn wait(&self, at_most: Duration) {
        self.counters.waits.fetch_add(1, Ordering::SeqCst);
        let mut state = self.machine.lock();
        let until = std::time::Instant::now() + at_most;
        let is_mute = || self.is_mute.load(Ordering::SeqCst);
        while (is_mute() || state.devices[self.index].finished.is_empty()) && state.devices[self.index].wakes == 0 {
            let left = until.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.machine.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.devices[self.index].wakes = 0;
    }

    fn wake(&self) {
        self.machine.lock().devices[self.index].wakes += 1;
        self.machine.changed.notify_all();
    }
}

/// Returns the queue of a context as a queue of these devices.
pub fn queue<'a>(queue: &'a mut superscalar_runtime::IssueContext<'_>) -> Result<&'a mut TestQueue, DeviceError> {
    queue.queue::<TestQueue>()
}
