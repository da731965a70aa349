//! Admission: acquires the memory and issues the copies that a task needs before it is issued to a device or run on the
//! host.

#![forbid(unsafe_code)]

use super::{
    directory::{Copier, Directory, EntryId, EntryUse, WaitEvents},
    entry::{Node, Replica},
    heap::Segment,
    links::CopyKind,
};
use crate::device::{DeviceError, DeviceRegion, Event};
use smallvec::SmallVec;

/// The regions of a task's operands on a device.
type Regions = SmallVec<[DeviceRegion; 3]>;

/// What an admitted task gets: its operands have memory, and the copies that bring their values are issued. It is
/// filled in through a reference, because moving it is costly.
#[derive(Debug, Default)]
pub(crate) struct Admitted {
    /// The region of each operand, in the order of the uses.
    pub(crate) regions: Regions,
    /// The task's working memory, released when the task has finished.
    pub(crate) scratch: Option<Segment>,
    /// The events that the task waits for besides its predecessors.
    pub(crate) waits: WaitEvents,
}

/// The memory that a task needs on a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demand<'a> {
    pub(crate) device: u16,
    pub(crate) uses: &'a [EntryUse],
    pub(crate) scratch_bytes: usize,
}

/// The result of an attempt to admit a task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attempt {
    Admitted,
    /// There is no room yet.
    NoRoom,
    /// A copy that brings a value cannot be issued yet.
    NotYet,
}

impl Directory {
    /// Admits a task to a device: all its operands get memory there and are pinned. Returns `false`, and holds nothing,
    /// if admission must be tried again after other work has finished.
    ///
    /// # Errors
    /// If it can never be admitted: a value is lost or cannot be copied, or no memory can be freed.
    pub(crate) fn admit(
        &mut self,
        copier: &mut dyn Copier,
        demand: Demand<'_>,
        admitted: &mut Admitted,
    ) -> Result<bool, DeviceError> {
        let store = &mut self.stores[usize::from(demand.device)];
        store.awaited.clear();
        store.wanted_bytes = 0;
        let failed_copy = store.failed_copy.take();
        self.check_values(demand.uses)?;
        if self.stores[usize::from(demand.device)].is_lost {
            return Err(DeviceError::lost("the device is lost"));
        }
        // The task that waited may have been cancelled, and this may be another one.
        let is_read = |entry: EntryId| demand.uses.iter().any(|one| one.entry == entry && one.mode.reads());
        if let Some((_, error)) = failed_copy.filter(|failed_copy| is_read(failed_copy.0)) {
            return Err(error);
        }
        if self.stores[usize::from(demand.device)].heap.is_none() {
            return self.admit_to_host_memory(copier, demand, admitted);
        }
        match self.attempt(copier, demand, admitted)? {
            Attempt::Admitted => {
                // There is room in spite of the failed eviction.
                self.stores[usize::from(demand.device)].eviction_error = None;
                Ok(true)
            }
            Attempt::NoRoom if self.stores[usize::from(demand.device)].pins == 0 => {
                self.admit_alone(copier, demand, admitted)
            }
            Attempt::NoRoom => {
                let wanted_bytes = self.missing(demand, Node::of_device(demand.device));
                self.stores[usize::from(demand.device)].wanted_bytes = wanted_bytes;
                Ok(false)
            }
            Attempt::NotYet => Ok(false),
        }
    }

    /// Tries to admit a task; if that fails, nothing is held for it.
    fn attempt(
        &mut self,
        copier: &mut dyn Copier,
        demand: Demand<'_>,
        admitted: &mut Admitted,
    ) -> Result<Attempt, DeviceError> {
        let node = Node::of_device(demand.device);
        for one in demand.uses {
            self.pin(one.entry, node);
            self.entry_mut(one.entry).replicas[node.at()].is_ahead = false;
        }
        let result = self.attempt_pinned(copier, demand, admitted);
        if !matches!(result, Ok(Attempt::Admitted)) {
            demand.uses.iter().for_each(|one| self.unpin(one.entry, node));
        }
        result
    }

    /// Admits a task to a device that works in host memory.
    fn admit_to_host_memory(
        &mut self,
        copier: &mut dyn Copier,
        demand: Demand<'_>,
        admitted: &mut Admitted,
    ) -> Result<bool, DeviceError> {
        let Some(waits) = self.fetch_all(copier, demand, Node::HOST)? else {
            self.await_copies(demand, Node::HOST);
            return Ok(false);
        };
        demand.uses.iter().for_each(|one| self.entry_mut(one.entry).host_users += 1);
        *admitted = Admitted { waits, ..Admitted::default() };
        Ok(true)
    }

