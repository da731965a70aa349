//! Data in several memories: which memory has the valid value of a datum, and how the value gets to where it is needed.
//!
//! # Nodes and replicas
//!
//! A **memory node** is the host's memory or a device's memory. A datum that a device has used has an *entry* in the
//! directory, with one **replica** per node. The states of a replica are those of BLASX's MESI-X (paper, section IV.B).
//! All are derived from the set of nodes whose replica is valid:
//!
//! | state | this replica | others |
//! |---|---|---|
//! | Modified | valid | none is valid |
//! | Exclusive | valid | host memory |
//! | Shared | valid | other devices, possibly the host |
//! | Invalid | not valid | |
//!
//! BLASX writes a Modified tile back to the host at once. Here it stays on the device until it is evicted or read
//! elsewhere. A device that can copy from this one takes the value directly, and host memory does not get a copy (both
//! replicas are then Shared). Otherwise the value goes through host memory. Every datum returns to the host at the end
//! of its scope, or when it is taken or dropped. A task that updates the datum on the host does this.
//!
//! # When a state changes
//!
//! States change when work is **issued**, not when it finishes: they describe the situation after everything issued so
//! far is done. Chains of tasks can therefore run on devices without returning to the host. Each replica names the
//! event after which its bytes match its state (`written`), and the copies that still read it (`readers`).
//!
//! *Reading a replica waits for `written`. Overwriting it waits for `written` and for `readers`.* Work in a device's
//! queue waits for these events in the queue. A host task is put aside until they have finished.
//!
//! No value is read or overwritten too early, for these reasons:
//! 1. A task is issued after all its predecessors are issued, and waits for their events (`placement/mod.rs`). So tasks
//!    that use one datum are issued in an order that its hazards allow, and their state changes follow that order. The
//!    lock orders concurrent readers.
//! 2. A task that writes X makes its replica Modified and all others Invalid. The old value was last used by tasks that
//!    precede it (1) and by copies. Copies into the replica are in `written`, copies out of it in `readers`, and the
//!    task waits for both.
//! 3. A copy waits for `written` of its source, that is, for the task or copy that produced the value, and for
//!    `written` and `readers` of its target. Tasks that used the target's old bytes precede, by their hazard, the task
//!    that produced the value. So they are done when the value exists.
//! 4. A copy for a task is issued after the state change of the task that produced the value (1). A copy out of X's
//!    replica is issued before the next writer of X; otherwise that writer would not find it among the `readers`. Both
//!    are issued under the lock.
//!
//! # Routes
//!
//! A value may have a planned route ([`Lent::send_along`](crate::Lent::send_along)). The first device on it that needs
//! the value has it copied to all of them (`copies.rs`): each copy in parts, and a part waits for the same part of the
//! copy before it. All parts of a copy are in one queue, each waits for the one before it, and `written` and `readers`
//! name the last. So a part that fails fails the last one, and what waits for the last one waits for all. The other
//! devices hold the value without a task that has asked for it; such a replica is pinned until its copy has ended, and
//! is then evicted like any other. It gets memory only if there is room at once, and none where a task waits for room.
//!
//! # Room
//!
//! Every device has one heap (`heap.rs`). Issued work **pins** the replicas that it uses, including both ends of a
//! copy. Pins end when the work is reported finished, so nothing in use is evicted. This corresponds to the reader
//! count of BLASX's ALRU. An admitted task has memory for all its operands and its scratch; a task that is not admitted
//! holds none. Unpinned replicas are evicted in least-recently-used order. A replica whose value is also elsewhere is
//! dropped at once; a Modified one is first copied to the host.
//!
//! Progress is guaranteed. The holder of a pin has been issued and waits only for work issued earlier, so pins end. On
//! each device at most one task waits for admission, and nothing else is admitted there meanwhile. If nothing is pinned
//! and there is still no room, every replica is evicted, even its own operands. It then starts from an empty heap. An
//! empty heap is large enough, because tasks that need more are refused beforehand. Its operands may be fetched several
//! times on the way. But before each new attempt some work has finished, and no other task has added work on this
//! device.
//!
//! # Resident values
//!
//! A [`Resident`](crate::Resident) keeps its entry. When it is lent to a scope, the scope gets a datum of its own, with
//! its own hazards, that refers to the same entry. No task copies the value to the host when the scope ends, and copies
//! of it may still be in progress then. Hazards order uses within one scope only. Between scopes, three rules do: a
//! scope ends when its tasks are done; a scope that changes the value borrows it exclusively; and later users wait for
//! the remaining copies, which the entry names. Scopes that only read the value share it: their tasks are readers, as
//! in one scope.
//!
//! Copies may use its host memory at any time. So the host memory lives until the task that drops the value, which
//! waits for the copies as every writing host task does. Its address must not change. A body may exchange two tiles,
//! and then a task's view has another address than the entry. Such a task is kept off devices, and no copy is issued
//! for it. The body that made the exchange had the datum in host memory with no other valid replica, so there is
//! nothing to copy from.
//!
//! # Failures
//!
//! A copy that fails leaves its target Invalid, unless the target was overwritten since. The targets of copies from
//! there become Invalid, too. A host task, or the task waiting for admission, that needs the value fails with the
//! copy's error. A host task that only waited for the copy to end goes on. If the copy was an eviction, the task that
//! needs the room fails. So no attempt is repeated forever.
//!
//! Queued work that waits for failed work fails, too, once everything that it waits for has ended; drivers ensure this
//! ([`Device`](crate::Device)). When a device is lost, values that were only in its memory are lost. Their entries have
//! no valid replica, and readers fail until a task writes the value anew. The work of a lost device ends at once,
//! perhaps before the events that it waited for. So work that overwrites a replica leaves those events of other devices
//! among the `readers`.
//!
//! The host memory of a datum may be freed after the task that brings it to the host. So a failing host task that was
//! to write the datum still waits for the copies to and from host memory. Afterwards the host replica is the only valid
//! one. Its content is meaningless, but no new copy is started. Copies between devices may be reported even later; the
//! last of them removes the entry (`close`).
//!
//! # The lock
//!
//! One lock guards the directory. Drivers issue copies under it, so no thread sees an event before it is recorded. A
//! task holds the lock for a microsecond or two, about a hundredth of the time that a device takes for a tile; longer
//! if it starts a route, by the time to issue each copy. A runtime without devices has no directory.

