//! A hash of a state, so that orders of events with equal states are explored once.

use super::{drivers::OperationState, world::World};
use crate::{device::Event, memory::entry::Node};
use std::hash::{DefaultHasher, Hash, Hasher};

impl World<'_> {
    /// Returns a hash of everything that determines the future. Different states have different hashes, up to a
    /// collision of 64 bits.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash_tasks(&mut hasher);
        self.hash_drivers(&mut hasher);
        self.hash_directory(&mut hasher);
        hasher.finish()
    }

    fn hash_tasks(&self, hasher: &mut DefaultHasher) {
        for run in &self.runs {
            (&run.stage, run.event, run.failure.is_some(), run.holds, run.fetching).hash(hasher);
            run.scratch.as_ref().map(|one| (one.offset(), one.bytes())).hash(hasher);
        }
        for datum in &self.data {
            (datum.entry, datum.host.base, datum.host.columns, datum.is_poisoned, datum.is_closed).hash(hasher);
        }
        for issuer in &self.issuers {
            // It consists of numbers and of vectors of events.
            format!("{issuer:?}").hash(hasher);
        }
        self.losses_left.hash(hasher);
    }

    fn hash_drivers(&self, hasher: &mut DefaultHasher) {
        let drivers = &self.drivers;
        for queue in drivers.queues.iter().flatten() {
            (queue.ended, queue.reported).hash(hasher);
            for &at in &queue.operations {
                let operation = &drivers.operations[at];
                operation.state.hash(hasher);
                if operation.state == OperationState::Queued {
                    operation.work.hash(hasher);
                    let waits: Vec<Event> =
                        operation.waits.iter().map(|&wait| drivers.operations[wait].event).collect();
                    waits.hash(hasher);
                }
            }
        }
        (&drivers.heaps, &drivers.host_data, &drivers.is_lost, drivers.failures_left, &drivers.misled).hash(hasher);
    }

    fn hash_directory(&self, hasher: &mut DefaultHasher) {
        for id in self.entries() {
            let entry = self.directory.entry(id);
            (id, entry.host.base, entry.host.columns, entry.is_closed).hash(hasher);
            for (at, replica) in entry.replicas.iter().enumerate() {
                (entry.is_valid(Node(at as u16)), replica.pins, replica.written, &replica.readers[..]).hash(hasher);
                replica.segment.as_ref().map(|one| (one.offset(), one.bytes())).hash(hasher);
            }
        }
        for store in &self.directory.stores {
            store.lru.iter().for_each(|id| id.hash(hasher));
            (store.pins, store.evicting_bytes, store.is_lost, store.eviction_error.is_some()).hash(hasher);
        }
        // In the order of their events, because the map is unordered.
        for queue in self.drivers.queues.iter().flatten() {
            for &at in &queue.operations[queue.reported..] {
                let copy = self.directory.pending_copies.get(&self.drivers.operations[at].event);
                copy.map(|copy| (copy.entry, copy.from, copy.to, &copy.waiting)).hash(hasher);
            }
        }
    }
}
