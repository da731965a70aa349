//! The directory: every replica, every copy under way, every device's heap. The protocol is in `memory/mod.rs`.
//!
//! It is a plain state machine: time, drivers and threads are outside of it, so that it can be explored exhaustively (`tests.rs`).

#![forbid(unsafe_code)]

use super::{
    Known,
    admission::Demand,
    entry::{Entry, Node},
    heap::{Heap, Segment},
    links::{CopyKind, Links},
    recent::Recent,
};
use crate::{
    device::{DeviceError, DeviceInfo, Event, HostRegion, Transfer},
    hazard::Mode,
    schedule::Resource,
};
use smallvec::SmallVec;
use std::collections::HashMap;

/// Names an entry of the directory; from one on, so that zero says that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct EntryId(pub(crate) u32);

/// A datum as a task uses it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub(crate) entry: EntryId,
    pub(crate) mode: Mode,
}

/// What a task uses, in the order of its accesses.
pub(crate) type Uses = SmallVec<[Use; 4]>;

/// Events to wait for.
pub(crate) type Waits = SmallVec<[Event; 4]>;

/// What the directory asks of the drivers.
pub(crate) trait Copier {
    /// Puts a copy into the device's queue, behind the events.
    fn copy(&mut self, device: u16, transfer: &Transfer, waits: &[Event]) -> Result<Event, DeviceError>;

    /// Whether the device's queues can wait for events of the other's.
    fn can_wait_for(&self, device: u16, other: u16) -> bool;
}

/// A copy under way.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) entry: EntryId,
    pub(super) from: Node,
    pub(super) to: Node,
    pub(super) bytes: usize,
    pub(super) kind: CopyKind,
    /// Host tasks that wait for its end, and whether it brings what they read.
    pub(super) waiting: Vec<(u32, bool)>,
}

/// A device's side of the directory.
#[derive(Debug, Default)]
pub(super) struct Store {
    /// None for a device that works in host memory.
    pub(super) heap: Option<Heap>,
    pub(super) align: usize,
    /// Replicas with a place in the heap, the least recently used first.
    pub(super) recent: Recent,
    /// Pins of all its replicas, and scratch of tasks.
    pub(super) pins: u64,
    /// Bytes on their way to host memory to make room.
    pub(super) leaving: usize,
    /// The last ticket that has finished, per queue.
    done: Vec<u64>,
    pub(super) is_lost: bool,
    /// Bytes for which the task that waits for admission found no room; zero if it waits for something else, or none waits.
    pub(super) wanted: usize,
    /// Why the last attempt to make room failed.
    pub(super) trouble: Option<DeviceError>,
    /// Copies that must end before the task that waits for admission can be issued.
    pub(super) awaited: Vec<Event>,
    /// One of them failed, and why: that task does not ask for it again and again.
    pub(super) refusal: Option<(EntryId, DeviceError)>,
}

/// See the module's head.
pub(crate) struct Directory {
    pub(super) stores: Vec<Store>,
    pub(super) entries: Vec<Option<Entry>>,
    free: Vec<u32>,
    pub(super) flights: HashMap<Event, Flight>,
    pub(super) links: Links,
    /// Replicas that made room, and their bytes, per device.
    pub(super) evicted: Vec<(u64, u64)>,
}

impl Directory {
    pub(crate) fn new(devices: &[DeviceInfo]) -> Self {
        let store = |info: &DeviceInfo| Store {
            heap: info.memory.as_ref().map(|memory| Heap::new(memory.bytes, memory.align)),
            align: info.memory.as_ref().map_or(1, |memory| memory.align),
            done: vec![0; usize::from(info.queues) + 3],
            ..Store::default()
        };
        Self {
            stores: devices.iter().map(store).collect(),
            entries: Vec::new(),
            free: Vec::new(),
            flights: HashMap::new(),
            links: Links::new(devices),
            evicted: vec![(0, 0); devices.len()],
        }
    }

    /// A datum that is on the host so far.
    pub(crate) fn open(&mut self, host: HostRegion) -> EntryId {
        let entry = Entry::new(host, self.stores.len() + 1);
        if let Some(at) = self.free.pop() {
            self.entries[at as usize] = Some(entry);
            return EntryId(at + 1);
        }
        self.entries.push(Some(entry));
        EntryId(self.entries.len() as u32)
    }

