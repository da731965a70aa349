//! [`SmallCopies`]: copies of a few kilobytes between heaps, by a kernel on the destination device.
//!
//! A kernel that reads the other GPU's memory takes about half the time of the driver's command for such a copy, and
//! launching it takes the host less time, too (measured: docs/measurements/2026-11-28-constants.md). The kernel needs a
//! free multiprocessor, but so does any kernel that uses the value on this device. The stream for copies from peers is
//! urgent, so it gets the first multiprocessor that becomes free.
//!
//! A device with peers compiles the kernel, or finds it on disk, when it is opened, so that no copy waits for that. If
//! that fails, for example without NVRTC, all copies use the driver's command. So do copies that the copier issues,
//! which wait for others anyway (`copier`).

use super::{
    device_state::DeviceState,
    failure::check,
    program::{LoadedProgram, Program},
    transfer::{Address, CopySide, Shape, enqueue},
};
use cudarc::driver::sys::{self, CUdeviceptr, CUfunction, CUstream};
use std::{
    ffi::c_void,
    ptr,
    sync::{Arc, LazyLock},
};
use superscalar_runtime::DeviceError;

/// The largest copy by the kernel, in bytes. All pieces are read at once, so the size hardly changes the latency.
const BYTES_MAX: usize = 16 << 10;
const THREADS: u32 = 256;

static PROGRAM: LazyLock<Program> = LazyLock::new(|| Program::new("small copies", include_str!("text/copy.cu"), &[]));

/// The kernel, loaded on one device.
#[derive(Debug)]
pub(super) struct SmallCopies {
    function: CUfunction,
    /// Keeps the function's module loaded.
    _loaded: Arc<LoadedProgram>,
}

// SAFETY: a function belongs to its module, which `_loaded` keeps, and not to a thread.
unsafe impl Send for SmallCopies {}
// SAFETY: a shared `SmallCopies` only launches the function, and several threads may launch it at once.
unsafe impl Sync for SmallCopies {}

impl SmallCopies {
    /// Compiles and loads the kernel. Returns `None` if that fails; then all copies use the driver's command.
    pub(super) fn load(state: &DeviceState) -> Option<Self> {
        let loaded = state.programs.get(&state.context, &PROGRAM).ok()?;
        state.context.make_current().ok()?;
        Some(Self { function: loaded.function("copy").ok()?, _loaded: loaded })
    }

    /// Puts a copy into a stream of the device: by the kernel if it is small and between heaps, otherwise like
    /// [`enqueue`].
    ///
    /// # Safety
    /// As for [`enqueue`]. In addition, the device's context is current, and the device can access both heaps.
    pub(super) unsafe fn enqueue(
        &self,
        stream: CUstream,
        shape: Shape,
        from: CopySide,
        to: CopySide,
    ) -> Result<(), DeviceError> {
        let Some(mut args) = KernelArgs::of(shape, from, to) else {
            // SAFETY: the caller guarantees the conditions of `enqueue`.
            return unsafe { enqueue(stream, shape, from, to) };
        };
        let blocks = args.count.div_ceil(THREADS);
        let mut params = args.params();
        // SAFETY: the function is loaded in the current context and takes these arguments, which the call copies. The
        // kernel accesses only the columns; the caller keeps them valid and free of conflicting accesses until it has
        // ended.
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

/// The kernel's arguments for a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KernelArgs {
    from: CUdeviceptr,
    from_stride: u64,
    to: CUdeviceptr,
    to_stride: u64,
    /// The number of pieces in a column, and in all columns.
    per_column: u32,
    count: u32,
    piece_bytes: u32,
}

impl KernelArgs {
    /// Returns `None` if the copy is too large for the kernel or involves the host.
    fn of(shape: Shape, from: CopySide, to: CopySide) -> Option<Self> {
        let (Address::Device(source), Address::Device(target)) = (from.address, to.address) else { return None };
        let bytes = shape.bytes();
        if bytes > BYTES_MAX {
            return None;
        }
        // Columns without gaps are a single column, whose stride does not matter.
        let is_whole = from.has_no_gaps(shape) && to.has_no_gaps(shape);
        let (row_bytes, from_stride, to_stride) =
            if is_whole { (bytes, 0, 0) } else { (shape.row_bytes, from.stride as u64, to.stride as u64) };
        let piece_bytes = piece_bytes(source | from_stride | target | to_stride | row_bytes as u64);
        let pieces = |bytes: usize| bytes as u32 / piece_bytes;
        let (per_column, count) = (pieces(row_bytes), pieces(bytes));
        Some(Self { from: source, from_stride, to: target, to_stride, per_column, count, piece_bytes })
    }

