//! laswp: interchanges of rows.
//!
//! Many interchanges of few rows make a permutation, which is found first: one after the other in memory they would
//! wait for each other, because a row that was just written is read again.

use crate::vector::{Workspace, exchange_pieces};
use crate::{Direction, MatMut, Scalar};

/// Columns that are exchanged together where rows are adjacent in memory: both pieces stay in the first-level cache.
const STRIP: usize = 256;
/// The same where columns are: a row is looked up once for all of them.
const BESIDE: usize = 4;
/// From so many columns on a permutation is worth finding, if nearly all rows are interchanged: where it moves twice as
/// many rows as there are interchanges, one by one takes no longer. (One core of a Xeon, 2026-11-25: 448 interchanges
/// of as many rows in 64 columns of doubles took 80 µs one by one and 49 as a permutation; 256 of 512 rows 1.05 times
/// as long as a permutation.)
const PERMUTED_COLUMNS: usize = 8;

/// Exchanges row `first + i` and row `ipiv[i] - 1` of A, for every i in turn ([`Direction::Forward`]), or from the last
/// to the first, which undoes it. LAPACK's `k1` is `first + 1`.
///
/// # Panics
/// When an index is not in 1 ..= m, or there are more than m - `first`.
///
/// # Example
/// ```
/// use superscalar::kernels::{Direction, MatMut, cpu};
///
/// let mut a = [1, 2, 3].map(f64::from);
/// cpu::laswp(MatMut::from_col_major(&mut a, 3, 1, 3)?, 0, &[3, 3], Direction::Forward);
/// assert_eq!(a, [3.0, 1.0, 2.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn laswp<T: Scalar>(a: MatMut<'_, T>, first: usize, ipiv: &[i32], direction: Direction) {
    let m = a.nrows();
    let inside = |&p: &i32| p >= 1 && p as usize <= m;
    assert!(first + ipiv.len() <= m && ipiv.iter().all(inside), "laswp: an interchange outside of {m} rows");
    let pairs = (first..first + ipiv.len()).zip(ipiv).map(|(i, &p)| (i, p as usize - 1));
    let nearly_all = 4 * (m - first) <= 5 * ipiv.len();
    // SAFETY: all of them are rows of A.
    unsafe {
        match direction {
            Direction::Forward => exchange(a, pairs, nearly_all),
            Direction::Backward => exchange(a, pairs.rev(), nearly_all),
        }
    }
}

/// Exchanges the rows of each pair in turn, which are nearly all those in question or not.
///
/// # Safety
/// They are rows of A.
unsafe fn exchange<T: Scalar>(a: MatMut<'_, T>, pairs: impl Iterator<Item = (usize, usize)> + Clone, nearly_all: bool) {
    let (m, n) = a.shape();
    if a.row_stride() > a.col_stride() {
        let mut a = a.transpose();
        for first in (0..n).step_by(STRIP) {
            let mut strip = a.rb_mut().submatrix(first..n.min(first + STRIP), 0..m);
            for (i, p) in pairs.clone().filter(|(i, p)| i != p) {
                let (before, after) = strip.rb_mut().split_at_col(i.max(p));
                exchange_columns(before.col(i.min(p)), after.col(0));
            }
        }
        return;
    }
    let (mut together, mut rest) = a.split_at_col(n - n % BESIDE);
    if n >= PERMUTED_COLUMNS && nearly_all && u32::try_from(m).is_ok() {
        permute(together, pairs.clone());
    } else {
        for j in (0..together.ncols()).step_by(BESIDE) {
            // SAFETY: all pairs are rows of A; these are so many columns of it.
            unsafe { exchange_elements::<T, BESIDE>(together.rb_mut().submatrix(0..m, j..j + BESIDE), pairs.clone()) };
        }
    }
    for j in 0..rest.ncols() {
        // SAFETY: all pairs are rows of A; this is one column of it.
        unsafe { exchange_elements::<T, 1>(rest.rb_mut().col(j), pairs.clone()) };
    }
}

/// The same of a matrix with COLUMNS columns, element by element.
///
/// # Safety
/// As for [`exchange`]; A has so many columns.
unsafe fn exchange_elements<T: Scalar, const COLUMNS: usize>(
    mut a: MatMut<'_, T>,
    pairs: impl Iterator<Item = (usize, usize)>,
) {
    debug_assert_eq!(a.ncols(), COLUMNS);
    let (rs, cs, at) = (a.row_stride(), a.col_stride(), a.as_mut_ptr());
    for (i, p) in pairs {
        // SAFETY: rows and columns of A.
        unsafe { exchange_pieces::<T, COLUMNS>(at.wrapping_add(i * rs), at.wrapping_add(p * rs), cs) };
    }
}

/// The interchanges of a matrix whose number of columns is a multiple of [`BESIDE`], by way of the permutation that
/// they make.
fn permute<T: Scalar>(mut a: MatMut<'_, T>, pairs: impl Iterator<Item = (usize, usize)>) {
    let ((m, n), rs, cs, at) = (a.shape(), a.row_stride(), a.col_stride(), a.as_mut_ptr());
    debug_assert!(n.is_multiple_of(BESIDE));
    let mut rows = Workspace::<u32>::take(3 * m);
    let (sources, moved) = rows.elements().split_at_mut(m);
    sources.iter_mut().zip(0..).for_each(|(source, i)| *source = i);
    pairs.for_each(|(i, p)| sources.swap(i, p));
    // Where a row goes, and where it comes from.
    let (moved, _) = moved.as_chunks_mut();
    let mut count = 0;
    for (i, &source) in (0..).zip(sources.iter()).filter(|&(i, &source)| i != source) {
        moved[count] = [i, source];
        count += 1;
    }
    let moved = &moved[..count];
    let mut kept = Workspace::take(count * BESIDE);
    let (kept, _) = kept.elements().as_chunks_mut::<BESIDE>();
    for j in (0..n).step_by(BESIDE) {
        let row = |i: u32| at.wrapping_add(i as usize * rs + j * cs);
        for (&[_, from], kept) in moved.iter().zip(kept.iter_mut()) {
            // SAFETY: the rows are those of a permutation of A's; so many columns are there.
            *kept = std::array::from_fn(|c| unsafe { *row(from).add(c * cs) });
        }
        for (&[to, _], kept) in moved.iter().zip(kept.iter()) {
            for (c, &x) in kept.iter().enumerate() {
                // SAFETY: the rows are those of a permutation of A's; so many columns are there.
                unsafe { *row(to).add(c * cs) = x };
            }
        }
    }
}

/// Exchanges two columns.
fn exchange_columns<T: Scalar>(mut x: MatMut<'_, T>, mut y: MatMut<'_, T>) {
    match (x.col_as_slice_mut(0), y.col_as_slice_mut(0)) {
        (Some(x), Some(y)) => x.swap_with_slice(y),
        _ => (0..x.nrows()).for_each(|i| std::mem::swap(&mut x[(i, 0)], &mut y[(i, 0)])),
    }
}
