//! LU factorizations of small matrices, one per lane, with or without partial pivoting.
//!
//! Blocks of four columns, from left to right: the columns before a block give its rows of U and reduce the rows below.
//! Within the block, each column is divided by its pivot and subtracted from the block's later columns; the same pass
//! finds the next pivots. Each lane has its own pivot row.
//!
//! # Interchanges
//! Rows are exchanged in the vectors of a column ([`exchange`]): for each lane one vector, that of its pivot row, is
//! loaded and stored, and the lane is exchanged by a blend. Exchanges of single reals take twice as many loads and
//! stores, and vectors that are loaded soon after would wait for them.

use super::copy::{GroupCopy, LoadGroup, StoreGroup};
use super::form::{Form, Places, prefetch_group};
use super::multiply::GroupProduct;
use super::number::{Number, finite, get, minus_product, product, put, reciprocal, size, within, zero};
use super::substitute::{BLOCK, Substitute};
use super::{Interleaved, LANES_MAX, Progress, lanes_left, next_group, pivot_range};
use crate::options;
use crate::simd::{Part, Vector};
use crate::vector::dispatch::Kernel;
use crate::vector::planes::planes;
use crate::vector::workspace::Workspace;
use crate::{MatMut, Real, Scalar};
use std::ops::Range;

/// P L U = A for matrices of one form, with L and U over A. Without `ipiv`, P is the identity. The matrices of `ipiv`
/// have one column.
pub struct InterleavedLu<'a, 'b, 'p, T> {
    pub form: Form,
    pub batch: &'a mut [MatMut<'b, T>],
    pub ipiv: Option<&'a mut [MatMut<'p, i32>]>,
}

impl<T: Scalar> Kernel<T> for InterleavedLu<'_, '_, '_, T> {
    type Output = Progress;

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) -> Progress {
        let Self { form, batch, mut ipiv } = self;
        let ((m, n), len) = (batch[0].shape(), form.len::<T, V>());
        let k = m.min(n);
        let mut rows = Workspace::<u32>::take(k * LANES_MAX);
        let (rows, _) = rows.elements().as_chunks_mut::<LANES_MAX>();
        let mut scratch = Workspace::take(len);
        let scratch = scratch.elements().as_mut_ptr();
        let (a, is_pivoted) = (form.in_scratch::<T, V>(scratch), ipiv.is_some());
        let mut done = 0;
        while let Some(count) = next_group::<V>(done, batch.len()) {
            let members = &batch[done..done + count];
            let places = Places::of::<T, V>(form, count, |i| members[i].as_ref());
            let copy = GroupCopy::<T> { form, part: options::Part::All, places: &places, scratch };
            // SAFETY: the places are those of matrices of this form, borrowed exclusively, and the scratch has room for
            // a group.
            let left = unsafe {
                V::call(isa, LoadGroup(copy));
                let factor = GroupLu::<T> { a, shape: (m, n), rows: &mut *rows, is_pivoted };
                prefetch_group::<T, V>(form, batch[done + count..].iter().map(MatMut::as_ref));
                let left = lanes_left(V::call(isa, factor));
                V::call(isa, StoreGroup(copy, left));
                left
            };
            let first = done;
            done += count;
            for (lane, ipiv) in ipiv.iter_mut().flat_map(|ipiv| &mut ipiv[first..done]).enumerate() {
                (0..k).for_each(|i| ipiv[(i, 0)] = rows[i][lane] as i32 + 1);
            }
            if left != 0 {
                return Progress::after(first, count, left);
            }
        }
        Progress { done, first: done, left: 0 }
    }
}

/// The factorization of a group in scratch. Returns which matrices had ordinary pivots and finite factors.
struct GroupLu<'a, T: Scalar> {
    a: Interleaved<T::Real>,
    shape: (usize, usize),
    /// For each column, the row that was exchanged with the pivot's, in each matrix.
    rows: &'a mut [[u32; LANES_MAX]],
    is_pivoted: bool,
}

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for GroupLu<'_, T> {
    type Output = V;

    /// # Safety
    /// A is a group of matrices of this shape in scratch, and there are as many rows as pivots.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) -> V {
        let Self { a, shape: (m, n), rows, is_pivoted } = self;
        let (k, mut ordinary) = (m.min(n), V::splat(isa, T::Real::ONE));
        // SAFETY: all blocks are parts of A, and those that are written are apart from those that are read.
        unsafe {
            for j in (0..k).step_by(BLOCK) {
                let width = BLOCK.min(k - j);
                if j > 0 {
                    let shape = (j, width);
                    V::call(isa, Substitute::<T> { l: a, inverses: None, x: a.from(0, j), shape, conj: false });
                    let shape = (m - j, width);
                    V::call(isa, GroupProduct::<T>::subtract(a.from(j, j), a.from(j, 0), a.from(0, j), shape, j));
                }
                let rows = &mut rows[j..j + width];
                ordinary = panel::<T, V>(isa, (a, m, j), rows, is_pivoted, ordinary);
                if is_pivoted {
                    for (row, rows) in (j..).zip(rows) {
                        exchange::<T, V>(isa, a, 0..j, row, rows);
                        exchange::<T, V>(isa, a, j + width..n, row, rows);
                    }
                }
            }
            if k < n {
                let shape = (k, n - k);
                V::call(isa, Substitute::<T> { l: a, inverses: None, x: a.from(0, k), shape, conj: false });
            }
            // In a square matrix a NaN or Inf reaches a pivot.
            if m == n { ordinary } else { finite::<T, V>(isa, a, (m, n), ordinary) }
        }
    }
}

