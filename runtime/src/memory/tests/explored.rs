//! Small programs, each explored in every order of events.

use super::{
    explore,
    program::{
        Program,
        RunsOn::{Device, Host},
        device,
    },
};
use crate::hazard::Mode::{Read, ReadWrite, Write};

/// Two devices exchange two data, and the host reads them at the end.
fn to_and_fro(peers: bool, units: usize) -> Program {
    let (first, second): (&[u16], &[u16]) = if peers { (&[1], &[0]) } else { (&[], &[]) };
    Program::new(vec![device(Some(units), first), device(Some(units), second)], &[1, 1])
        .task(Device(0), &[(0, Write)])
        .task(Device(1), &[(0, Read), (1, ReadWrite)])
        .task(Device(0), &[(0, ReadWrite), (1, Read)])
}

/// Concurrent readers on two devices and the host.
fn readers(peers: &[u16]) -> Program {
    Program::new(vec![device(Some(1), &[]), device(Some(1), peers)], &[1])
        .task(Device(0), &[(0, Write)])
        .task(Device(1), &[(0, Read)])
        .task(Host, &[(0, Read)])
        .task(Device(0), &[(0, ReadWrite)])
}

/// More data than a heap holds, of different sizes, and scratch.
fn crowd() -> Program {
    Program::new(vec![device(Some(4), &[])], &[1, 2, 1])
        .task(Device(0), &[(0, Write), (1, ReadWrite)])
        .task(Device(0), &[(2, ReadWrite)])
        .scratch(2)
        .task(Device(0), &[(0, Read), (1, Read), (2, Read)])
}

/// Explores a program, and fails if it has fewer than `states_min` states.
fn all_of(program: &Program, name: &str, states_min: usize) {
    let states = explore(program, name);
    assert!(states >= states_min, "{name}: {states} states");
}

#[test]
fn two_devices_with_all_links() {
    for (peers, units) in [(false, 2), (false, 3), (true, 2)] {
        all_of(&to_and_fro(peers, units), "to and fro", 300);
        all_of(&to_and_fro(peers, units).without_waits(), "to and fro without waits", 100);
        all_of(&to_and_fro(peers, units).split(), "to and fro, with pauses", 300);
    }
}

#[test]
fn readers_everywhere() {
    all_of(&readers(&[]), "readers", 100);
    all_of(&readers(&[0]), "readers with a link", 100);
    all_of(&readers(&[0]).split().without_waits(), "readers without waits", 100);
}

#[test]
fn more_data_than_room() {
    all_of(&crowd(), "a crowd", 100);
}

#[test]
fn one_fault_anywhere() {
    all_of(&readers(&[]).faults(1, 0), "readers and a failure", 1000);
    all_of(&readers(&[0]).faults(0, 1), "readers and a loss", 1000);
    all_of(&crowd().faults(1, 0), "a crowd and a failure", 1000);
    all_of(&crowd().faults(0, 1), "a crowd and a loss", 1000);
}

#[test]
fn a_device_in_host_memory() {
    let program = Program::new(vec![device(None, &[]), device(Some(2), &[])], &[1, 1])
        .task(Device(0), &[(0, Write), (1, Read)])
        .task(Device(1), &[(0, ReadWrite), (1, Read)])
        .task(Device(0), &[(0, Read), (1, ReadWrite)]);
    all_of(&program, "a device in host memory", 100);
    all_of(&program.clone().without_waits(), "a device in host memory, without waits", 50);
    all_of(&program.faults(0, 1), "a device in host memory and a loss", 500);
}

/// An eviction must not write host memory between the admission and the issue of a task that works there.
#[test]
fn evictions_spare_admitted_tasks_in_host_memory() {
    let program = Program::new(vec![device(None, &[]), device(Some(2), &[])], &[1, 2])
        .task(Device(1), &[(0, ReadWrite)])
        .task(Device(0), &[(0, Write)])
        .task(Device(1), &[(1, Read)])
        .split();
    all_of(&program, "evictions while a task is admitted", 50);
    all_of(&program.without_waits(), "evictions while a task is admitted, without waits", 50);
}

/// Devices read a datum of two columns, whose copies are planned: each forwards them to the next.
fn forwarded(devices: u16, route: &[u16]) -> Program {
    let peers = |at: u16| (0..devices).filter(|&other| other != at).collect::<Vec<u16>>();
    let all = (0..devices).map(|at| device(Some(2), &peers(at))).collect();
    let program = Program::new(all, &[2]).route(0, route);
    (0..usize::from(devices)).fold(program, |program, at| program.task(Device(at), &[(0, Read)]))
}

#[test]
fn forwarded_values() {
    all_of(&forwarded(3, &[0, 1, 2, 3]), "forwarded", 1000);
    all_of(&forwarded(2, &[0, 2, 1]).split(), "forwarded, with pauses", 200);
    all_of(&forwarded(2, &[2, 1]), "a route from elsewhere", 100);
    all_of(&forwarded(2, &[0, 2, 1]).without_waits(), "forwarded without waits", 100);
    all_of(&forwarded(2, &[0, 2, 1]).faults(1, 0), "forwarded, with a failure", 1000);
    all_of(&forwarded(2, &[0, 2, 1]).faults(0, 1), "forwarded, with a loss", 1000);
}
