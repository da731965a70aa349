//! Rank-k and rank-2k updates of a triangle that is small enough for its factors to be packed once, as the rows of the
//! left factor of a product, and read in that form as the right one of another, too. Packed for either role they would
//! take a tenth of the time of the product.

use super::product::{Ahead, Block, Factors, Panels, steps};
use crate::simd::Vector;
use crate::vector::dispatch::Kernel;
use crate::vector::packing::{Factor, pack};
use crate::vector::planes::planes;
use crate::vector::sizes::{DEPTH, NEAR, NV, block_bytes, even};
use crate::vector::tiles::micro::{store_tile, zero};
use crate::vector::tiles::output::{Out, Wanted, add};
use crate::vector::workspace::Workspace;
use crate::{MatMut, Scalar, Uplo};
use std::mem::MaybeUninit;

/// Bytes of a packed block of columns of a factor. (One core of an EPYC, 2026-11-24, orders 64, 128, 256, 512: syrk in
/// s 1, 1, 1.15, 1.10 times as fast as with a factor packed for each role, in d 1, 1, 1.11, 1.07, in c 1.16, 1.09,
/// 1.05, 1.02, in z 1.10, 1.05, 1.04, 1.00, cherk 1.25, 1.13, 1.08, 1.03; of order 1024 there is no difference.)
const BYTES: usize = 2 << 20;

/// One triangle of C = alpha A op(A) + beta C, or of C = alpha A op(B) + op(alpha) B op(A) + beta C, where op is the
/// transpose or the conjugate transpose. C may have fewer rows, or fewer columns, than A has rows.
pub struct SmallRank<'a, T> {
    pub uplo: Uplo,
    pub conj: bool,
    pub alpha: T,
    pub a: Factor<'a, T>,
    pub b: Option<Factor<'a, T>>,
    pub beta: T,
    /// Its rows are adjacent.
    pub c: MatMut<'a, T>,
}

impl<T: Scalar> SmallRank<'_, T> {
    /// Whether this is worth while: small factors of real types are read where they lie, and those of large matrices
    /// are used often.
    pub fn is_for(a: &Factor<'_, T>, c: &MatMut<'_, T>) -> bool {
        let (n, k) = a.view.shape();
        let bytes = n * even(k, DEPTH, 1) * size_of::<T>();
        let is_packed = (T::COMPLEX || n > NEAR) && a.packs.is_none();
        is_packed && k > 0 && bytes <= BYTES && c.row_stride() <= c.col_stride()
    }
}

impl<T: Scalar> Kernel<T> for SmallRank<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) {
        let Self { uplo, conj, alpha, a, b, beta, mut c } = self;
        let ((rows, columns), (n, k)) = (c.shape(), a.view.shape());
        assert!(rows.max(columns) <= n, "C has no more rows and columns than the factors have rows");
        // Of two products both are accumulated before C is added to, from panels that together take no more of a
        // first-level cache.
        let depth = even(k, if b.is_some() { DEPTH / 2 } else { DEPTH }, 1);
        let width = even(n, NV * V::LANES, V::LANES);
        assert!(width.is_multiple_of(ROWS), "the rows of a panel are cut into rows of register tiles");
        let height = even(n, block_bytes() / (depth * size_of::<T>()), width);
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
                let out = Out {
                    minus_alpha,
                    beta: if p == 0 { beta } else { T::ONE },
                    wanted: Wanted { triangle: Some(uplo), offset: i as isize },
                    c: c.rb_mut().submatrix(i..rows.min(i + height), 0..columns),
                };
                let factors = (left.from(i), right.unwrap_or(left));
                let others = right.map(|right| (right.from(i), left));
                let (depth, ahead) = (cols.len(), Ahead::NOTHING);
                // SAFETY: the panels on the left are those from row i on, those on the right of all rows, and C has no
                // more rows and columns than that. The width of all is a multiple of ROWS.
                unsafe {
                    if T::COMPLEX && conj {
                        V::call(isa, Block::<_, ROWS, true> { depth, width, factors, others, ahead, out });
                    } else {
                        V::call(isa, Block::<_, ROWS, false> { depth, width, factors, others, ahead, out });
                    }
                }
            }
            let Some(right) = right else { continue };
            for start in (0..rows.min(columns)).step_by(V::LANES) {
                let end = start + V::LANES;
                let out = Out {
                    minus_alpha,
                    beta: if p == 0 { beta } else { T::ONE },
                    wanted: Wanted { triangle: Some(uplo), offset: 0 },
                    c: c.rb_mut().submatrix(start..rows.min(end), start..columns.min(end)),
                };
                // SAFETY: the panels are whole: they have a vector of rows from `start` on.
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

/// The square of a vector's rows on the diagonal of a rank-2k update, from this row on. There the second product is the
/// transpose of the first one, or its conjugate transpose, and need not be computed: of order 64 in c that is a fifth
/// of all there is.
///
/// # Safety
/// The panels hold `depth` steps, and a vector of rows from this one on; C has no more rows and columns than that.
#[inline(always)]
unsafe fn square<T, V, const ROWS: usize, const CONJ: bool>(
    isa: V::Isa,
    depth: usize,
    row: usize,
    (a, b): Factors<T::Real>,
    out: Out<'_, T>,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    assert!(V::LANES * V::LANES * planes::<T>() <= SQUARE_REALS);
    assert!(V::LANES.is_multiple_of(ROWS), "a square is whole register tiles");
    let (order, step) = (V::LANES, V::LANES * planes::<T>());
    let mut spills = [const { [const { MaybeUninit::<T::Real>::uninit() }; SQUARE_REALS] }; 2];
    let [product, mirrored] = spills.each_mut().map(|spill| spill.as_mut_ptr().cast::<T::Real>());
    // SAFETY: the panels have the square's rows; there is room for its columns, each with one vector in each plane.
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

/// Panels of `width` rows, alpha times what they were.
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

/// All rows of a factor, packed into `to`, and multiplied by a number if there is one.
#[inline(always)]
fn packed<T, V>(isa: V::Isa, factor: Factor<'_, T>, by: Option<T>, width: usize, to: &mut [T::Real]) -> Panels<T::Real>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (rows, depth) = factor.view.shape();
    let to = &mut to[..rows.next_multiple_of(width) * depth * planes::<T>()];
    // SAFETY: there is room in `to` for panels of all rows of the factor.
    unsafe { pack::panels::<T, V>(isa, factor, width, to.as_mut_ptr()) };
    if let Some(by) = by {
        scale::<T>(by, width, to);
    }
    Panels::packed::<T>(to.as_ptr(), width, depth)
}
