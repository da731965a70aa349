//! The product at the bottom of every kernel: alpha A B + beta C (or a triangle of it), blocked for the caches.
//!
//! Blocking after Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008): a block of B and a
//! block of A are packed, then register tiles run over them. Both operands are packed, which makes the rate independent
//! of how they were stored, but for those of real types that are used a few times only. Triangles are products whose
//! register tiles on the other side of the diagonal are left out, vector by vector.

use crate::simd::{Part, Vector};
use crate::vector::dispatch::Kernel;
use crate::vector::packing::{Factor, Packed, Role, pack};
use crate::vector::planes::planes;
use crate::vector::sizes::{COLUMNS, DEPTH, NEAR, NV, block_bytes, even};
use crate::vector::tiles::micro::{
    self, Stream, Streams, Tile, as_packed, eliminate_across, eliminate_packed, with_vectors, zero,
};
use crate::vector::tiles::output::{Out, Wanted, add, add_full_pairs, add_vectors};
use crate::vector::workspace::Workspace;
use crate::{MatMut, Real, Scalar, Uplo};
use std::mem::MaybeUninit;

/// Reals of the largest tile: 8 x 3 vectors of 16, or 4 x 3 x 2 planes.
const TILE_REALS: usize = 384;

/// What is computed: C = alpha A B + beta C.
pub struct Product<'a, T> {
    pub alpha: T,
    pub a: Factor<'a, T>,
    pub b: Factor<'a, T>,
    /// If it is zero C is not read.
    pub beta: T,
    /// The triangle of C that is touched, or all of it.
    pub triangle: Option<Uplo>,
    pub c: MatMut<'a, T>,
}

impl<T> Product<'_, T> {
    /// Cᵀ = Bᵀ Aᵀ.
    pub fn transpose(self) -> Self {
        let triangle = self.triangle.map(Uplo::flip);
        Self { a: self.b.transpose(), b: self.a.transpose(), c: self.c.transpose(), triangle, ..self }
    }
}

/// A product, and what is packed of it already.
pub struct Blocks<'a, T> {
    pub product: Product<'a, T>,
    pub left: Option<&'a Packed>,
    pub right: Option<&'a Packed>,
}

impl<T: Scalar> Blocks<'_, T> {
    /// Panics unless the shapes agree, and what is packed is these factors in panels of a register tile's rows and
    /// columns.
    #[inline(always)]
    fn check(&self, rows: usize, columns: usize) {
        let Product { a, b, c, .. } = &self.product;
        let (a_shape, b_shape, (m, n)) = (a.view.shape(), b.view.shape(), c.shape());
        assert!(a_shape == (m, b_shape.0) && b_shape.1 == n, "a product: A {a_shape:?} B {b_shape:?} C {m} x {n}");
        let is_left = self.left.is_none_or(|left| left.is_of(*a, Role::Left, rows));
        let is_right = self.right.is_none_or(|right| right.is_of(b.transpose(), Role::Right, columns));
        assert!(is_left && is_right, "packed forms of these factors, in panels of {rows} rows and {columns} columns");
    }
}

