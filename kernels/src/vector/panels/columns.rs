//! The columns of an LU or QR panel: a copy in scratch, or the matrix itself if its columns are whole vectors.
//!
//! In scratch a column is a run of adjacent reals; for complex types it is a plane of real and a plane of imaginary
//! parts. Columns begin on cache lines, an odd number of vectors apart, so that a row is spread over the sets of the
//! caches, whatever the leading dimension was. Rows are padded with zeros to whole vectors.

use crate::simd::{Vector, prefetch};
use crate::vector::packing::{Factor, pack};
use crate::vector::planes::{planes, put, scalar};
use crate::vector::tiles::micro::{self, OperandStream, eliminate, load_tile, store_tile, with_vectors};
use crate::{MatMut, MatRef, Scalar};
use std::ops::Range;

/// Columns of a product per prefetch.
const COLUMNS_PER_PREFETCH: usize = 8;

/// The address and shape of the columns.
pub(crate) struct Columns<T: Scalar> {
    ptr: *mut T::Real,
    /// Reals of a plane, from its start to the next.
    pub plane: usize,
    /// Rows, rounded up to whole vectors.
    pub rows: usize,
}

impl<T: Scalar> Clone for Columns<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Scalar> Copy for Columns<T> {}

impl<T: Scalar> Columns<T> {
    /// Returns the reals that `columns` columns of m rows take in scratch.
    #[inline(always)]
    pub fn len<V: Vector<Real = T::Real>>(m: usize, columns: usize) -> usize {
        Self::plane::<V>(m) * planes::<T>() * columns
    }

    #[inline(always)]
    fn plane<V: Vector<Real = T::Real>>(m: usize) -> usize {
        (m.div_ceil(V::LANES) | 1) * V::LANES
    }

    /// Returns the columns of `a` in place, or None unless they are adjacent reals that fill whole vectors and their
    /// number is a multiple of `unit`.
    #[inline(always)]
    pub fn in_place<V: Vector<Real = T::Real>>(mut a: MatMut<'_, T>, unit: usize) -> Option<Self> {
        let (m, n) = a.shape();
        let fits = !T::COMPLEX && a.row_stride() == 1 && m.is_multiple_of(V::LANES) && n.is_multiple_of(unit);
        fits.then(|| Self { ptr: a.as_mut_ptr().cast(), plane: a.col_stride(), rows: m })
    }

    /// Copies `a`, and appends columns of zeros up to a multiple of `unit`.
    ///
    /// # Safety
    /// `ptr` has room for [`Columns::len`] reals, which the caller owns for as long as the columns are used.
    #[inline(always)]
    pub unsafe fn copy<V: Vector<Real = T::Real>>(
        isa: V::Isa,
        ptr: *mut T::Real,
        a: MatRef<'_, T>,
        unit: usize,
    ) -> Self {
        let (m, n) = a.shape();
        let columns = Self { ptr, plane: Self::plane::<V>(m), rows: m.next_multiple_of(V::LANES) };
        // SAFETY: the room at `ptr` is n columns of `plane` reals per plane, the first m of them rows, and the rest of
        // a unit.
        unsafe {
            pack::gather::<T, V>(isa, Factor::plain(a), columns.plane, ptr);
            for part in 0..n * planes::<T>() {
                std::slice::from_raw_parts_mut(ptr.add(part * columns.plane + m), columns.plane - m)
                    .fill(T::Real::ZERO);
            }
            let rest = n.next_multiple_of(unit) - n;
            std::slice::from_raw_parts_mut(ptr.add(n * columns.step()), rest * columns.step()).fill(T::Real::ZERO);
        }
        columns
    }

    /// Copies the columns back to `a`.
    ///
    /// # Safety
    /// `a` has the shape of the matrix that was copied.
    #[inline(always)]
    pub unsafe fn copy_to<V: Vector<Real = T::Real>>(self, isa: V::Isa, a: MatMut<'_, T>) {
        // SAFETY: the columns have the rows of `a`, are a plane apart, and are as many as those of `a`.
        unsafe { pack::unpack::<T, V>(isa, self.ptr, self.plane, a) }
    }

    /// Returns the reals from one column to the next.
    #[inline(always)]
    pub fn step(self) -> usize {
        self.plane * planes::<T>()
    }

    /// Returns the address of element (i, j), or of its real part.
    #[inline(always)]
    pub fn at(self, i: usize, j: usize) -> *mut T::Real {
        self.ptr.wrapping_add(i + j * self.step())
    }

    /// Returns the rows from i on as a stream with one step per column, from column j on.
    #[inline(always)]
    pub fn stream(self, i: usize, j: usize) -> OperandStream<T::Real> {
        OperandStream { ptr: self.at(i, j), step: self.step(), plane: self.plane }
    }

