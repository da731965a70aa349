//! What a program may ask about the devices of its runtime, from outside and inside of tasks.

#![forbid(unsafe_code)]

use super::{Builder, Runtime};
use crate::{
    cache::CacheFile,
    device::{Cost, Device, DeviceInfo},
    memory::{MemoryInUse, Traffic},
    placement::{DeviceEntry, DevicePlacement},
    schedule::Resource,
    scope::Nesting,
    shared::Shared,
    weights::{CapabilityWeight, Weights},
};
use std::{
    path::PathBuf,
    sync::{Arc, atomic::Ordering},
};

fn devices(shared: &Shared) -> &[DeviceEntry] {
    DevicePlacement::of(shared).map_or(&[], |places| &places.devices.all)
}

fn infos(shared: &Shared) -> Vec<DeviceInfo> {
    DevicePlacement::of(shared).map_or_else(Vec::new, |places| places.devices.infos())
}

fn weight(shared: &Shared, resource: Resource, kernel: &str, cost: Cost) -> CapabilityWeight {
    if let Some(places) = DevicePlacement::of(shared) {
        return places.weights.of(resource, kernel, cost);
    }
    // Nothing was measured: it is assumed.
    let assumed = Weights::start(None, Vec::new(), shared.notices.clone());
    assumed.unwrap_or_else(|_| unreachable!("no file is read")).of(resource, kernel, cost)
}

impl Runtime {
    /// Whether there are devices.
    #[must_use]
    pub fn has_devices(&self) -> bool {
        !devices(&self.shared).is_empty()
    }

    /// The devices, in the order in which they were given to the builder.
    #[must_use]
    pub fn devices(&self) -> Vec<DeviceInfo> {
        infos(&self.shared)
    }

    /// How many tasks have been put into queues of each device so far, in the devices' order.
    #[must_use]
    pub fn tasks_issued(&self) -> Vec<u64> {
        devices(&self.shared).iter().map(|entry| entry.issued.load(Ordering::Relaxed)).collect()
    }

    /// The floating-point operations of [these tasks](Self::tasks_issued), as their codelets' costs give them.
    #[must_use]
    pub fn flops_issued(&self) -> Vec<u64> {
        devices(&self.shared).iter().map(|entry| entry.issued_flops.load(Ordering::Relaxed)).collect()
    }

    /// The capability weights as they stand: for each device, and a worker of the host, its rate for each kind of kernel that has run
    /// here, now or earlier. Empty without devices.
    #[must_use]
    pub fn capability_weights(&self) -> Vec<CapabilityWeight> {
        DevicePlacement::of(&self.shared).map_or_else(Vec::new, |places| places.weights.list())
    }

    /// The capability weight of one resource for one call of a kernel, from the best source that there is: what data are dealt by. The
    /// host's is one worker's.
    ///
    /// # Panics
    /// If the runtime has no such device.
    #[must_use]
    pub fn capability_weight(&self, resource: Resource, kernel: &str, cost: Cost) -> CapabilityWeight {
        weight(&self.shared, resource, kernel, cost)
    }

    /// What was copied between memory nodes so far: per link, direction and reason, as BLASX's Table V has it.
    #[must_use]
    pub fn traffic(&self) -> Vec<Traffic> {
        DevicePlacement::of(&self.shared).map_or_else(Vec::new, |places| places.memory.traffic(&places.devices.names()))
    }

    /// What the memories of the devices hold at the moment. Between scopes, and without handles and
    /// [resident](crate::Resident) values, nothing.
    #[must_use]
    pub fn memory_in_use(&self) -> Vec<MemoryInUse> {
        DevicePlacement::of(&self.shared).map_or_else(Vec::new, |places| places.memory.in_use(&places.devices.names()))
    }
}

impl Nesting<'_> {
    /// Whether the runtime has devices.
    #[must_use]
    pub fn has_devices(&self) -> bool {
        !devices(self.0).is_empty()
    }

    /// The devices, in the order in which they were given to the builder.
    #[must_use]
    pub fn devices(&self) -> Vec<DeviceInfo> {
        infos(self.0)
    }

    /// As [`Runtime::capability_weight`], for a task that deals.
    ///
    /// # Panics
    /// If the runtime has no such device.
    #[must_use]
    pub fn capability_weight(&self, resource: Resource, kernel: &str, cost: Cost) -> CapabilityWeight {
        weight(self.0, resource, kernel, cost)
    }
}

impl Builder {
    /// The file in which capability weights are kept from run to run; `None`: they are not. Only a runtime with devices reads and
    /// writes it: at its start, and at its end if what it measured is news.
    pub fn weights_file(mut self, file: Option<PathBuf>) -> Self {
        self.places.weights_file = Some(file.map(CacheFile::named));
        self
    }

    /// Adds a device.
    pub fn device(mut self, device: Arc<dyn Device>) -> Self {
        self.places.devices.push(device);
        self
    }

    /// Whether the host's workers take tasks that a device could take, too. They do unless told otherwise; if not, they run what no
    /// device of the runtime can do.
    pub fn host_helps(mut self, host_helps: bool) -> Self {
        self.places.host_helps = Some(host_helps);
        self
    }
}
