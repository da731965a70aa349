//! Copies between memory nodes: their issue, in parts and along routes, and their end.

#![forbid(unsafe_code)]

use super::{
    directory::{Copier, Directory, EntryId, WaitEvents},
    entry::{Entry, Node},
    links::{CarriedCopy, CopyKind},
};
use crate::device::{DeviceError, DeviceRegion, Event, HostRegion, LinkInfo, Transfer};
use smallvec::SmallVec;
use std::ops::Range;

/// A copy in progress, or a part of one.
#[derive(Debug)]
pub(super) struct PendingCopy {
    pub(super) entry: EntryId,
    pub(super) from: Node,
    pub(super) to: Node,
    pub(super) bytes: usize,
    pub(super) kind: CopyKind,
    /// See [`CarriedCopy`].
    pub(super) tells_busy_rate: bool,
    /// Slots of the host tasks that wait for its end, and whether it brings a value that the task reads.
    pub(super) waiting: Vec<(u32, bool)>,
}

/// A copy that has ended.
pub(crate) struct EndedCopy {
    pub(crate) from: Node,
    pub(crate) to: Node,
    pub(crate) bytes: usize,
    pub(crate) has_succeeded: bool,
    /// Slots of the host tasks that waited for it. The error is set if it failed and was to bring what the task reads.
    pub(crate) waiting: Vec<(u32, Option<DeviceError>)>,
}

/// The events of a copy's parts.
type Parts = SmallVec<[Event; 8]>;

impl Directory {
    /// Issues a copy of a datum that has memory on the target node. Returns `false` if it cannot be issued yet; other
    /// work must finish first.
    pub(super) fn copy(
        &mut self,
        copier: &mut dyn Copier,
        id: EntryId,
        (from, to): (Node, Node),
        kind: CopyKind,
    ) -> Result<bool, DeviceError> {
        Ok(self.copy_in_parts(copier, id, (from, to), kind, (1, &[]))?.is_some())
    }

