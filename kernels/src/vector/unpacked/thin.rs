//! Products with a few columns. Each element of A is used only a few times, so the time is that of reading A once in
//! memory order; packing it would triple the memory traffic.

use crate::scalar::scaled;
use crate::simd::Vector;
use crate::vector::dispatch::Kernel;
use crate::vector::packing::Factor;
use crate::vector::workspace::Workspace;
use crate::{MatMut, MatRef, Scalar};

/// A product is thin if it has at most this many columns.
pub(crate) const COLUMNS: usize = 4;
/// Columns of A that are added to the sums in one pass.
const COLUMNS_PER_PASS: usize = 4;
/// Rows of A per pass, so that their sums stay in the first-level cache.
const ROWS_PER_PASS: usize = 1024;

/// C = alpha A B + beta C, where C has at most [`COLUMNS`] columns.
pub struct Thin<'a, T> {
    alpha: T,
    a: Factor<'a, T>,
    b: Factor<'a, T>,
    beta: T,
    c: MatMut<'a, T>,
}

impl<'a, T: Scalar> Thin<'a, T> {
    /// Returns the product as a thin one if it or its transpose is thin and A has adjacent rows or columns, and C
    /// otherwise.
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
        let mut scratch = Workspace::<T>::take(k + ROWS_PER_PASS.min(m));
        let (coefficients, sums) = scratch.elements().split_at_mut(k);
        let conj_if = |conj: bool, x: T| if conj { x.conj() } else { x };
        for j in 0..n {
            // For a conjugated A, A B is conj(conj(A) conj(B)): only the few numbers of B and of the sums are
            // conjugated.
            for (p, x) in coefficients.iter_mut().enumerate() {
                *x = conj_if(self.a.conj != self.b.conj, self.b.view.at(p, j));
            }
            for first in (0..m).step_by(ROWS_PER_PASS) {
                let rows = first..m.min(first + ROWS_PER_PASS);
                let sums = &mut sums[..rows.len()];
                let a = self.a.view.submatrix(rows.clone(), 0..k);
                if a.row_stride() == 1 {
                    by_columns(a, coefficients, sums)
                } else {
                    by_rows(a, coefficients, sums)
                }
                for (i, &sum) in rows.zip(sums.iter()) {
                    let new = self.alpha * conj_if(self.a.conj, sum);
                    let c = &mut self.c[(i, j)];
                    *c = if self.beta == T::ZERO { new } else { scaled(self.beta, *c) + new };
                }
            }
        }
    }
}

/// Computes sums = A x, where the rows of A are adjacent in memory.
#[inline(always)]
fn by_columns<T: Scalar>(a: MatRef<'_, T>, x: &[T], sums: &mut [T]) {
    sums.fill(T::ZERO);
    let column =
        |p: usize| a.col_as_slice(p).unwrap_or_else(|| unreachable!("the caller checked that rows are adjacent"));
    let whole = x.len() - x.len() % COLUMNS_PER_PASS;
    for p in (0..whole).step_by(COLUMNS_PER_PASS) {
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

/// Computes sums = A x, where the columns of A are adjacent in memory.
#[inline(always)]
fn by_rows<T: Scalar>(a: MatRef<'_, T>, x: &[T], sums: &mut [T]) {
    /// Partial sums, so that an addition does not wait for the preceding one.
    const PARTIAL_SUMS: usize = 16;
    let a = a.transpose();
    for (i, sum) in sums.iter_mut().enumerate() {
        let row = a.col_as_slice(i).unwrap_or_else(|| unreachable!("the caller checked that columns are adjacent"));
        let mut parts = [T::ZERO; PARTIAL_SUMS];
        let (rows, xs) = (row.chunks_exact(PARTIAL_SUMS), x.chunks_exact(PARTIAL_SUMS));
        let rest: T = rows.remainder().iter().zip(xs.remainder()).map(|(&a, &x)| a * x).sum();
        for (a, x) in rows.zip(xs) {
            for at in 0..PARTIAL_SUMS {
                parts[at] += a[at] * x[at];
            }
        }
        *sum = parts.into_iter().sum::<T>() + rest;
    }
}
