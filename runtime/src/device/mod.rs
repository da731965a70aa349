//! The interface to devices: what a driver implements, and how work, copies and memory are described.
//!
//! A device takes work into in-order queues and finishes it later. `placement/mod.rs` describes how tasks get to
//! devices.

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

/// The kind of device that an implementation is for, such as `cuda`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceKind(pub &'static str);

/// The properties of a device.
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    /// Its name, for traces and messages.
    pub name: String,
    /// The kind of implementations that it runs.
    pub kind: DeviceKind,
    /// Number of in-order queues; at least one.
    pub queues: u16,
    /// Number of urgent queues, which are the first ones. They are for tasks of a priority above zero, and the device
    /// prefers their work. Zero if all queues are alike.
    pub urgent_queues: u16,
    /// Number of unfinished tasks that the device is given at a time; at least one.
    pub depth: usize,
    /// Its own memory; `None` if it works in host memory.
    pub memory: Option<MemoryInfo>,
    /// Its speed as the driver states it, used until it is measured.
    pub speed: Speed,
}

impl DeviceInfo {
    /// Returns the queue for copies into the device (`In`), out of it (`Out`) or from its peers (`Peer`). These queues
    /// follow the queues for tasks.
    #[must_use]
    pub fn transfer_queue(&self, transfer: &Transfer) -> u16 {
        match transfer {
            Transfer::In { .. } => self.arrivals_queue(),
            Transfer::Out { .. } => self.queues + 1,
            Transfer::Peer { .. } => self.queues + 2,
        }
    }

    /// Returns the queue for copies from host memory.
    pub(crate) fn arrivals_queue(&self) -> u16 {
        self.queues
    }
}

/// The stated speed of a processor: a directive, which measurements replace. Zero where nothing is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Speed {
    /// Floating-point operations per second where arithmetic is the limit (level 3).
    pub flops_per_s: f64,
    /// Bytes per second where memory is the limit (levels 1 and 2).
    pub bytes_per_s: f64,
    /// The fixed time per task.
    pub latency_ns: u64,
}

/// The cost of one call of a codelet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Floating-point operations.
    pub flops: f64,
    /// The minimum number of bytes that it reads and writes.
    pub bytes: f64,
    /// Its BLAS level.
    pub level: Option<BlasLevel>,
}

/// A point in a queue. It is reached when all work up to and including the ticket has finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// Index of the device in the order given to the builder.
    pub device: u16,
    /// The queue.
    pub queue: u16,
    /// The position in the queue, counted from one.
    pub ticket: u64,
}

/// The error of work that a device refused or did not finish.
#[derive(Clone, Debug)]
pub struct DeviceError {
    message: String,
    is_lost: bool,
    outcome: Option<SharedError>,
}

impl DeviceError {
    /// Creates an error with this message: the operation, its object, and what the driver said.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_lost: false, outcome: None }
    }

    /// Creates an error that reports the loss of a device. The device cannot be used any more, and values that only
    /// its memory held are gone. (Work that fails because it waits for a lost device reports an ordinary error.)
    pub fn lost(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_lost: true, outcome: None }
    }

    /// Creates an error for work that ran correctly and has a numerical result of this kind, such as a matrix that is
    /// not positive definite. A host task would return it from its body.
    pub fn outcome(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self { message: error.to_string(), is_lost: false, outcome: Some(SharedError::new(error)) }
    }

    /// Returns the outcome of work that ran correctly, if it has this type; see [`outcome`](Self::outcome).
    #[must_use]
    pub fn outcome_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.outcome.as_ref().and_then(SharedError::downcast_ref)
    }

    /// Returns whether the work ran correctly and reported an outcome. Work that waits for its event need not fail
    /// then.
    #[must_use]
    pub fn is_outcome(&self) -> bool {
        self.outcome.is_some()
    }

    /// Converts the error into the cause of a task's failure.
    pub(crate) fn into_cause(self) -> Cause {
        match self.outcome {
            Some(outcome) => Cause::Returned(Box::new(outcome)),
            None => Cause::Device(self.message),
        }
    }

    /// Returns whether the device is lost.
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

/// Calls foreign code, and turns a panic in it into an error with the text `on_panic`.
#[inline]
pub(crate) fn shielded<R>(
    on_panic: &'static str,
    call: impl FnOnce() -> Result<R, DeviceError>,
) -> Result<R, DeviceError> {
    catch_panic(call).unwrap_or_else(|_| Err(DeviceError::new(on_panic)))
}

