//! The product that every kernel is built on: alpha A B + beta C (or a triangle of it), blocked for the caches.
//!
//! The blocking follows Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008): a block of B
//! and a block of A are packed, then register tiles run over them. Because operands are packed, the rate does not
//! depend on their storage; only factors of real types that are used a few times are read in place. Triangles are
//! products that skip the vectors of register tiles on the other side of the diagonal.

use crate::simd::{Part, Vector};
use crate::vector::dispatch::Kernel;
use crate::vector::packing::{Factor, Packed, Role, pack};
use crate::vector::planes::planes;
use crate::vector::sizes::{COLUMNS, DEPTH, NV, UNPACKED_USES_MAX, block_bytes, columns_collide, even_block_size};
use crate::vector::tiles::micro::{
    self, Accumulators, OperandStream, OperandStreams, as_packed, eliminate_packed, eliminate_strided, with_vectors,
    zero,
};
use crate::vector::tiles::output::{Destination, Wanted, add, add_full_pairs, add_vectors};
use crate::vector::workspace::Workspace;
use crate::{MatMut, Real, Scalar, Uplo};
use std::mem::MaybeUninit;

/// Reals of the largest register tile: 8 x 3 vectors of 16, or 4 x 3 x 2 planes.
const TILE_REALS: usize = 384;

/// The operation C = alpha A B + beta C.
pub struct Product<'a, T> {
    pub alpha: T,
    pub a: Factor<'a, T>,
    pub b: Factor<'a, T>,
    /// If zero, C is not read.
    pub beta: T,
    /// The triangle of C that is computed, or None for all of C.
    pub triangle: Option<Uplo>,
    pub c: MatMut<'a, T>,
}

impl<T> Product<'_, T> {
    /// Returns the transposed product, Cᵀ = Bᵀ Aᵀ.
    pub fn transpose(self) -> Self {
        let triangle = self.triangle.map(Uplo::flip);
        Self { a: self.b.transpose(), b: self.a.transpose(), c: self.c.transpose(), triangle, ..self }
    }
}

/// A product, with the packed forms of its factors that exist already.
pub struct Blocks<'a, T> {
    pub product: Product<'a, T>,
    pub left: Option<&'a Packed>,
    pub right: Option<&'a Packed>,
}

impl<T: Scalar> Blocks<'_, T> {
    /// Checks that the shapes agree, and that packed forms belong to these factors and have panels of a register tile's
    /// rows and columns.
    ///
    /// # Panics
    /// If one of them does not.
    #[inline(always)]
    fn check(&self, rows: usize, columns: usize) {
        let Product { a, b, c, .. } = &self.product;
        let (a_shape, b_shape, (m, n)) = (a.view.shape(), b.view.shape(), c.shape());
        assert!(
            a_shape == (m, b_shape.0) && b_shape.1 == n,
            "shapes of a product do not agree: A {a_shape:?}, B {b_shape:?}, C {m} x {n}"
        );
        let is_left = self.left.is_none_or(|left| left.is_of(*a, Role::Left, rows));
        let is_right = self.right.is_none_or(|right| right.is_of(b.transpose(), Role::Right, columns));
        assert!(
            is_left && is_right,
            "packed forms do not fit (left: {is_left}, right: {is_right}): expected those of these factors, in panels \
             of {rows} rows and {columns} columns"
        );
    }
}

