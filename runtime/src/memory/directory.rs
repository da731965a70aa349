//! The directory: every replica, every copy in progress, every device's heap. `memory/mod.rs` describes the protocol.
//!
//! It is a plain state machine without time, drivers and threads, so `memory/tests` can explore it exhaustively.

#![forbid(unsafe_code)]

use super::{
    EntryRef,
    admission::Demand,
    copies::PendingCopy,
    entry::{Entry, Node},
    heap::{Heap, Segment},
    links::Links,
    lru::LruList,
};
use crate::{
    datum::Route,
    device::{DeviceError, DeviceInfo, Event, HostRegion, Transfer},
    hazard::Mode,
    schedule::Resource,
};
use smallvec::SmallVec;
use std::collections::HashMap;

/// Identifies an entry of the directory. Ids count from one; zero means that there is no entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct EntryId(pub(crate) u32);

/// The use of a datum by a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryUse {
    pub(crate) entry: EntryId,
    pub(crate) mode: Mode,
}

/// A task's uses, in the order of its accesses.
pub(crate) type EntryUses = SmallVec<[EntryUse; 4]>;

/// Events to wait for.
pub(crate) type WaitEvents = SmallVec<[Event; 4]>;

/// The directory's interface to the drivers.
pub(crate) trait Copier {
    /// Puts a copy into the device's queue; it starts after the events.
    fn copy(&mut self, device: u16, transfer: &Transfer, waits: &[Event]) -> Result<Event, DeviceError>;

    /// Returns whether the device's queues can wait for events of `other`.
    fn can_wait_for(&self, device: u16, other: u16) -> bool;
}

/// The directory's data about one device.
#[derive(Debug, Default)]
pub(super) struct DeviceStore {
    /// `None` for a device that works in host memory.
    pub(super) heap: Option<Heap>,
    pub(super) align: usize,
    /// Replicas with memory in the heap, the least recently used first.
    pub(super) lru: LruList,
    /// Number of pins of all its replicas, and of scratch segments of tasks.
    pub(super) pins: u64,
    /// Bytes being copied to host memory by evictions.
    pub(super) evicting_bytes: usize,
    /// The last finished ticket of each queue.
    done: Vec<u64>,
    pub(super) is_lost: bool,
    /// Bytes that the task waiting for admission could not allocate. Zero if no task waits, or if it waits for
    /// something else.
    pub(super) wanted_bytes: usize,
    /// The error of the last failed eviction.
    pub(super) eviction_error: Option<DeviceError>,
    /// Copies that must end before the task waiting for admission can be issued.
    pub(super) awaited: Vec<Event>,
    /// The entry and the error of one of them that failed. With it the waiting task fails instead of trying again.
    pub(super) failed_copy: Option<(EntryId, DeviceError)>,
}

/// All replicas, copies in progress and heaps of a runtime.
pub(crate) struct Directory {
    pub(super) stores: Vec<DeviceStore>,
    pub(super) entries: Vec<Option<Entry>>,
    free: Vec<u32>,
    pub(super) pending_copies: HashMap<Event, PendingCopy>,
    pub(super) links: Links,
    /// Number and total bytes of the evicted replicas, per device.
    pub(super) evicted: Vec<(u64, u64)>,
}

impl Directory {
    pub(crate) fn new(devices: &[DeviceInfo]) -> Self {
        let store = |info: &DeviceInfo| DeviceStore {
            heap: info.memory.as_ref().map(|memory| Heap::new(memory.bytes, memory.align)),
            align: info.memory.as_ref().map_or(1, |memory| memory.align),
            done: vec![0; usize::from(info.queues) + 3],
            ..DeviceStore::default()
        };
        Self {
            stores: devices.iter().map(store).collect(),
            entries: Vec::new(),
            free: Vec::new(),
            pending_copies: HashMap::new(),
            links: Links::new(devices),
            evicted: vec![(0, 0); devices.len()],
        }
    }

    /// Opens an entry for a datum whose value is only on the host so far.
    pub(crate) fn open(&mut self, host: HostRegion) -> EntryId {
        let entry = Entry::new(host, self.stores.len() + 1);
        if let Some(at) = self.free.pop() {
            self.entries[at as usize] = Some(entry);
            return EntryId(at + 1);
        }
        self.entries.push(Some(entry));
        EntryId(self.entries.len() as u32)
    }

    /// Closes an entry. Its datum is in host memory, and no task uses it any more. Copies between devices may still be
    /// in progress or unreported; the end of the last one removes the entry.
    pub(crate) fn close(&mut self, id: EntryId) {
        self.entry_mut(id).is_closed = true;
        for node in (1..=self.stores.len() as u16).map(Node) {
            self.discard(id, node);
        }
        self.forget_if_closed(id);
    }

