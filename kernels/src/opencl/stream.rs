//! [`Stream`]: the launches of one call, and the scratch memory that they share.
//!
//! A stream without a queue only measures how much scratch its call takes, so that the sequence of launches is written
//! once.

use super::{Parameters, Program, program::source};
use crate::{Scalar, scratch::Scratch};
use std::ops::Range;
use superscalar_devices::opencl::{Arg, OpenclQueue};
use superscalar_runtime::DeviceError;

/// The alignment of scratch, in bytes: a multiple of the widest vector and of a cache line.
const ALIGN: usize = 128;

/// One argument of a kernel. The heap, which is the first argument of every kernel, is not listed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument {
    /// An offset, a leading dimension or a stride, `ulong`.
    Offset(usize),
    /// A stride that may be negative, `long`.
    Stride(isize),
    /// A number of rows, columns or steps, `int`.
    Count(usize),
    /// A number of rows or columns of a batch, `long`, that kernels count in `int`.
    Size(usize),
    /// An option, `int`.
    Code(i32),
    /// A scalar.
    Element(Arg),
}

impl Argument {
    /// Passes a scalar of the kernels' type.
    pub fn element<T: Scalar>(x: T) -> Self {
        Self::Element(Arg::value(x))
    }

    fn arg(&self) -> Arg {
        match *self {
            Self::Offset(offset) => Arg::value(offset as u64),
            Self::Stride(stride) => Arg::value(stride as i64),
            // At most `COUNT_MAX`, as `launch` has checked.
            Self::Count(n) => Arg::value(n as i32),
            Self::Size(n) => Arg::value(n as i64),
            Self::Code(code) => Arg::value(code),
            Self::Element(arg) => arg,
        }
    }
}

/// One launch of a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Launch<'a> {
    pub program: Program,
    pub kernel: &'static str,
    pub arguments: &'a [Argument],
    /// Work-groups in both directions.
    pub groups: [usize; 2],
    /// Work-items of a group.
    pub local: [usize; 2],
}

/// The launches of one call.
pub(super) struct Stream<'a> {
    pub parameters: Parameters,
    pub scratch: Scratch<ALIGN>,
    queue: Option<&'a mut OpenclQueue>,
}

impl<'a> Stream<'a> {
    /// Makes a stream into a queue, with these bytes of the heap as scratch.
    pub fn new(parameters: Parameters, queue: &'a mut OpenclQueue, scratch: Range<usize>) -> Self {
        Self { parameters, scratch: Scratch::new(scratch), queue: Some(queue) }
    }

    /// Makes a stream without a queue, which measures scratch.
    pub fn measuring(parameters: Parameters) -> Self {
        Self { parameters, scratch: Scratch::measuring(), queue: None }
    }

    /// Returns whether the stream only measures scratch.
    pub fn is_measuring(&self) -> bool {
        self.queue.is_none()
    }

    /// Returns the number of groups of a launch that run at the same time, or 0 if that is unknown.
    pub fn concurrent_groups(&self) -> usize {
        self.queue.as_ref().map_or(0, |queue| queue.class().concurrent_groups)
    }

    /// Returns the number of the device's units, or 0 if that is unknown.
    pub fn units(&self) -> usize {
        self.queue.as_ref().map_or(0, |queue| queue.class().compute_units as usize)
    }

    /// Puts a kernel into the queue. An empty range of groups launches nothing.
    pub fn launch(&mut self, launch: Launch<'_>) -> Result<(), DeviceError> {
        let Launch { program, kernel, arguments, groups, local } = launch;
        let too_large =
            |argument: &&Argument| matches!(argument, Argument::Count(n) | Argument::Size(n) if *n > COUNT_MAX);
        if let Some(argument) = arguments.iter().find(too_large) {
            return Err(DeviceError::new(format!("kernel `{kernel}`: {argument:?} exceeds {COUNT_MAX}")));
        }
        let Some(queue) = &mut self.queue else { return Ok(()) };
        if groups.contains(&0) {
            return Ok(());
        }
        let args: Vec<Arg> = [Arg::Heap].into_iter().chain(arguments.iter().map(Argument::arg)).collect();
        let global = [groups[0] * local[0], groups[1] * local[1]];
        let source = source(program, &self.parameters);
        // SAFETY: the kernel touches only the call's operands, which agree and are in the heap, as `check` has found,
        // and scratch up to its end. The task owns these operands until the queue reports it finished.
        unsafe { queue.launch(&source, kernel, &args, &global, Some(&local)) }
    }

    /// Lets `judge` turn the `int` at this offset, counted in `int`s, into the outcome of the call when the queue is
    /// done.
    pub fn set_outcome(
        &mut self,
        offset: usize,
        judge: impl FnOnce(i32) -> Result<(), DeviceError> + Send + 'static,
    ) -> Result<(), DeviceError> {
        let Some(queue) = &mut self.queue else { return Ok(()) };
        let size = size_of::<i32>();
        queue.after(offset * size..(offset + 1) * size, move |bytes| {
            let bytes = bytes
                .try_into()
                .map_err(|_| DeviceError::new(format!("the status has {} bytes, not 4", bytes.len())))?;
            judge(i32::from_ne_bytes(bytes))
        })
    }
}

/// The largest count: kernels count in `int`, and add the size of a block.
const COUNT_MAX: usize = i32::MAX as usize - 4096;