    /// Issues a copy of the value to host memory from the device with the earliest forecast arrival. Returns whether it
    /// was issued.
    fn fetch_to_host(&mut self, copier: &mut dyn Copier, id: EntryId) -> Result<bool, DeviceError> {
        let bytes = self.entry(id).host.bytes();
        let arrival = |from: &Node| self.links.forecast_ns(*from, Node::HOST, bytes).unwrap_or(f64::MAX);
        let source = self.entry(id).holders().min_by(|a, b| arrival(a).total_cmp(&arrival(b)));
        source.map_or(Ok(false), |from| self.copy(copier, id, (from, Node::HOST), CopyKind::Fetch))
    }

    /// Returns an error if a value that is to be read has no valid replica.
    fn check_values(&self, uses: &[EntryUse]) -> Result<(), DeviceError> {
        let is_lost = |one: &&EntryUse| one.mode.reads() && self.entry(one.entry).is_lost();
        match uses.iter().find(is_lost) {
            Some(_) => {
                Err(DeviceError::new("an operand is lost: the device that held it is lost, or failed to write it"))
            }
            None => Ok(()),
        }
    }

    /// Tries again when nothing is pinned and there is still no room. Evicts all replicas, including the task's own
    /// operands; in the empty heap the task then fits, because `check_size` has accepted it.
    fn admit_alone(
        &mut self,
        copier: &mut dyn Copier,
        demand: Demand<'_>,
        admitted: &mut Admitted,
    ) -> Result<bool, DeviceError> {
        let (at, node) = (usize::from(demand.device), Node::of_device(demand.device));
        if let Some(eviction_error) = self.stores[at].eviction_error.take() {
            return Err(eviction_error);
        }
        let kept: Vec<EntryId> = self.stores[at].lru.iter().collect();
        for id in kept {
            if self.entry(id).is_only(node) && !self.evict_to_host(copier, id, node)? {
                return Ok(false);
            }
            // A replica that is being copied is discarded when the copy ends; a value of zero bytes is copied already.
            if self.entry(id).replicas[node.at()].pins == 0 {
                self.discard(id, node);
            }
        }
        if self.stores[at].pins > 0 {
            return Ok(false);
        }
        Ok(self.attempt(copier, demand, admitted)? == Attempt::Admitted)
    }

    /// Returns an error if the task needs more memory than the empty heap has.
    pub(crate) fn check_size(&self, demand: Demand<'_>) -> Result<(), DeviceError> {
        let Some(heap) = &self.stores[usize::from(demand.device)].heap else { return Ok(()) };
        if self.has_room_for(demand) {
            return Ok(());
        }
        let (needs, has) = (self.needed(demand, |_| true), heap.bytes());
        if needs <= has {
            return Ok(());
        }
        Err(DeviceError::new(format!("the task needs {needs} bytes of the device's memory, which has {has}")))
    }

    /// Returns whether all operands have memory in the heap already, and no scratch is needed.
    fn has_room_for(&self, demand: Demand<'_>) -> bool {
        let node = Node::of_device(demand.device);
        demand.scratch_bytes == 0 && demand.uses.iter().all(|one| self.segment_on(one.entry, node).is_some())
    }

    /// Returns the bytes of the heap that the task needs for scratch and for the operands that `counts` selects.
    fn needed(&self, demand: Demand<'_>, counts: impl Fn(EntryId) -> bool) -> usize {
        let store = &self.stores[usize::from(demand.device)];
        let Some(heap) = &store.heap else { return 0 };
        let mut seen: SmallVec<[EntryId; 8]> =
            demand.uses.iter().map(|one| one.entry).filter(|&id| counts(id)).collect();
        seen.sort_unstable();
        seen.dedup();
        let span = |id: EntryId| DeviceRegion::like(&self.entry(id).host, 0, store.align).span_bytes();
        let scratch = if demand.scratch_bytes > 0 { heap.rounded(demand.scratch_bytes) } else { 0 };
        seen.into_iter().fold(scratch, |sum, id| sum.saturating_add(heap.rounded(span(id))))
    }

    /// Returns the bytes of the heap that the task needs and does not have yet.
    fn missing(&self, demand: Demand<'_>, node: Node) -> usize {
        self.needed(demand, |id| self.segment_on(id, node).is_none())
    }

