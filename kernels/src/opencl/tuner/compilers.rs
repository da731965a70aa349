//! [`Compilers`]: threads that compile rows' programs while others are measured.
//!
//! A driver cannot be told to stop compiling, and one program may take longer than a search has left. So no search
//! waits for a compiler beyond its end. Each thread has the device opened for itself, because a driver compiles one
//! program of a context at a time. The device that measures finds the programs in their common folder.

use super::explorer::Proposal;
use crate::opencl::{Parameters, Program, program::make_source};
use std::{
    collections::VecDeque,
    path::Path,
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use superscalar_devices::opencl::{DiscoveredDevice, OpenclDevice, OpenclQueue, Settings};
use superscalar_runtime::{Device, DeviceError};

/// The programs of a product.
const PROGRAMS: [Program; 2] = [Program::Product, Program::Pack];
/// A thread looks for the end of its device's work at least this often.
const PAUSE: Duration = Duration::from_millis(20);

/// A row to compile, and the number of the search's step that wants it.
struct Job {
    proposal: Proposal,
    step: usize,
}

/// A row whose programs were compiled, or the reason why they cannot be.
struct CompiledJob {
    job: Job,
    outcome: Result<(), DeviceError>,
}

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    is_closed: bool,
}

/// The jobs that no thread has begun.
#[derive(Default)]
struct JobQueue {
    jobs: Mutex<Jobs>,
    changed: Condvar,
}

impl JobQueue {
    fn change(&self, change: impl FnOnce(&mut Jobs)) {
        // A change is complete or was not begun.
        change(&mut self.jobs.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }

    /// Waits for a job; `None` if there will be none.
    fn take(&self) -> Option<Job> {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let is_idle = |jobs: &mut Jobs| jobs.waiting.is_empty() && !jobs.is_closed;
        let mut jobs = self.changed.wait_while(jobs, is_idle).unwrap_or_else(PoisonError::into_inner);
        if jobs.is_closed { None } else { jobs.waiting.pop_front() }
    }
}

/// The threads that compile.
pub(super) struct Compilers {
    queue: Arc<JobQueue>,
    compiled: Receiver<CompiledJob>,
    threads: Vec<JoinHandle<()>>,
    step: usize,
    /// Jobs of this step that were not received.
    outstanding: usize,
}

impl Compilers {
    /// Starts threads that keep compiled programs in a folder.
    pub fn start(found: &DiscoveredDevice, count: usize, folder: &Path) -> Result<Self, DeviceError> {
        let (queue, (sender, compiled)) = (Arc::new(JobQueue::default()), channel());
        let mut this = Self { queue, compiled, threads: Vec::new(), step: 0, outstanding: 0 };
        for _ in 0..count {
            // The heap is not reserved, so its size does not matter.
            let memory_bytes = Some(1 << 20);
            let settings = Settings { queues: 1, memory_bytes, cache: Some(folder.into()), ..Settings::new(0) };
            let devices = OpenclDevice::open(&[(found.clone(), settings)])?;
            let (queue, sender) = (this.queue.clone(), sender.clone());
            let compile = move || devices.iter().for_each(|device| work(device, &queue, &sender));
            let thread = thread::Builder::new().name("compiler".into()).spawn(compile);
            this.threads.push(thread.map_err(|error| DeviceError::new(format!("no thread to compile: {error}")))?);
        }
        Ok(this)
    }

    /// Returns the number of threads.
    pub fn count(&self) -> usize {
        self.threads.len()
    }

    /// Returns the number of rows that [`next`](Self::next) has not returned.
    pub fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// Lets a thread compile a row's programs.
    pub fn compile(&mut self, proposal: Proposal) {
        let job = Job { proposal, step: self.step };
        self.outstanding += 1;
        self.queue.change(|jobs| jobs.waiting.push_back(job));
    }

    /// Waits for a compiled row, or for the end of the time or of all threads.
    pub fn next(&mut self, until: Instant) -> Option<(Proposal, Result<(), DeviceError>)> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let CompiledJob { job, outcome } = self.compiled.recv_timeout(left).ok()?;
            if job.step == self.step {
                self.outstanding -= 1;
                return Some((job.proposal, outcome));
            }
        }
    }

    /// Forgets the rows that were not returned. Those that threads have begun are compiled to their end.
    pub fn forget(&mut self) {
        self.queue.change(|jobs| jobs.waiting.clear());
        self.step += 1;
        self.outstanding = 0;
    }
}

/// Waits for the programs that threads have begun.
impl Drop for Compilers {
    fn drop(&mut self) {
        self.queue.change(|jobs| jobs.is_closed = true);
        for thread in self.threads.drain(..) {
            // A thread that panicked has reported it.
            let _ = thread.join();
        }
    }
}

fn work(device: &OpenclDevice, queue: &JobQueue, compiled: &Sender<CompiledJob>) {
    while let Some(job) = queue.take() {
        let outcome = PROGRAMS.iter().try_for_each(|&program| compile(device, program, &job.proposal.row));
        if compiled.send(CompiledJob { job, outcome }).is_err() {
            return;
        }
    }
}

/// Compiles a program, by a task that does nothing else.
fn compile(device: &OpenclDevice, program: Program, row: &Parameters) -> Result<(), DeviceError> {
    let source = make_source(program, row);
    let ticket = device.issue(0, &[], &mut |queue| {
        let queue = queue.downcast_mut::<OpenclQueue>();
        queue.ok_or_else(|| DeviceError::new("the queue is not the driver's"))?.compile(&source)
    })?;
    let mut has_ended = false;
    while !has_ended {
        device.poll(&mut |finished| has_ended |= (finished.queue, finished.ticket) == (0, ticket));
        if !has_ended {
            device.wait(PAUSE);
        }
    }
    Ok(())
}