/// The context of an implementation for a device: the driver's queue for its work, and what the runtime knows of the
/// call.
pub struct IssueContext<'a> {
    pub(crate) queue: &'a mut dyn Any,
    pub(crate) kind: DeviceKind,
    pub(crate) cost: Cost,
    pub(crate) scratch: Range<usize>,
}

impl<'a> IssueContext<'a> {
    /// Creates a context. The runtime makes one for each task; tests of a backend make their own.
    #[must_use]
    pub fn new(kind: DeviceKind, queue: &'a mut dyn Any, cost: Cost, scratch: Range<usize>) -> Self {
        Self { queue, kind, cost, scratch }
    }

    /// Returns the queue as the driver's type `Q`.
    ///
    /// # Errors
    /// If the queue has another type: the implementation was registered for another driver's kind.
    pub fn queue<Q: 'static>(&mut self) -> Result<&mut Q, DeviceError> {
        let Self { queue, kind, .. } = self;
        queue.downcast_mut::<Q>().ok_or_else(|| {
            DeviceError::new(format!("the queue of `{}` is not of the type that the implementation expects", kind.0))
        })
    }

    /// Returns the cost of the call according to its codelet.
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// Returns the bytes of the device's heap that are the task's working memory until it is finished. The size is what
    /// the codelet requested. They begin at a multiple of [`MemoryInfo::align`], and their content is arbitrary.
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
    /// The position in the queue.
    pub ticket: u64,
    /// How long the device worked on it, if the driver knows.
    pub busy_ns: Option<u64>,
    /// How long before this report the device had finished it, if the driver knows. Issuers notice ends late and
    /// several at once, so recordings use this time.
    pub ended_ago_ns: Option<u64>,
    /// The result.
    pub result: Result<(), DeviceError>,
}

/// Puts a task's work into a queue; called by [`Device::issue`].
pub type Issue<'a> = &'a mut dyn FnMut(&mut dyn Any) -> Result<(), DeviceError>;

/// A driver: takes work into queues and reports when it is finished.
///
/// The runtime calls all methods except two from one thread at a time. The device's issuer calls [`wait`](Self::wait),
/// possibly while another thread issues work. Any thread may call [`wake`](Self::wake).
///
/// [`poll`](Self::poll) reports all work that was issued, even after the device is lost. Work that waits for an event
/// of failed work fails, too, and does nothing. An [outcome](DeviceError::outcome) is not a failure in this sense.
///
/// # Safety
/// The runtime gives data to other tasks, and back to the program, when the work on them is reported finished. So work
/// must not begin before the events that it waits for are reached. After its end was reported, or `issue` has returned
/// an error, it must not access any data. The [`memory`](Self::memory) has the number of bytes stated in
/// [`info`](Self::info).
///
/// Tickets count from one in each queue, including the queues for copies, and stay below 2⁴⁸. The runtime identifies
/// finished work by queue and ticket, so only work of the same runtime may be reported to it. (A runtime cannot be
/// built with a device that another runtime has. But it cannot detect two devices that share a queue.)
pub unsafe trait Device: Send + Sync {
    /// Returns the properties of the device. They are constant.
    fn info(&self) -> DeviceInfo;

    /// Returns whether a queue of this device can wait for an event of `device`. It can always wait for events of its
    /// own device. The answer is constant.
    fn can_wait_for(&self, device: u16) -> bool;

    /// Makes the queue wait for the events, calls `issue` once with the driver's queue, and returns the ticket under
    /// which completion will be reported.
    ///
    /// # Errors
    /// If the work could not be put into the queue. Then none of it runs.
    fn issue(&self, queue: u16, waits: &[Event], issue: Issue<'_>) -> Result<u64, DeviceError>;

    /// Like [`issue`](Self::issue), for a task whose duration need not be reported: it is brief, and the runtime knows
    /// it well. A driver that slows a queue down by measuring does not measure here.
    ///
    /// # Errors
    /// As for `issue`.
    fn issue_untimed(&self, queue: u16, waits: &[Event], issue: Issue<'_>) -> Result<u64, DeviceError> {
        self.issue(queue, waits, issue)
    }

    /// Reports the tasks and copies that have finished since the last call. Tickets of one queue are reported in order.
    fn poll(&self, report: &mut dyn FnMut(Finished));

    /// Blocks until unreported work has finished, [`wake`](Self::wake) is called (possibly before this call), or
    /// `at_most` has passed.
    fn wait(&self, at_most: Duration);

    /// Ends the current or next [`wait`](Self::wait) of the issuer.
    fn wake(&self);

    /// Returns the interface for copies to and from the device's own memory; `None` if [`DeviceInfo::memory`] is
    /// `None`.
    fn memory(&self) -> Option<&dyn DeviceMemory> {
        None
    }
}
