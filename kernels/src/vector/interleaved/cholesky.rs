//! Cholesky factorizations of small matrices, one per lane.
//!
//! Blocks of four columns are reduced by the columns before them; the block on the diagonal is factored in registers,
//! and the rows below are solved with it. One step on the diagonal is a square root beside a division, two
//! multiplications and a subtraction, for all matrices of the group at once.

use super::copy::{GroupCopy, LoadGroup, StoreGroup};
use super::form::{Form, Places, prefetch_group};
use super::multiply::{GroupProduct, ProductUpdate};
use super::number::{Number, get, minus_product, plus_square, put, sign, times, with_sign, within, zero};
use super::substitute::{BLOCK, Substitute, substitute_block};
use super::{Interleaved, Progress, lanes_left, next_group};
use crate::simd::{Part, Vector};
use crate::vector::dispatch::Kernel;
use crate::vector::planes::planes;
use crate::vector::workspace::Workspace;
use crate::{MatMut, Real, Scalar, Uplo};

/// A = L Lᴴ or Uᴴ U for square matrices of one form, with the factor over the triangle `uplo`.
pub struct InterleavedCholesky<'a, 'b, T> {
    pub uplo: Uplo,
    pub form: Form,
    pub batch: &'a mut [MatMut<'b, T>],
}

impl<T: Scalar> Kernel<T> for InterleavedCholesky<'_, '_, T> {
    type Output = Progress;

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) -> Progress {
        let Self { uplo, form, batch } = self;
        let (n, len) = (batch[0].nrows(), form.len::<T, V>());
        let mut scratch = Workspace::take(len + n * planes::<T>() * V::LANES);
        let (group, inverses) = scratch.elements().split_at_mut(len);
        let scratch = group.as_mut_ptr();
        let a = form.in_scratch::<T, V>(scratch);
        // A = Uᴴ U is Aᵀ = Uᵀ conj(U), so Uᵀ is the lower factor of the transposed matrix.
        let a = if uplo == Uplo::Upper { a.transpose() } else { a };
        let factor = GroupFactor::<T> { a, n, inverses: inverses.as_mut_ptr() };
        let mut done = 0;
        while let Some(count) = next_group::<V>(done, batch.len()) {
            let members = &batch[done..done + count];
            let places = Places::of::<T, V>(form, count, |i| members[i].as_ref());
            let part = form.triangle(uplo);
            // SAFETY: the places are those of matrices of this form, borrowed exclusively, and the scratch has room for
            // a group and a reciprocal per column.
            let left = unsafe {
                V::call(isa, LoadGroup::<T>(GroupCopy { form, part, places: &places, scratch }));
                prefetch_group::<T, V>(form, batch[done + count..].iter().map(MatMut::as_ref));
                let left = lanes_left(V::call(isa, factor));
                V::call(isa, StoreGroup::<T>(GroupCopy { form, part, places: &places, scratch }, left));
                left
            };
            let first = done;
            done += count;
            if left != 0 {
                return Progress::after(first, count, left);
            }
        }
        Progress { done, first: done, left: 0 }
    }
}

/// The factorization of a group in scratch. Returns which matrices had ordinary pivots only.
struct GroupFactor<T: Scalar> {
    a: Interleaved<T::Real>,
    n: usize,
    inverses: *mut T::Real,
}

impl<T: Scalar> Clone for GroupFactor<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Scalar> Copy for GroupFactor<T> {}

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for GroupFactor<T> {
    type Output = V;

    /// # Safety
    /// A is a group of matrices of order n in scratch, and there is room for n reciprocals.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) -> V {
        let Self { a, n, inverses } = self;
        let mut ordinary = V::splat(isa, T::Real::ONE);
        for j in (0..n).step_by(BLOCK) {
            let (width, here) = (BLOCK.min(n - j), a.from(j, j));
            let inverses = inverses.wrapping_add(j * planes::<T>() * V::LANES);
            // SAFETY: the block and the rows below it are parts of A, apart from the columns before it.
            unsafe {
                if j > 0 {
                    let rows = a.from(j, 0);
                    let product = GroupProduct::<T>::subtract(here, rows, rows.transpose(), (n - j, width), j);
                    V::call(isa, GroupProduct { conj: (false, true), update: ProductUpdate::SubtractLower, ..product });
                }
                ordinary = match width {
                    1 => block::<T, V, 1>(isa, here, inverses, ordinary),
                    2 => block::<T, V, 2>(isa, here, inverses, ordinary),
                    3 => block::<T, V, 3>(isa, here, inverses, ordinary),
                    _ => block::<T, V, BLOCK>(isa, here, inverses, ordinary),
                };
                let below = n - j - width;
                if below > 0 {
                    // The rows below are X with X Lᴴ = A, so conj(L) Xᵀ = Aᵀ.
                    let x = here.from(width, 0).transpose();
                    let part = Substitute::<T> {
                        l: here,
                        inverses: Some(inverses.cast_const()),
                        x,
                        shape: (width, below),
                        conj: true,
                    };
                    substitute_block::<T, V>(isa, &part);
                }
            }
        }
        ordinary
    }
}

/// Factors the block of R columns on the diagonal, and stores the reciprocals of its diagonal.
///
/// # Safety
/// A has R rows and columns, and there is room for R reciprocals.
#[inline(always)]
unsafe fn block<T, V, const R: usize>(
    isa: V::Isa,
    a: Interleaved<T::Real>,
    inverses: *mut T::Real,
    mut ordinary: V,
) -> V
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (one, conj) = (V::splat(isa, T::Real::ONE), sign::<T, V>(isa, true));
    let range = (T::Real::MIN_POSITIVE, T::Real::ONE / T::Real::MIN_POSITIVE);
    let mut l: [[Number<V>; R]; R] = [[zero::<T, V>(isa); R]; R];
    let mut inverse = [one; R];
    // SAFETY: rows and columns are less than R.
    unsafe {
        for r in 0..R {
            let mut squares = V::splat(isa, T::Real::ZERO);
            for c in 0..r {
                let mut x = get::<T, V>(isa, a.at(r, c));
                for p in 0..c {
                    x = minus_product::<T, V>(x, l[r][p], with_sign::<T, V>(l[c][p], conj));
                }
                l[r][c] = times::<T, V>(x, inverse[c]);
                squares = plus_square::<T, V>(squares, l[r][c]);
                put::<T, V>(l[r][c], a.at(r, c));
            }
            let pivot = V::load(isa, a.at(r, r)).sub(squares);
            ordinary = within::<T, V>(pivot, range, ordinary);
            // The root and the reciprocal do not wait for each other.
            let root = pivot.sqrt();
            inverse[r] = root.mul(one.div(pivot));
            let imaginary = V::splat(isa, T::Real::ZERO);
            put::<T, V>([root, imaginary], a.at(r, r));
            put::<T, V>([inverse[r], imaginary], inverses.add(r * planes::<T>() * V::LANES));
        }
    }
    ordinary
}