    /// Returns pointers to the kernel's arguments, in their order.
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

/// Returns the largest piece size that divides addresses, strides and columns. `bits` is their bitwise or.
fn piece_bytes(bits: u64) -> u32 {
    [16, 8, 4].into_iter().find(|&bytes| bits.is_multiple_of(u64::from(bytes))).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAP: CUdeviceptr = 0x7f00_0000_0000;

    fn args(shape: (usize, usize), from: (u64, usize), to: (u64, usize)) -> Option<KernelArgs> {
        let end = |(offset, stride)| CopySide { address: Address::Device(HEAP + offset), stride };
        KernelArgs::of(Shape { row_bytes: shape.0, columns: shape.1 }, end(from), end(to))
    }

    #[test]
    fn piece_size_follows_alignment() {
        let bytes = |shape, from, to| args(shape, from, to).expect("a small copy").piece_bytes;
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
        // Four columns of four bytes are one piece of sixteen; the stride of a single column does not matter.
        let four = KernelArgs {
            from: HEAP + 16,
            from_stride: 0,
            to: HEAP,
            to_stride: 0,
            per_column: 1,
            count: 1,
            piece_bytes: 16,
        };
        assert_eq!(args((4, 4), (16, 4), (0, 4)), Some(four));
        assert_eq!(args((16, 1), (16, 5), (0, 0)), Some(four));
        // A gap on one side is enough to keep the columns apart.
        let gaps = KernelArgs { to_stride: 5, from_stride: 4, per_column: 4, count: 16, piece_bytes: 1, ..four };
        assert_eq!(args((4, 4), (16, 4), (0, 5)), Some(gaps));
    }

    /// Computes source and destination of each piece, as the kernel's threads do.
    fn pieces(args: &KernelArgs) -> impl Iterator<Item = (u64, u64)> {
        let KernelArgs { from, from_stride, to, to_stride, per_column, count, piece_bytes } = *args;
        (0..count).map(move |piece| {
            let (column, row) = (u64::from(piece / per_column), u64::from(piece % per_column * piece_bytes));
            (from + column * from_stride + row, to + column * to_stride + row)
        })
    }

    #[test]
    fn pieces_cover_columns_and_are_aligned() {
        for (row_bytes, columns) in [(1, 1), (3, 5), (12, 100), (48, 7), (100, 100), (1024, 16), (BYTES_MAX, 1)] {
            for (from, to) in [((0, 0), (0, 0)), ((16, 16), (32, 0)), ((8, 0), (24, 8)), ((1, 2), (4, 4))] {
                let (from, to) = ((from.0, row_bytes + from.1), (to.0, row_bytes + to.1));
                let args = args((row_bytes, columns), from, to).expect("a small copy");
                let bytes = u64::from(args.piece_bytes);
                let mut moved: Vec<(u64, u64)> = Vec::new();
                for (source, target) in pieces(&args) {
                    assert!(source % bytes == 0 && target % bytes == 0, "{args:?}");
                    moved.extend((0..bytes).map(|byte| (source + byte, target + byte)));
                }
                let place = |(offset, stride): (u64, usize), at: usize| {
                    HEAP + offset + (at / row_bytes * stride + at % row_bytes) as u64
                };
                let expected: Vec<_> = (0..row_bytes * columns).map(|at| (place(from, at), place(to, at))).collect();
                assert!(moved == expected, "{args:?}");
            }
        }
    }

    #[test]
    fn large_and_host_copies_bypass_the_kernel() {
        assert!(args((BYTES_MAX, 1), (0, 0), (0, 0)).is_some());
        assert_eq!(args((BYTES_MAX + 1, 1), (0, 0), (0, 0)), None);
        assert!(args((BYTES_MAX / 16, 16), (0, 2000), (0, 2000)).is_some());
        assert_eq!(args((BYTES_MAX / 16 + 1, 16), (0, 2000), (0, 2000)), None);
        let (shape, device) =
            (Shape { row_bytes: 8, columns: 1 }, CopySide { address: Address::Device(HEAP), stride: 8 });
        let host = CopySide { address: Address::Host(ptr::null_mut()), stride: 8 };
        assert_eq!((KernelArgs::of(shape, host, device), KernelArgs::of(shape, device, host)), (None, None));
    }
}