    /// Like [`copy`](Self::copy), in this many parts. Each part waits for the part of the same number in `arriving`, if
    /// there is one, and otherwise for the source. Returns the parts that were issued; `None` if they cannot be yet.
    ///
    /// # Errors
    /// If a part could not be issued. Then the target is not valid.
    fn copy_in_parts(
        &mut self,
        copier: &mut dyn Copier,
        id: EntryId,
        (from, to): (Node, Node),
        kind: CopyKind,
        (parts, arriving): (usize, &[Event]),
    ) -> Result<Option<Parts>, DeviceError> {
        if self.entry(id).host.bytes() == 0 {
            self.entry_mut(id).mark_valid(to);
            return Ok(Some(Parts::new()));
        }
        let entry = self.entry(id);
        let (source, target) = (&entry.replicas[from.at()], &entry.replicas[to.at()]);
        let source = source.written.filter(|_| arriving.is_empty());
        let before = source.into_iter().chain(target.written).chain(target.readers.iter().copied());
        let Some(device) = to.device().or(from.device()) else { return Ok(Some(Parts::new())) };
        let before = before.chain(arriving.iter().copied());
        let Some(all) = self.pending_events(copier, device, before) else { return Ok(None) };
        let columns = entry.host.columns;
        let mut issued = Parts::new();
        let mut sizes = SmallVec::<[usize; 8]>::new();
        let mut failure = None;
        for part in 0..parts {
            let range = columns * part / parts..columns * (part + 1) / parts;
            let Some(transfer) = self.transfer(self.entry(id), (from, to), range.clone()) else { return Ok(None) };
            let is_others = |event: &Event| arriving.contains(event) && arriving.get(part) != Some(event);
            let waits = all.iter().copied().filter(|event| !is_others(event));
            let waits: WaitEvents = waits.chain(issued.last().copied()).collect();
            match copier.copy(device, &transfer, &waits) {
                Ok(event) => issued.push(event),
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
            sizes.push(range.len() * self.entry(id).host.row_bytes);
        }
        let Some(&last) = issued.last() else { return failure.map_or(Ok(None), Err) };
        self.record(id, (from, to), kind, (&issued, &sizes, last));
        match failure {
            // The parts that were issued still write the target.
            Some(error) => {
                self.entry_mut(id).mark_invalid(to);
                Err(error)
            }
            None => Ok(Some(issued)),
        }
    }

    /// Records the parts of a copy that were issued.
    fn record(
        &mut self,
        id: EntryId,
        (from, to): (Node, Node),
        kind: CopyKind,
        (issued, sizes, last): (&[Event], &[usize], Event),
    ) {
        self.entry_mut(id).mark_valid(to);
        self.overwrite(id, to, last);
        self.entry_mut(id).replicas[to.at()].arrival = (from == Node::HOST).then_some(last);
        let mut readers = std::mem::take(&mut self.entry_mut(id).replicas[from.at()].readers);
        readers.retain(|event| !self.is_done(*event));
        readers.push(last);
        self.entry_mut(id).replicas[from.at()].readers = readers;
        let is_contiguous = self.entry(id).host.is_contiguous();
        for (&event, &bytes) in issued.iter().zip(sizes) {
            self.pin(id, from);
            self.pin(id, to);
            self.links.copy_issued(from, to, bytes);
            let tells_busy_rate = is_contiguous && self.links.all_are_in_use(from, to);
            let copy = PendingCopy { entry: id, from, to, bytes, kind, tells_busy_rate, waiting: Vec::new() };
            self.pending_copies.insert(event, copy);
        }
    }

    /// Issues the copies along the value's route, if it leads to this device from a node that has the value, and no
    /// other node on it has the value yet. Returns whether a copy to the device was issued.
    ///
    /// # Errors
    /// If the copy to this device could not be issued. Failures of others on the route are theirs.
    pub(super) fn fetch_along_route(
        &mut self,
        copier: &mut dyn Copier,
        id: EntryId,
        to: Node,
    ) -> Result<bool, DeviceError> {
        let entry = self.entry(id);
        let mut nodes = entry.route.nodes().map(Node).filter(|node| node.at() <= self.stores.len());
        let Some(source) = nodes.next() else { return Ok(false) };
        let targets: SmallVec<[Node; 8]> = nodes.filter(|&node| self.is_in_a_heap(node)).collect();
        let is_new = entry.is_valid(source) && !targets.iter().any(|&node| entry.is_valid(node));
        if !is_new || !targets.contains(&to) || entry.host.bytes() == 0 {
            return Ok(false);
        }
        let parts = self.parts(id, source, &targets);
        let (mut from, mut arriving) = (source, Parts::new());
        for node in targets {
            if self.links.forecast_ns(from, node, 0).is_none() || node != to && !self.has_place(id, node) {
                continue;
            }
            match self.copy_in_parts(copier, id, (from, node), CopyKind::Fetch, (parts, &arriving)) {
                Ok(Some(issued)) => (from, arriving) = (node, issued),
                Err(error) if node == to => return Err(error),
                _ if node != to && self.entry(id).replicas[node.at()].pins == 0 => self.discard(id, node),
                _ => {}
            }
        }
        Ok(self.entry(id).is_valid(to))
    }

    /// Returns whether the node is the heap of a device that is not lost.
    fn is_in_a_heap(&self, node: Node) -> bool {
        let store = node.device().map(|device| &self.stores[usize::from(device)]);
        store.is_some_and(|store| store.heap.is_some() && !store.is_lost)
    }

    /// Returns the number of parts of a copy along these nodes.
    fn parts(&self, id: EntryId, source: Node, targets: &[Node]) -> usize {
        let HostRegion { columns, .. } = self.entry(id).host;
        let bytes = self.entry(id).host.bytes();
        let all: SmallVec<[Node; 8]> = [source].into_iter().chain(targets.iter().copied()).collect();
        let links: SmallVec<[LinkInfo; 8]> =
            all.windows(2).filter_map(|pair| self.links.info(pair[0], pair[1])).collect();
        LinkInfo::parts_of_copy(&links, bytes).min(columns).max(1)
    }

    /// Gives the replica memory if it has none and the heap has room at once. Returns whether it has.
    fn has_place(&mut self, id: EntryId, node: Node) -> bool {
        let Some(device) = node.device() else { return false };
        let store = &self.stores[usize::from(device)];
        // A task that waits for room must not wait for more.
        if store.wanted_bytes > 0 {
            return false;
        }
        let bytes = DeviceRegion::like(&self.entry(id).host, 0, store.align).span_bytes();
        if let Some(segment) = self.segment_on(id, node) {
            return segment.bytes() >= bytes;
        }
        let Some(segment) = self.room_ahead(device, bytes) else { return false };
        let replica = &mut self.entry_mut(id).replicas[node.at()];
        (replica.segment, replica.is_ahead) = (Some(segment), true);
        self.touch(id, node);
        true
    }

    /// Records that work was issued which overwrites the replica and waits for all its uses. Later users wait only for
    /// this work. But if its device is lost, it ends before the events of other devices that it waits for, so those are
    /// kept.
    pub(super) fn overwrite(&mut self, id: EntryId, node: Node, event: Event) {
        let replica = &mut self.entry_mut(id).replicas[node.at()];
        let mut before = std::mem::take(&mut replica.readers);
        before.extend(replica.written.replace(event));
        before.retain(|other| other.device != event.device && !self.is_done(*other));
        self.entry_mut(id).replicas[node.at()].readers = before;
    }

    /// Returns the copy of these columns.
    fn transfer(&self, entry: &Entry, (from, to): (Node, Node), columns: Range<usize>) -> Option<Transfer> {
        let region = |node: Node| {
            let segment = entry.replicas[node.at()].segment.as_ref()?;
            let all = DeviceRegion::like(&entry.host, segment.offset(), self.stores[usize::from(node.device()?)].align);
            let offset = all.offset + columns.start * all.stride_bytes;
            Some(DeviceRegion { offset, columns: columns.len(), ..all })
        };
        let host = entry.host.columns_at(columns.clone());
        Some(match (from.device(), to.device()) {
            (None, _) => Transfer::In { from: host, to: region(to)? },
            (_, None) => Transfer::Out { from: region(from)?, to: host },
            (Some(device), Some(_)) => Transfer::Peer { device, from: region(from)?, to: region(to)? },
        })
    }

    /// Records the end of a copy. Returns the host tasks that waited for it, with an error for those whose data it
    /// failed to bring.
    pub(crate) fn copy_ended(&mut self, event: Event, result: Result<Option<u64>, DeviceError>) -> Option<EndedCopy> {
        self.done(event);
        let copy = self.pending_copies.remove(&event)?;
        let PendingCopy { entry: id, from, to, bytes, kind, tells_busy_rate, waiting } = copy;
        let carried = CarriedCopy { from, to, bytes, tells_busy_rate };
        if kind == CopyKind::Eviction
            && let Some(device) = from.device()
        {
            let store = &mut self.stores[usize::from(device)];
            store.evicting_bytes -= bytes;
            store.eviction_error = result.as_ref().err().cloned();
        }
        let error = match result {
            Ok(busy_ns) => {
                self.links.copy_ended(carried, Some((kind, busy_ns)));
                None
            }
            Err(error) => {
                self.links.copy_ended(carried, None);
                self.drop_failed(id, to, event);
                for store in self.stores.iter_mut().filter(|store| store.awaited.contains(&event)) {
                    store.failed_copy = Some((id, error.clone()));
                }
                Some(error)
            }
        };
        self.unpin(id, from);
        self.unpin(id, to);
        let failure = |brings: bool| error.clone().filter(|_| brings);
        let waiting = waiting.into_iter().map(|(slot, brings)| (slot, failure(brings))).collect();
        Some(EndedCopy { from, to, bytes, has_succeeded: error.is_none(), waiting })
    }

    /// Invalidates a replica that a failed event was to produce, unless it was overwritten since. (If an earlier part
    /// of a copy fails, so does the last one, which waits for it.) Replicas that are being copied from it become
    /// invalid, too: their copies will fail, and until that is reported they must not count as valid.
    pub(super) fn drop_failed(&mut self, id: EntryId, to: Node, event: Event) {
        let mut failed = vec![(event, to)];
        while let Some((event, node)) = failed.pop() {
            let entry = self.entry_mut(id);
            if entry.is_valid(node) && entry.replicas[node.at()].written == Some(event) {
                entry.mark_invalid(node);
                let onward = self.pending_copies.iter().filter(|(_, copy)| copy.entry == id && copy.from == node);
                failed.extend(onward.map(|(&event, copy)| (event, copy.to)));
            }
        }
    }
}
