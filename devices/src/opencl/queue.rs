//! [`OpenclQueue`]: what implementations of codelets put their kernels into.

use super::{
    class::DeviceClass,
    context::{Heap, SharedContext},
    failure::check,
    found::Found,
    object::{Event, Kernel, Queue},
    program::{Programs, Target},
    signal::Signal,
    source::Source,
    work::{Judge, Landing, Work},
};
use crate::clock::Clock;
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
pub(super) struct Common {
    /// The device's index in the runtime.
    pub(super) index: u16,
    pub(super) found: Found,
    pub(super) context: Arc<SharedContext>,
    pub(super) programs: Programs,
    pub(super) signal: Arc<Signal>,
    pub(super) clock: Clock,
    pub(super) heap: OnceLock<Heap>,
    pub(super) heap_bytes: usize,
}

impl Common {
    pub(super) fn heap(&self) -> Result<&Heap, DeviceError> {
        self.heap.get().ok_or_else(|| DeviceError::new("its heap is not reserved"))
    }
}

/// A kernel's argument.
#[derive(Clone, Copy, Debug)]
pub enum Arg {
    /// The device's heap: `__global` memory.
    Heap,
    /// A value: see [`Arg::value`].
    Value(Value),
    /// So many bytes of `__local` memory.
    Local(usize),
}

/// The bytes of a kernel's argument.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
pub struct Value {
    bytes: [u8; VALUE_BYTES_MAX],
    size: usize,
}

/// The size of a `double4`.
const VALUE_BYTES_MAX: usize = 32;

impl Arg {
    /// A number, or a few, of the same size as the kernel's argument: 32 bytes at most, as the compiler sees to.
    ///
    /// # Examples
    /// ```
    /// use superscalar::devices::opencl::Arg;
    ///
    /// let args = [Arg::Heap, Arg::value(4096u64), Arg::value([1.0f64, 0.0])];
    /// ```
    pub fn value<T: Pod>(value: T) -> Self {
        const { assert!(size_of::<T>() <= VALUE_BYTES_MAX, "too large for an argument of a kernel") };
        let (mut bytes, size) = ([0; VALUE_BYTES_MAX], size_of::<T>());
        bytes[..size].copy_from_slice(bytemuck::bytes_of(&value));
        Arg::Value(Value { bytes, size })
    }
}

/// One in-order queue of an OpenCL device, with the task that is being put into it.
///
/// A task may be several kernels: they run one after the other, and the task ends with the last. If one can not be put into the queue after
/// another of the task was, the task ends with that error as soon as what is there has run.
#[derive(Debug)]
pub struct OpenclQueue {
    common: Arc<Common>,
    queue: Queue,
    number: u16,
    kernels: HashMap<u128, HashMap<String, Kernel>>,
    /// What the next command must wait for; none after the first, as the queue is in order.
    waits: Vec<Arc<Event>>,
    work: Work,
}

impl OpenclQueue {
    pub(super) fn new(common: Arc<Common>, queue: Queue, number: u16) -> Self {
        Self { common, queue, number, kernels: HashMap::new(), waits: Vec::new(), work: Work::default() }
    }

    /// What sort of device the queue belongs to.
    #[must_use]
    pub fn class(&self) -> &DeviceClass {
        self.common.found.class()
    }

