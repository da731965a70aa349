//! Where tasks run: devices beside the host, and how tasks and their data come to them.
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
//! # Who issues
//!
//! Whoever holds a device's [`Issuing`](issue::Issuing) issues to it: mostly the thread that is the device's issuer, which lets go of it while it
//! waits. The policy may keep a task for one device. If such a task has become ready by what an issuer has just put into a queue, and the other
//! device's issuer waits, then it is not woken: the thread that is here issues that task, too, and so on, and a chain that goes from device to device
//! does not go from thread to thread, each with cold caches, which would take as long as the work. It takes one task at a time, while there is none
//! for its own device, and none whose data come from the host, as that may keep it. In all other cases the other issuer is woken. A pusher that sees
//! a device idle wakes its issuer or issues in its place; one that does not see it idle leaves the task to the issuer, which says that it is idle
//! before it looks for the last time (`placement/table.rs`).
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
//!
//! Which of the device's queues a task goes to is told in `placement/queues.rs`.

mod body;
mod claim;
mod codelet;
mod drivers;
mod finish;
mod forecast;
mod issue;
mod noted;
mod offer;
mod pace;
mod queues;
mod reside;
mod side;
mod table;
mod whereabouts;

pub use codelet::{Codelet, Operand, Operands, Reads, Updates, Writes};
pub(crate) use table::Entry;

use crate::{
    cache::CacheFile,
    device::{Device, DeviceError, DeviceInfo},
    error::{Cause, Error},
    hazard::TaskRef,
    memory::Memory,
    notices::Notices,
    recorder::Lanes,
    recording::{Lane, LaneKind},
    schedule::{Outlook, Place, ReadyTask, Resource},
    scope_state::ScopeState,
    seat::Seat,
    shared::{AfterRelease, Completed, Placement, Shared},
    task::{Body, Released, Slot, TaskResult, TaskSpec},
    weights::{self, Weights},
};
use side::Sides;
use std::{any::Any, ops::Deref, ptr::NonNull, sync::Arc};
use table::Devices;

/// The devices of a runtime, and what is known of them and of the data that they have.
pub(crate) struct Places {
    pub(crate) devices: Devices,
    pub(crate) weights: Weights,
    pub(crate) memory: Arc<Memory>,
    /// Whether the host's workers take tasks that a device could take.
    host_helps: bool,
    sides: Sides,
}

/// Settings that concern devices.
#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) devices: Vec<Arc<dyn Device>>,
    pub(crate) host_helps: Option<bool>,
    /// The inner one is none if there shall be no file.
    pub(crate) weights_file: Option<Option<CacheFile>>,
}

impl Settings {
    /// The placement of a runtime with these devices, and its lanes in a recording; none if there are none.
    pub(crate) fn build(self, notices: &Arc<Notices>) -> Result<(Option<Box<dyn Placement>>, Lanes), Error> {
        if self.devices.is_empty() {
            return Ok((None, Lanes::default()));
        }
        let devices = Devices::new(self.devices)?;
        let infos = devices.infos();
        let weights_file = self.weights_file.unwrap_or_else(weights::default_file);
        let speeds = infos.iter().map(|info| (info.name.clone(), info.speed)).collect();
        let weights = Weights::start(weights_file, speeds, notices.clone())?;
        let (memory, host_helps) = (Arc::new(Memory::new(&infos)), self.host_helps.unwrap_or(true));
        let places = Places { devices, weights, memory, host_helps, sides: Sides::default() };
        let lanes = places.lanes();
        Ok((Some(Box::new(places)), lanes))
    }
}

impl Places {
    /// Those of a runtime which has devices.
    pub(crate) fn of(shared: &Shared) -> Option<&Self> {
        let placement: &dyn Any = &**shared.placement.as_ref()?;
        placement.downcast_ref()
    }

    fn at<'a>(&'a self, shared: &'a Shared) -> Site<'a> {
        let Self { devices, weights, memory, host_helps, sides } = self;
        Site { shared, devices, weights, memory, host_helps: *host_helps, sides }
    }

