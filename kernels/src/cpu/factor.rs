//! The Cholesky factor of a matrix of moderate order, in packed form.
//!
//! L is kept packed as panels of rows, a register tile high: the order in which the loop of the product reads both of its
//! operands. So nothing is packed twice, and block by block of ROWS columns, from left to right, each register tile of A is
//! read once, reduced by the columns before it, solved, and written once, to the packed panels and over A:
//!
//! - the tile on the diagonal is factored in its registers, together with the rows below that share them;
//! - the tiles below are solved with the small triangle that this leaves.
//!
//! The diagonal is one chain of dependent operations. A step of it is a division, two multiplications and two moves
//! between lanes (28 cycles), because columns are updated by w wᴴ / d, whose square roots nobody waits for; by
//! L Lᴴ the square root would come on top.

use super::micro::{Stream, Tile, eliminate, load_tile, planes, store_tile, substitute, subtract, with_vectors};
use super::pack;
use super::potrf::NotPositiveDefinite;
use super::workspace::Workspace;
use crate::backend::Factor;
use crate::simd::{Kernel, Vector, dispatch, prefetch};
use crate::{MatMut, Real, Scalar, Uplo};

/// Vectors along a full panel of rows.
const NV: usize = 3;

/// A = L Lᴴ, L over the lower triangle of A.
pub(super) struct Factorization<'a, T> {
    pub a: MatMut<'a, T>,
}

impl<T: Scalar> Factorization<'_, T> {
    /// Computes it.
    pub fn run(self) -> Result<(), NotPositiveDefinite> {
        dispatch::<T, _>(self)
    }
}

impl<T: Scalar> Kernel<T> for Factorization<'_, T> {
    type Output = Result<(), NotPositiveDefinite>;

    #[inline(always)]
    unsafe fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self) -> Self::Output {
        let (n, width) = (self.a.nrows(), NV * V::LANES);
        let len = panel_start::<T>(n.div_ceil(width), width);
        let mut scratch = Workspace::take(len + ROWS * ROWS * planes::<T>());
        let (panels, small) = scratch.reals().split_at_mut(len);
        let mut work = Work { a: self.a, panels: panels.as_mut_ptr(), small: small.as_mut_ptr(), width };
        for j in (0..n).step_by(ROWS) {
            let mut i = j - j % V::LANES;
            while i < n {
                let end = n.min(i - i % width + width);
                let vectors = (end - i).div_ceil(V::LANES);
                // SAFETY: the workspace has room for all panels and the small triangle; rows i .. end are in one panel.
                unsafe { with_vectors!(vectors, tile::<T, V, _, ROWS>(&mut work, i, j)) }?;
                i = end;
            }
        }
        Ok(())
    }
}

/// Where panel k starts. The panels before it end with the columns of their own diagonal.
#[inline(always)]
fn panel_start<T: Scalar>(k: usize, width: usize) -> usize {
    width * width * planes::<T>() * (k * (k + 1) / 2)
}

/// A, and the scratch of its factorization.
struct Work<'a, T: Scalar> {
    a: MatMut<'a, T>,
    /// L in panels of `width` rows; a column of a panel is `width` reals, then as many imaginary parts.
    panels: *mut T::Real,
    /// conj(L) of the block on the diagonal, for [`substitute`].
    small: *mut T::Real,
    width: usize,
}

impl<T: Scalar> Work<'_, T> {
    /// The place of element (i, j) in the panels.
    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> *mut T::Real {
        let (k, lane) = (i / self.width, i % self.width);
        self.panels.wrapping_add(panel_start::<T>(k, self.width) + j * self.width * planes::<T>() + lane)
    }

    /// Sets element (i, j) in the panels.
    ///
    /// # Safety
    /// It lies at or below the diagonal.
    #[inline(always)]
    unsafe fn set(&mut self, i: usize, j: usize, x: T) {
        // SAFETY: the caller's promise.
        unsafe {
            *self.at(i, j) = x.re();
            if T::COMPLEX {
                *self.at(i, j).add(self.width) = x.im();
            }
        }
    }
}