impl<T: Scalar> Kernel<T> for Blocks<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) {
        self.check(NV * V::LANES, ROWS);
        let Self { product: Product { alpha, a, b, beta, triangle, mut c }, left, right } = self;
        let ((m, n), k, unit) = (c.shape(), a.view.ncols(), planes::<T>());
        let depth = even(k, DEPTH, 1);
        let width = if left.is_some() { NV * V::LANES } else { even(m, NV * V::LANES, V::LANES) };
        let height = even(m, block_bytes() / (depth * size_of::<T>()), width);
        let columns = even(n, COLUMNS, ROWS);
        let a_len = if left.is_some() { 0 } else { height * depth * unit };
        let b_len = if right.is_some() { 0 } else { columns * depth * unit };
        let (view_a, view_b) = (a.view, b.transpose().view);
        let near_a = !T::COMPLEX && a.mirror.is_none() && n <= NEAR && view_a.row_stride() == 1;
        let near_b = !T::COMPLEX && b.mirror.is_none() && m <= NEAR;
        let near_b = near_b && (view_b.row_stride() == 1 || view_b.col_stride() == 1);
        let mut scratch = Workspace::take(a_len + b_len);
        let (own_a, own_b) = scratch.elements().split_at_mut(a_len);
        for p in (0..k).step_by(depth) {
            let kc = depth.min(k - p);
            for j in (0..n).step_by(columns) {
                let nc = columns.min(n - j);
                let block_b = b.transpose().part(j..j + nc, p..p + kc);
                let panels_b = match right {
                    Some(right) => Panels::packed::<T>(right.block::<T>(j, p, kc), ROWS, kc),
                    // SAFETY: the workspace was laid out for blocks of this size.
                    None => unsafe { Panels::of::<T, V>(isa, block_b, near_b, ROWS, ROWS, own_b.as_mut_ptr()) },
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
                        // SAFETY: the workspace was laid out for blocks of this size.
                        None => unsafe {
                            Panels::of::<T, V>(isa, block_a, near_a, width, V::LANES, own_a.as_mut_ptr())
                        },
                    };
                    let out = Out {
                        minus_alpha: -alpha,
                        beta: if p == 0 { beta } else { T::ONE },
                        wanted,
                        c: c.rb_mut().submatrix(i..i + mc, j..j + nc),
                    };
                    let mut ahead = Ahead { b: !near_b, ..Ahead::NOTHING };
                    if let Some(left) = left {
                        // The next block of A, be it the next rows or the next columns.
                        let (next_i, next_p) = if i + mc < m { (i + mc, p) } else { (0, p + kc) };
                        let (rows, columns) = (height.min(m - next_i), depth.min(k - next_p.min(k)));
                        if columns > 0 {
                            let lines = lines_of::<T::Real>(rows * columns * unit);
                            let tiles = mc.div_ceil(width) * nc.div_ceil(ROWS);
                            ahead.a = Lines::new(left.block::<T>(next_i, next_p, columns), lines, tiles);
                        }
                    }
                    let factors = (panels_a, panels_b);
                    let block = Block::<_, ROWS, false> { depth: kc, width, factors, others: None, ahead, out };
                    // SAFETY: the panels are those of the blocks of this shape.
                    unsafe { V::call(isa, block) };
                }
            }
        }
    }
}

/// The panels of rows of a block of a factor, packed or where they lie.
#[derive(Clone, Copy)]
pub(crate) struct Panels<R> {
    first: Stream<R>,
    /// Rows of one.
    width: usize,
    /// Reals from one to the next.
    distance: usize,
    /// Reals from a row of a panel to the next.
    across: usize,
    /// The last one, and its row, if it is packed while the others are not, because it has fewer rows than are read.
    last: Option<(usize, Stream<R>)>,
}

/// Panels of A and of B.
pub(crate) type Factors<R> = (Panels<R>, Panels<R>);

impl<R: Real> Panels<R> {
    /// Panels of `width` rows, packed at `at`.
    #[inline(always)]
    pub fn packed<T: Scalar<Real = R>>(at: *const R, width: usize, depth: usize) -> Self {
        let unit = planes::<T>();
        let first = Stream { ptr: at, step: width * unit, plane: width };
        Self { first, width, distance: width * depth * unit, across: 1, last: None }
    }

    /// Those from this row on, which is the first of one.
    #[inline(always)]
    pub fn from(&self, row: usize) -> Self {
        debug_assert!(row.is_multiple_of(self.width) && self.last.is_none(), "all rows of a panel, packed");
        Self { first: self.at(row).0, ..*self }
    }

