//! The product at the bottom of every kernel: C (or its lower triangle) plus alpha A B, blocked for the caches.
//!
//! Blocking after Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008): a block of B and a
//! block of A are packed, then register tiles run over them. Both operands are always packed, which makes the rate
//! independent of how they were stored. Triangles are products whose register tiles on
//! the other side of the diagonal are left out, vector by vector.

use super::micro::{Stream, Tile, eliminate, planes, with_vectors, zero};
use super::pack;
use super::workspace::Workspace;
use crate::backend::Factor;
use crate::simd::{Kernel, Vector, dispatch, prefetch};
use crate::{MatMut, Scalar, Uplo};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Depth of a block: a panel of B, 256 x 8 doubles, takes a third of a 48 KiB first-level cache.
const DEPTH: usize = 256;
/// Bytes of a packed block of A: half of a 1 MiB second-level cache.
const BLOCK_BYTES: usize = 512 << 10;
/// Columns of a packed block of B, which bounds the workspace.
const COLUMNS: usize = 512;
/// Vectors along a full tile.
const NV: usize = 3;
/// Reals of the largest tile: 8 x 3 vectors of 16, or 4 x 3 x 2 planes.
const TILE_REALS: usize = 384;

/// What is computed: C = alpha A B, or C + alpha A B.
pub(super) struct Product<'a, T> {
    pub alpha: T,
    pub a: Factor<'a, T>,
    pub b: Factor<'a, T>,
    /// Whether C is added to; if not it is not read.
    pub accumulate: bool,
    /// The triangle of C that is touched, or all of it.
    pub triangle: Option<Uplo>,
    pub c: MatMut<'a, T>,
}

impl<T: Scalar> Product<'_, T> {
    /// Computes it. The factors must have at least one column.
    pub fn run(self) {
        // Lanes run along the rows of C: these should be adjacent.
        let along = self.c.row_stride() <= self.c.col_stride();
        dispatch::<T, _>(if along { self } else { self.transpose() });
    }

    /// Cᵀ = Bᵀ Aᵀ.
    fn transpose(self) -> Self {
        let triangle = self.triangle.map(Uplo::flip);
        Self { a: self.b.transpose(), b: self.a.transpose(), c: self.c.transpose(), triangle, ..self }
    }
}

impl<T: Scalar> Kernel<T> for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector<Real = T::Real>, const ROWS: usize>(mut self) {
        let ((m, n), k, unit) = (self.c.shape(), self.a.view.ncols(), planes::<T>());
        let width = NV * V::LANES;
        let depth = even(k, DEPTH, 1);
        let height = even(m, BLOCK_BYTES / (depth * size_of::<T>()), width);
        let columns = even(n, COLUMNS, ROWS);
        let a_len = height * depth * unit;
        let mut scratch = Workspace::take(a_len + columns * depth * unit);
        let (packed_a, packed_b) = scratch.reals().split_at_mut(a_len);
        for p in (0..k).step_by(depth) {
            let kc = depth.min(k - p);
            for j in (0..n).step_by(columns) {
                let nc = columns.min(n - j);
                let b = self.b.transpose().part(j..j + nc, p..p + kc);
                // SAFETY: the blocks are of the sizes that the workspace was laid out for.
                unsafe { pack::panels::<T, V>(b, ROWS, packed_b.as_mut_ptr()) };
                for i in (0..m).step_by(height) {
                    let mc = height.min(m - i);
                    let wanted = Wanted { triangle: self.triangle, offset: i as isize - j as isize };
                    if wanted.rows(0, nc, mc).is_empty() {
                        continue;
                    }
                    let a = self.a.part(i..i + mc, p..p + kc);
                    let out = Out {
                        minus_alpha: -self.alpha,
                        accumulate: self.accumulate || p > 0,
                        wanted,
                        c: self.c.rb_mut().submatrix(i..i + mc, j..j + nc),
                    };
                    // SAFETY: as above.
                    unsafe {
                        pack::panels::<T, V>(a, width, packed_a.as_mut_ptr());
                        block::<T, V, ROWS>(kc, packed_a.as_ptr(), packed_b.as_ptr(), out);
                    }
                }
            }
        }
    }
}

