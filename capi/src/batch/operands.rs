//! The arguments of batched routines: sizes of each problem, and operands whose matrices are anywhere.

use super::write_integers;
use crate::abi::{Failure, Int, MatMut, MatRef, Size, matrix, matrix_mut};
use std::ops::Range;
use superscalar::kernels::{BatchMut, BatchRef, elements_spanned};

/// The problems of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    /// The position of the number of problems in the call.
    pub(crate) at: i32,
    pub(crate) count: Size,
    /// Whether all problems have the same sizes.
    pub(crate) is_uniform: bool,
}

impl Batch {
    pub(super) fn problems(&self) -> Range<usize> {
        0..self.count.get()
    }

    /// Returns an error for the first wrong argument. `conditions` returns the positions and conditions of a problem.
    pub(super) fn check<const N: usize>(&self, conditions: impl Fn(usize) -> [(i32, bool); N]) -> Result<(), Failure> {
        let distinct = if self.is_uniform { 0..1 } else { self.problems() };
        for p in distinct {
            crate::abi::check(&conditions(p))?;
        }
        Ok(crate::abi::check(&[(self.at, self.count.is_valid())])?)
    }
}

/// A size of each problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes<'a, I> {
    at: i32,
    values: SizeValues<'a, I>,
}

#[derive(Clone, Copy, Debug)]
enum SizeValues<'a, I> {
    Same(Size),
    Each(&'a [I]),
}

impl<'a, I: Int> Sizes<'a, I> {
    /// Returns a size that all problems have. `at` is its position in the call.
    pub(crate) fn same(at: i32, size: I) -> Self {
        Self { at, values: SizeValues::Same(Size::of(size)) }
    }

    /// Returns the sizes in a table. Those of a table at null are missing.
    ///
    /// # Safety
    /// The address is null, or `count` integers may be read there during `'a`, and nothing writes them.
    pub(crate) unsafe fn each(at: i32, table: *const I, count: Size) -> Self {
        // SAFETY: the caller guarantees that the integers are readable and not written during `'a`.
        Self { at, values: SizeValues::Each(unsafe { super::table(table, count) }) }
    }

    /// Returns the size of problem p. A missing one is not valid.
    pub(super) fn of(&self, p: usize) -> Size {
        match self.values {
            SizeValues::Same(size) => size,
            SizeValues::Each(sizes) => sizes.get(p).map_or(Size::MISSING, |&size| Size::of(size)),
        }
    }

    /// Returns the position of the size, and whether that of problem p is valid.
    pub(super) fn is_valid(&self, p: usize) -> (i32, bool) {
        (self.at, self.of(p).is_valid())
    }

    /// Returns the position of the size, and whether that of problem p is from 0 to `most`.
    pub(super) fn is_at_most(&self, p: usize, most: Size) -> (i32, bool) {
        (self.at, self.of(p).is_valid() && self.of(p) <= most)
    }
}

/// The address of an element that is read or written.
pub(crate) trait Address: Copy {
    const NULL: Self;
    fn is_null(self) -> bool;
    fn offset(self, elements: isize) -> Self;
}

impl<E> Address for *const E {
    const NULL: Self = std::ptr::null();

    fn is_null(self) -> bool {
        self.is_null()
    }

    fn offset(self, elements: isize) -> Self {
        self.wrapping_offset(elements)
    }
}

impl<E> Address for *mut E {
    const NULL: Self = std::ptr::null_mut();

    fn is_null(self) -> bool {
        self.is_null()
    }

    fn offset(self, elements: isize) -> Self {
        self.wrapping_offset(elements)
    }
}

/// Where the matrices of an operand begin.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a, P> {
    Table(&'a [P]),
    Strided { first: P, stride: Size, stride_at: i32 },
}

impl<P> Place<'_, P> {
    /// Returns the addresses in a table. Those of a table at null are missing.
    ///
    /// # Safety
    /// The address is null, or `count` addresses may be read there during the call, and nothing writes them.
    pub(crate) unsafe fn table(table: *const P, count: Size) -> Self {
        // SAFETY: the caller guarantees that the addresses are readable and not written during the call.
        Self::Table(unsafe { super::table(table, count) })
    }
}

/// The distances of elements.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Spacing<'a, I> {
    /// The matrices have these leading dimensions.
    Leading(Sizes<'a, I>),
    /// The elements of a vector are this far apart.
    Increment(Sizes<'a, I>),
    /// The elements of a column are adjacent.
    Adjacent,
}

/// An operand of each problem. `P` is the type of an address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand<'a, P, I> {
    /// The position of the address in the call.
    pub(crate) at: i32,
    pub(crate) place: Place<'a, P>,
    pub(crate) spacing: Spacing<'a, I>,
}

