//! Batches of packed matrices at an address, for callers from C.

use super::{BatchMut, BatchRef};
use crate::view::{MatMut, MatRef, ViewError, ViewErrorKind};

/// Returns the number of elements of a matrix.
fn size((m, n): (usize, usize)) -> Result<usize, ViewError> {
    Ok(m.checked_mul(n).ok_or(ViewErrorKind::TooLarge { m, n, ld: m })?)
}

impl<T> BatchRef<'_, T> {
    /// Returns the view of `count` m x n matrices without gaps between columns, of which the first begins at `ptr` and
    /// each other one `stride` elements after the one before. They may overlap. The pointer may be null if they are
    /// empty.
    ///
    /// # Errors
    /// If a matrix has more elements than a `usize` can count.
    ///
    /// # Safety
    /// The elements of the matrices are valid for the view's lifetime, and nobody writes them during it. The memory
    /// between matrices is not accessed, so others may write it.
    pub unsafe fn from_raw(
        ptr: *const T,
        shape: (usize, usize),
        stride: usize,
        count: usize,
    ) -> Result<Self, ViewError> {
        // SAFETY: by this function's contract the elements of each matrix, which are a column of the spans, are valid.
        let spans = unsafe { MatRef::from_address(ptr, (size(shape)?, count), stride) };
        Ok(Self::from_spans(spans, shape, shape.0.max(1)))
    }
}

impl<T> BatchMut<'_, T> {
    /// Returns the view of `count` m x n matrices without gaps between columns, of which the first begins at `ptr` and
    /// each other one `stride` elements after the one before. The pointer may be null if they are empty.
    ///
    /// # Errors
    /// If a matrix begins before the last element of the one before.
    ///
    /// # Safety
    /// The elements of the matrices are valid for the view's lifetime, and nobody else accesses them during it. The
    /// memory between matrices is not accessed, so others may use it.
    pub unsafe fn from_raw(ptr: *mut T, shape: (usize, usize), stride: usize, count: usize) -> Result<Self, ViewError> {
        let size = size(shape)?;
        if stride < size && count > 1 {
            return Err(ViewErrorKind::Overlap { m: size, n: count, row: 1, col: stride }.into());
        }
        // SAFETY: by this function's contract the elements of each matrix, which are a column of the spans, are valid
        // and nobody else accesses them. The columns do not overlap.
        let spans = unsafe { MatMut::from_address(ptr, (size, count), stride) };
        Ok(Self::from_spans(spans, shape, shape.0.max(1)))
    }
}
