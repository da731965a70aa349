//! [`Queue`]: where implementations of codelets put their work.

use super::{
    GpuClass,
    device_state::DeviceState,
    failure::{check, with_subject},
    handles::{Blas, Solver},
    outcome::{OutcomeCheck, OutcomeSlot, Outcomes},
    program::{LoadedProgram, Program},
    stream::{Stream, Urgency},
    task_streams::{BoundStream, TaskStreams},
};
use cudarc::{
    cublas::sys::cublasHandle_t,
    cusolver::sys::cusolverDnHandle_t,
    driver::sys::{
        self, CUdeviceptr, CUfunction, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue,
        CUlaunchAttributeValue_union__bindgen_ty_1, CUlaunchConfig, CUresult, CUstream,
    },
};
use std::{collections::HashMap, ffi::c_void, fmt, ops::Range, sync::Arc};
use superscalar_runtime::DeviceError;

/// One in-order queue of a GPU with the task that is being inserted: a stream and the handles bound to it.
///
/// A task may consist of several kernels. They run one after the other, and the task ends with the last. During
/// insertion the device's context is current in the thread. If the implementation fails after it has obtained the
/// stream or a handle, the content of the queue is unknown; the task then ends with the error when that content has
/// run.
pub struct Queue {
    pub(super) state: Arc<DeviceState>,
    streams: TaskStreams,
    programs: HashMap<u128, ProgramFunctions>,
    outcomes: Outcomes,
    /// What the current task has put in so far.
    contents: TaskContents,
}

/// A program's functions that were looked up.
struct ProgramFunctions {
    loaded: Arc<LoadedProgram>,
    functions: Vec<(Box<str>, CUfunction)>,
}

/// What a task has put into the queue.
#[derive(Default)]
pub(super) struct TaskContents {
    /// Whether the stream may contain work of the task.
    pub(super) may_have_work: bool,
    pub(super) checks: Vec<(OutcomeSlot, OutcomeCheck)>,
}

// SAFETY: streams, handles and functions are not tied to a thread, and one thread at a time uses the queue.
unsafe impl Send for Queue {}

impl fmt::Debug for Queue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Queue {{ device: {}, stream: {:?} }}", self.state.name(), self.streams.stream().raw())
    }
}

impl Queue {
    pub(super) fn new(state: Arc<DeviceState>, stream: Stream) -> Self {
        let outcomes = Outcomes::new(Arc::clone(&state.context));
        let contents = TaskContents::default();
        Self { state, streams: TaskStreams::new(stream), programs: HashMap::new(), outcomes, contents }
    }

    /// Directs work of this task into a second stream of the same urgency, until [`back`](Self::back) is called. It
    /// runs behind what was put there before, and may run concurrently with this queue's own stream. The task ends when
    /// both have.
    ///
    /// # Errors
    /// If the second stream cannot be created.
    pub fn aside(&mut self) -> Result<(), DeviceError> {
        self.contents.may_have_work = true;
        self.streams.aside(&self.state.context)
    }

