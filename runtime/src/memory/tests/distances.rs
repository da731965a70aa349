//! The distances of values while copies are in progress and afterwards.

use super::program::{device, host_region};
use crate::{
    device::{DeviceError, Event, Transfer},
    hazard::Mode,
    memory::{Admitted, Demand, Directory, EntryUse, directory::Copier, distance::Distance, entry::Node},
};

/// Every device can wait for every other; copies run one after the other.
#[derive(Default)]
struct Queue(u64);

impl Copier for Queue {
    fn copy(&mut self, device: u16, _: &Transfer, _: &[Event]) -> Result<Event, DeviceError> {
        self.0 += 1;
        Ok(Event { device, queue: ARRIVALS, ticket: self.0 })
    }

    fn can_wait_for(&self, _: u16, _: u16) -> bool {
        true
    }
}

/// The queue for copies from the host, which follows the one for tasks.
const ARRIVALS: u16 = 1;

fn issue(directory: &mut Directory, queue: &mut Queue, uses: &[EntryUse], event: Event) {
    let demand = Demand { device: 0, uses, scratch_bytes: 0 };
    assert!(directory.admit(queue, demand, &mut Admitted::default()).expect("the task fits"));
    directory.issued(demand, event);
}

#[test]
fn updated_value_keeps_the_copys_distance() {
    let (mut directory, mut queue, node) = (Directory::new(&[device(Some(8), &[])]), Queue::default(), Node(1));
    let entry = directory.open(host_region(0, 2));
    let uses = [EntryUse { entry, mode: Mode::ReadWrite }];
    let far = directory.distance(Some(entry), None, node);
    assert!(far.from_host && far.ns > 0.0 && far.missing_bytes > 0 && far.locality == 0, "{far:?}");
    assert_eq!(directory.distance(None, Some(host_region(0, 2)), node), far);
    assert!(directory.has_room(0, far.missing_bytes));
    for ticket in 1..=2 {
        issue(&mut directory, &mut queue, &uses, Event { device: 0, queue: 0, ticket });
        let coming = directory.distance(Some(entry), None, node);
        assert_eq!(coming, Distance { ns: 0.0, locality: 2, from_host: true, missing_bytes: 0 });
    }
    directory.copy_ended(Event { device: 0, queue: ARRIVALS, ticket: 1 }, Ok(None));
    let there = directory.distance(Some(entry), None, node);
    assert_eq!(there, Distance { locality: 2, ..Distance::default() });
    assert!(!directory.has_room(0, 8 * far.missing_bytes));
}
