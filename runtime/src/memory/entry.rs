//! One datum's replicas: which nodes have its value, and the named transitions between these states.

#![forbid(unsafe_code)]

use super::{heap::Segment, recent::Place};
use crate::device::{Event, HostRegion};
use smallvec::SmallVec;

/// A memory node: the host (zero), or a device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Node(pub(crate) u16);

impl Node {
    pub(crate) const HOST: Self = Self(0);

    pub(crate) fn of_device(device: u16) -> Self {
        Self(device + 1)
    }

    /// The device whose memory it is.
    pub(crate) fn device(self) -> Option<u16> {
        self.0.checked_sub(1)
    }

    pub(super) fn at(self) -> usize {
        usize::from(self.0)
    }
}

/// The state of a replica (BLASX paper, section IV.B); see the module's head for what is different here.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The only valid one.
    Modified,
    /// Valid here and in host memory.
    Exclusive,
    /// Valid here and on other devices.
    Shared,
    /// Not valid.
    Invalid,
}

/// A datum's copy on one node.
#[derive(Debug, Default)]
pub(super) struct Replica {
    /// Its place in the device's heap. An invalid one keeps it while work that was issued still uses it.
    pub(super) segment: Option<Segment>,
    /// How much work that was issued and has not finished uses it.
    pub(super) pins: u32,
    /// The work that makes it valid, or overwrites it: to be waited for by whoever uses it.
    pub(super) written: Option<Event>,
    /// Copies that read it since: to be waited for by whoever overwrites it. (Tasks that read it are predecessors of the task
    /// that overwrites it.) And what `written` has waited for on other devices, and may not outlive if its own is lost.
    pub(super) readers: SmallVec<[Event; 2]>,
    /// The copy from host memory by which it came here, or the value did that was updated here since.
    pub(super) arrival: Option<Event>,
    /// Its place among the device's recently used, while it has one in the heap.
    pub(super) used: Option<Place>,
}

/// A datum that has, or had, replicas.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) host: HostRegion,
    pub(super) replicas: Box<[Replica]>,
    /// The nodes whose replica has the value, or will have it when the work that was issued is done: a bit each. None: it is lost.
    valid: u64,
    /// The datum is gone; the entry stays for copies under way.
    pub(super) is_closed: bool,
}

impl Entry {
    /// A datum whose value is in host memory.
    pub(super) fn new(host: HostRegion, nodes: usize) -> Self {
        Self { host, replicas: (0..nodes).map(|_| Replica::default()).collect(), valid: 1, is_closed: false }
    }

    pub(super) fn is_valid(&self, node: Node) -> bool {
        self.valid >> node.0 & 1 != 0
    }

    /// Whether no node has the value.
    pub(super) fn is_lost(&self) -> bool {
        self.valid == 0
    }

    /// Whether this is the only node that has the value.
    pub(super) fn is_only(&self, node: Node) -> bool {
        self.valid == 1 << node.0
    }

    #[cfg(test)]
    pub(super) fn state(&self, node: Node) -> State {
        match (self.is_valid(node), self.valid & !(1 << node.0)) {
            (false, _) => State::Invalid,
            (true, 0) => State::Modified,
            (true, 1) => State::Exclusive,
            (true, _) => State::Shared,
        }
    }

    /// The devices that have the value.
    pub(super) fn holders(&self) -> impl Iterator<Item = Node> + use<> {
        let valid = self.valid;
        (1..64).filter(move |bit| valid >> bit & 1 != 0).map(Node)
    }

    /// A copy that brings the value was issued: Invalid becomes Exclusive or Shared, Modified elsewhere becomes Shared or Exclusive.
    pub(super) fn arrive(&mut self, node: Node) {
        debug_assert!(!self.is_lost(), "a value is copied from where it is");
        self.valid |= 1 << node.0;
    }

    /// Work that makes a new value was issued, or a host task begins: Modified here, Invalid everywhere else.
    pub(super) fn modify(&mut self, node: Node) {
        self.valid = 1 << node.0;
    }

    /// The replica is given up, or what was to bring it has failed: Invalid.
    pub(super) fn drop_from(&mut self, node: Node) {
        self.valid &= !(1 << node.0);
    }
}
