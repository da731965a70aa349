//! Where tasks run: devices beside the host, and how tasks and their data get to them.
//!
//! # Two releases
//!
//! A task that runs on a device is *issued* when its work is in a queue, and *done* when the work has finished. A
//! successor on a device does not wait until its predecessors are done. It is issued as soon as they are issued, and
//! its queue waits for their events. So a chain of device tasks runs without returning to the host. A successor on the
//! host waits until its predecessors are done.
//!
//! # Offered tasks
//!
//! A task that some device of the runtime can take is *offered*: it is pushed to the policy once, when it is
//! **issuable**. From then on it can be taken once, either by the thread that issues to such a device or, when every
//! predecessor is done, by a host worker if the task has a host implementation. So tasks stay in the scheduler, where
//! they are bound late and can be stolen. A device is given only a few tasks ahead of time ([`DeviceInfo::depth`]).
//!
//! # The issuing thread
//!
//! The thread that holds a device's [`Issuing`](issue::Issuing) issues to it. Usually this is the device's issuer,
//! which releases the lock while it waits. The policy may keep a task for one device. If issuing a task makes a kept
//! task ready for another device whose issuer waits, this thread issues that task itself instead of waking the issuer,
//! and repeats this. Thus a chain that alternates between devices stays on one thread and in its cache; changing
//! threads would take as long as the work. The thread takes one such task at a time, only while there is none for its
//! own device, and only if no data come from the host, because those could delay it. In all other cases the other
//! issuer is woken. A thread that pushes a task and sees a device idle wakes its issuer or issues in its place. If it
//! does not see the device idle, the issuer will find the task, because an issuer announces that it is idle before its
//! last look (`placement/table.rs`).
//!
//! # The hold
//!
//! From its insertion on, an offered task counts one more *done* than it has predecessors: the hold. A host worker that
//! takes the task releases the hold. For an issued task, the hold represents its own completion: the issuer releases it
//! when the device reports the work finished. The thread that brings the count to zero retires the task. It is the
//! issuer, or the thread that finishes the last predecessor if completions are noticed out of order. So a task is
//! retired once, after its own completion and after all its predecessors.
//!
//! # Events
//!
//! An event is a position in a queue: [`Event`] names device, queue and ticket. The issuer looks at each predecessor to
//! find the events to wait for. If the predecessor is done, there is none; if it is issued, its event is in the slot.
//! The slot may have been reused for another task by then. Therefore the generation is compared after the event is
//! read, and a mismatch means "done". A device that cannot wait for another device's event leaves the task in the
//! policy until its predecessors are done.
//!
//! `placement/queues.rs` describes how a queue of the device is chosen.

mod body;
mod claim;
mod codelet;
mod device_record;
mod drivers;
mod finish;
mod forecast;
mod issue;
mod memory_trace;
mod offered;
mod pace;
mod queues;
mod table;
mod task_memory;
mod whereabouts;

pub use codelet::{Codelet, Operand, Operands, Reads, Updates, Writes};
pub(crate) use table::DeviceEntry;

use crate::{
    cache::CacheFile,
    device::{Device, DeviceError, DeviceInfo},
    error::{Cause, Error},
    hazard::TaskRef,
    memory::Memory,
    notices::Notices,
    recorder::DeviceLanes,
    recording::{Lane, LaneKind},
    schedule::{Outlook, Place, ReadyTask, Resource},
    scope_state::ScopeState,
    seat::Seat,
    shared::{AfterRelease, Completed, Placement, Shared},
    task::{Body, Released, Slot, TaskResult, TaskSpec},
    weights::{self, Weights},
};
use device_record::DeviceRecords;
use std::{any::Any, ops::Deref, ptr::NonNull, sync::Arc};
use table::Devices;

/// The devices of a runtime, their capability weights, and the directory of their memory.
pub(crate) struct DevicePlacement {
    pub(crate) devices: Devices,
    pub(crate) weights: Weights,
    pub(crate) memory: Arc<Memory>,
    /// Whether the host's workers take tasks that a device can take.
    pub(crate) host_helps: bool,
    records: DeviceRecords,
}

