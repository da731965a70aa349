//! A datum's replicas: which nodes have its value, and the named state transitions.

#![forbid(unsafe_code)]

use super::{heap::Segment, lru::LruPosition};
use crate::{
    datum::Route,
    device::{Event, HostRegion},
};
use smallvec::SmallVec;

/// A memory node: the host (zero), or a device's memory (the device's index plus one).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Node(pub(crate) u16);

impl Node {
    pub(crate) const HOST: Self = Self(0);

    pub(crate) fn of_device(device: u16) -> Self {
        Self(device + 1)
    }

    /// Returns the device whose memory this is.
    pub(crate) fn device(self) -> Option<u16> {
        self.0.checked_sub(1)
    }

    pub(super) fn at(self) -> usize {
        usize::from(self.0)
    }
}

/// The state of a replica (BLASX paper, section IV.B); `memory/mod.rs` lists the differences.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplicaState {
    /// The only valid replica.
    Modified,
    /// Valid here and in host memory.
    Exclusive,
    /// Valid here and on other devices, possibly also on the host.
    Shared,
    /// Not valid.
    Invalid,
}

/// A datum's copy on one node.
#[derive(Debug, Default)]
pub(super) struct Replica {
    /// Its memory in the device's heap. An invalid replica keeps it while issued work still uses it.
    pub(super) segment: Option<Segment>,
    /// Number of uses by work that was issued and has not finished.
    pub(super) pins: u32,
    /// The work that makes it valid or overwrites it. Every user waits for this event.
    pub(super) written: Option<Event>,
    /// Copies that have read it since `written`; work that overwrites the replica waits for them. (Tasks that read it
    /// are predecessors of the overwriting task.) Also events of other devices that `written` waited for: if its device
    /// is lost, `written` may end before they do.
    pub(super) readers: SmallVec<[Event; 2]>,
    /// The copy from host memory that brought the value here. It is kept when the value is updated here later.
    pub(super) arrival: Option<Event>,
    /// Whether it was sent ahead along a route, and no task has used it yet.
    pub(super) is_ahead: bool,
    /// Its position in the device's LRU list, while it has memory in the heap.
    pub(super) lru_position: Option<LruPosition>,
}

/// A datum that has, or had, replicas.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) host: HostRegion,
    pub(super) replicas: Box<[Replica]>,
    /// The nodes whose replica has the value, or will have it when all issued work is done: one bit per node. Zero: the
    /// value is lost.
    valid: u64,
    /// The datum is gone; the entry remains for copies in progress.
    pub(super) is_closed: bool,
    /// The planned route of its copies.
    pub(super) route: Route,
    /// The number of uses by admitted tasks of devices that work in host memory. Nothing is evicted there meanwhile: a
    /// task waits only for the copies that were issued before its admission.
    pub(super) host_users: u32,
}

impl Entry {
    /// Creates the entry of a datum whose value is in host memory.
    pub(super) fn new(host: HostRegion, nodes: usize) -> Self {
        let replicas = (0..nodes).map(|_| Replica::default()).collect();
        Self { host, replicas, valid: 1, is_closed: false, route: Route::default(), host_users: 0 }
    }

    pub(super) fn is_valid(&self, node: Node) -> bool {
        self.valid >> node.0 & 1 != 0
    }

    /// Returns whether no node has the value.
    pub(super) fn is_lost(&self) -> bool {
        self.valid == 0
    }

    /// Returns whether this is the only node that has the value.
    pub(super) fn is_only(&self, node: Node) -> bool {
        self.valid == 1 << node.0
    }

    #[cfg(test)]
    pub(super) fn state(&self, node: Node) -> ReplicaState {
        match (self.is_valid(node), self.valid & !(1 << node.0)) {
            (false, _) => ReplicaState::Invalid,
            (true, 0) => ReplicaState::Modified,
            (true, 1) => ReplicaState::Exclusive,
            (true, _) => ReplicaState::Shared,
        }
    }

    /// Iterates over the devices that have the value.
    pub(super) fn holders(&self) -> impl Iterator<Item = Node> + use<> {
        let valid = self.valid;
        (1..64).filter(move |bit| valid >> bit & 1 != 0).map(Node)
    }

    /// A copy that brings the value was issued: Invalid becomes Exclusive or Shared, and a Modified replica elsewhere
    /// becomes Shared or Exclusive.
    pub(super) fn mark_valid(&mut self, node: Node) {
        debug_assert!(!self.is_lost(), "a value is copied from where it is");
        self.valid |= 1 << node.0;
    }

    /// Work that produces a new value was issued, or a host task begins: Modified here, Invalid everywhere else.
    pub(super) fn modify(&mut self, node: Node) {
        self.valid = 1 << node.0;
    }

    /// The replica is dropped, or the work that was to produce it has failed: Invalid.
    pub(super) fn mark_invalid(&mut self, node: Node) {
        self.valid &= !(1 << node.0);
    }
}
