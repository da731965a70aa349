//! What policies ask, answered: by the weights what the work takes, by the whereabouts what moving the data takes. And what the weights are
//! told when a task has ended.

use super::Cost;
use crate::{
    recording::{BlasLevel, TaskId},
    runtime::Shared,
    schedule::{Forecast, Outlook, Place, ReadyTask, Resource},
    task::{Slot, Verdict},
    worker::Seat,
};
use std::sync::atomic::Ordering;

impl Shared {
    /// What policies may ask. Nothing without devices, where nobody needs it; and nothing of a runtime that ends, in which no task is
    /// to be kept for somebody who may have gone.
    pub(crate) fn outlook(&self) -> Option<&dyn Outlook> {
        (!self.devices.is_empty() && !self.is_closing()).then_some(self)
    }

    fn call(&self, task: &ReadyTask) -> (&'static str, Cost) {
        self.slab.slot(task.slot).device_side().call()
    }

    /// A host task has ended, which began then; its slot is not free yet. Only where there are devices.
    pub(crate) fn note_host_end(&self, slot: &Slot, task: TaskId, begun_ns: u64, verdict: &Verdict) {
        if matches!(verdict, Verdict::Completed) {
            let (kernel, cost) = slot.device_side().call();
            let busy_ns = self.now_ns().saturating_sub(begun_ns);
            self.weights.observe(Resource::HOST, kernel, &cost, busy_ns as f64);
        }
        self.note_end(task);
    }

    /// A device has ended a task, or has refused it; its slot is not free yet.
    pub(crate) fn note_device_end(&self, seat: &Seat, index: u32, busy_ns: Option<u64>, is_completed: bool) {
        let (slot, resource) = (self.slab.slot(index), self.resource_at(seat.place));
        let side = slot.device_side();
        if is_completed {
            let (kernel, cost) = side.call();
            let since_ns = self.weights.busy_since_ns(resource, side.issued_ns.load(Ordering::Relaxed));
            self.weights.observe(resource, kernel, &cost, busy_ns.unwrap_or(since_ns) as f64);
        }
        // SAFETY: the device's issuer has taken the task, and calls this before it gives the hold back: so nobody else has the slot's
        // `exec`, and its header does not change.
        let id = unsafe { slot.exec() }.header.id;
        self.note_end(id);
    }

    fn note_end(&self, task: TaskId) {
        if self.policy.ended(task, self) {
            self.sleep.notify();
            self.devices.notify();
        }
    }
}

impl Outlook for Shared {
    fn resources(&self) -> u16 {
        1 + self.devices.len() as u16
    }

    fn workers(&self) -> usize {
        self.workers as usize
    }

    fn resource_at(&self, place: Place) -> Resource {
        self.device_at(place).map_or(Resource::HOST, Resource::device)
    }

    fn forecast(&self, task: &ReadyTask, on: Resource) -> Option<Forecast> {
        let takers = self.slab.slot(task.slot).device_side().takers();
        let there = match on.device_index() {
            None if takers.host() => self.whereabouts_of_host(task.slot),
            Some(device) if takers.0 & self.devices.all.get(usize::from(device))?.kind_bit != 0 => {
                self.whereabouts(task.slot, device)
            }
            _ => return None,
        };
        let (kernel, cost) = self.call(task);
        Some(Forecast {
            computation_ns: self.weights.forecast_ns(on, kernel, &cost),
            communication_ns: there.communication_ns,
            locality: there.locality,
        })
    }

    fn level(&self, task: &ReadyTask) -> Option<BlasLevel> {
        self.call(task).1.level
    }

    fn home(&self, task: &ReadyTask) -> Option<Resource> {
        self.home_of(task.slot)
    }

    fn now_ns(&self) -> u64 {
        self.weights.now_ns()
    }
}
