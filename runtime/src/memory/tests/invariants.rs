//! The invariants of the directory after every step, and at the end.

use super::world::World;
use crate::{
    device::DeviceRegion,
    memory::{
        EntryId,
        entry::{Entry, Node, ReplicaState},
        heap::Segment,
        links::CopyKind,
    },
};

impl World<'_> {
    /// Iterates over the open entries.
    pub(super) fn entries(&self) -> impl Iterator<Item = EntryId> {
        let is_there = |(at, entry): (usize, &Option<Entry>)| entry.as_ref().map(|_| EntryId(at as u32 + 1));
        self.directory.entries.iter().enumerate().filter_map(is_there)
    }

    /// Checks that replicas, pins and heaps agree with the unfinished work.
    pub(super) fn check(&self) {
        for (device, store) in self.directory.stores.iter().enumerate() {
            let node = Node::of_device(device as u16);
            let (mut pins, mut places, mut bytes) = (0, 0, 0);
            for id in self.entries() {
                let (entry, replica) = (self.directory.entry(id), &self.directory.entry(id).replicas[node.at()]);
                let expected = self.users_of(device, id);
                assert_eq!(u64::from(replica.pins), expected, "pins of {id:?} on device {device}");
                pins += expected;
                let is_valid = entry.is_valid(node);
                assert!(entry.state(node) != ReplicaState::Modified || entry.is_only(node));
                if let Some(segment) = &replica.segment {
                    (places, bytes) = (places + 1, bytes + segment.bytes());
                    assert!(store.lru.iter().any(|other| other == id), "{id:?} is missing in the LRU list");
                    let span = DeviceRegion::like(&entry.host, 0, store.align).span_bytes();
                    assert!(!is_valid || segment.bytes() >= span, "segment too small: {id:?} on device {device}");
                    assert!(is_valid || replica.pins > 0, "segment not needed: {id:?} on device {device}");
                }
                let is_empty = entry.host.bytes() == 0;
                assert!(!is_valid || replica.segment.is_some() || is_empty, "valid without memory: {id:?} on {device}");
            }
            let scratch = self.runs.iter().filter(|run| run.holds && self.runs_on(run, device));
            let scratch: Vec<&Segment> = scratch.filter_map(|run| run.scratch.as_ref()).collect();
            assert_eq!(store.pins, pins + scratch.len() as u64, "pins of device {device}");
            assert_eq!(store.lru.len(), places, "replicas of device {device}");
            let used = bytes + scratch.iter().map(|segment| segment.bytes()).sum::<usize>();
            let is_exact = store.heap.as_ref().is_none_or(|heap| heap.used() == used || store.is_lost);
            assert!(is_exact, "bytes in use on device {device}: {used}, {:?}", store.heap);
            let is_leaving = |kind: CopyKind, from: Node| kind == CopyKind::Eviction && from == node;
            let pending_copies = self.directory.pending_copies.values().filter(|copy| is_leaving(copy.kind, copy.from));
            assert_eq!(
                store.evicting_bytes,
                pending_copies.map(|copy| copy.bytes).sum::<usize>(),
                "leaving device {device}"
            );
        }
    }

    fn runs_on(&self, run: &super::world::TaskRun, device: usize) -> bool {
        let is_admitted = |at: usize| std::ptr::eq(run, &self.runs[at]);
        run.event.map_or_else(
            || self.issuers[device].admitted.as_ref().is_some_and(|one| is_admitted(one.0)),
            |event| usize::from(event.device) == device,
        )
    }

    /// Returns the number of uses of the replica by issued work.
    fn users_of(&self, device: usize, id: EntryId) -> u64 {
        let node = Node::of_device(device as u16);
        if self.directory.stores[device].heap.is_none() {
            return 0;
        }
        let holding = self.runs.iter().filter(|run| run.holds && self.runs_on(run, device));
        let tasks = holding.flat_map(|run| &run.uses).filter(|one| one.entry == id).count();
        let pending_copies = self.directory.pending_copies.values().filter(|copy| copy.entry == id);
        let ends: usize =
            pending_copies.map(|copy| usize::from(copy.from == node) + usize::from(copy.to == node)).sum();
        (tasks + ends) as u64
    }

    /// Checks that nothing is left when the program is over.
    pub(super) fn check_end(&self) {
        assert!(self.is_over(), "stuck: {:?}", self.runs);
        assert!(self.directory.pending_copies.is_empty());
        assert_eq!(self.entries().count(), 0, "entries are left");
        for (device, store) in self.directory.stores.iter().enumerate() {
            assert_eq!((store.pins, store.evicting_bytes, store.lru.len()), (0, 0, 0), "of device {device}");
            assert_eq!(store.heap.as_ref().map_or(0, |heap| heap.used()), 0, "bytes in use on device {device}");
        }
        let nodes = (0..=self.directory.stores.len() as u16).map(Node);
        for (from, to) in nodes.clone().flat_map(|from| nodes.clone().map(move |to| (from, to))) {
            let idle_ns = self.directory.links.forecast_ns(from, to, 0);
            assert!(idle_ns.is_none_or(|idle_ns| idle_ns <= 1000.0), "bytes pending on a link: {idle_ns:?}");
        }
    }
}
