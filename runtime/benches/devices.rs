//! The runtime's cost of a device task: empty tasks for drivers that finish work at once.
//!
//! ```text
//! cargo bench -p superscalar-runtime --bench devices [-- part of a case's name]
//! ```
//!
//! Prints one line per case, policy and kind of driver (with its own heap, which is never accessed, or without):
//! nanoseconds per task from the first insertion until all are done, with insertion and issue in parallel. The numbers
//! are medians of several rounds. They include the driver's own share, a lock and a few words.

use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use superscalar_runtime::{
    Codelet, Device, DeviceError, DeviceInfo, DeviceKind, DeviceMemory, Event, Finished, Issue, IssueContext, Lent,
    LinkInfo, MemoryInfo, PolicyName, Reads, Resource, Runtime, Scope, Speed, Transfer, Updates,
};

const NULL: DeviceKind = DeviceKind("null");
const QUEUES: u16 = 4;
const TASKS: usize = 20_000;
const HANDLES: usize = 64;
const ROUNDS: usize = 9;
const SPIN: Duration = Duration::from_micros(30);

type Vector = Vec<u64>;

/// A driver whose work is finished as soon as it is issued.
struct Null {
    index: u16,
    has_heap: bool,
    state: Mutex<State>,
    called: Condvar,
    /// Whether there is something to report, or the issuer was woken.
    is_due: AtomicBool,
    is_asleep: AtomicBool,
}

#[derive(Default)]
struct State {
    issued: [u64; QUEUES as usize + 3],
    finished: Vec<(u16, u64)>,
}

impl Null {
    fn new(index: u16, has_heap: bool) -> Arc<Self> {
        let [is_due, is_asleep] = [(); 2].map(|()| AtomicBool::default());
        Arc::new(Self { index, has_heap, state: Mutex::default(), called: Condvar::new(), is_due, is_asleep })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, queue: u16) -> u64 {
        let mut state = self.lock();
        let ticket = &mut state.issued[usize::from(queue)];
        *ticket += 1;
        let ticket = *ticket;
        state.finished.push((queue, ticket));
        drop(state);
        self.wake();
        ticket
    }
}

// SAFETY: no work accesses any data.
unsafe impl Device for Null {
    fn info(&self) -> DeviceInfo {
        let link = LinkInfo { bytes_per_s: 50e9, latency_ns: 1000 };
        let heap = MemoryInfo { bytes: 1 << 20, align: 256, host: link, peers: vec![(1 - self.index, link)] };
        DeviceInfo {
            name: format!("null:{}", self.index),
            kind: NULL,
            queues: QUEUES,
            urgent_queues: 0,
            depth: 16,
            memory: self.has_heap.then_some(heap),
            speed: Speed::default(),
        }
    }

    fn can_wait_for(&self, _: u16) -> bool {
        true
    }

    fn issue(&self, queue: u16, _: &[Event], issue: Issue<'_>) -> Result<u64, DeviceError> {
        issue(&mut ())?;
        Ok(self.put(queue))
    }

    fn poll(&self, report: &mut dyn FnMut(Finished)) {
        let finished = std::mem::take(&mut self.lock().finished);
        for (queue, ticket) in finished {
            report(Finished { queue, ticket, busy_ns: None, ended_ago_ns: None, result: Ok(()) });
        }
    }

    fn wait(&self, at_most: Duration) {
        // Spins like a driver that waits for the end of short tasks, because the next event mostly comes at once.
        let until = Instant::now() + SPIN.min(at_most);
        while !self.is_due.load(Ordering::SeqCst) && Instant::now() < until {
            std::hint::spin_loop();
        }
        let state = self.lock();
        self.is_asleep.store(true, Ordering::SeqCst);
        let is_idle = |_: &mut State| !self.is_due.load(Ordering::SeqCst);
        let woken = self.called.wait_timeout_while(state, at_most, is_idle);
        drop(woken.unwrap_or_else(PoisonError::into_inner));
        self.is_asleep.store(false, Ordering::SeqCst);
        self.is_due.store(false, Ordering::SeqCst);
    }

    fn wake(&self) {
        self.is_due.store(true, Ordering::SeqCst);
        if self.is_asleep.load(Ordering::SeqCst) {
            drop(self.lock());
            self.called.notify_all();
        }
    }

    fn memory(&self) -> Option<&dyn DeviceMemory> {
        self.has_heap.then_some(self)
    }
}

