//! [`Queue`]: what implementations of codelets put their work into.

use super::{
    board::Board,
    failure::{about, check},
    handles::{Blas, Solver},
    outcome::{Judge, Outcomes, Word},
    program::{Loaded, Program},
    stream::{Stream, Urgency},
    tracks::{Track, Tracks},
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

/// One in-order queue of a GPU, with the task that is being put into it: a stream, and what is bound to it.
///
/// A task may be several kernels: they run one after the other, and the task ends with the last. While a task is put in, the device's context
/// is the thread's current one. If the implementation fails after it has got hold of the stream or a handle, nobody knows what stands
/// in the queue by then: the task ends with the error as soon as that has run.
pub struct Queue {
    pub(super) board: Arc<Board>,
    tracks: Tracks,
    programs: HashMap<u128, Kernels>,
    outcomes: Outcomes,
    /// What the task being put in has so far.
    filling: Filling,
}

/// A program's functions that were asked for.
struct Kernels {
    loaded: Arc<Loaded>,
    functions: Vec<(Box<str>, CUfunction)>,
}

/// What a task has put into the queue.
#[derive(Default)]
pub(super) struct Filling {
    /// Something may stand in the stream.
    pub(super) is_begun: bool,
    pub(super) judges: Vec<(Word, Judge)>,
}

// SAFETY: streams, handles and functions belong to no thread; one thread at a time has the queue.
unsafe impl Send for Queue {}

impl fmt::Debug for Queue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Queue {{ device: {}, stream: {:?} }}", self.board.name(), self.tracks.stream().raw())
    }
}

impl Queue {
    pub(super) fn new(board: Arc<Board>, stream: Stream) -> Self {
        let outcomes = Outcomes::new(Arc::clone(&board.context));
        let filling = Filling::default();
        Self { board, tracks: Tracks::new(stream), programs: HashMap::new(), outcomes, filling }
    }

    /// From now on, until it [comes back](Self::back), work of this task goes into another stream, as urgent as this queue's, behind what was put
    /// there before: it may run beside what is put here. All of the task has ended when both have.
    ///
    /// # Errors
    /// If there can be no other stream.
    pub fn aside(&mut self) -> Result<(), DeviceError> {
        self.filling.is_begun = true;
        self.tracks.aside(&self.board.context)
    }

