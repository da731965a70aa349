//! The product with a symmetric or Hermitian matrix of which one triangle is stored. Each stored element is loaded once
//! and used for both triangles.

use super::Stored;
use super::blocks::columns;
use super::elementwise::cast;
use super::lanes::{accumulate, exchanged, factor, plus, total};
use crate::Scalar;
use crate::simd::{Part, Vector};
use crate::vector::planes::planes;
use std::ops::Range;

/// y += alpha A x, where A has order n, and x and y have adjacent elements.
///
/// Each pass covers several columns. Near the diagonal, where not all columns of a pass have a row, lanes are masked.
/// Vectors of y begin at the same rows in all passes, so that a load matches an earlier store of the same vector.
pub struct MultiplySymmetric<T> {
    pub n: usize,
    /// Diagonals on one side of the main one (of a band).
    pub k: usize,
    pub alpha: T,
    pub a: Stored<T>,
    pub is_lower: bool,
    pub hermitian: bool,
    /// Whether stored elements are conjugated.
    pub conj: bool,
    pub x: *const T,
    pub y: *mut T,
}

/// The values that a pass over K columns keeps in registers: the factor of each column, and the sums of its products
/// with x.
struct Pass<V, const K: usize> {
    c: [[V; 2]; K],
    sums: [[V; 2]; K],
}

impl<V, const K: usize> Pass<V, K> {
    /// Returns y with the columns added, and adds their products with x to the sums.
    #[inline(always)]
    fn add_and_dot<T>(&mut self, a: [V; K], x: V, y: V) -> V
    where
        T: Scalar,
        V: Vector<Real = T::Real>,
    {
        let mut y = y;
        let swapped = exchanged::<T, V>(x);
        for (k, &a) in a.iter().enumerate() {
            y = plus::<T, V>(y, a, self.c[k]);
            self.sums[k] = accumulate::<T, V>(self.sums[k], a, x, swapped);
        }
        y
    }
}

impl<T: Scalar> MultiplySymmetric<T> {
    /// Returns the off-diagonal rows that are stored in column j.
    #[inline(always)]
    fn rows(&self, j: usize) -> Range<usize> {
        match self.is_lower {
            true => j + 1..self.n.min(j + 1 + self.k),
            false => j - j.min(self.k)..j,
        }
    }

    /// Computes with columns j .. j + K. For K > 1 the triangle must be full, not a band.
    ///
    /// # Safety
    /// The matrix has these columns.
    #[inline(always)]
    unsafe fn step<V: Vector<Real = T::Real>, const K: usize>(&self, isa: V::Isa, j: usize) {
        let a = cast(columns::<T, K>(self.a, j));
        let (x, y) = (self.x.cast::<T::Real>(), self.y.cast::<T::Real>());
        let (first, last) = (self.rows(j), self.rows(j + K - 1));
        // The rows of any of these columns, and those that all of them have, in reals.
        let reals = |i: usize| i * planes::<T>();
        let (start, end) = (reals(first.start), reals(last.end));
        let (whole, whole_end) = (reals(last.start), reals(first.end));
        // SAFETY: loads and stores of x and y begin at a multiple of the lanes and stay within the first n elements;
        // those of a column stay within its rows.
        unsafe {
            let zero = V::splat(isa, T::Real::ZERO);
            let mut pass = Pass { c: [[zero; 2]; K], sums: [[zero; 2]; K] };
            for k in 0..K {
                pass.c[k] = factor::<T, V>(isa, self.alpha * *self.x.add(j + k), self.conj);
            }
            let (mut i, mut of_a) = (start - start % V::LANES, [zero; K]);
            while i < end {
                let lanes = V::LANES.min(end - i);
                if i >= whole && i + V::LANES <= whole_end {
                    for k in 0..K {
                        of_a[k] = V::load(isa, a[k].wrapping_add(i));
                    }
                    pass.add_and_dot::<T>(of_a, V::load(isa, x.add(i)), V::load(isa, y.add(i))).store(y.add(i));
                } else if i >= whole && end == whole_end {
                    for k in 0..K {
                        of_a[k] = V::load_lanes(isa, a[k].wrapping_add(i), 0, lanes);
                    }
                    let (of_x, of_y) = (V::load_lanes(isa, x.add(i), 0, lanes), V::load_lanes(isa, y.add(i), 0, lanes));
                    pass.add_and_dot::<T>(of_a, of_x, of_y).store_lanes(y.add(i), 0, lanes);
                } else {
                    self.masked(&mut pass, j, i, lanes);
                }
                i += V::LANES;
            }
            for k in 0..K {
                let sum = total::<T, V>(pass.sums[k], self.conj != self.hermitian);
                *self.y.add(j + k) += self.alpha * (sum + self.diagonal(j + k) * *self.x.add(j + k));
            }
        }
    }