    /// Prefetches some rows of some columns, if the panel has these rows.
    #[inline(always)]
    pub fn prefetch_rows(self, rows: Range<usize>, columns: Range<usize>) {
        if rows.end > self.rows {
            return;
        }
        for j in columns {
            for part in 0..planes::<T>() {
                for i in rows.clone().step_by(64 / size_of::<T::Real>()) {
                    prefetch(self.at(part * self.plane + i, j));
                }
            }
        }
    }

    /// Returns element (i, j).
    ///
    /// # Safety
    /// The columns have this element.
    #[inline(always)]
    pub unsafe fn get(self, i: usize, j: usize) -> T {
        // SAFETY: the caller guarantees the element, whose imaginary part is a plane later.
        unsafe { scalar::<T>(self.at(i, j), self.plane) }
    }

    /// Sets element (i, j).
    ///
    /// # Safety
    /// The columns have this element, and nothing else refers to it.
    #[inline(always)]
    pub unsafe fn set(self, i: usize, j: usize, x: T) {
        // SAFETY: the caller guarantees the element, whose imaginary part is a plane later, and that nothing else
        // refers to it.
        unsafe { put(self.at(i, j), self.plane, x) }
    }

    /// Loads a vector of rows from i on of column j, per plane.
    ///
    /// # Safety
    /// The column has all rows of the vector.
    #[inline(always)]
    pub unsafe fn load<V: Vector<Real = T::Real>>(self, isa: V::Isa, i: usize, j: usize) -> [V; 2] {
        // SAFETY: the caller guarantees a whole vector of rows in each plane.
        unsafe { micro::load::<T, V, 1>(isa, self.at(i, j), self.plane)[0] }
    }

    /// Stores a vector of rows from i on of column j, per plane.
    ///
    /// # Safety
    /// The column has all rows of the vector, and nothing else refers to them.
    #[inline(always)]
    pub unsafe fn store<V: Vector<Real = T::Real>>(self, i: usize, j: usize, x: [V; 2]) {
        // SAFETY: the caller guarantees a whole vector of rows in each plane.
        unsafe { micro::store::<T, V, 1>(&[x], self.at(i, j), self.plane) }
    }

    /// Loads the lanes of a vector from lane `first` on; the lanes before it are zeros.
    ///
    /// # Safety
    /// Same as for [`Columns::load`].
    #[inline(always)]
    pub unsafe fn load_from<V: Vector<Real = T::Real>>(self, isa: V::Isa, i: usize, j: usize, first: usize) -> [V; 2] {
        let at = self.at(i, j);
        // SAFETY: the lanes from `first` on are rows of the column, in each plane.
        unsafe {
            let re = V::load_lanes(isa, at, first, V::LANES);
            [re, if T::COMPLEX { V::load_lanes(isa, at.add(self.plane), first, V::LANES) } else { re }]
        }
    }

    /// Stores the lanes of a vector from lane `first` on; earlier rows are left unchanged.
    ///
    /// # Safety
    /// Same as for [`Columns::store`].
    #[inline(always)]
    pub unsafe fn store_from<V: Vector<Real = T::Real>>(self, i: usize, j: usize, first: usize, x: [V; 2]) {
        let at = self.at(i, j);
        // SAFETY: the lanes from `first` on are rows of the column, in each plane.
        unsafe {
            x[0].store_lanes(at, first, V::LANES);
            if T::COMPLEX {
                x[1].store_lanes(at.add(self.plane), first, V::LANES);
            }
        }
    }

    /// Multiplies rows of column j by `by`, up to the end of the last row's vector.
    ///
    /// # Safety
    /// The column has these rows.
    #[inline(always)]
    pub unsafe fn scale<V: Vector<Real = T::Real>>(self, isa: V::Isa, rows: Range<usize>, j: usize, by: T) {
        let mut at = rows.start - rows.start % V::LANES;
        // SAFETY: vectors begin at multiples of the lanes, and columns end with a whole vector.
        unsafe {
            if at < rows.start {
                let first = rows.start - at;
                let mut x = [self.load_from::<V>(isa, at, j, first)];
                micro::multiply::<T, V, 1>(&mut x, by);
                self.store_from::<V>(at, j, first, x[0]);
                at += V::LANES;
            }
            while at < rows.end {
                let mut x = [self.load::<V>(isa, at, j)];
                micro::multiply::<T, V, 1>(&mut x, by);
                self.store::<V>(at, j, x[0]);
                at += V::LANES;
            }
        }
    }