/// Rows i and on, NV vectors, of the ROWS columns from j on.
///
/// # Safety
/// As for [`Vector`]; the scratch was laid out for A, the rows are in one panel, and all tiles before this one (columns
/// first) are done.
#[inline(always)]
unsafe fn tile<T, V, const NV: usize, const ROWS: usize>(
    work: &mut Work<'_, T>,
    i: usize,
    j: usize,
) -> Result<(), NotPositiveDefinite>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (here, step, plane) = (work.at(i, j), work.width * planes::<T>(), work.width);
    let (cs, full) = (work.a.col_stride(), i + NV * V::LANES <= work.a.nrows());
    let diagonal = i <= j;
    let direct = !T::COMPLEX && !diagonal && full && work.a.row_stride() == 1;
    let in_a = work.a.as_mut_ptr().wrapping_add(i + j * cs).cast::<T::Real>();
    // SAFETY: the caller's promises; `direct` tiles are whole and lie in A as they do in a panel.
    unsafe {
        let mut acc = if direct {
            load_tile::<T, V, NV, ROWS>(Stream { ptr: in_a, step: cs, plane })
        } else {
            load::<T, V, NV, ROWS>(work, i, j);
            load_tile::<T, V, NV, ROWS>(Stream { ptr: here, step, plane })
        };
        fetch_ahead::<T, ROWS>(work, i, j + ROWS, NV * V::LANES);
        let (x, rows) = (Stream { ptr: work.at(i, 0).cast_const(), step, plane }, work.at(j, 0).cast_const());
        eliminate::<T, V, NV, ROWS>(&mut acc, j, x, Stream { ptr: rows, step, plane }, true);
        if diagonal {
            let (lane, mut pivots) = (if V::LANES == ROWS { 0 } else { j - i }, Pivots::<T::Real, ROWS>::default());
            let factored = factor::<T, V, NV, ROWS>(&mut acc, lane, &mut pivots);
            factored.map_err(|c| NotPositiveDefinite { minor: j + c + 1 })?;
            store_tile::<T, V, NV, ROWS>(&acc, here, step, plane);
            finish_diagonal::<T, ROWS>(work, j, &pivots);
        } else {
            substitute::<T, V, NV, ROWS>(&mut acc, work.small, Uplo::Lower);
            store_tile::<T, V, NV, ROWS>(&acc, here, step, plane);
        }
        if direct {
            store_tile::<T, V, NV, ROWS>(&acc, in_a, cs, plane);
        } else {
            store::<T, V, NV, ROWS>(work, i, j);
        }
    }
    Ok(())
}

/// Asks for the tile of the next block of columns while this one is computed.
#[inline(always)]
fn fetch_ahead<T: Scalar, const ROWS: usize>(work: &mut Work<'_, T>, i: usize, j: usize, rows: usize) {
    let (rs, cs, line) = (work.a.row_stride(), work.a.col_stride(), 64 / size_of::<T>());
    let a = work.a.as_mut_ptr().wrapping_add(i * rs + j * cs);
    let (row_step, col_step) = if rs == 1 { (line, 1) } else { (1, line) };
    for c in (0..ROWS).step_by(col_step) {
        for r in (0..rows).step_by(row_step) {
            prefetch(a.wrapping_add(r * rs + c * cs));
        }
    }
}

/// Copies a tile of A to its panel: zeros above the diagonal and below the last row, ones on the diagonal behind the last
/// column, so that a ragged block is factored like a whole one.
///
/// # Safety
/// As for [`tile`].
#[inline(always)]
unsafe fn load<T, V, const NV: usize, const ROWS: usize>(work: &mut Work<'_, T>, i: usize, j: usize)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (n, diagonal) = (work.a.nrows(), i <= j);
    let (end, last) = (n.min(j + ROWS), n.min(i + NV * V::LANES));
    let first = if diagonal { end } else { i };
    // SAFETY: rows i .. i + NV * LANES of columns j .. j + ROWS are in the panel.
    unsafe {
        if diagonal || last < i + NV * V::LANES {
            let zero = V::splat(T::Real::ZERO);
            store_tile::<T, V, NV, ROWS>(
                &[[[zero; 2]; NV]; ROWS],
                work.at(i, j),
                work.width * planes::<T>(),
                work.width,
            );
        }
        if diagonal {
            for c in j..end {
                work.set(c, c, T::from_real(work.a.at(c, c).re()));
                for r in c + 1..end {
                    work.set(r, c, work.a.at(r, c));
                }
            }
            for c in end..j + ROWS {
                work.set(c, c, T::ONE);
            }
        }
        let below = Factor { view: work.a.as_ref().submatrix(first..last, j..end), conj: false };
        pack::gather::<T, V>(below, work.width, work.at(i, j).add(first - i));
    }
}

/// Copies a tile of L from its panel over A.
///
/// # Safety
/// As for [`tile`].
#[inline(always)]
unsafe fn store<T, V, const NV: usize, const ROWS: usize>(work: &mut Work<'_, T>, i: usize, j: usize)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (n, diagonal) = (work.a.nrows(), i <= j);
    let (end, last) = (n.min(j + ROWS), n.min(i + NV * V::LANES));
    let first = if diagonal { end } else { i };
    if diagonal {
        for c in j..end {
            for r in c..end {
                // SAFETY: an element of the tile.
                work.a[(r, c)] = unsafe { super::micro::scalar(work.at(r, c), work.width) };
            }
        }
    }
    // SAFETY: as in load.
    unsafe {
        let from = work.at(i, j).add(first - i);
        pack::unpack::<T, V>(from, work.width, work.a.rb_mut().submatrix(first..last, j..end));
    }
}