    /// Those of `block`: where they lie if that is `near`, but for a last one whose rows are no multiple of `whole`, or
    /// else packed at `to`.
    ///
    /// # Safety
    /// There is room for the whole block at `to`.
    #[inline(always)]
    unsafe fn of<T, V>(isa: V::Isa, block: Factor<'_, T>, near: bool, width: usize, whole: usize, to: *mut R) -> Self
    where
        T: Scalar<Real = R>,
        V: Vector<Real = R>,
    {
        let (rows, depth) = block.view.shape();
        let packed = Self::packed::<T>(to, width, depth);
        let (from, ragged) = if near { (rows - rows % width, !rows.is_multiple_of(whole)) } else { (0, true) };
        if ragged {
            // SAFETY: there is room for the whole block at `to`, of which these rows are a part.
            unsafe { pack::panels::<T, V>(isa, block.part(from..rows, 0..depth), width, to) };
        }
        if !near {
            return packed;
        }
        let first = Stream { ptr: block.view.as_ptr().cast::<R>(), step: block.view.col_stride(), plane: 0 };
        let across = block.view.row_stride();
        Self { first, distance: width * across, across, last: ragged.then_some((from, packed.first)), ..packed }
    }

    /// The rows from this one on, to the end of its panel, and the distance between them.
    #[inline(always)]
    pub fn at(&self, row: usize) -> (Stream<R>, usize) {
        match self.last {
            Some((last, stream)) if row == last => (stream, 1),
            _ => {
                let offset = row / self.width * self.distance + row % self.width * self.across;
                (self.first.offset(offset), self.across)
            }
        }
    }
}

/// Steps of a register tile, at its end, in which its elements of C, which were asked for just before, arrive; earlier
/// they would be driven out again.
const LATE: usize = 96;

/// Cache lines that are asked for, some more in each register tile.
#[derive(Clone, Copy)]
pub(crate) struct Lines {
    at: *const u8,
    /// Bytes in each.
    pace: usize,
}

impl Lines {
    pub const NONE: Self = Self { at: std::ptr::null(), pace: 0 };

    /// So many lines in so many tiles.
    #[inline(always)]
    fn new<R>(at: *const R, lines: usize, tiles: usize) -> Self {
        Self { at: at.cast(), pace: lines.div_ceil(tiles) * 64 }
    }

    /// Those of the next tile, or of what it reads anyway if there are none.
    #[inline(always)]
    fn take<R>(&mut self, or: *const R) -> *const u8 {
        let at = if self.pace == 0 { or.cast() } else { self.at };
        self.at = self.at.wrapping_add(self.pace);
        at
    }
}

/// Cache lines of so many reals.
#[inline(always)]
fn lines_of<R>(reals: usize) -> usize {
    (reals * size_of::<R>()).div_ceil(64)
}

/// What the register tiles of a block ask for while they compute: operands that were packed long ago are far away.
#[derive(Clone, Copy)]
pub(crate) struct Ahead {
    /// The next block of A.
    a: Lines,
    /// Whether the next panel of B is to be asked for.
    b: bool,
}

impl Ahead {
    pub const NOTHING: Self = Self { a: Lines::NONE, b: false };
    /// The next panel of B.
    pub const RIGHT: Self = Self { b: true, ..Self::NOTHING };
}

/// All register tiles of a block of A and one of B, or its conjugate.
pub(crate) struct Block<'a, T: Scalar, const ROWS: usize, const CONJ: bool> {
    pub depth: usize,
    /// Rows of a panel of A.
    pub width: usize,
    pub factors: Factors<T::Real>,
    /// The packed panels of a second product, which is added to the first one. Nothing is then computed of the squares
    /// on the diagonal of C that are as large as a vector has lanes.
    pub others: Option<Factors<T::Real>>,
    pub ahead: Ahead,
    pub out: Out<'a, T>,
}

impl<T, V, const ROWS: usize, const CONJ: bool> Part<V> for Block<'_, T, ROWS, CONJ>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    type Output = ();

    /// # Safety
    /// The panels of A have `width` rows and those of B ROWS, all of them `depth` steps; there is one for each row and
    /// column of C. So have those of `others`.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) {
        let Self { depth, width, factors: (a, b), others, mut ahead, mut out } = self;
        let ((m, n), unit) = (out.c.shape(), planes::<T>());
        for j in (0..n).step_by(ROWS) {
            let cols = ROWS.min(n - j);
            let right = b.at(j);
            let panel = ROWS * depth * unit;
            let mut next_b = match ahead.b {
                true => Lines::new(right.0.ptr.wrapping_add(panel), lines_of::<T::Real>(panel), m.div_ceil(width)),
                false => Lines::NONE,
            };
            for i in (0..m).step_by(width) {
                let (a, _) = a.at(i);
                // Vectors of this panel that hold nothing wanted are left out.
                let rows = match others {
                    Some(_) => out.wanted.rows_beside_squares(V::LANES, j, m),
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
                let part = Out {
                    wanted: Wanted { offset: out.wanted.offset + i as isize - j as isize, ..out.wanted },
                    c: out.c.rb_mut().submatrix(i..m.min(i + vectors * V::LANES), j..j + cols),
                    ..out
                };
                // SAFETY: panels i and j are there, `depth` steps long; vectors that are skipped are at the beginning
                // of one.
                unsafe {
                    let next = [&mut next_b, &mut ahead.a];
                    with_vectors!(vectors, tile::<T, V, _, ROWS, CONJ>(isa, depth, a, right, others, next, part))
                }
            }
        }
    }
}

