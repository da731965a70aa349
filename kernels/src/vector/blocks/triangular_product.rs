//! B = alpha A B for a triangular A, blocked for the caches as any product is.
//!
//! Some columns of A meet as many rows of B, which are packed first. These rows of the result may then be written where
//! those of B were, and what else these columns of A hold is added to the other rows, whose own elements of B had their
//! turn before. So B is packed once, and nothing is copied back.
//!
//! What the other triangle would hold is never multiplied by, not even as zeros: zero times Inf would spoil what is
//! right.

use super::product::{Ahead, Block, Factors, Lines, Panels, accumulate, put};
use crate::simd::Vector;
use crate::vector::dispatch::Kernel;
use crate::vector::packing::{Factor, pack};
use crate::vector::planes::{planes, scalar};
use crate::vector::sizes::{COLUMNS, DEPTH, NV, block_bytes, even};
use crate::vector::tiles::micro::{Streams, Tile, load, subtract, with_vectors, zero};
use crate::vector::tiles::output::{Out, Wanted};
use crate::vector::workspace::Workspace;
use crate::{Diag, MatMut, Scalar, Uplo};
use std::ops::Range;

/// What is computed.
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
    /// Lanes run along the rows of A and of the result.
    #[inline(always)]
    fn along_a<V: Vector<Real = T::Real>, const ROWS: usize>(mut self, isa: V::Isa) {
        let ((n, sides), unit) = (self.b.shape(), planes::<T>());
        let width = even(n, NV * V::LANES, V::LANES);
        let depth = even(n, DEPTH, width);
        let height = even(n, block_bytes() / (depth * size_of::<T>()), width);
        let columns = even(sides, COLUMNS, ROWS);
        let mut scratch = Workspace::take((height + columns) * depth * unit);
        let (own_a, own_b) = scratch.elements().split_at_mut(height * depth * unit);
        for j in (0..sides).step_by(columns) {
            let j = j..sides.min(j + columns);
            for k in self.blocks(depth) {
                let right = self.packed_b::<V>(isa, j.clone(), k.clone(), ROWS, own_b);
                for (rows, beta) in [(self.others(&k), T::ONE), (k.clone(), T::ZERO)] {
                    for i in rows.clone().step_by(height) {
                        let i = i..rows.end.min(i + height);
                        let place = (beta == T::ZERO).then(|| Place { uplo: self.uplo, first: i.start - k.start });
                        let left = self.packed_a::<V>(isa, place, i.clone(), k.clone(), width, own_a);
                        let c = self.b.rb_mut().submatrix(i, j.clone());
                        let out = Out { minus_alpha: -self.alpha, beta, wanted: Wanted::ALL, c };
                        let factors = (left, right);
                        // SAFETY: the panels are those of these rows and columns.
                        unsafe {
                            match place {
                                None => V::call(isa, beside::<_, ROWS>(k.len(), width, factors, out)),
                                Some(place) => {
                                    on_diagonal::<T, V, ROWS, true>(isa, place, k.len(), width, factors, out)
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Lanes run along the columns of B and of the result.
    #[inline(always)]
    fn along_b<V: Vector<Real = T::Real>, const ROWS: usize>(mut self, isa: V::Isa) {
        let ((n, sides), unit) = (self.b.shape(), planes::<T>());
        let width = even(sides, NV * V::LANES, V::LANES);
        let depth = even(n, DEPTH, ROWS);
        let height = even(sides, block_bytes() / (depth * size_of::<T>()), width);
        let columns = even(n, COLUMNS, ROWS);
        let mut scratch = Workspace::take((height + columns + depth) * depth * unit);
        let (own_b, own_a) = scratch.elements().split_at_mut(height * depth * unit);
        let (beyond, triangle) = own_a.split_at_mut(columns * depth * unit);
        for k in self.blocks(depth) {
            let others = self.others(&k);
            let parts = others.len().div_ceil(columns).max(1);
            for part in 0..parts {
                let first = others.start + part * columns;
                let rows = first..others.end.min(first + columns);
                // The rows where those of B are come last, with other ones if there are any.
                let place = (part + 1 == parts).then_some(Place { uplo: self.uplo, first: 0 });
                let right = self.packed_a::<V>(isa, None, rows.clone(), k.clone(), ROWS, beyond);
                if place.is_some() {
                    self.packed_a::<V>(isa, place, k.clone(), k.clone(), ROWS, triangle);
                }
                for i in (0..sides).step_by(height) {
                    let i = i..sides.min(i + height);
                    let left = self.packed_b::<V>(isa, i.clone(), k.clone(), width, own_b);
                    let minus_alpha = -self.alpha;
                    let c = self.b.rb_mut().transpose().submatrix(i.clone(), rows.clone());
                    let out = Out { minus_alpha, beta: T::ONE, wanted: Wanted::ALL, c };
                    // SAFETY: the panels are those of these columns and rows.
                    unsafe { V::call(isa, beside::<_, ROWS>(k.len(), width, (left, right), out)) };
                    if let Some(place) = place {
                        let right = Panels::packed::<T>(triangle.as_ptr(), ROWS, k.len());
                        let c = self.b.rb_mut().transpose().submatrix(i, k.clone());
                        let out = Out { minus_alpha, beta: T::ZERO, wanted: Wanted::ALL, c };
                        // SAFETY: the panels are those of these columns, and of the triangle.
                        unsafe { on_diagonal::<T, V, ROWS, false>(isa, place, k.len(), width, (left, right), out) };
                    }
                }
            }
        }
    }

    /// Columns of A, so many at a time, in an order in which each finds its rows of B as they were.
    #[inline(always)]
    fn blocks(&self, depth: usize) -> impl Iterator<Item = Range<usize>> + use<T> {
        let (n, uplo) = (self.b.nrows(), self.uplo);
        let count = n.div_ceil(depth);
        (0..count).map(move |at| {
            let first = depth * if uplo == Uplo::Lower { count - 1 - at } else { at };
            first..n.min(first + depth)
        })
    }

    /// The rows beyond, in which A has elements of columns k, too.
    #[inline(always)]
    fn others(&self, k: &Range<usize>) -> Range<usize> {
        match self.uplo {
            Uplo::Lower => k.end..self.b.nrows(),
            Uplo::Upper => 0..k.start,
        }
    }

    /// Rows k of B, packed into `to` as panels of `width` of its columns.
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
        assert!(to.len() >= len, "room for panels of these columns");
        let part = self.b.as_ref().transpose().submatrix(columns, k);
        // SAFETY: `to` has room for panels of all these columns.
        unsafe { pack::panels::<T, V>(isa, Factor::plain(part), width, to.as_mut_ptr()) };
        Panels::packed::<T>(to.as_ptr(), width, depth)
    }

    /// Columns k of A, packed into `to` as panels of `width` of these rows; where they have a place on the diagonal,
    /// only what is of the triangle.
    #[inline(always)]
    fn packed_a<V: Vector<Real = T::Real>>(
        &self,
        isa: V::Isa,
        place: Option<Place>,
        rows: Range<usize>,
        k: Range<usize>,
        width: usize,
        to: &mut [T::Real],
    ) -> Panels<T::Real> {
        let (depth, step) = (k.len(), width * planes::<T>());
        assert!(to.len() >= rows.len().div_ceil(width) * step * depth, "room for panels of these rows");
        let Some(place) = place else {
            // SAFETY: `to` has room for panels of all these rows.
            unsafe { pack::panels::<T, V>(isa, self.a.part(rows, k), width, to.as_mut_ptr()) };
            return Panels::packed::<T>(to.as_ptr(), width, depth);
        };
        for (i, panel) in rows.clone().step_by(width).zip(to.chunks_exact_mut(step * depth)) {
            let (i, at) = (i..rows.end.min(i + width), place.first + i - rows.start);
            let full = place.full(at, i.len(), depth);
            let columns = k.start + full.start..k.start + full.end;
            let to = &mut panel[full.start * step..full.end * step];
            // SAFETY: `to` has room for these columns, and they have at most `width` rows.
            unsafe { pack::panel::<T, V>(isa, self.a.part(i.clone(), columns), width, to.as_mut_ptr()) };
            let diagonal = |x| if self.diag == Diag::Unit { T::ONE } else { x };
            let small = &mut panel[at * step..(at + i.len()) * step];
            pack::small_triangle(self.a.part(i.clone(), i), self.uplo, diagonal, width, small);
        }
        Panels::packed::<T>(to.as_ptr(), width, depth)
    }
}

/// Where rows of a triangle are.
#[derive(Clone, Copy)]
struct Place {
    uplo: Uplo,
    /// The first one, counted from the first column.
    first: usize,
}

impl Place {
    /// The columns, of `depth`, that `rows` rows from this one on have all elements of.
    #[inline(always)]
    fn full(self, at: usize, rows: usize, depth: usize) -> Range<usize> {
        match self.uplo {
            Uplo::Lower => 0..at,
            Uplo::Upper => at + rows..depth,
        }
    }
}

/// The product of blocks beside the diagonal.
#[inline(always)]
fn beside<T: Scalar, const ROWS: usize>(
    depth: usize,
    width: usize,
    factors: Factors<T::Real>,
    out: Out<'_, T>,
) -> Block<'_, T, ROWS, false> {
    Block { depth, width, factors, others: None, ahead: Ahead::RIGHT, out }
}

/// All register tiles of rows of a triangle, A if lanes run along its rows (`ALONG`), B otherwise, and a block of the
/// other factor.
///
/// # Safety
/// The panels of A have `width` rows and those of B ROWS, all of them `depth` steps; there is one for each row and
/// column of C. The triangle is within these steps: it begins at `place.first` and has a step for each row of C if
/// `ALONG`, for each column otherwise.
#[inline(always)]
unsafe fn on_diagonal<T, V, const ROWS: usize, const ALONG: bool>(
    isa: V::Isa,
    place: Place,
    depth: usize,
    width: usize,
    (a, b): Factors<T::Real>,
    mut out: Out<'_, T>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (m, n) = out.c.shape();
    for j in (0..n).step_by(ROWS) {
        for i in (0..m).step_by(width) {
            let (rows, cols) = (width.min(m - i), ROWS.min(n - j));
            let (at, order) = if ALONG { (place.first + i, rows) } else { (place.first + j, cols) };
            let place = Place { first: at, ..place };
            let out = Out { c: out.c.rb_mut().submatrix(i..i + rows, j..j + cols), ..out };
            let streams = (a.at(i).0, b.at(j).0);
            // SAFETY: panels i and j are there, `depth` steps long, and their triangle is within these steps.
            unsafe {
                with_vectors!(
                    rows.div_ceil(V::LANES),
                    tile::<T, V, _, ROWS, ALONG>(isa, place, order, depth, streams, out)
                )
            }
        }
    }
}

/// One register tile of those, with a triangle of this order.
///
/// # Safety
/// As for [`accumulate`]; C has at most NV vectors of rows and ROWS columns, and steps `place.first` .. `place.first` +
/// `order`, those of the triangle, are some of the `depth` ones.
#[inline(always)]
unsafe fn tile<T, V, const NV: usize, const ROWS: usize, const ALONG: bool>(
    isa: V::Isa,
    place: Place,
    order: usize,
    depth: usize,
    (a, b): Streams<T::Real>,
    mut out: Out<'_, T>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let full = place.full(place.first, order, depth);
    let from = |column: usize| (a.offset(column * a.step), b.offset(column * b.step));
    // SAFETY: the panels have `depth` steps, of which the full ones and those of the triangle are some.
    unsafe {
        let (mut acc, [before, after]) = (zero::<T, V, NV, ROWS>(isa), &mut [Lines::NONE; 2]);
        accumulate::<T, V, NV, ROWS, false>(&mut acc, full.len(), from(full.start), [before, after], &mut out);
        let small = from(place.first);
        match (ALONG, place.uplo) {
            (true, Uplo::Lower) => multiply_lanes::<T, V, NV, ROWS, true>(&mut acc, order, small),
            (true, Uplo::Upper) => multiply_lanes::<T, V, NV, ROWS, false>(&mut acc, order, small),
            (false, Uplo::Lower) => multiply_rows::<T, V, NV, ROWS, true>(&mut acc, order, small),
            (false, Uplo::Upper) => multiply_rows::<T, V, NV, ROWS, false>(&mut acc, order, small),
        }
        put::<T, V, NV, ROWS>(&acc, true, out);
    }
}

/// acc[r] -= b[p][r] x[p] for the columns x[p] of a triangle of this order along the lanes.
///
/// # Safety
/// Both streams hold `order` steps: of x NV vectors per plane, of b ROWS reals per plane.
#[inline(always)]
unsafe fn multiply_lanes<T, V, const NV: usize, const ROWS: usize, const LOWER: bool>(
    acc: &mut Tile<V, NV, ROWS>,
    order: usize,
    (x, b): Streams<T::Real>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let isa = acc[0][0][0].isa();
    // Vector by vector in the text: with their numbers known accumulators stay in registers.
    macro_rules! vectors {
        ($($v:literal)*) => {$(
            if $v < NV {
                let first = $v * V::LANES;
                for lane in 0..V::LANES.min(order.saturating_sub(first)) {
                    let (x, b) = (x.offset((first + lane) * x.step), b.offset((first + lane) * b.step));
                    // SAFETY: the triangle has a column for each of its lanes, and b a step.
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

/// row -= b x from this lane of vector AT on, if LOWER, or else up to it.
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
    // One part of b after the other, as in `subtract`: they take turns in the one register that is left. Each step is
    // masked for itself, which the processor has an instruction for.
    let re = V::splat(isa, b.re());
    for (u, (acc, x)) in row.iter_mut().zip(x).enumerate() {
        acc[0] = wanted::<V, AT, LOWER>(u, acc[0], acc[0].mul_sub(re, x[0]), lane);
        if T::COMPLEX {
            acc[1] = wanted::<V, AT, LOWER>(u, acc[1], acc[1].mul_sub(re, x[1]), lane);
        }
    }
    if T::COMPLEX {
        let im = V::splat(isa, b.im());
        for (u, (acc, x)) in row.iter_mut().zip(x).enumerate() {
            acc[0] = wanted::<V, AT, LOWER>(u, acc[0], acc[0].mul_add(im, x[1]), lane);
            acc[1] = wanted::<V, AT, LOWER>(u, acc[1], acc[1].mul_sub(im, x[0]), lane);
        }
    }
}

/// Vector u of a row: the new one in the lanes from this one of vector AT on, if LOWER, or else up to it.
#[inline(always)]
fn wanted<V: Vector, const AT: usize, const LOWER: bool>(u: usize, old: V, new: V, lane: usize) -> V {
    match (u == AT, (u > AT) == LOWER) {
        (true, _) if LOWER => old.blend(new, lane, V::LANES),
        (true, _) => old.blend(new, 0, lane + 1),
        (false, true) => new,
        (false, false) => old,
    }
}

/// The same for a triangle that is broadcast: b[p] is a column of it.
///
/// # Safety
/// As for [`multiply_lanes`].
#[inline(always)]
unsafe fn multiply_rows<T, V, const NV: usize, const ROWS: usize, const LOWER: bool>(
    acc: &mut Tile<V, NV, ROWS>,
    order: usize,
    (x, b): Streams<T::Real>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let isa = acc[0][0][0].isa();
    // Column by column in the text, as above.
    macro_rules! columns {
        ($($p:literal)*) => {$(
            if $p < ROWS && $p < order {
                // SAFETY: p is below the order of the triangle: x and b have this step.
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
