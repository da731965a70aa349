//! B = alpha A B for a triangular A, blocked for the caches like any product.
//!
//! Each step takes some columns of A and the matching rows of B, which are packed first. The corresponding rows of the
//! result can then overwrite those of B, and the off-diagonal part of these columns is added to the other rows, whose
//! own elements of B were used in earlier steps. So B is packed once, and nothing is copied back.
//!
//! Elements of the other triangle are never multiplied, not even as zeros: zero times Inf would give NaN.

use super::product::{Block, PanelPair, Panels, Prefetch, PrefetchLines, accumulate, write_tile};
use crate::simd::Vector;
use crate::vector::dispatch::Kernel;
use crate::vector::packing::{Factor, pack};
use crate::vector::planes::{planes, scalar};
use crate::vector::sizes::{COLUMNS, DEPTH, NV, block_bytes, even_block_size};
use crate::vector::tiles::micro::{Accumulators, OperandStreams, load, subtract, with_vectors, zero};
use crate::vector::tiles::output::{Destination, Wanted};
use crate::vector::workspace::Workspace;
use crate::{Diag, MatMut, Scalar, Uplo};
use std::ops::Range;

/// The operation B = alpha A B, for a triangular A, possibly conjugated.
pub struct TriangularProduct<'a, T> {
    pub uplo: Uplo,
    pub a: Factor<'a, T>,
    pub diag: Diag,
    pub alpha: T,
    pub b: MatMut<'a, T>,
}

impl<T: Scalar> Kernel<T> for TriangularProduct<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) {
        if self.b.row_stride() <= self.b.col_stride() {
            self.along_a::<V, ROWS>(isa);
        } else {
            self.along_b::<V, ROWS>(isa);
        }
    }
}

