//! Where a task's operands are, and what it takes to bring them elsewhere: what policies go by.

use super::HostRegion;
use crate::{
    memory::{EntryId, Node},
    runtime::Shared,
    schedule::Resource,
};
use smallvec::SmallVec;

/// What a task's operands are to one place.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Whereabouts {
    /// How long it takes to move there what is not there.
    pub(crate) communication_ns: f64,
    /// Two for each operand that is there, one for each that a peer has.
    pub(crate) locality: u32,
}

/// A value that a task uses.
struct Reading {
    is_read: bool,
    entry: Option<EntryId>,
    /// Where it is in host memory; not known of operands that stay there.
    host: Option<HostRegion>,
}

impl Shared {
    /// What the operands of the task, which the policy holds, are to a device.
    pub(crate) fn whereabouts(&self, slot: u32, device: u16) -> Whereabouts {
        if self.devices.all[usize::from(device)].info.memory.is_none() {
            return self.whereabouts_of_host(slot);
        }
        self.operands_to(slot, Node::of_device(device))
    }

    /// What the operands of the task, which the policy holds, are to the host.
    pub(crate) fn whereabouts_of_host(&self, slot: u32) -> Whereabouts {
        if self.devices.any_memory() { self.operands_to(slot, Node::HOST) } else { Whereabouts::default() }
    }

    fn operands_to(&self, slot: u32, to: Node) -> Whereabouts {
        let mut readings = SmallVec::<[Reading; 4]>::new();
        // SAFETY: the policy holds the task, so nobody has taken it and nobody changes it.
        let body = unsafe { &self.slab.slot(slot).exec_shared().body };
        body.uses(&mut |execution, mode| {
            readings.push(Reading { is_read: mode.reads(), entry: execution.placement.entry(), host: None });
        });
        // Only of what devices have not used it must be asked where it is.
        if readings.iter().any(|reading| reading.is_read && reading.entry.is_none()) {
            let mut each = readings.iter_mut();
            // SAFETY: a task is pushed when each of its predecessors is done, or issued to a device.
            unsafe {
                body.residences(&mut |residence| {
                    if let Some(reading) = each.next() {
                        reading.host = Some(residence.region);
                    }
                })
            };
        }
        let directory = self.memory.lock();
        let mut sum = Whereabouts::default();
        for reading in readings.iter().filter(|reading| reading.is_read) {
            let (communication_ns, locality) = directory.distance(reading.entry, reading.host, to);
            sum.communication_ns += communication_ns;
            sum.locality += locality;
        }
        sum
    }

    /// The device whose memory alone has what the task, which the policy holds, updates: the first of them.
    pub(crate) fn owner_of(&self, slot: u32) -> Option<Resource> {
        let mut updated = SmallVec::<[EntryId; 4]>::new();
        // SAFETY: the policy holds the task, so nobody has taken it and nobody changes it.
        let body = unsafe { &self.slab.slot(slot).exec_shared().body };
        body.uses(&mut |execution, mode| {
            updated.extend(execution.placement.entry().filter(|_| mode.reads() && mode.writes()));
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