    /// Admits a task whose operands are pinned.
    fn attempt_pinned(
        &mut self,
        copier: &mut dyn Copier,
        demand: Demand<'_>,
        admitted: &mut Admitted,
    ) -> Result<Attempt, DeviceError> {
        let Demand { device, uses, scratch_bytes } = demand;
        let (at, node) = (usize::from(device), Node::of_device(device));
        let align = self.stores[at].align;
        // The bytes that it needs in all, computed when the first missing operand is found.
        let mut missing = None;
        admitted.regions.clear();
        for one in uses {
            let entry = self.entry(one.entry);
            let region = DeviceRegion::like(&entry.host, 0, align);
            let offset = match &entry.replicas[node.at()].segment {
                Some(segment) if segment.bytes() >= region.span_bytes() => segment.offset(),
                // The datum has grown, and a copy of its old bytes is not reported yet. The end of that copy releases
                // the memory.
                Some(_) => return Ok(Attempt::NotYet),
                None => {
                    let missing = *missing.get_or_insert_with(|| self.missing(demand, node));
                    let segment = self.room(copier, device, region.span_bytes(), missing)?;
                    let Some(segment) = segment else { return Ok(Attempt::NoRoom) };
                    let offset = segment.offset();
                    self.entry_mut(one.entry).replicas[node.at()].segment = Some(segment);
                    self.touch(one.entry, node);
                    offset
                }
            };
            admitted.regions.push(DeviceRegion { offset, ..region });
        }
        let mut scratch = None;
        if scratch_bytes > 0 {
            let missing = *missing.get_or_insert_with(|| self.missing(demand, node));
            scratch = self.room(copier, device, scratch_bytes, missing)?;
            if scratch.is_none() {
                return Ok(Attempt::NoRoom);
            }
        }
        let waits = match self.fetch_all(copier, demand, node) {
            Ok(Some(waits)) => waits,
            other => {
                self.await_copies(demand, node);
                scratch.into_iter().for_each(|segment| self.give(device, segment));
                return other.map(|_| Attempt::NotYet);
            }
        };
        self.stores[at].pins += u64::from(scratch.is_some());
        (admitted.scratch, admitted.waits) = (scratch, waits);
        Ok(Attempt::Admitted)
    }

    /// Issues the copies that bring the values which the task reads to the node. Returns the events that the task must
    /// wait for, or `None` if other work must finish first.
    fn fetch_all(
        &mut self,
        copier: &mut dyn Copier,
        demand: Demand<'_>,
        node: Node,
    ) -> Result<Option<WaitEvents>, DeviceError> {
        let mut complete = true;
        for EntryUse { entry, .. } in demand.uses.iter().copied().filter(|one| one.mode.reads()) {
            complete &= self.entry(entry).is_valid(node)
                || if node == Node::HOST {
                    self.fetch_to_host(copier, entry)?
                } else {
                    self.fetch(copier, entry, node)?
                };
        }
        Ok(if complete { self.waits(copier, demand, node) } else { None })
    }

    /// Records the copies that a task which cannot be issued yet depends on: if one of them fails, the task fails,
    /// too.
    fn await_copies(&mut self, demand: Demand<'_>, node: Node) {
        let read = demand.uses.iter().filter(|one| one.mode.reads()).map(|one| self.entry(one.entry));
        let coming = read.flat_map(|entry| [node, Node::HOST].map(|node| entry.replicas[node.at()].written));
        let awaited = coming.flatten().filter(|event| self.pending_copies.contains_key(event)).collect();
        self.stores[usize::from(demand.device)].awaited = awaited;
    }

    /// Returns the events that the task waits for before it uses its operands on the node, or `None` if its device
    /// cannot wait for one of them.
    fn waits(&self, copier: &dyn Copier, demand: Demand<'_>, node: Node) -> Option<WaitEvents> {
        let events = demand.uses.iter().flat_map(|one| {
            let replica = &self.entry(one.entry).replicas[node.at()];
            let readers = if one.mode.writes() { replica.readers.as_slice() } else { &[] };
            replica.written.iter().chain(readers).copied()
        });
        self.pending_events(copier, demand.device, events)
    }

