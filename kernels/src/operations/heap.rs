//! Carries out a [`Call`] with the host's kernels, on a heap in host memory.
//!
//! Simulated devices compute this way, and the conformance suite runs the host's kernels this way. The places of a call
//! become views, and `run` of the operation computes with them. The module is `unsafe` because the columns of matrices
//! in a heap may be interleaved, so the matrices are no slices.

use super::{Call, Mat, Resolve};
use crate::{MatMut, MatRef, Scalar, cpu::Operand};
use std::ptr::NonNull;
use superscalar_runtime::{DeviceError, Mode};

/// Returns the address of `span` bytes at `offset` of a heap; the span is not zero.
///
/// # Safety
/// The returned address is valid for reads and writes of the span while the call is carried out.
pub(crate) unsafe trait Heap {
    fn address(&self, offset: usize, span: usize) -> Result<NonNull<u8>, DeviceError>;
}

impl<T: Scalar> Call<T> {
    /// Carries the call out on a heap that consists of this memory.
    ///
    /// # Errors
    /// If [`check`](Self::check) refuses the call, a matrix reaches beyond the memory or is not aligned for its
    /// elements, or an interchange names no row of A. A failure of the operation itself is a [`DeviceError::outcome`].
    ///
    /// ```
    /// use superscalar::kernels::{Op, device::{Call, Mat}, operations::Lacpy};
    /// let mut heap = [1.0, 2.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0];
    /// let (a, b) = (Mat::<f64>::at(0, (2, 2), 2), Mat::at(4, (2, 2), 2));
    /// Call::Lacpy(Lacpy { op: Op::Trans, a, b }).run_in(bytemuck::cast_slice_mut(&mut heap))?;
    /// assert_eq!(heap[4..], [1.0, 3.0, 2.0, 4.0]);
    /// # Ok::<(), superscalar::DeviceError>(())
    /// ```
    pub fn run_in(&self, memory: &mut [u8]) -> Result<(), DeviceError> {
        self.check()?;
        let heap = SliceHeap { start: NonNull::from(&mut *memory).cast(), bytes: memory.len() };
        // SAFETY: the call was checked, and `memory` is borrowed exclusively until this function returns.
        unsafe { self.run(&heap) }
    }

    /// Carries out a checked call on any heap.
    ///
    /// # Safety
    /// [`check`](Self::check) has accepted the call. Until this returns, nobody else writes the matrices of the call,
    /// and nobody else reads those that it writes.
    pub(crate) unsafe fn run(&self, heap: &dyn Heap) -> Result<(), DeviceError> {
        // SAFETY: the call was checked, and by this function's contract nobody else uses its matrices until it returns.
        // The operation asks for each matrix once, and no other `HeapViews` of them exists.
        self.operation().run(&mut unsafe { HeapViews::new(heap) })
    }
}

/// Makes views of the matrices of a call in a heap.
pub(super) struct HeapViews<'h> {
    heap: &'h dyn Heap,
}

impl<'h> HeapViews<'h> {
    /// # Safety
    /// While this value lives, the caller asks only for matrices of a checked call, for each in its mode, and for each
    /// matrix that is written at most once. Nobody else writes these matrices, or reads those that are written.
    pub unsafe fn new(heap: &'h dyn Heap) -> Self {
        Self { heap }
    }

    pub fn view<E>(&self, mat: Mat<E>) -> Result<MatRef<'h, E>, DeviceError> {
        let address = self.address(mat)?;
        // SAFETY: the heap's contract makes the address valid for every element; by the contract of `new` nobody writes
        // them while `'h` lasts. Every bit pattern is a valid element (`Scalar`, `Half` and i32 are plain data).
        Ok(unsafe { MatRef::from_address(address, mat.shape(), mat.ld) })
    }

    pub fn view_mut<E>(&mut self, mat: Mat<E>) -> Result<MatMut<'h, E>, DeviceError> {
        let address = self.address(mat)?;
        // SAFETY: the heap's contract makes the address valid for every element. The check has found that the columns
        // do not overlap and that the matrix overlaps no other of the call. By the contract of `new` it is asked for
        // once and nobody else uses it.
        Ok(unsafe { MatMut::from_address(address, mat.shape(), mat.ld) })
    }

    /// Returns the address of the first element, or a dangling one if the matrix is empty.
    fn address<E>(&self, mat: Mat<E>) -> Result<*mut E, DeviceError> {
        let region = mat.region();
        if mat.m == 0 || mat.n == 0 {
            return Ok(NonNull::dangling().as_ptr());
        }
        let span = (region.columns - 1) * region.stride_bytes + region.row_bytes;
        let address = self.heap.address(region.offset, span)?.cast::<E>().as_ptr();
        if !address.is_aligned() {
            return Err(DeviceError::new(format!(
                "the matrix at byte {} is not aligned for its elements",
                region.offset
            )));
        }
        Ok(address)
    }
}

impl<'h, T: Scalar> Resolve<Mat<T>> for HeapViews<'h> {
    type Read = Operand<'h, T>;
    type Write = MatMut<'h, T>;
    type Error = DeviceError;

    fn read(&mut self, _: &'static str, mat: &Mat<T>) -> Result<Operand<'h, T>, DeviceError> {
        Ok(self.view(*mat)?.into())
    }

    fn write(&mut self, _: &'static str, _: Mode, mat: &Mat<T>) -> Result<MatMut<'h, T>, DeviceError> {
        self.view_mut(*mat)
    }
}

/// A heap that is a slice of bytes.
struct SliceHeap {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the address is checked to be inside the slice, which `run_in` borrows exclusively.
unsafe impl Heap for SliceHeap {
    fn address(&self, offset: usize, span: usize) -> Result<NonNull<u8>, DeviceError> {
        if offset.checked_add(span).is_none_or(|end| end > self.bytes) {
            let bytes = self.bytes;
            return Err(DeviceError::new(format!("{span} bytes at offset {offset} exceed a heap of {bytes} bytes")));
        }
        // SAFETY: `offset` is at most the length of the slice, which `start` begins.
        Ok(unsafe { self.start.add(offset) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Direction,
        operations::{Laswp, Scale},
    };

    #[test]
    fn invalid_heap_contents_are_errors() {
        let mut heap = vec![0_u64; 64];
        let memory: &mut [u8] = bytemuck::cast_slice_mut(&mut heap);
        let a = Mat::<f64>::at(0, (4, 2), 4);
        let laswp =
            |at| Call::Laswp(Laswp { a, first: 0, ipiv: vec![Mat::at(at, (2, 1), 2)], direction: Direction::Forward });
        let message = |result: Result<(), DeviceError>| result.unwrap_err().to_string();
        assert_eq!(message(laswp(20).run_in(memory)), "laswp: interchange with row 0, but A has 4 rows");
        memory[80] = 5;
        assert_eq!(message(laswp(20).run_in(memory)), "laswp: interchange with row 5, but A has 4 rows");
        assert_eq!(message(laswp(127).run_in(memory)), "8 bytes at offset 508 exceed a heap of 512 bytes");
        let odd = Call::Scale(Scale { part: None, beta: 0.0, a }).run_in(&mut memory[1..]);
        assert_eq!(message(odd), "the matrix at byte 0 is not aligned for its elements");
        assert_eq!(
            message(Call::Scale(Scale { part: None, beta: 0.0, a: Mat::at(0, (5, 1), 4) }).run_in(memory)),
            "scale: the columns of A overlap"
        );
    }
}