/// Factors the block of columns from j on, as many as `rows`. Rows are exchanged in these columns only.
///
/// # Safety
/// A has m rows, and the columns are inside of it.
#[inline(always)]
unsafe fn panel<T, V>(
    isa: V::Isa,
    (a, m, j): (Interleaved<T::Real>, usize, usize),
    rows: &mut [[u32; LANES_MAX]],
    is_pivoted: bool,
    mut ordinary: V,
) -> V
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let width = rows.len();
    // SAFETY: the rows and columns are inside of A.
    unsafe {
        let mut best = if is_pivoted { search::<T, V>(isa, a.from(j, j), m - j) } else { V::splat(isa, T::Real::ZERO) };
        for c in 0..width {
            let row = j + c;
            if is_pivoted {
                let mut indices = [T::Real::ZERO; LANES_MAX];
                best.store(indices.as_mut_ptr());
                for lane in 0..V::LANES {
                    rows[c][lane] = row as u32 + indices[lane].to_f64() as u32;
                }
                exchange::<T, V>(isa, a, j..j + width, row, &rows[c]);
            }
            let (here, height) = (a.from(row, row), m - row);
            best = match width - c - 1 {
                0 => eliminate::<T, V, 0>(isa, here, height, &mut ordinary),
                1 => eliminate::<T, V, 1>(isa, here, height, &mut ordinary),
                2 => eliminate::<T, V, 2>(isa, here, height, &mut ordinary),
                _ => eliminate::<T, V, 3>(isa, here, height, &mut ordinary),
            };
        }
    }
    ordinary
}

/// Returns the row of the first element with the largest size in the first column of A.
///
/// # Safety
/// A has m rows and a column.
#[inline(always)]
unsafe fn search<T, V>(isa: V::Isa, a: Interleaved<T::Real>, m: usize) -> V
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (one, zero) = (V::splat(isa, T::Real::ONE), V::splat(isa, T::Real::ZERO));
    let (mut best, mut row) = ((V::splat(isa, -T::Real::ONE), zero), zero);
    for i in 0..m {
        // SAFETY: the row is inside of A.
        let x = unsafe { get::<T, V>(isa, a.at(i, 0)) };
        best = V::larger(best, (size::<T, V>(x), row));
        row = row.add(one);
    }
    best.1
}

/// Divides the first column of A by its first element, and subtracts it, times the elements beside the first, from the
/// K columns after it. Returns the row of the largest element below the first row of the next column, counted from the
/// row after the first.
///
/// # Safety
/// A has m rows, at least one, and K + 1 columns.
#[inline(always)]
unsafe fn eliminate<T, V, const K: usize>(isa: V::Isa, a: Interleaved<T::Real>, m: usize, ordinary: &mut V) -> V
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let one = V::splat(isa, T::Real::ONE);
    let nothing = V::splat(isa, T::Real::ZERO);
    let (mut best, mut row) = ((V::splat(isa, -T::Real::ONE), nothing), nothing);
    // SAFETY: the rows and columns are inside of A.
    unsafe {
        let pivot = get::<T, V>(isa, a.at(0, 0));
        *ordinary = within::<T, V>(size::<T, V>(pivot), pivot_range::<T>(), *ordinary);
        let inverse = reciprocal::<T, V>(pivot);
        let mut u: [Number<V>; K] = [zero::<T, V>(isa); K];
        for c in 0..K {
            u[c] = get::<T, V>(isa, a.at(0, c + 1));
        }
        for i in 1..m {
            let l = product::<T, V>(get::<T, V>(isa, a.at(i, 0)), inverse);
            put::<T, V>(l, a.at(i, 0));
            for c in 0..K {
                let at = a.at(i, c + 1);
                let x = minus_product::<T, V>(get::<T, V>(isa, at), l, u[c]);
                put::<T, V>(x, at);
                if c == 0 {
                    best = V::larger(best, (size::<T, V>(x), row));
                    row = row.add(one);
                }
            }
        }
    }
    best.1
}

/// Exchanges, in some columns of A, one row with a row of its own for each matrix.
///
/// # Safety
/// The rows and the columns are inside of A.
#[inline(always)]
pub(super) unsafe fn exchange<T, V>(
    isa: V::Isa,
    a: Interleaved<T::Real>,
    columns: Range<usize>,
    row: usize,
    rows: &[u32; LANES_MAX],
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    if columns.is_empty() || rows[..V::LANES].iter().all(|&other| other as usize == row) {
        return;
    }
    let mut offsets = [0; LANES_MAX];
    for lane in 0..V::LANES {
        offsets[lane] = rows[lane] as isize * a.row;
    }
    for j in columns {
        for plane in 0..planes::<T>() {
            // SAFETY: the rows are inside of the column. A lane whose two rows are the same stores what it loaded, and
            // the row is stored last.
            unsafe {
                let top = a.at(0, j).add(plane * V::LANES);
                let here = top.offset(row as isize * a.row);
                let old = V::load(isa, here);
                let mut new = old;
                for lane in 0..V::LANES {
                    let there = top.offset(offsets[lane]);
                    let other = V::load(isa, there);
                    other.blend(old, lane, lane + 1).store(there);
                    new = new.blend(other, lane, lane + 1);
                }
                new.store(here);
            }
        }
    }
}
