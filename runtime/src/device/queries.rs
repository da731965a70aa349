//! What a program may ask about the devices of its runtime, from outside and inside of tasks.

#![forbid(unsafe_code)]

use super::{Cost, DeviceInfo};
use crate::{
    runtime::{Runtime, Shared},
    schedule::Resource,
    scope::Nesting,
    weights::CapabilityWeight,
};
use std::sync::atomic::Ordering;

impl Shared {
    fn device_infos(&self) -> Vec<DeviceInfo> {
        self.devices.all.iter().map(|entry| entry.info.clone()).collect()
    }
}

impl Runtime {
    /// Whether there are devices.
    #[must_use]
    pub fn has_devices(&self) -> bool {
        !self.shared.devices.is_empty()
    }

    /// The devices, in the order in which they were given to the builder.
    #[must_use]
    pub fn devices(&self) -> Vec<DeviceInfo> {
        self.shared.device_infos()
    }

    /// How many tasks have been put into queues of each device so far, in the devices' order.
    #[must_use]
    pub fn tasks_issued(&self) -> Vec<u64> {
        self.shared.devices.all.iter().map(|entry| entry.issued.load(Ordering::Relaxed)).collect()
    }

    /// The floating-point operations of [these tasks](Self::tasks_issued), as their codelets' costs give them.
    #[must_use]
    pub fn flops_issued(&self) -> Vec<u64> {
        self.shared.devices.all.iter().map(|entry| entry.issued_flops.load(Ordering::Relaxed)).collect()
    }
}

impl Nesting<'_> {
    /// Whether the runtime has devices.
    #[must_use]
    pub fn has_devices(&self) -> bool {
        !self.0.devices.is_empty()
    }

    /// The devices, in the order in which they were given to the builder.
    #[must_use]
    pub fn devices(&self) -> Vec<DeviceInfo> {
        self.0.device_infos()
    }

    /// As [`Runtime::capability_weight`], for a task that deals.
    ///
    /// # Panics
    /// If the runtime has no such device.
    #[must_use]
    pub fn capability_weight(&self, resource: Resource, kernel: &str, cost: Cost) -> CapabilityWeight {
        self.0.weights.of(resource, kernel, cost)
    }
}