/// The size of blocks of at most `most`, nearly equal and multiples of `unit`, that cut `total`.
fn even(total: usize, most: usize, unit: usize) -> usize {
    let most = (most / unit).max(1) * unit;
    let blocks = total.div_ceil(most).max(1);
    total.div_ceil(blocks).next_multiple_of(unit).max(unit)
}

/// Which elements of a block of C are wanted.
#[derive(Clone, Copy)]
struct Wanted {
    triangle: Option<Uplo>,
    /// Row minus column, in C, of the block's first element.
    offset: isize,
}

impl Wanted {
    /// The rows, of `m`, that hold a wanted element of columns j .. j + cols.
    #[inline(always)]
    fn rows(&self, j: usize, cols: usize, m: usize) -> Range<usize> {
        let first = j as isize - self.offset;
        let clamp = |i: isize| i.clamp(0, m as isize) as usize;
        match self.triangle {
            None => 0..m,
            Some(Uplo::Lower) => clamp(first)..m,
            Some(Uplo::Upper) => 0..clamp(first + cols as isize),
        }
    }

    /// Whether all m x n elements are wanted.
    #[inline(always)]
    fn whole(&self, m: usize, n: usize) -> bool {
        match self.triangle {
            None => true,
            Some(Uplo::Lower) => n as isize - 1 <= self.offset,
            Some(Uplo::Upper) => m as isize - 1 + self.offset <= 0,
        }
    }
}

/// Where register tiles go.
struct Out<'a, T> {
    minus_alpha: T,
    accumulate: bool,
    wanted: Wanted,
    c: MatMut<'a, T>,
}

/// All register tiles of a packed block of A and one of B.
///
/// # Safety
/// As for [`Vector`]; the blocks are packed for this shape of C.
#[inline(always)]
unsafe fn block<T, V, const ROWS: usize>(depth: usize, a: *const T::Real, b: *const T::Real, mut out: Out<'_, T>)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let ((m, n), unit, width) = (out.c.shape(), planes::<T>(), NV * V::LANES);
    for j in (0..n).step_by(ROWS) {
        let cols = ROWS.min(n - j);
        let b = Stream { ptr: b.wrapping_add(j * depth * unit), step: ROWS * unit, plane: ROWS };
        for i in (0..m).step_by(width) {
            let a = Stream { ptr: a.wrapping_add(i * depth * unit), step: width * unit, plane: width };
            // Vectors of this panel that hold nothing wanted are left out.
            let rows = out.wanted.rows(j, cols, m);
            let (first, last) = (rows.start.max(i), rows.end.min(i + width));
            if first >= last {
                continue;
            }
            let skip = (first - i) / V::LANES;
            let vectors = (last - i).div_ceil(V::LANES) - skip;
            let (i, a) = (i + skip * V::LANES, a.offset(skip * V::LANES));
            let part = Out {
                wanted: Wanted { offset: out.wanted.offset + i as isize - j as isize, ..out.wanted },
                c: out.c.rb_mut().submatrix(i..m.min(i + vectors * V::LANES), j..j + cols),
                ..out
            };
            // SAFETY: the caller's promises for panels i and j.
            unsafe { with_vectors!(vectors, tile::<T, V, _, ROWS>(depth, a, b, part)) }
        }
    }
}

/// One register tile: computes it and adds it to C.
///
/// # Safety
/// As for [`eliminate`]; C has at most NV vectors of rows and ROWS columns.
#[inline(always)]
unsafe fn tile<T, V, const NV: usize, const ROWS: usize>(
    depth: usize,
    a: Stream<T::Real>,
    b: Stream<T::Real>,
    mut out: Out<'_, T>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (rows, cols) = out.c.shape();
    let (rs, cs, c) = (out.c.row_stride(), out.c.col_stride(), out.c.as_mut_ptr());
    for j in 0..cols {
        for i in (0..rows).step_by(64 / size_of::<T>()) {
            prefetch(c.wrapping_add(i * rs + j * cs));
        }
    }
    let whole = out.wanted.whole(rows, cols);
    // SAFETY: the caller's promises.
    unsafe {
        let mut acc = zero::<T, V, NV, ROWS>();
        eliminate::<T, V, NV, ROWS>(&mut acc, depth, a, b, false);
        if !T::COMPLEX && whole && rs == 1 && rows == NV * V::LANES {
            return add_vectors::<T, V, NV, ROWS>(&acc, out);
        }
        let mut spill = [const { MaybeUninit::<T::Real>::uninit() }; TILE_REALS];
        let (spill, plane) = (spill.as_mut_ptr().cast::<T::Real>(), NV * V::LANES);
        for (r, row) in acc.iter().enumerate() {
            super::micro::store::<T, V, NV>(row, spill.add(r * plane * planes::<T>()), plane);
        }
        if !T::COMPLEX && rs == 1 {
            add_lanes::<T, V>(spill, plane, out);
        } else {
            add_elements(spill, plane, out);
        }
    }
}

