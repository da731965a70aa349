//! The order of work.

use crate::driving::{Driven, Host, LONG, expect, region, set, start, start_at};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use superscalar_devices::sim::Spec;
use superscalar_runtime::{Cost, Device, DeviceMemory, Event, LinkInfo, Transfer};

fn specs(count: usize) -> Vec<Spec> {
    (0..count).map(|place| Spec { queues: 3, ..Spec::new(format!("d{place}")) }).collect()
}

#[test]
fn tickets_start_at_one_in_order() {
    let device = start(&specs(1)).remove(0);
    for expected in 1..=50 {
        for queue in 0..3 {
            assert_eq!(device.idle_kernel(queue, &[]).unwrap().ticket, expected);
        }
    }
    device.drained();
    for queue in 0..3 {
        let reports = device.reports();
        let tickets = reports.iter().filter(|report| report.queue == queue).map(|report| report.ticket);
        assert_eq!(tickets.collect::<Vec<_>>(), (1..=50).collect::<Vec<_>>());
    }
}

#[test]
fn gate_holds_waiting_work() {
    let devices = start(&specs(2));
    devices[0].gate(true);
    let first = devices[0].idle_kernel(0, &[]).unwrap();
    let second = devices[1].idle_kernel(2, &[first]).unwrap();
    let third = devices[0].idle_kernel(1, &[second]).unwrap();
    assert!(devices[0].await_issued(2, LONG));
    std::thread::sleep(Duration::from_millis(20));
    assert!(devices.iter().all(|device| device.counters().ended == 0));
    devices[0].gate(false);
    devices[0].ends_well(third);
    assert_eq!(devices[1].counters().events, 1);
}

#[test]
fn events_order_copies_across_devices() {
    // Everything is in the queues before anything can run.
    let mut specs = specs(3);
    let link = LinkInfo { bytes_per_s: 0.0, latency_ns: 0 };
    specs[1].peers = vec![(0, link)];
    specs[2].peers = vec![(1, link)];
    let devices = start(&specs);
    devices.iter().for_each(|device| device.gate(true));
    let shape = (100, 3);
    let (mut from, mut to) = (Host::new(shape, 100, |_, _| 1), Host::new(shape, 100, |_, _| 0));
    let at = region(64, shape, 128);
    let mut last = devices[0].transfer(&Transfer::In { from: from.region(), to: at }, &[]).unwrap();
    for (index, device) in devices.iter().enumerate() {
        if index > 0 {
            let copy = Transfer::Peer { device: index as u16 - 1, from: at, to: at };
            last = device.transfer(&copy, &[last]).unwrap();
        }
        let (before, after) = (index as u8 + 1, index as u8 + 2);
        last = device.kernel(0, &[last], Cost::default(), expect(64, 100, before)).unwrap();
        // The kernel may write the gaps between columns, too: they belong to the region.
        last = device.kernel(1, &[last], Cost::default(), set(64, 3 * 128, after)).unwrap();
    }
    last = devices[2].transfer(&Transfer::Out { from: at, to: to.region() }, &[last]).unwrap();
    devices.iter().rev().for_each(|device| device.gate(false));
    devices[2].ends_well(last);
    devices.iter().for_each(Driven::drained);
    assert!(devices.iter().all(|device| device.counters().failed == 0));
    assert!(to.holds_only(4));
}

/// A pseudo-random number generator (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}

