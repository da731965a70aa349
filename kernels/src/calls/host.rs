//! A [`Call`] carried out by the host's kernels, on a heap in host memory.
//!
//! This is how simulated devices compute, and how the conformance suite runs the host's kernels. It is the one place where
//! the variants of [`Call`] meet the functions of [`cpu`]. `unsafe` stands here because a heap has no slices: its
//! matrices lie between each other's columns.

use super::{Call, Mat, Triangle};
use crate::{MatMut, MatRef, NotPositiveDefinite, Op, Scalar, cpu};
use std::ptr::NonNull;
use superscalar_runtime::DeviceError;

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
    /// use superscalar_kernels::{Op, device::{Call, Mat}};
    /// let mut heap = [1.0, 2.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0];
    /// let (a, b) = (Mat::<f64>::at(0, (2, 2), 2), Mat::at(4, (2, 2), 2));
    /// Call::Copy { op: Op::Trans, a, b }.run_in(bytemuck::cast_slice_mut(&mut heap))?;
    /// assert_eq!(heap[4..], [1.0, 3.0, 2.0, 4.0]);
    /// # Ok::<(), superscalar_runtime::DeviceError>(())
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
    pub(crate) unsafe fn run(&self, heap: &impl Heap) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise is that of `Views`.
        let at = unsafe { Views::new(heap) };
        if let Some(parts) = self.triangle_and_rest() {
            // SAFETY: parts of the call's own matrices, which agree as those do.
            return parts.iter().try_for_each(|part| unsafe { part.run(heap) });
        }
        match self {
            Self::Gemm { .. } | Self::Symm { .. } | Self::RankK { .. } | Self::Rank2k { .. } => self.product(&at),
            &Self::Trmm(Triangle { side, uplo, op, diag, alpha, a, b }) => {
                cpu::trmm(side, uplo, op, diag, alpha, at.read(a)?, at.write(b)?);
                Ok(())
            }
            &Self::Trsm(Triangle { side, uplo, op, diag, alpha, a, b }) => {
                cpu::trsm(side, uplo, op, diag, alpha, at.read(a)?, at.write(b)?);
                Ok(())
            }
            &Self::Potrf { uplo, first, a } => {
                cpu::potrf(uplo, at.write(a)?).map_err(|NotPositiveDefinite { minor }| {
                    DeviceError::outcome(NotPositiveDefinite { minor: first + minor })
                })
            }
            &Self::Getrf { a, first, ipiv } => {
                let mut rows = vec![0; ipiv.m];
                // Who factors the whole matrix looks at the pivots.
                let _zero_pivot = cpu::getrf(at.write(a)?, &mut rows);
                let mut ipiv = at.write(ipiv)?;
                rows.iter().enumerate().for_each(|(i, row)| ipiv[(i, 0)] = first as i32 + row);
                Ok(())
            }
            &Self::Geqrf { a, t, tau } => {
                let mut factors = vec![T::ZERO; tau.m];
                cpu::geqrf(at.write(a)?, &mut factors, at.write(t)?);
                let mut tau = at.write(tau)?;
                factors.iter().enumerate().for_each(|(i, &factor)| tau[(i, 0)] = factor);
                Ok(())
            }
            Self::Laswp { a, first, ipiv, direction } => {
                let rows = ipiv.iter().try_fold(Vec::new(), |mut rows, block| {
                    rows.extend(at.read(*block)?.to_vec());
                    Ok::<_, DeviceError>(rows)
                })?;
                if let Some(row) =
                    rows.iter().find(|&&row| !usize::try_from(row).is_ok_and(|row| (1..=a.m).contains(&row)))
                {
                    return Err(DeviceError::new(format!("laswp: an interchange with row {row} of {}", a.m)));
                }
                cpu::laswp(at.write(*a)?, *first, &rows, *direction);
                Ok(())
            }
            &Self::Larfb { side, op, v, t, c } => {
                cpu::larfb(side, op, cpu::BlockReflector::new(at.read(v)?, at.read(t)?), at.write(c)?);
                Ok(())
            }
            &Self::Copy { op, a, b } => {
                copy(op, at.read(a)?, at.write(b)?);
                Ok(())
            }
            &Self::Scale { part, beta, a } => {
                // A product of no depth scales, by the rules of its routine.
                let (nothing, other) = (at.read(Mat::at(0, (a.m, 0), a.m))?, at.read(Mat::at(0, (0, a.n), 1))?);
                match part {
                    None => cpu::gemm(T::ZERO, Op::None, nothing, Op::None, other, beta, at.write(a)?),
                    Some((uplo, false)) => cpu::syrk(uplo, Op::None, T::ZERO, nothing, beta, at.write(a)?),
                    Some((uplo, true)) => cpu::herk(uplo, Op::None, T::ZERO.re(), nothing, beta.re(), at.write(a)?),
                }
                Ok(())
            }
        }
    }

    /// The calls that are products of general matrices, at least in part.
    fn product(&self, at: &Views<'_, impl Heap>) -> Result<(), DeviceError> {
        match *self {
            Self::Gemm { part, op_a, op_b, alpha, a, b, beta, c } => {
                let (a, b, c) = (at.read(a)?, at.read(b)?, at.write(c)?);
                match part {
                    None => cpu::gemm(alpha, op_a, a, op_b, b, beta, c),
                    Some(uplo) => cpu::gemmt(uplo, alpha, op_a, a, op_b, b, beta, c),
                }
            }
            Self::Symm { hermitian, side, uplo, alpha, a, b, beta, c } => {
                let apply = if hermitian { cpu::hemm } else { cpu::symm };
                apply(side, uplo, alpha, at.read(a)?, at.read(b)?, beta, at.write(c)?);
            }
            Self::RankK { hermitian, uplo, op, alpha, a, beta, c } => {
                let (a, c) = (at.read(a)?, at.write(c)?);
                match hermitian {
                    false => cpu::syrk(uplo, op, alpha, a, beta, c),
                    true => cpu::herk(uplo, op, alpha.re(), a, beta.re(), c),
                }
            }
            Self::Rank2k { hermitian, uplo, op, alpha, a, b, beta, c } => {
                let (a, b, c) = (at.read(a)?, at.read(b)?, at.write(c)?);
                match hermitian {
                    false => cpu::syr2k(uplo, op, alpha, a, b, beta, c),
                    true => cpu::her2k(uplo, op, alpha, a, b, beta.re(), c),
                }
            }
            _ => unreachable!("`run` sends products here"),
        }
        Ok(())
    }
}