/// C += alpha acc for a full tile of a real type whose columns are adjacent rows.
///
/// # Safety
/// As for [`Vector`]; C is such a tile.
#[inline(always)]
unsafe fn add_vectors<T, V, const NV: usize, const ROWS: usize>(acc: &Tile<V, NV, ROWS>, mut out: Out<'_, T>)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (cols, cs, c) = (out.c.ncols(), out.c.col_stride(), out.c.as_mut_ptr().cast::<T::Real>());
    // SAFETY: the caller's promises.
    unsafe {
        let factor = V::splat(out.minus_alpha.re());
        for (j, row) in acc.iter().enumerate().take(cols) {
            for (v, x) in row.iter().enumerate() {
                let at = c.add(j * cs + v * V::LANES);
                if out.accumulate { V::load(at).mul_add(factor, x[0]).store(at) } else { x[0].mul(factor).store(at) }
            }
        }
    }
}

/// C += alpha acc by masked vectors, for tiles of a real type that are ragged or cut by the diagonal.
///
/// # Safety
/// As for [`Vector`] and [`add_elements`]; the rows of C are adjacent.
#[inline(always)]
unsafe fn add_lanes<T, V>(spill: *const T::Real, plane: usize, mut out: Out<'_, T>)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let ((rows, cols), cs, c) = (out.c.shape(), out.c.col_stride(), out.c.as_mut_ptr().cast::<T::Real>());
    // SAFETY: the caller vouches for V's instructions.
    let factor = unsafe { V::splat(out.minus_alpha.re()) };
    for j in 0..cols {
        let wanted = out.wanted.rows(j, 1, rows);
        for i in (0..wanted.end).step_by(V::LANES) {
            let (first, end) = (wanted.start.saturating_sub(i).min(V::LANES), (wanted.end - i).min(V::LANES));
            let at = c.wrapping_add(i + j * cs);
            // SAFETY: lanes first .. end are rows of C; the tile is whole vectors.
            unsafe {
                let x = V::load(spill.add(j * plane + i));
                let sum = if out.accumulate { V::load_lanes(at, first, end).mul_add(factor, x) } else { x.mul(factor) };
                sum.store_lanes(at, first, end);
            }
        }
    }
}

/// C += alpha acc element by element, for tiles that are complex or strided.
///
/// # Safety
/// `spill` holds the tile: column j at `j * plane * planes`, imaginary parts `plane` further on.
#[inline(always)]
unsafe fn add_elements<T: Scalar>(spill: *const T::Real, plane: usize, mut out: Out<'_, T>) {
    let (rows, cols) = out.c.shape();
    let (rs, cs, c) = (out.c.row_stride(), out.c.col_stride(), out.c.as_mut_ptr());
    for j in 0..cols {
        let Range { start: first, end: last } = out.wanted.rows(j, 1, rows);
        let column = spill.wrapping_add(j * plane * planes::<T>());
        // SAFETY: element (i, j) of the tile and of C.
        let product = |i: usize| unsafe {
            let im = if T::COMPLEX { *column.add(plane + i) } else { T::Real::ZERO };
            out.minus_alpha * T::from_parts(*column.add(i), im)
        };
        if rs == 1 && out.accumulate {
            for i in first..last {
                // SAFETY: as above.
                unsafe { *c.add(i + j * cs) += product(i) };
            }
        } else {
            for i in first..last {
                // SAFETY: as above.
                unsafe {
                    let at = c.add(i * rs + j * cs);
                    at.write(if out.accumulate { *at + product(i) } else { product(i) });
                }
            }
        }
    }
}