/// The diagonal of a block of L, and its reciprocals.
struct Pivots<R, const ROWS: usize> {
    roots: [R; ROWS],
    inverses: [R; ROWS],
}

impl<R: Real, const ROWS: usize> Default for Pivots<R, ROWS> {
    fn default() -> Self {
        Self { roots: [R::ZERO; ROWS], inverses: [R::ZERO; ROWS] }
    }
}

/// Factors the block on the diagonal, whose first row is in lane `lane` of the first vectors, and solves for the rows
/// below it. The error is the column whose pivot is not positive.
///
/// # Safety
/// As for [`Vector`].
#[inline(always)]
unsafe fn factor<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Tile<V, NV, ROWS>,
    lane: usize,
    pivots: &mut Pivots<T::Real, ROWS>,
) -> Result<(), usize>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // Column by column in the text, so that the accumulators stay in registers (see `substitute`).
    macro_rules! columns {
        ($($c:literal)*) => {$(
            // SAFETY: the caller's promise.
            if $c < ROWS && !unsafe { column::<T, V, NV, ROWS>(acc, $c, lane, pivots) } {
                return Err($c);
            }
        )*};
    }
    const { assert!(ROWS <= 8) };
    columns!(0 1 2 3 4 5 6 7);
    Ok(())
}

/// Column c of a block: subtracts w conj(w[r]) / d from the columns r behind it, and divides it by the root of d. False if
/// d is not positive.
///
/// # Safety
/// As for [`Vector`].
#[inline(always)]
unsafe fn column<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Tile<V, NV, ROWS>,
    c: usize,
    lane: usize,
    pivots: &mut Pivots<T::Real, ROWS>,
) -> bool
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let w = acc[c];
    // SAFETY: the caller's promise; the block is in lanes `lane` .. `lane + ROWS`.
    unsafe {
        let d = w[0][0].lane(lane + c);
        let positive = d > T::Real::ZERO;
        if !positive {
            return false;
        }
        let root = d.sqrt();
        let inverse = T::Real::ONE / root;
        // Where 1 / d would overflow or lose digits it is taken as a product of two roots.
        let ordinary = d >= T::Real::MIN_POSITIVE && d * T::Real::MIN_POSITIVE <= T::Real::ONE;
        let (by, then) = if ordinary { (T::Real::ONE, T::Real::ONE / d) } else { (inverse, inverse) };
        for (row, r) in acc[c + 1..].iter_mut().zip(lane + c + 1..) {
            let re = w[0][0].lane(r) * by * then;
            let im = if T::COMPLEX { w[0][1].lane(r) * by * then } else { T::Real::ZERO };
            subtract::<T, V, NV>(row, T::from_parts(re, im), true, &w);
        }
        let times = V::splat(inverse);
        for (to, x) in acc[c].iter_mut().zip(w) {
            to[0] = x[0].mul(times);
            if T::COMPLEX {
                to[1] = x[1].mul(times);
            }
        }
        (pivots.roots[c], pivots.inverses[c]) = (root, inverse);
    }
    true
}

/// Writes the diagonal of the block at j to its panel, and the small triangle for the tiles below.
///
/// # Safety
/// The panel holds the block.
#[inline(always)]
unsafe fn finish_diagonal<T: Scalar, const ROWS: usize>(
    work: &mut Work<'_, T>,
    j: usize,
    pivots: &Pivots<T::Real, ROWS>,
) {
    for c in 0..ROWS {
        // SAFETY: ROWS elements of column j + c and of the small triangle, per plane.
        unsafe {
            work.set(j + c, j + c, T::from_real(pivots.roots[c]));
            let (from, to) = (work.at(j, j + c), work.small.add(c * ROWS * planes::<T>()));
            let re = from.cast::<[T::Real; ROWS]>().read_unaligned();
            to.cast::<[T::Real; ROWS]>().write_unaligned(re);
            *to.add(c) = pivots.inverses[c];
            if T::COMPLEX {
                let im = from.add(work.width).cast::<[T::Real; ROWS]>().read_unaligned();
                to.add(ROWS).cast::<[T::Real; ROWS]>().write_unaligned(im.map(std::ops::Neg::neg));
                *to.add(ROWS + c) = T::Real::ZERO;
            }
        }
    }
}