/// acc -= b x, or with the conjugate of b, as in [`eliminate_across`]; what is needed next is asked for on the way:
/// lines of `next` before C is, and others after that.
///
/// # Safety
/// Both streams hold `depth` steps: of x NV vectors per plane, of b ROWS reals per plane.
#[inline(always)]
pub(crate) unsafe fn accumulate<T, V, const NV: usize, const ROWS: usize, const CONJ: bool>(
    acc: &mut Tile<V, NV, ROWS>,
    depth: usize,
    (a, b): Streams<T::Real>,
    next: [&mut Lines; 2],
    out: &mut Out<'_, T>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let early = (depth / 2).max(depth.saturating_sub(LATE)) / 4 * 4;
    let [before, after] = next.map(|lines| lines.take(a.ptr));
    // SAFETY: the steps are cut in two: so many early ones, and the rest.
    unsafe {
        steps::<T, V, NV, ROWS, CONJ>(acc, early, (a, b), before);
        out.fetch::<V, NV, ROWS>();
        let rest = (a.offset(early * a.step), b.offset(early * b.step));
        steps::<T, V, NV, ROWS, CONJ>(acc, depth - early, rest, after);
    }
}

/// acc -= b x, or with the conjugate of b, and lines of `next` are asked for.
///
/// # Safety
/// As for [`accumulate`].
#[inline(always)]
pub(crate) unsafe fn steps<T, V, const NV: usize, const ROWS: usize, const CONJ: bool>(
    acc: &mut Tile<V, NV, ROWS>,
    depth: usize,
    (a, b): Streams<T::Real>,
    next: *const u8,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: the streams have `depth` steps, whichever loop takes them.
    unsafe {
        match as_packed::<T, V, NV, ROWS>(a, b) {
            Some(streams) => eliminate_packed::<T, V, NV, ROWS>(acc, depth, streams, next, CONJ),
            None => eliminate_across::<T, V, NV, ROWS>(acc, depth, (a, b), 1, CONJ),
        }
    }
}

/// One register tile: C = alpha A B + beta C, or with the conjugate of B; the product of two others may be added to
/// theirs.
///
/// # Safety
/// All streams hold `depth` steps, with the rows of b `across` reals apart; C has at most NV vectors of rows and ROWS
/// columns.
#[inline(always)]
unsafe fn tile<T, V, const NV: usize, const ROWS: usize, const CONJ: bool>(
    isa: V::Isa,
    depth: usize,
    a: Stream<T::Real>,
    (b, across): (Stream<T::Real>, usize),
    others: Option<Streams<T::Real>>,
    next: [&mut Lines; 2],
    mut out: Out<'_, T>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let whole = out.wanted.whole(out.c.nrows(), out.c.ncols());
    // SAFETY: all streams have `depth` steps; C has the rows and columns of the tile.
    unsafe {
        let mut acc = zero::<T, V, NV, ROWS>(isa);
        if let Some(others) = others {
            steps::<T, V, NV, ROWS, CONJ>(&mut acc, depth, others, a.ptr.cast());
        }
        if T::COMPLEX || across == 1 {
            accumulate::<T, V, NV, ROWS, CONJ>(&mut acc, depth, (a, b), next, &mut out);
        } else {
            eliminate_across::<T, V, NV, ROWS>(&mut acc, depth, (a, b), across, false);
        }
        put::<T, V, NV, ROWS>(&acc, whole, out);
    }
}

/// C = alpha acc + beta C, all of which is wanted if that is `whole`.
///
/// # Safety
/// C has at most NV vectors of rows and ROWS columns.
#[inline(always)]
pub(crate) unsafe fn put<T, V, const NV: usize, const ROWS: usize>(
    acc: &Tile<V, NV, ROWS>,
    whole: bool,
    out: Out<'_, T>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    assert!(NV * V::LANES * ROWS * planes::<T>() <= TILE_REALS);
    let isa = acc[0][0][0].isa();
    let (rows, rs) = (out.c.nrows(), out.c.row_stride());
    // SAFETY: C has the rows and columns of the tile; there is room for the largest tile in `spill`, by columns of
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