/// An operand with a leading dimension.
pub(crate) type Matrices<'a, P, I> = Operand<'a, P, I>;
/// An operand with an increment.
pub(crate) type Vectors<'a, P, I> = Operand<'a, P, I>;
/// An operand of adjacent elements.
pub(crate) type Columns<'a, P, I> = Operand<'a, P, I>;

/// A column-major matrix in memory.
#[derive(Clone, Copy, Debug)]
struct StoredMatrix {
    shape: (Size, Size),
    ld: Size,
    /// Whether it is the transpose of the operand.
    is_transposed: bool,
}

impl StoredMatrix {
    fn is_empty(&self) -> bool {
        self.shape.0 == Size::ZERO || self.shape.1 == Size::ZERO
    }

    /// Returns the number of elements from the first to the last.
    fn span(&self) -> usize {
        let shape = (self.shape.0.get(), self.shape.1.get());
        elements_spanned(shape, self.ld.get()).unwrap_or(usize::MAX)
    }

    /// Returns whether some of `count` such matrices have common elements if they begin `stride` elements apart.
    fn overlap(&self, stride: usize, count: usize) -> bool {
        let ((m, n), ld, span) = ((self.shape.0.get(), self.shape.1.get()), self.ld.get(), self.span());
        let apart = (1..count).map_while(|k| k.checked_mul(stride).filter(|&apart| apart < span));
        // Elements of two matrices that coincide are `apart` = column difference * ld + row difference apart.
        apart
            .map(|apart| (apart / ld, apart % ld))
            .any(|(columns, rows)| (columns < n && rows < m) || (columns + 1 < n && ld - rows < m))
    }
}

impl<P: Address, I: Int> Operand<'_, P, I> {
    /// Returns the position and the condition of the leading dimension or increment in problem p, whose matrix has
    /// this number of rows.
    pub(super) fn is_spaced(&self, p: usize, rows: Size) -> (i32, bool) {
        match &self.spacing {
            Spacing::Leading(ld) => (ld.at, ld.of(p).spans(rows)),
            Spacing::Increment(inc) => (inc.at, inc.of(p).is_forward()),
            Spacing::Adjacent => (self.at, true),
        }
    }

    fn stored(&self, p: usize, (m, n): (Size, Size)) -> StoredMatrix {
        let adjacent = StoredMatrix { shape: (m, n), ld: m.max(Size::ONE), is_transposed: false };
        match &self.spacing {
            Spacing::Leading(ld) => StoredMatrix { ld: ld.of(p), ..adjacent },
            Spacing::Increment(inc) if inc.of(p) != Size::ONE => {
                StoredMatrix { shape: (n, m), ld: inc.of(p), is_transposed: true }
            }
            Spacing::Increment(_) | Spacing::Adjacent => adjacent,
        }
    }

    /// Returns the address of the matrix of problem p. It is null only if the matrix is empty.
    fn address(&self, p: usize, stored: StoredMatrix) -> Result<P, Failure> {
        let address = match self.place {
            _ if stored.is_empty() => return Ok(P::NULL),
            Place::Table(table) => table.get(p).copied().unwrap_or(P::NULL),
            Place::Strided { first, .. } if first.is_null() => P::NULL,
            Place::Strided { first, stride, .. } => first.offset((p as isize).wrapping_mul(stride.stride())),
        };
        if address.is_null() { Err(Failure::Argument(self.at)) } else { Ok(address) }
    }

    /// Returns the stride of matrices of one shape without gaps between columns, or `None` if they are gathered one by
    /// one. Gaps may belong to others.
    fn stride(&self, batch: &Batch, stored: StoredMatrix) -> Result<Option<usize>, Failure> {
        let is_dense = stored.ld == stored.shape.0 || stored.shape.1 == Size::ONE;
        match self.place {
            Place::Strided { stride, stride_at, .. } if !stride.is_valid() => Err(Failure::Argument(stride_at)),
            // Without problems, the address of the first matrix may be null.
            _ if !batch.is_uniform || batch.count.get() == 0 => Ok(None),
            _ if stored.is_empty() => Ok(Some(0)),
            Place::Strided { stride, .. } if is_dense && !stored.is_transposed => Ok(Some(stride.get())),
            _ => Ok(None),
        }
    }
}

