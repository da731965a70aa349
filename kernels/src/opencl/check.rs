//! Whether the operands of a call lie in the heap: kernels go by what they are told.

use crate::{
    Scalar,
    device::{Call, Mat, Triangle},
};
use std::ops::Range;
use superscalar_runtime::DeviceError;

/// Fails unless all operands lie in the first so many bytes of the heap, and the scratch memory, too.
pub(super) fn check_bounds<T: Scalar>(
    call: &Call<T>,
    scratch: &Range<usize>,
    heap_bytes: usize,
) -> Result<(), DeviceError> {
    let operands: Vec<Mat<T>> = match call {
        Call::Gemm { a, b, c, .. } | Call::Symm { a, b, c, .. } | Call::Rank2k { a, b, c, .. } => vec![*a, *b, *c],
        Call::RankK { a, c, .. } => vec![*a, *c],
        Call::Trmm(Triangle { a, b, .. }) | Call::Trsm(Triangle { a, b, .. }) | Call::Copy { a, b, .. } => vec![*a, *b],
        Call::Larfb { v, t, c, .. } => vec![*v, *t, *c],
        Call::Geqrf { a, t, tau } => vec![*a, *t, *tau],
        Call::Getrf { a, .. } | Call::Potrf { a, .. } | Call::Laswp { a, .. } | Call::Scale { a, .. } => vec![*a],
    };
    let indices = match call {
        Call::Laswp { ipiv, .. } => &ipiv[..],
        Call::Getrf { ipiv, .. } => std::slice::from_ref(ipiv),
        _ => &[],
    };
    let is_inside = operands.into_iter().all(|a| ends_within(a, heap_bytes))
        && indices.iter().all(|&one| ends_within(one, heap_bytes))
        && scratch.start <= scratch.end
        && scratch.end <= heap_bytes;
    if is_inside {
        return Ok(());
    }
    Err(DeviceError::new(format!(
        "operands or scratch memory {scratch:?} leave the heap of {heap_bytes} bytes: {call:?}"
    )))
}

/// Whether the last element of a matrix, if it has one, lies in so many bytes.
fn ends_within<E>(a: Mat<E>, bytes: usize) -> bool {
    if a.m == 0 || a.n == 0 {
        return true;
    }
    let end = (a.n - 1).checked_mul(a.ld).and_then(|last| last.checked_add(a.m)?.checked_add(a.offset));
    end.and_then(|end| end.checked_mul(size_of::<E>())).is_some_and(|end| end <= bytes)
}
