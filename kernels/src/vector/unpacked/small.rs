//! Products so small that packing their factors would take longer than computing them.
//!
//! Register tiles read the factors in place: vectors of adjacent rows of A times single elements of B. Complex numbers
//! stay pairs: a b is a re(b) + i a im(b). The two sums are kept apart, so multiplying by i (exchanging the parts and
//! changing a sign) is done once at the end.

use crate::simd::Vector;
use crate::vector::dispatch::{AVX2_BYTES, Kernel};
use crate::vector::packing::Factor;
use crate::vector::planes::planes;
use crate::vector::tiles::micro::{with_vectors, zero};
use crate::vector::workspace::Workspace;
use crate::{MatMut, MatRef, Real, Scalar};
use std::marker::PhantomData;

/// A product is small if m n k is at most this. Measured: docs/measurements/2026-11-28-constants.md.
pub(crate) const SMALL: usize = 64 * 64 * 64;
/// A is read in place if it has at most this many elements, which fit a first-level cache.
const READ_MAX: usize = 4096;
/// A is copied, if its rows are not adjacent, up to this many elements.
const COPIED_MAX: usize = 1024;

/// A factor in place.
#[derive(Clone, Copy)]
struct Strided<T> {
    ptr: *const T,
    row_stride: usize,
    column_stride: usize,
}

impl<T: Scalar> Strided<T> {
    #[inline(always)]
    fn of(view: MatRef<'_, T>) -> Self {
        Self { ptr: view.as_ptr(), row_stride: view.row_stride(), column_stride: view.col_stride() }
    }

    #[inline(always)]
    fn transpose(self) -> Self {
        Self { row_stride: self.column_stride, column_stride: self.row_stride, ..self }
    }
}

/// C = alpha A B + beta C, computed without packing.
pub struct Small<'a, T> {
    shape: (usize, usize),
    depth: usize,
    alpha: T,
    a: Strided<T>,
    b: Strided<T>,
    /// Whether the sums are conjugated, and whether the elements of B are. A conjugated A is read as it is: A B is
    /// conj(conj(A) conj(B)).
    conj: (bool, bool),
    /// If zero, C is not read.
    beta: T,
    /// The address of C, whose rows are adjacent, and the distance between its columns.
    c: (*mut T, usize),
    operands: PhantomData<(MatRef<'a, T>, MatMut<'a, T>)>,
}

impl<'a, T: Scalar> Small<'a, T> {
    /// Returns the product as a small one, or None if it is too large, C has neither adjacent rows nor adjacent
    /// columns, or one of the factors stores one triangle only.
    #[inline(always)]
    pub fn of(alpha: T, a: &Factor<'a, T>, b: &Factor<'a, T>, beta: T, c: &'a mut MatMut<'_, T>) -> Option<Self> {
        let ((m, n), depth) = (c.shape(), a.view.ncols());
        let agree = a.view.nrows() == m && b.view.shape() == (depth, n);
        assert!(agree, "shapes of a product do not agree: A {:?}, B {:?}, C {m} x {n}", a.view.shape(), b.view.shape());
        if m * n * depth > SMALL || a.mirror.is_some() || b.mirror.is_some() {
            return None;
        }
        let (of_a, of_b) = (Strided::of(a.view), Strided::of(b.view));
        let (rows, columns) = (c.row_stride(), c.col_stride());
        let is_by_columns = rows == 1 || m == 1;
        if !is_by_columns && columns != 1 && n != 1 {
            return None;
        }
        let (shape, a, b, conj, distance) = match is_by_columns {
            true => ((m, n), of_a, of_b, (a.conj, b.conj), columns),
            false => ((n, m), of_b.transpose(), of_a.transpose(), (b.conj, a.conj), rows),
        };
        let is_copied = a.row_stride != 1 && shape.0 != 1;
        if shape.0 * depth > if is_copied { COPIED_MAX } else { READ_MAX } {
            return None;
        }
        let (conj, c) = ((conj.0, conj.0 != conj.1), (c.as_mut_ptr(), distance));
        Some(Self { shape, depth, alpha, a, b, conj, beta, c, operands: PhantomData })
    }
}

impl<T: Scalar> Kernel<T> for &Small<'_, T> {
    type Output = ();

    /// A program often reads C soon, and a load from where a part of a vector was stored has to wait for the store to
    /// end. A column that fills a vector of AVX2 is stored as a whole by it.
    #[inline(always)]
    fn prefers_avx2(&self) -> bool {
        self.shape.0 * size_of::<T>() == AVX2_BYTES
    }

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) {
        const FOUR: usize = 4;
        const ONE: usize = 1;
        let ((m, n), mut scratch, mut a) = (self.shape, None, (self.a.ptr, self.a.column_stride));
        if self.a.row_stride != 1 && m != 1 {
            let copy = scratch.insert(Workspace::<T>::take(m * self.depth)).elements();
            for (p, column) in copy.chunks_exact_mut(m).enumerate() {
                for (i, x) in column.iter_mut().enumerate() {
                    // SAFETY: i and p are below the shape of A, so this is one of its elements.
                    *x = unsafe { *self.a.ptr.add(i * self.a.row_stride + p * self.a.column_stride) };
                }
            }
            a = (copy.as_ptr(), m);
        }
        let (reals, width) = (m * planes::<T>(), 3 * V::LANES);
        for i in (0..reals).step_by(width) {
            let rest = width.min(reals - i);
            let vectors = rest.div_ceil(V::LANES);
            let mut j = 0;
            // SAFETY: rows and columns are within the shapes that `of` compared; `a` is the matrix A or its copy.
            unsafe {
                while n - j >= ROWS {
                    with_vectors!(vectors, tile::<T, V, _, ROWS>(isa, self, a, (i, rest), j));
                    j += ROWS;
                }
                while ROWS > FOUR && n - j >= FOUR {
                    with_vectors!(vectors, tile::<T, V, _, FOUR>(isa, self, a, (i, rest), j));
                    j += FOUR;
                }
                while j < n {
                    with_vectors!(vectors, tile::<T, V, _, ONE>(isa, self, a, (i, rest), j));
                    j += 1;
                }
            }
        }
    }
}

