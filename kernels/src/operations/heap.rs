//! A [`Call`] carried out by the host's kernels, on a heap in host memory.
//!
//! This is how simulated devices compute, and how the conformance suite runs the host's kernels. Here a call's places become views; what is
//! done with them is `run` of its operation. `unsafe` stands here because matrices in a heap lie between each other's columns: they are no
//! slices.

use super::{Call, Mat, Resolve};
use crate::{MatMut, MatRef, Scalar, cpu::Operand};
use std::ptr::NonNull;
use superscalar_runtime::{DeviceError, Mode};

/// The address of these bytes (offset and span, not zero) of a heap.
///
/// # Safety
/// What it returns is valid for reads and writes of the span while the call is carried out.
pub(crate) unsafe trait Heap {
    fn address(&self, offset: usize, span: usize) -> Result<NonNull<u8>, DeviceError>;
}

impl<T: Scalar> Call<T> {
    /// Carries it out on a heap that is this memory.
    ///
    /// # Errors
    /// If it is not a call that can be carried out ([`check`](Self::check)), a matrix reaches beyond the memory or begins between two
    /// elements, or an interchange is none of A's rows. An outcome of the operation is a [`DeviceError::outcome`].
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
        let heap = Memory { start: NonNull::from(&mut *memory).cast(), bytes: memory.len() };
        // SAFETY: the call was checked, and the memory is lent to this function alone.
        unsafe { self.run(&heap) }
    }

    /// The same for any heap, and a call that was checked.
    ///
    /// # Safety
    /// [`check`](Self::check) has accepted the call. Until this returns nobody writes the matrices that it names, and nobody
    /// reads those that it writes.
    pub(crate) unsafe fn run(&self, heap: &dyn Heap) -> Result<(), DeviceError> {
        // SAFETY: the call was checked, nobody else uses its matrices until this returns, and its operation asks for each of
        // them once: no other `Views` of them is made.
        self.placed().run(&mut unsafe { Views::new(heap) })
    }
}

/// Views of matrices in a heap.
pub(super) struct Views<'h> {
    heap: &'h dyn Heap,
}

impl<'h> Views<'h> {
    /// # Safety
    /// While this lives, only matrices of a checked call are asked for, each in its mode and those that are written once; and nobody
    /// else writes them, or reads those that are written.
    unsafe fn new(heap: &'h dyn Heap) -> Self {
        Self { heap }
    }

    pub fn view<E>(&self, mat: Mat<E>) -> Result<MatRef<'h, E>, DeviceError> {
        let address = self.address(mat)?;
        // SAFETY: the heap vouches for the address of every element, `new`'s caller for that nobody writes them, and every
        // pattern of bits is an element (`Scalar` and i32 are plain data).
        Ok(unsafe { MatRef::from_address(address, mat.shape(), mat.ld) })
    }

    pub fn view_mut<E>(&mut self, mat: Mat<E>) -> Result<MatMut<'h, E>, DeviceError> {
        let address = self.address(mat)?;
        // SAFETY: the heap vouches for the address of every element. The check has seen that its columns do not overlap, nor
        // the matrix another one of the call, and it is asked for once; so nobody else has these elements.
        Ok(unsafe { MatMut::from_address(address, mat.shape(), mat.ld) })
    }

    /// The address of its first element, or any if it has none.
    fn address<E>(&self, mat: Mat<E>) -> Result<*mut E, DeviceError> {
        let region = mat.region();
        if mat.m == 0 || mat.n == 0 {
            return Ok(NonNull::dangling().as_ptr());
        }
        let span = (region.columns - 1) * region.stride_bytes + region.row_bytes;
        let address = self.heap.address(region.offset, span)?.cast::<E>().as_ptr();
        if !address.is_aligned() {
            return Err(DeviceError::new(format!("a matrix at byte {} begins between two elements", region.offset)));
        }
        Ok(address)
    }
}

impl<'h, T: Scalar> Resolve<Mat<T>> for Views<'h> {
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
struct Memory {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the address is that of bytes inside the slice, which `run_in` has for itself.
unsafe impl Heap for Memory {
    fn address(&self, offset: usize, span: usize) -> Result<NonNull<u8>, DeviceError> {
        if offset.checked_add(span).is_none_or(|end| end > self.bytes) {
            let bytes = self.bytes;
            return Err(DeviceError::new(format!(
                "{span} bytes from {offset} on reach beyond a heap of {bytes} bytes"
            )));
        }
        // SAFETY: the offset is inside the slice.
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
    fn what_only_the_heap_can_tell_is_an_error_and_no_panic() {
        let mut heap = vec![0_u64; 64];
        let memory: &mut [u8] = bytemuck::cast_slice_mut(&mut heap);
        let a = Mat::<f64>::at(0, (4, 2), 4);
        let laswp =
            |at| Call::Laswp(Laswp { a, first: 0, ipiv: vec![Mat::at(at, (2, 1), 2)], direction: Direction::Forward });
        let message = |result: Result<(), DeviceError>| result.unwrap_err().to_string();
        assert_eq!(message(laswp(20).run_in(memory)), "laswp: an interchange with row 0 of 4");
        memory[80] = 5;
        assert_eq!(message(laswp(20).run_in(memory)), "laswp: an interchange with row 5 of 4");
        assert_eq!(message(laswp(127).run_in(memory)), "8 bytes from 508 on reach beyond a heap of 512 bytes");
        let odd = Call::Scale(Scale { part: None, beta: 0.0, a }).run_in(&mut memory[1..]);
        assert_eq!(message(odd), "a matrix at byte 0 begins between two elements");
        assert_eq!(
            message(Call::Scale(Scale { part: None, beta: 0.0, a: Mat::at(0, (5, 1), 4) }).run_in(memory)),
            "scale: the columns of A overlap"
        );
    }
}
