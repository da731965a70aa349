//! Queries about the devices of a runtime, from outside and inside of tasks.

#![forbid(unsafe_code)]

use super::{Builder, Runtime};
use crate::{
    cache::CacheFile,
    device::{Cost, Device, DeviceInfo, LinkInfo},
    memory::{MemoryInUse, Traffic},
    placement::{DeviceEntry, DevicePlacement},
    schedule::Resource,
    scope::{Lent, Nesting},
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
    // Without devices nothing was measured, so the weight is assumed.
    let assumed = Weights::start(None, Vec::new(), shared.notices.clone());
    assumed.unwrap_or_else(|_| unreachable!("no file is read")).of(resource, kernel, cost)
}

impl Runtime {
    /// Returns whether the runtime has devices.
    #[must_use]
    pub fn has_devices(&self) -> bool {
        !devices(&self.shared).is_empty()
    }

    /// Returns the devices, in the order in which they were given to the builder.
    #[must_use]
    pub fn devices(&self) -> Vec<DeviceInfo> {
        infos(&self.shared)
    }

    /// Returns whether the host's workers also take tasks that a device could run; see [`Builder::host_helps`].
    #[must_use]
    pub fn host_helps(&self) -> bool {
        DevicePlacement::of(&self.shared).is_none_or(|places| places.host_helps)
    }

    /// Returns the links from host memory to a device and back, as measured so far. `None` if the device has no memory
    /// of its own, or there is no such device.
    #[must_use]
    pub fn host_links(&self, device: Resource) -> Option<[LinkInfo; 2]> {
        DevicePlacement::of(&self.shared)?.memory.host_links(device.device_index()?)
    }

    /// Returns how many tasks have been issued to each device so far, in the order of the devices.
    #[must_use]
    pub fn tasks_issued(&self) -> Vec<u64> {
        devices(&self.shared).iter().map(|entry| entry.issued.load(Ordering::Relaxed)).collect()
    }

    /// Returns the floating-point operations of the [issued tasks](Self::tasks_issued), as their codelets' costs give
    /// them.
    #[must_use]
    pub fn flops_issued(&self) -> Vec<u64> {
        devices(&self.shared).iter().map(|entry| entry.issued_flops.load(Ordering::Relaxed)).collect()
    }

    /// Returns the current capability weights: the rates of each device and of one host worker, for each kernel that
    /// has run on it in this or an earlier run. Empty without devices.
    #[must_use]
    pub fn capability_weights(&self) -> Vec<CapabilityWeight> {
        DevicePlacement::of(&self.shared).map_or_else(Vec::new, |places| places.weights.list())
    }

    /// Returns the capability weight of one resource for one call of a kernel, from the best available source. Data are
    /// dealt by these weights. The weight of the host is that of one worker.
    ///
    /// # Panics
    /// Panics if the runtime has no such device.
    #[must_use]
    pub fn capability_weight(&self, resource: Resource, kernel: &str, cost: Cost) -> CapabilityWeight {
        weight(&self.shared, resource, kernel, cost)
    }

    /// Returns the bytes copied between memory nodes so far, by link, direction and reason (as in BLASX's Table V).
    #[must_use]
    pub fn traffic(&self) -> Vec<Traffic> {
        DevicePlacement::of(&self.shared).map_or_else(Vec::new, |places| places.memory.traffic(&places.devices.names()))
    }

    /// Returns the memory currently in use on each device. Between scopes, only handles and [resident](crate::Resident)
    /// values use device memory.
    #[must_use]
    pub fn memory_in_use(&self) -> Vec<MemoryInUse> {
        DevicePlacement::of(&self.shared).map_or_else(Vec::new, |places| places.memory.in_use(&places.devices.names()))
    }
}

impl Runtime {
    /// Returns the runtime as the bodies of its tasks see it, for code that both use.
    #[must_use]
    pub fn nesting(&self) -> Nesting<'_> {
        Nesting(&self.shared)
    }
}

impl Nesting<'_> {
    /// Returns whether the runtime has devices.
    #[must_use]
    pub fn has_devices(&self) -> bool {
        !devices(self.0).is_empty()
    }

    /// Returns the devices, in the order in which they were given to the builder.
    #[must_use]
    pub fn devices(&self) -> Vec<DeviceInfo> {
        infos(self.0)
    }

    /// Returns the links between memories, with their bandwidths as measured so far: source, target and link. A device
    /// that works in host memory has none.
    #[must_use]
    pub fn links(&self) -> Vec<(Resource, Resource, LinkInfo)> {
        DevicePlacement::of(self.0).map_or_else(Vec::new, |places| places.memory.links())
    }

    /// Returns the rates of links between host memory and devices while all of these links are in use in the same
    /// direction, as far as they were measured: source, target, and bytes per second. Links that share a bus are slower
    /// then.
    #[must_use]
    pub fn busy_links(&self) -> Vec<(Resource, Resource, f64)> {
        DevicePlacement::of(self.0).map_or_else(Vec::new, |places| places.memory.busy_links())
    }

    /// Returns whether the scheduling policy [follows homes](crate::Policy::follows_homes).
    #[must_use]
    pub fn follows_homes(&self) -> bool {
        self.0.policy.follows_homes()
    }

    /// Returns the resources that have a lent value, or will have it when all issued work is done; the host, if devices
    /// have not used it. Empty for a value lent to a scope of another runtime.
    #[must_use]
    pub fn holders<'d, T: ?Sized + 'd>(&self, lent: &Lent<'d, T>) -> Vec<Resource> {
        let datum = lent.datum();
        if datum.origin.runtime != std::ptr::from_ref(self.0).cast() {
            return Vec::new();
        }
        match datum.first_execution().elsewhere.entry().zip(DevicePlacement::of(self.0)) {
            None => vec![Resource::HOST],
            Some((entry, places)) => places.memory.lock().holders(entry),
        }
    }

    /// Like [`Runtime::capability_weight`], for use inside a task that deals data.
    ///
    /// # Panics
    /// Panics if the runtime has no such device.
    #[must_use]
    pub fn capability_weight(&self, resource: Resource, kernel: &str, cost: Cost) -> CapabilityWeight {
        weight(self.0, resource, kernel, cost)
    }
}

impl Builder {
    /// Sets the file in which capability weights are kept from run to run; `None` keeps none. Only a runtime with
    /// devices uses the file. It is read at the start, and written at the end if the measurements changed.
    pub fn weights_file(mut self, file: Option<PathBuf>) -> Self {
        self.places.weights_file = Some(file.map(CacheFile::named));
        self
    }

    /// Adds a device.
    pub fn device(mut self, device: Arc<dyn Device>) -> Self {
        self.places.devices.push(device);
        self
    }

    /// Sets whether the host's workers also take tasks that a device could run. The default is `true`. With `false`,
    /// they run only tasks that no device of the runtime can run.
    pub fn host_helps(mut self, host_helps: bool) -> Self {
        self.places.host_helps = Some(host_helps);
        self
    }
}