    /// Computes with one vector of rows, from real i on, in which each column has its own rows. The others are masked
    /// out, not multiplied by zero: an infinite element of x would give NaN.
    ///
    /// # Safety
    /// x and y have `lanes` lanes from real i on, and the matrix has columns j .. j + K.
    #[inline(always)]
    unsafe fn masked<V: Vector<Real = T::Real>, const K: usize>(
        &self,
        pass: &mut Pass<V, K>,
        j: usize,
        i: usize,
        lanes: usize,
    ) {
        let isa = pass.c[0][0].isa();
        let a = cast(columns::<T, K>(self.a, j));
        let (x, y) = (self.x.cast::<T::Real>().wrapping_add(i), self.y.cast::<T::Real>().wrapping_add(i));
        // SAFETY: the caller guarantees `lanes` lanes of x and y; only a column's own rows are loaded.
        unsafe {
            let mut to = V::load_lanes(isa, y, 0, lanes);
            for k in 0..K {
                let rows = self.rows(j + k);
                let first = (rows.start * planes::<T>()).max(i) - i;
                let end = ((rows.end * planes::<T>()).max(i) - i).min(lanes);
                let first = first.min(end);
                let (a, x) = (V::load_lanes(isa, a[k].wrapping_add(i), first, end), V::load_lanes(isa, x, first, end));
                to = to.blend(plus::<T, V>(to, a, pass.c[k]), first, end);
                pass.sums[k] = accumulate::<T, V>(pass.sums[k], a, x, exchanged::<T, V>(x));
            }
            to.store_lanes(y, 0, lanes);
        }
    }

    /// Returns element (j, j).
    ///
    /// # Safety
    /// The matrix has this element.
    #[inline(always)]
    unsafe fn diagonal(&self, j: usize) -> T {
        // SAFETY: both triangles include the diagonal.
        let a = unsafe { *self.a.at(j, j) };
        match (self.hermitian, self.conj) {
            (true, _) => T::from_real(a.re()),
            (false, true) => a.conj(),
            (false, false) => a,
        }
    }
}

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for MultiplySymmetric<T> {
    type Output = ();

    /// # Safety
    /// The addresses are valid as the head of [`loops`](super) requires.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) {
        /// Bytes of a vector register on processors with 32 of them.
        const WIDE: usize = 64;
        // A column needs a register for its factor and one for its sum; a complex type needs twice as many.
        let together = if V::LANES * size_of::<T::Real>() == WIDE && !T::COMPLEX { 8 } else { 4 };
        let n = self.n;
        let whole = if self.k + 1 >= n { n - n % together } else { 0 };
        // SAFETY: the caller guarantees the vectors and all n columns of the matrix.
        unsafe {
            for j in (0..whole).step_by(together) {
                if together == 8 {
                    self.step::<V, 8>(isa, j);
                } else {
                    self.step::<V, 4>(isa, j);
                }
            }
            for j in whole..n {
                self.step::<V, 1>(isa, j);
            }
        }
    }
}