    /// Subtracts the product of the columns `left` and the matrix `by`, which has a row for each of them, from columns
    /// b .. b + ROWS, from row i on. Elements of `left` above the diagonal must be zero; those in later rows are not
    /// read.
    ///
    /// # Safety
    /// The panel has these columns, i is a multiple of the lanes, and `by` has a step per row.
    #[inline(always)]
    pub unsafe fn subtract_product<V, const ROWS: usize>(
        self,
        isa: V::Isa,
        i: usize,
        left: Range<usize>,
        b: usize,
        by: OperandStream<T::Real>,
    ) where
        V: Vector<Real = T::Real>,
    {
        let mut i = i;
        while i < self.rows {
            let vectors = ((self.rows - i) / V::LANES).min(3);
            let left = left.start..left.end.min(i + vectors * V::LANES);
            // SAFETY: the columns have these vectors of rows, since they end with a whole vector.
            unsafe { with_vectors!(vectors, product_tile::<T, V, _, ROWS>(isa, self, i, left, b, by)) };
            i += vectors * V::LANES;
        }
    }
}

/// Computes one register tile of [`Columns::subtract_product`].
///
/// # Safety
/// Same as for [`Columns::subtract_product`]; in addition, the columns have NV vectors of rows from i on.
#[inline(always)]
unsafe fn product_tile<T, V, const NV: usize, const ROWS: usize>(
    isa: V::Isa,
    columns: Columns<T>,
    i: usize,
    left: Range<usize>,
    b: usize,
    by: OperandStream<T::Real>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: each column has NV vectors from row i on, and `by` has a step for each column of `left`.
    unsafe {
        let next = i + NV * V::LANES..i + 2 * NV * V::LANES;
        columns.prefetch_rows(next.clone(), b..b + ROWS);
        let mut acc = load_tile::<T, V, NV, ROWS>(isa, columns.stream(i, b));
        for p in left.clone().step_by(COLUMNS_PER_PREFETCH) {
            let end = left.end.min(p + COLUMNS_PER_PREFETCH);
            columns.prefetch_rows(next.clone(), p..end);
            let by = by.offset((p - left.start) * by.step);
            eliminate::<T, V, NV, ROWS>(&mut acc, end - p, columns.stream(i, p), by, false);
        }
        store_tile::<T, V, NV, ROWS>(&acc, columns.at(i, b), columns.step(), columns.plane);
    }
}

/// Exchanges N elements at x, `step` apart, with N at y. All are read before any is written: if the step is a power of
/// two, a read after a write could wait for that write.
///
/// # Safety
/// The elements are valid for reads and writes and do not overlap.
#[inline(always)]
pub(crate) unsafe fn exchange_pieces<R: Copy, const N: usize>(x: *mut R, y: *mut R, step: usize) {
    // SAFETY: each piece has N elements, a step apart, and the pieces do not overlap.
    unsafe {
        let of_x: [R; N] = std::array::from_fn(|c| *x.add(c * step));
        let of_y: [R; N] = std::array::from_fn(|c| *y.add(c * step));
        for c in 0..N {
            *x.add(c * step) = of_y[c];
            *y.add(c * step) = of_x[c];
        }
    }
}

/// Computes acc += conj(a) x, lane by lane.
#[inline(always)]
pub(crate) fn add_conj_product<T, V>(acc: &mut [V; 2], a: [V; 2], x: [V; 2])
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    acc[0] = acc[0].mul_add(a[0], x[0]);
    if T::COMPLEX {
        acc[0] = acc[0].mul_add(a[1], x[1]);
        acc[1] = acc[1].mul_add(a[0], x[1]).mul_sub(a[1], x[0]);
    }
}

/// Returns x - a b, lane by lane, for a broadcast b.
#[inline(always)]
pub(crate) fn minus_product<T, V>(x: [V; 2], a: [V; 2], b: [V; 2]) -> [V; 2]
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let re = x[0].mul_sub(a[0], b[0]);
    if T::COMPLEX { [re.mul_add(a[1], b[1]), x[1].mul_sub(a[0], b[1]).mul_sub(a[1], b[0])] } else { [re, x[1]] }
}

/// Returns a scalar in every lane.
#[inline(always)]
pub(crate) fn splat<T, V>(isa: V::Isa, x: T) -> [V; 2]
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    [V::splat(isa, x.re()), V::splat(isa, x.im())]
}

/// Returns the sum of the lanes.
#[inline(always)]
pub(crate) fn sum<T, V>(x: [V; 2]) -> T
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    T::from_parts(x[0].sum(), if T::COMPLEX { x[1].sum() } else { T::Real::ZERO })
}

/// Calls `$f` with a column of a block, 0 to 7, as its constant argument.
macro_rules! with_column {
    ($c:expr, $f:ident::<$t:ty, $v:ty, _>($($arg:expr),* $(,)?)) => {
        match $c {
            0 => $f::<$t, $v, 0>($($arg),*),
            1 => $f::<$t, $v, 1>($($arg),*),
            2 => $f::<$t, $v, 2>($($arg),*),
            3 => $f::<$t, $v, 3>($($arg),*),
            4 => $f::<$t, $v, 4>($($arg),*),
            5 => $f::<$t, $v, 5>($($arg),*),
            6 => $f::<$t, $v, 6>($($arg),*),
            _ => $f::<$t, $v, 7>($($arg),*),
        }
    };
}
pub(crate) use with_column;
