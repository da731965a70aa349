//! Updates C = alpha acc + beta C from a register tile: full tiles, ragged ones, and those that the diagonal crosses.

use super::micro::Accumulators;
use crate::scalar::scaled;
use crate::simd::{Vector, prefetch};
use crate::vector::planes::planes;
use crate::{MatMut, Real, Scalar, Uplo};
use std::ops::Range;

/// The elements of a block of C that are computed.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub triangle: Option<Uplo>,
    /// Row minus column, in C, of the first element of the block.
    pub offset: isize,
}

impl Wanted {
    pub const ALL: Self = Self { triangle: None, offset: 0 };

    /// Returns the rows, out of `m`, that hold a wanted element of columns j .. j + cols.
    #[inline(always)]
    pub fn rows(&self, j: usize, cols: usize, m: usize) -> Range<usize> {
        let first = j as isize - self.offset;
        let clamp = |i: isize| i.clamp(0, m as isize) as usize;
        match self.triangle {
            None => 0..m,
            Some(Uplo::Lower) => clamp(first)..m,
            Some(Uplo::Upper) => 0..clamp(first + cols as isize),
        }
    }

    /// Returns the rows as [`Self::rows`] does, but without the squares on the diagonal of C. Each square has `square`
    /// rows and columns, and the first begins at the first element of C. The block must begin in the first column of C,
    /// and the register tile at column j must be within the columns of one square.
    #[inline(always)]
    pub fn rows_outside_squares(&self, square: usize, j: usize, m: usize) -> Range<usize> {
        let start = j / square * square;
        let clamp = |i: usize| (i as isize - self.offset).clamp(0, m as isize) as usize;
        match self.triangle {
            None => 0..m,
            Some(Uplo::Lower) => clamp(start + square)..m,
            Some(Uplo::Upper) => 0..clamp(start),
        }
    }

    /// Returns whether all m x n elements are wanted.
    #[inline(always)]
    pub fn whole(&self, m: usize, n: usize) -> bool {
        match self.triangle {
            None => true,
            Some(Uplo::Lower) => n as isize - 1 <= self.offset,
            Some(Uplo::Upper) => m as isize - 1 + self.offset <= 0,
        }
    }
}

/// The destination of register tiles: C = minus_alpha acc + beta C, where acc holds the negated product.
pub(crate) struct Destination<'a, T> {
    pub minus_alpha: T,
    pub beta: T,
    pub wanted: Wanted,
    pub c: MatMut<'a, T>,
}

impl<T> Destination<'_, T> {
    /// Prefetches a tile of C, NV vectors by ROWS. The loops have constant length: a mispredicted loop end takes as
    /// long as the fetches.
    #[inline(always)]
    pub fn prefetch_c<V: Vector, const NV: usize, const ROWS: usize>(&mut self) {
        let ((rows, cols), rs, cs) = (self.c.shape(), self.c.row_stride(), self.c.col_stride());
        let (c, line) = (self.c.as_mut_ptr().cast_const(), 64 / size_of::<T>());
        for j in 0..ROWS {
            let column = c.wrapping_add(j.min(cols - 1) * cs);
            for i in 0..(NV * V::LANES).div_ceil(line) {
                prefetch(column.wrapping_add(i * line * rs));
            }
            // The last element may be on a line of its own.
            prefetch(column.wrapping_add((rows - 1) * rs));
        }
    }
}

/// A number to scale vectors of elements by; the parts of complex elements alternate in the lanes.
#[derive(Clone, Copy)]
struct BetaFactor<V> {
    re: V,
    /// The negated imaginary part and the imaginary part, alternating; None for a real number.
    im: Option<V>,
}

impl<V: Vector<Real: Real>> BetaFactor<V> {
    #[inline(always)]
    fn by<T: Scalar<Real = V::Real>>(isa: V::Isa, x: T) -> Self {
        let is_real = !T::COMPLEX || x.im() == T::Real::ZERO;
        let turns = V::interleave(V::splat(isa, -x.im()), V::splat(isa, x.im())).0;
        Self { re: V::splat(isa, x.re()), im: (!is_real).then_some(turns) }
    }

    #[inline(always)]
    fn of(self, x: V) -> V {
        let scaled = x.mul(self.re);
        match self.im {
            Some(im) => scaled.mul_add(im, x.swap_pairs()),
            None => scaled,
        }
    }
}