    /// Bytes of the device's heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.common.heap_bytes
    }

    /// Compiles a program, if that was not done before: so that the first task with it need not wait.
    ///
    /// # Errors
    /// If it can not be compiled: with what the compiler says.
    pub fn compile(&mut self, source: &Source) -> Result<(), DeviceError> {
        self.common.programs.get(self.target(), source).map(drop)
    }

    /// Puts a kernel of a program into the queue. `global` says how often it is run along each of one to three dimensions; `local`, how many
    /// of the runs are a work group, which divides them; without it, the driver chooses groups.
    ///
    /// # Errors
    /// If the program can not be compiled, has no such kernel, or the kernel can not take the arguments or sizes.
    ///
    /// # Safety
    /// Until its task is finished, the kernel reads and writes only what the task's accesses, and the task's scratch, allow it to.
    pub unsafe fn launch(
        &mut self,
        source: &Source,
        kernel: &str,
        args: &[Arg],
        global: &[usize],
        local: Option<&[usize]>,
    ) -> Result<(), DeviceError> {
        if local.is_some_and(|local| local.len() != global.len()) || !(1..=3).contains(&global.len()) {
            return Err(DeviceError::new(format!("kernel `{kernel}`: sizes {global:?} in groups of {local:?}")));
        }
        let heap = self.common.heap()?.raw();
        let object = self.kernel(source, kernel)?.raw();
        let in_kernel = |error: DeviceError| in_kernel(kernel, &error);
        for (at, arg) in args.iter().enumerate() {
            let (size, value) = match arg {
                Arg::Heap => (size_of_val(&heap), (&raw const heap).cast()),
                Arg::Value(value) => (value.size, value.bytes.as_ptr().cast()),
                Arg::Local(bytes) => (*bytes, ptr::null()),
            };
            // SAFETY: the kernel is there and is this queue's; the value is copied.
            let code = unsafe { ffi::clSetKernelArg(object, at as u32, size, value) };
            check(code, &format!("clSetKernelArg of argument {at}")).map_err(in_kernel)?;
        }
        let dims = global.len() as u32;
        let (global, local) = (global.as_ptr(), local.map_or(ptr::null(), <[usize]>::as_ptr));
        self.put("clEnqueueNDRangeKernel", |queue, count, waits, event| {
            // SAFETY: queue, kernel and events are there, and there are as many sizes as dimensions. What the kernel does is the
            // caller's promise.
            unsafe { ffi::clEnqueueNDRangeKernel(queue, object, dims, ptr::null(), global, local, count, waits, event) }
        })
        .map_err(in_kernel)
    }

    /// After what is in the queue by now, a small part of the heap is read, and judged when the task ends: the task fails with what
    /// `judge` returns. It is not judged if the task has failed by then.
    ///
    /// # Errors
    /// If the heap has no such bytes, or the driver refuses.
    pub fn after(
        &mut self,
        bytes: Range<usize>,
        judge: impl FnOnce(&[u8]) -> Result<(), DeviceError> + Send + 'static,
    ) -> Result<(), DeviceError> {
        if bytes.is_empty() || bytes.end > self.common.heap_bytes {
            return Err(DeviceError::new(format!("bytes {bytes:?} of a heap of {}", self.common.heap_bytes)));
        }
        let heap = self.common.heap()?.clone();
        let landing = Landing::new(bytes.len());
        let place = landing.place();
        self.put("clEnqueueReadBuffer", |queue, count, waits, event| {
            // SAFETY: queue, buffer and events are there; the place is for so many bytes, and is kept until the command has ended.
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
        self.work.judges.push((landing, Box::new(judge) as Judge));
        Ok(())
    }

    pub(super) fn common(&self) -> &Arc<Common> {
        &self.common
    }

    /// Begins a task or a copy.
    pub(super) fn begin(&mut self, waits: Vec<Arc<Event>>) {
        // What an implementation that panicked has left behind runs all the same; nobody asks how it ends.
        self.work = Work::default();
        self.waits = waits;
    }

    /// Ends it: all of it is in the queue, or none, with the error.
    pub(super) fn end(&mut self, result: Result<(), DeviceError>) -> Result<Work, DeviceError> {
        if self.work.events.is_empty() {
            result?;
            // Nothing to do, but in order, and behind what it waits for.
            self.put("clEnqueueMarkerWithWaitList", |queue, count, waits, event| {
                // SAFETY: queue and events are there.
                unsafe { ffi::clEnqueueMarkerWithWaitList(queue, count, waits, event) }
            })?;
        } else if let Err(error) = result {
            self.work.failed = Some(error);
        }
        // SAFETY: the queue is there.
        let flushed = check(unsafe { ffi::clFlush(self.queue.raw()) }, "clFlush");
        if let Err(error) = flushed {
            self.work.failed.get_or_insert(error);
        }
        self.waits.clear();
        Ok(std::mem::take(&mut self.work))
    }

    /// Waits until everything in the queue has ended; says whether the driver did.
    pub(super) fn finish(&self) -> bool {
        // SAFETY: the queue is there.
        unsafe { ffi::clFinish(self.queue.raw()) == ffi::CL_SUCCESS }
    }

    /// Zeroes some bytes of a heap.
    pub(super) fn fill(&mut self, heap: &Heap, bytes: Range<usize>) -> Result<(), DeviceError> {
        let (heap, zero) = (heap.raw(), [0u8]);
        self.put("clEnqueueFillBuffer", |queue, count, waits, event| {
            let pattern = zero.as_ptr().cast();
            // SAFETY: queue, buffer and events are there; the pattern is copied.
            unsafe { ffi::clEnqueueFillBuffer(queue, heap, pattern, 1, bytes.start, bytes.len(), count, waits, event) }
        })
    }

    /// Puts one command into the queue. `enqueue` gets the queue, the number of events and the events to wait for, and the place
    /// of the command's event.
    pub(super) fn put(
        &mut self,
        call: &str,
        enqueue: impl FnOnce(*mut c_void, u32, *const ffi::cl_event, *mut ffi::cl_event) -> cl_int,
    ) -> Result<(), DeviceError> {
        let waits: Vec<ffi::cl_event> = self.waits.iter().map(|event| event.raw()).collect();
        let list = if waits.is_empty() { ptr::null() } else { waits.as_ptr() };
        let mut event = ptr::null_mut();
        let code = enqueue(self.queue.raw(), waits.len() as u32, list, &raw mut event);
        // SAFETY: the call has made the event for us.
        let event = unsafe { Event::made(event, code, call)? };
        self.work.events.push(Arc::new(event));
        self.waits.clear();
        Ok(())
    }

    fn target(&self) -> Target<'_> {
        let Common { found, context, .. } = &*self.common;
        Target { context: &context.context, device: found.raw(), whole: found.whole(), class: found.class() }
    }

    fn kernel(&mut self, source: &Source, name: &str) -> Result<&Kernel, DeviceError> {
        let is_known = self.kernels.get(&source.id()).is_some_and(|kernels| kernels.contains_key(name));
        if !is_known {
            let program = self.common.programs.get(self.target(), source)?;
            let text = CString::new(name).map_err(|_| DeviceError::new("a kernel's name has a zero byte in it"))?;
            let mut code = 0;
            // SAFETY: the program is there, and the name ends with zero.
            let kernel = unsafe {
                let raw = ffi::clCreateKernel(program.raw(), text.as_ptr(), &raw mut code);
                Kernel::made(raw, code, "clCreateKernel").map_err(|error| in_kernel(name, &error))?
            };
            self.kernels.entry(source.id()).or_default().insert(name.to_owned(), kernel);
        }
        let kernel = self.kernels.get(&source.id()).and_then(|kernels| kernels.get(name));
        kernel.ok_or_else(|| DeviceError::new(format!("kernel `{name}` was not kept")))
    }

    pub(super) fn number(&self) -> u16 {
        self.number
    }
}

fn in_kernel(kernel: &str, error: &DeviceError) -> DeviceError {
    let message = format!("kernel `{kernel}`: {error}");
    if error.is_lost() { DeviceError::lost(message) } else { DeviceError::new(message) }
}