impl<E, I: Int> Operand<'_, *const E, I> {
    /// Returns the matrices, of which that of problem p has the shape `shape(p)`.
    ///
    /// # Safety
    /// The elements may be read during `'b`, and nothing writes them. The spacing has been checked.
    pub(super) unsafe fn view<'b>(
        &self,
        batch: &Batch,
        shape: &dyn Fn(usize) -> (Size, Size),
    ) -> Result<BatchRef<'b, E>, Failure> {
        // SAFETY: the caller's guarantees are those that are required.
        unsafe { self.view_as(batch, shape) }
    }

    /// Does the same with another type of elements.
    ///
    /// # Safety
    /// As for [`Self::view`], and the elements may be read as `V`.
    unsafe fn view_as<'b, V>(
        &self,
        batch: &Batch,
        shape: &dyn Fn(usize) -> (Size, Size),
    ) -> Result<BatchRef<'b, V>, Failure> {
        let first = self.stored(0, shape(0));
        if let Some(stride) = self.stride(batch, first)? {
            let (address, shape) = (self.address(0, first)?, (first.shape.0.get(), first.shape.1.get()));
            // SAFETY: the caller guarantees that the elements are readable and not written during `'b`.
            let view = unsafe { BatchRef::from_raw(address.cast(), shape, stride, batch.count.get()) };
            return view.map_err(|error| Failure::Unsolved(error.to_string()));
        }
        let member = |p| {
            let stored = self.stored(p, shape(p));
            // SAFETY: the caller guarantees that the elements are readable and not written during `'b`.
            let view: MatRef<'b, V> = unsafe { matrix(self.address(p, stored)?.cast(), stored.shape, stored.ld) };
            Ok::<_, Failure>(if stored.is_transposed { view.transpose() } else { view })
        };
        Ok(BatchRef::gathered(batch.problems().map(member).collect::<Result<_, _>>()?))
    }
}

impl<E, I: Int> Operand<'_, *mut E, I> {
    /// Returns the matrices, of which that of problem p has the shape `shape(p)`. Strides at which matrices have
    /// common elements are an error.
    ///
    /// # Safety
    /// The elements may be read and written during `'b`, and nothing else accesses them. The spacing has been checked,
    /// and the addresses of a table are those of disjoint matrices.
    pub(super) unsafe fn view_mut<'b>(
        &self,
        batch: &Batch,
        shape: &dyn Fn(usize) -> (Size, Size),
    ) -> Result<BatchMut<'b, E>, Failure> {
        // SAFETY: the caller's guarantees are those that are required.
        unsafe { self.view_mut_as(batch, shape) }
    }

    /// Does the same with another type of elements.
    ///
    /// # Safety
    /// As for [`Self::view_mut`], and the elements may be read and written as `V`.
    unsafe fn view_mut_as<'b, V>(
        &self,
        batch: &Batch,
        shape: &dyn Fn(usize) -> (Size, Size),
    ) -> Result<BatchMut<'b, V>, Failure> {
        let (first, count) = (self.stored(0, shape(0)), batch.count.get());
        if let Place::Strided { stride, stride_at, .. } = self.place
            && stride.is_valid()
            && first.overlap(stride.get(), count)
        {
            return Err(Failure::Argument(stride_at));
        }
        let is_in_order = |stride: &usize| *stride >= first.span() || count <= 1;
        if let Some(stride) = self.stride(batch, first)?.filter(is_in_order) {
            let (address, shape) = (self.address(0, first)?, (first.shape.0.get(), first.shape.1.get()));
            // SAFETY: the caller guarantees exclusive access to the elements during `'b`.
            let view = unsafe { BatchMut::from_raw(address.cast(), shape, stride, count) };
            return view.map_err(|error| Failure::Unsolved(error.to_string()));
        }
        let member = |p| {
            let stored = self.stored(p, shape(p));
            // SAFETY: the caller guarantees exclusive access to the elements during `'b`, and that no two matrices have
            // an element in common.
            let view: MatMut<'b, V> = unsafe { matrix_mut(self.address(p, stored)?.cast(), stored.shape, stored.ld) };
            Ok::<_, Failure>(if stored.is_transposed { view.transpose() } else { view })
        };
        Ok(BatchMut::gathered(batch.problems().map(member).collect::<Result<_, _>>()?))
    }
}

/// Returns whether the interface has integers of 32 bits, which the routines use.
fn is_narrow<I>() -> bool {
    size_of::<I>() == size_of::<i32>()
}

impl<I: Int> Columns<'_, *const I, I> {
    /// Calls `body` with the interchanges of problems with `rows(p)` rows, as 32-bit integers.
    ///
    /// # Safety
    /// The integers may be read during the call, and nothing writes them.
    pub(super) unsafe fn read_interchanges<R>(
        &self,
        batch: &Batch,
        rows: &dyn Fn(usize) -> Size,
        body: impl FnOnce(BatchRef<'_, i32>) -> R,
    ) -> Result<R, Failure> {
        // SAFETY: the caller guarantees that the integers are readable and not written during the call.
        let given = unsafe { self.view(batch, &|p| (rows(p), Size::ONE))? };
        if is_narrow::<I>() {
            // SAFETY: the caller guarantees that the integers are readable and not written during the call. `I` has 32
            // bits, so they may be read as `i32`.
            return Ok(body(unsafe { self.view_as(batch, &|p| (rows(p), Size::ONE))? }));
        }
        // No interchange of a matrix is 0, so that one which is too large is refused.
        let narrow = |p: I| i32::try_from(p.wide()).unwrap_or(0);
        let members = batch.problems().map(|p| given.get(p));
        let mut copy: Vec<i32> =
            members.flat_map(|column| (0..column.nrows()).map(move |i| narrow(column.at(i, 0)))).collect();
        let columns = columns(&mut copy, batch.problems().map(|p| rows(p).get()));
        Ok(body(BatchRef::gathered(columns.into_iter().map(MatMut::into_ref).collect())))
    }
}

