//! [`SharedContext`]: what devices of one platform share, so that they can wait for each other and copy from each
//! other.
//!
//! # Events
//!
//! The runtime names work in a queue by a plain [`Event`], OpenCL by an object. The table here maps one to the other,
//! for all devices of the context. An entry is added before the ticket is returned, so everyone who knows a ticket
//! finds it. It is removed when the end is reported; a later lookup finds nothing, and there is nothing to wait for.
//!
//! OpenCL does not know that work has failed if a part of it could not be put into a queue, or if the host did not
//! accept what it left. The events of such work are listed, and work that waits for one is refused. (If it was put into
//! a queue before the failure was known, it runs; the runtime then discards its results.)
//!
//! # Initialization
//!
//! Several threads may call OpenCL's functions at once, but some drivers are not safe while they start or stop. PoCL
//! 3.1 shuts down with its last context, and crashes if it is queried meanwhile. Therefore one thread at a time lists
//! and opens devices, and the first context of each platform is kept until the process ends.

use super::{
    failure::{awaited_failure, check},
    object::{self, Buffer, Context},
};
use ocl::ffi;
use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use superscalar_runtime::{DeviceError, Event};

/// A context with the devices that were opened together.
#[derive(Debug)]
pub(super) struct SharedContext {
    pub(super) context: Context,
    /// The devices' indices in the runtime.
    pub(super) devices: Vec<u16>,
    events: Mutex<EventTable>,
    heaps: Mutex<HashMap<u16, Heap>>,
}

#[derive(Debug, Default)]
struct EventTable {
    /// The events of work whose end is not reported.
    objects: HashMap<Event, Arc<object::Event>>,
    failed: HashSet<Event>,
}

impl SharedContext {
    pub(super) fn new(context: Context, devices: Vec<u16>) -> Self {
        Self { context, devices, events: Mutex::default(), heaps: Mutex::default() }
    }

    pub(super) fn add(&self, event: Event, object: Arc<object::Event>) {
        lock(&self.events).objects.insert(event, object);
    }

    /// Records that the work of this event has failed.
    pub(super) fn note_failure(&self, event: Event) {
        lock(&self.events).failed.insert(event);
    }

    pub(super) fn remove(&self, event: Event) {
        let object = lock(&self.events).objects.remove(&event);
        // Drop it without holding the lock.
        drop(object);
    }

    /// Returns the objects of the events that a queue must wait for. Events of the queue itself come first anyway, and
    /// events that are over are omitted.
    pub(super) fn waits(&self, queue: (u16, u16), waits: &[Event]) -> Result<Vec<Arc<object::Event>>, DeviceError> {
        if let Some(foreign) = waits.iter().find(|event| !self.devices.contains(&event.device)) {
            return Err(DeviceError::new(format!("it cannot wait for events of device {}", foreign.device)));
        }
        let EventTable { objects, failed } = &*lock(&self.events);
        if waits.iter().any(|event| failed.contains(event)) {
            return Err(awaited_failure());
        }
        let others = waits.iter().filter(|event| (event.device, event.queue) != queue);
        Ok(others.filter_map(|event| objects.get(event).cloned()).collect())
    }

    pub(super) fn add_heap(&self, device: u16, heap: Heap) {
        lock(&self.heaps).insert(device, heap);
    }

    pub(super) fn heap(&self, device: u16) -> Option<Heap> {
        lock(&self.heaps).get(&device).cloned()
    }

    /// Removes the events and the heap of a device that is closed.
    pub(super) fn forget(&self, device: u16) {
        {
            let EventTable { objects, failed } = &mut *lock(&self.events);
            objects.retain(|event, _| event.device != device);
            failed.retain(|event| event.device != device);
        }
        lock(&self.heaps).remove(&device);
    }

    /// Returns the number of events that are not over.
    #[cfg(test)]
    pub(super) fn events(&self) -> usize {
        lock(&self.events).objects.len()
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
        lock(&SETUP)
    }

    /// Keeps the context until the process ends, if it is the first of its platform.
    pub(super) fn keep(&mut self, platform: ffi::cl_platform_id, context: &Context) -> Result<(), DeviceError> {
        let platform = platform as usize;
        if self.kept.contains(&platform) {
            return Ok(());
        }
        // SAFETY: the context exists. The added reference is never released.
        check(unsafe { ffi::clRetainContext(context.raw()) }, "clRetainContext")?;
        self.kept.push(platform);
        Ok(())
    }
}

/// Locks a mutex. A poisoned one is used as well, because the holders leave the data consistent even if they panic.
pub(super) fn lock<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
