//! [`Stream`]: where the kernels of one call go, and the scratch memory that they share.
//!
//! Without a queue, a stream only finds out how much scratch its call takes: the sequence of launches is written once.

use super::{Parameters, Program, program::source};
use crate::{Scalar, scratch::Scratch};
use std::ops::Range;
use superscalar_devices::opencl::{Arg, OpenclQueue};
use superscalar_runtime::DeviceError;

/// Pieces of scratch begin at multiples of this many bytes: of the widest vector, and of a cache line.
const ALIGN: usize = 128;

/// One argument of a kernel, behind the heap, which is the first of each.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument {
    /// An offset or a stride, `ulong`.
    Place(usize),
    /// A stride that may be negative, `long`.
    Stride(isize),
    /// A number of rows, columns or steps, `int`.
    Count(usize),
    /// A choice, `int`.
    Code(i32),
    /// A scalar.
    Element(Arg),
}

impl Argument {
    /// A scalar of the kernels' type.
    pub fn element<T: Scalar>(x: T) -> Self {
        Self::Element(Arg::value(x))
    }

    fn arg(&self) -> Arg {
        match *self {
            Self::Place(place) => Arg::value(place as u64),
            Self::Stride(stride) => Arg::value(stride as i64),
            // Below `COUNT_MAX`, as `launch` has made sure.
            Self::Count(n) => Arg::value(n as i32),
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
    /// Into a queue, with these bytes of the heap as scratch.
    pub fn new(parameters: Parameters, queue: &'a mut OpenclQueue, scratch: Range<usize>) -> Self {
        Self { parameters, scratch: Scratch::new(scratch), queue: Some(queue) }
    }

    /// To nowhere.
    pub fn dry(parameters: Parameters) -> Self {
        Self { parameters, scratch: Scratch::dry(), queue: None }
    }

    /// Puts a kernel into the queue; nothing where there is nothing to do.
    pub fn launch(&mut self, launch: Launch<'_>) -> Result<(), DeviceError> {
        let Launch { program, kernel, arguments, groups, local } = launch;
        let too_large = |argument: &&Argument| matches!(argument, Argument::Count(n) if *n > COUNT_MAX);
        if let Some(argument) = arguments.iter().find(too_large) {
            return Err(DeviceError::new(format!("kernel `{kernel}`: {argument:?} is more than {COUNT_MAX}")));
        }
        let Some(queue) = &mut self.queue else { return Ok(()) };
        if groups.contains(&0) {
            return Ok(());
        }
        let args: Vec<Arg> = [Arg::Heap].into_iter().chain(arguments.iter().map(Argument::arg)).collect();
        let global = [groups[0] * local[0], groups[1] * local[1]];
        let source = source(program, &self.parameters);
        // SAFETY: the kernels touch the call's operands, which agree and lie in the heap, as `check` has found, and scratch up to
        // `end`. That the task may touch them is what makes them its operands.
        unsafe { queue.launch(&source, kernel, &args, &global, Some(&local)) }
    }

    /// What becomes of the call by the `int` that the kernels have left at this place, counted in such.
    pub fn after(
        &mut self,
        place: usize,
        judge: impl FnOnce(i32) -> Result<(), DeviceError> + Send + 'static,
    ) -> Result<(), DeviceError> {
        let Some(queue) = &mut self.queue else { return Ok(()) };
        let size = size_of::<i32>();
        queue.after(place * size..(place + 1) * size, move |bytes| {
            let bytes = bytes.try_into().map_err(|_| DeviceError::new(format!("{} bytes of a status", bytes.len())))?;
            judge(i32::from_ne_bytes(bytes))
        })
    }
}

/// Kernels count in `int`, and add a block to it.
const COUNT_MAX: usize = i32::MAX as usize - 4096;
