//! The panels that hold a Cholesky factor while it is computed, and the copies of its tiles from A and back.
//!
//! A tile is a few vectors of rows by ROWS columns. If A is real with adjacent rows, tiles are loaded from A to
//! registers and stored from there, with masks at the diagonal and at the last row. Tiles of any other A are first
//! copied to the panel, by a transpose or by separating the parts of complex numbers.

use super::cholesky::Pivots;
use crate::simd::{Vector, prefetch};
use crate::vector::packing::{Factor, pack};
use crate::vector::planes::{planes, scalar};
use crate::vector::sizes::NV;
use crate::vector::tiles::micro::{Accumulators, OperandStream, load_tile, store_tile, zero};
use crate::{MatMut, Scalar};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Reals of the largest block on the diagonal, with its rows a vector apart.
const BLOCK_REALS: usize = 8 * 16;

/// Returns the rows of a panel.
#[inline(always)]
pub(crate) const fn width<V: Vector>() -> usize {
    NV * V::LANES
}

/// Returns the reals of a column of a panel: the real parts, then the imaginary ones.
#[inline(always)]
pub(crate) const fn step<T: Scalar, V: Vector>() -> usize {
    width::<V>() * planes::<T>()
}

/// Returns the offset of panel k. Each panel ends with the columns of its own diagonal.
#[inline(always)]
pub(crate) const fn panel_start<T: Scalar, V: Vector>(k: usize) -> usize {
    step::<T, V>() * width::<V>() * (k * (k + 1) / 2)
}

/// The matrix A and the scratch of its factorization.
pub(crate) struct FactorPanels<'a, T: Scalar> {
    pub a: MatMut<'a, T>,
    /// L in panels of rows.
    pub panels: *mut T::Real,
    /// conj(L) of the block on the diagonal, for [`substitute`](crate::vector::tiles::small_triangle::substitute).
    pub small: *mut T::Real,
}

