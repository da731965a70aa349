//! The product at the bottom of every kernel: C (or its lower triangle) plus alpha A B, blocked for the caches.
//!
//! Blocking after Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008): a block of B and a
//! block of A are packed, then register tiles run over them. Both operands are always packed, which makes the rate
//! independent of how they were stored. Triangles are products whose register tiles on
//! the other side of the diagonal are left out, vector by vector.

use super::micro::{Stream, Tile, eliminate, planes, with_vectors, zero};
use super::pack;
use super::packed::{self, DEPTH, Packed, Right, even};
use super::workspace::Workspace;
use crate::backend::Factor;
use crate::simd::{Kernel, Vector, prefetch, prefetch_near};
use crate::{MatMut, Scalar, Uplo};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Bytes of a packed block of A: a quarter of a 1 MiB second-level cache, so that the next block has room, too.
const BLOCK_BYTES: usize = 256 << 10;
/// Columns of a packed block of B, which bounds the workspace.
const COLUMNS: usize = 512;
/// Vectors along a full tile.
pub(super) const NV: usize = 3;
/// Reals of the largest tile: 8 x 3 vectors of 16, or 4 x 3 x 2 planes.
const TILE_REALS: usize = 384;

/// What is computed: C = alpha A B, or C + alpha A B.
pub struct Product<'a, T> {
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
        let product = if along { self } else { self.transpose() };
        let left = packed::left(product.a, product.c.ncols());
        let right = Right::of(product.b.transpose(), product.c.nrows());
        let right = right.as_ref().and_then(Right::packed);
        T::product(Blocks { product, left: left.as_deref(), right });
    }

    /// Cᵀ = Bᵀ Aᵀ.
    fn transpose(self) -> Self {
        let triangle = self.triangle.map(Uplo::flip);
        Self { a: self.b.transpose(), b: self.a.transpose(), c: self.c.transpose(), triangle, ..self }
    }
}

/// A product, and what is packed of it already.
pub struct Blocks<'a, T> {
    product: Product<'a, T>,
    left: Option<&'a Packed>,
    right: Option<&'a Packed>,
}

impl<T: Scalar> Kernel<T> for Blocks<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self) {
        let Self { product: Product { alpha, a, b, accumulate, triangle, mut c }, left, right } = self;
        let ((m, n), k, unit) = (c.shape(), a.view.ncols(), planes::<T>());
        let (width, depth) = (NV * V::LANES, even(k, DEPTH, 1));
        let height = even(m, BLOCK_BYTES / (depth * size_of::<T>()), width);
        let columns = even(n, COLUMNS, ROWS);
        let a_len = if left.is_some() { 0 } else { height * depth * unit };
        let b_len = if right.is_some() { 0 } else { columns * depth * unit };
        let mut scratch = Workspace::take(a_len + b_len);
        let (own_a, own_b) = scratch.elements().split_at_mut(a_len);
        for p in (0..k).step_by(depth) {
            let kc = depth.min(k - p);
            for j in (0..n).step_by(columns) {
                let nc = columns.min(n - j);
                let packed_b = match right {
                    Some(right) => right.block::<T>(j, p, kc),
                    None => {
                        let b = b.transpose().part(j..j + nc, p..p + kc);
                        // SAFETY: the blocks are of the sizes that the workspace was laid out for.
                        unsafe { pack::panels::<T, V>(b, ROWS, own_b.as_mut_ptr()) };
                        own_b.as_ptr()
                    }
                };
                for i in (0..m).step_by(height) {
                    let mc = height.min(m - i);
                    let wanted = Wanted { triangle, offset: i as isize - j as isize };
                    if wanted.rows(0, nc, mc).is_empty() {
                        continue;
                    }
                    let packed_a = match left {
                        Some(left) => left.block::<T>(i, p, kc),
                        None => {
                            // SAFETY: as above.
                            unsafe { pack::panels::<T, V>(a.part(i..i + mc, p..p + kc), width, own_a.as_mut_ptr()) };
                            own_a.as_ptr()
                        }
                    };
                    let out = Out {
                        minus_alpha: -alpha,
                        accumulate: accumulate || p > 0,
                        wanted,
                        c: c.rb_mut().submatrix(i..i + mc, j..j + nc),
                    };
                    let mut ahead = Ahead::NOTHING;
                    if let Some(left) = left {
                        // The next block of A, be it the next rows or the next columns.
                        let (next_i, next_p) = if i + mc < m { (i + mc, p) } else { (0, p + kc) };
                        let (rows, columns) = (height.min(m - next_i), depth.min(k - next_p.min(k)));
                        if columns > 0 {
                            ahead.a = Lines::new(left.block::<T>(next_i, next_p, columns), rows * columns * unit);
                            ahead.a_pace = ahead.a.len.div_ceil(chunks(mc.div_ceil(width) * nc.div_ceil(ROWS), kc));
                        }
                    }
                    if right.is_some() && i == 0 {
                        ahead.b_pace = (ROWS * unit * size_of::<T::Real>()).div_ceil(64) * CHUNK;
                        ahead.b_pace = ahead.b_pace.div_ceil(mc.div_ceil(width));
                    }
                    // SAFETY: the packed blocks are of this shape.
                    unsafe { block::<T, V, ROWS>(kc, packed_a, packed_b, ahead, out) };
                }
            }
        }
    }
}

/// Steps of a register tile between two looks ahead.
const CHUNK: usize = 8;
/// Chunks before the end of a register tile from which on its columns of C are asked for: a column per chunk.
const LATE: usize = 16;

/// Looks ahead in so many register tiles.
#[inline(always)]
fn chunks(tiles: usize, depth: usize) -> usize {
    (tiles * depth / CHUNK).max(1)
}