/// B := op(A).
fn copy<T: Scalar>(op: Op, a: MatRef<'_, T>, mut b: MatMut<'_, T>) {
    match op {
        Op::None => b.copy_from(a),
        Op::Trans => b.copy_from(a.transpose()),
        Op::ConjTrans => (0..b.ncols()).for_each(|j| (0..b.nrows()).for_each(|i| b[(i, j)] = a.at(j, i).conj())),
    }
}

/// Views of matrices in a heap.
struct Views<'h, H> {
    heap: &'h H,
}

impl<'h, H: Heap> Views<'h, H> {
    /// # Safety
    /// While this lives, only matrices of a checked call are asked for, each in its mode and those that are written once; and nobody
    /// else writes them, or reads those that are written.
    unsafe fn new(heap: &'h H) -> Self {
        Self { heap }
    }

    fn read<E>(&self, mat: Mat<E>) -> Result<MatRef<'_, E>, DeviceError> {
        let address = self.address(mat)?;
        // SAFETY: the heap vouches for the address of every element, `new`'s caller for that nobody writes them, and every
        // pattern of bits is an element (`Scalar` and i32 are plain data).
        Ok(unsafe { MatRef::from_address(address, mat.shape(), mat.ld) })
    }

    fn write<E>(&self, mat: Mat<E>) -> Result<MatMut<'_, E>, DeviceError> {
        let address = self.address(mat)?;
        // SAFETY: as above; the check has seen that columns do not overlap, nor the matrix another of the call, and it is asked for
        // once.
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
    use crate::Direction;

    #[test]
    fn what_only_the_heap_can_tell_is_an_error_and_no_panic() {
        let mut heap = vec![0_u64; 64];
        let memory: &mut [u8] = bytemuck::cast_slice_mut(&mut heap);
        let a = Mat::<f64>::at(0, (4, 2), 4);
        let laswp = |at| Call::Laswp { a, first: 0, ipiv: vec![Mat::at(at, (2, 1), 2)], direction: Direction::Forward };
        let message = |result: Result<(), DeviceError>| result.unwrap_err().to_string();
        assert_eq!(message(laswp(20).run_in(memory)), "laswp: an interchange with row 0 of 4");
        memory[80] = 5;
        assert_eq!(message(laswp(20).run_in(memory)), "laswp: an interchange with row 5 of 4");
        assert_eq!(message(laswp(127).run_in(memory)), "8 bytes from 508 on reach beyond a heap of 512 bytes");
        let odd = Call::Scale { part: None, beta: 0.0, a }.run_in(&mut memory[1..]);
        assert_eq!(message(odd), "a matrix at byte 0 begins between two elements");
        assert_eq!(
            message(Call::Scale { part: None, beta: 0.0, a: Mat::at(0, (5, 1), 4) }.run_in(memory)),
            "scale: the columns of A overlap"
        );
    }
}