    /// Issues a copy of the value to a device where it has memory: along its route, or else from the node with the
    /// earliest forecast arrival. Returns whether it was issued.
    fn fetch(&mut self, copier: &mut dyn Copier, id: EntryId, to: Node) -> Result<bool, DeviceError> {
        if self.fetch_along_route(copier, id, to)? {
            return Ok(true);
        }
        let (entry, bytes) = (self.entry(id), self.entry(id).host.bytes());
        let host = entry.is_valid(Node::HOST).then_some(Node::HOST);
        let arrival = |from: &Node| self.links.forecast_ns(*from, to, bytes);
        let sources = host.into_iter().chain(entry.holders()).filter_map(|from| Some((arrival(&from)?, from)));
        let Some((_, from)) = sources.min_by(|a, b| a.0.total_cmp(&b.0)) else {
            // Only devices that this one cannot copy from have the value.
            let Some(from) = self.entry(id).holders().next() else { return Ok(false) };
            return Ok(self.copy(copier, id, (from, Node::HOST), CopyKind::Staging)?
                && self.copy(copier, id, (Node::HOST, to), CopyKind::Fetch)?);
        };
        self.copy(copier, id, (from, to), CopyKind::Fetch)
    }

    /// Copies the only valid replica to host memory, so that it can be dropped when the copy has ended. Returns whether
    /// the copy was issued.
    fn evict_to_host(&mut self, copier: &mut dyn Copier, id: EntryId, from: Node) -> Result<bool, DeviceError> {
        let (bytes, Some(device)) = (self.entry(id).host.bytes(), from.device()) else { return Ok(true) };
        if self.entry(id).host_users > 0 {
            return Ok(false);
        }
        let is_sent = self.copy(copier, id, (from, Node::HOST), CopyKind::Eviction)?;
        if is_sent {
            self.stores[usize::from(device)].evicting_bytes += bytes;
        }
        Ok(is_sent)
    }

    /// Allocates memory in a device's heap, or returns `None` if there is none yet. Unpinned replicas are evicted,
    /// least recently used first: at once if the value is also elsewhere, otherwise after a copy to host memory.
    /// `missing` is the number of bytes that the task needs in all.
    fn room(
        &mut self,
        copier: &mut dyn Copier,
        device: u16,
        bytes: usize,
        missing: usize,
    ) -> Result<Option<Segment>, DeviceError> {
        let (at, node) = (usize::from(device), Node::of_device(device));
        if let Some(segment) = self.room_from(device, bytes, |_| true) {
            return Ok(Some(segment));
        }
        let may_leave = |id: &EntryId| self.entry(*id).replicas[node.at()].pins == 0 && self.entry(*id).host_users == 0;
        let victims: Vec<EntryId> = self.stores[at].lru.iter().filter(may_leave).collect();
        if let Some(eviction_error) = self.stores[at].eviction_error.take() {
            return Err(eviction_error);
        }
        for id in victims {
            if self.stores[at].evicting_bytes >= missing || !self.evict_to_host(copier, id, node)? {
                break;
            }
        }
        Ok(None)
    }

    /// Allocates memory for a value that is sent ahead. Others that were sent ahead are not dropped for it, and none is
    /// dropped in vain.
    pub(super) fn room_ahead(&mut self, device: u16, bytes: usize) -> Option<Segment> {
        let at = usize::from(device);
        if let Some(segment) = self.stores[at].heap.as_mut()?.take(bytes) {
            return Some(segment);
        }
        let (node, store) = (Node::of_device(device), &self.stores[at]);
        let was_used = |replica: &Replica| !replica.is_ahead;
        let dispensable = store.lru.iter().filter(|id| self.is_dispensable(*id, node, was_used));
        let droppable: usize = dispensable.filter_map(|id| self.segment_on(id, node)).map(Segment::bytes).sum();
        let free = store.heap.as_ref().map_or(0, |heap| heap.bytes() - heap.used());
        if free + droppable >= bytes { self.room_from(device, bytes, was_used) } else { None }
    }

    /// Returns whether the replica can be dropped: it is not in use, and its value is also elsewhere.
    fn is_dispensable(&self, id: EntryId, node: Node, is_droppable: impl Fn(&Replica) -> bool) -> bool {
        let (entry, replica) = (self.entry(id), &self.entry(id).replicas[node.at()]);
        replica.pins == 0 && !entry.is_only(node) && is_droppable(replica)
    }

    /// Allocates memory in a device's heap. Dispensable replicas for which `is_droppable` holds are dropped for it, the
    /// least recently used ones first.
    fn room_from(&mut self, device: u16, bytes: usize, is_droppable: impl Fn(&Replica) -> bool) -> Option<Segment> {
        let (at, node) = (usize::from(device), Node::of_device(device));
        loop {
            if let Some(segment) = self.stores[at].heap.as_mut()?.take(bytes) {
                return Some(segment);
            }
            let id = self.stores[at].lru.iter().find(|id| self.is_dispensable(*id, node, &is_droppable))?;
            let bytes = self.segment_on(id, node).map_or(0, Segment::bytes);
            self.evicted[at] = (self.evicted[at].0 + 1, self.evicted[at].1 + bytes as u64);
            self.discard(id, node);
        }
    }