    fn forget_if_closed(&mut self, id: EntryId) {
        let entry = self.entry(id);
        if entry.is_closed && entry.replicas.iter().all(|replica| replica.pins == 0) {
            self.entries[id.0 as usize - 1] = None;
            self.free.push(id.0 - 1);
        }
    }

    pub(super) fn entry(&self, id: EntryId) -> &Entry {
        self.entries[id.0 as usize - 1].as_ref().unwrap_or_else(|| unreachable!("an entry outlives its users"))
    }

    pub(super) fn entry_mut(&mut self, id: EntryId) -> &mut Entry {
        self.entries[id.0 as usize - 1].as_mut().unwrap_or_else(|| unreachable!("an entry outlives its users"))
    }

    /// Returns the datum's entry for a use at the host region `host`, and sets the route of its copies. Returns `None`
    /// if the value is resident at another address.
    pub(crate) fn entry_at(
        &mut self,
        EntryRef { entry, is_resident }: EntryRef,
        host: HostRegion,
        route: Route,
    ) -> Option<EntryId> {
        self.entry_mut(entry).route = route;
        if is_resident {
            return (self.entry(entry).host == host).then_some(entry);
        }
        self.relocate(entry, host);
        Some(entry)
    }

    /// Updates the host address or shape of a datum. Only a host task can have changed it, so no device has a valid
    /// replica.
    pub(crate) fn relocate(&mut self, id: EntryId, host: HostRegion) {
        if self.entry(id).host == host {
            return;
        }
        debug_assert!(self.entry(id).is_only(Node::HOST), "host tasks make every other replica invalid");
        for node in (1..=self.stores.len() as u16).map(Node) {
            self.discard(id, node);
        }
        self.entry_mut(id).host = host;
    }

    /// Returns the resources that have the value, or will have it when all issued work is done.
    pub(crate) fn holders(&self, id: EntryId) -> Vec<Resource> {
        let entry = self.entry(id);
        let host = entry.is_valid(Node::HOST).then_some(Resource::HOST);
        host.into_iter().chain(entry.holders().filter_map(Node::device).map(Resource::device)).collect()
    }

    /// Returns the device that has the only valid replica.
    pub(crate) fn owner(&self, id: EntryId) -> Option<u16> {
        let entry = self.entry(id);
        entry.holders().find(|&node| entry.is_only(node)).and_then(Node::device)
    }

    /// Returns whether any device has the value.
    pub(crate) fn is_on_a_device(&self, id: EntryId) -> bool {
        self.entry(id).holders().next().is_some()
    }

    /// Returns the memory node that the device works in.
    pub(super) fn workplace(&self, device: u16) -> Node {
        if self.stores[usize::from(device)].heap.is_some() { Node::of_device(device) } else { Node::HOST }
    }

    /// Returns whether the work is finished.
    pub(super) fn is_done(&self, event: Event) -> bool {
        self.stores[usize::from(event.device)].done[usize::from(event.queue)] >= event.ticket
    }

    /// Records the end of work in a queue.
    pub(crate) fn done(&mut self, event: Event) {
        self.stores[usize::from(event.device)].done[usize::from(event.queue)] = event.ticket;
    }

    /// Pins a replica: it is not evicted until it is unpinned.
    pub(super) fn pin(&mut self, id: EntryId, node: Node) {
        let Some(device) = node.device() else { return };
        self.stores[usize::from(device)].pins += 1;
        self.entry_mut(id).replicas[node.at()].pins += 1;
        self.touch(id, node);
    }

    /// Ends a use. A replica that became invalid meanwhile releases its memory.
    pub(super) fn unpin(&mut self, id: EntryId, node: Node) {
        let Some(device) = node.device() else { return };
        self.stores[usize::from(device)].pins -= 1;
        let entry = self.entry_mut(id);
        entry.replicas[node.at()].pins -= 1;
        if !entry.is_valid(node) {
            self.discard(id, node);
        }
        self.forget_if_closed(id);
    }

    /// Makes the replica the device's most recently used.
    pub(super) fn touch(&mut self, id: EntryId, node: Node) {
        let Some(device) = node.device() else { return };
        let Self { stores, entries, .. } = self;
        let lru = &mut stores[usize::from(device)].lru;
        let Some(entry) = &mut entries[id.0 as usize - 1] else { return };
        let replica = &mut entry.replicas[node.at()];
        match replica.lru_position {
            Some(position) => lru.touch(position),
            None if replica.segment.is_some() => replica.lru_position = Some(lru.add(id)),
            None => {}
        }
    }

