//! The panels that a factor is kept in while it is computed, and how its tiles come from A and go back.
//!
//! A tile is a few vectors of rows by ROWS columns. Where columns of a real A are adjacent, a tile is loaded to
//! registers and stored from there, at the diagonal and at the last row by masks. Any other A goes by way of the panel,
//! where a transpose or the parting of complex numbers leaves what a register can load.

use super::cholesky::Pivots;
use crate::simd::{Vector, prefetch};
use crate::vector::packing::{Factor, pack};
use crate::vector::planes::{planes, scalar};
use crate::vector::sizes::NV;
use crate::vector::tiles::micro::{Stream, Tile, load_tile, store_tile, zero};
use crate::{MatMut, Scalar};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Reals of the largest block on the diagonal, its rows a vector apart.
const BLOCK_REALS: usize = 8 * 16;

/// Rows of a panel.
#[inline(always)]
pub(crate) const fn width<V: Vector>() -> usize {
    NV * V::LANES
}

/// Reals of a column of a panel: the real parts, then the imaginary ones.
#[inline(always)]
pub(crate) const fn step<T: Scalar, V: Vector>() -> usize {
    width::<V>() * planes::<T>()
}

/// Where panel k starts. The panels before it end with the columns of their own diagonal.
#[inline(always)]
pub(crate) const fn panel_start<T: Scalar, V: Vector>(k: usize) -> usize {
    step::<T, V>() * width::<V>() * (k * (k + 1) / 2)
}

/// A, and the scratch of its factorization.
pub(crate) struct Panels<'a, T: Scalar> {
    pub a: MatMut<'a, T>,
    /// L in panels of rows.
    pub panels: *mut T::Real,
    /// conj(L) of the block on the diagonal, for [`substitute`](crate::vector::tiles::small_triangle::substitute).
    pub small: *mut T::Real,
}

