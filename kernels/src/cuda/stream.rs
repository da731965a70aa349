//! [`Stream`]: where the kernels of one call go, and the scratch memory that they share.
//!
//! Without a queue, a stream only finds out how much scratch its call takes: the sequence of launches is written once.

use super::program::Family;
use crate::{Scalar, device::Mat, scratch::Scratch};
use bytemuck::Pod;
use std::{ffi::c_void, marker::PhantomData, ops::Range};
use superscalar_devices::cuda::Queue;
use superscalar_runtime::DeviceError;

/// Pieces of scratch begin at multiples of this many bytes: what cuBLAS's fastest kernels want, and more than a line of the cache.
const ALIGN: usize = 256;

/// The most blocks of a grid in its second and third dimension.
pub(super) const GRID_MAX: usize = 65535;

/// One argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument {
    /// An address in the heap, by its byte.
    Address(usize),
    /// The bytes of a value.
    Value(Value),
}

/// Enough for an element of any type, and aligned for it.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(super) struct Value([u8; 16]);

impl Argument {
    /// The start of a matrix.
    pub fn start<E>(mat: Mat<E>) -> Self {
        Self::Address(mat.offset * size_of::<E>())
    }

    /// A number of rows or columns or a leading dimension, `place`.
    pub fn place(value: usize) -> Self {
        Self::value(value as i64)
    }

    /// A choice, `int`.
    pub fn code(value: i32) -> Self {
        Self::value(value)
    }

    /// A scalar of the kernels' type, or another number.
    pub fn value<E: Pod>(value: E) -> Self {
        Self::Value(Value::of(value))
    }
}

impl Value {
    fn of<E: Pod>(value: E) -> Self {
        const { assert!(size_of::<E>() <= 16, "too large for an argument of a kernel") };
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
    /// Blocks in each direction; with none in one there is nothing to do.
    pub grid: [usize; 3],
    /// Threads of a block.
    pub threads: [usize; 2],
}

/// What a launch needs besides.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Manner {
    /// Shared memory of each block, besides what the kernel declares.
    pub shared_bytes: usize,
    /// Whether blocks run at once, since they wait for each other.
    pub together: Together,
}

/// Which blocks run at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Together {
    /// Some, in any order.
    #[default]
    Any,
    /// All.
    Grid,
    /// All, and they reach each other's shared memory.
    Cluster,
}

/// The launches of one call.
pub(super) struct Stream<'a, T> {
    pub(super) queue: Option<&'a mut Queue>,
    pub(super) scratch: Scratch<ALIGN>,
    element: PhantomData<T>,
}

impl<'a, T: Scalar> Stream<'a, T> {
    /// Into a queue, with these bytes of the heap as scratch.
    pub fn new(queue: &'a mut Queue, scratch: Range<usize>) -> Self {
        Self { queue: Some(queue), scratch: Scratch::new(scratch), element: PhantomData }
    }

    /// To nowhere.
    pub fn dry() -> Self {
        Self { queue: None, scratch: Scratch::dry(), element: PhantomData }
    }

    /// Puts a kernel into the queue; nothing where there is nothing to do.
    pub fn launch(&mut self, launch: Launch<'_>) -> Result<(), DeviceError> {
        self.launch_with(launch, Manner::default())
    }

    /// How many blocks of a kernel the device runs at once, if it is idle; `None` without a queue.
    pub fn blocks_at_once(
        &mut self,
        (family, kernel): (Family, &'static str),
        threads: usize,
        shared_bytes: usize,
    ) -> Result<Option<usize>, DeviceError> {
        let Some(queue) = &mut self.queue else { return Ok(None) };
        let function = queue.function(family.program::<T>(), kernel)?;
        let shared_bytes = u32::try_from(shared_bytes).unwrap_or(u32::MAX);
        // SAFETY: the function is the queue's own.
        unsafe { queue.blocks_at_once(function, threads as u32, shared_bytes) }.map(Some)
    }

    /// Whether the device runs a cluster of so many blocks of a kernel; `None` without a queue.
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
        // SAFETY: the function is the queue's own.
        let clusters = unsafe { queue.clusters_at_once(function, blocks as u32, threads as u32, shared_bytes)? };
        Ok(Some(clusters > 0))
    }

    /// The same with shared memory, or for blocks that wait for each other.
    pub fn launch_with(&mut self, launch: Launch<'_>, manner: Manner) -> Result<(), DeviceError> {
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
        // SAFETY: the kernels of the family take these arguments, which the callers in this folder name in order. They touch the
        // call's operands, which agree and lie in the heap, as `check` has found, and scratch up to `end`. That the task may touch
        // them is what makes them its operands.
        unsafe {
            let shared_bytes = manner.shared_bytes as u32;
            match manner.together {
                Together::Any => queue.launch(function, grid, threads, shared_bytes, &mut parameters),
                Together::Grid => queue.launch_at_once(function, grid, threads, shared_bytes, &mut parameters),
                Together::Cluster => queue.launch_cluster(function, blocks, threads, shared_bytes, &mut parameters),
            }
        }
    }

    /// Launches go aside from now on, and may run beside those of the queue, if that is [urgent](Queue::is_urgent); in others they stay, as all of
    /// them together take no less of the device. See [`Queue::aside`].
    pub fn aside(&mut self) -> Result<(), DeviceError> {
        self.urgent_queue().map_or(Ok(()), Queue::aside)
    }

    /// What goes aside from now on waits for what is in the queue by now.
    pub fn fork(&mut self) -> Result<(), DeviceError> {
        self.urgent_queue().map_or(Ok(()), Queue::fork)
    }

    /// Launches go into the queue again.
    pub fn back(&mut self) {
        self.urgent_queue().into_iter().for_each(Queue::back);
    }

    /// The same, and what goes there waits for all that went aside.
    pub fn join(&mut self) -> Result<(), DeviceError> {
        self.urgent_queue().map_or(Ok(()), Queue::join)
    }

    fn urgent_queue(&mut self) -> Option<&mut Queue> {
        self.queue.as_deref_mut().filter(|queue| queue.is_urgent())
    }

    /// An `int`, zero at first, that kernels may write: what becomes of the call is judged by what they have left there.
    pub fn outcome(
        &mut self,
        judge: impl FnOnce(i32) -> Result<(), DeviceError> + Send + 'static,
    ) -> Result<Argument, DeviceError> {
        let address = self.queue.as_mut().map_or(Ok(0), |queue| queue.outcome(judge))?;
        Ok(Argument::value(address))
    }

    /// An m x n matrix in scratch, without gaps between its columns, until it is [released](Scratch::release).
    pub fn take<E>(&mut self, (m, n): (usize, usize)) -> Result<Mat<E>, DeviceError> {
        let start = self.scratch.take::<E>(m.saturating_mul(n))?;
        Ok(Mat::at(start, (m, n), m.max(1)))
    }
}
