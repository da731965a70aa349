//! Tests of internal behaviour, on the system's first device. Without a device they print that they are skipped and
//! pass; with `REQUIRE_OPENCL=1` they fail.

use super::{
    OpenclDevice, OpenclQueue, Settings, Source, cache_in, devices, named,
    object::{self, Kernel},
    program::{Programs, Target, binary, key},
};
use ocl::ffi;
use std::{
    any::Any,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};
use superscalar_runtime::{Device, DeviceError, DeviceMemory};

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

const COUNT: &str = "__kernel void count(__global int *heap) { heap[0] += 1; }";

/// Launches a kernel that adds one to the first number of the heap. The driver refuses groups that are too large.
fn count(queue: &mut OpenclQueue, group: usize) -> Result<(), DeviceError> {
    // SAFETY: no other work uses the first number of the heap.
    unsafe { queue.launch(&Source::new(COUNT, ""), "count", &[super::Arg::Heap], &[group], Some(&[group])) }
}

/// A group that is too large for every device.
const LARGE: usize = 1 << 30;

/// Puts a command that the driver refuses.
fn refused(queue: &mut OpenclQueue) -> Result<(), DeviceError> {
    queue.put("refused", |_, _, _, _| ffi::CL_OUT_OF_RESOURCES)
}

type Implementation<'a> = &'a dyn Fn(&mut OpenclQueue) -> Result<(), DeviceError>;

/// Issues a task. Returns the error of the call, or the result that is reported.
fn run(
    device: &OpenclDevice,
    is_timed: bool,
    task: Implementation<'_>,
) -> Result<Result<(), DeviceError>, DeviceError> {
    let mut issue = |queue: &mut dyn Any| task(queue.downcast_mut().expect("an OpenCL queue"));
    let ticket = if is_timed { device.issue(0, &[], &mut issue)? } else { device.issue_untimed(0, &[], &mut issue)? };
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut result = None;
    while result.is_none() {
        assert!(Instant::now() < deadline, "the task does not end");
        device.poll(&mut |finished| {
            assert_eq!(finished.ticket, ticket);
            result = Some(finished.result);
        });
        device.wait(Duration::from_millis(10));
    }
    Ok(result.expect("it is reported"))
}

/// Sets the first number of the heap to zero, and returns what it was.
fn take_count(device: &OpenclDevice) -> i32 {
    let mut number = 0i32;
    let heap = device.state.heap().expect("a heap");
    device.lanes[0]
        .run_now(|queue| {
            queue.put("clEnqueueReadBuffer", |queue, count, waits, event| {
                let place = (&raw mut number).cast();
                // SAFETY: queue, buffer and events exist, and `run_now` waits until the number is written.
                unsafe { ffi::clEnqueueReadBuffer(queue, heap.raw(), 1, 0, 4, place, count, waits, event) }
            })?;
            queue.fill(heap, 0..4)
        })
        .expect("it is read");
    number
}

#[test]
fn task_ends_once_with_the_error_of_any_of_its_commands() {
    let Some(device) = open() else { return };
    take_count(&device);
    for is_timed in [false, true] {
        // A failure behind launches: they run, and the task ends with the error.
        let partly: [(i32, Implementation<'_>); 6] = [
            (1, &|queue| count(queue, 1).and_then(|()| refused(queue))),
            (3, &|queue| (0..3).try_for_each(|_| count(queue, 1)).and_then(|()| refused(queue))),
            // A launch that is refused when the next one is made, and when the task ends.
            (1, &|queue| [1, LARGE, 1].into_iter().try_for_each(|group| count(queue, group))),
            (2, &|queue| [1, 1, LARGE].into_iter().try_for_each(|group| count(queue, group))),
            // Errors that the implementation ignores.
            (2, &|queue| [1, LARGE, 1, 1].into_iter().try_for_each(|group| count(queue, group).or(Ok(())))),
            // The last launch is not put into the queue after an error.
            (1, &|queue| (0..2).try_for_each(|_| count(queue, 1)).and(Err(DeviceError::new("no more")))),
        ];
        for (at, (ran, task)) in partly.into_iter().enumerate() {
            let result = run(&device, is_timed, task).expect("a part of it is in the queue");
            let error = result.expect_err("the rest is not");
            assert!(!error.is_lost(), "task {at}: {error}");
            assert_eq!(take_count(&device), ran, "task {at}");
        }
        // Nothing is in the queue.
        let nothing: [Implementation<'_>; 3] =
            [&|queue| count(queue, LARGE), &|queue| count(queue, 1).and(Err(DeviceError::new("no more"))), &|queue| {
                count(queue, LARGE).and_then(|()| count(queue, 1))
            }];
        for task in nothing {
            run(&device, is_timed, task).expect_err("none of it runs");
            assert_eq!(take_count(&device), 0);
        }
        run(&device, is_timed, &|queue| count(queue, 1)).expect("a task").expect("it ends well");
        assert_eq!(take_count(&device), 1);
    }
}

#[test]
fn task_whose_end_cannot_be_marked_is_reported() {
    let Some(device) = open() else { return };
    take_count(&device);
    for is_timed in [false, true] {
        let result = run(&device, is_timed, &|queue| {
            (0..3).try_for_each(|_| count(queue, 1))?;
            let error = refused(queue);
            // The driver refuses a marker that waits for it.
            queue.waits.push(Arc::new(object::Event::invalid()));
            error
        });
        let error = result.expect("a part of it is in the queue").expect_err("the rest is not");
        assert!(error.to_string().contains("refused") && !error.is_lost(), "{error}");
        assert_eq!((take_count(&device), device.state.context.events()), (3, 0));
        run(&device, is_timed, &|queue| count(queue, 1)).expect("a task").expect("it ends well");
        assert_eq!(take_count(&device), 1);
    }
}

#[test]
fn queue_with_a_held_launch_is_closed() {
    let Some(device) = open() else { return };
    let mut panicking = |queue: &mut dyn Any| -> Result<(), DeviceError> {
        let queue: &mut OpenclQueue = queue.downcast_mut().expect("an OpenCL queue");
        count(queue, 1)?;
        panic!("an implementation panics");
    };
    take_count(&device);
    let issue = std::panic::AssertUnwindSafe(|| device.issue(0, &[], &mut panicking));
    std::panic::catch_unwind(issue).expect_err("it panics");
    run(&device, true, &|_| Ok(())).expect("a task").expect("it ends well");
    assert_eq!(take_count(&device), 0, "a launch that is held is not put into the queue by the next task");
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| device.issue(0, &[], &mut panicking)))
        .expect_err("it panics");
    drop(device);
}

#[test]
fn lost_device_refuses_all_calls() {
    let Some(device) = open() else { return };
    let issue =
        |error: fn() -> DeviceError| device.issue(0, &[], &mut |_: &mut dyn Any| Err(error())).expect_err("an error");
    assert!(!issue(|| DeviceError::new("a trifle")).is_lost());
    device.issue(0, &[], &mut |_: &mut dyn Any| Ok(())).expect("still there");
    let error = issue(|| super::failure::abnormal_end(-5));
    assert!(error.is_lost() && error.to_string().contains("CL_OUT_OF_RESOURCES"), "{error}");
    let again = device.issue(1, &[], &mut |_: &mut dyn Any| Ok(())).expect_err("it is lost");
    assert_eq!(again.to_string(), error.to_string());
    assert!(device.reserve().expect_err("it is lost").is_lost());
}