    /// Makes work that goes into the second stream from now on wait for everything in this queue's own stream.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn fork(&mut self) -> Result<(), DeviceError> {
        self.contents.may_have_work = true;
        self.streams.fork()
    }

    /// Directs work into this queue's own stream again.
    pub fn back(&mut self) {
        self.streams.back();
    }

    /// Makes work that goes into this queue's own stream from now on wait for everything in the second stream.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn join(&mut self) -> Result<(), DeviceError> {
        self.streams.join()
    }

    /// Returns the stream that work goes into, for calls that do not go through this queue.
    pub fn stream(&mut self) -> CUstream {
        self.contents.may_have_work = true;
        self.streams.stream().raw()
    }

    /// Returns the device address of a byte of the heap.
    ///
    /// # Errors
    /// If the offset is beyond the end of the heap, or there is no heap.
    pub fn address(&self, offset: usize) -> Result<CUdeviceptr, DeviceError> {
        let heap = self.state.heap()?;
        if offset > heap.bytes() {
            return Err(DeviceError::new(format!("offset {offset} is not in a heap of {} bytes", heap.bytes())));
        }
        Ok(heap.address() + offset as CUdeviceptr)
    }

    /// Returns the properties of the device.
    #[must_use]
    pub fn class(&self) -> &GpuClass {
        self.state.class()
    }

    /// Returns whether thread blocks run in clusters: the device supports them, and
    /// [`Options::clusters`](super::Options::clusters) is set.
    #[must_use]
    pub fn has_clusters(&self) -> bool {
        self.state.has_clusters
    }

    /// Returns whether the device runs blocks of this queue's kernels before all others. Other work waits for the tasks
    /// in such a queue, so a kernel that ends sooner is better than one that uses less of the device.
    #[must_use]
    pub fn is_urgent(&self) -> bool {
        self.streams.stream().urgency() == Urgency::Urgent
    }

    /// Returns cuBLAS's handle for this queue, created at the first call. It is bound to the stream, takes scalars from
    /// host memory, and has its own workspace, so that no product allocates or shares one.
    ///
    /// # Errors
    /// If cuBLAS is not found, or refuses.
    pub fn blas(&mut self) -> Result<cublasHandle_t, DeviceError> {
        let BoundStream { stream, blas, .. } = self.streams.current();
        if blas.is_none() {
            *blas = Some(Blas::new(&self.state.context, stream)?);
        }
        self.contents.may_have_work = true;
        let blas = blas.as_ref().map(Blas::raw);
        blas.ok_or_else(|| DeviceError::new("the cuBLAS handle was not kept"))
    }

    /// Returns cuSOLVER's handle for this queue, created at the first call and bound to the stream.
    ///
    /// # Errors
    /// If cuSOLVER is not found, or refuses.
    pub fn solver(&mut self) -> Result<cusolverDnHandle_t, DeviceError> {
        let BoundStream { stream, solver, .. } = self.streams.current();
        if solver.is_none() {
            *solver = Some(Solver::new(&self.state.context, stream)?);
        }
        self.contents.may_have_work = true;
        let solver = solver.as_ref().map(Solver::raw);
        solver.ok_or_else(|| DeviceError::new("the cuSOLVER handle was not kept"))
    }

    /// Compiles and loads a program in advance, so that the first task need not wait for it. Returns the compiler's log
    /// on its kernels, which is empty if the program was found on disk.
    ///
    /// # Errors
    /// If it cannot be compiled; the message contains the compiler's log.
    pub fn compile(&mut self, program: &Program) -> Result<&str, DeviceError> {
        Ok(&self.kernels(program)?.loaded.log)
    }

    /// Returns a function that a program declares `extern "C"`. The program is compiled at its first use on the device.
    ///
    /// # Errors
    /// If the program cannot be compiled, or has no such function.
    pub fn function(&mut self, program: &Program, name: &str) -> Result<CUfunction, DeviceError> {
        let kernels = self.kernels(program)?;
        if let Some((_, function)) = kernels.functions.iter().find(|(known, _)| **known == *name) {
            return Ok(*function);
        }
        let function = kernels.loaded.function(name)?;
        kernels.functions.push((name.into(), function));
        Ok(function)
    }

    fn kernels(&mut self, program: &Program) -> Result<&mut ProgramFunctions, DeviceError> {
        let id = program.id();
        if !self.programs.contains_key(&id) {
            let loaded = self.state.programs.get(&self.state.context, program)?;
            self.programs.insert(id, ProgramFunctions { loaded, functions: Vec::new() });
        }
        let kernels = self.programs.get_mut(&id);
        kernels.ok_or_else(|| DeviceError::new(format!("program `{}` was not kept", program.name())))
    }

    /// Launches a kernel with `grid` blocks of `block` threads and `shared_bytes` of dynamic shared memory. `params`
    /// has one pointer for each of the kernel's arguments.
    ///
    /// # Errors
    /// If the driver refuses, for example because a block is too large.
    ///
    /// # Safety
    /// The function belongs to this queue's device, and `params` point to values of its arguments' types, in their
    /// order. Until its task is finished, the kernel reads and writes only what the task's accesses and scratch allow.
    pub unsafe fn launch(
        &mut self,
        function: CUfunction,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        params: &mut [*mut c_void],
    ) -> Result<(), DeviceError> {
        allow_shared(function, shared_bytes)?;
        let ([x, y, z], [u, v, w]) = (grid, block);
        let (stream, none) = (self.streams.stream().raw(), std::ptr::null_mut());
        // SAFETY: the stream exists; the caller guarantees function and arguments. The call copies the arguments.
        let code =
            unsafe { sys::cuLaunchKernel(function, x, y, z, u, v, w, shared_bytes, stream, params.as_mut_ptr(), none) };
        check(code, "cuLaunchKernel")
            .map_err(|error| with_subject(&format!("{grid:?} blocks of {block:?} threads"), error))?;
        self.contents.may_have_work = true;
        Ok(())
    }

    /// Like [`launch`](Self::launch), for blocks that wait for each other: they start together, when there is room for
    /// all of them. More than [`blocks_at_once`](Self::blocks_at_once) are refused.
    ///
    /// # Errors
    /// As for `launch`.
    ///
    /// # Safety
    /// As for `launch`.
    pub unsafe fn launch_at_once(
        &mut self,
        function: CUfunction,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        params: &mut [*mut c_void],
    ) -> Result<(), DeviceError> {
        allow_shared(function, shared_bytes)?;
        let ([x, y, z], [u, v, w]) = (grid, block);
        let stream = self.streams.stream().raw();
        // SAFETY: the stream exists; the caller guarantees function and arguments. The call copies the arguments.
        let code = unsafe {
            sys::cuLaunchCooperativeKernel(function, x, y, z, u, v, w, shared_bytes, stream, params.as_mut_ptr())
        };
        check(code, "cuLaunchCooperativeKernel")
            .map_err(|error| with_subject(&format!("{grid:?} blocks of {block:?} threads at once"), error))?;
        self.contents.may_have_work = true;
        Ok(())
    }

    /// Like [`launch`](Self::launch), for one cluster of at most 16 blocks, which run at once and can access each
    /// other's shared memory. Only devices of compute capability 9.0 or higher have clusters; see
    /// [`clusters_at_once`](Self::clusters_at_once).
    ///
    /// # Errors
    /// As for `launch`.
    ///
    /// # Safety
    /// As for `launch`.
    pub unsafe fn launch_cluster(
        &mut self,
        function: CUfunction,
        blocks: u32,
        block: [u32; 3],
        shared_bytes: u32,
        params: &mut [*mut c_void],
    ) -> Result<(), DeviceError> {
        allow_shared(function, shared_bytes)?;
        allow_cluster(function, blocks)?;
        let mut attribute = cluster_of(blocks);
        let config = self.cluster_config(&mut attribute, blocks, block, shared_bytes);
        // SAFETY: the stream exists, and the attribute outlives the call; the caller guarantees function and arguments,
        // which the call copies.
        let code =
            unsafe { sys::cuLaunchKernelEx(&raw const config, function, params.as_mut_ptr(), std::ptr::null_mut()) };
        check(code, "cuLaunchKernelEx")
            .map_err(|error| with_subject(&format!("a cluster of {blocks} blocks of {block:?} threads"), error))?;
        self.contents.may_have_work = true;
        Ok(())
    }

    /// Returns how many clusters of `blocks` blocks an idle device runs at once: zero if it [has no
    /// clusters](Self::has_clusters) or a cluster is too large for it.
    ///
    /// # Errors
    /// If the driver refuses.
    ///
    /// # Safety
    /// The function belongs to this queue's device.
    pub unsafe fn clusters_at_once(
        &self,
        function: CUfunction,
        blocks: u32,
        threads: u32,
        shared_bytes: u32,
    ) -> Result<usize, DeviceError> {
        if !self.has_clusters() {
            return Ok(0);
        }
        let allowed = allow_shared(function, shared_bytes).and_then(|()| allow_cluster(function, blocks));
        if allowed.is_err_and(|error| !error.is_lost()) {
            return Ok(0);
        }
        let mut attribute = cluster_of(blocks);
        let config = self.cluster_config(&mut attribute, blocks, [threads, 1, 1], shared_bytes);
        let mut clusters = 0;
        // SAFETY: the function belongs to this device, whose context is current, and the places for configuration and
        // result are valid.
        let code = unsafe { sys::cuOccupancyMaxActiveClusters(&raw mut clusters, function, &raw const config) };
        if code == CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE {
            return Ok(0);
        }
        check(code, "cuOccupancyMaxActiveClusters")?;
        Ok(usize::try_from(clusters).unwrap_or(0))
    }

    /// Returns the configuration of a launch of one cluster in this queue's stream.
    fn cluster_config(
        &self,
        attribute: &mut CUlaunchAttribute,
        blocks: u32,
        [u, v, w]: [u32; 3],
        shared_bytes: u32,
    ) -> CUlaunchConfig {
        CUlaunchConfig {
            gridDimX: blocks,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: u,
            blockDimY: v,
            blockDimZ: w,
            sharedMemBytes: shared_bytes,
            hStream: self.streams.stream().raw(),
            attrs: attribute,
            numAttrs: 1,
        }
    }

    /// Returns how many blocks of `threads` threads with `shared_bytes` of dynamic shared memory an idle device runs at
    /// once: zero if a block is too large for it.
    ///
    /// # Errors
    /// If the driver refuses.
    ///
    /// # Safety
    /// The function belongs to this queue's device.
    pub unsafe fn blocks_at_once(
        &self,
        function: CUfunction,
        threads: u32,
        shared_bytes: u32,
    ) -> Result<usize, DeviceError> {
        if allow_shared(function, shared_bytes).is_err_and(|error| !error.is_lost()) {
            return Ok(0);
        }
        let mut blocks = 0;
        // SAFETY: the function belongs to this device, whose context is current, and the place for the result is valid.
        let code = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut blocks,
                function,
                threads as i32,
                shared_bytes as usize,
            )
        };
        check(code, "cuOccupancyMaxActiveBlocksPerMultiprocessor")?;
        Ok(usize::try_from(blocks).unwrap_or(0) * self.class().multiprocessors)
    }

    /// Provides a zeroed `int` in host memory that the task's kernels can write, such as the `info` of a factorization.
    /// When the task ends, `judge` is called with it, and the task fails if `judge` returns an error. It is not called
    /// if the task has failed before. Returns the address for the device.
    ///
    /// The value needs no copy, so this costs the queue no time.
    ///
    /// # Errors
    /// If no memory can be allocated for it.
    pub fn outcome(
        &mut self,
        judge: impl FnOnce(i32) -> Result<(), DeviceError> + Send + 'static,
    ) -> Result<CUdeviceptr, DeviceError> {
        let slot = self.outcomes.take()?;
        let address = slot.device_address();
        self.contents.checks.push((slot, Box::new(move |bytes: &[u8]| judge(first_int(bytes)))));
        Ok(address)
    }

    /// Reads a small part of the heap (at most [`OUTCOME_BYTES_MAX`](super::OUTCOME_BYTES_MAX)) after everything that
    /// is in the queue now. When the task ends, `judge` is called with it, and the task fails if `judge` returns an
    /// error. It is not called if the task has failed before.
    ///
    /// # Errors
    /// If the range is empty, not in the heap or too long, or the driver refuses.
    pub fn after(
        &mut self,
        bytes: Range<usize>,
        judge: impl FnOnce(&[u8]) -> Result<(), DeviceError> + Send + 'static,
    ) -> Result<(), DeviceError> {
        let heap = self.state.heap()?;
        let length = bytes.len();
        if bytes.is_empty() || bytes.end > heap.bytes() || length > super::OUTCOME_BYTES_MAX {
            return Err(DeviceError::new(format!("cannot read bytes {bytes:?} of a heap of {}", heap.bytes())));
        }
        let from = heap.address() + bytes.start as CUdeviceptr;
        let slot = self.outcomes.take()?;
        // SAFETY: the bytes are in the heap. The slot has room for them and is kept until the task has ended.
        let code = unsafe { sys::cuMemcpyDtoHAsync_v2(slot.host_address(), from, length, self.streams.stream().raw()) };
        check(code, "cuMemcpyDtoHAsync")?;
        self.contents.may_have_work = true;
        self.contents.checks.push((slot, Box::new(move |all: &[u8]| judge(&all[..length]))));
        Ok(())
    }

    pub(super) fn raw(&self) -> CUstream {
        self.streams.stream().raw()
    }

    /// Returns the stream, for the copier of this queue.
    pub(super) fn shared_stream(&self) -> Arc<Stream> {
        Arc::clone(self.streams.stream())
    }

    /// Records that the stream may contain work of the task.
    pub(super) fn note_work(&mut self) {
        self.contents.may_have_work = true;
    }

    /// Begins a task. Work left by an implementation that panicked still runs; its end is not reported.
    pub(super) fn begin(&mut self) {
        self.streams.back();
        self.contents = TaskContents::default();
    }

    /// Ends the task and returns what it has put in. Its own stream waits for the second stream.
    pub(super) fn end(&mut self) -> Result<TaskContents, DeviceError> {
        self.join()?;
        Ok(std::mem::take(&mut self.contents))
    }
}