mod admission;
mod copies;
mod directory;
mod distance;
mod entry;
mod heap;
mod links;
mod lru;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use admission::{Admitted, Demand};
pub(crate) use copies::EndedCopy;
pub(crate) use directory::{Copier, Directory, EntryId, EntryUse, EntryUses, Gauge, WaitEvents};
pub(crate) use entry::Node;
pub(crate) use heap::Segment;
pub use links::{CopyKind, Traffic};

use crate::{
    datum::{DirectoryEntry, EntryCell},
    device::{DeviceInfo, HostRegion, LinkInfo},
    schedule::Resource,
    sync::lock_spinning,
};
use std::sync::{Arc, Mutex, MutexGuard};

/// Owns a datum's entry, and closes it when the datum, or the last datum that shares the entry, is dropped.
struct EntryGuard {
    memory: Arc<Memory>,
    entry: EntryId,
}

/// A datum's entry, and whether its address in host memory is fixed.
#[derive(Clone, Copy)]
pub(crate) struct EntryRef {
    pub(crate) entry: EntryId,
    pub(crate) is_resident: bool,
}

impl Drop for EntryGuard {
    fn drop(&mut self) {
        self.memory.lock().close(self.entry);
    }
}

impl EntryGuard {
    fn kept(self, stays: bool) -> DirectoryEntry {
        DirectoryEntry { number: self.entry.0, stays, _end: Box::new(self) }
    }
}

impl EntryCell {
    /// Opens the entry of a resident value. Called before any other thread can access the datum.
    pub(crate) fn open_resident(&self, memory: &Arc<Memory>, host: HostRegion) {
        let entry = memory.lock().open(host);
        self.keep(EntryGuard { memory: memory.clone(), entry }.kept(true));
    }

    /// Returns the datum's entry, if devices have used the datum.
    pub(crate) fn entry(&self) -> Option<EntryId> {
        self.get().map(|kept| EntryId(kept.number))
    }

    /// Like [`entry`](Self::entry), but also says whether the value is resident.
    pub(crate) fn entry_ref(&self) -> Option<EntryRef> {
        self.get().map(|kept| EntryRef { entry: EntryId(kept.number), is_resident: kept.stays })
    }

    /// Returns the datum's entry, and opens it if there is none. The caller holds the directory's lock.
    pub(crate) fn entry_or_open(&self, memory: &Arc<Memory>, directory: &mut Directory, host: HostRegion) -> EntryRef {
        self.entry_ref().unwrap_or_else(|| {
            let entry = directory.open(host);
            self.keep(EntryGuard { memory: memory.clone(), entry }.kept(false));
            EntryRef { entry, is_resident: false }
        })
    }
}

/// The directory of a runtime, with its lock.
pub(crate) struct Memory(Mutex<Directory>);

impl Memory {
    pub(crate) fn new(devices: &[DeviceInfo]) -> Self {
        Self(Mutex::new(Directory::new(devices)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Directory> {
        lock_spinning(&self.0)
    }
}

/// The current use of a device's memory; see [`Runtime::memory_in_use`](crate::Runtime::memory_in_use).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryInUse {
    /// The device's name.
    pub device: String,
    /// Bytes of its heap allocated to replicas and scratch.
    pub bytes: usize,
    /// Number of replicas in the heap.
    pub replicas: usize,
    /// Number of uses of replicas and scratch by work that was issued and has not finished.
    pub pins: u64,
    /// Number and total bytes of the replicas evicted so far.
    pub evicted: (u64, u64),
}

impl Memory {
    pub(crate) fn in_use(&self, names: &[String]) -> Vec<MemoryInUse> {
        let directory = self.lock();
        let each = names.iter().zip(&directory.stores).zip(&directory.evicted);
        let use_of = |((name, store), &evicted): ((&String, &directory::DeviceStore), &(u64, u64))| {
            store.heap.as_ref().map(|heap| MemoryInUse {
                device: name.clone(),
                bytes: heap.used(),
                replicas: store.lru.len(),
                pins: store.pins,
                evicted,
            })
        };
        each.filter_map(use_of).collect()
    }

    pub(crate) fn traffic(&self, names: &[String]) -> Vec<Traffic> {
        let name = |node: Node| match node.device() {
            None => "host".to_owned(),
            Some(device) => names[usize::from(device)].clone(),
        };
        self.lock().links.traffic(name)
    }

    pub(crate) fn links(&self) -> Vec<(Resource, Resource, LinkInfo)> {
        self.lock().links.all().map(|(from, to, link)| (Resource(from.0), Resource(to.0), link)).collect()
    }

    pub(crate) fn busy_links(&self) -> Vec<(Resource, Resource, f64)> {
        self.lock().links.busy().map(|(from, to, rate)| (Resource(from.0), Resource(to.0), rate)).collect()
    }

    pub(crate) fn host_links(&self, device: u16) -> Option<[LinkInfo; 2]> {
        self.lock().links.of_host(device)
    }
}
