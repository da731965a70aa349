//! Small triangular matrices: solves A X = B for X, or multiplies A B.
//!
//! The triangle is packed once: for each block of ROWS rows its off-diagonal part, then the small triangle on the
//! diagonal, whose diagonal holds reciprocals for a solve. The columns of B are taken in panels of three vectors, each
//! packed, transformed block by block in registers, and written back. Everything but the small triangles is the loop of
//! the product, so the rate comes close to the product's. Elements of the other triangle are never multiplied, not even
//! as zeros: zero times Inf would give NaN.
//!
//! A solve takes the blocks in the order of substitution. A product takes them in the opposite order, so that each
//! block reads the old contents of the others.
//!
//! Multiplying by a reciprocal adds at most one rounding per unknown and saves a division per element, which takes as
//! long as thirty multiply-adds. The caller ensures that no reciprocal overflows or loses digits.

use crate::scalar::division::reciprocal;
use crate::simd::{Part, Vector};
use crate::vector::dispatch::Kernel;
use crate::vector::packing::{Factor, pack};
use crate::vector::planes::planes;
use crate::vector::sizes::NV;
use crate::vector::tiles::micro::{self, OperandStream, eliminate, load_tile, store_tile, with_vectors_called};
use crate::vector::tiles::small_triangle::{multiply_triangle, substitute};
use crate::vector::workspace::Workspace;
use crate::{Diag, MatMut, Scalar, Uplo};

/// The operation with a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriangularAction {
    /// B := alpha op(A)⁻¹ B, or from the right.
    Solve,
    /// B := alpha op(A) B, or from the right.
    Multiply,
}

/// A solve or a product with a triangular A, possibly conjugated, whose order is the number of rows of B. alpha times
/// the result overwrites B.
pub struct TriangularKernel<'a, T> {
    pub action: TriangularAction,
    pub uplo: Uplo,
    pub a: Factor<'a, T>,
    pub diag: Diag,
    pub alpha: T,
    pub b: MatMut<'a, T>,
}

impl<T: Scalar> TriangularKernel<'_, T> {
    /// Returns the other rows that block `start` depends on: those before it, or those after it.
    #[inline(always)]
    fn rows_needed(&self, start: usize, rows: usize) -> std::ops::Range<usize> {
        match self.uplo {
            Uplo::Lower => 0..start,
            Uplo::Upper => (start + rows).min(self.b.nrows())..self.b.nrows(),
        }
    }
}

impl<T: Scalar> Kernel<T> for TriangularKernel<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(mut self, isa: V::Isa) {
        let ((n, sides), unit, width) = (self.b.shape(), planes::<T>(), NV * V::LANES);
        let blocks = n.div_ceil(ROWS);
        let triangle_len = blocks * (n + ROWS) * ROWS * unit;
        let mut scratch = Workspace::take(triangle_len + blocks * ROWS * width * unit);
        let (triangle, x) = scratch.elements().split_at_mut(triangle_len);
        pack_triangle::<T, V, ROWS>(isa, &self, triangle);
        for first in (0..sides).step_by(width) {
            let last = sides.min(first + width);
            let vectors = (last - first).div_ceil(V::LANES);
            let lanes = vectors * V::LANES;
            let b = self.b.as_ref().transpose().submatrix(first..last, 0..n);
            x[n * lanes * unit..blocks * ROWS * lanes * unit].fill(T::Real::ZERO);
            // SAFETY: x has room for one panel of `vectors` vectors, and the exclusive borrow of the scratch keeps it
            // unaliased.
            unsafe {
                pack::panel::<T, V>(isa, Factor::plain(b), lanes, x.as_mut_ptr());
                let (triangle, x) = (triangle.as_ptr(), x.as_mut_ptr());
                with_vectors_called!(vectors, V, isa, AppliedPanel::<T, _, ROWS> { system: &self, triangle, x });
                let b = self.b.rb_mut().transpose().submatrix(first..last, 0..n);
                pack::unpack::<T, V>(isa, x.cast_const(), lanes, b);
            }
        }
    }
}

