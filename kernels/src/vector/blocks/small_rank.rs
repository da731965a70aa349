//! Rank-k and rank-2k updates of a triangle whose factors are small enough to be packed once. The panels of rows of the
//! left factor also serve as the right one, so no factor is packed twice.

use super::product::{Block, PanelPair, Panels, Prefetch, steps};
use crate::simd::Vector;
use crate::vector::dispatch::Kernel;
use crate::vector::packing::{Factor, pack};
use crate::vector::planes::planes;
use crate::vector::sizes::{DEPTH, NV, UNPACKED_USES_MAX, block_bytes, even_block_size};
use crate::vector::tiles::micro::{store_tile, zero};
use crate::vector::tiles::output::{Destination, Wanted, add};
use crate::vector::workspace::Workspace;
use crate::{MatMut, Scalar, Uplo};
use std::mem::MaybeUninit;

/// Bytes of a packed block of columns of a factor, at most. Measured: docs/measurements/2026-11-28-constants.md.
const BLOCK_BYTES_MAX: usize = 2 << 20;

/// One triangle of C = alpha A op(A) + beta C, or of C = alpha A op(B) + op(alpha) B op(A) + beta C, where op is the
/// transpose or the conjugate transpose. C may have fewer rows, or fewer columns, than A has rows.
pub struct SmallRank<'a, T> {
    pub uplo: Uplo,
    pub conj: bool,
    pub alpha: T,
    pub a: Factor<'a, T>,
    pub b: Option<Factor<'a, T>>,
    pub beta: T,
    /// Rows are adjacent.
    pub c: MatMut<'a, T>,
}

impl<T: Scalar> SmallRank<'_, T> {
    /// Returns whether this kernel is faster than [`Blocks`](super::Blocks): small factors of real types are read in
    /// place, and packed factors of large matrices are reused often enough.
    pub fn is_for(a: &Factor<'_, T>, c: &MatMut<'_, T>) -> bool {
        let (n, k) = a.view.shape();
        let bytes = n * even_block_size(k, DEPTH, 1) * size_of::<T>();
        let is_packed = (T::COMPLEX || n > UNPACKED_USES_MAX) && a.packs.is_none();
        is_packed && k > 0 && bytes <= BLOCK_BYTES_MAX && c.row_stride() <= c.col_stride()
    }
}

impl<T: Scalar> Kernel<T> for SmallRank<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) {
        let Self { uplo, conj, alpha, a, b, beta, mut c } = self;
        let ((rows, columns), (n, k)) = (c.shape(), a.view.shape());
        assert!(rows.max(columns) <= n, "C {rows} x {columns} exceeds the {n} rows of the factors");
        // A rank-2k update accumulates both products before it updates C, from panels that together fill the
        // first-level cache no more than those of one product.
        let depth = even_block_size(k, if b.is_some() { DEPTH / 2 } else { DEPTH }, 1);
        let width = even_block_size(n, NV * V::LANES, V::LANES);
        assert!(width.is_multiple_of(ROWS), "a panel of {width} rows is not whole register tiles of {ROWS} rows");
        let height = even_block_size(n, block_bytes() / (depth * size_of::<T>()), width);
        let len = n.next_multiple_of(width) * depth * planes::<T>();
        let mut scratch = Workspace::take(if b.is_some() { 2 * len } else { len });
        let (first, second) = scratch.elements().split_at_mut(len);
        // With A' = alpha A, alpha A op(B) + conj(alpha) B op(A) is A' op(B) + B op(A').
        let is_scaled = conj && b.is_some() && alpha.im() != T::Real::ZERO;
        let minus_alpha = if is_scaled { -T::ONE } else { -alpha };
        for p in (0..k).step_by(depth) {
            let cols = p..k.min(p + depth);
            let by = is_scaled.then_some(alpha);
            let left = packed::<T, V>(isa, a.part(0..n, cols.clone()), by, width, first);
            let right = match b {
                Some(b) => Some(packed::<T, V>(isa, b.part(0..n, cols.clone()), None, width, second)),
                None => None,
            };
            for i in (0..rows).step_by(height) {
                let out = Destination {
                    minus_alpha,
                    beta: if p == 0 { beta } else { T::ONE },
                    wanted: Wanted { triangle: Some(uplo), offset: i as isize },
                    c: c.rb_mut().submatrix(i..rows.min(i + height), 0..columns),
                };
                let factors = (left.from(i), right.unwrap_or(left));
                let others = right.map(|right| (right.from(i), left));
                let (depth, prefetch) = (cols.len(), Prefetch::NOTHING);
                // SAFETY: the left panels begin at row i, the right ones have all rows, and C has no more rows and
                // columns than that. Each width is a multiple of ROWS.
                unsafe {
                    if T::COMPLEX && conj {
                        V::call(isa, Block::<_, ROWS, true> { depth, width, factors, others, prefetch, out });
                    } else {
                        V::call(isa, Block::<_, ROWS, false> { depth, width, factors, others, prefetch, out });
                    }
                }
            }
            let Some(right) = right else { continue };
            for start in (0..rows.min(columns)).step_by(V::LANES) {
                let end = start + V::LANES;
                let out = Destination {
                    minus_alpha,
                    beta: if p == 0 { beta } else { T::ONE },
                    wanted: Wanted { triangle: Some(uplo), offset: 0 },
                    c: c.rb_mut().submatrix(start..rows.min(end), start..columns.min(end)),
                };
                // SAFETY: panels are padded to whole vectors, so they have one from row `start` on.
                unsafe {
                    if T::COMPLEX && conj {
                        square::<T, V, ROWS, true>(isa, cols.len(), start, (left, right), out);
                    } else {
                        square::<T, V, ROWS, false>(isa, cols.len(), start, (left, right), out);
                    }
                }
            }
        }
    }
}