impl<T: Scalar> TriangularProduct<'_, T> {
    /// Computes with lanes along the rows of A and of the result.
    #[inline(always)]
    fn along_a<V: Vector<Real = T::Real>, const ROWS: usize>(mut self, isa: V::Isa) {
        let ((n, sides), unit) = (self.b.shape(), planes::<T>());
        let width = even_block_size(n, NV * V::LANES, V::LANES);
        let depth = even_block_size(n, DEPTH, width);
        let height = even_block_size(n, block_bytes() / (depth * size_of::<T>()), width);
        let columns = even_block_size(sides, COLUMNS, ROWS);
        let mut scratch = Workspace::take((height + columns) * depth * unit);
        let (own_a, own_b) = scratch.elements().split_at_mut(height * depth * unit);
        for j in (0..sides).step_by(columns) {
            let j = j..sides.min(j + columns);
            for k in self.blocks(depth) {
                let right = self.packed_b::<V>(isa, j.clone(), k.clone(), ROWS, own_b);
                for (rows, beta) in [(self.off_diagonal_rows(&k), T::ONE), (k.clone(), T::ZERO)] {
                    for i in rows.clone().step_by(height) {
                        let i = i..rows.end.min(i + height);
                        let position =
                            (beta == T::ZERO).then(|| TrianglePosition { uplo: self.uplo, first: i.start - k.start });
                        let left = self.packed_a::<V>(isa, position, i.clone(), k.clone(), width, own_a);
                        let c = self.b.rb_mut().submatrix(i, j.clone());
                        let out = Destination { minus_alpha: -self.alpha, beta, wanted: Wanted::ALL, c };
                        let factors = (left, right);
                        // SAFETY: `left` and `right` cover these rows and columns and are `k.len()` steps long; the
                        // triangle is in rows k.
                        unsafe {
                            match position {
                                None => V::call(isa, off_diagonal::<_, ROWS>(k.len(), width, factors, out)),
                                Some(position) => {
                                    on_diagonal::<T, V, ROWS, true>(isa, position, k.len(), width, factors, out)
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Computes with lanes along the columns of B and of the result.
    #[inline(always)]
    fn along_b<V: Vector<Real = T::Real>, const ROWS: usize>(mut self, isa: V::Isa) {
        let ((n, sides), unit) = (self.b.shape(), planes::<T>());
        let width = even_block_size(sides, NV * V::LANES, V::LANES);
        let depth = even_block_size(n, DEPTH, ROWS);
        let height = even_block_size(sides, block_bytes() / (depth * size_of::<T>()), width);
        let columns = even_block_size(n, COLUMNS, ROWS);
        let mut scratch = Workspace::take((height + columns + depth) * depth * unit);
        let (own_b, own_a) = scratch.elements().split_at_mut(height * depth * unit);
        let (beyond, triangle) = own_a.split_at_mut(columns * depth * unit);
        for k in self.blocks(depth) {
            let off_diagonal_rows = self.off_diagonal_rows(&k);
            let parts = off_diagonal_rows.len().div_ceil(columns).max(1);
            for part in 0..parts {
                let first = off_diagonal_rows.start + part * columns;
                let rows = first..off_diagonal_rows.end.min(first + columns);
                // The last part also overwrites rows k of B, after the other rows have used them.
                let position = (part + 1 == parts).then_some(TrianglePosition { uplo: self.uplo, first: 0 });
                let right = self.packed_a::<V>(isa, None, rows.clone(), k.clone(), ROWS, beyond);
                if position.is_some() {
                    self.packed_a::<V>(isa, position, k.clone(), k.clone(), ROWS, triangle);
                }
                for i in (0..sides).step_by(height) {
                    let i = i..sides.min(i + height);
                    let left = self.packed_b::<V>(isa, i.clone(), k.clone(), width, own_b);
                    let minus_alpha = -self.alpha;
                    let c = self.b.rb_mut().transpose().submatrix(i.clone(), rows.clone());
                    let out = Destination { minus_alpha, beta: T::ONE, wanted: Wanted::ALL, c };
                    // SAFETY: `left` and `right` cover these columns and rows and are `k.len()` steps long.
                    unsafe { V::call(isa, off_diagonal::<_, ROWS>(k.len(), width, (left, right), out)) };
                    if let Some(position) = position {
                        let right = Panels::packed::<T>(triangle.as_ptr(), ROWS, k.len());
                        let c = self.b.rb_mut().transpose().submatrix(i, k.clone());
                        let out = Destination { minus_alpha, beta: T::ZERO, wanted: Wanted::ALL, c };
                        // SAFETY: `left` covers these columns and `right` the rows of the triangle, both `k.len()`
                        // steps long.
                        unsafe { on_diagonal::<T, V, ROWS, false>(isa, position, k.len(), width, (left, right), out) };
                    }
                }
            }
        }
    }

    /// Returns the ranges of `depth` columns of A, in an order in which each reads its rows of B before they are
    /// overwritten.
    #[inline(always)]
    fn blocks(&self, depth: usize) -> impl Iterator<Item = Range<usize>> + use<T> {
        let (n, uplo) = (self.b.nrows(), self.uplo);
        let count = n.div_ceil(depth);
        (0..count).map(move |at| {
            let first = depth * if uplo == Uplo::Lower { count - 1 - at } else { at };
            first..n.min(first + depth)
        })
    }

    /// Returns the rows outside k in which A has elements of columns k.
    #[inline(always)]
    fn off_diagonal_rows(&self, k: &Range<usize>) -> Range<usize> {
        match self.uplo {
            Uplo::Lower => k.end..self.b.nrows(),
            Uplo::Upper => 0..k.start,
        }
    }

    /// Packs rows k of B into `to`, as panels of `width` of its columns.
    #[inline(always)]
    fn packed_b<V: Vector<Real = T::Real>>(
        &self,
        isa: V::Isa,
        columns: Range<usize>,
        k: Range<usize>,
        width: usize,
        to: &mut [T::Real],
    ) -> Panels<T::Real> {
        let depth = k.len();
        let len = columns.len().next_multiple_of(width) * depth * planes::<T>();
        assert!(to.len() >= len, "too little room for the panels of these columns");
        let part = self.b.as_ref().transpose().submatrix(columns, k);
        // SAFETY: `to` has room for the panels of all these columns, as asserted.
        unsafe { pack::panels::<T, V>(isa, Factor::plain(part), width, to.as_mut_ptr()) };
        Panels::packed::<T>(to.as_ptr(), width, depth)
    }

    /// Packs columns k of A into `to`, as panels of `width` of these rows. Of rows on the diagonal only the elements of
    /// the triangle are packed.
    #[inline(always)]
    fn packed_a<V: Vector<Real = T::Real>>(
        &self,
        isa: V::Isa,
        position: Option<TrianglePosition>,
        rows: Range<usize>,
        k: Range<usize>,
        width: usize,
        to: &mut [T::Real],
    ) -> Panels<T::Real> {
        let (depth, step) = (k.len(), width * planes::<T>());
        assert!(to.len() >= rows.len().div_ceil(width) * step * depth, "too little room for the panels of these rows");
        let Some(position) = position else {
            // SAFETY: `to` has room for the panels of all these rows, as asserted.
            unsafe { pack::panels::<T, V>(isa, self.a.part(rows, k), width, to.as_mut_ptr()) };
            return Panels::packed::<T>(to.as_ptr(), width, depth);
        };
        for (i, panel) in rows.clone().step_by(width).zip(to.chunks_exact_mut(step * depth)) {
            let (i, at) = (i..rows.end.min(i + width), position.first + i - rows.start);
            let full = position.full(at, i.len(), depth);
            let columns = k.start + full.start..k.start + full.end;
            let to = &mut panel[full.start * step..full.end * step];
            // SAFETY: `to` is the slice of these columns, and there are at most `width` rows.
            unsafe { pack::panel::<T, V>(isa, self.a.part(i.clone(), columns), width, to.as_mut_ptr()) };
            let diagonal = |x| if self.diag == Diag::Unit { T::ONE } else { x };
            let small = &mut panel[at * step..(at + i.len()) * step];
            pack::small_triangle(self.a.part(i.clone(), i), self.uplo, diagonal, width, small);
        }
        Panels::packed::<T>(to.as_ptr(), width, depth)
    }
}

/// The position of some rows in a triangle.
#[derive(Clone, Copy)]
struct TrianglePosition {
    uplo: Uplo,
    /// The first row, counted from the first column.
    first: usize,
}

impl TrianglePosition {
    /// Returns the columns, out of `depth`, in which all of `rows` rows from `at` on have elements.
    #[inline(always)]
    fn full(self, at: usize, rows: usize, depth: usize) -> Range<usize> {
        match self.uplo {
            Uplo::Lower => 0..at,
            Uplo::Upper => at + rows..depth,
        }
    }
}

/// Returns the product of blocks off the diagonal.
#[inline(always)]
fn off_diagonal<T: Scalar, const ROWS: usize>(
    depth: usize,
    width: usize,
    factors: PanelPair<T::Real>,
    out: Destination<'_, T>,
) -> Block<'_, T, ROWS, false> {
    Block { depth, width, factors, others: None, prefetch: Prefetch::RIGHT, out }
}

/// Computes all register tiles of rows of the triangle times a block of the other factor. The triangle is A if the
/// lanes run along its rows (`ALONG`), and B otherwise.
///
/// # Safety
/// Panels of A have `width` rows and those of B ROWS, each `depth` steps long, and they cover all rows and columns of
/// C. The steps include the triangle: from `position.first` on, one step for each row of C if `ALONG`, and otherwise
/// for each column.
#[inline(always)]
unsafe fn on_diagonal<T, V, const ROWS: usize, const ALONG: bool>(
    isa: V::Isa,
    position: TrianglePosition,
    depth: usize,
    width: usize,
    (a, b): PanelPair<T::Real>,
    mut out: Destination<'_, T>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (m, n) = out.c.shape();
    for j in (0..n).step_by(ROWS) {
        for i in (0..m).step_by(width) {
            let (rows, cols) = (width.min(m - i), ROWS.min(n - j));
            let (at, order) = if ALONG { (position.first + i, rows) } else { (position.first + j, cols) };
            let position = TrianglePosition { first: at, ..position };
            let out = Destination { c: out.c.rb_mut().submatrix(i..i + rows, j..j + cols), ..out };
            let streams = (a.at(i).0, b.at(j).0);
            // SAFETY: panels i and j exist and are `depth` steps long, which include the steps of their triangle.
            unsafe {
                with_vectors!(
                    rows.div_ceil(V::LANES),
                    tile::<T, V, _, ROWS, ALONG>(isa, position, order, depth, streams, out)
                )
            }
        }
    }
}

/// Computes one register tile of [`on_diagonal`], with a triangle of order `order`.
///
/// # Safety
/// Both streams hold `depth` steps, which include those of the triangle, from `position.first` on; C has at most NV
/// vectors of rows and ROWS columns.
#[inline(always)]
unsafe fn tile<T, V, const NV: usize, const ROWS: usize, const ALONG: bool>(
    isa: V::Isa,
    position: TrianglePosition,
    order: usize,
    depth: usize,
    (a, b): OperandStreams<T::Real>,
    mut out: Destination<'_, T>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let full = position.full(position.first, order, depth);
    let from = |column: usize| (a.offset(column * a.step), b.offset(column * b.step));
    // SAFETY: the streams have `depth` steps, which include the full ones and those of the triangle.
    unsafe {
        let (mut acc, [before, after]) = (zero::<T, V, NV, ROWS>(isa), &mut [PrefetchLines::NONE; 2]);
        accumulate::<T, V, NV, ROWS, false>(&mut acc, full.len(), from(full.start), [before, after], &mut out);
        let small = from(position.first);
        match (ALONG, position.uplo) {
            (true, Uplo::Lower) => multiply_lanes::<T, V, NV, ROWS, true>(&mut acc, order, small),
            (true, Uplo::Upper) => multiply_lanes::<T, V, NV, ROWS, false>(&mut acc, order, small),
            (false, Uplo::Lower) => multiply_rows::<T, V, NV, ROWS, true>(&mut acc, order, small),
            (false, Uplo::Upper) => multiply_rows::<T, V, NV, ROWS, false>(&mut acc, order, small),
        }
        write_tile::<T, V, NV, ROWS>(&acc, true, out);
    }
}

/// Computes acc[r] -= b[p][r] x[p], where x[p] are the columns of a triangle of order `order` along the lanes.
///
/// # Safety
/// Both streams hold `order` steps: of x NV vectors per plane, of b ROWS reals per plane.
#[inline(always)]
unsafe fn multiply_lanes<T, V, const NV: usize, const ROWS: usize, const LOWER: bool>(
    acc: &mut Accumulators<V, NV, ROWS>,
    order: usize,
    (x, b): OperandStreams<T::Real>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let isa = acc[0][0][0].isa();
    // One copy of the code per vector: with constant indices the accumulators stay in registers.
    macro_rules! vectors {
        ($($v:literal)*) => {$(
            if $v < NV {
                let first = $v * V::LANES;
                for lane in 0..V::LANES.min(order.saturating_sub(first)) {
                    let (x, b) = (x.offset((first + lane) * x.step), b.offset((first + lane) * b.step));
                    // SAFETY: the triangle has a column for each of its lanes, and b a step for each column.
                    unsafe {
                        let column = load::<T, V, NV>(isa, x.ptr, x.plane);
                        for (r, row) in acc.iter_mut().enumerate() {
                            let b = scalar::<T>(b.ptr.wrapping_add(r), b.plane);
                            subtract_lanes::<T, V, NV, $v, LOWER>(row, b, &column, lane);
                        }
                    }
                }
            }
        )*};
    }
    const { assert!(NV <= 3) };
    vectors!(0 1 2);
}

/// Computes row -= b x, in the lanes from `lane` of vector AT on if LOWER, or else up to it.
#[inline(always)]
fn subtract_lanes<T, V, const NV: usize, const AT: usize, const LOWER: bool>(
    row: &mut [[V; 2]; NV],
    b: T,
    x: &[[V; 2]; NV],
    lane: usize,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let isa = row[0][0].isa();
    // Re and im parts one after the other: only one register is free. Each multiply-add is masked separately, which
    // AVX-512 does in the same instruction.
    let re = V::splat(isa, b.re());
    for (u, (acc, x)) in row.iter_mut().zip(x).enumerate() {
        acc[0] = select_lanes::<V, AT, LOWER>(u, acc[0], acc[0].mul_sub(re, x[0]), lane);
        if T::COMPLEX {
            acc[1] = select_lanes::<V, AT, LOWER>(u, acc[1], acc[1].mul_sub(re, x[1]), lane);
        }
    }
    if T::COMPLEX {
        let im = V::splat(isa, b.im());
        for (u, (acc, x)) in row.iter_mut().zip(x).enumerate() {
            acc[0] = select_lanes::<V, AT, LOWER>(u, acc[0], acc[0].mul_add(im, x[1]), lane);
            acc[1] = select_lanes::<V, AT, LOWER>(u, acc[1], acc[1].mul_sub(im, x[0]), lane);
        }
    }
}

/// Selects vector u of a row: the new one in the lanes from `lane` of vector AT on if LOWER, or else up to it.
#[inline(always)]
fn select_lanes<V: Vector, const AT: usize, const LOWER: bool>(u: usize, old: V, new: V, lane: usize) -> V {
    match (u == AT, (u > AT) == LOWER) {
        (true, _) if LOWER => old.blend(new, lane, V::LANES),
        (true, _) => old.blend(new, 0, lane + 1),
        (false, true) => new,
        (false, false) => old,
    }
}

/// Computes acc[r] -= b[p][r] x[p], where b[p] are the columns of a triangle that is broadcast.
///
/// # Safety
/// Both streams hold `order` steps, as [`multiply_lanes`] requires.
#[inline(always)]
unsafe fn multiply_rows<T, V, const NV: usize, const ROWS: usize, const LOWER: bool>(
    acc: &mut Accumulators<V, NV, ROWS>,
    order: usize,
    (x, b): OperandStreams<T::Real>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let isa = acc[0][0][0].isa();
    // One copy of the code per column, as in `multiply_lanes`.
    macro_rules! columns {
        ($($p:literal)*) => {$(
            if $p < ROWS && $p < order {
                // SAFETY: p is below the order of the triangle, so x and b have this step.
                unsafe {
                    let column = load::<T, V, NV>(isa, x.ptr.wrapping_add($p * x.step), x.plane);
                    for (r, row) in acc.iter_mut().enumerate() {
                        if r == $p || (r > $p) == LOWER {
                            let element = scalar::<T>(b.ptr.wrapping_add($p * b.step + r), b.plane);
                            subtract::<T, V, NV>(row, element, false, &column);
                        }
                    }
                }
            }
        )*};
    }
    const { assert!(ROWS <= 8) };
    columns!(0 1 2 3 4 5 6 7);
}