    /// Invalidates a replica and releases its memory. If issued work still uses the memory, the end of the last use
    /// releases it. The value is elsewhere, or no longer needed.
    pub(super) fn discard(&mut self, id: EntryId, node: Node) {
        let Some(device) = node.device() else { return };
        let entry = self.entry_mut(id);
        entry.mark_invalid(node);
        let replica = &mut entry.replicas[node.at()];
        if replica.pins > 0 {
            return;
        }
        let position = replica.lru_position.take();
        (replica.written, replica.readers, replica.is_ahead) = (None, Default::default(), false);
        if let Some(segment) = replica.segment.take() {
            position.into_iter().for_each(|position| self.stores[usize::from(device)].lru.remove(position));
            self.give(device, segment);
        }
    }

    /// Releases a segment of a device's heap. The heap of a lost device is gone, so nothing is done for one.
    pub(super) fn give(&mut self, device: u16, segment: Segment) {
        let store = &mut self.stores[usize::from(device)];
        if let Some(heap) = store.heap.as_mut().filter(|_| !store.is_lost) {
            heap.give(segment);
        }
    }

    /// Makes the node's replica the only valid one.
    pub(super) fn modify(&mut self, id: EntryId, node: Node) {
        self.entry_mut(id).modify(node);
        for other in (1..=self.stores.len() as u16).map(Node).filter(|&other| other != node) {
            self.discard(id, other);
        }
    }

    /// Returns the events among these that are not done, or `None` if the device cannot wait for one of them.
    pub(super) fn pending_events(
        &self,
        copier: &dyn Copier,
        device: u16,
        events: impl Iterator<Item = Event>,
    ) -> Option<WaitEvents> {
        let mut waits = WaitEvents::new();
        for event in events.filter(|&event| !self.is_done(event)) {
            if event.device != device && !copier.can_wait_for(device, event.device) {
                return None;
            }
            if !waits.contains(&event) {
                waits.push(event);
            }
        }
        Some(waits)
    }

    /// Records that an issued task has failed: the values that it was to write are invalid. Host memory keeps its old
    /// content, which may include parts that the task was not to change, such as the other triangle of a tile.
    pub(crate) fn failed(&mut self, demand: Demand<'_>, event: Event) {
        let node = self.workplace(demand.device);
        for one in demand.uses.iter().filter(|one| one.mode.writes()) {
            self.drop_failed(one.entry, node, event);
        }
    }

    /// Records that a device is lost, with every value that was only in its memory.
    pub(crate) fn lose(&mut self, device: u16) {
        let node = Node::of_device(device);
        let store = &mut self.stores[usize::from(device)];
        store.is_lost = true;
        store.heap = store.heap.as_ref().map(|heap| Heap::new(heap.bytes(), store.align));
        for entry in self.entries.iter_mut().flatten() {
            entry.mark_invalid(node);
            let replica = &mut entry.replicas[node.at()];
            (replica.segment, replica.lru_position) = (None, None);
        }
        self.stores[usize::from(device)].lru = LruList::default();
    }

    /// Returns whether a copy in one of the device's queues has not been reported yet.
    pub(crate) fn is_copying(&self, device: u16) -> bool {
        self.pending_copies.keys().any(|event| event.device == device)
    }

    /// Returns the current use of a device's memory, or `None` if it works in host memory.
    pub(crate) fn gauge(&self, device: u16) -> Option<Gauge> {
        let at = usize::from(device);
        let DeviceStore { heap, wanted_bytes, .. } = &self.stores[at];
        heap.as_ref().map(|heap| Gauge {
            used_bytes: heap.used() as u64,
            evicted_bytes: self.evicted[at].1,
            wanted_bytes: *wanted_bytes as u64,
        })
    }

    /// Returns whether the device's heap would be at most half full with `bytes` more bytes.
    pub(crate) fn has_room(&self, device: u16, bytes: usize) -> bool {
        let heap = &self.stores[usize::from(device)].heap;
        heap.as_ref().is_none_or(|heap| heap.used().saturating_add(bytes) <= heap.bytes() / 2)
    }

    pub(super) fn segment_on(&self, id: EntryId, node: Node) -> Option<&Segment> {
        self.entry(id).replicas[node.at()].segment.as_ref()
    }
}

/// The current use of a device's memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gauge {
    /// Bytes allocated to replicas and scratch.
    pub(crate) used_bytes: u64,
    /// Total bytes of the replicas evicted so far.
    pub(crate) evicted_bytes: u64,
    /// Bytes that the task waiting for admission could not allocate.
    pub(crate) wanted_bytes: u64,
}
