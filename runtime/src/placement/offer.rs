//! Tasks that devices can take, from their insertion until somebody has taken them. The protocol is in `placement/mod.rs`.

use super::{
    Site,
    side::DeviceSide,
    table::{Entry, Takers},
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
pub(super) type KeptFor = SmallVec<[u16; 4]>;

impl Site<'_> {
    /// Notes who can take a task that is being inserted, and returns whether devices are among them: then it is offered.
    pub(super) fn offer(&self, slot: &Slot, spec: &TaskSpec, predecessors: &[TaskRef]) -> bool {
        // SAFETY: the task is not sealed yet, so its `exec` is its inserter's, the caller's.
        let body = unsafe { &slot.exec_shared().body };
        let takers = match (body.takers(&self.devices.kinds), spec.lock) {
            (takers, Lock::Device) => Takers(takers.devices()),
            (_, Lock::Host | Lock::Worker(_)) => Takers::HOST,
            (takers, Lock::None) => takers,
        };
        let side = self.sides.made(slot);
        side.takers.store(takers.0, Ordering::Relaxed);
        side.event.store(0, Ordering::Relaxed);
        side.barred.store(0, Ordering::Relaxed);
        side.busy_ns.store(0, Ordering::Relaxed);
        side.not_before_ns.store(0, Ordering::Relaxed);
        side.is_placed.store(false, Ordering::Relaxed);
        // Of an earlier task of the slot, which was cancelled before it could be told.
        side.take_failure();
        // SAFETY: the slot is being filled, so it is this thread's.
        let kept = unsafe { &mut *side.predecessors.get() };
        kept.clear();
        kept.extend_from_slice(predecessors);
        let cost = Cost { flops: spec.flops, bytes: spec.bytes, level: spec.level };
        // SAFETY: as above.
        unsafe { *side.call.get() = (spec.name, cost) };
        takers.devices() != 0
    }

    /// What to do about a task that has had a release.
    pub(super) fn after_release(&self, seat: &Seat, index: u32, released: Released) -> AfterRelease {
        let mut kept = KeptFor::new();
        let next = self.after_release_unwoken(seat, index, released, &mut kept);
        self.wake_kept(&mut kept);
        next
    }

    /// The same, but for waking the issuers of devices that the policy keeps the task for.
    pub(super) fn after_release_unwoken(
        &self,
        seat: &Seat,
        index: u32,
        released: Released,
        kept: &mut KeptFor,
    ) -> AfterRelease {
        // While its inserter is still at it, a release is never the last, and there may be no side yet.
        let side = self.slab.slot(index).made_device_side();
        let takers = side.map_or(Takers::NOBODY, DeviceSide::takers);
        let is_offered = takers.devices() != 0;
        if is_offered && released.issuable() {
            return self.push_offered(seat, index, takers, kept);
        }
        if !released.runnable() {
            // It lies in the policy, unless it was issued: a host worker, or a device that can not wait for its predecessors, can take it now.
            let is_news = is_offered
                && released.only_hold_left()
                && side.is_some_and(|side| side.event.load(Ordering::Relaxed) == 0);
            if is_news && !self.devices.all_wait_for_all() {
                self.devices.notify_takers(takers);
            }
            return if is_news && self.may_be_for_host(takers) { AfterRelease::Ready } else { AfterRelease::Nothing };
        }
        if is_offered {
            return AfterRelease::Retire;
        }
        self.push(seat, index);
        AfterRelease::Ready
    }

    /// Pushes a task that devices can take, and wakes their issuers; if the policy keeps it for one of them, that is left to the caller. Host workers
    /// are to be woken only if it may be for them ([`AfterRelease::Ready`]).
    ///
    /// They can not take it before its predecessors are done. If the last of these ends now, either that is seen here, behind the fence of
    /// the notification, or whoever ends it wakes them, behind a fence of its own, and they see the push. (If somebody has taken the task by
    /// now, the slot may be another's, and they are woken for nothing.)
    fn push_offered(&self, seat: &Seat, index: u32, takers: Takers, kept: &mut KeptFor) -> AfterRelease {
        // While it is nobody's.
        let leaving = self.leaving(index);
        // A policy of the user's may name a device that is not there.
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
                // It may be anybody's now, and who has lost the device may have told them before.
                self.tell_of_loss();
            }
            Some(None) => fence(Ordering::SeqCst),
            None => self.devices.notify_takers_but(takers, leaving),
        }
        let is_runnable = self.slab.slot(index).pending.only_hold_left();
        let is_for_host = is_runnable && !leaving.has(Resource::HOST) && self.may_be_for_host(takers);
        if is_for_host { AfterRelease::Ready } else { AfterRelease::Nothing }
    }

    /// The same for one that its inserter has found issuable.
    #[inline(never)]
    pub(crate) fn push_inserted(&self, seat: &Seat, index: u32, scope: NonNull<ScopeState>) {
        let takers = self.slab.slot(index).device_side().takers();
        let mut kept = KeptFor::new();
        if matches!(self.push_offered(seat, index, takers, &mut kept), AfterRelease::Ready) {
            self.wake_for(seat, scope);
        }
        self.wake_kept(&mut kept);
    }

    /// Wakes the issuers that are still idle.
    pub(super) fn wake_kept(&self, kept: &mut KeptFor) {
        kept.drain(..).for_each(|device| self.devices.all[usize::from(device)].wake_if_idle());
    }

    /// Whether host workers may have use for such a task, which was pushed before, and devices notified. If a device is lost later, that wakes
    /// them.
    fn may_be_for_host(&self, takers: Takers) -> bool {
        takers.host() && (self.host_helps || self.devices.any_lost())
    }

    /// Whether a host worker can take this task, which is one of this runtime, now.
    pub(super) fn host_can_take_offered(&self, task: &ReadyTask) -> bool {
        let slot = self.slab.slot(task.slot());
        let takers = slot.device_side().takers();
        let is_its_turn = || slot.pending.only_hold_left() && self.is_the_hosts(task.slot());
        takers.devices() == 0 || takers.host() && is_its_turn() && !self.leaves(Resource::HOST, task)
    }

    /// Whether the host may have the task, when it can be run: it helps, or nobody else can do it.
    pub(super) fn is_the_hosts(&self, index: u32) -> bool {
        self.host_helps || !self.some_device_can_take(self.slab.slot(index))
    }

    /// Whether the host, or a device that is not lost, can take this task, now or later.
    pub(super) fn somebody_can_take(&self, slot: &Slot) -> bool {
        slot.device_side().takers().host() || self.some_device_can_take(slot)
    }

    /// Whether a device can take this task, now or later.
    pub(super) fn some_device_can_take(&self, slot: &Slot) -> bool {
        let side = slot.device_side();
        let can = |(at, entry): (usize, &Entry)| {
            side.takers().0 & entry.kind_bit != 0 && !side.is_barred_from(at) && !entry.is_lost()
        };
        self.devices.all.iter().enumerate().any(can)
    }

    /// A host worker has taken the task: gives back the hold of an offered one.
    pub(crate) fn claim_for_host(&self, slot: &Slot) {
        if slot.device_side().takers().devices() != 0 {
            let released = slot.pending.release(Release::Done, false);
            debug_assert!(released.runnable(), "taken by the host with every predecessor done");
            // From here on it is an ordinary task of the host, also if it is parked and pushed again.
            slot.device_side().takers.store(Takers::HOST.0, Ordering::Relaxed);
        }
    }
}