/// Packs the rows of A that each block needs; block s begins at `s * (n + ROWS) * ROWS * planes`.
#[inline(always)]
fn pack_triangle<T, V, const ROWS: usize>(isa: V::Isa, system: &TriangularKernel<'_, T>, to: &mut [T::Real])
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (n, unit) = (system.b.nrows(), planes::<T>());
    for (start, block) in (0..n).step_by(ROWS).zip(to.chunks_exact_mut((n + ROWS) * ROWS * unit)) {
        let rows = ROWS.min(n - start);
        let others = system.rows_needed(start, ROWS);
        let depth = others.len();
        // SAFETY: the block has room for n + ROWS columns, and `depth` is at most n.
        unsafe { pack::panel::<T, V>(isa, system.a.part(start..start + rows, others), ROWS, block.as_mut_ptr()) };
        let small = &mut block[depth * ROWS * unit..(depth + ROWS) * ROWS * unit];
        let diagonal = |x| match (system.diag, system.action) {
            (Diag::Unit, _) => T::ONE,
            (Diag::NonUnit, TriangularAction::Solve) => reciprocal(x),
            (Diag::NonUnit, TriangularAction::Multiply) => x,
        };
        pack::small_triangle(
            system.a.part(start..start + rows, start..start + rows),
            system.uplo,
            diagonal,
            ROWS,
            small,
        );
    }
}

/// Applies a triangle, packed by [`pack_triangle`], to one packed panel of columns of B.
struct AppliedPanel<'a, T: Scalar, const NV: usize, const ROWS: usize> {
    system: &'a TriangularKernel<'a, T>,
    /// All packed blocks of the triangle.
    triangle: *const T::Real,
    /// NV vectors per row and plane, for the rows of the system rounded up to whole blocks.
    x: *mut T::Real,
}

impl<T, V, const NV: usize, const ROWS: usize> Part<V> for AppliedPanel<'_, T, NV, ROWS>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    type Output = ();

    /// # Safety
    /// `triangle` was packed by [`pack_triangle`] for this system, x has the length given at its field, and nothing
    /// else uses either of them meanwhile.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) {
        let Self { system, triangle, x } = self;
        let (n, unit) = (system.b.nrows(), planes::<T>());
        let (plane, step) = (NV * V::LANES, NV * V::LANES * unit);
        let blocks = n.div_ceil(ROWS);
        for count in 0..blocks {
            let downwards = (system.uplo == Uplo::Lower) == (system.action == TriangularAction::Solve);
            let at = if downwards { count } else { blocks - 1 - count };
            let others = system.rows_needed(at * ROWS, ROWS);
            // SAFETY: the panel has whole blocks of rows, and rows `others` are disjoint from the rows of this block.
            unsafe {
                let block = triangle.add(at * (n + ROWS) * ROWS * unit);
                let here = x.add(at * ROWS * step);
                let mut acc = load_tile::<T, V, NV, ROWS>(isa, OperandStream { ptr: here, step, plane });
                let other_rows = OperandStream { ptr: x.add(others.start * step).cast_const(), step, plane };
                let rows = OperandStream { ptr: block, step: ROWS * unit, plane: ROWS };
                let small = block.add(others.len() * ROWS * unit);
                let solves = system.action == TriangularAction::Solve;
                if !solves {
                    // The loop of the product accumulates the negated product.
                    multiply_triangle::<T, V, NV, ROWS>(&mut acc, small, system.uplo);
                } else if system.alpha != T::ONE {
                    micro::scale::<T, V, NV, ROWS>(&mut acc, system.alpha);
                }
                eliminate::<T, V, NV, ROWS>(&mut acc, others.len(), other_rows, rows, false);
                if solves {
                    substitute::<T, V, NV, ROWS>(&mut acc, small, system.uplo);
                } else {
                    micro::scale::<T, V, NV, ROWS>(&mut acc, -system.alpha);
                }
                store_tile::<T, V, NV, ROWS>(&acc, here, step, plane);
            }
        }
    }
}
