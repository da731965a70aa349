//! Inner products of reflectors with a block of columns.

use super::super::columns::{add_conj_product, sum};
use super::{NV, QrWorkspace};
use crate::Scalar;
use crate::simd::Vector;
use crate::vector::planes::{planes, put};
use crate::vector::tiles::micro::{Accumulators, OperandStream, load_tile, store_tile, zero};
use std::ops::Range;

/// Bytes of a block of columns: half of a first-level cache of 32 KiB.
const CHUNK_BYTES: usize = 16 << 10;

/// Computes Y = Vᴴ C for some columns of V and the block C at column b, from row `first` on.
///
/// # Safety
/// The panel has these columns.
#[inline(always)]
pub(crate) unsafe fn inner_products<T, V, const ROWS: usize>(
    isa: V::Isa,
    work: &QrWorkspace<T>,
    v: Range<usize>,
    b: usize,
    first: usize,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // Complex types take two columns: three would need 33 registers, and AVX-512 has 32.
    // SAFETY: the caller guarantees the columns, which is what each version requires.
    unsafe {
        if T::COMPLEX {
            inner_products_by::<T, V, 2, ROWS>(isa, work, v, b, first);
        } else {
            inner_products_by::<T, V, NV, ROWS>(isa, work, v, b, first);
        }
    }
}

/// Computes the inner products NV columns of V at a time.
///
/// # Safety
/// Same as for [`inner_products`].
#[inline(always)]
unsafe fn inner_products_by<T, V, const NV: usize, const ROWS: usize>(
    isa: V::Isa,
    work: &QrWorkspace<T>,
    v: Range<usize>,
    b: usize,
    first: usize,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (columns, step) = (work.columns, V::LANES * planes::<T>());
    let (begin, chunk) = (first - first % V::LANES, chunk_rows::<T, V>(ROWS));
    // SAFETY: other columns follow those of V, and `sums` and `y` have room for the products of NV more columns.
    unsafe {
        for start in (begin..columns.rows).step_by(chunk) {
            for p in v.clone().step_by(NV) {
                let sums = work.sums.add(p * ROWS * step);
                let mut acc: Accumulators<V, NV, ROWS> = zero::<T, V, NV, ROWS>(isa);
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
                // The sums of a chunk are added to those before: in a single sum over a tall column, roundings of equal
                // signs would add up over all rows.
                if start > begin {
                    let before = OperandStream { ptr: sums, step: NV * step, plane: NV * V::LANES };
                    let before = load_tile::<T, V, NV, ROWS>(isa, before);
                    let one = V::splat(isa, T::Real::ONE);
                    for (acc, before) in acc.iter_mut().flatten().flatten().zip(before.iter().flatten().flatten()) {
                        *acc = acc.mul_add(*before, one);
                    }
                }
                store_tile::<T, V, NV, ROWS>(&acc, sums, NV * step, NV * V::LANES);
            }
        }
        for p in v.step_by(NV) {
            let sums = work.sums.add(p * ROWS * step);
            let acc =
                load_tile::<T, V, NV, ROWS>(isa, OperandStream { ptr: sums, step: NV * step, plane: NV * V::LANES });
            for (c, row) in acc.iter().enumerate() {
                for (q, &acc) in row.iter().enumerate() {
                    put(work.y.add((p + q) * step + c), V::LANES, sum::<T, V>(acc));
                }
            }
        }
    }
}

/// Returns how many rows of a block of columns stay in the first-level cache while all earlier columns pass.
#[inline(always)]
fn chunk_rows<T: Scalar, V: Vector<Real = T::Real>>(columns: usize) -> usize {
    let rows = CHUNK_BYTES / (columns * size_of::<T>());
    rows - rows % V::LANES
}