impl<T: Scalar> Kernel<T> for Blocks<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) {
        self.check(NV * V::LANES, ROWS);
        let Self { product: Product { alpha, a, b, beta, triangle, mut c }, left, right } = self;
        let ((m, n), k, unit) = (c.shape(), a.view.ncols(), planes::<T>());
        let depth = even_block_size(k, DEPTH, 1);
        let width = if left.is_some() { NV * V::LANES } else { even_block_size(m, NV * V::LANES, V::LANES) };
        let height = even_block_size(m, block_bytes() / (depth * size_of::<T>()), width);
        let columns = even_block_size(n, COLUMNS, ROWS);
        let a_len = if left.is_some() { 0 } else { height * depth * unit };
        let b_len = if right.is_some() { 0 } else { columns * depth * unit };
        let (view_a, view_b) = (a.view, b.transpose().view);
        let in_place_a = !T::COMPLEX && a.mirror.is_none() && n <= UNPACKED_USES_MAX && view_a.row_stride() == 1;
        let in_place_a = in_place_a && !columns_collide(view_a.col_stride().wrapping_mul(size_of::<T>()), depth);
        // B's panels are used less often, since a register tile has more rows than columns, so they are not packed even
        // if their columns collide.
        let in_place_b = !T::COMPLEX && b.mirror.is_none() && m <= UNPACKED_USES_MAX;
        let in_place_b = in_place_b && (view_b.row_stride() == 1 || view_b.col_stride() == 1);
        let mut scratch = Workspace::take(a_len + b_len);
        let (own_a, own_b) = scratch.elements().split_at_mut(a_len);
        for p in (0..k).step_by(depth) {
            let kc = depth.min(k - p);
            for j in (0..n).step_by(columns) {
                let nc = columns.min(n - j);
                let block_b = b.transpose().part(j..j + nc, p..p + kc);
                let panels_b = match right {
                    Some(right) => Panels::packed::<T>(right.block::<T>(j, p, kc), ROWS, kc),
                    // SAFETY: the workspace was allocated for blocks of this size.
                    None => unsafe { Panels::of::<T, V>(isa, block_b, in_place_b, ROWS, ROWS, own_b.as_mut_ptr()) },
                };
                for i in (0..m).step_by(height) {
                    let mc = height.min(m - i);
                    let wanted = Wanted { triangle, offset: i as isize - j as isize };
                    if wanted.rows(0, nc, mc).is_empty() {
                        continue;
                    }
                    let block_a = a.part(i..i + mc, p..p + kc);
                    let panels_a = match left {
                        Some(left) => Panels::packed::<T>(left.block::<T>(i, p, kc), width, kc),
                        // SAFETY: the workspace was allocated for blocks of this size.
                        None => unsafe {
                            Panels::of::<T, V>(isa, block_a, in_place_a, width, V::LANES, own_a.as_mut_ptr())
                        },
                    };
                    let out = Destination {
                        minus_alpha: -alpha,
                        beta: if p == 0 { beta } else { T::ONE },
                        wanted,
                        c: c.rb_mut().submatrix(i..i + mc, j..j + nc),
                    };
                    let mut prefetch = Prefetch { b: !in_place_b, ..Prefetch::NOTHING };
                    if let Some(left) = left {
                        // The next block of A has the next rows, or else the next columns.
                        let (next_i, next_p) = if i + mc < m { (i + mc, p) } else { (0, p + kc) };
                        let (rows, columns) = (height.min(m - next_i), depth.min(k - next_p.min(k)));
                        if columns > 0 {
                            let lines = lines_of::<T::Real>(rows * columns * unit);
                            let tiles = mc.div_ceil(width) * nc.div_ceil(ROWS);
                            prefetch.a = PrefetchLines::new(left.block::<T>(next_i, next_p, columns), lines, tiles);
                        }
                    }
                    let factors = (panels_a, panels_b);
                    let block = Block::<_, ROWS, false> { depth: kc, width, factors, others: None, prefetch, out };
                    // SAFETY: each factor's panels cover the rows or columns of this block of C, `kc` steps long.
                    unsafe { V::call(isa, block) };
                }
            }
        }
    }
}

/// The panels of a block of a factor, packed or in place in the matrix.
#[derive(Clone, Copy)]
pub(crate) struct Panels<R> {
    first: OperandStream<R>,
    /// Rows of a panel.
    width: usize,
    /// Reals from one panel to the next.
    distance: usize,
    /// Reals from one row of a panel to the next.
    across: usize,
    /// The first row of the last panel and its packed copy, if the other panels are read in place.
    last: Option<(usize, OperandStream<R>)>,
}

/// Panels of A and of B.
pub(crate) type PanelPair<R> = (Panels<R>, Panels<R>);