    /// Ends an entry. Its datum is at home, and no task uses it any more. Copies between devices may still be under way, or
    /// not be reported yet: the last of them takes the entry with it.
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
        self.entries[id.0 as usize - 1].as_ref().unwrap_or_else(|| unreachable!("entries end after their users"))
    }

    pub(super) fn entry_mut(&mut self, id: EntryId) -> &mut Entry {
        self.entries[id.0 as usize - 1].as_mut().unwrap_or_else(|| unreachable!("entries end after their users"))
    }

    /// The datum's entry as it is used with its value in this place; none if it must not be, since the value stays somewhere else.
    pub(crate) fn at_place(&mut self, Known { entry, stays }: Known, host: HostRegion) -> Option<EntryId> {
        if stays {
            return (self.entry(entry).host == host).then_some(entry);
        }
        self.relocate(entry, host);
        Some(entry)
    }

    /// Host memory of a datum has moved, or has another shape: only a host task can have done that, so no replica is valid.
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

    /// Who has the value, or will have it when what was issued is done.
    pub(crate) fn holders(&self, id: EntryId) -> Vec<Resource> {
        let entry = self.entry(id);
        let host = entry.is_valid(Node::HOST).then_some(Resource::HOST);
        host.into_iter().chain(entry.holders().filter_map(Node::device).map(Resource::device)).collect()
    }

    /// The device whose memory alone has the value.
    pub(crate) fn owner(&self, id: EntryId) -> Option<u16> {
        let entry = self.entry(id);
        entry.holders().find(|&node| entry.is_only(node)).and_then(Node::device)
    }

    /// Whether a device has the value.
    pub(crate) fn is_on_a_device(&self, id: EntryId) -> bool {
        self.entry(id).holders().next().is_some()
    }

    /// The memory that the device works in.
    pub(super) fn workplace(&self, device: u16) -> Node {
        if self.stores[usize::from(device)].heap.is_some() { Node::of_device(device) } else { Node::HOST }
    }

    /// Whether the work is finished.
    pub(super) fn is_done(&self, event: Event) -> bool {
        self.stores[usize::from(event.device)].done[usize::from(event.queue)] >= event.ticket
    }

    /// Takes note of the end of work in a queue.
    pub(crate) fn done(&mut self, event: Event) {
        self.stores[usize::from(event.device)].done[usize::from(event.queue)] = event.ticket;
    }

    /// Uses a replica: it is not evicted until the use ends.
    pub(super) fn pin(&mut self, id: EntryId, node: Node) {
        let Some(device) = node.device() else { return };
        self.stores[usize::from(device)].pins += 1;
        self.entry_mut(id).replicas[node.at()].pins += 1;
        self.touch(id, node);
    }

    /// Ends a use; a replica that became invalid meanwhile gives its place back.
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

    /// Makes the replica the most recently used.
    pub(super) fn touch(&mut self, id: EntryId, node: Node) {
        let Some(device) = node.device() else { return };
        let Self { stores, entries, .. } = self;
        let recent = &mut stores[usize::from(device)].recent;
        let Some(entry) = &mut entries[id.0 as usize - 1] else { return };
        let replica = &mut entry.replicas[node.at()];
        match replica.used {
            Some(place) => recent.touch(place),
            None if replica.segment.is_some() => replica.used = Some(recent.add(id)),
            None => {}
        }
    }

    /// Gives a replica's place back, unless something that was issued uses it: then the last such use does. The value is
    /// elsewhere, or not wanted.
    pub(super) fn discard(&mut self, id: EntryId, node: Node) {
        let Some(device) = node.device() else { return };
        let entry = self.entry_mut(id);
        entry.drop_from(node);
        let replica = &mut entry.replicas[node.at()];
        if replica.pins > 0 {
            return;
        }
        let used = replica.used.take();
        (replica.written, replica.readers) = (None, Default::default());
        if let Some(segment) = replica.segment.take() {
            used.into_iter().for_each(|place| self.stores[usize::from(device)].recent.remove(place));
            self.give(device, segment);
        }
    }

    /// Gives a place back. A lost device's heap is gone, and its places with it.
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

    /// Of these events, those that are not done; none if one of them is such that the device can not wait for it.
    pub(super) fn to_wait_for(
        &self,
        copier: &dyn Copier,
        device: u16,
        events: impl Iterator<Item = Event>,
    ) -> Option<Waits> {
        let mut waits = Waits::new();
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

    /// Issues a copy of a datum, which has a place on the node it goes to. Says whether it could be: if not, it can be when
    /// something else has finished.
    pub(super) fn copy(
        &mut self,
        copier: &mut dyn Copier,
        id: EntryId,
        (from, to): (Node, Node),
        kind: CopyKind,
    ) -> Result<bool, DeviceError> {
        if self.entry(id).host.bytes() == 0 {
            self.entry_mut(id).arrive(to);
            return Ok(true);
        }
        let entry = self.entry(id);
        let (source, target) = (&entry.replicas[from.at()], &entry.replicas[to.at()]);
        let before = source.written.into_iter().chain(target.written).chain(target.readers.iter().copied());
        let Some(device) = to.device().or(from.device()) else { return Ok(true) };
        let Some(waits) = self.to_wait_for(copier, device, before) else { return Ok(false) };
        let Some(transfer) = self.transfer(entry, from, to) else { return Ok(false) };
        let bytes = entry.host.bytes();
        let event = copier.copy(device, &transfer, &waits)?;
        self.pin(id, from);
        self.pin(id, to);
        self.entry_mut(id).arrive(to);
        self.overwrite(id, to, event);
        self.entry_mut(id).replicas[to.at()].arrival = (from == Node::HOST).then_some(event);
        let stores = &self.stores;
        let done = |event: &Event| stores[usize::from(event.device)].done[usize::from(event.queue)] >= event.ticket;
        let Some(entry) = self.entries[id.0 as usize - 1].as_mut() else { return Ok(false) };
        let source = &mut entry.replicas[from.at()];
        source.readers.retain(|event| !done(event));
        source.readers.push(event);
        self.links.depart(from, to, bytes);
        self.flights.insert(event, Flight { entry: id, from, to, bytes, kind, waiting: Vec::new() });
        Ok(true)
    }

    /// Work that overwrites the replica, and waits for all that uses it, was issued. Who waits for this work waits for these, too;
    /// but if its device is lost, it ends before them. So those of other devices are still named.
    pub(super) fn overwrite(&mut self, id: EntryId, node: Node, event: Event) {
        let replica = &mut self.entry_mut(id).replicas[node.at()];
        let mut before = std::mem::take(&mut replica.readers);
        before.extend(replica.written.replace(event));
        before.retain(|other| other.device != event.device && !self.is_done(*other));
        self.entry_mut(id).replicas[node.at()].readers = before;
    }

    fn transfer(&self, entry: &Entry, from: Node, to: Node) -> Option<Transfer> {
        let region = |node: Node| {
            let segment = entry.replicas[node.at()].segment.as_ref()?;
            let align = self.stores[usize::from(node.device()?)].align;
            Some(crate::device::DeviceRegion::like(&entry.host, segment.offset(), align))
        };
        Some(match (from.device(), to.device()) {
            (None, _) => Transfer::In { from: entry.host, to: region(to)? },
            (_, None) => Transfer::Out { from: region(from)?, to: entry.host },
            (Some(device), Some(_)) => Transfer::Peer { device, from: region(from)?, to: region(to)? },
        })
    }

    /// Takes note of the end of a copy. Returns the host tasks that wait for nothing else now, and those whose data can not come.
    pub(crate) fn landed(&mut self, event: Event, result: Result<Option<u64>, DeviceError>) -> Option<Landed> {
        self.done(event);
        let flight = self.flights.remove(&event)?;
        let Flight { entry: id, from, to, bytes, kind, waiting } = flight;
        if kind == CopyKind::Eviction
            && let Some(device) = from.device()
        {
            let store = &mut self.stores[usize::from(device)];
            store.leaving -= bytes;
            store.trouble = result.as_ref().err().cloned();
        }
        let error = match result {
            Ok(busy_ns) => {
                self.links.arrive((from, to), bytes, Some((kind, busy_ns)));
                None
            }
            Err(error) => {
                self.links.arrive((from, to), bytes, None);
                self.drop_failed(id, to, event);
                for store in self.stores.iter_mut().filter(|store| store.awaited.contains(&event)) {
                    store.refusal = Some((id, error.clone()));
                }
                Some(error)
            }
        };
        self.unpin(id, from);
        self.unpin(id, to);
        let failure = |brings: bool| error.clone().filter(|_| brings);
        let waiting = waiting.into_iter().map(|(slot, brings)| (slot, failure(brings))).collect();
        Some(Landed { from, to, bytes, is_well: error.is_none(), waiting })
    }

    /// Unless it was overwritten since, the replica is not what the copy was to make it; and neither are those that are being copied
    /// from it: their copies will fail, and until that is reported they must not pass for the value.
    fn drop_failed(&mut self, id: EntryId, to: Node, event: Event) {
        let mut failed = vec![(event, to)];
        while let Some((event, node)) = failed.pop() {
            let entry = self.entry_mut(id);
            if entry.is_valid(node) && entry.replicas[node.at()].written == Some(event) {
                entry.drop_from(node);
                let onward = self.flights.iter().filter(|(_, flight)| flight.entry == id && flight.from == node);
                failed.extend(onward.map(|(&event, flight)| (event, flight.to)));
            }
        }
    }

    /// A task that was issued has failed: what it was to write is not there. Host memory keeps what it had, which may be more
    /// than the task was to change: the other triangle of a tile.
    pub(crate) fn failed(&mut self, demand: Demand<'_>, event: Event) {
        let node = self.workplace(demand.device);
        for one in demand.uses.iter().filter(|one| one.mode.writes()) {
            self.drop_failed(one.entry, node, event);
        }
    }

    /// A device is gone, and what only its memory held.
    pub(crate) fn lose(&mut self, device: u16) {
        let node = Node::of_device(device);
        let store = &mut self.stores[usize::from(device)];
        store.is_lost = true;
        store.heap = store.heap.as_ref().map(|heap| Heap::new(heap.bytes(), store.align));
        for entry in self.entries.iter_mut().flatten() {
            entry.drop_from(node);
            let replica = &mut entry.replicas[node.at()];
            (replica.segment, replica.used) = (None, None);
        }
        self.stores[usize::from(device)].recent = Recent::default();
    }

    /// Whether a copy in one of the device's queues has not been reported yet.
    pub(crate) fn is_copying(&self, device: u16) -> bool {
        self.flights.keys().any(|event| event.device == device)
    }

    /// How it stands with a device's memory; none if it works in host memory.
    pub(crate) fn gauge(&self, device: u16) -> Option<Gauge> {
        let at = usize::from(device);
        let Store { heap, wanted, .. } = &self.stores[at];
        heap.as_ref().map(|heap| Gauge {
            used_bytes: heap.used() as u64,
            evicted_bytes: self.evicted[at].1,
            wanted_bytes: *wanted as u64,
        })
    }

    /// Whether the device's heap is not more than half full with so many bytes more.
    pub(crate) fn has_room(&self, device: u16, bytes: usize) -> bool {
        let heap = &self.stores[usize::from(device)].heap;
        heap.as_ref().is_none_or(|heap| heap.used().saturating_add(bytes) <= heap.bytes() / 2)
    }

    pub(super) fn segment_on(&self, id: EntryId, node: Node) -> Option<&Segment> {
        self.entry(id).replicas[node.at()].segment.as_ref()
    }
}

/// How it stands with a device's memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gauge {
    /// Bytes that are given to replicas and scratch.
    pub(crate) used_bytes: u64,
    /// Bytes of the replicas that have made room so far.
    pub(crate) evicted_bytes: u64,
    /// Bytes that the task which waits for admission found no room for.
    pub(crate) wanted_bytes: u64,
}

/// The end of a copy.
pub(crate) struct Landed {
    pub(crate) from: Node,
    pub(crate) to: Node,
    pub(crate) bytes: usize,
    pub(crate) is_well: bool,
    /// Host tasks that waited for it, and why they can not be done, if it was to bring what they read and has failed.
    pub(crate) waiting: Vec<(u32, Option<DeviceError>)>,
}
