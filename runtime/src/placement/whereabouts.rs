//! The location of a task's operands and the cost of moving them, which policies use.

use super::PlacementContext;
use crate::{
    device::HostRegion,
    memory::{EntryId, Node},
    schedule::{ReadyTask, Resource, Transfers},
};
use smallvec::SmallVec;

/// The location of a task's operands relative to one resource.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whereabouts {
    /// The cost of moving them there.
    pub(crate) moves: Transfers,
    /// Two for each operand that is there, plus one for each that a peer has.
    pub(crate) locality: u32,
}

impl Whereabouts {
    /// For a task without operands, or with all of them there.
    const HERE: Self = Self { moves: Transfers::NOTHING, locality: 0 };
}

/// For each value that a task uses: whether the task reads it, and its entry if devices have used it.
type Readings = SmallVec<[(bool, Option<EntryId>); 4]>;

impl PlacementContext<'_> {
    /// Returns the location of the operands relative to a device. The policy holds the task.
    pub(crate) fn whereabouts(&self, slot: u32, device: u16) -> Whereabouts {
        if self.devices.all[usize::from(device)].info.memory.is_none() {
            return self.whereabouts_of_host(slot);
        }
        self.operands_to(slot, Node::of_device(device))
    }

    /// Returns the location of the operands relative to the host. The policy holds the task.
    pub(crate) fn whereabouts_of_host(&self, slot: u32) -> Whereabouts {
        if self.devices.any_memory() { self.operands_to(slot, Node::HOST) } else { Whereabouts::HERE }
    }

    fn operands_to(&self, slot: u32, to: Node) -> Whereabouts {
        let mut readings = Readings::new();
        // SAFETY: the policy holds the task, so nobody has taken it and nobody writes its `exec`.
        let body = unsafe { &self.slab.slot(slot).exec_shared().body };
        body.uses(&mut |execution, mode| {
            readings.push((mode.reads(), execution.elsewhere.entry()));
        });
        // Host regions are needed only for values that devices have not used; operands that stay on the host have none.
        let mut hosts = SmallVec::<[HostRegion; 4]>::new();
        if readings.iter().any(|(is_read, entry)| *is_read && entry.is_none()) {
            // SAFETY: a task is pushed when each of its predecessors is done or issued to a device, so no host task has
            // an operand by `&mut`.
            unsafe { body.residences(&mut |residence| hosts.push(residence.region)) };
        }
        let directory = self.memory.lock();
        let (mut sum, mut missing_bytes) = (Whereabouts::HERE, 0);
        for (at, &(is_read, entry)) in readings.iter().enumerate() {
            if is_read {
                let distance = directory.distance(entry, hosts.get(at).copied(), to);
                sum.moves.ns += distance.ns;
                sum.locality += distance.locality;
                sum.moves.from_host |= distance.from_host;
                missing_bytes += distance.missing_bytes;
            }
        }
        sum.moves.has_room = to.device().is_none_or(|device| directory.has_room(device, missing_bytes));
        sum
    }

    /// Returns whether devices have all values that this task reads, so that nothing is copied from the host. The
    /// caller has taken the task.
    pub(super) fn has_all_on_devices(&self, task: &ReadyTask) -> bool {
        if !self.devices.any_memory() {
            return true;
        }
        let mut read = SmallVec::<[Option<EntryId>; 4]>::new();
        // SAFETY: the caller has taken the task, so nobody else uses its `exec`.
        let body = unsafe { &self.slab.slot(task.slot()).exec_shared().body };
        body.uses(&mut |execution, mode| {
            read.extend(mode.reads().then(|| execution.elsewhere.entry()));
        });
        let directory = self.memory.lock();
        read.into_iter().all(|entry| entry.is_some_and(|entry| directory.is_on_a_device(entry)))
    }

    /// Returns the owner of the first value that the task updates and only one device has. The policy holds the task.
    pub(crate) fn owner_of(&self, slot: u32) -> Option<Resource> {
        let mut updated = SmallVec::<[EntryId; 4]>::new();
        // SAFETY: the policy holds the task, so nobody has taken it and nobody writes its `exec`.
        let body = unsafe { &self.slab.slot(slot).exec_shared().body };
        body.uses(&mut |execution, mode| {
            updated.extend(execution.elsewhere.entry().filter(|_| mode.reads() && mode.writes()));
        });
        if updated.is_empty() {
            return None;
        }
        let directory = self.memory.lock();
        updated.into_iter().find_map(|entry| directory.owner(entry)).map(Resource::device)
    }

    /// Returns the task's home, or else that of the first value that it writes and that has one. The policy holds the
    /// task.
    pub(crate) fn home_of(&self, slot: u32) -> Option<Resource> {
        let own = self.slab.slot(slot).device_record().home.get();
        if own.is_some() {
            return own;
        }
        // SAFETY: the policy holds the task, so nobody has taken it and nobody writes its `exec`.
        let body = unsafe { &self.slab.slot(slot).exec_shared().body };
        let mut home = None;
        body.uses(&mut |execution, mode| {
            if home.is_none() && mode.writes() {
                home = execution.home.get();
            }
        });
        home
    }
}