impl<R: Real> Panels<R> {
    /// Returns panels of `width` rows that are packed at `at`.
    #[inline(always)]
    pub fn packed<T: Scalar<Real = R>>(at: *const R, width: usize, depth: usize) -> Self {
        let unit = planes::<T>();
        let first = OperandStream { ptr: at, step: width * unit, plane: width };
        Self { first, width, distance: width * depth * unit, across: 1, last: None }
    }

    /// Returns the panels from `row` on, the first row of a panel.
    #[inline(always)]
    pub fn from(&self, row: usize) -> Self {
        debug_assert!(row.is_multiple_of(self.width) && self.last.is_none(), "row {row} does not begin a packed panel");
        Self { first: self.at(row).0, ..*self }
    }

    /// Returns the panels of `block`. With `in_place` they stay in the matrix, except a last one whose rows are not a
    /// multiple of `whole`; everything else is packed at `to`.
    ///
    /// # Safety
    /// `to` has room for the whole block.
    #[inline(always)]
    unsafe fn of<T, V>(
        isa: V::Isa,
        block: Factor<'_, T>,
        in_place: bool,
        width: usize,
        whole: usize,
        to: *mut R,
    ) -> Self
    where
        T: Scalar<Real = R>,
        V: Vector<Real = R>,
    {
        let (rows, depth) = block.view.shape();
        let packed = Self::packed::<T>(to, width, depth);
        let (from, ragged) = if in_place { (rows - rows % width, !rows.is_multiple_of(whole)) } else { (0, true) };
        if ragged {
            // SAFETY: `to` has room for the whole block, which includes these rows.
            unsafe { pack::panels::<T, V>(isa, block.part(from..rows, 0..depth), width, to) };
        }
        if !in_place {
            return packed;
        }
        let first = OperandStream { ptr: block.view.as_ptr().cast::<R>(), step: block.view.col_stride(), plane: 0 };
        let across = block.view.row_stride();
        Self { first, distance: width * across, across, last: ragged.then_some((from, packed.first)), ..packed }
    }

    /// Returns the rows of a panel from `row` on, and the distance between them.
    #[inline(always)]
    pub fn at(&self, row: usize) -> (OperandStream<R>, usize) {
        match self.last {
            Some((last, stream)) if row == last => (stream, 1),
            _ => {
                let offset = row / self.width * self.distance + row % self.width * self.across;
                (self.first.offset(offset), self.across)
            }
        }
    }
}

/// A register tile prefetches C at most this many steps before it ends; earlier, C would be evicted before use.
const PREFETCH_C_STEPS: usize = 96;

/// Cache lines to prefetch, a few in each register tile.
#[derive(Clone, Copy)]
pub(crate) struct PrefetchLines {
    at: *const u8,
    /// Bytes per register tile.
    pace: usize,
}

impl PrefetchLines {
    pub const NONE: Self = Self { at: std::ptr::null(), pace: 0 };

    /// Spreads `lines` cache lines over `tiles` register tiles.
    #[inline(always)]
    fn new<R>(at: *const R, lines: usize, tiles: usize) -> Self {
        Self { at: at.cast(), pace: lines.div_ceil(tiles) * 64 }
    }

    /// Returns the address to prefetch from in the next register tile, or `or`, which it reads anyway, if there are no
    /// lines.
    #[inline(always)]
    fn take<R>(&mut self, or: *const R) -> *const u8 {
        let at = if self.pace == 0 { or.cast() } else { self.at };
        self.at = self.at.wrapping_add(self.pace);
        at
    }
}

/// Returns the cache lines that `reals` reals occupy.
#[inline(always)]
fn lines_of<R>(reals: usize) -> usize {
    (reals * size_of::<R>()).div_ceil(64)
}

/// What the register tiles of a block prefetch while they compute: operands packed long ago are no longer in a near
/// cache.
#[derive(Clone, Copy)]
pub(crate) struct Prefetch {
    /// Lines of the next block of A.
    a: PrefetchLines,
    /// Whether to prefetch the next panel of B.
    b: bool,
}

