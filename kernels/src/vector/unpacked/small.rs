//! Products so small that to pack their factors would take longer than to compute them.
//!
//! Register tiles run over the factors where they lie: their vectors are rows of A, which are adjacent, times single
//! elements of B. Complex numbers stay pairs: a b is a re(b) + i a im(b), of which the two sums are kept apart, and i x
//! exchanges the parts of x, with a sign, once for all.

use crate::simd::Vector;
use crate::vector::dispatch::Kernel;
use crate::vector::packing::Factor;
use crate::vector::planes::planes;
use crate::vector::tiles::micro::{with_vectors, zero};
use crate::vector::workspace::Workspace;
use crate::{MatMut, MatRef, Real, Scalar};
use std::marker::PhantomData;

/// Up to this m n k a product is small. (One core of an EPYC, 2026-11-27: dgemm of order 4, 16, 32, 64 takes 0.50,
/// 0.61, 0.85, 0.97 of the time of what it replaced: loops up to order 8, packed factors beyond.)
pub(crate) const SMALL: usize = 64 * 64 * 64;
/// Up to so many elements A is read where it lies: then it stays in a first-level cache.
const READ: usize = 4096;
/// Up to so many elements A is copied, if its rows are not adjacent.
const COPIED: usize = 1024;

/// C = alpha A B + beta C, straight from where the factors lie: the operands in memory, each with its distances between
/// rows and between columns.
pub struct Small<'a, T> {
    shape: (usize, usize),
    depth: usize,
    alpha: T,
    a: (*const T, usize, usize),
    b: (*const T, usize, usize),
    /// Whether the sums are conjugated, and the elements of B. A conjugated A is read as it is: A B is
    /// conj(conj(A) conj(B)).
    conj: (bool, bool),
    /// If it is zero C is not read.
    beta: T,
    /// Rows are adjacent.
    c: (*mut T, usize),
    operands: PhantomData<(MatRef<'a, T>, MatMut<'a, T>)>,
}

impl<'a, T: Scalar> Small<'a, T> {
    /// The product as a small one, if it is one, C lies in memory column by column or row by row, and none of the
    /// factors has a triangle only.
    #[inline(always)]
    pub fn of(alpha: T, a: &Factor<'a, T>, b: &Factor<'a, T>, beta: T, c: &'a mut MatMut<'_, T>) -> Option<Self> {
        let ((m, n), depth) = (c.shape(), a.view.ncols());
        let agree = a.view.nrows() == m && b.view.shape() == (depth, n);
        assert!(agree, "a small product: A {:?} B {:?} C {m} x {n}", a.view.shape(), b.view.shape());
        if m * n * depth > SMALL || a.mirror.is_some() || b.mirror.is_some() {
            return None;
        }
        let place = |view: MatRef<'a, T>| (view.as_ptr(), view.row_stride(), view.col_stride());
        let transposed = |(at, rows, columns)| (at, columns, rows);
        let (rows, columns) = (c.row_stride(), c.col_stride());
        let is_by_columns = rows == 1 || m == 1;
        if !is_by_columns && columns != 1 && n != 1 {
            return None;
        }
        let (shape, a, b, conj, distance) = match is_by_columns {
            true => ((m, n), place(a.view), place(b.view), (a.conj, b.conj), columns),
            false => ((n, m), transposed(place(b.view)), transposed(place(a.view)), (b.conj, a.conj), rows),
        };
        let is_copied = a.1 != 1 && shape.0 != 1;
        if shape.0 * depth > if is_copied { COPIED } else { READ } {
            return None;
        }
        let (conj, c) = ((conj.0, conj.0 != conj.1), (c.as_mut_ptr(), distance));
        Some(Self { shape, depth, alpha, a, b, conj, beta, c, operands: PhantomData })
    }
}

impl<T: Scalar> Kernel<T> for &Small<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) {
        const FOUR: usize = 4;
        const ONE: usize = 1;
        let ((m, n), mut scratch, mut a) = (self.shape, None, (self.a.0, self.a.2));
        if self.a.1 != 1 && m != 1 {
            let copy = scratch.insert(Workspace::<T>::take(m * self.depth)).elements();
            for (p, column) in copy.chunks_exact_mut(m).enumerate() {
                for (i, x) in column.iter_mut().enumerate() {
                    // SAFETY: an element of A.
                    *x = unsafe { *self.a.0.add(i * self.a.1 + p * self.a.2) };
                }
            }
            a = (copy.as_ptr(), m);
        }
        let (reals, width) = (m * planes::<T>(), 3 * V::LANES);
        for i in (0..reals).step_by(width) {
            let rest = width.min(reals - i);
            let vectors = rest.div_ceil(V::LANES);
            let mut j = 0;
            // SAFETY: these are rows and columns of the operands, whose shapes `of` compared. A is where it lies with
            // adjacent rows, or the copy.
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

/// The tile of C at these reals of its columns, of which there are so many, and at column j. A has adjacent rows, and
/// columns at a distance.
///
/// # Safety
/// The operands have these elements.
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
    let (step_a, step_b, across) = (step_a * planes::<T>(), product.b.1, product.b.2);
    // SAFETY: rows and columns of the operands; no lane beyond `last` of the last vector is touched.
    unsafe {
        let mut acc = zero::<T, V, NV, COLUMNS>(isa);
        let (mut a, mut b) = (a.cast::<T::Real>().add(i), product.b.0.add(j * across));
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
                match v + 1 < NV {
                    true => new.store(c.add(v * V::LANES)),
                    false => new.store_lanes(c.add(v * V::LANES), 0, last),
                }
            }
        }
    }
}

/// Vector v of NV that are one behind the other, of which the last one has lanes up to `last`.
///
/// # Safety
/// They are there.
#[inline(always)]
unsafe fn load<V: Vector, const NV: usize>(isa: V::Isa, from: *const V::Real, v: usize, last: usize) -> V {
    // SAFETY: vector v begins v LANES behind the first; all of its lanes are there, but of the last vector only so
    // many.
    unsafe {
        let from = from.add(v * V::LANES);
        if v + 1 < NV { V::load(isa, from) } else { V::load_lanes(isa, from, 0, last) }
    }
}

/// -1 and 1 in turn.
#[inline(always)]
fn signs<V: Vector<Real: Real>>(isa: V::Isa) -> V {
    let pairs = [[-V::Real::ONE, V::Real::ONE]; 8];
    assert!(V::LANES <= 16);
    // SAFETY: the pairs are sixteen reals, and no vector has more lanes.
    unsafe { V::load(isa, pairs.as_ptr().cast()) }
}

/// x + i y, or its conjugate.
#[inline(always)]
fn total<T: Scalar, V: Vector<Real = T::Real>>([x, y]: [V; 2], conj: bool) -> V {
    let isa = x.isa();
    if !T::COMPLEX {
        return x;
    }
    let sum = x.mul_add(y.swap_pairs(), signs(isa));
    if conj { sum.mul(signs::<V>(isa).mul(V::splat(isa, -T::Real::ONE))) } else { sum }
}

/// by x. A real number times an infinite part must not make NaN of the other part, as 0 * Inf in a complex product
/// does.
#[inline(always)]
fn times<T: Scalar, V: Vector<Real = T::Real>>(by: T, x: V) -> V {
    let isa = x.isa();
    let real = x.mul(V::splat(isa, by.re()));
    match by.im() == T::Real::ZERO {
        true => real,
        false => real.mul_add(x.swap_pairs().mul(V::splat(isa, by.im())), signs(isa)),
    }
}
