//! The products of reflectors with a block of columns.

use super::super::columns::{add_conj_product, sum};
use super::{NV, Work};
use crate::Scalar;
use crate::simd::Vector;
use crate::vector::planes::{planes, put};
use crate::vector::tiles::micro::{Stream, Tile, load_tile, store_tile, zero};
use std::ops::Range;

/// Bytes of a block of columns that stay in the first-level cache, of 32 KiB: half of it.
const CHUNK_BYTES: usize = 16 << 10;

/// Y = Vᴴ C for some columns of V and the block C at column b, from row `first` on.
///
/// # Safety
/// The columns are there.
#[inline(always)]
pub(crate) unsafe fn inner_products<T, V, const ROWS: usize>(
    isa: V::Isa,
    work: &Work<T>,
    v: Range<usize>,
    b: usize,
    first: usize,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // Two columns of complex numbers: three would need all 32 registers of AVX-512, and one more.
    // SAFETY: the columns are there, however many are taken at a time.
    unsafe {
        if T::COMPLEX {
            inner_products_by::<T, V, 2, ROWS>(isa, work, v, b, first);
        } else {
            inner_products_by::<T, V, NV, ROWS>(isa, work, v, b, first);
        }
    }
}

/// The same, so many columns of V at a time.
///
/// # Safety
/// As for [`inner_products`].
#[inline(always)]
unsafe fn inner_products_by<T, V, const NV: usize, const ROWS: usize>(
    isa: V::Isa,
    work: &Work<T>,
    v: Range<usize>,
    b: usize,
    first: usize,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (columns, step) = (work.columns, V::LANES * planes::<T>());
    let (begin, chunk) = (first - first % V::LANES, chunk_rows::<T, V>(ROWS));
    // SAFETY: behind the columns of V are others; there is room for the products of a few columns more.
    unsafe {
        for start in (begin..columns.rows).step_by(chunk) {
            for p in v.clone().step_by(NV) {
                let sums = work.sums.add(p * ROWS * step);
                let mut acc: Tile<V, NV, ROWS> = zero::<T, V, NV, ROWS>(isa);
                if start > begin {
                    acc = load_tile::<T, V, NV, ROWS>(isa, Stream { ptr: sums, step: NV * step, plane: NV * V::LANES });
                }
                // Column p is zero before row p.
                let mut i = start.max(p - p % V::LANES);
                while i < columns.rows.min(start + chunk) {
                    let mut v = [[V::splat(isa, T::Real::ZERO); 2]; NV];
                    for (q, v) in v.iter_mut().enumerate() {
                        *v = columns.load::<V>(isa, i, p + q);
                    }
                    for (c, row) in acc.iter_mut().enumerate() {
                        let x = columns.load::<V>(isa, i, b + c);
                        for (acc, &v) in row.iter_mut().zip(&v) {
                            add_conj_product::<T, V>(acc, v, x);
                        }
                    }
                    i += V::LANES;
                }
                store_tile::<T, V, NV, ROWS>(&acc, sums, NV * step, NV * V::LANES);
            }
        }
        for p in v.step_by(NV) {
            let sums = work.sums.add(p * ROWS * step);
            let acc = load_tile::<T, V, NV, ROWS>(isa, Stream { ptr: sums, step: NV * step, plane: NV * V::LANES });
            for (c, row) in acc.iter().enumerate() {
                for (q, &acc) in row.iter().enumerate() {
                    put(work.y.add((p + q) * step + c), V::LANES, sum::<T, V>(acc));
                }
            }
        }
    }
}

/// Rows whose part of a block of columns stays in the first-level cache while all columns before it pass.
#[inline(always)]
fn chunk_rows<T: Scalar, V: Vector<Real = T::Real>>(columns: usize) -> usize {
    let rows = CHUNK_BYTES / (columns * size_of::<T>());
    rows - rows % V::LANES
}