impl Prefetch {
    pub const NOTHING: Self = Self { a: PrefetchLines::NONE, b: false };
    /// Prefetches the next panel of B.
    pub const RIGHT: Self = Self { b: true, ..Self::NOTHING };
}

/// All register tiles of a block of A times a block of B, or times its conjugate.
pub(crate) struct Block<'a, T: Scalar, const ROWS: usize, const CONJ: bool> {
    pub depth: usize,
    /// Rows of a panel of A.
    pub width: usize,
    pub factors: PanelPair<T::Real>,
    /// The packed panels of a second product, which is added to the first. Squares on the diagonal of C, as large as a
    /// vector has lanes, are then skipped.
    pub others: Option<PanelPair<T::Real>>,
    pub prefetch: Prefetch,
    pub out: Destination<'a, T>,
}

impl<T, V, const ROWS: usize, const CONJ: bool> Part<V> for Block<'_, T, ROWS, CONJ>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    type Output = ();

    /// # Safety
    /// Panels of A have `width` rows and those of B ROWS, each `depth` steps long, and they cover all rows and columns
    /// of C. The same holds for `others`.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) {
        let Self { depth, width, factors: (a, b), others, mut prefetch, mut out } = self;
        let ((m, n), unit) = (out.c.shape(), planes::<T>());
        for j in (0..n).step_by(ROWS) {
            let cols = ROWS.min(n - j);
            let right = b.at(j);
            let panel = ROWS * depth * unit;
            let mut next_b = match prefetch.b {
                true => {
                    PrefetchLines::new(right.0.ptr.wrapping_add(panel), lines_of::<T::Real>(panel), m.div_ceil(width))
                }
                false => PrefetchLines::NONE,
            };
            for i in (0..m).step_by(width) {
                let (a, _) = a.at(i);
                // Vectors of this panel without wanted elements are skipped.
                let rows = match others {
                    Some(_) => out.wanted.rows_outside_squares(V::LANES, j, m),
                    None => out.wanted.rows(j, cols, m),
                };
                let (first, last) = (rows.start.max(i), rows.end.min(i + width));
                if first >= last {
                    continue;
                }
                let skip = (first - i) / V::LANES;
                let vectors = (last - i).div_ceil(V::LANES) - skip;
                let others = others.map(|(a, b)| (a.at(i).0.offset(skip * V::LANES), b.at(j).0));
                let (i, a) = (i + skip * V::LANES, a.offset(skip * V::LANES));
                let part = Destination {
                    wanted: Wanted { offset: out.wanted.offset + i as isize - j as isize, ..out.wanted },
                    c: out.c.rb_mut().submatrix(i..m.min(i + vectors * V::LANES), j..j + cols),
                    ..out
                };
                // SAFETY: panels i and j exist and are `depth` steps long; the skipped vectors are the first ones of a
                // panel.
                unsafe {
                    let next = [&mut next_b, &mut prefetch.a];
                    with_vectors!(vectors, tile::<T, V, _, ROWS, CONJ>(isa, depth, a, right, others, next, part))
                }
            }
        }
    }
}

/// Computes acc -= b x, or uses the conjugate of b, as in [`eliminate_strided`]. Prefetches lines of the first of
/// `next`, then C, then lines of the second.
///
/// # Safety
/// Both streams hold `depth` steps: of x NV vectors per plane, of b ROWS reals per plane.
#[inline(always)]
pub(crate) unsafe fn accumulate<T, V, const NV: usize, const ROWS: usize, const CONJ: bool>(
    acc: &mut Accumulators<V, NV, ROWS>,
    depth: usize,
    (a, b): OperandStreams<T::Real>,
    next: [&mut PrefetchLines; 2],
    out: &mut Destination<'_, T>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let early = (depth / 2).max(depth.saturating_sub(PREFETCH_C_STEPS)) / 4 * 4;
    let [before, after] = next.map(|lines| lines.take(a.ptr));
    // SAFETY: the streams have `depth` steps, of which `early` are taken first and the rest afterwards.
    unsafe {
        steps::<T, V, NV, ROWS, CONJ>(acc, early, (a, b), before);
        out.prefetch_c::<V, NV, ROWS>();
        let rest = (a.offset(early * a.step), b.offset(early * b.step));
        steps::<T, V, NV, ROWS, CONJ>(acc, depth - early, rest, after);
    }
}

