//! [`SmallCopies`]: copies of a few kilobytes between heaps, by a kernel of the device that they go to.
//!
//! The driver's command for a copy between two GPUs takes 7 to 9 microseconds for 8 bytes as for 4096, and putting it in takes the host nearly 4
//! more than a launch does. A kernel that reads the other GPU's memory, in the same stream, takes 3 to 4: the hop of a chain from GPU to
//! GPU costs 9 with it and 18 with the command (measured on two H200 by calls of the driver alone). The kernel needs free room on a
//! multiprocessor, as whatever uses the value on this device does, too; the stream for copies from peers is an urgent one, so that it
//! gets what comes free first.
//!
//! A device has this if it has peers: it is compiled, or found on disk, when the device is opened, so that no copy waits for it. Where that
//! fails, as without NVRTC, all copies are the driver's commands. So are those that a copier puts in, which has others before them (`copier`).

use super::{
    board::Board,
    failure::check,
    program::{Loaded, Program},
    transfer::{End, Place, Shape, enqueue},
};
use cudarc::driver::sys::{self, CUdeviceptr, CUfunction, CUstream};
use std::{
    ffi::c_void,
    ptr,
    sync::{Arc, LazyLock},
};
use superscalar_runtime::DeviceError;

/// What is copied so at most. One block that went through them in a loop, 8 bytes by each thread, would be as fast as the driver's
/// command at about 12 KiB; here all pieces are on their way at once, so that the bytes add little to the latency.
const BYTES_MAX: usize = 16 << 10;
const THREADS: u32 = 256;

static PROGRAM: LazyLock<Program> = LazyLock::new(|| Program::new("small copies", include_str!("text/copy.cu"), &[]));

/// The kernel, loaded on one device.
#[derive(Debug)]
pub(super) struct SmallCopies {
    function: CUfunction,
    /// What the function is of.
    _loaded: Arc<Loaded>,
}

// SAFETY: a function belongs to its program and to no thread; launches of it may be made by several at once.
unsafe impl Send for SmallCopies {}
// SAFETY: as above.
unsafe impl Sync for SmallCopies {}

impl SmallCopies {
    /// Compiles and loads the kernel. None if that can not be done: then there is the driver's command for every copy.
    pub(super) fn load(board: &Board) -> Option<Self> {
        let loaded = board.programs.get(&board.context, &PROGRAM).ok()?;
        board.context.make_current().ok()?;
        Some(Self { function: loaded.function("copy").ok()?, _loaded: loaded })
    }

    /// Puts a copy into a stream of the device: by the kernel if it is small and between heaps, otherwise as [`enqueue`] does.
    ///
    /// # Safety
    /// As for [`enqueue`]; the device's context is current, and the device can reach both heaps.
    pub(super) unsafe fn enqueue(&self, stream: CUstream, shape: Shape, from: End, to: End) -> Result<(), DeviceError> {
        let Some(mut plan) = Plan::of(shape, from, to) else {
            // SAFETY: the caller's promise.
            return unsafe { enqueue(stream, shape, from, to) };
        };
        let blocks = plan.count.div_ceil(THREADS);
        let mut params = plan.params();
        // SAFETY: the function is of the device, and these are its arguments, which are copied. It touches what the columns have, and no more;
        // that they stay, and that nobody else does meanwhile, is the caller's promise.
        let code = unsafe {
            sys::cuLaunchKernel(
                self.function,
                blocks,
                1,
                1,
                THREADS,
                1,
                1,
                0,
                stream,
                params.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        check(code, "cuLaunchKernel")
    }
}

/// What the kernel is told of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    from: CUdeviceptr,
    from_stride: u64,
    to: CUdeviceptr,
    to_stride: u64,
    /// Pieces of a column, and of all columns.
    per_column: u32,
    count: u32,
    piece_bytes: u32,
}

impl Plan {
    /// None if the copy is not the kernel's affair.
    fn of(shape: Shape, from: End, to: End) -> Option<Self> {
        let (Place::Device(source), Place::Device(target)) = (from.place, to.place) else { return None };
        let bytes = shape.bytes();
        if bytes > BYTES_MAX {
            return None;
        }
        // Without gaps the columns are a single one, whose stride does not count.
        let is_whole = from.is_whole(shape) && to.is_whole(shape);
        let (row_bytes, from_stride, to_stride) =
            if is_whole { (bytes, 0, 0) } else { (shape.row_bytes, from.stride as u64, to.stride as u64) };
        let piece_bytes = piece_bytes(source | from_stride | target | to_stride | row_bytes as u64);
        let pieces = |bytes: usize| bytes as u32 / piece_bytes;
        let (per_column, count) = (pieces(row_bytes), pieces(bytes));
        Some(Self { from: source, from_stride, to: target, to_stride, per_column, count, piece_bytes })
    }