/// Computes C = alpha acc + beta C for a tile in memory, with any wanted elements.
///
/// # Safety
/// The tile is at `spill`: column j at `j * plane * planes`, imaginary parts `plane` reals later. It has all columns of
/// C; `plane` is a multiple of the lanes and at least the number of rows of C.
#[inline(always)]
pub(crate) unsafe fn add<T, V>(isa: V::Isa, spill: *const T::Real, plane: usize, out: Destination<'_, T>)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: the tile is laid out as all three functions require, and the rows of C are adjacent if its row stride is
    // 1.
    unsafe {
        match (out.c.row_stride(), T::COMPLEX) {
            (1, false) => add_lanes::<T, V>(isa, spill, plane, out),
            (1, true) => add_pairs::<T, V>(isa, spill, plane, out),
            _ => add_elements(spill, plane, out),
        }
    }
}

/// Computes C = alpha acc + beta C for a full tile of a real type whose rows are adjacent.
///
/// # Safety
/// C has NV whole vectors of adjacent rows.
#[inline(always)]
pub(crate) unsafe fn add_vectors<T, V, const NV: usize, const ROWS: usize>(
    acc: &Accumulators<V, NV, ROWS>,
    mut out: Destination<'_, T>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let isa = acc[0][0][0].isa();
    let (cols, step, c) = (out.c.ncols(), out.c.col_stride(), out.c.as_mut_ptr().cast::<T::Real>());
    // SAFETY: C has NV vectors of adjacent rows in each of these columns.
    unsafe {
        let (factor, beta) = (V::splat(isa, out.minus_alpha.re()), BetaFactor::<V>::by(isa, out.beta));
        for (j, row) in acc.iter().enumerate().take(cols) {
            for (v, x) in row.iter().enumerate() {
                let at = c.add(j * step + v * V::LANES);
                if out.beta != T::ZERO {
                    beta.of(V::load(isa, at)).mul_add(factor, x[0]).store(at);
                } else {
                    x[0].mul(factor).store(at);
                }
            }
        }
    }
}

/// Computes C = alpha acc + beta C by masked vectors, for a complex type. The tile is in memory because its numbers
/// would not all stay in registers.
///
/// # Safety
/// Same as for [`add`]; in addition, the rows of C are adjacent, and T is complex.
#[inline(always)]
unsafe fn add_pairs<T, V>(isa: V::Isa, spill: *const T::Real, plane: usize, mut out: Destination<'_, T>)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let ((rows, cols), cs, c) = (out.c.shape(), out.c.col_stride(), out.c.as_mut_ptr().cast::<T::Real>());
    // SAFETY: a column of the tile is whole vectors, up to `plane`; only lanes of wanted rows of C are accessed.
    unsafe {
        let (re, im, one) =
            (V::splat(isa, out.minus_alpha.re()), V::splat(isa, out.minus_alpha.im()), V::splat(isa, T::Real::ONE));
        let beta = BetaFactor::<V>::by(isa, out.beta);
        for j in 0..cols {
            let (wanted, column) = (out.wanted.rows(j, 1, rows), spill.add(2 * j * plane));
            for i in (0..wanted.end).step_by(V::LANES) {
                let x = (V::load(isa, column.add(i)), V::load(isa, column.add(plane + i)));
                let halves = V::interleave(x.0.mul(re).mul_sub(im, x.1), x.1.mul(re).mul_add(im, x.0));
                for (i, x) in [(i, halves.0), (i + V::LANES / 2, halves.1)] {
                    let lane = |row: usize| (2 * row.saturating_sub(i)).min(V::LANES);
                    let (first, end, at) = (lane(wanted.start), lane(wanted.end), c.wrapping_add(2 * (i + j * cs)));
                    match (out.beta != T::ZERO, end - first == V::LANES) {
                        (true, true) => beta.of(V::load(isa, at)).mul_add(one, x).store(at),
                        (false, true) => x.store(at),
                        (true, false) => {
                            beta.of(V::load_lanes(isa, at, first, end)).mul_add(one, x).store_lanes(at, first, end);
                        }
                        (false, false) => x.store_lanes(at, first, end),
                    }
                }
            }
        }
    }
}

