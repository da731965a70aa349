//! [`OpenclQueue`]: where implementations of codelets put their kernels.

use super::{
    class::DeviceClass,
    concurrency::ConcurrencyClaim,
    context::{Heap, SharedContext},
    discovery::DiscoveredDevice,
    failure::check,
    object::{Event, Kernel, Queue},
    program::{Programs, Target},
    queued_work::{OutcomeCheck, QueuedWork, ReadBack},
    source::Source,
};
use crate::{clock::Clock, signal::Signal};
use bytemuck::Pod;
use ocl::ffi::{self, cl_int};
use std::{
    collections::HashMap,
    ffi::{CString, c_void},
    ops::Range,
    ptr,
    sync::{Arc, OnceLock},
};
use superscalar_runtime::DeviceError;

/// What the queues of a device share.
#[derive(Debug)]
pub(super) struct DeviceState {
    /// The device's index in the runtime.
    pub(super) index: u16,
    pub(super) found: DiscoveredDevice,
    pub(super) context: Arc<SharedContext>,
    pub(super) programs: Programs,
    pub(super) signal: Signal,
    pub(super) clock: Clock,
    pub(super) heap: OnceLock<Heap>,
    pub(super) heap_bytes: usize,
    /// Held until the device's queues are closed, if its groups may wait for each other.
    pub(super) _concurrency: Option<ConcurrencyClaim>,
}

impl DeviceState {
    pub(super) fn heap(&self) -> Result<&Heap, DeviceError> {
        self.heap.get().ok_or_else(|| DeviceError::new("the heap is not reserved"))
    }
}

/// An argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Arg {
    /// The device's heap: `__global` memory.
    Heap,
    /// A value, made by [`Arg::value`].
    Value(Value),
    /// This many bytes of `__local` memory.
    Local(usize),
}

/// The bytes of a kernel argument.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
pub struct Value {
    bytes: [u8; VALUE_BYTES_MAX],
    size: usize,
}

/// The size of a `double4`.
const VALUE_BYTES_MAX: usize = 32;

impl Arg {
    /// Makes an argument from a number or a few numbers, of the same size as the kernel's argument. The limit of 32
    /// bytes is checked at compile time.
    ///
    /// # Examples
    /// ```
    /// # mod superscalar { pub use superscalar_devices as devices; pub use superscalar_runtime::*; }
    /// use superscalar::devices::opencl::Arg;
    ///
    /// let args = [Arg::Heap, Arg::value(4096u64), Arg::value([1.0f64, 0.0])];
    /// ```
    pub fn value<T: Pod>(value: T) -> Self {
        const { assert!(size_of::<T>() <= VALUE_BYTES_MAX, "too large for a kernel argument") };
        let (mut bytes, size) = ([0; VALUE_BYTES_MAX], size_of::<T>());
        bytes[..size].copy_from_slice(bytemuck::bytes_of(&value));
        Arg::Value(Value { bytes, size })
    }
}

/// One in-order queue of an OpenCL device with the task that is being inserted.
///
/// A task may consist of several kernels. They run one after the other, and the task ends with the last. If a kernel
/// cannot be put into the queue after an earlier one of the task was, the task ends with that error when the earlier
/// ones have run. Nobody runs it again, because a part of it has run.
#[derive(Debug)]
pub struct OpenclQueue {
    state: Arc<DeviceState>,
    queue: Queue,
    number: u16,
    kernels: HashMap<u128, HashMap<String, KnownKernel>>,
    /// The events that the next command must wait for. Later commands need none, since the queue is in order.
    pub(super) waits: Vec<Arc<Event>>,
    work: QueuedWork,
    /// The last launch, which is not in the queue yet: whether it needs an event depends on what follows.
    held: Option<HeldLaunch>,
    /// Whether the work's duration is reported.
    is_timed: bool,
    /// Whether the last command in the queue has no event.
    ends_without_event: bool,
}

#[derive(Debug)]
struct KnownKernel {
    object: Kernel,
    /// The number of its arguments.
    arguments: usize,
}

/// A launch whose kernel has its arguments. The kernel is one of the queue's.
#[derive(Debug)]
struct HeldLaunch {
    kernel: ffi::cl_kernel,
    name: String,
    dims: u32,
    global: [usize; 3],
    local: Option<[usize; 3]>,
}

// SAFETY: kernels are not tied to a thread, and the queue that holds this owns the kernel.
unsafe impl Send for HeldLaunch {}