impl<I: Int> Columns<'_, *mut I, I> {
    /// Calls `body` with `rows(p)` interchanges of each problem, as 32-bit integers, which it writes.
    ///
    /// # Safety
    /// The integers may be written during the call, and nothing else accesses them.
    pub(super) unsafe fn write_interchanges<R>(
        &self,
        batch: &Batch,
        rows: &dyn Fn(usize) -> Size,
        body: impl FnOnce(BatchMut<'_, i32>) -> R,
    ) -> Result<R, Failure> {
        if is_narrow::<I>() {
            // SAFETY: the caller guarantees exclusive access to the integers during the call; `I` has 32 bits.
            return Ok(body(unsafe { self.view_mut_as(batch, &|p| (rows(p), Size::ONE))? }));
        }
        // SAFETY: the caller guarantees exclusive access to the integers during the call.
        let mut given = unsafe { self.view_mut(batch, &|p| (rows(p), Size::ONE))? };
        let mut copy = vec![0; batch.problems().map(|p| rows(p).get()).sum()];
        let result = body(BatchMut::gathered(columns(&mut copy, batch.problems().map(|p| rows(p).get()))));
        let mut narrow = copy.into_iter();
        for p in batch.problems() {
            let mut column = given.get_mut(p);
            (0..column.nrows()).zip(&mut narrow).for_each(|(i, p)| column[(i, 0)] = I::narrow(p.into()));
        }
        Ok(result)
    }
}

/// Divides a slice into columns of these lengths.
fn columns(mut rest: &mut [i32], lengths: impl Iterator<Item = usize>) -> Vec<MatMut<'_, i32>> {
    let column = |len| {
        let (column, others) = std::mem::take(&mut rest).split_at_mut(len);
        rest = others;
        MatMut::from_col_major(column, len, 1, len.max(1)).expect("the slice has this length")
    };
    lengths.map(column).collect()
}

/// The numbers `info` of all problems.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcomes<I> {
    at: i32,
    address: *mut I,
}

impl<I: Int> Outcomes<I> {
    /// `at` is the position in the call.
    pub(crate) fn new(at: i32, address: *mut I) -> Self {
        Self { at, address }
    }

    /// Returns the position, and whether there is an address if there are problems.
    pub(super) fn is_valid(&self, batch: &Batch) -> (i32, bool) {
        (self.at, batch.count.get() == 0 || !self.address.is_null())
    }

    /// Calls `body` with the numbers as 32-bit integers, which are zero.
    ///
    /// # Safety
    /// As many integers as problems may be written at the address, and nothing else accesses them during the call.
    pub(super) unsafe fn write<R>(&self, batch: &Batch, body: impl FnOnce(&mut [i32]) -> R) -> R {
        let zeroed = |info: &mut [i32]| {
            info.fill(0);
            body(info)
        };
        // SAFETY: the caller guarantees exclusive access to the integers during the call.
        unsafe { write_integers(self.address, batch.count.get(), zeroed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the elements of all matrices, one by one.
    #[test]
    fn overlaps_are_found() {
        for ((m, n), (ld, stride)) in (0..4 * 4)
            .flat_map(|shape| (0..7 * 30).map(move |at| (shape, at)))
            .map(|(shape, at): (usize, usize)| ((shape / 4, shape % 4), (shape / 4 + at % 7, at / 7)))
        {
            let ld = ld.max(1);
            let [rows, cols, width] = [m, n, ld].map(Size::from_len);
            let stored = StoredMatrix { shape: (rows, cols), ld: width, is_transposed: false };
            for count in [0, 1, 2, 5] {
                let mut all: Vec<usize> = (0..count)
                    .flat_map(|p| (0..n).flat_map(move |j| (0..m).map(move |i| p * stride + i + j * ld)))
                    .collect();
                let elements = all.len();
                all.sort_unstable();
                all.dedup();
                let found = stored.overlap(stride, count);
                assert_eq!(found, all.len() < elements, "{count} of {m} x {n}, ld {ld}, stride {stride}");
            }
        }
    }
}