/// Computes C = alpha acc + beta C for a full tile of a complex type, with loops of constant length and without masks.
/// The tile is in memory: kept in registers, it made the compiler add moves to the loop of the tile. Measured:
/// docs/measurements/2026-11-28-constants.md.
///
/// # Safety
/// The tile is laid out as [`add`] requires, with NV vectors in a plane; C has NV whole vectors of adjacent rows, and T
/// is complex.
#[inline(always)]
pub(crate) unsafe fn add_full_pairs<T, V, const NV: usize>(
    isa: V::Isa,
    spill: *const T::Real,
    mut out: Destination<'_, T>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (cols, step, c) = (out.c.ncols(), 2 * out.c.col_stride(), out.c.as_mut_ptr().cast::<T::Real>());
    let plane = NV * V::LANES;
    // SAFETY: the tile has NV whole vectors per plane in each column, and each column of C has that many pairs.
    unsafe {
        let (re, im, one) =
            (V::splat(isa, out.minus_alpha.re()), V::splat(isa, out.minus_alpha.im()), V::splat(isa, T::Real::ONE));
        let beta = BetaFactor::<V>::by(isa, out.beta);
        for j in 0..cols {
            let (column, c) = (spill.add(2 * j * plane), c.add(j * step));
            for i in (0..plane).step_by(V::LANES) {
                let x = (V::load(isa, column.add(i)), V::load(isa, column.add(plane + i)));
                let halves = V::interleave(x.0.mul(re).mul_sub(im, x.1), x.1.mul(re).mul_add(im, x.0));
                for (at, x) in [(c.add(2 * i), halves.0), (c.add(2 * i + V::LANES), halves.1)] {
                    if out.beta != T::ZERO {
                        beta.of(V::load(isa, at)).mul_add(one, x).store(at);
                    } else {
                        x.store(at);
                    }
                }
            }
        }
    }
}

/// Computes C = alpha acc + beta C by masked vectors, for tiles of a real type that are ragged or crossed by the
/// diagonal.
///
/// # Safety
/// Same as for [`add`]; in addition, the rows of C are adjacent, and T is real.
#[inline(always)]
unsafe fn add_lanes<T, V>(isa: V::Isa, spill: *const T::Real, plane: usize, mut out: Destination<'_, T>)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let ((rows, cols), cs, c) = (out.c.shape(), out.c.col_stride(), out.c.as_mut_ptr().cast::<T::Real>());
    let (factor, beta) = (V::splat(isa, out.minus_alpha.re()), BetaFactor::<V>::by(isa, out.beta));
    let reads = out.beta != T::ZERO;
    for j in 0..cols {
        let wanted = out.wanted.rows(j, 1, rows);
        for i in (0..wanted.end).step_by(V::LANES) {
            let (first, end) = (wanted.start.saturating_sub(i).min(V::LANES), (wanted.end - i).min(V::LANES));
            let at = c.wrapping_add(i + j * cs);
            // SAFETY: lanes first .. end are rows of C; a column of the tile is whole vectors, up to `plane`.
            unsafe {
                let x = V::load(isa, spill.add(j * plane + i));
                let sum =
                    if reads { beta.of(V::load_lanes(isa, at, first, end)).mul_add(factor, x) } else { x.mul(factor) };
                sum.store_lanes(at, first, end);
            }
        }
    }
}

/// Computes C = alpha acc + beta C element by element, for tiles whose rows are not adjacent.
///
/// # Safety
/// Same as for [`add`].
#[inline(always)]
unsafe fn add_elements<T: Scalar>(spill: *const T::Real, plane: usize, mut out: Destination<'_, T>) {
    let (rows, cols) = out.c.shape();
    let (rs, cs, c) = (out.c.row_stride(), out.c.col_stride(), out.c.as_mut_ptr());
    let reads = out.beta != T::ZERO;
    for j in 0..cols {
        let Range { start: first, end: last } = out.wanted.rows(j, 1, rows);
        let column = spill.wrapping_add(j * plane * planes::<T>());
        // SAFETY: (i, j) is within the shape of C, all of which the tile has.
        let product = |i: usize| unsafe {
            let im = if T::COMPLEX { *column.add(plane + i) } else { T::Real::ZERO };
            out.minus_alpha * T::from_parts(*column.add(i), im)
        };
        for i in first..last {
            // SAFETY: i and j are below the shape of C.
            unsafe {
                let at = c.add(i * rs + j * cs);
                at.write(if reads { scaled(out.beta, *at) + product(i) } else { product(i) });
            }
        }
    }
}