impl<T: Scalar> Panels<'_, T> {
    /// The place of element (i, j).
    #[inline(always)]
    pub fn at<V: Vector>(&self, i: usize, j: usize) -> *mut T::Real {
        let (k, lane) = (i / width::<V>(), i % width::<V>());
        self.panels.wrapping_add(panel_start::<T, V>(k) + j * step::<T, V>() + lane)
    }

    /// The address of element (i, j) of A.
    #[inline(always)]
    fn in_a(&mut self, i: usize, j: usize) -> *mut T {
        let (rs, cs) = (self.a.row_stride(), self.a.col_stride());
        self.a.as_mut_ptr().wrapping_add(i * rs + j * cs)
    }

    /// Whether tiles go between A and registers directly.
    #[inline(always)]
    fn direct(&self) -> bool {
        !T::COMPLEX && self.a.row_stride() == 1
    }

    /// Whether the rows of a block of A are adjacent, and as reals fill the squares which vectors transpose.
    #[inline(always)]
    fn squares<V: Vector, const ROWS: usize>(&self) -> bool {
        self.a.col_stride() == 1 && ROWS * planes::<T>() == V::SQUARE
    }

    /// Asks for part of A while something else is computed.
    #[inline(always)]
    pub fn fetch(&mut self, i: usize, rows: usize, cols: Range<usize>) {
        let (rs, cs, line) = (self.a.row_stride(), self.a.col_stride(), 64 / size_of::<T>());
        let (row_step, col_step) = if rs == 1 { (line, 1) } else { (1, line) };
        let (a, width) = (self.in_a(i, cols.start), cols.len());
        for c in (0..width).step_by(col_step) {
            for r in (0..rows).step_by(row_step) {
                prefetch(a.wrapping_add(r * rs + c * cs));
            }
        }
    }

    /// The lanes of vector v, of a tile at (i, j), that hold rows of column c at or below the diagonal.
    #[inline(always)]
    fn lanes<V: Vector>(&self, i: usize, v: usize, c: usize) -> Range<usize> {
        let (first, n) = (i + v * V::LANES, self.a.nrows());
        let end = if c < n { (n - first).min(V::LANES) } else { 0 };
        c.saturating_sub(first).min(end)..end
    }

    /// The tile of A at (i, j): zeros above the diagonal and outside of A.
    ///
    /// # Safety
    /// The tile has a place in the panels, and a row of A in each vector.
    #[inline(always)]
    pub unsafe fn load<V, const NV: usize, const ROWS: usize>(
        &mut self,
        isa: V::Isa,
        i: usize,
        j: usize,
    ) -> Tile<V, NV, ROWS>
    where
        V: Vector<Real = T::Real>,
    {
        let whole = i >= j + ROWS && i + NV * V::LANES <= self.a.nrows();
        let panel = Stream { ptr: self.at::<V>(i, j).cast_const(), step: step::<T, V>(), plane: width::<V>() };
        let in_a = Stream { ptr: self.in_a(i, j).cast::<T::Real>().cast_const(), step: self.a.col_stride(), plane: 0 };
        // SAFETY: the tile has a place in its panel; a whole tile of a direct A is in A as it would be in a panel.
        unsafe {
            match (self.direct(), whole) {
                (true, true) => {}
                (true, false) => self.pack_lanes::<V, NV, ROWS>(isa, i, j),
                (false, _) => self.pack::<V, NV, ROWS>(isa, i, j, whole),
            }
            load_tile::<T, V, NV, ROWS>(isa, if self.direct() && whole { in_a } else { panel })
        }
    }

    /// Writes a tile, which is in its panel too, over A.
    ///
    /// # Safety
    /// As for [`Panels::load`].
    #[inline(always)]
    pub unsafe fn store<V, const NV: usize, const ROWS: usize>(&mut self, acc: &Tile<V, NV, ROWS>, i: usize, j: usize)
    where
        V: Vector<Real = T::Real>,
    {
        let isa = acc[0][0][0].isa();
        let whole = i >= j + ROWS && i + NV * V::LANES <= self.a.nrows();
        let (to, cs) = (self.in_a(i, j).cast::<T::Real>(), self.a.col_stride());
        // SAFETY: the tile has a place in its panel, which holds it; a whole tile of a direct A has as many elements in
        // A.
        unsafe {
            match (self.direct(), whole) {
                (true, true) => store_tile::<T, V, NV, ROWS>(acc, to, cs, 0),
                (true, false) => self.unpack_lanes::<V, NV, ROWS>(isa, i, j),
                (false, _) => self.unpack::<V, NV, ROWS>(isa, i, j, whole),
            }
        }
    }

    /// Copies a tile that the diagonal or the last row cuts from a direct A to its panel. By way of memory, because
    /// accumulators that a loop refers to by number would stay there.
    ///
    /// # Safety
    /// As for [`Panels::load`].
    #[inline(always)]
    unsafe fn pack_lanes<V, const NV: usize, const ROWS: usize>(&mut self, isa: V::Isa, i: usize, j: usize)
    where
        V: Vector<Real = T::Real>,
    {
        for c in j..j + ROWS {
            for v in 0..NV {
                let (lanes, row) = (self.lanes::<V>(i, v, c), i + v * V::LANES);
                let from = self.in_a(row, c).cast::<T::Real>().cast_const();
                // SAFETY: the lanes are in A, and the vector in the panel.
                unsafe { V::load_lanes(isa, from, lanes.start, lanes.end).store(self.at::<V>(row, c)) };
            }
        }
    }

    /// The counterpart of [`Panels::pack_lanes`].
    ///
    /// # Safety
    /// As for [`Panels::load`].
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
    /// As for [`Panels::load`].
    #[inline(always)]
    unsafe fn pack<V, const NV: usize, const ROWS: usize>(&mut self, isa: V::Isa, i: usize, j: usize, whole: bool)
    where
        V: Vector<Real = T::Real>,
    {
        let n = self.a.nrows();
        let (end, last) = (n.min(j + ROWS), n.min(i + NV * V::LANES));
        // SAFETY: rows first .. last of columns j .. end are in A, and all rows of the tile in its panel.
        unsafe {
            if whole && self.squares::<V, ROWS>() {
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

    /// The counterpart of [`Panels::pack`].
    ///
    /// # Safety
    /// As for [`Panels::load`].
    #[inline(always)]
    unsafe fn unpack<V, const NV: usize, const ROWS: usize>(&mut self, isa: V::Isa, i: usize, j: usize, whole: bool)
    where
        V: Vector<Real = T::Real>,
    {
        let n = self.a.nrows();
        let (end, last) = (n.min(j + ROWS), n.min(i + NV * V::LANES));
        let first = if i <= j { end } else { i };
        // SAFETY: rows first .. last of columns j .. end are in A, and all rows of the tile in its panel.
        unsafe {
            if whole && self.squares::<V, ROWS>() {
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

    /// Copies the lower triangle of the block at (j, j), `cols` columns, to its panel.
    ///
    /// # Safety
    /// As for [`Panels::load`].
    #[inline(always)]
    unsafe fn pack_diagonal<V, const ROWS: usize>(&mut self, isa: V::Isa, j: usize, cols: usize)
    where
        V: Vector<Real = T::Real>,
    {
        let (here, rs) = (self.at::<V>(j, j), self.a.row_stride());
        // SAFETY: the panel has the block; only elements (r, c) with c <= r < cols are touched in A.
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

    /// The counterpart of [`Panels::pack_diagonal`].
    ///
    /// # Safety
    /// As for [`Panels::load`].
    #[inline(always)]
    unsafe fn unpack_diagonal<V, const ROWS: usize>(&mut self, isa: V::Isa, j: usize, cols: usize)
    where
        V: Vector<Real = T::Real>,
    {
        let (here, rs) = (self.at::<V>(j, j).cast_const(), self.a.row_stride());
        // SAFETY: the panel has the block; only elements (r, c) with c <= r < cols are written in A.
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

    /// Writes the diagonal of the block at j to its panel, and the small triangle for the tiles below, if there are
    /// any.
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
            // SAFETY: ROWS elements of column j + c and of the small triangle, per plane.
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
