//! Answers to the policies' questions: durations of work from the capability weights, and durations of copies from the
//! operands' location. Also the updates of the weights when tasks end.

use super::{PlacementContext, finish::Reported, table::DeviceEntry, whereabouts::Whereabouts};
use crate::{
    recording::{BlasLevel, TaskId},
    schedule::{Forecast, Outlook, Place, ReadyTask, Resource, Transfers},
    sync::prefetch,
    task::{Slot, TaskResult},
    weights::KernelRun,
};
use smallvec::SmallVec;
use std::{iter, sync::atomic::Ordering};

impl PlacementContext<'_> {
    /// Returns the interface that policies query; `None` while the runtime ends, because then no task may be kept for a
    /// resource that may have stopped.
    pub(super) fn outlook_now(&self) -> Option<&dyn Outlook> {
        (!self.is_closing()).then_some(self)
    }

    /// Returns the location of the task's operands relative to a resource; `None` if the resource cannot run the task.
    fn whereabouts_on(&self, task: &ReadyTask, on: Resource) -> Option<Whereabouts> {
        let slot = self.slot_of(task)?;
        match on.device_index() {
            None => {
                let is_able = slot.device_record().takers().host() && self.is_the_hosts(task.slot());
                let is_able = is_able && !self.leaves(on, task);
                is_able.then(|| self.whereabouts_of_host(task.slot()))
            }
            Some(device) => {
                let at = usize::from(device);
                let is_able = at < self.devices.len() && self.is_for(at, slot) && !self.leaves(on, task);
                is_able.then(|| self.whereabouts(task.slot(), device))
            }
        }
    }

    /// Returns the task's slot; `None` for a task of another runtime.
    fn slot_of(&self, task: &ReadyTask) -> Option<&Slot> {
        self.is_own(task).then(|| self.slab.slot(task.slot()))
    }

    /// Records the end of a host task that began at `begun_ns`. Its slot is not free yet. Called only if there are
    /// devices.
    pub(crate) fn note_host_end(&self, index: u32, begun_ns: u64, verdict: &TaskResult) {
        if matches!(verdict, TaskResult::Completed) {
            let (kernel, cost) = self.slab.slot(index).device_record().call();
            let busy_ns = self.now_ns().saturating_sub(begun_ns);
            self.weights.observe(Resource::HOST, iter::once(KernelRun { kernel, cost, busy_ns: busy_ns as f64 }));
        }
        self.note_ends(iter::once(index));
    }

    /// Updates the weights by the durations of tasks that a device has finished. The slots are not free yet.
    pub(super) fn weigh_device_tasks(&self, device: usize, ended: &[(u32, Reported)]) {
        let (resource, now_ns) = (Resource::device(device as u16), self.weights.now_ns());
        let weighed = ended.iter().filter_map(|(slot, Reported { one, is_timed, .. })| {
            let record = self.slab.slot(*slot).device_record();
            let since_ns = self.weights.busy_since_ns(resource, record.issued_ns.load(Ordering::Relaxed), now_ns);
            let (kernel, cost) = record.call();
            let busy_ns = one.busy_ns.unwrap_or(since_ns) as f64;
            ((*is_timed || one.busy_ns.is_some()) && one.result.is_ok()).then_some(KernelRun { kernel, cost, busy_ns })
        });
        self.weights.observe(resource, weighed);
    }

    /// Wakes all sleeping threads if the device has kept tasks from them for too long.
    pub(super) fn wake_if_late(&self, device: usize) {
        if self.policy.is_late(Resource::device(device as u16), self) {
            self.sleep.notify();
            self.devices.notify();
        }
    }

    /// Tells the policy that tasks have ended. The caller owns them, and has not released them yet.
    pub(super) fn note_ends(&self, slots: impl Iterator<Item = u32>) {
        let tasks: SmallVec<[TaskId; 16]> = slots.map(|slot| self.slab.slot(slot).id()).collect();
        if !tasks.is_empty() && self.policy.ended(&tasks, self) {
            self.sleep.notify();
            self.devices.notify();
        }
    }
}

impl Outlook for PlacementContext<'_> {
    fn resources(&self) -> u16 {
        1 + self.devices.len() as u16
    }

    fn workers(&self) -> usize {
        self.workers as usize
    }

    fn resource_at(&self, place: Place) -> Resource {
        self.other_at(place).map_or(Resource::HOST, Resource::device)
    }

    fn forecast(&self, task: &ReadyTask, on: Resource) -> Option<Forecast> {
        let there = self.whereabouts_on(task, on)?;
        let (kernel, cost) = self.slot_of(task)?.device_record().call();
        Some(Forecast {
            computation_ns: self.weights.forecast_ns(on, kernel, &cost),
            communication_ns: there.moves.ns,
            from_host: there.moves.from_host,
            locality: there.locality,
        })
    }

    fn is_for_devices(&self, task: &ReadyTask) -> bool {
        self.slot_of(task).is_some_and(|slot| self.some_device_can_take(slot))
    }

    fn moves(&self, task: &ReadyTask, on: Resource) -> Transfers {
        self.whereabouts_on(task, on).map_or(Transfers::NEVER, |there| there.moves)
    }

    fn is_lost(&self, on: Resource) -> bool {
        let device = on.device_index().and_then(|device| self.devices.all.get(usize::from(device)));
        device.is_some_and(DeviceEntry::is_lost)
    }

    fn level(&self, task: &ReadyTask) -> Option<BlasLevel> {
        self.slot_of(task)?.device_record().call().1.level
    }

    fn home(&self, task: &ReadyTask) -> Option<Resource> {
        self.slot_of(task).and_then(|_| self.home_of(task.slot()))
    }

    fn owner(&self, task: &ReadyTask) -> Option<Resource> {
        self.slot_of(task).and_then(|_| self.owner_of(task.slot()))
    }

    fn comes_soon(&self, task: &ReadyTask, others: usize) {
        let Some(slot) = self.slot_of(task) else { return };
        match others {
            // By now the slot is usually in the cache, so the pointer to its device record can be read without delay.
            0 => slot.try_device_record().into_iter().for_each(prefetch),
            _ => prefetch(slot),
        }
    }

    fn now_ns(&self) -> u64 {
        self.weights.now_ns()
    }
}
