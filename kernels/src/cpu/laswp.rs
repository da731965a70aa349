//! laswp: interchanges of rows.

use crate::{Direction, MatMut, Scalar};

/// Columns that are exchanged together where rows are adjacent in memory: both pieces stay in the first-level cache.
const STRIP: usize = 256;

/// Exchanges row `first + i` and row `ipiv[i] - 1` of A, for every i in turn ([`Direction::Forward`]), or from the last to the
/// first, which undoes it. LAPACK's `k1` is `first + 1`.
///
/// # Panics
/// When an index is not in 1 ..= m, or there are more than m - `first`.
///
/// # Example
/// ```
/// use superscalar_kernels::{Direction, MatMut, cpu};
///
/// let mut a = [1, 2, 3].map(f64::from);
/// cpu::laswp(MatMut::from_col_major(&mut a, 3, 1, 3)?, 0, &[3, 3], Direction::Forward);
/// assert_eq!(a, [3.0, 1.0, 2.0]);
/// # Ok::<(), superscalar_kernels::ViewError>(())
/// ```
pub fn laswp<T: Scalar>(mut a: MatMut<'_, T>, first: usize, ipiv: &[i32], direction: Direction) {
    let (m, n) = a.shape();
    let inside = |&p: &i32| p >= 1 && p as usize <= m;
    assert!(first + ipiv.len() <= m && ipiv.iter().all(inside), "laswp: an interchange outside of {m} rows");
    let pair = |i: usize| (first + i, ipiv[i] as usize - 1);
    if a.row_stride() <= a.col_stride() {
        for j in 0..n {
            match direction {
                Direction::Forward => exchange(a.rb_mut().col(j), (0..ipiv.len()).map(pair)),
                Direction::Backward => exchange(a.rb_mut().col(j), (0..ipiv.len()).rev().map(pair)),
            }
        }
        return;
    }
    let mut a = a.transpose();
    for first in (0..n).step_by(STRIP) {
        let mut strip = a.rb_mut().submatrix(first..n.min(first + STRIP), 0..m);
        for count in 0..ipiv.len() {
            let (i, p) = pair(if direction == Direction::Forward { count } else { ipiv.len() - 1 - count });
            if i != p {
                let (before, after) = strip.rb_mut().split_at_col(i.max(p));
                exchange_columns(before.col(i.min(p)), after.col(0));
            }
        }
    }
}

/// All interchanges of one column.
fn exchange<T: Scalar>(mut column: MatMut<'_, T>, pairs: impl Iterator<Item = (usize, usize)>) {
    match column.col_as_slice_mut(0) {
        Some(x) => pairs.for_each(|(i, p)| x.swap(i, p)),
        None => pairs.for_each(|(i, p)| {
            let x = column[(i, 0)];
            column[(i, 0)] = column[(p, 0)];
            column[(p, 0)] = x;
        }),
    }
}

/// Exchanges two columns.
fn exchange_columns<T: Scalar>(mut x: MatMut<'_, T>, mut y: MatMut<'_, T>) {
    match (x.col_as_slice_mut(0), y.col_as_slice_mut(0)) {
        (Some(x), Some(y)) => x.swap_with_slice(y),
        _ => (0..x.nrows()).for_each(|i| std::mem::swap(&mut x[(i, 0)], &mut y[(i, 0)])),
    }
}