    /// Records that an admitted task was issued: `event` makes the values that it writes valid. No task that uses these
    /// values was issued since the admission, because predecessors were issued before and successors are not issued
    /// yet. If issuing fails, this is not called, and the directory's states are still correct.
    pub(crate) fn issued(&mut self, demand: Demand<'_>, event: Event) {
        let (node, is_lost) = (self.workplace(demand.device), self.stores[usize::from(demand.device)].is_lost);
        for one in demand.uses.iter().filter(|one| one.mode.writes()) {
            self.modify(one.entry, node);
            self.overwrite(one.entry, node, event);
            if is_lost && node != Node::HOST {
                self.entry_mut(one.entry).mark_invalid(node);
            }
        }
    }

    /// Releases the memory of an admitted task that has finished or was not issued.
    pub(crate) fn release(&mut self, device: u16, uses: &[EntryUse], scratch: Option<Segment>) {
        if let Some(segment) = scratch {
            self.stores[usize::from(device)].pins -= 1;
            self.give(device, segment);
        }
        if self.stores[usize::from(device)].heap.is_some() {
            uses.iter().for_each(|one| self.unpin(one.entry, Node::of_device(device)));
        } else {
            uses.iter().for_each(|one| self.entry_mut(one.entry).host_users -= 1);
        }
    }

    /// Lets the host task in this slot use its data if they are in host memory, and returns zero. Otherwise issues
    /// copies to the host, and returns the number of copies that must end before the task tries again.
    ///
    /// # Errors
    /// If a value is lost or cannot be copied.
    pub(crate) fn admit_to_host(
        &mut self,
        copier: &mut dyn Copier,
        slot: u32,
        uses: &[EntryUse],
    ) -> Result<usize, DeviceError> {
        self.check_values(uses)?;
        let mut unfinished = Vec::new();
        for one in uses {
            if one.mode.reads() && !self.entry(one.entry).is_valid(Node::HOST) {
                self.fetch_to_host(copier, one.entry)?;
            }
            let entry = self.entry(one.entry);
            let home = &entry.replicas[Node::HOST.at()];
            let is_coming = !one.mode.reads() || entry.is_valid(Node::HOST);
            // A copy that could not be issued waits for copies to or from host memory that its device cannot wait for.
            let readers = if one.mode.writes() || !is_coming { home.readers.as_slice() } else { &[] };
            let brings = one.mode.reads() && is_coming;
            let all =
                home.written.iter().map(|&event| (event, brings)).chain(readers.iter().map(|&event| (event, false)));
            unfinished.extend(all.filter(|one| !self.is_done(one.0)));
        }
        unfinished.sort_unstable_by_key(|(event, brings)| (event.device, event.queue, event.ticket, !brings));
        unfinished.dedup_by_key(|one| one.0);
        unfinished.retain(|(event, brings)| {
            self.pending_copies.get_mut(event).map(|copy| copy.waiting.push((slot, *brings))).is_some()
        });
        if unfinished.is_empty() {
            debug_assert!(uses.iter().all(|one| !one.mode.reads() || self.entry(one.entry).is_valid(Node::HOST)));
            for one in uses.iter().filter(|one| one.mode.writes()) {
                self.modify(one.entry, Node::HOST);
            }
        }
        Ok(unfinished.len())
    }

    /// Prepares the failure of a host task whose data cannot be brought to the host. Returns the number of copies to
    /// and from the host memory of the data it was to write: the failure is reported after they end, because the data
    /// may be freed with the task. When none is left (zero), host memory has the only valid replica. Its content is
    /// meaningless, but no copy will access it.
    pub(crate) fn give_up_on_host(&mut self, slot: u32, uses: &[EntryUse]) -> usize {
        let mut copies = 0;
        let is_written = |id: EntryId| uses.iter().any(|one| one.entry == id && one.mode.writes());
        for copy in self.pending_copies.values_mut() {
            if (copy.from == Node::HOST || copy.to == Node::HOST) && is_written(copy.entry) {
                copy.waiting.push((slot, false));
                copies += 1;
            }
        }
        if copies == 0 {
            uses.iter().filter(|one| one.mode.writes()).for_each(|one| self.modify(one.entry, Node::HOST));
        }
        copies
    }
}