/// Reals of the largest square: 16 x 16 complex numbers.
const SQUARE_REALS: usize = 512;

/// Computes a square on the diagonal of a rank-2k update: one vector of rows from `row` on. The second product is the
/// transpose or conjugate transpose of the first, so it is not computed.
///
/// # Safety
/// The panels hold `depth` steps and a vector of rows from `row` on; C has no more rows and columns than that.
#[inline(always)]
unsafe fn square<T, V, const ROWS: usize, const CONJ: bool>(
    isa: V::Isa,
    depth: usize,
    row: usize,
    (a, b): PanelPair<T::Real>,
    out: Destination<'_, T>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    assert!(V::LANES * V::LANES * planes::<T>() <= SQUARE_REALS);
    assert!(V::LANES.is_multiple_of(ROWS), "a square consists of whole register tiles");
    let (order, step) = (V::LANES, V::LANES * planes::<T>());
    let mut spills = [const { [const { MaybeUninit::<T::Real>::uninit() }; SQUARE_REALS] }; 2];
    let [product, mirrored] = spills.each_mut().map(|spill| spill.as_mut_ptr().cast::<T::Real>());
    // SAFETY: the panels have the rows of the square; both spills have room for its columns, each one vector per plane.
    unsafe {
        let (x, _) = a.at(row);
        for first in (0..order).step_by(ROWS) {
            let mut acc = zero::<T, V, 1, ROWS>(isa);
            steps::<T, V, 1, ROWS, CONJ>(&mut acc, depth, (x, b.at(row + first).0), x.ptr.cast());
            store_tile::<T, V, 1, ROWS>(&acc, product.add(first * step), step, order);
        }
        for plane in 0..planes::<T>() {
            let at = plane * order;
            pack::transpose::<V>(isa, (order, order), product.add(at), step, mirrored.add(at), step, 0);
            let sign = V::splat(isa, if CONJ && plane == 1 { -T::Real::ONE } else { T::Real::ONE });
            for at in (0..order).map(|column| column * step + at) {
                V::load(isa, product.add(at)).mul_add(sign, V::load(isa, mirrored.add(at))).store(product.add(at));
            }
        }
        add::<T, V>(isa, product, order, out);
    }
}

/// Multiplies panels of `width` complex rows by alpha.
#[inline(always)]
fn scale<T: Scalar>(alpha: T, width: usize, panels: &mut [T::Real]) {
    let (x, y) = (alpha.re(), alpha.im());
    for column in panels.chunks_exact_mut(2 * width) {
        let (re, im) = column.split_at_mut(width);
        for (re, im) in re.iter_mut().zip(im) {
            (*re, *im) = (x * *re - y * *im, x * *im + y * *re);
        }
    }
}

/// Packs all rows of a factor into `to`, and multiplies them by `by` if it is given.
#[inline(always)]
fn packed<T, V>(isa: V::Isa, factor: Factor<'_, T>, by: Option<T>, width: usize, to: &mut [T::Real]) -> Panels<T::Real>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (rows, depth) = factor.view.shape();
    let to = &mut to[..rows.next_multiple_of(width) * depth * planes::<T>()];
    // SAFETY: the slice of `to` has room for the panels of all rows of the factor.
    unsafe { pack::panels::<T, V>(isa, factor, width, to.as_mut_ptr()) };
    if let Some(by) = by {
        scale::<T>(by, width, to);
    }
    Panels::packed::<T>(to.as_ptr(), width, depth)
}
