//! Who is too slow for a task.
//!
//! Policies that weigh nothing give a task to whoever asks. If that is a device with a hundredth of the others' speed, all else is done long
//! before its last tasks are; if it is the urgent one, all else waits for it. So a resource leaves a task to one that is far faster, if it would be
//! at it for more than a small part of the time that all tasks in flight take the others.
//!
//! The faster one was woken for the task, or looks when it has done what it is at. Only where both have just left it to the other, since what is
//! known of their rates has changed between the two looks, nobody takes it: so issuers that are idle wake everybody now and then.

#![forbid(unsafe_code)]

use super::{
    Site,
    table::{ResourceSet, Takers},
};
use crate::{
    device::Cost,
    schedule::{ReadyTask, Resource},
    task::Slot,
};
use std::cell::Cell;

/// The longest that a slow resource may be at a task, as a share of the time that the others need for all tasks in flight. It is small,
/// because in a factorization several such tasks may follow each other.
const SHARE: f64 = 1.0 / 64.0;
/// A resource is far slower than another if it takes more than this many times as long.
const FAR: f64 = 2.0;

/// The last answer in one look at tasks: most that follow each other are alike.
#[derive(Default)]
pub(super) struct Look(Cell<Option<(Call, bool)>>);

/// What the answer depends on: who can take the task, and what is called.
type Call = (Takers, &'static str, Cost);

impl Look {
    fn answer(&self, slot: &Slot, ask: impl FnOnce() -> bool) -> bool {
        let side = slot.device_side();
        let (kernel, cost) = side.call();
        let call = (side.takers(), kernel, cost);
        match self.0.get() {
            // Tasks that are alike may still differ in the devices that turned out to have no room for them.
            _ if side.is_barred_from_any() => ask(),
            Some((known, answer)) if known == call => answer,
            _ => {
                let answer = ask();
                self.0.set(Some((call, answer)));
                answer
            }
        }
    }
}

impl Site<'_> {
    /// Whether this resource leaves the task to faster ones; see the module's head.
    #[inline]
    pub(super) fn leaves(&self, on: Resource, task: &ReadyTask) -> bool {
        self.some_may_leave() && self.is_too_slow(on, task.slot())
    }

    /// The same, in a look that passes many tasks.
    #[inline]
    pub(super) fn leaves_as(&self, look: &Look, on: Resource, task: &ReadyTask) -> bool {
        self.some_may_leave() && look.answer(self.slab.slot(task.slot()), || self.is_too_slow(on, task.slot()))
    }

    /// Who leaves a task, which nobody else has yet, and so need not be woken for it.
    #[inline]
    pub(super) fn leaving(&self, index: u32) -> ResourceSet {
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
        let (kernel, cost) = slot.device_side().call();
        let call_ns = |on| self.weights.forecast_ns(on, kernel, &cost);
        let own_ns = call_ns(on);
        let (mut calls_per_ns, mut is_far_slower) = (0.0, false);
        for other in (0..=self.devices.len() as u16).map(Resource).filter(|&other| other != on) {
            let (is_able, servers) = match other.device_index() {
                None => (slot.device_side().takers().host() && self.is_the_hosts(index), self.workers),
                Some(device) => (self.is_for(usize::from(device), slot), 1),
            };
            if is_able {
                let ns = call_ns(other);
                calls_per_ns += f64::from(servers) / ns;
                is_far_slower |= FAR * ns < own_ns;
            }
        }
        is_far_slower && own_ns * calls_per_ns > SHARE * self.in_flight() as f64
    }

    /// How many tasks are inserted and not done, about.
    fn in_flight(&self) -> i64 {
        self.seats.iter().map(|seat| seat.balance()).fold(0, i64::wrapping_add)
    }

    /// Wakes all resources if each of them may have left a task to another one.
    pub(super) fn ask_others(&self) {
        if self.some_may_leave() && self.in_flight() > 0 {
            self.sleep.notify();
            self.devices.notify();
        }
    }
}
