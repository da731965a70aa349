//! Keeps slow resources from taking tasks that a faster one should run.
//!
//! Policies without forecasts give a task to any resource that asks. If that is a device with a hundredth of the
//! others' speed, its last task finishes long after all others. If the task is urgent, all others wait for it. So a
//! resource leaves a task to a far faster one if running the task would take more than a small share of the time that
//! the others need for all tasks in flight.
//!
//! The faster resource was woken for the task, or looks for tasks when it finishes its current one. It is possible that
//! two resources leave a task to each other, because their known rates changed between the two looks. So idle issuers
//! wake everybody from time to time.

#![forbid(unsafe_code)]

use super::{
    PlacementContext,
    table::{ResourceSet, Takers},
};
use crate::{
    device::Cost,
    schedule::{ReadyTask, Resource},
    task::Slot,
};
use std::cell::Cell;

/// The longest time that a slow resource may spend on one task, as a share of the time that the others need for all
/// tasks in flight. It is small, because several such tasks may follow each other in a factorization.
const TASK_SHARE_MAX: f64 = 1.0 / 64.0;
/// A resource is far slower than another if it takes more than this many times as long.
const FAR_SLOWER: f64 = 2.0;

/// Caches the last answer during one search for tasks, because consecutive tasks usually have the same
/// kernel and takers.
#[derive(Default)]
pub(super) struct AnswerCache(Cell<Option<(CallKey, bool)>>);

/// The inputs of the answer.
#[derive(Clone, Copy, PartialEq)]
struct CallKey {
    takers: Takers,
    kernel: &'static str,
    cost: Cost,
}

impl AnswerCache {
    fn answer(&self, slot: &Slot, ask: impl FnOnce() -> bool) -> bool {
        let record = slot.device_record();
        let (kernel, cost) = record.call();
        let call = CallKey { takers: record.takers(), kernel, cost };
        match self.0.get() {
            // Tasks that are otherwise alike may differ in the devices barred from them.
            _ if record.is_barred_from_any() => ask(),
            Some((known, answer)) if known == call => answer,
            _ => {
                let answer = ask();
                self.0.set(Some((call, answer)));
                answer
            }
        }
    }
}

impl PlacementContext<'_> {
    /// Returns whether this resource leaves the task to faster ones.
    #[inline]
    pub(super) fn leaves(&self, on: Resource, task: &ReadyTask) -> bool {
        self.some_may_leave() && self.is_too_slow(on, task.slot())
    }

    /// Like [`leaves`](Self::leaves), with a cache for a search over many tasks.
    #[inline]
    pub(super) fn leaves_cached(&self, look: &AnswerCache, on: Resource, task: &ReadyTask) -> bool {
        self.some_may_leave() && look.answer(self.slab.slot(task.slot()), || self.is_too_slow(on, task.slot()))
    }

    /// Returns the resources that leave a task which is not pushed yet. They need not be woken for it.
    #[inline]
    pub(super) fn resources_leaving(&self, index: u32) -> ResourceSet {
        if !self.some_may_leave() {
            return ResourceSet::default();
        }
        let resources = (0..=self.devices.len() as u16).map(Resource);
        resources.filter(|&on| self.is_too_slow(on, index)).collect()
    }

    fn some_may_leave(&self) -> bool {
        self.weights.are_unlike() && !self.policy.weighs()
    }

    #[inline(never)]
    fn is_too_slow(&self, on: Resource, index: u32) -> bool {
        let slot = self.slab.slot(index);
        let (kernel, cost) = slot.device_record().call();
        let call_ns = |on| self.weights.forecast_ns(on, kernel, &cost);
        let own_ns = call_ns(on);
        let (mut calls_per_ns, mut is_far_slower) = (0.0, false);
        for other in (0..=self.devices.len() as u16).map(Resource).filter(|&other| other != on) {
            let (is_able, servers) = match other.device_index() {
                None => (slot.device_record().takers().host() && self.is_the_hosts(index), self.workers),
                Some(device) => (self.is_for(usize::from(device), slot), 1),
            };
            if is_able {
                let ns = call_ns(other);
                calls_per_ns += f64::from(servers) / ns;
                is_far_slower |= FAR_SLOWER * ns < own_ns;
            }
        }
        is_far_slower && own_ns * calls_per_ns > TASK_SHARE_MAX * self.in_flight() as f64
    }

    /// Returns the approximate number of tasks that are inserted and not done.
    fn in_flight(&self) -> i64 {
        self.seats.iter().map(|seat| seat.balance()).fold(0, i64::wrapping_add)
    }

    /// Wakes all resources if each of them may have left a task to another one.
    pub(super) fn wake_everybody(&self) {
        if self.some_may_leave() && self.in_flight() > 0 {
            self.sleep.notify();
            self.devices.notify();
        }
    }
}
