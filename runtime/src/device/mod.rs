//! Devices: something that takes work into in-order queues and finishes it later.
//!
//! # Two releases
//!
//! A task that goes to a device is *issued* when its work stands in a queue, and *done* when the work has finished. A successor
//! that goes to a device, too, does not wait until its predecessors are done: it is issued as soon as they are issued, and
//! their events become wait conditions on its own queue. So a chain of device tasks runs from end to end without coming back
//! to the host. A successor on the host waits for done.
//!
//! # Which tasks, and who takes them
//!
//! A task that some device of the runtime can take is *offered*: it is pushed to the policy once, when it is **issuable**. From
//! then on it can be taken, once, either by the thread that issues to such a device or, as soon as every predecessor is done,
//! by a host worker, if it has a host implementation. So tasks stay in the scheduler, late-bound and stealable; a device is
//! only given a few ([`DeviceInfo::depth`]) ahead.
//!
//! # The hold
//!
//! An offered task counts one *done* more than it has predecessors, from its insertion on: the hold. A host worker that takes the
//! task gives the hold back. For a task that was issued, the hold stands for its own completion: its issuer gives it back when
//! the device reports the work finished. Whoever takes the count to zero (the issuer, or the finisher of the last
//! predecessor, if completions are noticed out of order) retires the task. So a task is retired once, after its own
//! completion and after all its predecessors.
//!
//! # Events
//!
//! An event is a place in a queue: [`Event`] names device, queue and ticket. The issuer finds those to wait for by looking at
//! each predecessor: done, then there is nothing to wait for; issued, then its event is in the slot. The slot may be given
//! to another task between the look at the event and now: the generation is looked at again afterwards, and a mismatch
//! means "done". A device that can not wait for another device's event leaves the task until its predecessors are done.

mod codelet;
mod issue;
mod table;

pub use codelet::{Codelet, Cost, Operand, Operands, Reads, Updates, Writes};
pub(crate) use issue::DeviceSide;
pub(crate) use table::{Devices, Kinds, Takers};

use std::{any::Any, fmt, time::Duration};

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
    /// How many tasks it is given ahead of their completion; at least one.
    pub depth: usize,
}

/// A point in a queue: everything issued to it up to and including the ticket is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// Index of the device, in the order in which they were given to the builder.
    pub device: u16,
    /// The queue.
    pub queue: u16,
    /// The place in the queue, counted from one.
    pub ticket: u32,
}

/// Work that a device refused or did not finish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceError(String);

impl DeviceError {
    /// An error with this message: what was tried, on what, and what the driver said.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for DeviceError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for DeviceError {}

/// What an implementation for a device gets: the queue to put its work into, as the driver knows it.
pub struct IssueContext<'a> {
    pub(crate) queue: &'a mut dyn Any,
    pub(crate) kind: DeviceKind,
}

impl IssueContext<'_> {
    /// The queue, if it is of the driver's type `Q`.
    ///
    /// # Errors
    /// If the implementation was registered for another driver's kind.
    pub fn queue<Q: 'static>(&mut self) -> Result<&mut Q, DeviceError> {
        let message = format!("the implementation for `{}` expects another type of queue", self.kind.0);
        self.queue.downcast_mut::<Q>().ok_or(DeviceError(message))
    }
}

/// How a task's work is put into a queue; called by [`Device::issue`].
pub type Issue<'a> = &'a mut dyn FnMut(&mut dyn Any) -> Result<(), DeviceError>;

/// A driver: takes work into queues and says when it is finished.
///
/// One thread of the runtime, the device's issuer, calls everything but [`wake`](Self::wake), which may come from anywhere.
pub trait Device: Send + Sync {
    /// What the runtime must know of it. The answer does not change.
    fn info(&self) -> DeviceInfo;

    /// Whether a queue of this device can wait for an event of that device (its own events it always can).
    fn can_wait_for(&self, device: u16) -> bool;

    /// Makes the queue wait for the events, calls `issue` once with the driver's queue to put the work in, and returns the
    /// ticket by which its completion will be reported.
    ///
    /// # Errors
    /// If the work could not be put into the queue. Then nothing of it runs.
    fn issue(&self, queue: u16, waits: &[Event], issue: Issue<'_>) -> Result<u32, DeviceError>;

    /// Reports work that has finished since the last call: queue, ticket, and how it ended. Tickets of one queue come in order.
    fn poll(&self, report: &mut dyn FnMut(u16, u32, Result<(), DeviceError>));

    /// Sleeps until something has finished, or somebody calls [`wake`](Self::wake) (also before the call), or for so long.
    fn wait(&self, at_most: Duration);

    /// Wakes the issuer from [`wait`](Self::wait).
    fn wake(&self);
}
