//! [`Stream`]: the launches of one call, and the scratch memory that they share.
//!
//! A stream without a queue only measures how much scratch its call takes, so that the sequence of launches is written
//! once.

use super::program::Family;
use crate::{Scalar, device::Mat, scratch::Scratch};
use bytemuck::Pod;
use std::{ffi::c_void, marker::PhantomData, ops::Range};
use superscalar_devices::cuda::Queue;
use superscalar_runtime::DeviceError;

/// The alignment of scratch, in bytes: enough for cuBLAS's fastest kernels and larger than a cache line.
const ALIGN: usize = 256;

/// The most blocks of a grid in its second and third dimension.
pub(super) const GRID_MAX: usize = 65535;

/// One argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument {
    /// An address in the heap, as an offset in bytes.
    Address(usize),
    /// The bytes of a value.
    Value(Value),
}

/// The bytes of an argument: large enough and aligned for an element of any type.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(super) struct Value([u8; 16]);

impl Argument {
    /// Passes the start of a matrix.
    pub fn start<E>(mat: Mat<E>) -> Self {
        Self::Address(mat.offset * size_of::<E>())
    }

    /// Passes a number of rows or columns or a leading dimension, as the kernels' index type `place`.
    pub fn index(value: usize) -> Self {
        Self::value(value as i64)
    }

    /// Passes an option, as `int`.
    pub fn code(value: i32) -> Self {
        Self::value(value)
    }

    /// Passes a scalar of the kernels' type, or another number.
    pub fn value<E: Pod>(value: E) -> Self {
        Self::Value(Value::of(value))
    }
}

impl Value {
    fn of<E: Pod>(value: E) -> Self {
        const { assert!(size_of::<E>() <= 16, "the value is too large for an argument of a kernel") };
        let mut bytes = [0; 16];
        bytes[..size_of::<E>()].copy_from_slice(bytemuck::bytes_of(&value));
        Self(bytes)
    }
}

/// One launch of a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Launch<'a> {
    pub family: Family,
    pub kernel: &'static str,
    pub arguments: &'a [Argument],
    /// Blocks in each direction. If one number is zero, nothing is launched.
    pub grid: [usize; 3],
    /// Threads of a block.
    pub threads: [usize; 2],
}

/// Options of a launch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LaunchOptions {
    /// Shared memory of each block, besides the memory that the kernel declares.
    pub shared_bytes: usize,
    /// The blocks that must run at once, because they wait for each other.
    pub concurrency: Concurrency,
}

/// The blocks that must run at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Concurrency {
    /// No requirement: blocks run in any order.
    #[default]
    Any,
    /// All blocks of the grid.
    Grid,
    /// All blocks, which also access each other's shared memory.
    Cluster,
}

/// The launches of one call.
pub(super) struct Stream<'a, T> {
    pub(super) queue: Option<&'a mut Queue>,
    pub(super) scratch: Scratch<ALIGN>,
    element: PhantomData<T>,
}

impl<'a, T: Scalar> Stream<'a, T> {
    /// Makes a stream into a queue, with these bytes of the heap as scratch.
    pub fn new(queue: &'a mut Queue, scratch: Range<usize>) -> Self {
        Self { queue: Some(queue), scratch: Scratch::new(scratch), element: PhantomData }
    }

    /// Makes a stream without a queue, which measures scratch.
    pub fn measuring() -> Self {
        Self { queue: None, scratch: Scratch::measuring(), element: PhantomData }
    }

    /// Puts a kernel into the queue. An empty grid launches nothing.
    pub fn launch(&mut self, launch: Launch<'_>) -> Result<(), DeviceError> {
        self.launch_with(launch, LaunchOptions::default())
    }

