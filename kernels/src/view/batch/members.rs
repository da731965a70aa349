//! The two kinds of batches that lie in one slice.

use crate::view::{
    ViewError, ViewErrorKind,
    layout::{Layout, elements_spanned},
};
use superscalar_runtime::HostRegion;

/// Matrices of one shape at constant distances: column p of `spans` holds the elements from the first to the last of
/// matrix p, whose columns are `ld` elements apart.
#[derive(Clone, Copy)]
pub(super) struct StridedBatch<V> {
    pub spans: V,
    pub shape: (usize, usize),
    pub ld: usize,
}

impl<V> StridedBatch<V> {
    /// Checks the sizes of a strided batch, and makes the view of its spans.
    pub fn new(
        shape @ (m, n): (usize, usize),
        ld: usize,
        spans: impl FnOnce(usize) -> Result<V, ViewError>,
    ) -> Result<Self, ViewError> {
        if ld < m.max(1) {
            return Err(ViewErrorKind::LeadingDimension { m, ld }.into());
        }
        let spans = spans(elements_spanned(shape, ld).ok_or(ViewErrorKind::TooLarge { m, n, ld })?)?;
        Ok(Self { spans, shape, ld })
    }

    /// Returns the layout of the matrix whose first element is at this address.
    pub fn layout<T>(&self, address: *mut T) -> Layout<T> {
        Layout { ptr: address, m: self.shape.0, n: self.shape.1, row_stride: 1, col_stride: self.ld }
    }
}

/// Returns the bytes of a batch's columns as one column, if nothing lies between them.
pub(super) fn joined(region: HostRegion) -> HostRegion {
    let HostRegion { base, row_bytes, columns, stride_bytes } = region;
    if row_bytes != stride_bytes {
        return region;
    }
    let bytes = row_bytes * columns;
    HostRegion { base, row_bytes: bytes, columns: 1, stride_bytes: bytes }
}

/// Returns the number of matrices in a slice of `len` elements that lie one behind the other.
pub(super) fn count_in(len: usize, (m, n): (usize, usize)) -> Result<usize, ViewError> {
    let size = m.checked_mul(n).ok_or(ViewErrorKind::TooLarge { m, n, ld: m })?;
    match len.checked_rem(size) {
        Some(0) => Ok(len / size),
        _ => Err(ViewErrorKind::NotWhole { m, n, len }.into()),
    }
}

/// Matrices of different shapes, one behind the other, without gaps.
#[derive(Clone)]
pub(super) struct ShapedBatch<V> {
    /// A column with all elements.
    pub elements: V,
    /// For each matrix the number of its first element, and its shape.
    pub members: Vec<(usize, (usize, usize))>,
}

impl<V> ShapedBatch<V> {
    /// Places matrices of these shapes in the slice's elements, which they fill.
    pub fn new(
        shapes: &[(usize, usize)],
        len: usize,
        elements: impl FnOnce() -> Result<V, ViewError>,
    ) -> Result<Self, ViewError> {
        let mut end = 0_usize;
        let mut members = Vec::with_capacity(shapes.len());
        for &(m, n) in shapes {
            members.push((end, (m, n)));
            let size = m.checked_mul(n).and_then(|size| end.checked_add(size));
            end = size.filter(|&end| end <= len).ok_or(ViewErrorKind::Shapes { count: shapes.len(), len })?;
        }
        if end != len {
            return Err(ViewErrorKind::Shapes { count: shapes.len(), len }.into());
        }
        Ok(Self { elements: elements()?, members })
    }

    /// Splits the matrices: 0 .. count, and the rest. `split` splits the elements.
    pub fn split_at(self, count: usize, split: impl FnOnce(V, usize) -> (V, V)) -> (Self, Self) {
        let Self { elements, members: mut first } = self;
        let mut rest = first.split_off(count);
        // Without a rest, all elements are those of the first part.
        let last = first.last().map_or(0, |(start, (m, n))| start + m * n);
        let start = rest.first().map_or(last, |member| member.0);
        rest.iter_mut().for_each(|member| member.0 -= start);
        let (before, behind) = split(elements, start);
        (Self { elements: before, members: first }, Self { elements: behind, members: rest })
    }

    /// Returns the layout of matrix p, given the address of the first element of all.
    pub fn layout<T>(&self, elements: *mut T, p: usize) -> Layout<T> {
        let (start, (m, n)) = self.members[p];
        // At most one past the last element, because the members fill the elements.
        Layout { ptr: elements.wrapping_add(start), m, n, row_stride: 1, col_stride: m.max(1) }
    }
}
