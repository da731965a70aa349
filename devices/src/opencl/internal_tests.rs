//! Tests of internal behaviour, on the system's first device. Without a device they print that they are skipped and
//! pass; with `REQUIRE_OPENCL=1` they fail.

use super::{
    OpenclDevice, OpenclQueue, Settings, Source, cache_in, devices, named,
    object::Kernel,
    program::{Programs, Target, binary, key},
};
use ocl::ffi;
use std::{
    any::Any,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};
use superscalar_runtime::{Device, DeviceMemory};

fn open() -> Option<Arc<OpenclDevice>> {
    let found = devices().expect("drivers answer");
    if found.is_empty() {
        let is_required = std::env::var_os("REQUIRE_OPENCL").is_some_and(|value| value == "1");
        assert!(!is_required, "REQUIRE_OPENCL=1, but there is no OpenCL device");
        eprintln!("SKIPPED: there is no OpenCL device");
        return None;
    }
    let settings = Settings { memory_bytes: Some(1 << 16), cache: None, ..Settings::new(0) };
    let opened = OpenclDevice::open(&[(named("opencl:0", &found).expect("the first"), settings)]);
    let device = opened.expect("it opens").remove(0);
    device.reserve().expect("a heap");
    Some(device)
}

fn target(device: &OpenclDevice) -> Target<'_> {
    let found = &device.state.found;
    let (context, class) = (&device.state.context.context, found.class());
    Target { context, device: found.raw(), whole: found.whole(), class }
}

fn has_kernel(programs: &Programs, target: Target<'_>, source: &Source, name: &std::ffi::CStr) -> bool {
    let program = programs.get(target, source).expect("it compiles");
    let mut code = 0;
    // SAFETY: the program exists, and the name ends with a zero byte.
    unsafe {
        let raw = ffi::clCreateKernel(program.raw(), name.as_ptr(), &raw mut code);
        Kernel::made(raw, code, "clCreateKernel").is_ok()
    }
}

/// A directory for one test, removed at its end.
struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn refused_cached_program_is_compiled_again() {
    let Some(device) = open() else { return };
    let target = target(&device);
    let directory = Directory(std::env::temp_dir().join(format!("superscalar-opencl-inside-{}", std::process::id())));
    let cache = || cache_in(Some(directory.0.clone()));
    let first = Source::new("__kernel void first(__global int *heap) { heap[0] = 1; }", "");
    let second = Source::new("__kernel void second(__global int *heap) { heap[0] = 2; }", "");

    // Store the second program's binary under the first one's key: a lookup of the first returns the second.
    let compiled = Programs::new(cache_in(None)).get(target, &second).expect("it compiles");
    let bytes = binary(target, &compiled).expect("it has a compiled form");
    cache().put(&key(target.class, &first), &bytes);
    let programs = Programs::new(cache());
    assert!(has_kernel(&programs, target, &first, c"second"));
    assert!(!has_kernel(&programs, target, &first, c"first"));

    // An intact file whose content is not a valid binary.
    cache().put(&key(target.class, &first), b"no program at all");
    let programs = Programs::new(cache());
    assert!(has_kernel(&programs, target, &first, c"first"));
    let kept = cache().get(&key(target.class, &first)).expect("it was replaced");
    assert_ne!(kept, b"no program at all");
}

#[test]
fn reported_events_are_removed() {
    let Some(device) = open() else { return };
    let source = Source::new("__kernel void set(__global int *heap) { heap[0] = 1; }", "");
    let mut issue = |queue: &mut dyn Any| {
        let queue: &mut OpenclQueue = queue.downcast_mut().expect("an OpenCL queue");
        // SAFETY: the kernel writes the first bytes of the heap, which no other work uses.
        unsafe { queue.launch(&source, "set", &[super::Arg::Heap], &[1], None) }
    };
    for round in 0..20u16 {
        device.issue(round % 2, &[], &mut issue).expect("a task");
    }
    assert!(device.state.context.events() > 0);
    let (mut reported, deadline) = (0, Instant::now() + Duration::from_secs(60));
    while reported < 20 {
        assert!(Instant::now() < deadline, "only {reported} are reported");
        device.poll(&mut |finished| {
            finished.result.expect("it ends well");
            reported += 1;
        });
        device.wait(Duration::from_millis(10));
    }
    assert_eq!(device.state.context.events(), 0);
}

#[test]
fn lost_device_refuses_all_calls() {
    let Some(device) = open() else { return };
    let issue = |error: fn() -> superscalar_runtime::DeviceError| {
        device.issue(0, &[], &mut |_: &mut dyn Any| Err(error())).expect_err("an error")
    };
    assert!(!issue(|| superscalar_runtime::DeviceError::new("a trifle")).is_lost());
    device.issue(0, &[], &mut |_: &mut dyn Any| Ok(())).expect("still there");
    let error = issue(|| super::failure::abnormal_end(-5));
    assert!(error.is_lost() && error.to_string().contains("CL_OUT_OF_RESOURCES"), "{error}");
    let again = device.issue(1, &[], &mut |_: &mut dyn Any| Ok(())).expect_err("it is lost");
    assert_eq!(again.to_string(), error.to_string());
    assert!(device.reserve().expect_err("it is lost").is_lost());
}