/// Builder settings that concern devices.
#[derive(Default)]
pub(crate) struct PlacementSettings {
    pub(crate) devices: Vec<Arc<dyn Device>>,
    pub(crate) host_helps: Option<bool>,
    /// The inner `Option` is `None` if no file is used.
    pub(crate) weights_file: Option<Option<CacheFile>>,
}

impl PlacementSettings {
    /// Builds the placement of a runtime with these devices, and its lanes in a recording; `None` without devices.
    pub(crate) fn build(self, notices: &Arc<Notices>) -> Result<(Option<Box<dyn Placement>>, DeviceLanes), Error> {
        if self.devices.is_empty() {
            return Ok((None, DeviceLanes::default()));
        }
        let devices = Devices::new(self.devices)?;
        let infos = devices.infos();
        let weights_file = self.weights_file.unwrap_or_else(weights::default_file);
        let speeds = infos.iter().map(|info| (info.name.clone(), info.speed)).collect();
        let weights = Weights::start(weights_file, speeds, notices.clone())?;
        let (memory, host_helps) = (Arc::new(Memory::new(&infos)), self.host_helps.unwrap_or(true));
        let places = DevicePlacement { devices, weights, memory, host_helps, records: DeviceRecords::default() };
        let lanes = places.lanes();
        Ok((Some(Box::new(places)), lanes))
    }
}

impl DevicePlacement {
    /// Returns the placement of a runtime that has devices.
    pub(crate) fn of(shared: &Shared) -> Option<&Self> {
        let placement: &dyn Any = &**shared.placement.as_ref()?;
        placement.downcast_ref()
    }

    fn at<'a>(&'a self, shared: &'a Shared) -> PlacementContext<'a> {
        let Self { devices, weights, memory, host_helps, records } = self;
        PlacementContext { shared, devices, weights, memory, host_helps: *host_helps, records }
    }

    /// Returns the lanes of a recording that belong to devices.
    fn lanes(&self) -> DeviceLanes {
        let infos = self.devices.infos();
        let issuer = |info: &DeviceInfo| lane(info, "issuer");
        let names = infos.iter().map(|info| info.name.clone());
        let nodes =
            if self.devices.any_memory() { ["host".to_owned()].into_iter().chain(names).collect() } else { Vec::new() };
        DeviceLanes {
            threads: infos.iter().map(issuer).collect(),
            queues: infos.iter().map(queue_lanes).collect(),
            nodes,
        }
    }
}

fn lane(info: &DeviceInfo, name: impl Into<String>) -> Lane {
    Lane { name: name.into(), kind: LaneKind::Queue, process: info.name.clone() }
}

/// Returns the lanes of a device's queues: those for tasks, and those for copies if it has memory of its own.
fn queue_lanes(info: &DeviceInfo) -> Vec<Lane> {
    let copies: &[&str] = if info.memory.is_some() { &["copies in", "copies out", "copies from peers"] } else { &[] };
    let tasks = (0..info.queues).map(|queue| lane(info, format!("queue {queue}")));
    tasks.chain(copies.iter().map(|&name| lane(info, name))).collect()
}

/// A runtime together with its devices, on which the functions of this module operate.
#[derive(Clone, Copy)]
struct PlacementContext<'a> {
    shared: &'a Shared,
    devices: &'a Devices,
    weights: &'a Weights,
    memory: &'a Arc<Memory>,
    host_helps: bool,
    records: &'a DeviceRecords,
}

impl Deref for PlacementContext<'_> {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        self.shared
    }
}

impl Placement for DevicePlacement {
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
        // The task may still be in insertion, without its device record.
        slot.try_device_record().into_iter().for_each(|record| record.not_before(ended_ns));
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
        slot.device_record().take_failure().map(DeviceError::into_cause)
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
