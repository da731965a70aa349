//! A triangular matrix of moderate order, applied to many columns in packed form: A X = B solved for X, or A B multiplied.
//!
//! The triangle is packed once: for each block of ROWS rows the part that meets the other rows, then the small triangle on
//! the diagonal, for a solve with reciprocals in place of its diagonal. The columns of B go by in panels of
//! three vectors, each packed, transformed block by block in registers, and written back. All but the small triangles is the
//! loop of the product, so the rate comes close to the product's. What the other triangle would hold is never multiplied
//! by, not even as zeros: zero times Inf would spoil what is right.
//!
//! A solve takes the blocks in the order in which their unknowns are found, a product in the opposite one, so that each still
//! finds the old contents of those that it depends on.
//!
//! Multiplying by a reciprocal instead of dividing costs at most one more rounding per unknown, and saves a division per
//! element, which takes as long as thirty multiply-adds. Where a reciprocal would overflow, the textbook loop is used.

use super::micro::{
    Stream, eliminate, load_tile, multiply_triangle, negate, planes, store_tile, substitute, with_vectors,
};
use super::pack;
use super::trsm::by_division;
use super::workspace::Workspace;
use crate::backend::Factor;
use crate::simd::{Kernel, Vector};
use crate::{Diag, MatMut, Scalar, Uplo};

/// Vectors along a full panel of right-hand sides.
const NV: usize = 3;

/// What is done with a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// X of A X = B over B.
    Solve,
    /// A B over B.
    Multiply,
}

/// A solve or a product with A, triangular of the order of B's rows and possibly conjugated; the result over B.
pub struct Triangular<'a, T> {
    pub action: Action,
    pub uplo: Uplo,
    pub a: Factor<'a, T>,
    pub diag: Diag,
    pub b: MatMut<'a, T>,
}

impl<T: Scalar> Triangular<'_, T> {
    /// Does it.
    pub fn run(self) {
        let overflows = |i| {
            let pivot = self.a.view.at(i, i);
            pivot != T::ZERO && !(reciprocal(pivot).abs() * T::Real::ZERO == T::Real::ZERO) && !pivot.is_nan()
        };
        let divides = self.action == Action::Solve && self.diag == Diag::NonUnit;
        if divides && (0..self.b.nrows()).any(overflows) {
            return by_division(self.uplo, self.a, self.diag, self.b);
        }
        T::triangular(self);
    }

    /// The rows other than its own that block `start` depends on: those before it, or those after it.
    #[inline(always)]
    fn found(&self, start: usize, rows: usize) -> std::ops::Range<usize> {
        match self.uplo {
            Uplo::Lower => 0..start,
            Uplo::Upper => (start + rows).min(self.b.nrows())..self.b.nrows(),
        }
    }
}

/// 1 / x, without overflow on the way.
pub(super) fn reciprocal<T: Scalar>(x: T) -> T {
    if !T::COMPLEX {
        return T::ONE / x;
    }
    let abs = |r: T::Real| if r < T::Real::ZERO { -r } else { r };
    let (re, im) = (x.re(), x.im());
    let largest = if abs(re) > abs(im) { abs(re) } else { abs(im) };
    let (re, im) = (re / largest, im / largest);
    let norm = re * re + im * im;
    T::from_parts(re / norm / largest, -im / norm / largest)
}

impl<T: Scalar> Kernel<T> for Triangular<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector<Real = T::Real>, const ROWS: usize>(mut self) {
        let ((n, sides), unit, width) = (self.b.shape(), planes::<T>(), NV * V::LANES);
        let blocks = n.div_ceil(ROWS);
        let triangle_len = blocks * (n + ROWS) * ROWS * unit;
        let mut scratch = Workspace::take(triangle_len + blocks * ROWS * width * unit);
        let (triangle, x) = scratch.elements().split_at_mut(triangle_len);
        // SAFETY: the workspace has room for the packed triangle and for one panel.
        unsafe { pack_triangle::<T, V, ROWS>(&self, triangle) };
        for first in (0..sides).step_by(width) {
            let last = sides.min(first + width);
            let vectors = (last - first).div_ceil(V::LANES);
            let lanes = vectors * V::LANES;
            let b = self.b.as_ref().transpose().submatrix(first..last, 0..n);
            x[n * lanes * unit..blocks * ROWS * lanes * unit].fill(T::Real::ZERO);
            // SAFETY: as above.
            unsafe {
                pack::panel::<T, V>(Factor::plain(b), lanes, x.as_mut_ptr());
                with_vectors!(vectors, apply_panel::<T, V, _, ROWS>(&self, triangle.as_ptr(), x.as_mut_ptr()));
                let b = self.b.rb_mut().transpose().submatrix(first..last, 0..n);
                pack::unpack::<T, V>(x.as_ptr(), lanes, b);
            }
        }
    }
}

