//! Products with a few columns: each element of A is used a few times only, so that reading it once, in the order in
//! which it lies in memory, is all that counts. Packing it would triple the traffic.

use crate::scalar::scaled;
use crate::simd::Vector;
use crate::vector::dispatch::Kernel;
use crate::vector::packing::Factor;
use crate::vector::workspace::Workspace;
use crate::{MatMut, MatRef, Scalar};

/// Up to so many columns a product is thin.
pub(crate) const COLUMNS: usize = 4;
/// Columns of A that go into the sums together.
const TOGETHER: usize = 4;
/// Rows of A at a time where columns are adjacent: their sums stay in the first-level cache.
const ROWS: usize = 1024;

/// C = alpha A B + beta C, where C has up to [`COLUMNS`] columns.
pub struct Thin<'a, T> {
    alpha: T,
    a: Factor<'a, T>,
    b: Factor<'a, T>,
    beta: T,
    c: MatMut<'a, T>,
}

impl<'a, T: Scalar> Thin<'a, T> {
    /// The product as a thin one, if it is one or its transpose is, and A lies in memory row by row or column by
    /// column.
    pub fn of(alpha: T, a: Factor<'a, T>, b: Factor<'a, T>, beta: T, c: MatMut<'a, T>) -> Result<Self, MatMut<'a, T>> {
        let adjacent = |view: MatRef<'_, T>| view.row_stride() == 1 || view.col_stride() == 1;
        if c.ncols() <= COLUMNS && adjacent(a.view) {
            Ok(Self { alpha, a, b, beta, c })
        } else if c.nrows() <= COLUMNS && adjacent(b.view) {
            Ok(Self { alpha, a: b.transpose(), b: a.transpose(), beta, c: c.transpose() })
        } else {
            Err(c)
        }
    }
}

impl<T: Scalar> Kernel<T> for Thin<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const WIDE: usize>(mut self, _isa: V::Isa) {
        let ((m, n), k) = (self.c.shape(), self.a.view.ncols());
        let mut scratch = Workspace::<T>::take(k + ROWS.min(m));
        let (coefficients, sums) = scratch.elements().split_at_mut(k);
        let sign = |conj: bool, x: T| if conj { x.conj() } else { x };
        for j in 0..n {
            // A B is conj(conj(A) conj(B)) where A is conjugated: only the few numbers of B and of the sums are touched
            // for it.
            for (p, x) in coefficients.iter_mut().enumerate() {
                *x = sign(self.a.conj != self.b.conj, self.b.view.at(p, j));
            }
            for first in (0..m).step_by(ROWS) {
                let rows = first..m.min(first + ROWS);
                let sums = &mut sums[..rows.len()];
                let a = self.a.view.submatrix(rows.clone(), 0..k);
                if a.row_stride() == 1 {
                    by_columns(a, coefficients, sums)
                } else {
                    by_rows(a, coefficients, sums)
                }
                for (i, &sum) in rows.zip(sums.iter()) {
                    let new = self.alpha * sign(self.a.conj, sum);
                    let c = &mut self.c[(i, j)];
                    *c = if self.beta == T::ZERO { new } else { scaled(self.beta, *c) + new };
                }
            }
        }
    }
}

/// sums = A x, A's columns being adjacent elements.
#[inline(always)]
fn by_columns<T: Scalar>(a: MatRef<'_, T>, x: &[T], sums: &mut [T]) {
    sums.fill(T::ZERO);
    let column = |p: usize| a.col_as_slice(p).unwrap_or_else(|| unreachable!("its rows are adjacent"));
    let whole = x.len() - x.len() % TOGETHER;
    for p in (0..whole).step_by(TOGETHER) {
        let columns = [column(p), column(p + 1), column(p + 2), column(p + 3)];
        let x = [x[p], x[p + 1], x[p + 2], x[p + 3]];
        let [a0, a1, a2, a3] = columns.map(|column| &column[..sums.len()]);
        for (i, sum) in sums.iter_mut().enumerate() {
            *sum += (a0[i] * x[0] + a1[i] * x[1]) + (a2[i] * x[2] + a3[i] * x[3]);
        }
    }
    for (p, &x) in x.iter().enumerate().skip(whole) {
        sums.iter_mut().zip(column(p)).for_each(|(sum, &a)| *sum += a * x);
    }
}

/// sums = A x, A's rows being adjacent elements.
#[inline(always)]
fn by_rows<T: Scalar>(a: MatRef<'_, T>, x: &[T], sums: &mut [T]) {
    /// Partial sums, so that an addition does not wait for the one before.
    const PARTS: usize = 16;
    let a = a.transpose();
    for (i, sum) in sums.iter_mut().enumerate() {
        let row = a.col_as_slice(i).unwrap_or_else(|| unreachable!("its columns are adjacent"));
        let mut parts = [T::ZERO; PARTS];
        let (rows, xs) = (row.chunks_exact(PARTS), x.chunks_exact(PARTS));
        let rest: T = rows.remainder().iter().zip(xs.remainder()).map(|(&a, &x)| a * x).sum();
        for (a, x) in rows.zip(xs) {
            for at in 0..PARTS {
                parts[at] += a[at] * x[at];
            }
        }
        *sum = parts.into_iter().sum::<T>() + rest;
    }
}
