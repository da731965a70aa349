//! Products so small that even to cut them into register tiles would take longer than to compute them.

use super::gemm::scaled;
use crate::backend::Factor;
use crate::simd::{Kernel, Vector};
use crate::{MatMut, Scalar};

/// Up to this m n k a product is small.
pub(super) const SMALL: usize = 8 * 8 * 8;
/// Rows whose sums are kept in registers.
const ROWS: usize = 8;

/// C = alpha A B + beta C, straight from where the factors lie.
pub struct Small<'a, T> {
    pub alpha: T,
    pub a: Factor<'a, T>,
    pub b: Factor<'a, T>,
    /// If it is zero C is not read.
    pub beta: T,
    pub c: MatMut<'a, T>,
}

impl<T: Scalar> Kernel<T> for Small<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector<Real = T::Real>, const WIDE: usize>(self) {
        let Self { alpha, a, b, beta, c } = self;
        // What is read eight at a time are the rows of C, if they are adjacent, or else its columns.
        let (a, b, mut c) = match c.row_stride() <= c.col_stride() {
            true => (a, b, c),
            false => (b.transpose(), a.transpose(), c.transpose()),
        };
        let ((m, n), k) = (c.shape(), a.view.ncols());
        let sign = |conj: bool, x: T| if conj { x.conj() } else { x };
        for j in 0..n {
            for first in (0..m).step_by(ROWS) {
                let rows = ROWS.min(m - first);
                let mut sums = [T::ZERO; ROWS];
                for p in 0..k {
                    // A B is conj(conj(A) conj(B)) where A is conjugated: that leaves the numbers of A as they are.
                    let x = sign(a.conj != b.conj, b.view.at(p, j));
                    let column = a.view.submatrix(first..first + rows, p..p + 1);
                    match column.col_as_slice(0).and_then(|column| column.first_chunk::<ROWS>()) {
                        Some(column) => (0..ROWS).for_each(|i| sums[i] += column[i] * x),
                        None => (0..rows).for_each(|i| sums[i] += column.at(i, 0) * x),
                    }
                }
                for (i, &sum) in sums.iter().enumerate().take(rows) {
                    let new = alpha * sign(a.conj, sum);
                    let c = &mut c[(first + i, j)];
                    *c = if beta == T::ZERO { new } else { scaled(beta, *c) + new };
                }
            }
        }
    }
}