    /// Where the kernel's arguments are, in its order.
    fn params(&mut self) -> [*mut c_void; 7] {
        let Self { from, from_stride, to, to_stride, per_column, count, piece_bytes } = self;
        [
            ptr::from_mut(from).cast(),
            ptr::from_mut(from_stride).cast(),
            ptr::from_mut(to).cast(),
            ptr::from_mut(to_stride).cast(),
            ptr::from_mut(per_column).cast(),
            ptr::from_mut(count).cast(),
            ptr::from_mut(piece_bytes).cast(),
        ]
    }
}

/// The largest piece that divides addresses, strides and columns, which are given by their common bits.
fn piece_bytes(bits: u64) -> u32 {
    [16, 8, 4].into_iter().find(|&bytes| bits.is_multiple_of(u64::from(bytes))).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAP: CUdeviceptr = 0x7f00_0000_0000;

    fn plan(shape: (usize, usize), from: (u64, usize), to: (u64, usize)) -> Option<Plan> {
        let end = |(offset, stride)| End { place: Place::Device(HEAP + offset), stride };
        Plan::of(Shape { row_bytes: shape.0, columns: shape.1 }, end(from), end(to))
    }

    #[test]
    fn pieces_are_as_large_as_addresses_strides_and_columns_allow() {
        let bytes = |shape, from, to| plan(shape, from, to).expect("a small copy").piece_bytes;
        assert_eq!(bytes((64, 3), (0, 64), (0, 80)), 16);
        assert_eq!(bytes((64, 3), (0, 72), (0, 80)), 8);
        assert_eq!(bytes((64, 3), (0, 80), (0, 100)), 4);
        assert_eq!(bytes((64, 3), (0, 80), (0, 81)), 1);
        assert_eq!(bytes((64, 3), (0, 82), (0, 80)), 1);
        assert_eq!(bytes((24, 3), (0, 32), (0, 32)), 8);
        assert_eq!(bytes((12, 3), (0, 32), (0, 32)), 4);
        assert_eq!(bytes((7, 3), (0, 32), (0, 32)), 1);
        assert_eq!(bytes((64, 3), (8, 64), (0, 80)), 8);
        assert_eq!(bytes((64, 3), (0, 64), (4, 80)), 4);
        assert_eq!(bytes((64, 3), (3, 64), (0, 80)), 1);
    }

    #[test]
    fn columns_without_gaps_are_one() {
        // Four columns of four bytes are one piece of sixteen; strides of a single column do not matter.
        let four =
            Plan { from: HEAP + 16, from_stride: 0, to: HEAP, to_stride: 0, per_column: 1, count: 1, piece_bytes: 16 };
        assert_eq!(plan((4, 4), (16, 4), (0, 4)), Some(four));
        assert_eq!(plan((16, 1), (16, 5), (0, 0)), Some(four));
        // A gap on one side is enough.
        let gaps = Plan { to_stride: 5, from_stride: 4, per_column: 4, count: 16, piece_bytes: 1, ..four };
        assert_eq!(plan((4, 4), (16, 4), (0, 5)), Some(gaps));
    }

    /// As the kernel's threads reckon: where each piece comes from, and where it goes.
    fn pieces(plan: &Plan) -> impl Iterator<Item = (u64, u64)> {
        let Plan { from, from_stride, to, to_stride, per_column, count, piece_bytes } = *plan;
        (0..count).map(move |piece| {
            let (column, row) = (u64::from(piece / per_column), u64::from(piece % per_column * piece_bytes));
            (from + column * from_stride + row, to + column * to_stride + row)
        })
    }

    #[test]
    fn pieces_are_all_of_the_columns_and_lie_at_multiples_of_their_size() {
        for (row_bytes, columns) in [(1, 1), (3, 5), (12, 100), (48, 7), (100, 100), (1024, 16), (BYTES_MAX, 1)] {
            for (from, to) in [((0, 0), (0, 0)), ((16, 16), (32, 0)), ((8, 0), (24, 8)), ((1, 2), (4, 4))] {
                let (from, to) = ((from.0, row_bytes + from.1), (to.0, row_bytes + to.1));
                let plan = plan((row_bytes, columns), from, to).expect("a small copy");
                let bytes = u64::from(plan.piece_bytes);
                let mut moved: Vec<(u64, u64)> = Vec::new();
                for (source, target) in pieces(&plan) {
                    assert!(source % bytes == 0 && target % bytes == 0, "{plan:?}");
                    moved.extend((0..bytes).map(|byte| (source + byte, target + byte)));
                }
                let place = |(offset, stride): (u64, usize), at: usize| {
                    HEAP + offset + (at / row_bytes * stride + at % row_bytes) as u64
                };
                let expected: Vec<_> = (0..row_bytes * columns).map(|at| (place(from, at), place(to, at))).collect();
                assert!(moved == expected, "{plan:?}");
            }
        }
    }

    #[test]
    fn large_copies_and_those_with_the_host_are_not_the_kernels() {
        assert!(plan((BYTES_MAX, 1), (0, 0), (0, 0)).is_some());
        assert_eq!(plan((BYTES_MAX + 1, 1), (0, 0), (0, 0)), None);
        assert!(plan((BYTES_MAX / 16, 16), (0, 2000), (0, 2000)).is_some());
        assert_eq!(plan((BYTES_MAX / 16 + 1, 16), (0, 2000), (0, 2000)), None);
        let (shape, device) = (Shape { row_bytes: 8, columns: 1 }, End { place: Place::Device(HEAP), stride: 8 });
        let host = End { place: Place::Host(ptr::null_mut()), stride: 8 };
        assert_eq!((Plan::of(shape, host, device), Plan::of(shape, device, host)), (None, None));
    }
}
