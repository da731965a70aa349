//! Where a task's operands are, and what it takes to bring them elsewhere: what policies go by.

use super::Site;
use crate::{
    device::HostRegion,
    memory::{EntryId, Node},
    schedule::{Moves, ReadyTask, Resource},
};
use smallvec::SmallVec;

/// What a task's operands are to one place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whereabouts {
    /// What must be moved there.
    pub(crate) moves: Moves,
    /// Two for each operand that is there, one for each that a peer has.
    pub(crate) locality: u32,
}

impl Whereabouts {
    /// Of a task that has no operands, or all of them there.
    const HERE: Self = Self { moves: Moves::NOTHING, locality: 0 };
}

/// Of each value that a task uses, whether it reads it, and its entry, if devices have used it.
type Readings = SmallVec<[(bool, Option<EntryId>); 4]>;

impl Site<'_> {
    /// What the operands of the task, which the policy holds, are to a device.
    pub(crate) fn whereabouts(&self, slot: u32, device: u16) -> Whereabouts {
        if self.devices.all[usize::from(device)].info.memory.is_none() {
            return self.whereabouts_of_host(slot);
        }
        self.operands_to(slot, Node::of_device(device))
    }

    /// What the operands of the task, which the policy holds, are to the host.
    pub(crate) fn whereabouts_of_host(&self, slot: u32) -> Whereabouts {
        if self.devices.any_memory() { self.operands_to(slot, Node::HOST) } else { Whereabouts::HERE }
    }

    fn operands_to(&self, slot: u32, to: Node) -> Whereabouts {
        let mut readings = Readings::new();
        // SAFETY: the policy holds the task, so nobody has taken it and nobody changes it.
        let body = unsafe { &self.slab.slot(slot).exec_shared().body };
        body.uses(&mut |execution, mode| {
            readings.push((mode.reads(), execution.elsewhere.entry()));
        });
        // Only of what devices have not used it must be asked where it is in host memory; operands that stay there do not say.
        let mut hosts = SmallVec::<[HostRegion; 4]>::new();
        if readings.iter().any(|(is_read, entry)| *is_read && entry.is_none()) {
            // SAFETY: a task is pushed when each of its predecessors is done, or issued to a device.
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

    /// Whether devices have the values that this task, which the caller has taken, reads: then nothing has to come from the host.
    pub(super) fn has_all_on_devices(&self, task: &ReadyTask) -> bool {
        if !self.devices.any_memory() {
            return true;
        }
        let mut read = SmallVec::<[Option<EntryId>; 4]>::new();
        // SAFETY: the caller has taken the task.
        let body = unsafe { &self.slab.slot(task.slot()).exec_shared().body };
        body.uses(&mut |execution, mode| {
            read.extend(mode.reads().then(|| execution.elsewhere.entry()));
        });
        let directory = self.memory.lock();
        read.into_iter().all(|entry| entry.is_some_and(|entry| directory.is_on_a_device(entry)))
    }

    /// The device whose memory alone has what the task, which the policy holds, updates: the first of them.
    pub(crate) fn owner_of(&self, slot: u32) -> Option<Resource> {
        let mut updated = SmallVec::<[EntryId; 4]>::new();
        // SAFETY: the policy holds the task, so nobody has taken it and nobody changes it.
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

    /// Where the data that the task, which the policy holds, writes are to be updated: the first of them that were dealt to somebody.
    pub(crate) fn home_of(&self, slot: u32) -> Option<Resource> {
        // SAFETY: the policy holds the task, so nobody has taken it and nobody changes it.
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
