//! Offered tasks, from their insertion until they are taken. `placement/mod.rs` describes the protocol.

use super::{
    PlacementContext,
    device_record::DeviceRecord,
    table::{DeviceEntry, Takers},
};
use crate::{
    device::Cost,
    hazard::TaskRef,
    schedule::{ReadyTask, Resource},
    scope_state::ScopeState,
    seat::Seat,
    shared::AfterRelease,
    sync::fence,
    task::{Lock, Release, Released, Slot, TaskSpec},
};
use smallvec::SmallVec;
use std::{ptr::NonNull, sync::atomic::Ordering};

/// Idle devices whose issuers are to be woken, one for each task that the policy keeps for them.
pub(super) type DevicesToWake = SmallVec<[u16; 4]>;

impl PlacementContext<'_> {
    /// Records the kinds of worker that can take a task in insertion. Returns whether they include devices: then the
    /// task is offered.
    pub(super) fn offer(&self, slot: &Slot, spec: &TaskSpec, predecessors: &[TaskRef]) -> bool {
        // SAFETY: the task is not sealed yet, so only its inserter, the calling thread, uses its `exec`.
        let body = unsafe { &slot.exec_shared().body };
        let takers = match (body.takers(&self.devices.kinds), spec.lock) {
            (takers, Lock::Device) => Takers(takers.devices()),
            (_, Lock::Host | Lock::Worker(_)) => Takers::HOST,
            (takers, Lock::None) => takers,
        };
        let record = self.records.get_or_make(slot);
        record.takers.store(takers.0, Ordering::Relaxed);
        record.event.store(0, Ordering::Relaxed);
        record.barred.store(0, Ordering::Relaxed);
        record.busy_ns.store(0, Ordering::Relaxed);
        record.not_before_ns.store(0, Ordering::Relaxed);
        record.is_span_fixed.store(false, Ordering::Relaxed);
        record.home.set(spec.home);
        // A cancelled earlier task of the slot may have left an error.
        record.take_failure();
        // SAFETY: the task is not sealed yet, so only its inserter, the calling thread, uses the record.
        let kept = unsafe { &mut *record.predecessors.get() };
        kept.clear();
        kept.extend_from_slice(predecessors);
        let cost = Cost { flops: spec.flops, bytes: spec.bytes, level: spec.level };
        // SAFETY: the task is not sealed yet, so only its inserter, the calling thread, uses the record.
        unsafe { *record.call.get() = (spec.name, cost) };
        takers.devices() != 0
    }

    /// Handles a release of a task: pushes or retires it if it is due.
    pub(super) fn after_release(&self, seat: &Seat, index: u32, released: Released) -> AfterRelease {
        let mut kept = DevicesToWake::new();
        let next = self.after_release_unwoken(seat, index, released, &mut kept);
        self.wake_kept(&mut kept);
        next
    }

    /// Like [`after_release`](Self::after_release), but leaves it to the caller to wake the issuers in `kept`.
    pub(super) fn after_release_unwoken(
        &self,
        seat: &Seat,
        index: u32,
        released: Released,
        kept: &mut DevicesToWake,
    ) -> AfterRelease {
        // While the task is in insertion, no release is the last one, and there may be no device record yet.
        let record = self.slab.slot(index).try_device_record();
        let takers = record.map_or(Takers::NOBODY, DeviceRecord::takers);
        let is_offered = takers.devices() != 0;
        if is_offered && released.issuable() {
            return self.push_offered(seat, index, takers, kept);
        }
        if !released.runnable() {
            // The task is in the policy, or was issued. A host worker, or a device that cannot wait for events of its
            // predecessors, can take it from now on.
            let is_newly_runnable = is_offered
                && released.only_hold_left()
                && record.is_some_and(|record| record.event.load(Ordering::Relaxed) == 0);
            if is_newly_runnable && !self.devices.all_wait_for_all() {
                self.devices.notify_takers(takers);
            }
            return if is_newly_runnable && self.may_be_for_host(takers) {
                AfterRelease::Ready
            } else {
                AfterRelease::Nothing
            };
        }
        if is_offered {
            return AfterRelease::Retire;
        }
        self.push(seat, index);
        AfterRelease::Ready
    }

    /// Pushes a task that devices can take, and wakes their issuers. If the policy keeps the task for one device, and
    /// that is idle, it is added to `kept` for the caller to wake. Returns [`AfterRelease::Ready`] if host workers
    /// are to be woken.
    ///
    /// Host workers cannot take the task before its predecessors are done. If the last predecessor ends concurrently,
    /// either this thread sees it after the fence of the notification, or the thread that ends it sees the push after
    /// its own fence and wakes the workers. (If the task has been taken by now, the slot may hold another task, and the
    /// workers are woken in vain.)
    fn push_offered(&self, seat: &Seat, index: u32, takers: Takers, kept: &mut DevicesToWake) -> AfterRelease {
        // Computed before the push, while no other thread has the task.
        let resources_leaving = self.resources_leaving(index);
        // A user's policy may name a device that does not exist.
        let kept_for = self.push(seat, index).map(Resource::device_index);
        let is_there = |device: u16| usize::from(device) < self.devices.len();
        match kept_for.filter(|device| device.is_none_or(is_there)) {
            Some(Some(device)) => {
                fence(Ordering::SeqCst);
                let entry = &self.devices.all[usize::from(device)];
                kept.extend(entry.idle.load(Ordering::Relaxed).then_some(device));
                if !entry.is_lost() {
                    return AfterRelease::Nothing;
                }
                // The device may have been lost before this push, so wake everyone: others may take the task.
                self.wake_after_loss();
            }
            Some(None) => fence(Ordering::SeqCst),
            None => self.devices.notify_takers_but(takers, resources_leaving),
        }
        let is_runnable = self.slab.slot(index).pending.only_hold_left();
        let is_for_host = is_runnable && !resources_leaving.has(Resource::HOST) && self.may_be_for_host(takers);
        if is_for_host { AfterRelease::Ready } else { AfterRelease::Nothing }
    }

    /// Pushes a task that its inserter has found issuable, and wakes the issuers and workers that may take it.
    #[inline(never)]
    pub(crate) fn push_inserted(&self, seat: &Seat, index: u32, scope: NonNull<ScopeState>) {
        let takers = self.slab.slot(index).device_record().takers();
        let mut kept = DevicesToWake::new();
        if matches!(self.push_offered(seat, index, takers, &mut kept), AfterRelease::Ready) {
            self.wake_for(seat, scope);
        }
        self.wake_kept(&mut kept);
    }

    /// Wakes those of these issuers that are still idle.
    pub(super) fn wake_kept(&self, kept: &mut DevicesToWake) {
        kept.drain(..).for_each(|device| self.devices.all[usize::from(device)].wake_if_idle());
    }

    /// Returns whether host workers may take such a task. If it becomes possible only later, by the loss of a device,
    /// the loss wakes them.
    fn may_be_for_host(&self, takers: Takers) -> bool {
        takers.host() && (self.host_helps || self.devices.any_lost())
    }

    /// Returns whether a host worker can take this task of this runtime now.
    pub(super) fn host_can_take_offered(&self, task: &ReadyTask) -> bool {
        let slot = self.slab.slot(task.slot());
        let takers = slot.device_record().takers();
        let is_its_turn = || slot.pending.only_hold_left() && self.is_the_hosts(task.slot());
        takers.devices() == 0 || takers.host() && is_its_turn() && !self.leaves(Resource::HOST, task)
    }

    /// Returns whether the host may run the task once it is runnable: the host helps, or no device can take the task.
    pub(super) fn is_the_hosts(&self, index: u32) -> bool {
        self.host_helps || !self.some_device_can_take(self.slab.slot(index))
    }

    /// Returns whether the host, or a device that is not lost, can take this task now or later.
    pub(super) fn somebody_can_take(&self, slot: &Slot) -> bool {
        slot.device_record().takers().host() || self.some_device_can_take(slot)
    }

    /// Returns whether a device can take this task now or later.
    pub(super) fn some_device_can_take(&self, slot: &Slot) -> bool {
        let record = slot.device_record();
        let can = |(at, entry): (usize, &DeviceEntry)| {
            record.takers().0 & entry.kind_bit != 0 && !record.is_barred_from(at) && !entry.is_lost()
        };
        self.devices.all.iter().enumerate().any(can)
    }

    /// Releases the hold of an offered task that a host worker has taken.
    pub(crate) fn claim_for_host(&self, slot: &Slot) {
        if slot.device_record().takers().devices() != 0 {
            let released = slot.pending.release(Release::Done, false);
            debug_assert!(released.runnable(), "taken by the host with every predecessor done");
            // From here on it is an ordinary host task, even if it is put aside and pushed again.
            slot.device_record().takers.store(Takers::HOST.0, Ordering::Relaxed);
        }
    }
}
