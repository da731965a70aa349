//! trmm and trsm, by cuBLAS.

use super::{elements::scale, stream::Stream};
use crate::{Scalar, device::Triangle};
use superscalar_runtime::DeviceError;

/// B := alpha op(A) B or alpha B op(A); alpha = 0 does not read A.
pub(super) fn trmm<T: Scalar>(stream: &mut Stream<'_, T>, triangle: &Triangle<T>) -> Result<(), DeviceError> {
    match triangle.b.shape() {
        (0, _) | (_, 0) => Ok(()),
        _ if triangle.alpha == T::ZERO => scale(stream, None, T::ZERO, triangle.b),
        _ => stream.trmm(triangle),
    }
}

/// B := alpha op(A)⁻¹ B or alpha B op(A)⁻¹; alpha = 0 does not read A.
pub(super) fn trsm<T: Scalar>(stream: &mut Stream<'_, T>, triangle: &Triangle<T>) -> Result<(), DeviceError> {
    match triangle.b.shape() {
        (0, _) | (_, 0) => Ok(()),
        _ if triangle.alpha == T::ZERO => scale(stream, None, T::ZERO, triangle.b),
        _ => stream.trsm(triangle),
    }
}