    /// Returns how many blocks of a kernel an idle device runs at once; `None` without a queue.
    pub fn blocks_at_once(
        &mut self,
        (family, kernel): (Family, &'static str),
        threads: usize,
        shared_bytes: usize,
    ) -> Result<Option<usize>, DeviceError> {
        let Some(queue) = &mut self.queue else { return Ok(None) };
        let function = queue.function(family.program::<T>(), kernel)?;
        let shared_bytes = u32::try_from(shared_bytes).unwrap_or(u32::MAX);
        // SAFETY: `queue` has just returned the function, which is of its context.
        unsafe { queue.blocks_at_once(function, threads as u32, shared_bytes) }.map(Some)
    }

    /// Returns whether the device runs a cluster of this many blocks of a kernel; `None` without a queue.
    pub fn has_cluster(
        &mut self,
        (family, kernel): (Family, &'static str),
        blocks: usize,
        threads: usize,
        shared_bytes: usize,
    ) -> Result<Option<bool>, DeviceError> {
        let Some(queue) = &mut self.queue else { return Ok(None) };
        if !queue.has_clusters() {
            return Ok(Some(false));
        }
        let function = queue.function(family.program::<T>(), kernel)?;
        let shared_bytes = u32::try_from(shared_bytes).unwrap_or(u32::MAX);
        // SAFETY: `queue` has just returned the function, which is of its context.
        let clusters = unsafe { queue.clusters_at_once(function, blocks as u32, threads as u32, shared_bytes)? };
        Ok(Some(clusters > 0))
    }

    /// Like [`launch`](Self::launch), with shared memory, or for blocks that wait for each other.
    pub fn launch_with(&mut self, launch: Launch<'_>, options: LaunchOptions) -> Result<(), DeviceError> {
        let Launch { family, kernel, arguments, grid, threads } = launch;
        let Some(queue) = &mut self.queue else { return Ok(()) };
        if grid.contains(&0) {
            return Ok(());
        }
        let too_large = || DeviceError::new(format!("kernel `{kernel}`: a grid of {grid:?} blocks is too large"));
        let blocks = u32::try_from(grid[0]).ok().filter(|&blocks| blocks <= i32::MAX as u32).ok_or_else(too_large)?;
        if grid[1].max(grid[2]) > GRID_MAX {
            return Err(too_large());
        }
        let values = arguments.iter().map(|argument| match *argument {
            Argument::Value(value) => Ok(value),
            Argument::Address(byte) => Ok(Value::of(queue.address(byte)?)),
        });
        let mut values = values.collect::<Result<Vec<Value>, DeviceError>>()?;
        let mut parameters: Vec<*mut c_void> = values.iter_mut().map(|value| (&raw mut value.0).cast()).collect();
        let function = queue.function(family.program::<T>(), kernel)?;
        let (grid, threads) = ([blocks, grid[1] as u32, grid[2] as u32], [threads[0] as u32, threads[1] as u32, 1]);
        // SAFETY: `parameters` are the kernel's arguments in order and of its types, as the callers in this folder list
        // them. The kernel touches only the call's operands, which agree and are in the heap, as `check` has found, and
        // scratch up to its end. The task owns these operands until the queue reports it finished.
        unsafe {
            let shared_bytes = options.shared_bytes as u32;
            match options.concurrency {
                Concurrency::Any => queue.launch(function, grid, threads, shared_bytes, &mut parameters),
                Concurrency::Grid => queue.launch_at_once(function, grid, threads, shared_bytes, &mut parameters),
                Concurrency::Cluster => queue.launch_cluster(function, blocks, threads, shared_bytes, &mut parameters),
            }
        }
    }

    /// Sends the following launches to the side queue, which may run them beside those of the queue. Does nothing
    /// unless the queue is [urgent](Queue::is_urgent): in others the launches together would take as much of the
    /// device. See [`Queue::aside`].
    pub fn aside(&mut self) -> Result<(), DeviceError> {
        self.urgent_queue().map_or(Ok(()), Queue::aside)
    }

    /// Makes the following launches of the side queue wait for the launches that are in the queue now.
    pub fn fork(&mut self) -> Result<(), DeviceError> {
        self.urgent_queue().map_or(Ok(()), Queue::fork)
    }

    /// Sends the following launches to the queue again.
    pub fn back(&mut self) {
        self.urgent_queue().into_iter().for_each(Queue::back);
    }

    /// Sends the following launches to the queue again, and makes them wait for all launches of the side queue.
    pub fn join(&mut self) -> Result<(), DeviceError> {
        self.urgent_queue().map_or(Ok(()), Queue::join)
    }

    fn urgent_queue(&mut self) -> Option<&mut Queue> {
        self.queue.as_deref_mut().filter(|queue| queue.is_urgent())
    }

    /// Returns the address of an `int` that is zero at first and that kernels may write. `judge` turns its final value
    /// into the outcome of the call.
    pub fn outcome(
        &mut self,
        judge: impl FnOnce(i32) -> Result<(), DeviceError> + Send + 'static,
    ) -> Result<Argument, DeviceError> {
        let address = self.queue.as_mut().map_or(Ok(0), |queue| queue.outcome(judge))?;
        Ok(Argument::value(address))
    }

    /// Takes an m x n matrix in scratch, without gaps between its columns, until it is [released](Scratch::release).
    pub fn take<E>(&mut self, (m, n): (usize, usize)) -> Result<Mat<E>, DeviceError> {
        let start = self.scratch.take::<E>(m.saturating_mul(n))?;
        Ok(Mat::at(start, (m, n), m.max(1)))
    }
}