    /// What goes aside from now on waits for all that was put into this queue by now.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn fork(&mut self) -> Result<(), DeviceError> {
        self.filling.is_begun = true;
        self.tracks.fork()
    }

    /// Work goes into this queue's own stream again.
    pub fn back(&mut self) {
        self.tracks.back();
    }

    /// What is put into this queue from now on waits for all that was put aside.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn join(&mut self) -> Result<(), DeviceError> {
        self.tracks.join()
    }

    /// The stream that work goes into, for calls that are not made through this queue.
    pub fn stream(&mut self) -> CUstream {
        self.filling.is_begun = true;
        self.tracks.stream().raw()
    }

    /// Where a byte of the heap is, for the device.
    ///
    /// # Errors
    /// If there is no such byte, or no heap.
    pub fn address(&self, offset: usize) -> Result<CUdeviceptr, DeviceError> {
        let heap = self.board.heap()?;
        if offset > heap.bytes() {
            return Err(DeviceError::new(format!("byte {offset} of a heap of {}", heap.bytes())));
        }
        Ok(heap.address() + offset as CUdeviceptr)
    }

    /// Which of CUDA's devices it is.
    #[must_use]
    pub fn ordinal(&self) -> usize {
        self.board.class().ordinal
    }

    /// Major and minor, such as (9, 0).
    #[must_use]
    pub fn compute_capability(&self) -> (i32, i32) {
        self.board.class().compute_capability
    }

    /// Whether blocks of threads run in clusters: the device has them, and was not opened [without](super::Options::clusters).
    #[must_use]
    pub fn has_clusters(&self) -> bool {
        self.board.has_clusters
    }

    /// How many multiprocessors the device has.
    #[must_use]
    pub fn multiprocessors(&self) -> usize {
        self.board.class().multiprocessors
    }

    /// Whether the device takes blocks of this queue's kernels before all others: what stands in it is awaited, so that what ends sooner is better
    /// than what takes less of the device.
    #[must_use]
    pub fn is_urgent(&self) -> bool {
        self.tracks.stream().urgency() == Urgency::Urgent
    }

    /// cuBLAS's handle for this queue, made at the first call: bound to the stream, scalars in host memory, with a workspace of its own,
    /// so that no product allocates or shares one.
    ///
    /// # Errors
    /// If cuBLAS is not found, or refuses.
    pub fn blas(&mut self) -> Result<cublasHandle_t, DeviceError> {
        let Track { stream, blas, .. } = self.tracks.now();
        if blas.is_none() {
            *blas = Some(Blas::new(&self.board.context, stream)?);
        }
        self.filling.is_begun = true;
        let blas = blas.as_ref().map(Blas::raw);
        blas.ok_or_else(|| DeviceError::new("cuBLAS's handle was not kept"))
    }

    /// cuSOLVER's handle for this queue, made at the first call and bound to the stream.
    ///
    /// # Errors
    /// If cuSOLVER is not found, or refuses.
    pub fn solver(&mut self) -> Result<cusolverDnHandle_t, DeviceError> {
        let Track { stream, solver, .. } = self.tracks.now();
        if solver.is_none() {
            *solver = Some(Solver::new(&self.board.context, stream)?);
        }
        self.filling.is_begun = true;
        let solver = solver.as_ref().map(Solver::raw);
        solver.ok_or_else(|| DeviceError::new("cuSOLVER's handle was not kept"))
    }

    /// Compiles a program and loads it, if that was not done before: so that the first task with it need not wait. Returns what the compiler
    /// says of its kernels; nothing if the program was found on disk.
    ///
    /// # Errors
    /// If it can not be compiled: with what the compiler says.
    pub fn compile(&mut self, program: &Program) -> Result<&str, DeviceError> {
        Ok(&self.kernels(program)?.loaded.log)
    }

    /// A function of a program, which declares it `extern "C"`. The program is compiled when it is first used on the device.
    ///
    /// # Errors
    /// If the program can not be compiled, or has no such function.
    pub fn function(&mut self, program: &Program, name: &str) -> Result<CUfunction, DeviceError> {
        let kernels = self.kernels(program)?;
        if let Some((_, function)) = kernels.functions.iter().find(|(known, _)| **known == *name) {
            return Ok(*function);
        }
        let function = kernels.loaded.function(name)?;
        kernels.functions.push((name.into(), function));
        Ok(function)
    }

    fn kernels(&mut self, program: &Program) -> Result<&mut Kernels, DeviceError> {
        let id = program.id();
        if !self.programs.contains_key(&id) {
            let loaded = self.board.programs.get(&self.board.context, program)?;
            self.programs.insert(id, Kernels { loaded, functions: Vec::new() });
        }
        let kernels = self.programs.get_mut(&id);
        kernels.ok_or_else(|| DeviceError::new(format!("program `{}` was not kept", program.name())))
    }

    /// Puts a kernel into the queue: so many blocks of so many threads, with so many bytes of shared memory that the launch asks for. There is
    /// a pointer to each of the kernel's arguments.
    ///
    /// # Errors
    /// If the driver refuses, such as for a block that is too large.
    ///
    /// # Safety
    /// The function is one of this queue's device, and `params` point to values of its arguments' types, in their order. Until its task is
    /// finished, the kernel reads and writes only what the task's accesses, and the task's scratch, allow it to.
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
        let (stream, none) = (self.tracks.stream().raw(), std::ptr::null_mut());
        // SAFETY: the stream is there; function and arguments are the caller's promise. Arguments are copied.
        let code =
            unsafe { sys::cuLaunchKernel(function, x, y, z, u, v, w, shared_bytes, stream, params.as_mut_ptr(), none) };
        check(code, "cuLaunchKernel")
            .map_err(|error| about(&format!("{grid:?} blocks of {block:?} threads"), error))?;
        self.filling.is_begun = true;
        Ok(())
    }

    /// The same for blocks that wait for each other: they begin when there is room for all of them, and run at once. More than
    /// [`blocks_at_once`](Self::blocks_at_once) are refused.
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
        let stream = self.tracks.stream().raw();
        // SAFETY: as in `launch`.
        let code = unsafe {
            sys::cuLaunchCooperativeKernel(function, x, y, z, u, v, w, shared_bytes, stream, params.as_mut_ptr())
        };
        check(code, "cuLaunchCooperativeKernel")
            .map_err(|error| about(&format!("{grid:?} blocks of {block:?} threads at once"), error))?;
        self.filling.is_begun = true;
        Ok(())
    }

    /// The same for one cluster of at most 16 blocks, which run at once and reach each other's shared memory. Only devices of compute
    /// capability 9.0 or more have clusters; see [`clusters_at_once`](Self::clusters_at_once).
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
        // SAFETY: as in `launch`; the attribute is there until the call returns.
        let code =
            unsafe { sys::cuLaunchKernelEx(&raw const config, function, params.as_mut_ptr(), std::ptr::null_mut()) };
        check(code, "cuLaunchKernelEx")
            .map_err(|error| about(&format!("a cluster of {blocks} blocks of {block:?} threads"), error))?;
        self.filling.is_begun = true;
        Ok(())
    }

    /// How many clusters of so many blocks an idle device runs at once; none if it [has no clusters](Self::has_clusters), or a
    /// cluster is too large for it.
    ///
    /// # Errors
    /// If the driver refuses.
    ///
    /// # Safety
    /// The function is one of this queue's device.
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
        // SAFETY: the function is one of this device, whose context is current, and the places are there.
        let code = unsafe { sys::cuOccupancyMaxActiveClusters(&raw mut clusters, function, &raw const config) };
        if code == CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE {
            return Ok(0);
        }
        check(code, "cuOccupancyMaxActiveClusters")?;
        Ok(usize::try_from(clusters).unwrap_or(0))
    }

    /// A launch of one cluster in this queue's stream.
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
            hStream: self.tracks.stream().raw(),
            attrs: attribute,
            numAttrs: 1,
        }
    }

    /// How many blocks of so many threads, with so much shared memory that the launch asks for, an idle device runs at once; none if
    /// a block is too large for it.
    ///
    /// # Errors
    /// If the driver refuses.
    ///
    /// # Safety
    /// The function is one of this queue's device.
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
        // SAFETY: the function is one of this device, whose context is current, and the place is there.
        let code = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut blocks,
                function,
                threads as i32,
                shared_bytes as usize,
            )
        };
        check(code, "cuOccupancyMaxActiveBlocksPerMultiprocessor")?;
        Ok(usize::try_from(blocks).unwrap_or(0) * self.multiprocessors())
    }

    /// A zeroed `int` in host memory that the task's kernels can write, such as the `info` of a factorization: it is judged when the task
    /// ends, which fails with what `judge` returns. It is not judged if the task has failed by then. Returns where it is for the device.
    ///
    /// Nothing is copied for it, so it costs the queue no time.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn outcome(
        &mut self,
        judge: impl FnOnce(i32) -> Result<(), DeviceError> + Send + 'static,
    ) -> Result<CUdeviceptr, DeviceError> {
        let word = self.outcomes.take()?;
        let address = word.address();
        self.filling.judges.push((word, Box::new(move |bytes: &[u8]| judge(first_int(bytes)))));
        Ok(address)
    }

    /// After what is in the queue by now, a small part of the heap ([`OUTCOME_BYTES_MAX`](super::OUTCOME_BYTES_MAX) at most) is read, and
    /// judged when the task ends: the task fails with what `judge` returns. It is not judged if the task has failed by then.
    ///
    /// # Errors
    /// If the heap has no such bytes, they are too many, or the driver refuses.
    pub fn after(
        &mut self,
        bytes: Range<usize>,
        judge: impl FnOnce(&[u8]) -> Result<(), DeviceError> + Send + 'static,
    ) -> Result<(), DeviceError> {
        let heap = self.board.heap()?;
        let length = bytes.len();
        if bytes.is_empty() || bytes.end > heap.bytes() || length > super::OUTCOME_BYTES_MAX {
            return Err(DeviceError::new(format!("bytes {bytes:?} of a heap of {}", heap.bytes())));
        }
        let from = heap.address() + bytes.start as CUdeviceptr;
        let word = self.outcomes.take()?;
        // SAFETY: the bytes are in the heap, and the place has room for them and stays until the task has ended.
        let code = unsafe { sys::cuMemcpyDtoHAsync_v2(word.place(), from, length, self.tracks.stream().raw()) };
        check(code, "cuMemcpyDtoHAsync")?;
        self.filling.is_begun = true;
        self.filling.judges.push((word, Box::new(move |all: &[u8]| judge(&all[..length]))));
        Ok(())
    }

    pub(super) fn raw(&self) -> CUstream {
        self.tracks.stream().raw()
    }

    /// The stream, for the copier of this queue.
    pub(super) fn shared_stream(&self) -> Arc<Stream> {
        Arc::clone(self.tracks.stream())
    }

    /// Something stands in the stream.
    pub(super) fn note_begun(&mut self) {
        self.filling.is_begun = true;
    }

    /// Begins a task. What an implementation that panicked has left behind runs all the same; nobody asks how it ends.
    pub(super) fn begin(&mut self) {
        self.tracks.back();
        self.filling = Filling::default();
    }

    /// What the task has put in. Its own stream waits for what it has put aside.
    pub(super) fn end(&mut self) -> Result<Filling, DeviceError> {
        self.join()?;
        Ok(std::mem::take(&mut self.filling))
    }
}

