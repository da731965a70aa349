//! Devices as the runtime knows them: what a driver must do, and what is said of work, of copies and of memory.
//!
//! A device takes work into in-order queues and finishes it later. How tasks come to devices is told in `placement/mod.rs`.

mod memory;

pub use memory::{
    Derived, DeviceMemory, DeviceRegion, HostRegion, LinkInfo, MemoryInfo, Portable, Residence, Transfer,
};

use crate::{
    error::{Cause, SharedError},
    panics::catch_panic,
    recording::BlasLevel,
};
use std::{any::Any, fmt, ops::Range, time::Duration};

/// What kind of device an implementation is for, such as `cuda`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceKind(pub &'static str);

/// What the runtime must know of a device.
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    /// Its name, for traces and messages.
    pub name: String,
    /// Which implementations it can run.
    pub kind: DeviceKind,
    /// How many in-order queues it has; at least one.
    pub queues: u16,
    /// So many of them, the first, are for tasks of a priority above zero: the device runs what is in these before what is in the others.
    /// Zero where all are alike.
    pub urgent_queues: u16,
    /// How many tasks it is given ahead of their completion; at least one.
    pub depth: usize,
    /// Its own memory; none if it works on the host's.
    pub memory: Option<MemoryInfo>,
    /// How fast it is said to be, before that was measured.
    pub speed: Speed,
}

impl DeviceInfo {
    /// The queue for copies into the device (`In`), out of it (`Out`) or from its peers (`Peer`): they follow the queues for tasks.
    #[must_use]
    pub fn transfer_queue(&self, transfer: &Transfer) -> u16 {
        match transfer {
            Transfer::In { .. } => self.arrivals_queue(),
            Transfer::Out { .. } => self.queues + 1,
            Transfer::Peer { .. } => self.queues + 2,
        }
    }

    /// The queue for copies from host memory.
    pub(crate) fn arrivals_queue(&self) -> u16 {
        self.queues
    }
}

/// How fast a processor is said to be: a directive, which measurements replace. Zero where nothing is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Speed {
    /// Floating-point operations per second where arithmetic is the limit (level 3).
    pub flops_per_s: f64,
    /// Bytes per second where memory is the limit (levels 1 and 2).
    pub bytes_per_s: f64,
    /// What a task costs besides.
    pub latency_ns: u64,
}

/// The cost of one call of a codelet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Floating-point operations.
    pub flops: f64,
    /// Bytes that it reads and writes at least.
    pub bytes: f64,
    /// The level of BLAS that it belongs to.
    pub level: Option<BlasLevel>,
}

/// A point in a queue: everything issued to it up to and including the ticket is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// Index of the device, in the order in which they were given to the builder.
    pub device: u16,
    /// The queue.
    pub queue: u16,
    /// The place in the queue, counted from one.
    pub ticket: u64,
}

/// Work that a device refused or did not finish.
#[derive(Clone, Debug)]
pub struct DeviceError {
    message: String,
    is_lost: bool,
    outcome: Option<SharedError>,
}

impl DeviceError {
    /// An error with this message: what was tried, on what, and what the driver said.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_lost: false, outcome: None }
    }

    /// An error after which the device that reports it, and what only its memory held, is of no use any more. (Work that fails because
    /// it waits for that of another device is no such error.)
    pub fn lost(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_lost: true, outcome: None }
    }

    /// Work that was done as it should be and came to this error, such as that a matrix is not positive definite: what the body of a
    /// host task would have returned.
    pub fn outcome(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self { message: error.to_string(), is_lost: false, outcome: Some(SharedError::new(error)) }
    }

    /// What work that was done as it should be came to, if it is of this type; see [`outcome`](Self::outcome).
    #[must_use]
    pub fn outcome_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.outcome.as_ref().and_then(SharedError::downcast_ref)
    }

    /// Whether the work was done as it should be, and came to an error of its own: whoever waits for its event need not fail with it.
    #[must_use]
    pub fn is_outcome(&self) -> bool {
        self.outcome.is_some()
    }

    /// What it makes of a task.
    pub(crate) fn into_cause(self) -> Cause {
        match self.outcome {
            Some(outcome) => Cause::Returned(Box::new(outcome)),
            None => Cause::Device(self.message),
        }
    }

    /// Whether the device is lost.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }
}

impl fmt::Display for DeviceError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for DeviceError {}

/// Calls foreign code. A panic in it is an error of this text.
#[inline]
pub(crate) fn shielded<R>(
    on_panic: &'static str,
    call: impl FnOnce() -> Result<R, DeviceError>,
) -> Result<R, DeviceError> {
    catch_panic(call).unwrap_or_else(|_| Err(DeviceError::new(on_panic)))
}