    /// The lanes of a recording that are not the host's.
    fn lanes(&self) -> Lanes {
        let infos = self.devices.infos();
        let issuer = |info: &DeviceInfo| lane(info, "issuer");
        let names = infos.iter().map(|info| info.name.clone());
        let nodes =
            if self.devices.any_memory() { ["host".to_owned()].into_iter().chain(names).collect() } else { Vec::new() };
        Lanes { threads: infos.iter().map(issuer).collect(), queues: infos.iter().map(queue_lanes).collect(), nodes }
    }
}

fn lane(info: &DeviceInfo, name: impl Into<String>) -> Lane {
    Lane { name: name.into(), kind: LaneKind::Queue, process: info.name.clone() }
}

/// The lanes of a device's queues: those for tasks, and, where it has memory of its own, those for copies.
fn queue_lanes(info: &DeviceInfo) -> Vec<Lane> {
    let copies: &[&str] = if info.memory.is_some() { &["copies in", "copies out", "copies from peers"] } else { &[] };
    let tasks = (0..info.queues).map(|queue| lane(info, format!("queue {queue}")));
    tasks.chain(copies.iter().map(|&name| lane(info, name))).collect()
}

/// A runtime together with its devices: what the functions of this half work on.
#[derive(Clone, Copy)]
struct Site<'a> {
    shared: &'a Shared,
    devices: &'a Devices,
    weights: &'a Weights,
    memory: &'a Arc<Memory>,
    host_helps: bool,
    sides: &'a Sides,
}

impl Deref for Site<'_> {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        self.shared
    }
}

impl Placement for Places {
    fn threads(&self) -> Vec<String> {
        (0..self.devices.len()).map(|device| format!("superscalar-issuer-{device}")).collect()
    }

    fn run_thread(&self, shared: &Shared, thread: usize) {
        self.at(shared).issue_tasks(thread);
    }

    fn notify(&self) {
        self.devices.notify();
    }

    fn wake(&self) {
        self.devices.wake_all();
    }

    fn end(&self) {
        self.weights.save();
    }

    fn offer(&self, shared: &Shared, slot: &Slot, spec: &TaskSpec, predecessors: &[TaskRef]) -> bool {
        self.at(shared).offer(slot, spec, predecessors)
    }

    fn push_inserted(&self, shared: &Shared, seat: &Seat, index: u32, scope: NonNull<ScopeState>) {
        self.at(shared).push_inserted(seat, index, scope);
    }

    fn push(&self, shared: &Shared, by: Place, task: ReadyTask) -> Option<Resource> {
        shared.policy.push(by, task, &self.at(shared))
    }

    fn outlook<'a>(&'a self, shared: &'a Shared) -> Option<Box<dyn Outlook + 'a>> {
        Some(Box::new(self.at(shared)))
    }

    fn after_release(&self, shared: &Shared, seat: &Seat, index: u32, released: Released) -> AfterRelease {
        self.at(shared).after_release(seat, index, released)
    }

    fn not_before(&self, slot: &Slot, ended_ns: u64) {
        // Its inserter may still be at it.
        slot.made_device_side().into_iter().for_each(|side| side.not_before(ended_ns));
    }

    fn retire_all(&self, shared: &Shared, seat: &Seat, completed: Completed) {
        self.at(shared).retire_all(seat, completed);
    }

    fn host_can_take(&self, shared: &Shared, task: &ReadyTask) -> bool {
        self.at(shared).host_can_take_offered(task)
    }

    fn admit(&self, shared: &Shared, slot: &Slot, index: u32, body: &Body) -> bool {
        let site = self.at(shared);
        site.claim_for_host(slot);
        site.bring_home(slot, index, body)
    }

    fn failure(&self, slot: &Slot) -> Option<Cause> {
        slot.device_side().take_failure().map(DeviceError::into_cause)
    }

    fn now_ns(&self) -> u64 {
        self.weights.now_ns()
    }

    fn ended(&self, shared: &Shared, index: u32, begun_ns: u64, verdict: &TaskResult) {
        self.at(shared).note_host_end(index, begun_ns, verdict);
    }

    fn brings_home(&self) -> bool {
        self.devices.any_memory()
    }
}