/// Computes acc -= b x, or uses the conjugate of b, and prefetches lines of `next`.
///
/// # Safety
/// Both streams hold `depth` steps, as [`accumulate`] requires.
#[inline(always)]
pub(crate) unsafe fn steps<T, V, const NV: usize, const ROWS: usize, const CONJ: bool>(
    acc: &mut Accumulators<V, NV, ROWS>,
    depth: usize,
    (a, b): OperandStreams<T::Real>,
    next: *const u8,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: the caller guarantees `depth` steps, which is what both loops require.
    unsafe {
        match as_packed::<T, V, NV, ROWS>(a, b) {
            Some(streams) => eliminate_packed::<T, V, NV, ROWS>(acc, depth, streams, next, CONJ),
            None => eliminate_strided::<T, V, NV, ROWS>(acc, depth, (a, b), 1, CONJ),
        }
    }
}

/// Computes one register tile: C = alpha A B + beta C, or uses the conjugate of B. The product of `others`, if any, is
/// added to A B.
///
/// # Safety
/// All streams hold `depth` steps, with the rows of b `across` reals apart; C has at most NV vectors of rows and ROWS
/// columns.
#[inline(always)]
unsafe fn tile<T, V, const NV: usize, const ROWS: usize, const CONJ: bool>(
    isa: V::Isa,
    depth: usize,
    a: OperandStream<T::Real>,
    (b, across): (OperandStream<T::Real>, usize),
    others: Option<OperandStreams<T::Real>>,
    next: [&mut PrefetchLines; 2],
    mut out: Destination<'_, T>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let whole = out.wanted.whole(out.c.nrows(), out.c.ncols());
    // SAFETY: all streams have `depth` steps; C has at most the rows and columns of the tile.
    unsafe {
        let mut acc = zero::<T, V, NV, ROWS>(isa);
        if let Some(others) = others {
            steps::<T, V, NV, ROWS, CONJ>(&mut acc, depth, others, a.ptr.cast());
        }
        if T::COMPLEX || across == 1 {
            accumulate::<T, V, NV, ROWS, CONJ>(&mut acc, depth, (a, b), next, &mut out);
        } else {
            eliminate_strided::<T, V, NV, ROWS>(&mut acc, depth, (a, b), across, false);
        }
        write_tile::<T, V, NV, ROWS>(&acc, whole, out);
    }
}

/// Computes C = alpha acc + beta C. With `whole`, all elements of C are wanted.
///
/// # Safety
/// C has at most NV vectors of rows and ROWS columns.
#[inline(always)]
pub(crate) unsafe fn write_tile<T, V, const NV: usize, const ROWS: usize>(
    acc: &Accumulators<V, NV, ROWS>,
    whole: bool,
    out: Destination<'_, T>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    assert!(NV * V::LANES * ROWS * planes::<T>() <= TILE_REALS);
    let isa = acc[0][0][0].isa();
    let (rows, rs) = (out.c.nrows(), out.c.row_stride());
    // SAFETY: C has at most the rows and columns of the tile; `spill` has room for the largest tile, by columns of
    // whole vectors.
    unsafe {
        let is_full = whole && rs == 1 && rows == NV * V::LANES;
        if !T::COMPLEX && is_full {
            return add_vectors::<T, V, NV, ROWS>(acc, out);
        }
        let mut spill = [const { MaybeUninit::<T::Real>::uninit() }; TILE_REALS];
        let (spill, plane) = (spill.as_mut_ptr().cast::<T::Real>(), NV * V::LANES);
        for (r, row) in acc.iter().enumerate() {
            micro::store::<T, V, NV>(row, spill.add(r * plane * planes::<T>()), plane);
        }
        if T::COMPLEX && is_full {
            return add_full_pairs::<T, V, NV>(isa, spill, out);
        }
        add::<T, V>(isa, spill, plane, out);
    }
}