/// Allows a function's launches `bytes` of dynamic shared memory. Up to 48 KiB, including static shared memory, need no
/// permission, but checking that would take as long as permitting it.
fn allow_shared(function: CUfunction, bytes: u32) -> Result<(), DeviceError> {
    if bytes == 0 {
        return Ok(());
    }
    let what = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    let bytes = i32::try_from(bytes).map_err(|_| DeviceError::new(format!("too much shared memory: {bytes} bytes")))?;
    // SAFETY: the callers of the launch functions guarantee that the function is loaded.
    check(unsafe { sys::cuFuncSetAttribute(function, what, bytes) }, "cuFuncSetAttribute")
        .map_err(|error| with_subject(&format!("{bytes} bytes of shared memory"), error))
}

/// The largest cluster, in blocks, that needs no permission.
const CLUSTER_BLOCKS: u32 = 8;

/// Allows a function's launches clusters of `blocks` blocks.
fn allow_cluster(function: CUfunction, blocks: u32) -> Result<(), DeviceError> {
    if blocks <= CLUSTER_BLOCKS {
        return Ok(());
    }
    let what = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
    // SAFETY: the callers of the launch functions guarantee that the function is loaded.
    check(unsafe { sys::cuFuncSetAttribute(function, what, 1) }, "cuFuncSetAttribute")
        .map_err(|error| with_subject(&format!("a cluster of {blocks} blocks"), error))
}

/// Returns the launch attribute that makes `blocks` blocks one cluster.
fn cluster_of(blocks: u32) -> CUlaunchAttribute {
    let size = CUlaunchAttributeValue_union__bindgen_ty_1 { x: blocks, y: 1, z: 1 };
    let id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    CUlaunchAttribute { id, pad: [0; 4], value: CUlaunchAttributeValue { clusterDim: size } }
}

/// Returns the number at the start of an outcome.
fn first_int(bytes: &[u8]) -> i32 {
    bytes.first_chunk().map_or(0, |four| i32::from_ne_bytes(*four))
}
