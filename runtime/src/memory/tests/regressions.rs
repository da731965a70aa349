//! Programs that have found bugs, explored in every order of events or reduced from a random seed's steps.

use super::{
    explore,
    program::{
        Program,
        RunsOn::{Device, Host},
        device,
    },
};
use crate::hazard::Mode::{Read, ReadWrite, Write};

/// An unreported copy between devices, which nobody waits for any more, keeps the memory of the old shape.
#[test]
fn grown_datum_gets_larger_segment() {
    let program = Program::new(vec![device(Some(4), &[]), device(Some(4), &[0])], &[1])
        .task(Device(0), &[(0, Write)])
        .task(Device(1), &[(0, Read)])
        .task(Host, &[(0, ReadWrite)])
        .resized(3)
        .task(Device(1), &[(0, ReadWrite)]);
    explore(&program, "a datum that grows");
}

/// Pins end, and a task that found no room leaves none.
#[test]
fn operands_are_pinned_once() {
    let program = Program::new(vec![device(Some(2), &[])], &[1, 1, 1])
        .task(Device(0), &[(0, Write), (1, Read)])
        .task(Device(0), &[(2, ReadWrite), (1, Read)]);
    explore(&program, "pins");
}

/// A value without bytes is evicted without a copy, so no report follows after which the task would be tried again.
#[test]
fn empty_value_does_not_block_admission() {
    let program = Program::new(vec![device(Some(3), &[])], &[1, 0])
        .task(Device(0), &[(0, Read)])
        .task(Device(0), &[(1, Write)])
        .task(Device(0), &[(1, Write)])
        .scratch(2);
    explore(&program, "a value without bytes");
}

/// The end of a copy is reported after the datum was closed.
#[test]
fn entry_outlives_unreported_copies() {
    let program = Program::new(vec![device(Some(2), &[]), device(Some(2), &[0])], &[1])
        .task(Device(0), &[(0, Write)])
        .task(Device(1), &[(0, Read)]);
    explore(&program, "late reports");
}

/// The task fails because an eviction has failed, while another copy into the same host memory is in progress.
#[test]
fn failing_host_task_waits_for_copies() {
    let program = Program::new(vec![device(Some(2), &[])], &[2, 1])
        .task(Device(0), &[(0, Write)])
        .task(Device(0), &[(1, Read)])
        .faults(1, 0);
    explore(&program, "a host task that fails");
}

/// A copy goes through host memory, and its first half fails: the source keeps the value.
#[test]
fn failed_copy_invalidates_its_followers() {
    let program = Program::new(vec![device(Some(1), &[]), device(Some(1), &[])], &[1, 1])
        .task(Device(0), &[(0, Write)])
        .task(Device(1), &[(0, Read)])
        .task(Device(0), &[(1, Read)])
        .task(Host, &[(0, Read)])
        .faults(1, 0);
    explore(&program, "a chain of copies that breaks");
}

/// A device that works in host memory is lost before a copy for its task has ended: the next writer waits for the copy.
#[test]
fn lost_task_keeps_its_awaited_copy() {
    let program = Program::new(vec![device(None, &[]), device(Some(1), &[])], &[1])
        .task(Device(1), &[(0, Write)])
        .task(Device(0), &[(0, ReadWrite)])
        .task(Host, &[(0, Write)])
        .faults(0, 1);
    explore(&program, "a lost device in host memory");
}

/// Evictions from a device whose copies always fail are not repeated forever.
#[test]
fn failing_evictions_fail_the_waiting_task() {
    let program = Program::new(vec![device(Some(1), &[])], &[1, 1])
        .task(Device(0), &[(0, Write)])
        .task(Device(0), &[(1, Read)])
        .mute(0);
    explore(&program, "a mute device");
}

/// Like the last test, with a task that waits for a copy which its device cannot wait for.
#[test]
fn failing_copies_fail_the_waiting_task() {
    let program = Program::new(vec![device(Some(1), &[]), device(Some(1), &[])], &[1])
        .task(Device(0), &[(0, Write)])
        .task(Device(1), &[(0, Read)])
        .without_waits()
        .mute(0);
    explore(&program, "a mute device and a deaf one");
}
