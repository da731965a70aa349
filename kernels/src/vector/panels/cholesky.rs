//! The Cholesky factor of a matrix of moderate order, in packed form.
//!
//! L is kept packed as panels of rows, as high as a register tile: the order in which the loop of the product reads
//! both operands. So nothing is packed twice. For each block of ROWS columns, from left to right, each register tile of
//! A is read once, reduced by the earlier columns, solved, and written once, to the packed panels and over A:
//!
//! - the tile on the diagonal is factored in its registers, together with the rows below that share them;
//! - the tiles below are solved with the resulting small triangle.
//!
//! The diagonal is one chain of dependent operations. One step takes a division, two multiplications and two moves
//! between lanes (28 cycles). Columns are updated by w wᴴ / d, so that no operation waits for the square root; updating
//! by L Lᴴ would add it to the chain.
//!
//! The factorization ends before a block in which a pivot or its reciprocal is not a normal number. The textbook loop
//! continues from there and determines whether a factor exists. The rest of this code can therefore ignore overflow.

use super::cholesky_panels::{FactorPanels, panel_start, step, width};
use crate::simd::{Part, Vector};
use crate::vector::dispatch::Kernel;
use crate::vector::planes::planes;
use crate::vector::tiles::micro::{
    Accumulators, OperandStream, eliminate_strided, store_tile, subtract, with_vectors_called,
};
use crate::vector::tiles::small_triangle::substitute;
use crate::vector::workspace::Workspace;
use crate::{MatMut, Real, Scalar, Uplo};

/// A = L Lᴴ, with L over the lower triangle of A. Returns how many columns were factored: all, unless a pivot is not
/// positive or out of range.
pub struct Factorization<'a, T> {
    pub a: MatMut<'a, T>,
}

impl<T: Scalar> Kernel<T> for Factorization<'_, T> {
    type Output = usize;

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) -> Self::Output {
        let n = self.a.nrows();
        assert_eq!(self.a.ncols(), n, "a Cholesky panel is square");
        let len = panel_start::<T, V>(n.div_ceil(width::<V>()));
        let mut scratch = Workspace::take(len + ROWS * ROWS * planes::<T>());
        let (panels, small) = scratch.elements().split_at_mut(len);
        let mut work = FactorPanels { a: self.a, panels: panels.as_mut_ptr(), small: small.as_mut_ptr() };
        for j in (0..n).step_by(ROWS) {
            let mut i = j - j % V::LANES;
            while i < n {
                let end = n.min(i - i % width::<V>() + width::<V>());
                let vectors = (end - i).div_ceil(V::LANES);
                // SAFETY: the workspace has room for all panels and the small triangle; rows i .. end are in one panel.
                if !unsafe { with_vectors_called!(vectors, V, isa, FactorTile::<T, _, ROWS> { work: &mut work, i, j }) }
                {
                    return j;
                }
                i = end;
            }
        }
        n
    }
}

/// Factors NV vectors of rows, from i on, of the ROWS columns from j on. Returns false if a pivot is out of range.
struct FactorTile<'w, 'a, T: Scalar, const NV: usize, const ROWS: usize> {
    work: &'w mut FactorPanels<'a, T>,
    i: usize,
    j: usize,
}

impl<T, V, const NV: usize, const ROWS: usize> Part<V> for FactorTile<'_, '_, T, NV, ROWS>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    type Output = bool;

    /// # Safety
    /// The scratch was allocated for A, the rows are in one panel, and all earlier tiles (in column order) are done.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) -> bool {
        let Self { work, i, j } = self;
        let (here, step, plane) = (work.at::<V>(i, j), step::<T, V>(), width::<V>());
        // SAFETY: the rows belong to one panel, and the tiles that this one reads, above and before it, are done.
        unsafe {
            let mut acc = work.load::<V, NV, ROWS>(isa, i, j);
            work.prefetch_a(i, NV * V::LANES, j + ROWS..j + 2 * ROWS);
            let (x, rows) = (work.at::<V>(i, 0).cast_const(), work.at::<V>(j, 0).cast_const());
            let streams = (OperandStream { ptr: x, step, plane }, OperandStream { ptr: rows, step, plane });
            eliminate_strided::<T, V, NV, ROWS>(&mut acc, j, streams, 1, true);
            if i > j {
                substitute::<T, V, NV, ROWS>(&mut acc, work.small, Uplo::Lower);
                store_tile::<T, V, NV, ROWS>(&acc, here, step, plane);
            } else {
                let (lane, mut pivots) = (if V::LANES == ROWS { 0 } else { j - i }, Pivots::<T::Real, ROWS>::default());
                let cols = ROWS.min(work.a.nrows() - j);
                if !factor::<T, V, NV, ROWS>(&mut acc, lane, cols, &mut pivots) {
                    return false;
                }
                store_tile::<T, V, NV, ROWS>(&acc, here, step, plane);
                work.set_diagonal::<V, ROWS>(j, cols, &pivots);
            }
            work.store::<V, NV, ROWS>(&acc, i, j);
        }
        true
    }
}

/// The diagonal of a block of L, and its reciprocals.
pub(crate) struct Pivots<R, const ROWS: usize> {
    pub roots: [R; ROWS],
    pub inverses: [R; ROWS],
}

impl<R: Real, const ROWS: usize> Default for Pivots<R, ROWS> {
    fn default() -> Self {
        Self { roots: [R::ZERO; ROWS], inverses: [R::ZERO; ROWS] }
    }
}

/// Factors `cols` columns of the block on the diagonal, whose first row is in lane `lane` of the first vectors, and
/// solves for the rows below it. Returns false if a pivot is out of range.
#[inline(always)]
fn factor<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Accumulators<V, NV, ROWS>,
    lane: usize,
    cols: usize,
    pivots: &mut Pivots<T::Real, ROWS>,
) -> bool
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // One copy of the code per column, so that the accumulators stay in registers (see `substitute`).
    macro_rules! columns {
        ($($c:literal)*) => {$(
            if $c < ROWS {
                if $c == cols {
                    return true;
                }
                if !column::<T, V, NV, ROWS>(acc, $c, lane, pivots) {
                    return false;
                }
            }
        )*};
    }
    const { assert!(ROWS <= 8) };
    columns!(0 1 2 3 4 5 6 7);
    true
}

/// Factors column c of a block: subtracts w conj(w[r]) / d from each later column r, and divides column c by the root
/// of d. Returns false if d is out of range.
#[inline(always)]
fn column<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Accumulators<V, NV, ROWS>,
    c: usize,
    lane: usize,
    pivots: &mut Pivots<T::Real, ROWS>,
) -> bool
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let w = acc[c];
    let d = w[0][0].lane(lane + c);
    let ordinary = d >= T::Real::MIN_POSITIVE && d <= T::Real::ONE / T::Real::MIN_POSITIVE;
    if !ordinary {
        return false;
    }
    let (root, by) = (d.sqrt(), T::Real::ONE / d);
    let inverse = T::Real::ONE / root;
    for (row, r) in acc[c + 1..].iter_mut().zip(lane + c + 1..) {
        let re = w[0][0].lane(r) * by;
        let im = if T::COMPLEX { w[0][1].lane(r) * by } else { T::Real::ZERO };
        subtract::<T, V, NV>(row, T::from_parts(re, im), true, &w);
    }
    let times = V::splat(w[0][0].isa(), inverse);
    for (to, x) in acc[c].iter_mut().zip(w) {
        to[0] = x[0].mul(times);
        if T::COMPLEX {
            to[1] = x[1].mul(times);
        }
    }
    (pivots.roots[c], pivots.inverses[c]) = (root, inverse);
    true
}