impl<T: Scalar> FactorPanels<'_, T> {
    /// Returns the address of element (i, j) in the panels.
    #[inline(always)]
    pub fn at<V: Vector>(&self, i: usize, j: usize) -> *mut T::Real {
        let (k, lane) = (i / width::<V>(), i % width::<V>());
        self.panels.wrapping_add(panel_start::<T, V>(k) + j * step::<T, V>() + lane)
    }

    /// Returns the address of element (i, j) of A.
    #[inline(always)]
    fn in_a(&mut self, i: usize, j: usize) -> *mut T {
        let (rs, cs) = (self.a.row_stride(), self.a.col_stride());
        self.a.as_mut_ptr().wrapping_add(i * rs + j * cs)
    }

    /// Returns whether tiles move between A and registers directly.
    #[inline(always)]
    fn is_direct(&self) -> bool {
        !T::COMPLEX && self.a.row_stride() == 1
    }

    /// Returns whether the columns of A are adjacent, and a row of a block fills the squares that vectors transpose.
    #[inline(always)]
    fn has_square_blocks<V: Vector, const ROWS: usize>(&self) -> bool {
        self.a.col_stride() == 1 && ROWS * planes::<T>() == V::SQUARE
    }

    /// Prefetches a part of A.
    #[inline(always)]
    pub fn prefetch_a(&mut self, i: usize, rows: usize, cols: Range<usize>) {
        let (rs, cs, line) = (self.a.row_stride(), self.a.col_stride(), 64 / size_of::<T>());
        let (row_step, col_step) = if rs == 1 { (line, 1) } else { (1, line) };
        let (a, width) = (self.in_a(i, cols.start), cols.len());
        for c in (0..width).step_by(col_step) {
            for r in (0..rows).step_by(row_step) {
                prefetch(a.wrapping_add(r * rs + c * cs));
            }
        }
    }

    /// Returns the lanes of vector v of a tile at row i that hold rows of column c at or below the diagonal.
    #[inline(always)]
    fn lanes<V: Vector>(&self, i: usize, v: usize, c: usize) -> Range<usize> {
        let (first, n) = (i + v * V::LANES, self.a.nrows());
        let end = if c < n { (n - first).min(V::LANES) } else { 0 };
        c.saturating_sub(first).min(end)..end
    }

    /// Loads the tile of A at (i, j), with zeros above the diagonal and outside A.
    ///
    /// # Safety
    /// The panels have room for the tile, and each vector has a row of A.
    #[inline(always)]
    pub unsafe fn load<V, const NV: usize, const ROWS: usize>(
        &mut self,
        isa: V::Isa,
        i: usize,
        j: usize,
    ) -> Accumulators<V, NV, ROWS>
    where
        V: Vector<Real = T::Real>,
    {
        let whole = i >= j + ROWS && i + NV * V::LANES <= self.a.nrows();
        let panel = OperandStream { ptr: self.at::<V>(i, j).cast_const(), step: step::<T, V>(), plane: width::<V>() };
        let in_a =
            OperandStream { ptr: self.in_a(i, j).cast::<T::Real>().cast_const(), step: self.a.col_stride(), plane: 0 };
        // SAFETY: the panel has room for the tile; a whole tile of a direct A is stored in A as it would be in a panel.
        unsafe {
            match (self.is_direct(), whole) {
                (true, true) => {}
                (true, false) => self.pack_lanes::<V, NV, ROWS>(isa, i, j),
                (false, _) => self.pack::<V, NV, ROWS>(isa, i, j, whole),
            }
            load_tile::<T, V, NV, ROWS>(isa, if self.is_direct() && whole { in_a } else { panel })
        }
    }

    /// Writes a tile, which is also in its panel, over A.
    ///
    /// # Safety
    /// Same as for [`FactorPanels::load`].
    #[inline(always)]
    pub unsafe fn store<V, const NV: usize, const ROWS: usize>(
        &mut self,
        acc: &Accumulators<V, NV, ROWS>,
        i: usize,
        j: usize,
    ) where
        V: Vector<Real = T::Real>,
    {
        let isa = acc[0][0][0].isa();
        let whole = i >= j + ROWS && i + NV * V::LANES <= self.a.nrows();
        let (to, cs) = (self.in_a(i, j).cast::<T::Real>(), self.a.col_stride());
        // SAFETY: the panel holds the tile; a whole tile of a direct A has all its elements in A.
        unsafe {
            match (self.is_direct(), whole) {
                (true, true) => store_tile::<T, V, NV, ROWS>(acc, to, cs, 0),
                (true, false) => self.unpack_lanes::<V, NV, ROWS>(isa, i, j),
                (false, _) => self.unpack::<V, NV, ROWS>(isa, i, j, whole),
            }
        }
    }

    /// Copies a tile that the diagonal or the last row crosses from a direct A to its panel. Loading it into
    /// accumulators instead would put them in memory, because a loop indexes them.
    ///
    /// # Safety
    /// Same as for [`FactorPanels::load`].
    #[inline(always)]
    unsafe fn pack_lanes<V, const NV: usize, const ROWS: usize>(&mut self, isa: V::Isa, i: usize, j: usize)
    where
        V: Vector<Real = T::Real>,
    {
        for c in j..j + ROWS {
            for v in 0..NV {
                let (lanes, row) = (self.lanes::<V>(i, v, c), i + v * V::LANES);
                let from = self.in_a(row, c).cast::<T::Real>().cast_const();
                // SAFETY: the lanes are in A, and the vector is in the panel.
                unsafe { V::load_lanes(isa, from, lanes.start, lanes.end).store(self.at::<V>(row, c)) };
            }
        }
    }

    /// Copies such a tile back from its panel to A.
    ///
    /// # Safety
    /// Same as for [`FactorPanels::load`].
    #[inline(always)]
    unsafe fn unpack_lanes<V, const NV: usize, const ROWS: usize>(&mut self, isa: V::Isa, i: usize, j: usize)
    where
        V: Vector<Real = T::Real>,
    {
        for c in j..j + ROWS {
            for v in 0..NV {
                let (lanes, row) = (self.lanes::<V>(i, v, c), i + v * V::LANES);
                let to = self.in_a(row, c).cast::<T::Real>();
                // SAFETY: the vector is in the panel, and the lanes are in A.
                unsafe { V::load(isa, self.at::<V>(row, c)).store_lanes(to, lanes.start, lanes.end) };
            }
        }
    }

    /// Copies the tile of A at (i, j) to its panel.
    ///
    /// # Safety
    /// Same as for [`FactorPanels::load`].
    #[inline(always)]
    unsafe fn pack<V, const NV: usize, const ROWS: usize>(&mut self, isa: V::Isa, i: usize, j: usize, whole: bool)
    where
        V: Vector<Real = T::Real>,
    {
        let n = self.a.nrows();
        let (end, last) = (n.min(j + ROWS), n.min(i + NV * V::LANES));
        // SAFETY: rows first .. last of columns j .. end are in A, and the panel has all rows of the tile.
        unsafe {
            if whole && self.has_square_blocks::<V, ROWS>() {
                let (from, rs) = (self.in_a(i, j).cast::<T::Real>(), self.a.row_stride() * planes::<T>());
                for r in (0..NV * V::LANES).step_by(V::SQUARE) {
                    V::transpose(isa, from.add(r * rs), rs, self.at::<V>(i, j).add(r), width::<V>());
                }
                return;
            }
            if !whole {
                let zeros = zero::<T, V, NV, ROWS>(isa);
                store_tile::<T, V, NV, ROWS>(&zeros, self.at::<V>(i, j), step::<T, V>(), width::<V>());
            }
            if i <= j {
                self.pack_diagonal::<V, ROWS>(isa, j, end - j);
            }
            let first = if i <= j { end } else { i };
            let below = Factor::plain(self.a.as_ref().submatrix(first..last, j..end));
            pack::gather::<T, V>(isa, below, width::<V>(), self.at::<V>(i, j).add(first - i));
        }
    }

    /// Copies the tile at (i, j) back from its panel to A.
    ///
    /// # Safety
    /// Same as for [`FactorPanels::load`].
    #[inline(always)]
    unsafe fn unpack<V, const NV: usize, const ROWS: usize>(&mut self, isa: V::Isa, i: usize, j: usize, whole: bool)
    where
        V: Vector<Real = T::Real>,
    {
        let n = self.a.nrows();
        let (end, last) = (n.min(j + ROWS), n.min(i + NV * V::LANES));
        let first = if i <= j { end } else { i };
        // SAFETY: rows first .. last of columns j .. end are in A, and the panel has all rows of the tile.
        unsafe {
            if whole && self.has_square_blocks::<V, ROWS>() {
                let (to, rs) = (self.in_a(i, j).cast::<T::Real>(), self.a.row_stride() * planes::<T>());
                for r in (0..NV * V::LANES).step_by(V::SQUARE) {
                    V::transpose(isa, self.at::<V>(i, j).add(r), width::<V>(), to.add(r * rs), rs);
                }
                return;
            }
            if i <= j {
                self.unpack_diagonal::<V, ROWS>(isa, j, end - j);
            }
            let from = self.at::<V>(i, j).add(first - i);
            pack::unpack::<T, V>(isa, from, width::<V>(), self.a.rb_mut().submatrix(first..last, j..end));
        }
    }

    /// Copies the lower triangle of the block at (j, j), which has `cols` columns, to its panel.
    ///
    /// # Safety
    /// Same as for [`FactorPanels::load`].
    #[inline(always)]
    unsafe fn pack_diagonal<V, const ROWS: usize>(&mut self, isa: V::Isa, j: usize, cols: usize)
    where
        V: Vector<Real = T::Real>,
    {
        let (here, rs) = (self.at::<V>(j, j), self.a.row_stride());
        // SAFETY: the panel has the block; only elements (r, c) of A with c <= r < cols are accessed.
        unsafe {
            if !T::COMPLEX && self.a.col_stride() == 1 {
                assert!(ROWS * V::LANES <= BLOCK_REALS);
                let from = self.in_a(j, j).cast::<T::Real>();
                let mut block = [const { MaybeUninit::<T::Real>::uninit() }; BLOCK_REALS];
                let block = block.as_mut_ptr().cast::<T::Real>();
                for r in 0..ROWS {
                    let row = V::load_lanes(isa, from.wrapping_add(r * rs), 0, if r < cols { r + 1 } else { 0 });
                    row.store(block.add(r * V::LANES));
                }
                return pack::transpose::<V>(isa, (ROWS, ROWS), block, V::LANES, here, width::<V>(), 0);
            }
            for c in 0..cols {
                for r in c..cols {
                    let (x, to) = (*self.in_a(j + r, j + c), here.add(c * step::<T, V>() + r));
                    *to = x.re();
                    if T::COMPLEX {
                        *to.add(width::<V>()) = if r == c { T::Real::ZERO } else { x.im() };
                    }
                }
            }
        }
    }

    /// Copies the lower triangle of the block at (j, j) back from its panel to A.
    ///
    /// # Safety
    /// Same as for [`FactorPanels::load`].
    #[inline(always)]
    unsafe fn unpack_diagonal<V, const ROWS: usize>(&mut self, isa: V::Isa, j: usize, cols: usize)
    where
        V: Vector<Real = T::Real>,
    {
        let (here, rs) = (self.at::<V>(j, j).cast_const(), self.a.row_stride());
        // SAFETY: the panel has the block; only elements (r, c) of A with c <= r < cols are written.
        unsafe {
            if !T::COMPLEX && self.a.col_stride() == 1 {
                assert!(ROWS * V::LANES <= BLOCK_REALS);
                let to = self.in_a(j, j).cast::<T::Real>();
                let mut block = [const { MaybeUninit::<T::Real>::uninit() }; BLOCK_REALS];
                let block = block.as_mut_ptr().cast::<T::Real>();
                pack::transpose::<V>(isa, (ROWS, ROWS), here, width::<V>(), block, V::LANES, 0);
                for r in 0..cols {
                    let row = V::load_lanes(isa, block.add(r * V::LANES), 0, r + 1);
                    row.store_lanes(to.wrapping_add(r * rs), 0, r + 1);
                }
                return;
            }
            for c in 0..cols {
                for r in c..cols {
                    *self.in_a(j + r, j + c) = scalar::<T>(here.add(c * step::<T, V>() + r), width::<V>());
                }
            }
        }
    }

    /// Writes the diagonal of the block at j to its panel, and the small triangle for the tiles below.
    ///
    /// # Safety
    /// The panel holds the block.
    #[inline(always)]
    pub unsafe fn set_diagonal<V, const ROWS: usize>(&mut self, j: usize, cols: usize, pivots: &Pivots<T::Real, ROWS>)
    where
        V: Vector<Real = T::Real>,
    {
        for c in 0..cols {
            let (from, to) = (self.at::<V>(j, j + c), self.small.wrapping_add(c * ROWS * planes::<T>()));
            // SAFETY: column j + c and the small triangle have ROWS elements per plane here.
            unsafe {
                *from.add(c) = pivots.roots[c];
                let re = from.cast::<[T::Real; ROWS]>().read_unaligned();
                to.cast::<[T::Real; ROWS]>().write_unaligned(re);
                *to.add(c) = pivots.inverses[c];
                if T::COMPLEX {
                    *from.add(width::<V>() + c) = T::Real::ZERO;
                    let im = from.add(width::<V>()).cast::<[T::Real; ROWS]>().read_unaligned();
                    to.add(ROWS).cast::<[T::Real; ROWS]>().write_unaligned(im.map(std::ops::Neg::neg));
                }
            }
        }
    }
}