/// Whether a command gets an event. On an H200, an event doubles the time of a launch, from 7 to 16 µs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HasEvent {
    No,
    Yes,
}

impl OpenclQueue {
    pub(super) fn new(state: Arc<DeviceState>, queue: Queue, number: u16) -> Self {
        Self {
            state,
            queue,
            number,
            kernels: HashMap::new(),
            waits: Vec::new(),
            work: QueuedWork::default(),
            held: None,
            is_timed: true,
            ends_without_event: false,
        }
    }

    /// Returns the properties of the queue's device.
    #[must_use]
    pub fn class(&self) -> &DeviceClass {
        self.state.found.class()
    }

    /// Returns the size of the device's heap in bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.state.heap_bytes
    }

    /// Compiles a program in advance, so that the first task need not wait for it.
    ///
    /// # Errors
    /// If it cannot be compiled; the message contains the compiler's log.
    pub fn compile(&mut self, source: &Source) -> Result<(), DeviceError> {
        self.state.programs.get(self.target(), source).map(drop)
    }

    /// Launches a kernel of a program. `global` is the number of invocations along each of one to three dimensions.
    /// `local` is the size of a work group, which must divide `global`; without it the driver chooses.
    ///
    /// # Errors
    /// If the program cannot be compiled or has no such kernel, or the kernel does not take these arguments. If the
    /// driver refuses the sizes, the next launch returns the error, or the task ends with it.
    ///
    /// # Safety
    /// Until its task is finished, the kernel reads and writes only what the task's accesses and scratch allow.
    pub unsafe fn launch(
        &mut self,
        source: &Source,
        kernel: &str,
        args: &[Arg],
        global: &[usize],
        local: Option<&[usize]>,
    ) -> Result<(), DeviceError> {
        if local.is_some_and(|local| local.len() != global.len()) || !(1..=3).contains(&global.len()) {
            return Err(DeviceError::new(format!(
                "kernel `{kernel}`: sizes {global:?} in groups of {local:?} are not possible: expected 1 to 3 \
                 sizes, and as many group sizes"
            )));
        }
        self.put_held(HasEvent::No)?;
        let heap = self.state.heap()?.raw();
        let known = self.kernel(source, kernel)?;
        let (object, expected) = (known.object.raw(), known.arguments);
        // The driver would take the missing ones from the kernel's last launch.
        if args.len() != expected {
            return Err(DeviceError::new(format!(
                "kernel `{kernel}`: {} arguments are not possible: expected {expected}",
                args.len()
            )));
        }
        for (at, arg) in args.iter().enumerate() {
            let (size, value) = match arg {
                Arg::Heap => (size_of_val(&heap), (&raw const heap).cast()),
                Arg::Value(value) => (value.size, value.bytes.as_ptr().cast()),
                Arg::Local(bytes) => (*bytes, ptr::null()),
            };
            // SAFETY: the kernel exists, and only this queue uses it. The value is copied.
            let code = unsafe { ffi::clSetKernelArg(object, at as u32, size, value) };
            check(code, &format!("clSetKernelArg of argument {at}")).map_err(|error| in_kernel(kernel, &error))?;
        }
        let sizes = |given: &[usize]| std::array::from_fn(|at| given.get(at).copied().unwrap_or(1));
        self.held = Some(HeldLaunch {
            kernel: object,
            name: kernel.to_owned(),
            dims: global.len() as u32,
            global: sizes(global),
            local: local.map(sizes),
        });
        Ok(())
    }

    /// Puts the launch that is held into the queue, if there is one.
    fn put_held(&mut self, has_event: HasEvent) -> Result<(), DeviceError> {
        let Some(HeldLaunch { kernel, name, dims, global, local }) = self.held.take() else { return Ok(()) };
        let local = local.as_ref().map_or(ptr::null(), |local| local.as_ptr());
        // The work's duration needs the event of its first command, too.
        let has_event = if self.is_timed && !self.has_work() { HasEvent::Yes } else { has_event };
        let put = self.enqueue("clEnqueueNDRangeKernel", has_event, |queue, count, waits, event| {
            let (offset, global) = (ptr::null(), global.as_ptr());
            // SAFETY: queue, kernel and events exist, and there are as many sizes as dimensions. The caller of `launch`
            // guarantees the kernel's accesses.
            unsafe { ffi::clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, count, waits, event) }
        });
        put.map_err(|error| {
            let error = in_kernel(&name, &error);
            // The call that made the launch has returned, so the task fails even if this call's error is ignored.
            self.work.failed.get_or_insert_with(|| error.clone());
            error
        })
    }

    /// Reads a small part of the heap after everything that is in the queue now. When the task ends, `judge` is called
    /// with it, and the task fails if `judge` returns an error. It is not called if the task has failed before.
    ///
    /// # Errors
    /// If the range is empty or not in the heap, or the driver refuses.
    pub fn after(
        &mut self,
        bytes: Range<usize>,
        judge: impl FnOnce(&[u8]) -> Result<(), DeviceError> + Send + 'static,
    ) -> Result<(), DeviceError> {
        if bytes.is_empty() || bytes.end > self.state.heap_bytes {
            return Err(DeviceError::new(format!(
                "cannot read bytes {bytes:?} of a heap of {}",
                self.state.heap_bytes
            )));
        }
        let heap = self.state.heap()?.clone();
        let read_back = ReadBack::new(bytes.len());
        let place = read_back.place();
        self.put("clEnqueueReadBuffer", |queue, count, waits, event| {
            // SAFETY: queue, buffer and events exist. The place has room for the bytes and is kept until the command
            // has ended.
            unsafe {
                let is_blocking = ffi::CL_FALSE;
                ffi::clEnqueueReadBuffer(
                    queue,
                    heap.raw(),
                    is_blocking,
                    bytes.start,
                    bytes.len(),
                    place,
                    count,
                    waits,
                    event,
                )
            }
        })?;
        self.work.checks.push((read_back, Box::new(judge) as OutcomeCheck));
        Ok(())
    }

    pub(super) fn state(&self) -> &Arc<DeviceState> {
        &self.state
    }

    /// Begins a task or a copy.
    pub(super) fn begin(&mut self, waits: Vec<Arc<Event>>, is_timed: bool) {
        // Work left by an implementation that panicked still runs; its end is not reported.
        (self.work, self.held, self.ends_without_event) = (QueuedWork::default(), None, false);
        (self.waits, self.is_timed) = (waits, is_timed);
    }

    /// Ends a task or a copy: returns its work, or the error if nothing is in the queue.
    pub(super) fn end(&mut self, result: Result<(), DeviceError>) -> Result<QueuedWork, DeviceError> {
        let result = result.and_then(|()| self.put_held(HasEvent::Yes));
        // The driver refused a launch that an implementation believes to be in the queue.
        let result = self.work.failed.take().map_or(result, Err);
        if self.has_work() {
            self.work.failed = result.err();
            // Something failed behind a launch without an event.
            if self.ends_without_event
                && let Err(error) = self.mark()
            {
                self.end_now(error);
            }
        } else {
            result?;
            // An empty task still needs a command, to keep its order behind the events and earlier work.
            self.mark()?;
        }
        // SAFETY: this value owns a reference to the queue, so the object is valid.
        let flushed = check(unsafe { ffi::clFlush(self.queue.raw()) }, "clFlush");
        if let Err(error) = flushed {
            self.end_now(error);
        }
        self.waits.clear();
        self.work.is_timed = self.is_timed;
        Ok(std::mem::take(&mut self.work))
    }

    /// Returns whether commands of the task are in the queue.
    fn has_work(&self) -> bool {
        self.ends_without_event || !self.work.events.is_empty()
    }

    /// Waits for the end of work that no event would report. If the driver fails in this, too, nobody knows whether the
    /// work runs, and the device is lost.
    fn end_now(&mut self, error: DeviceError) {
        let error = match self.finish() {
            Ok(()) => self.work.failed.take().unwrap_or(error),
            Err(unfinished) => {
                // A command may still write the memory of the read-backs, so they are leaked. Without events the work
                // counts as over.
                self.work.checks.clear();
                self.work.events.clear();
                DeviceError::lost(format!("{error}; then {unfinished}"))
            }
        };
        self.work.failed = Some(error);
    }

    /// Puts a command that does nothing into the queue.
    fn mark(&mut self) -> Result<(), DeviceError> {
        self.enqueue("clEnqueueMarkerWithWaitList", HasEvent::Yes, |queue, count, waits, event| {
            // SAFETY: this value owns references to the queue and the events, so the objects are valid.
            unsafe { ffi::clEnqueueMarkerWithWaitList(queue, count, waits, event) }
        })
    }

    /// Waits until everything in the queue has ended.
    pub(super) fn finish(&self) -> Result<(), DeviceError> {
        // SAFETY: this value owns a reference to the queue, so the object is valid.
        check(unsafe { ffi::clFinish(self.queue.raw()) }, "clFinish")
    }

    /// Sets some bytes of a heap to zero.
    pub(super) fn fill(&mut self, heap: &Heap, bytes: Range<usize>) -> Result<(), DeviceError> {
        let (heap, zero) = (heap.raw(), [0u8]);
        self.put("clEnqueueFillBuffer", |queue, count, waits, event| {
            let pattern = zero.as_ptr().cast();
            // SAFETY: queue, buffer and events exist. The pattern is copied.
            unsafe { ffi::clEnqueueFillBuffer(queue, heap, pattern, 1, bytes.start, bytes.len(), count, waits, event) }
        })
    }

    /// Puts one command into the queue, behind the launches. `enqueue` gets the queue, the number of events to wait
    /// for, the events, and the place for the command's event.
    pub(super) fn put(
        &mut self,
        call: &str,
        enqueue: impl FnOnce(*mut c_void, u32, *const ffi::cl_event, *mut ffi::cl_event) -> cl_int,
    ) -> Result<(), DeviceError> {
        self.put_held(HasEvent::No)?;
        self.enqueue(call, HasEvent::Yes, enqueue)
    }

    fn enqueue(
        &mut self,
        call: &str,
        has_event: HasEvent,
        enqueue: impl FnOnce(*mut c_void, u32, *const ffi::cl_event, *mut ffi::cl_event) -> cl_int,
    ) -> Result<(), DeviceError> {
        let waits: Vec<ffi::cl_event> = self.waits.iter().map(|event| event.raw()).collect();
        let list = if waits.is_empty() { ptr::null() } else { waits.as_ptr() };
        let mut event = ptr::null_mut();
        match has_event {
            HasEvent::Yes => {
                let code = enqueue(self.queue.raw(), waits.len() as u32, list, &raw mut event);
                // SAFETY: the call has returned the event, whose reference belongs to this value.
                let event = unsafe { Event::made(event, code, call)? };
                self.work.events.push(Arc::new(event));
            }
            HasEvent::No => check(enqueue(self.queue.raw(), waits.len() as u32, list, ptr::null_mut()), call)?,
        }
        self.ends_without_event = has_event == HasEvent::No;
        self.waits.clear();
        Ok(())
    }

    fn target(&self) -> Target<'_> {
        let DeviceState { found, context, .. } = &*self.state;
        Target { context: &context.context, device: found.raw(), whole: found.whole(), class: found.class() }
    }

    fn kernel(&mut self, source: &Source, name: &str) -> Result<&KnownKernel, DeviceError> {
        let is_known = self.kernels.get(&source.id()).is_some_and(|kernels| kernels.contains_key(name));
        if !is_known {
            let program = self.state.programs.get(self.target(), source)?;
            let text = CString::new(name).map_err(|_| DeviceError::new("the name of a kernel contains a zero byte"))?;
            let mut code = 0;
            // SAFETY: the program exists, and the name ends with a zero byte.
            let kernel = unsafe {
                let raw = ffi::clCreateKernel(program.raw(), text.as_ptr(), &raw mut code);
                Kernel::made(raw, code, "clCreateKernel").map_err(|error| in_kernel(name, &error))?
            };
            let known = KnownKernel { arguments: arguments(&kernel)?, object: kernel };
            self.kernels.entry(source.id()).or_default().insert(name.to_owned(), known);
        }
        let kernel = self.kernels.get(&source.id()).and_then(|kernels| kernels.get(name));
        kernel.ok_or_else(|| DeviceError::new(format!("kernel `{name}` was not kept")))
    }

    pub(super) fn number(&self) -> u16 {
        self.number
    }
}

/// Returns the number of a kernel's arguments.
fn arguments(kernel: &Kernel) -> Result<usize, DeviceError> {
    let (mut count, size): (ffi::cl_uint, usize) = (0, size_of::<ffi::cl_uint>());
    let place = (&raw mut count).cast();
    // SAFETY: the kernel exists, and the place has the size of the result.
    let code = unsafe { ffi::clGetKernelInfo(kernel.raw(), ffi::CL_KERNEL_NUM_ARGS, size, place, ptr::null_mut()) };
    check(code, "clGetKernelInfo").map(|()| count as usize)
}

fn in_kernel(kernel: &str, error: &DeviceError) -> DeviceError {
    let message = format!("kernel `{kernel}`: {error}");
    if error.is_lost() { DeviceError::lost(message) } else { DeviceError::new(message) }
}