/// What an implementation for a device gets: the queue to put its work into, as the driver knows it.
pub struct IssueContext<'a> {
    pub(crate) queue: &'a mut dyn Any,
    pub(crate) kind: DeviceKind,
    pub(crate) cost: Cost,
    pub(crate) scratch: Range<usize>,
}

impl<'a> IssueContext<'a> {
    /// What the runtime makes for each task, and what a backend is tried with where there is no runtime.
    #[must_use]
    pub fn new(kind: DeviceKind, queue: &'a mut dyn Any, cost: Cost, scratch: Range<usize>) -> Self {
        Self { queue, kind, cost, scratch }
    }

    /// The queue, if it is of the driver's type `Q`.
    ///
    /// # Errors
    /// If the implementation was registered for another driver's kind.
    pub fn queue<Q: 'static>(&mut self) -> Result<&mut Q, DeviceError> {
        let Self { queue, kind, .. } = self;
        queue.downcast_mut::<Q>().ok_or_else(|| {
            DeviceError::new(format!("the implementation for `{}` expects another type of queue", kind.0))
        })
    }

    /// What the call costs, as its codelet says.
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// The bytes of the device's heap that are the task's own until it is finished: as many as its codelet asked for. They begin
    /// at a multiple of [`MemoryInfo::align`], and hold anything.
    #[must_use]
    pub fn scratch(&self) -> Range<usize> {
        self.scratch.clone()
    }
}

/// The end of a task or a copy, as [`Device::poll`] reports it.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its queue.
    pub queue: u16,
    /// Its place there.
    pub ticket: u64,
    /// How long the device was at it, if the driver knows.
    pub busy_ns: Option<u64>,
    /// How long before this report the device had ended it, if the driver knows: issuers notice ends late, and several at once. What a recording
    /// shows goes by it.
    pub ended_ago_ns: Option<u64>,
    /// How it ended.
    pub result: Result<(), DeviceError>,
}

/// How a task's work is put into a queue; called by [`Device::issue`].
pub type Issue<'a> = &'a mut dyn FnMut(&mut dyn Any) -> Result<(), DeviceError>;

/// A driver: takes work into queues and says when it is finished.
///
/// One thread of the runtime at a time calls everything but [`wait`](Self::wait), which the device's issuer does, perhaps while another thread puts
/// work in, and [`wake`](Self::wake), which may come from anywhere.
///
/// Everything that was issued is reported by [`poll`](Self::poll), also when the device is lost. Work that waits for an event of
/// something that fails, fails too, and does nothing; an [outcome](DeviceError::outcome) is no failure in this sense.
///
/// # Safety
/// The runtime gives data to other tasks, and back to the program, when the work on them is reported to be finished. So work
/// begins when the events that it waits for are reached, not before; and once its end was reported, or `issue` has returned an
/// error, it touches nothing any more. The [`memory`](Self::memory) has as many bytes as [`info`](Self::info) says.
///
/// Tickets are counted from one in each queue, those of copies too, and stay below 2⁴⁸. The runtime finds work that has ended
/// by queue and ticket. So what is reported to a runtime is work of that runtime only. (A runtime is not built with a device
/// that another has; whether two devices share a queue it can not know.)
pub unsafe trait Device: Send + Sync {
    /// What the runtime must know of it. The answer does not change.
    fn info(&self) -> DeviceInfo;

    /// Whether a queue of this device can wait for an event of that device (its own events it always can). The answer does not change.
    fn can_wait_for(&self, device: u16) -> bool;

    /// Makes the queue wait for the events, calls `issue` once with the driver's queue to put the work in, and returns the
    /// ticket by which its completion will be reported.
    ///
    /// # Errors
    /// If the work could not be put into the queue. Then nothing of it runs.
    fn issue(&self, queue: u16, waits: &[Event], issue: Issue<'_>) -> Result<u64, DeviceError>;

    /// Reports tasks and copies that have finished since the last call. Tickets of one queue come in order.
    fn poll(&self, report: &mut dyn FnMut(Finished));

    /// Sleeps until something has finished that was not reported, or somebody calls [`wake`](Self::wake) (also before the call), or for so long.
    fn wait(&self, at_most: Duration);

    /// Wakes the issuer from [`wait`](Self::wait).
    fn wake(&self);

    /// What copies to and from the device's own memory; none if [`DeviceInfo::memory`] is none.
    fn memory(&self) -> Option<&dyn DeviceMemory> {
        None
    }
}
