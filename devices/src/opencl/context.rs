//! [`SharedContext`]: what devices of one platform share, so that they can wait for each other and copy from each other.
//!
//! # Events
//!
//! The runtime names a place in a queue by a plain [`Event`]; OpenCL has an object for it. The table here leads from one to the other, for all
//! devices of the context. An entry is made before the ticket is given out, so whoever knows a ticket finds it. It is taken out
//! when the end is reported; who looks for it later finds nothing, and there is nothing to wait for.
//!
//! # Setting up
//!
//! Functions of OpenCL may be called by several threads at once, but not every driver does well while it starts or stops: PoCL 3.1 stops when the
//! last context goes, and crashes if somebody asks it something meanwhile. So one thread at a time lists and opens devices, and the
//! first context of each platform is kept until the process ends.

use super::{
    failure::check,
    object::{self, Buffer, Context},
};
use ocl::ffi;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use superscalar_runtime::{DeviceError, Event};

/// A context with the devices that were opened together.
#[derive(Debug)]
pub(super) struct SharedContext {
    pub(super) context: Context,
    /// The devices' indices in the runtime.
    pub(super) devices: Vec<u16>,
    events: Mutex<HashMap<Event, Arc<object::Event>>>,
    heaps: Mutex<HashMap<u16, Heap>>,
}

impl SharedContext {
    pub(super) fn new(context: Context, devices: Vec<u16>) -> Self {
        Self { context, devices, events: Mutex::default(), heaps: Mutex::default() }
    }

    pub(super) fn add(&self, event: Event, object: Arc<object::Event>) {
        held(&self.events).insert(event, object);
    }

    pub(super) fn remove(&self, event: Event) {
        let object = held(&self.events).remove(&event);
        // Released, if it is, without the lock.
        drop(object);
    }

    /// What a queue must wait for: not events of its own, which come before anyway, and none that are over.
    pub(super) fn waits(&self, queue: (u16, u16), waits: &[Event]) -> Result<Vec<Arc<object::Event>>, DeviceError> {
        if let Some(foreign) = waits.iter().find(|event| !self.devices.contains(&event.device)) {
            return Err(DeviceError::new(format!("it can not wait for events of device {}", foreign.device)));
        }
        let events = held(&self.events);
        let others = waits.iter().filter(|event| (event.device, event.queue) != queue);
        Ok(others.filter_map(|event| events.get(event).cloned()).collect())
    }

    pub(super) fn add_heap(&self, device: u16, heap: Heap) {
        held(&self.heaps).insert(device, heap);
    }

    pub(super) fn heap(&self, device: u16) -> Option<Heap> {
        held(&self.heaps).get(&device).cloned()
    }

    /// Forgets what belongs to a device that is closed.
    pub(super) fn forget(&self, device: u16) {
        held(&self.events).retain(|event, _| event.device != device);
        held(&self.heaps).remove(&device);
    }

    /// How many events are not over.
    #[cfg(test)]
    pub(super) fn events(&self) -> usize {
        held(&self.events).len()
    }
}

/// A device's memory.
#[derive(Clone, Debug)]
pub(super) struct Heap {
    buffer: Arc<Buffer>,
    bytes: usize,
}

impl Heap {
    pub(super) fn new(buffer: Buffer, bytes: usize) -> Self {
        Self { buffer: Arc::new(buffer), bytes }
    }

    pub(super) fn raw(&self) -> ffi::cl_mem {
        self.buffer.raw()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Held while devices are listed and opened.
#[derive(Debug, Default)]
pub(super) struct Setup {
    /// The platforms of which a context is kept.
    kept: Vec<usize>,
}

impl Setup {
    pub(super) fn begin() -> MutexGuard<'static, Self> {
        static SETUP: Mutex<Setup> = Mutex::new(Setup { kept: Vec::new() });
        held(&SETUP)
    }

    /// Keeps the context if it is the first of its platform.
    pub(super) fn keep(&mut self, platform: ffi::cl_platform_id, context: &Context) -> Result<(), DeviceError> {
        let platform = platform as usize;
        if self.kept.contains(&platform) {
            return Ok(());
        }
        // SAFETY: the context is there; nobody gives this count back.
        check(unsafe { ffi::clRetainContext(context.raw()) }, "clRetainContext")?;
        self.kept.push(platform);
        Ok(())
    }
}

/// A lock whose holders leave things whole even when they panic.
pub(super) fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
