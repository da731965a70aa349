//! Memory that is in many places: who has the valid value of a datum, and what brings it where it is needed.
//!
//! # Nodes and replicas
//!
//! A **memory node** is the host, or the memory of a device. A datum that a device has used has an *entry* in the directory, with a
//! **replica** per node. The states are those of BLASX's MESI-X (paper, section IV.B), all derived from the set of nodes
//! whose replica is valid:
//!
//! | state | this replica | others |
//! |---|---|---|
//! | Modified | valid | none: the only one |
//! | Exclusive | valid | host memory |
//! | Shared | valid | other devices, perhaps the host |
//! | Invalid | not valid | |
//!
//! BLASX writes a Modified tile back at once. Here it stays, until it is evicted or read elsewhere: a device that can copy from
//! this one takes the value from here, and host memory goes on without it (both are Shared then); else it goes through host memory.
//! In the end every datum comes home: at the end of its scope, or when it is taken or dropped, by a task of its own that
//! updates it on the host.
//!
//! # When a state changes
//!
//! States change when work is **issued**, not when it is finished: they say what will be so when everything that has been issued
//! is done. This is what lets chains of tasks run on devices without coming back to the host. Each replica therefore
//! names the event after which its bytes are what its state says (`written`), and the copies that still read it (`readers`).
//!
//! *Reading a replica waits for `written`. Overwriting it waits for `written` and for `readers`.* Work in a device's queue waits
//! for events there; a host task is put aside until they have finished.
//!
//! Why no value is read too early or overwritten too early:
//! 1. A task is issued after all its predecessors are issued, and waits for their events (`placement/mod.rs`). So tasks that use one
//!    datum are issued in an order that its hazards allow, and so are their state changes; the lock orders readers among themselves.
//! 2. A task that writes X makes its replica Modified and all others Invalid. What it overwrites was last used by tasks that precede
//!    it (1), and by copies: those into its replica are `written`, those out of it `readers`, and it waits for both.
//! 3. A copy waits for `written` of its source, hence for the task, or the copy, that made the value; and for `written` and
//!    `readers` of its target. Tasks that used the target's old bytes precede the task that made the value, by their
//!    hazard, so they are done when the value exists.
//! 4. A copy for a task comes after the state change of the task that made the value (1). A copy out of X's replica is issued before the
//!    next writer of X is, or that writer would not see it among the `readers`: both are issued under the lock.
//!
//! # Room
//!
//! Every device has one heap (`heap.rs`). Work that was issued **pins** the replicas that it uses, both ends of a copy included; pins
//! end when the work is reported finished, so nothing in use is evicted: this is the reader count of BLASX's ALRU. A task that
//! is admitted has room for all its operands and its scratch, or none of them is held for it. Replicas that are not pinned make room, the least
//! recently used first: those whose value is elsewhere, too, at once; a Modified one is copied home first.
//!
//! Why there is always progress: whoever holds a pin has been issued, and waits only for what was issued before; so pins end. Per
//! device one task at a time waits for admission, and while it waits nothing else is admitted there. If it finds no room although
//! nothing is pinned, everything goes, its own operands included, and it starts from an empty heap, which has room for it, or the task
//! was refused in the first place. Its operands may be fetched several times on the way, but each time it is tried, some
//! work has finished and none has been added by others on this device.
//!
//! # What stays
//!
//! A [`Resident`](crate::Resident) keeps its entry: what a scope is lent of it names that entry, too, in a datum of the scope's own, which
//! has the hazards. No task brings it home when the scope ends, and copies of it may still be under way then. So the order of uses from
//! scope to scope is not one of hazards. It is enough that a scope ends when its tasks are done, that a scope that changes it borrows it exclusively,
//! and that whoever comes later waits for the copies that are left, which the entry names. Scopes that only read it share it:
//! their tasks are readers as if they were of one scope.
//!
//! Its host memory is used by copies at any time, so it lives until the task that drops the value, which waits for them as every host
//! task does that writes. And its place must not change: where a task's view is of another place than the entry's (a body may exchange two
//! tiles), the task is not for devices, and no copy is issued for it. Before, the body that made the exchange had the datum at
//! home, with no replica anywhere else; so none is left that a copy could be made of.
//!
//! # What finishes badly
//!
//! A copy that fails leaves its target Invalid, unless that was overwritten since, and with it the targets of copies from there. Who
//! waited for the value fails with its error: a host task, or the task that waits for admission; a host task that only waited for the
//! copy's end goes on. If it was to make room, the task that needs the room fails. So nothing is tried for ever.
//!
//! Queued work that waits for something that has failed fails, too, when all that it waits for has ended: drivers see to it
//! ([`Device`](crate::Device)). A device that is lost takes with it what only its memory held: an entry without any valid replica,
//! which fails whoever reads it until somebody writes it anew. Its work ends at once, perhaps before what that waited for; so whoever
//! overwrites a replica leaves the work of other devices that it waits for among the `readers`.
//!
//! With the task that brings a datum home, its host memory may end. So a host task that fails, and was to write, still waits for the copies to
//! and from there, and then has the datum at home, worth nothing as it is: nobody begins to copy it. Copies between
//! devices may be reported later still: the last of them takes the entry with it (`close`).
//!
//! # The lock
//!
//! One lock guards the directory, and drivers are asked for copies under it, so that nobody hears of an event before it exists. A
//! task takes it for a microsecond or two, for tiles that take a device a hundred times as long. Without devices nothing of this exists:
//! tasks do not even look.

