//! Programs that have found something, each explored wholly, or with the seed's steps.

use super::{
    explore,
    program::{
        Place::{Device, Host},
        Program, device,
    },
};
use crate::hazard::Mode::{Read, ReadWrite, Write};

/// A copy between devices that nobody waits for any more, and that is not reported, keeps the place of an old shape.
#[test]
fn a_datum_that_has_grown_gets_a_larger_place() {
    let program = Program::new(vec![device(Some(4), &[]), device(Some(4), &[0])], &[1])
        .task(Device(0), &[(0, Write)])
        .task(Device(1), &[(0, Read)])
        .task(Host, &[(0, ReadWrite)])
        .resized(3)
        .task(Device(1), &[(0, ReadWrite)]);
    explore(&program, "a datum that grows");
}

/// Pins end, and a task that was refused for want of room leaves none.
#[test]
fn operands_are_pinned_once() {
    let program = Program::new(vec![device(Some(2), &[])], &[1, 1, 1])
        .task(Device(0), &[(0, Write), (1, Read)])
        .task(Device(0), &[(2, ReadWrite), (1, Read)]);
    explore(&program, "pins");
}

/// Going home takes a value without bytes no copy, so nothing is reported after which the task would be tried again.
#[test]
fn a_value_without_bytes_does_not_hold_up_a_task() {
    let program = Program::new(vec![device(Some(3), &[])], &[1, 0])
        .task(Device(0), &[(0, Read)])
        .task(Device(0), &[(1, Write)])
        .task(Device(0), &[(1, Write)])
        .scratch(2);
    explore(&program, "a value without bytes");
}

/// Copies whose end is reported after the datum's.
#[test]
fn an_entry_outlives_its_datum_while_copies_are_not_reported() {
    let program = Program::new(vec![device(Some(2), &[]), device(Some(2), &[0])], &[1])
        .task(Device(0), &[(0, Write)])
        .task(Device(1), &[(0, Read)]);
    explore(&program, "late reports");
}

/// It fails because an eviction has failed, while another is under way into the same host memory.
#[test]
fn a_host_task_that_fails_waits_for_copies() {
    let program = Program::new(vec![device(Some(2), &[])], &[2, 1])
        .task(Device(0), &[(0, Write)])
        .task(Device(0), &[(1, Read)])
        .faults(1, 0);
    explore(&program, "a host task that fails");
}

/// Host memory was to receive the value and passed it on, but did not get it: who has it keeps it.
#[test]
fn a_failed_copy_takes_with_it_what_was_copied_from_its_target() {
    let program = Program::new(vec![device(Some(1), &[]), device(Some(1), &[])], &[1, 1])
        .task(Device(0), &[(0, Write)])
        .task(Device(1), &[(0, Read)])
        .task(Device(0), &[(1, Read)])
        .task(Host, &[(0, Read)])
        .faults(1, 0);
    explore(&program, "a chain of copies that breaks");
}

/// A device that works in host memory is lost while a copy for its task is still to come: whoever writes there next waits for it.
#[test]
fn a_lost_task_does_not_hide_the_copy_that_it_waited_for() {
    let program = Program::new(vec![device(None, &[]), device(Some(1), &[])], &[1])
        .task(Device(1), &[(0, Write)])
        .task(Device(0), &[(0, ReadWrite)])
        .task(Host, &[(0, Write)])
        .faults(0, 1);
    explore(&program, "a lost device in host memory");
}

/// A device from which nothing can be copied any more does not try for ever to make room.
#[test]
fn evictions_that_always_fail_fail_whoever_needs_the_room() {
    let program = Program::new(vec![device(Some(1), &[])], &[1, 1])
        .task(Device(0), &[(0, Write)])
        .task(Device(0), &[(1, Read)])
        .mute(0);
    explore(&program, "a mute device");
}

/// The same where the task waits for a copy that its device can not wait for.
#[test]
fn a_copy_that_always_fails_fails_the_task_that_waits_for_it() {
    let program = Program::new(vec![device(Some(1), &[]), device(Some(1), &[])], &[1])
        .task(Device(0), &[(0, Write)])
        .task(Device(1), &[(0, Read)])
        .without_waits()
        .mute(0);
    explore(&program, "a mute device and a deaf one");
}