/// Packs the rows of A that each block needs: block s at `s * (n + ROWS) * ROWS * planes`.
///
/// # Safety
/// As for [`Vector`]; `to` has room.
#[inline(always)]
unsafe fn pack_triangle<T, V, const ROWS: usize>(system: &Triangular<'_, T>, to: &mut [T::Real])
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (n, unit) = (system.b.nrows(), planes::<T>());
    for (start, block) in (0..n).step_by(ROWS).zip(to.chunks_exact_mut((n + ROWS) * ROWS * unit)) {
        let rows = ROWS.min(n - start);
        let found = system.found(start, ROWS);
        let depth = found.len();
        // SAFETY: the block has room for n + ROWS columns, of which depth <= n are packed here.
        unsafe { pack::panel::<T, V>(system.a.part(start..start + rows, found), ROWS, block.as_mut_ptr()) };
        let small = &mut block[depth * ROWS * unit..(depth + ROWS) * ROWS * unit];
        small.fill(T::Real::ZERO);
        for q in 0..rows {
            for r in 0..rows {
                let wanted = if system.uplo == Uplo::Lower { r >= q } else { r <= q };
                if !wanted {
                    continue;
                }
                let value = match (r == q, system.diag) {
                    (true, Diag::Unit) => T::ONE,
                    (true, Diag::NonUnit) if system.action == Action::Solve => {
                        reciprocal(system.a.view.at(start + r, start + r))
                    }
                    _ => system.a.view.at(start + r, start + q),
                };
                let value = if system.a.conj { value.conj() } else { value };
                small[q * ROWS * unit + r] = value.re();
                if T::COMPLEX {
                    small[q * ROWS * unit + ROWS + r] = value.im();
                }
            }
        }
    }
}

/// Applies it to one packed panel of columns of B.
///
/// # Safety
/// As for [`Vector`]; the triangle is packed by [`pack_triangle`], and `x` holds NV vectors per row and plane, for the
/// rows of the system and as many more as fill the last block.
#[inline(always)]
unsafe fn apply_panel<T, V, const NV: usize, const ROWS: usize>(
    system: &Triangular<'_, T>,
    triangle: *const T::Real,
    x: *mut T::Real,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (n, unit) = (system.b.nrows(), planes::<T>());
    let (plane, step) = (NV * V::LANES, NV * V::LANES * unit);
    let blocks = n.div_ceil(ROWS);
    for count in 0..blocks {
        let downwards = (system.uplo == Uplo::Lower) == (system.action == Action::Solve);
        let at = if downwards { count } else { blocks - 1 - count };
        let found = system.found(at * ROWS, ROWS);
        // SAFETY: the caller's promises; rows `found` and rows of this block are different rows of x.
        unsafe {
            let block = triangle.add(at * (n + ROWS) * ROWS * unit);
            let here = x.add(at * ROWS * step);
            let mut acc = load_tile::<T, V, NV, ROWS>(Stream { ptr: here, step, plane });
            let known = Stream { ptr: x.add(found.start * step).cast_const(), step, plane };
            let rows = Stream { ptr: block, step: ROWS * unit, plane: ROWS };
            let small = block.add(found.len() * ROWS * unit);
            match system.action {
                Action::Solve => {
                    eliminate::<T, V, NV, ROWS>(&mut acc, found.len(), known, rows, false);
                    substitute::<T, V, NV, ROWS>(&mut acc, small, system.uplo);
                }
                Action::Multiply => {
                    // Minus the product, because that is what the loop of the product accumulates.
                    multiply_triangle::<T, V, NV, ROWS>(&mut acc, small, system.uplo);
                    eliminate::<T, V, NV, ROWS>(&mut acc, found.len(), known, rows, false);
                    negate::<T, V, NV, ROWS>(&mut acc);
                }
            }
            store_tile::<T, V, NV, ROWS>(&acc, here, step, plane);
        }
    }
}