mod admission;
mod directory;
mod distance;
mod entry;
mod heap;
mod links;
mod recent;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use admission::{Admitted, Demand};
pub(crate) use directory::{Copier, Directory, EntryId, Gauge, Landed, Use, Uses, Waits};
pub(crate) use entry::Node;
pub(crate) use heap::Segment;
pub use links::{CopyKind, Traffic};

use crate::{
    datum::{DirectoryEntry, EntryCell},
    device::{DeviceInfo, HostRegion},
    sync::lock_spinning,
};
use std::sync::{Arc, Mutex, MutexGuard};

/// A datum's entry, which ends with the datum, or with the last of those that share it.
struct Placed {
    memory: Arc<Memory>,
    entry: EntryId,
}

/// A datum's entry, and whether its place in host memory does not change.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    pub(crate) entry: EntryId,
    pub(crate) stays: bool,
}

impl Drop for Placed {
    fn drop(&mut self) {
        self.memory.lock().close(self.entry);
    }
}

impl Placed {
    fn kept(self, stays: bool) -> DirectoryEntry {
        DirectoryEntry { number: self.entry.0, stays, _end: Box::new(self) }
    }
}

impl EntryCell {
    /// Makes the entry of a value that stays where it is between scopes. Called before anybody else has the datum.
    pub(crate) fn stay(&self, memory: &Arc<Memory>, host: HostRegion) {
        let entry = memory.lock().open(host);
        self.keep(Placed { memory: memory.clone(), entry }.kept(true));
    }

    /// The datum's entry, if devices have used it.
    pub(crate) fn entry(&self) -> Option<EntryId> {
        self.get().map(|kept| EntryId(kept.number))
    }

    /// The same, and whether the value stays where it is between scopes.
    pub(crate) fn known(&self) -> Option<Known> {
        self.get().map(|kept| Known { entry: EntryId(kept.number), stays: kept.stays })
    }

    /// The same; the entry is made now if need be. Called under the directory's lock, so nobody else is at it.
    pub(crate) fn made_known(&self, memory: &Arc<Memory>, directory: &mut Directory, host: HostRegion) -> Known {
        self.known().unwrap_or_else(|| {
            let entry = directory.open(host);
            self.keep(Placed { memory: memory.clone(), entry }.kept(false));
            Known { entry, stays: false }
        })
    }
}

/// The directory of a runtime, and its lock.
pub(crate) struct Memory(Mutex<Directory>);

impl Memory {
    pub(crate) fn new(devices: &[DeviceInfo]) -> Self {
        Self(Mutex::new(Directory::new(devices)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Directory> {
        lock_spinning(&self.0)
    }
}

/// What a device's memory holds at a moment; see [`Runtime::memory_in_use`](crate::Runtime::memory_in_use).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryInUse {
    /// The device's name.
    pub device: String,
    /// Bytes of its heap that are given to replicas and scratch.
    pub bytes: usize,
    /// Replicas in it.
    pub replicas: usize,
    /// Uses of replicas and scratch by work that was issued and has not finished.
    pub pins: u64,
    /// Replicas that made room for others so far, and their bytes.
    pub evicted: (u64, u64),
}

impl Memory {
    pub(crate) fn in_use(&self, names: &[String]) -> Vec<MemoryInUse> {
        let directory = self.lock();
        let each = names.iter().zip(&directory.stores).zip(&directory.evicted);
        let use_of = |((name, store), &evicted): ((&String, &directory::Store), &(u64, u64))| {
            store.heap.as_ref().map(|heap| MemoryInUse {
                device: name.clone(),
                bytes: heap.used(),
                replicas: store.recent.len(),
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
}