#[test]
fn random_programs_obey_events() {
    for seed in 1..=60 {
        let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed));
        let devices = start(&specs(1 + numbers.below(3)));
        let log = Arc::new(Mutex::new(Vec::new()));
        let mut program: Vec<(Event, Vec<usize>)> = Vec::new();
        for number in 0..80 {
            let (device, queue) = (&devices[numbers.below(devices.len())], numbers.below(3) as u16);
            let mut predecessors: Vec<usize> =
                (0..numbers.below(4)).filter(|_| number > 0).map(|_| numbers.below(number.max(1))).collect();
            let waits: Vec<Event> = predecessors.iter().map(|&at| program[at].0).collect();
            let log = log.clone();
            let event = device.kernel(queue, &waits, Cost::default(), move |_| {
                log.lock().unwrap().push(number);
                Ok(())
            });
            let event = event.unwrap();
            // The work before it in its queue is a predecessor, too.
            let same = |other: &Event| (other.device, other.queue) == (event.device, event.queue);
            predecessors.extend(program.iter().rposition(|(other, _)| same(other)));
            program.push((event, predecessors));
        }
        devices.iter().for_each(Driven::drained);
        let log = log.lock().unwrap();
        let place = |number: usize| log.iter().position(|&at| at == number).expect("each has run");
        for (number, (_, predecessors)) in program.iter().enumerate() {
            let is_after = predecessors.iter().all(|&before| place(before) < place(number));
            assert!(is_after, "seed {seed}: {number} waits for {predecessors:?}: {log:?}");
        }
    }
}

#[test]
fn machine_behind_other_devices() {
    let mut specs = specs(2);
    specs[1].peers = vec![(0, LinkInfo { bytes_per_s: 0.0, latency_ns: 0 })];
    let devices = start_at(5, &specs);
    devices.iter().for_each(|device| device.reserve().unwrap());
    assert_eq!(devices[1].info().memory.unwrap().peers[0].0, 5);
    let known: Vec<u16> = (0..10).filter(|&index| devices[0].can_wait_for(index)).collect();
    assert_eq!(known, [5, 6]);
    let at = region(0, (64, 1), 64);
    let set = devices[0].kernel(2, &[], Cost::default(), set(0, 64, 9)).unwrap();
    let copied = devices[1].transfer(&Transfer::Peer { device: 5, from: at, to: at }, &[set]).unwrap();
    let seen = devices[1].kernel(0, &[copied], Cost::default(), expect(0, 64, 9)).unwrap();
    devices[1].ends_well(seen);
    assert_eq!(devices[1].counters().copies_peer[0].0, 5);
    let foreign = Event { device: 0, queue: 0, ticket: 1 };
    assert!(devices[1].idle_kernel(0, &[foreign]).is_err());
}

#[test]
fn unknown_events_are_refused() {
    let devices = start(&specs(2));
    devices[0].gate(true);
    devices[0].idle_kernel(1, &[]).unwrap();
    let mut host = Host::new((64, 1), 64, |_, _| 0);
    let copy = Transfer::In { from: host.region(), to: region(0, (64, 1), 64) };
    for (device, queue, ticket) in [(0, 1, 2), (0, 1, 0), (0, 0, 1), (0, 6, 1), (2, 0, 1), (u16::MAX, 0, 1)] {
        let wait = [Event { device, queue, ticket }];
        assert!(devices[1].idle_kernel(0, &wait).is_err(), "{wait:?}");
        assert!(devices[1].transfer(&copy, &wait).is_err(), "{wait:?}");
    }
    assert!(devices[1].idle_kernel(3, &[]).is_err(), "the queues behind those for tasks are for copies");
    let good = devices[1].idle_kernel(0, &[Event { device: 0, queue: 1, ticket: 1 }]).unwrap();
    devices[0].gate(false);
    devices[1].ends_well(good);
    assert_eq!(devices[1].counters().refused, 13);
}

#[test]
fn kernels_of_a_task_run_in_order() {
    let device = start(&specs(1)).remove(0);
    let ticket = device.device.issue(0, &[], &mut |queue| {
        let queue = queue.downcast_mut::<superscalar_devices::sim::SimQueue>().unwrap();
        queue.launch(Cost::default(), set(0, 64, 1))?;
        queue.launch(Cost::default(), expect(0, 64, 1))?;
        queue.launch(Cost::default(), set(0, 64, 2))
    });
    device.ends_well(device.event(0, ticket.unwrap()));
    let seen = device.kernel(1, &[], Cost::default(), expect(0, 64, 2)).unwrap();
    device.ends_well(seen);
    assert_eq!((device.counters().kernels, device.counters().issued), (4, 2));
    // A task may have no kernels, for example for an empty matrix.
    let ticket = device.device.issue(0, &[], &mut |_| Ok(())).unwrap();
    device.ends_well(device.event(0, ticket));
}
