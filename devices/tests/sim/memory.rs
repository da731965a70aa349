//! Heaps: access protection and contents.

use crate::driving::{Driven, Host, LONG, expect, in_child, one, region, set, start_at};
use std::{os::unix::process::ExitStatusExt, sync::mpsc::channel};
use superscalar_devices::sim::Spec;
use superscalar_runtime::{Cost, Device, DeviceError, DeviceMemory, Transfer};

const SIGSEGV: i32 = 11;

/// Returns an address within a kernel's window, after the kernel has ended.
fn leaked_address() -> (Driven, *mut u8) {
    let device = one(Spec::new("a"));
    let (sender, receiver) = channel();
    let kernel = device.kernel(0, &[], Cost::default(), move |heap| {
        let at = heap.address(8192, 64)?;
        // SAFETY: the window is open, and no other work uses the heap.
        unsafe { at.write(1) };
        sender.send(at.as_ptr() as usize).map_err(DeviceError::outcome)
    });
    device.ends_well(kernel.unwrap());
    let address = receiver.recv_timeout(LONG).unwrap();
    (device, address as *mut u8)
}

#[test]
fn host_code_that_reads_a_heap_dies() {
    let status = in_child("memory::host_code_that_reads_a_heap_dies", || {
        let (_device, at) = leaked_address();
        // SAFETY: none, on purpose: the mapping exists without access rights, so this ends the process.
        let byte = unsafe { at.read_volatile() };
        println!("{byte}");
    });
    assert!(status.is_none_or(|status| status.signal() == Some(SIGSEGV)), "{status:?}");
}

#[test]
fn host_code_that_writes_a_heap_dies() {
    let status = in_child("memory::host_code_that_writes_a_heap_dies", || {
        let (_device, at) = leaked_address();
        // SAFETY: none, on purpose: the mapping exists without access rights, so this ends the process.
        unsafe { at.write_volatile(1) };
    });
    assert!(status.is_none_or(|status| status.signal() == Some(SIGSEGV)), "{status:?}");
}

#[test]
fn kernel_outside_its_operands_dies() {
    let status = in_child("memory::kernel_outside_its_operands_dies", || {
        let device = one(Spec::new("a"));
        let kernel = device.kernel(0, &[], Cost::default(), |heap| {
            let at = heap.address(0, 4096)?;
            // SAFETY: none, on purpose: the address is mapped, but the kernel has not requested it.
            unsafe { at.add(1 << 20).write_volatile(1) };
            Ok(())
        });
        device.end(kernel.unwrap());
    });
    assert!(status.is_none_or(|status| status.signal() == Some(SIGSEGV)), "{status:?}");
}

#[test]
fn harmless_child_succeeds() {
    let status = in_child("memory::harmless_child_succeeds", || drop(leaked_address()));
    assert!(status.is_none_or(|status| status.success()), "{status:?}");
}

#[test]
fn window_keeps_shared_pages_open() {
    let device = one(Spec::new("a"));
    let ((started, has_started), (release, may_write)) = (channel(), channel());
    let kernel = device.kernel(0, &[], Cost::default(), move |heap| {
        let at = heap.address(0, 64)?;
        started.send(()).map_err(DeviceError::outcome)?;
        may_write.recv_timeout(LONG).map_err(DeviceError::outcome)?;
        // SAFETY: the range was opened above, and the copy uses the range next to it.
        unsafe { at.write_bytes(1, 64) };
        Ok(())
    });
    has_started.recv_timeout(LONG).unwrap();
    let mut host = Host::new((64, 1), 64, |_, _| 2);
    let copied = device.transfer(&Transfer::In { from: host.region(), to: region(64, (64, 1), 64) }, &[]);
    device.ends_well(copied.unwrap());
    release.send(()).unwrap();
    device.ends_well(kernel.unwrap());
    device.ends_well(device.kernel(0, &[], Cost::default(), expect(0, 64, 1)).unwrap());
    device.ends_well(device.kernel(0, &[], Cost::default(), expect(64, 64, 2)).unwrap());
}

#[test]
fn kernels_and_copies_share_a_page() {
    // The kernels write the first half of the page and the copies the second half, at the same time.
    let device = one(Spec::new("a"));
    let mut events = Vec::new();
    let mut hosts: Vec<_> = (0..200_u8).map(|value| Host::new((64, 1), 64, move |_, _| value)).collect();
    for (round, host) in hosts.iter_mut().enumerate() {
        let (offset, value) = (64 * (round % 32), round as u8);
        let transfer = Transfer::In { from: host.region(), to: region(2048 + offset, (64, 1), 64) };
        let copied = device.transfer(&transfer, &[]).unwrap();
        let written = device.kernel(0, &[], Cost::default(), set(offset, 64, value)).unwrap();
        let seen = device.kernel(0, &[], Cost::default(), expect(offset, 64, value)).unwrap();
        events.extend([copied, written, seen]);
    }
    events.into_iter().for_each(|event| drop(device.ends_well(event)));
    for round in 168..200_u8 {
        let offset = 2048 + 64 * (usize::from(round) % 32);
        device.ends_well(device.kernel(0, &[], Cost::default(), expect(offset, 64, round)).unwrap());
    }
}

#[test]
fn operands_are_checked() {
    let device = one(Spec { memory_bytes: 10_000, ..Spec::new("a") });
    for (offset, span, fits) in [
        (0, 10_000, true),
        (9_999, 1, true),
        (10_000, 0, true),
        (0, 10_001, false),
        (9_999, 2, false),
        (10_001, 0, false),
        (usize::MAX, 1, false),
        (1, usize::MAX, false),
    ] {
        let looked = device.kernel(0, &[], Cost::default(), move |heap| heap.address(offset, span).map(drop));
        let result = device.end(looked.unwrap()).result;
        assert_eq!(result.is_ok(), fits, "{offset} {span}");
        assert!(!device.is_lost());
    }
    assert_eq!(device.counters().kernels, 3);
}

#[test]
fn copies_need_a_reserved_heap() {
    let device = start_at(0, &[Spec::new("a")]).remove(0);
    let mut host = Host::new((64, 1), 64, |_, _| 1);
    let copy = Transfer::In { from: host.region(), to: region(0, (64, 1), 64) };
    assert!(device.transfer(&copy, &[]).is_err());
    let kernel = device.idle_kernel(0, &[]).unwrap();
    assert!(device.ends_badly(kernel).to_string().contains("not reserved"));
    device.reserve().unwrap();
    device.ends_well(device.transfer(&copy, &[]).unwrap());
    assert!(device.reserve().is_err_and(|error| error.to_string().contains("already")));
}

#[test]
fn heap_beyond_address_space_is_refused() {
    let device = start_at(0, &[Spec { memory_bytes: 1 << 60, ..Spec::new("a") }]).remove(0);
    let error = device.reserve().unwrap_err();
    assert!(error.to_string().contains("cannot be mapped") && !error.is_lost(), "{error}");
    assert_eq!(device.info().memory.map(|memory| memory.bytes), Some(1 << 60));
}