// SAFETY: copies access no memory.
unsafe impl DeviceMemory for Null {
    fn reserve(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    unsafe fn copy(&self, transfer: &Transfer, _: &[Event]) -> Result<u64, DeviceError> {
        let direction = match transfer {
            Transfer::In { .. } => 0,
            Transfer::Out { .. } => 1,
            Transfer::Peer { .. } => 2,
        };
        Ok(self.put(QUEUES + direction))
    }
}

fn nothing(context: &mut IssueContext<'_>) -> Result<(), DeviceError> {
    context.queue::<()>().map(drop)
}

/// Empty codelets: one that reads, one that updates, one that does both.
struct Codelets {
    read: Codelet<Reads<Vector>, ()>,
    step: Codelet<Updates<Vector>, ()>,
    update: Codelet<(Reads<Vector>, Updates<Vector>), ()>,
}

impl Codelets {
    fn new() -> Self {
        Self {
            read: Codelet::new("read").on_device(NULL, |context, _, ()| nothing(context)),
            step: Codelet::new("step").on_device(NULL, |context, _, ()| nothing(context)),
            update: Codelet::new("update").on_device(NULL, |context, _, ()| nothing(context)),
        }
    }
}

/// Inserts `TASKS` tasks of a case.
type Case = for<'s> fn(&'s Scope<'s, '_>, &Codelets, &[Lent<'s, Vector>]);

/// Independent tasks.
fn free<'s>(s: &'s Scope<'s, '_>, codelets: &Codelets, h: &[Lent<'s, Vector>]) {
    (0..TASKS).for_each(|_| codelets.read.spawn(s, h[0].read(), ()));
}

/// Each task reads the result of the task two before, and updates a datum that an earlier task has read.
fn with_two<'s>(s: &'s Scope<'s, '_>, codelets: &Codelets, h: &[Lent<'s, Vector>]) {
    for at in 2..TASKS + 2 {
        codelets.update.spawn(s, (h[(at - 2) % HANDLES].read(), h[at % HANDLES].read_write()), ());
    }
}

fn chain<'s>(s: &'s Scope<'s, '_>, codelets: &Codelets, h: &[Lent<'s, Vector>]) {
    (0..TASKS).for_each(|_| codelets.step.spawn(s, h[0].read_write(), ()));
}

/// A chain that alternates between two devices: each task reads what the other device has written last.
fn hops<'s>(s: &'s Scope<'s, '_>, codelets: &Codelets, h: &[Lent<'s, Vector>]) {
    (0..2).for_each(|at| h[usize::from(at)].deal_to(Some(Resource::device(at))));
    for at in 0..TASKS {
        codelets.update.spawn(s, (h[(at + 1) % 2].read(), h[at % 2].read_write()), ());
    }
}

fn runtime(devices: u16, has_heap: bool, policy: PolicyName) -> Runtime {
    let builder = Runtime::builder().workers(1).bind(false).weights_file(None).policy(policy);
    let builder = (0..devices).fold(builder, |builder, index| builder.device(Null::new(index, has_heap)));
    builder.build().expect("a runtime")
}

fn ns_per_task(runtime: &Runtime, case: Case) -> f64 {
    let codelets = Codelets::new();
    let mut figures: Vec<f64> = (0..=ROUNDS)
        .map(|_| {
            let mut values = vec![vec![0u64]; HANDLES];
            let begun = Instant::now();
            let done = runtime.scope(|s| {
                let handles: Vec<_> = values.iter_mut().map(|value| s.lend(value)).collect();
                case(s, &codelets, &handles);
            });
            done.expect("empty tasks do not fail");
            begun.elapsed().as_nanos() as f64 / TASKS as f64
        })
        .skip(1)
        .collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn main() {
    let cases: [(&str, u16, Case); 4] =
        [("free", 1, free), ("with-two", 1, with_two), ("chain", 1, chain), ("hops", 2, hops)];
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for (name, devices, case) in cases {
        for policy in [PolicyName::CapabilityWeights, PolicyName::Priority] {
            for has_heap in [false, true] {
                let line = format!("{name} {policy} {}", if has_heap { "own-memory" } else { "host-memory" });
                if only.as_ref().is_none_or(|only| line.contains(&**only)) {
                    let figure = ns_per_task(&runtime(devices, has_heap, policy), case);
                    println!("devices {line} ns_per_task={figure:.0}");
                }
            }
        }
    }
}