/// Computes the tile of C at `reals` reals of its columns from real i on, and at columns from j on. A has adjacent
/// rows, and columns `step_a` apart.
///
/// # Safety
/// The operands have these rows and columns.
#[inline(always)]
unsafe fn tile<T, V, const NV: usize, const COLUMNS: usize>(
    isa: V::Isa,
    product: &Small<'_, T>,
    (a, step_a): (*const T, usize),
    (i, reals): (usize, usize),
    j: usize,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let last = reals - (NV - 1) * V::LANES;
    let (step_a, step_b, across) = (step_a * planes::<T>(), product.b.row_stride, product.b.column_stride);
    // SAFETY: the caller guarantees these rows and columns; lanes of the last vector beyond `last` are not accessed.
    unsafe {
        let mut acc = zero::<T, V, NV, COLUMNS>(isa);
        let (mut a, mut b) = (a.cast::<T::Real>().add(i), product.b.ptr.add(j * across));
        for _ in 0..product.depth {
            let mut x = [V::splat(isa, T::Real::ZERO); NV];
            for (v, x) in x.iter_mut().enumerate() {
                *x = load::<V, NV>(isa, a, v, last);
            }
            for (column, acc) in acc.iter_mut().enumerate() {
                let y = *b.add(column * across);
                let (re, im) = (V::splat(isa, y.re()), V::splat(isa, if product.conj.1 { -y.im() } else { y.im() }));
                for (acc, &x) in acc.iter_mut().zip(&x) {
                    acc[0] = acc[0].mul_add(x, re);
                    if T::COMPLEX {
                        acc[1] = acc[1].mul_add(x, im);
                    }
                }
            }
            (a, b) = (a.wrapping_add(step_a), b.wrapping_add(step_b));
        }
        for (column, acc) in acc.iter().enumerate() {
            let c = product.c.0.add((j + column) * product.c.1).cast::<T::Real>().add(i);
            for (v, &sum) in acc.iter().enumerate() {
                let mut new = times::<T, V>(product.alpha, total::<T, V>(sum, product.conj.0));
                if product.beta != T::ZERO {
                    new = times::<T, V>(product.beta, load::<V, NV>(isa, c, v, last))
                        .mul_add(V::splat(isa, T::Real::ONE), new);
                }
                match v + 1 < NV || last == V::LANES {
                    true => new.store(c.add(v * V::LANES)),
                    false => new.store_lanes(c.add(v * V::LANES), 0, last),
                }
            }
        }
    }
}

/// Loads vector v of NV adjacent ones, the last of which has `last` lanes.
///
/// # Safety
/// These elements are valid for reads.
#[inline(always)]
unsafe fn load<V: Vector, const NV: usize>(isa: V::Isa, from: *const V::Real, v: usize, last: usize) -> V {
    // SAFETY: vector v begins v LANES after the first; all of its lanes exist, and of the last vector `last` lanes.
    unsafe {
        let from = from.add(v * V::LANES);
        if v + 1 < NV { V::load(isa, from) } else { V::load_lanes(isa, from, 0, last) }
    }
}

/// Returns a vector of alternating -1 and 1.
#[inline(always)]
fn signs<V: Vector<Real: Real>>(isa: V::Isa) -> V {
    let pairs = [[-V::Real::ONE, V::Real::ONE]; 8];
    assert!(V::LANES <= 16);
    // SAFETY: there are sixteen reals in `pairs`, and no vector has more lanes.
    unsafe { V::load(isa, pairs.as_ptr().cast()) }
}

/// Returns x + i y, or its conjugate.
#[inline(always)]
fn total<T: Scalar, V: Vector<Real = T::Real>>([x, y]: [V; 2], conj: bool) -> V {
    let isa = x.isa();
    if !T::COMPLEX {
        return x;
    }
    let sum = x.mul_add(y.swap_pairs(), signs(isa));
    if conj { sum.mul(signs::<V>(isa).mul(V::splat(isa, -T::Real::ONE))) } else { sum }
}

/// Returns by x. For a real `by` the parts stay separate: the complex product would compute 0 * Inf = NaN.
#[inline(always)]
fn times<T: Scalar, V: Vector<Real = T::Real>>(by: T, x: V) -> V {
    let isa = x.isa();
    let real = x.mul(V::splat(isa, by.re()));
    match by.im() == T::Real::ZERO {
        true => real,
        false => real.mul_add(x.swap_pairs().mul(V::splat(isa, by.im())), signs(isa)),
    }
}