/// Cache lines to be asked for.
#[derive(Clone, Copy)]
struct Lines {
    at: *const u8,
    len: usize,
}

impl Lines {
    #[inline(always)]
    fn new<R>(at: *const R, reals: usize) -> Self {
        Self { at: at.cast(), len: (reals * size_of::<R>()).div_ceil(64) }
    }

    /// Asks for the next few.
    #[inline(always)]
    fn fetch(&mut self, count: usize) {
        for _ in 0..count.min(self.len) {
            prefetch_near(self.at);
            self.at = self.at.wrapping_add(64);
            self.len -= 1;
        }
    }
}

/// What the register tiles of a block ask for while they compute: operands that were packed long ago are far away.
#[derive(Clone, Copy)]
struct Ahead {
    /// The next block of A.
    a: Lines,
    /// The next panel of B, if it has a pace.
    b: Lines,
    /// Lines per chunk.
    a_pace: usize,
    b_pace: usize,
}

impl Ahead {
    const NOTHING: Self = Self {
        a: Lines { at: std::ptr::null(), len: 0 },
        b: Lines { at: std::ptr::null(), len: 0 },
        a_pace: 0,
        b_pace: 0,
    };
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
unsafe fn block<T, V, const ROWS: usize>(
    depth: usize,
    a: *const T::Real,
    b: *const T::Real,
    mut ahead: Ahead,
    mut out: Out<'_, T>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let ((m, n), unit, width) = (out.c.shape(), planes::<T>(), NV * V::LANES);
    for j in (0..n).step_by(ROWS) {
        let cols = ROWS.min(n - j);
        let b = Stream { ptr: b.wrapping_add(j * depth * unit), step: ROWS * unit, plane: ROWS };
        ahead.b = Lines::new(b.ptr.wrapping_add(ROWS * depth * unit), ROWS * depth * unit);
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
            unsafe { with_vectors!(vectors, tile::<T, V, _, ROWS>(depth, a, b, &mut ahead, part)) }
        }
    }
}

/// acc -= b x as in [`eliminate`], and what is needed next is asked for on the way: a column of C per chunk towards the
/// end (earlier it would be driven out again), and what is ahead.
///
/// # Safety
/// As for [`eliminate`].
#[inline(always)]
unsafe fn accumulate<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Tile<V, NV, ROWS>,
    depth: usize,
    (mut a, mut b): (Stream<T::Real>, Stream<T::Real>),
    ahead: &mut Ahead,
    out: &mut Out<'_, T>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let ((rows, cols), rs, cs) = (out.c.shape(), out.c.row_stride(), out.c.col_stride());
    let (mut column, line) = (out.c.as_mut_ptr().cast_const(), 64 / size_of::<T>());
    let chunks = depth / CHUNK;
    let (late, mut left) = (chunks.saturating_sub(LATE), cols);
    for chunk in 0..chunks {
        // SAFETY: the caller's promises.
        unsafe { eliminate::<T, V, NV, ROWS>(acc, CHUNK, a, b, false) };
        (a, b) = (a.offset(CHUNK * a.step), b.offset(CHUNK * b.step));
        ahead.a.fetch(ahead.a_pace);
        ahead.b.fetch(ahead.b_pace);
        if chunk >= late && left > 0 {
            for i in (0..rows).step_by(line) {
                prefetch(column.wrapping_add(i * rs));
            }
            // The last element, which may be on a line of its own.
            prefetch(column.wrapping_add((rows - 1) * rs));
            column = column.wrapping_add(cs);
            left -= 1;
        }
    }
    // SAFETY: the caller's promises.
    unsafe { eliminate::<T, V, NV, ROWS>(acc, depth % CHUNK, a, b, false) };
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
    ahead: &mut Ahead,
    mut out: Out<'_, T>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (rows, cols) = out.c.shape();
    let rs = out.c.row_stride();
    let whole = out.wanted.whole(rows, cols);
    // SAFETY: the caller's promises.
    unsafe {
        let mut acc = zero::<T, V, NV, ROWS>();
        accumulate::<T, V, NV, ROWS>(&mut acc, depth, (a, b), ahead, &mut out);
        if whole && rs == 1 && rows == NV * V::LANES {
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

/// C += alpha acc for a full tile whose columns are adjacent rows.
///
/// # Safety
/// As for [`Vector`]; C is such a tile.
#[inline(always)]
unsafe fn add_vectors<T, V, const NV: usize, const ROWS: usize>(acc: &Tile<V, NV, ROWS>, mut out: Out<'_, T>)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (cols, step) = (out.c.ncols(), out.c.col_stride() * planes::<T>());
    let c = out.c.as_mut_ptr().cast::<T::Real>();
    // SAFETY: the caller's promises.
    unsafe {
        let (re, im, one) = (V::splat(out.minus_alpha.re()), V::splat(out.minus_alpha.im()), V::splat(T::Real::ONE));
        for (j, row) in acc.iter().enumerate().take(cols) {
            for (v, x) in row.iter().enumerate() {
                let at = c.add(j * step + v * V::LANES * planes::<T>());
                if T::COMPLEX {
                    let (low, high) = V::interleave(x[0].mul(re).mul_sub(im, x[1]), x[1].mul(re).mul_add(im, x[0]));
                    let behind = at.add(V::LANES);
                    if out.accumulate {
                        V::load(at).mul_add(one, low).store(at);
                        V::load(behind).mul_add(one, high).store(behind);
                    } else {
                        low.store(at);
                        high.store(behind);
                    }
                } else if out.accumulate {
                    V::load(at).mul_add(re, x[0]).store(at);
                } else {
                    x[0].mul(re).store(at);
                }
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
