//! Admission: what a task needs before it can be issued to a device, or run on the host.

#![forbid(unsafe_code)]

use super::{
    directory::{Copier, Directory, EntryId, Use, Waits},
    entry::Node,
    heap::Segment,
    links::CopyKind,
};
use crate::device::{DeviceError, DeviceRegion, Event};
use smallvec::SmallVec;

/// Where operands are on a device.
type Regions = SmallVec<[DeviceRegion; 3]>;

/// What a task gets that can be issued now: its operands have places, and copies that bring their values are under way. It is filled in
/// where it lies: moved from hand to hand it would cost more than much of the rest.
#[derive(Debug, Default)]
pub(crate) struct Admitted {
    /// Where each operand is, in the order of the uses.
    pub(crate) regions: Regions,
    /// Taken by whoever gives it back when the task has finished.
    pub(crate) scratch: Option<Segment>,
    /// What the task waits for besides its predecessors.
    pub(crate) waits: Waits,
}

/// What a task asks of a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demand<'a> {
    pub(crate) device: u16,
    pub(crate) uses: &'a [Use],
    pub(crate) scratch_bytes: usize,
}

/// How an attempt to admit a task ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attempt {
    Admitted,
    /// There is no room yet.
    NoRoom,
    /// What it reads can not be sent for yet.
    NotYet,
}

