//! Who is too slow for a task.
//!
//! Policies that weigh nothing give a task to whoever asks. If that is a device with a hundredth of the others' speed, all else is done long
//! before its last tasks are; if it is the urgent one, all else waits for it. So a resource leaves a task to a faster one if it would be at
//! it for more than a small part of the time that all tasks in flight take the others. The faster one is at work, and so will look again
//! when that ends: nobody waits for a task that is left.

#![forbid(unsafe_code)]

use super::Devices;
use crate::{
    runtime::Shared,
    schedule::{ReadyTask, Resource},
};
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A task may take so much of the time of what is in flight: in a factorization several such follow each other.
const SHARE: f64 = 1.0 / 16.0;

/// How much there is to do, and whether workers do it.
#[derive(Default)]
pub(crate) struct Pace {
    /// Tasks inserted and not done.
    in_flight: CachePadded<AtomicU64>,
    /// Workers of the host that are in a task, and take any when it ends.
    workers: CachePadded<AtomicU32>,
}

impl Pace {
    pub(crate) fn begin_task(&self) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn end_task(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    /// A worker is at work until this is dropped.
    pub(crate) fn work(&self) -> AtWork<'_> {
        self.workers.fetch_add(1, Ordering::Relaxed);
        AtWork(&self.workers)
    }
}

/// A worker is at work.
pub(crate) struct AtWork<'a>(&'a AtomicU32);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Shared {
    /// Whether this resource leaves the task to faster ones; see the module's head.
    #[inline]
    pub(super) fn leaves(&self, on: Resource, task: &ReadyTask) -> bool {
        self.weights.are_unlike() && !self.policy.weighs() && self.is_too_slow(on, task)
    }

    #[inline(never)]
    fn is_too_slow(&self, on: Resource, task: &ReadyTask) -> bool {
        let slot = self.slab.slot(task.slot());
        let (kernel, cost) = slot.device_side().call();
        let call_ns = |on| self.weights.forecast_ns(on, kernel, &cost);
        let own_ns = call_ns(on);
        let (mut calls_per_ns, mut is_left) = (0.0, false);
        for other in (0..=self.devices.len() as u16).map(Resource).filter(|&other| other != on) {
            let (is_able, is_at_work, servers) = match other.device_index() {
                None => {
                    let is_able = slot.device_side().takers().host() && self.is_the_hosts(task.slot());
                    (is_able, self.devices.pace.workers.load(Ordering::Relaxed) > 0, self.workers)
                }
                Some(device) => {
                    let at = usize::from(device);
                    (self.is_for(at, slot), self.devices.all[at].at_work.load(Ordering::Relaxed), 1)
                }
            };
            if is_able {
                let ns = call_ns(other);
                calls_per_ns += f64::from(servers) / ns;
                is_left |= is_at_work && ns < own_ns;
            }
        }
        let in_flight = self.devices.pace.in_flight.load(Ordering::Relaxed) as f64;
        is_left && own_ns * calls_per_ns > SHARE * in_flight
    }
}

impl Devices {
    /// How much there is to do.
    pub(crate) fn pace(&self) -> &Pace {
        &self.pace
    }
}