/// Lets a function's launches ask for so much shared memory. With what it declares itself, any function may have 48 KiB; how much that is is
/// not asked, as allowing it takes no longer.
fn allow_shared(function: CUfunction, bytes: u32) -> Result<(), DeviceError> {
    if bytes == 0 {
        return Ok(());
    }
    let what = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    let bytes = i32::try_from(bytes).map_err(|_| DeviceError::new(format!("{bytes} bytes of shared memory")))?;
    // SAFETY: the function is a loaded one, as whoever launches it has promised.
    check(unsafe { sys::cuFuncSetAttribute(function, what, bytes) }, "cuFuncSetAttribute")
        .map_err(|error| about(&format!("{bytes} bytes of shared memory"), error))
}

/// Blocks of a cluster that any function may ask for; more than that has to be allowed.
const CLUSTER_BLOCKS: u32 = 8;

/// Lets a function's launches ask for clusters of so many blocks.
fn allow_cluster(function: CUfunction, blocks: u32) -> Result<(), DeviceError> {
    if blocks <= CLUSTER_BLOCKS {
        return Ok(());
    }
    let what = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
    // SAFETY: the function is a loaded one, as whoever launches it has promised.
    check(unsafe { sys::cuFuncSetAttribute(function, what, 1) }, "cuFuncSetAttribute")
        .map_err(|error| about(&format!("a cluster of {blocks} blocks"), error))
}

/// What makes a launch one cluster.
fn cluster_of(blocks: u32) -> CUlaunchAttribute {
    let size = CUlaunchAttributeValue_union__bindgen_ty_1 { x: blocks, y: 1, z: 1 };
    let id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    CUlaunchAttribute { id, pad: [0; 4], value: CUlaunchAttributeValue { clusterDim: size } }
}

/// The number at the start of an outcome.
fn first_int(bytes: &[u8]) -> i32 {
    bytes.first_chunk().map_or(0, |four| i32::from_ne_bytes(*four))
}