impl Directory {
    /// Admits a task to a device, or says that it must be tried again when something has finished (`false`): all its operands have
    /// a place there, and stay, or none does.
    ///
    /// # Errors
    /// If it can not be admitted whatever finishes: a value is lost, or can not be moved, or there will never be room.
    pub(crate) fn admit(
        &mut self,
        copier: &mut dyn Copier,
        demand: Demand<'_>,
        admitted: &mut Admitted,
    ) -> Result<bool, DeviceError> {
        let store = &mut self.stores[usize::from(demand.device)];
        store.awaited.clear();
        store.wanted = 0;
        let refusal = store.refusal.take();
        self.check_values(demand.uses)?;
        if self.stores[usize::from(demand.device)].is_lost {
            return Err(DeviceError::lost("the device is lost"));
        }
        // Whoever waited may have been cancelled, and another task is here.
        let is_read = |entry: EntryId| demand.uses.iter().any(|one| one.entry == entry && one.mode.reads());
        if let Some((_, error)) = refusal.filter(|refusal| is_read(refusal.0)) {
            return Err(error);
        }
        if self.stores[usize::from(demand.device)].heap.is_none() {
            return self.admit_to_host_memory(copier, demand, admitted);
        }
        match self.attempt(copier, demand, admitted)? {
            Attempt::Admitted => {
                // There was room all the same.
                self.stores[usize::from(demand.device)].trouble = None;
                Ok(true)
            }
            Attempt::NoRoom if self.stores[usize::from(demand.device)].pins == 0 => {
                self.admit_alone(copier, demand, admitted)
            }
            Attempt::NoRoom => {
                let wanted = self.missing(demand, Node::of_device(demand.device));
                self.stores[usize::from(demand.device)].wanted = wanted;
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
        demand.uses.iter().for_each(|one| self.pin(one.entry, node));
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
        *admitted = Admitted { waits, ..Admitted::default() };
        Ok(true)
    }

    /// Issues a copy of the value to host memory, from where it comes soonest. Says whether it could.
    fn send_for(&mut self, copier: &mut dyn Copier, id: EntryId) -> Result<bool, DeviceError> {
        let bytes = self.entry(id).host.bytes();
        let arrival = |from: &Node| self.links.forecast_ns(*from, Node::HOST, bytes).unwrap_or(f64::MAX);
        let source = self.entry(id).holders().min_by(|a, b| arrival(a).total_cmp(&arrival(b)));
        source.map_or(Ok(false), |from| self.copy(copier, id, (from, Node::HOST), CopyKind::Fetch))
    }

    /// Fails if a value that is to be read is nowhere any more.
    fn check_values(&self, uses: &[Use]) -> Result<(), DeviceError> {
        let is_lost = |one: &&Use| one.mode.reads() && self.entry(one.entry).is_lost();
        match uses.iter().find(is_lost) {
            Some(_) => Err(DeviceError::new(
                "a value that it reads was lost with the device that had it, or that failed to write it",
            )),
            None => Ok(()),
        }
    }

    /// Tries once more where nothing else is in the way but what the task's own operands, kept from before, leave of the heap: without
    /// them it is empty, and then the task fits, or never will.
    fn admit_alone(
        &mut self,
        copier: &mut dyn Copier,
        demand: Demand<'_>,
        admitted: &mut Admitted,
    ) -> Result<bool, DeviceError> {
        let (at, node) = (usize::from(demand.device), Node::of_device(demand.device));
        if let Some(trouble) = self.stores[at].trouble.take() {
            return Err(trouble);
        }
        let kept: Vec<EntryId> = self.stores[at].recent.iter().collect();
        for id in kept {
            if self.entry(id).is_only(node) && !self.send_home(copier, id, node)? {
                return Ok(false);
            }
            // What is on its way goes when it has arrived; a value without bytes has.
            if self.entry(id).replicas[node.at()].pins == 0 {
                self.discard(id, node);
            }
        }
        if self.stores[at].pins > 0 {
            return Ok(false);
        }
        Ok(self.attempt(copier, demand, admitted)? == Attempt::Admitted)
    }

    /// Fails if not even an empty heap has room for the task.
    pub(crate) fn check_size(&self, demand: Demand<'_>) -> Result<(), DeviceError> {
        let Some(heap) = &self.stores[usize::from(demand.device)].heap else { return Ok(()) };
        if self.has_room_for(demand) {
            return Ok(());
        }
        let (needs, has) = (self.needed(demand, |_| true), heap.bytes());
        if needs <= has {
            return Ok(());
        }
        Err(DeviceError::new(format!("it needs {needs} bytes of the device's memory, and there are {has}")))
    }

    /// Whether all that the task takes of the heap has its place there.
    fn has_room_for(&self, demand: Demand<'_>) -> bool {
        let node = Node::of_device(demand.device);
        demand.scratch_bytes == 0 && demand.uses.iter().all(|one| self.segment_on(one.entry, node).is_some())
    }

    /// Bytes that the task takes of the heap, for those of its operands that are asked for, and scratch.
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

    /// Bytes that the task takes of the heap and has not got.
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
        // What it needs in all, asked for where the first of it is missing.
        let mut missing = None;
        admitted.regions.clear();
        for one in uses {
            let entry = self.entry(one.entry);
            let region = DeviceRegion::like(&entry.host, 0, align);
            let offset = match &entry.replicas[node.at()].segment {
                Some(segment) if segment.bytes() >= region.span_bytes() => segment.offset(),
                // The datum has grown, and a copy of its old bytes is not reported yet: with it the place goes.
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

    /// Issues the copies that bring what the task reads to the node, and says what the task must wait for; none if something
    /// must finish first.
    fn fetch_all(
        &mut self,
        copier: &mut dyn Copier,
        demand: Demand<'_>,
        node: Node,
    ) -> Result<Option<Waits>, DeviceError> {
        let mut complete = true;
        for Use { entry, .. } in demand.uses.iter().copied().filter(|one| one.mode.reads()) {
            complete &= self.entry(entry).is_valid(node)
                || if node == Node::HOST { self.send_for(copier, entry)? } else { self.fetch(copier, entry, node)? };
        }
        Ok(if complete { self.waits(copier, demand, node) } else { None })
    }

    /// A task can not be issued yet: if a copy fails that brings what it reads, to the node or on the way there, it fails, too.
    fn await_copies(&mut self, demand: Demand<'_>, node: Node) {
        let read = demand.uses.iter().filter(|one| one.mode.reads()).map(|one| self.entry(one.entry));
        let coming = read.flat_map(|entry| [node, Node::HOST].map(|node| entry.replicas[node.at()].written));
        let awaited = coming.flatten().filter(|event| self.flights.contains_key(event)).collect();
        self.stores[usize::from(demand.device)].awaited = awaited;
    }

    /// What the task must wait for to use its operands on the node; none if its device can not.
    fn waits(&self, copier: &dyn Copier, demand: Demand<'_>, node: Node) -> Option<Waits> {
        let events = demand.uses.iter().flat_map(|one| {
            let replica = &self.entry(one.entry).replicas[node.at()];
            let readers = if one.mode.writes() { replica.readers.as_slice() } else { &[] };
            replica.written.iter().chain(readers).copied()
        });
        self.to_wait_for(copier, demand.device, events)
    }

    /// Issues a copy of the value to a device where it has a place: from wherever it comes soonest. Says whether it could.
    fn fetch(&mut self, copier: &mut dyn Copier, id: EntryId, to: Node) -> Result<bool, DeviceError> {
        let (entry, bytes) = (self.entry(id), self.entry(id).host.bytes());
        let host = entry.is_valid(Node::HOST).then_some(Node::HOST);
        let arrival = |from: &Node| self.links.forecast_ns(*from, to, bytes);
        let sources = host.into_iter().chain(entry.holders()).filter_map(|from| Some((arrival(&from)?, from)));
        let Some((_, from)) = sources.min_by(|a, b| a.0.total_cmp(&b.0)) else {
            // Only devices have it from which this one can not copy.
            let Some(from) = self.entry(id).holders().next() else { return Ok(false) };
            return Ok(self.copy(copier, id, (from, Node::HOST), CopyKind::Staging)?
                && self.copy(copier, id, (Node::HOST, to), CopyKind::Fetch)?);
        };
        self.copy(copier, id, (from, to), CopyKind::Fetch)
    }

    /// Sends the only valid replica to host memory, to be given up when it has arrived.
    fn send_home(&mut self, copier: &mut dyn Copier, id: EntryId, from: Node) -> Result<bool, DeviceError> {
        let (bytes, Some(device)) = (self.entry(id).host.bytes(), from.device()) else { return Ok(true) };
        let is_sent = self.copy(copier, id, (from, Node::HOST), CopyKind::Eviction)?;
        if is_sent {
            self.stores[usize::from(device)].leaving += bytes;
        }
        Ok(is_sent)
    }

    /// A place in a device's heap, or none yet. For it, replicas that nothing uses make room, the least recently used first: at once if the
    /// value is elsewhere, too, and else when it has arrived in host memory. `missing` is what the task needs in all.
    fn room(
        &mut self,
        copier: &mut dyn Copier,
        device: u16,
        bytes: usize,
        missing: usize,
    ) -> Result<Option<Segment>, DeviceError> {
        let (at, node) = (usize::from(device), Node::of_device(device));
        loop {
            if let Some(segment) = self.stores[at].heap.as_mut().and_then(|heap| heap.take(bytes)) {
                return Ok(Some(segment));
            }
            let unused = |id: &EntryId| self.entry(*id).replicas[node.at()].pins == 0;
            let dispensable = |id: &EntryId| !self.entry(*id).is_only(node);
            let found = self.stores[at].recent.iter().filter(unused).find(dispensable);
            if let Some(id) = found {
                let bytes = self.segment_on(id, node).map_or(0, Segment::bytes);
                self.evicted[at] = (self.evicted[at].0 + 1, self.evicted[at].1 + bytes as u64);
                self.discard(id, node);
                continue;
            }
            let victims: Vec<EntryId> = self.stores[at].recent.iter().filter(unused).collect();
            if let Some(trouble) = self.stores[at].trouble.take() {
                return Err(trouble);
            }
            for id in victims {
                if self.stores[at].leaving >= missing || !self.send_home(copier, id, node)? {
                    break;
                }
            }
            return Ok(None);
        }
    }

    /// A task that was admitted has been issued: this event makes what it writes valid. Since it was admitted nobody else was issued
    /// who uses that: predecessors were before, successors are not yet. If it was not issued after all, every value is where it was.
    pub(crate) fn issued(&mut self, demand: Demand<'_>, event: Event) {
        let (node, is_lost) = (self.workplace(demand.device), self.stores[usize::from(demand.device)].is_lost);
        for one in demand.uses.iter().filter(|one| one.mode.writes()) {
            self.modify(one.entry, node);
            self.overwrite(one.entry, node, event);
            if is_lost && node != Node::HOST {
                self.entry_mut(one.entry).drop_from(node);
            }
        }
    }

    /// A task that was admitted has finished, or was not issued after all.
    pub(crate) fn release(&mut self, device: u16, uses: &[Use], scratch: Option<Segment>) {
        if let Some(segment) = scratch {
            self.stores[usize::from(device)].pins -= 1;
            self.give(device, segment);
        }
        if self.stores[usize::from(device)].heap.is_some() {
            uses.iter().for_each(|one| self.unpin(one.entry, Node::of_device(device)));
        }
    }

    /// Lets the host task in this slot use its data, if they are at home; otherwise they are sent for, and the number of copies is
    /// returned whose end the task must wait for before it tries again.
    ///
    /// # Errors
    /// If a value is lost, or can not be moved.
    pub(crate) fn admit_to_host(
        &mut self,
        copier: &mut dyn Copier,
        slot: u32,
        uses: &[Use],
    ) -> Result<usize, DeviceError> {
        self.check_values(uses)?;
        let mut unfinished = Vec::new();
        for one in uses {
            if one.mode.reads() && !self.entry(one.entry).is_valid(Node::HOST) {
                self.send_for(copier, one.entry)?;
            }
            let entry = self.entry(one.entry);
            let home = &entry.replicas[Node::HOST.at()];
            let is_coming = !one.mode.reads() || entry.is_valid(Node::HOST);
            // A copy that could not be issued waits for others to or from host memory, which its device can not wait for.
            let readers = if one.mode.writes() || !is_coming { home.readers.as_slice() } else { &[] };
            let brings = one.mode.reads() && is_coming;
            let all =
                home.written.iter().map(|&event| (event, brings)).chain(readers.iter().map(|&event| (event, false)));
            unfinished.extend(all.filter(|one| !self.is_done(one.0)));
        }
        unfinished.sort_unstable_by_key(|(event, brings)| (event.device, event.queue, event.ticket, !brings));
        unfinished.dedup_by_key(|one| one.0);
        unfinished.retain(|(event, brings)| {
            self.flights.get_mut(event).map(|flight| flight.waiting.push((slot, *brings))).is_some()
        });
        if unfinished.is_empty() {
            debug_assert!(uses.iter().all(|one| !one.mode.reads() || self.entry(one.entry).is_valid(Node::HOST)));
            for one in uses.iter().filter(|one| one.mode.writes()) {
                self.modify(one.entry, Node::HOST);
            }
        }
        Ok(unfinished.len())
    }
    /// A host task fails whose data can not come. Returns the number of copies to and from the host memory of what it was to write
    /// whose end it must wait for before it says so, since the data may end with it. When there are none left (zero), the data are at
    /// home: worth nothing, but nobody copies them there any more.
    pub(crate) fn give_up_on_host(&mut self, slot: u32, uses: &[Use]) -> usize {
        let mut copies = 0;
        let is_written = |id: EntryId| uses.iter().any(|one| one.entry == id && one.mode.writes());
        for flight in self.flights.values_mut() {
            if (flight.from == Node::HOST || flight.to == Node::HOST) && is_written(flight.entry) {
                flight.waiting.push((slot, false));
                copies += 1;
            }
        }
        if copies == 0 {
            uses.iter().filter(|one| one.mode.writes()).for_each(|one| self.modify(one.entry, Node::HOST));
        }
        copies
    }
}
