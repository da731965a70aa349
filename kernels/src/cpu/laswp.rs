//! laswp: interchanges of rows.
//!
//! Many interchanges of few rows are combined into a permutation first. Made one after the other in memory they would
//! wait for each other, because each reads a row that was just written.

use crate::vector::{Workspace, exchange_pieces};
use crate::{Direction, MatMut, Scalar};

/// Columns that are exchanged together if the elements of a row are adjacent: both pieces stay in the first-level
/// cache.
const ROW_PIECE_COLUMNS: usize = 256;
/// Columns that are exchanged together if the elements of a column are adjacent: a row's address is computed once for
/// all.
const COLUMN_GROUP: usize = 4;
/// From this many columns on the permutation is worth computing, provided that nearly all rows are interchanged. A
/// permutation that moves twice as many rows as there are interchanges is no faster. Measured:
/// docs/measurements/2026-11-28-constants.md.
const PERMUTED_COLUMNS: usize = 8;

/// Exchanges row `first + i` and row `ipiv[i] - 1` of A, for every i in order ([`Direction::Forward`]), or from the
/// last to the first, which undoes it. LAPACK's `k1` is `first + 1`.
///
/// # Panics
/// If an index is not in 1 ..= m, or there are more than m - `first` interchanges.
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
    assert!(first + ipiv.len() <= m && ipiv.iter().all(inside), "laswp: an interchange is outside of {m} rows");
    let pairs = (first..first + ipiv.len()).zip(ipiv).map(|(i, &p)| (i, p as usize - 1));
    let nearly_all = 4 * (m - first) <= 5 * ipiv.len();
    // SAFETY: the assertion has checked that both rows of every pair are less than m.
    unsafe {
        match direction {
            Direction::Forward => exchange(a, pairs, nearly_all),
            Direction::Backward => exchange(a, pairs.rev(), nearly_all),
        }
    }
}

/// Exchanges the rows of each pair in order. `nearly_all` tells whether the pairs concern nearly all rows in question.
///
/// # Safety
/// Both rows of every pair are rows of A.
unsafe fn exchange<T: Scalar>(a: MatMut<'_, T>, pairs: impl Iterator<Item = (usize, usize)> + Clone, nearly_all: bool) {
    let (m, n) = a.shape();
    if a.row_stride() > a.col_stride() {
        let mut a = a.transpose();
        for first in (0..n).step_by(ROW_PIECE_COLUMNS) {
            let mut piece = a.rb_mut().submatrix(first..n.min(first + ROW_PIECE_COLUMNS), 0..m);
            for (i, p) in pairs.clone().filter(|(i, p)| i != p) {
                let (before, after) = piece.rb_mut().split_at_col(i.max(p));
                exchange_columns(before.col(i.min(p)), after.col(0));
            }
        }
        return;
    }
    let (mut grouped, mut rest) = a.split_at_col(n - n % COLUMN_GROUP);
    if n >= PERMUTED_COLUMNS && nearly_all && u32::try_from(m).is_ok() {
        permute(grouped, pairs.clone());
    } else {
        for j in (0..grouped.ncols()).step_by(COLUMN_GROUP) {
            let group = grouped.rb_mut().submatrix(0..m, j..j + COLUMN_GROUP);
            // SAFETY: by this function's contract all pairs are rows of A; the group has COLUMN_GROUP of its columns.
            unsafe { exchange_elements::<T, COLUMN_GROUP>(group, pairs.clone()) };
        }
    }
    for j in 0..rest.ncols() {
        // SAFETY: by this function's contract all pairs are rows of A; `col` is one of its columns.
        unsafe { exchange_elements::<T, 1>(rest.rb_mut().col(j), pairs.clone()) };
    }
}

/// Exchanges the rows of each pair of a matrix with COLUMNS columns, element by element.
///
/// # Safety
/// Both rows of every pair are rows of A, and A has COLUMNS columns.
unsafe fn exchange_elements<T: Scalar, const COLUMNS: usize>(
    mut a: MatMut<'_, T>,
    pairs: impl Iterator<Item = (usize, usize)>,
) {
    debug_assert_eq!(a.ncols(), COLUMNS);
    let (rs, cs, at) = (a.row_stride(), a.col_stride(), a.as_mut_ptr());
    for (i, p) in pairs {
        // SAFETY: `i` and `p` are rows of A, which is borrowed exclusively, and it has COLUMNS columns.
        unsafe { exchange_pieces::<T, COLUMNS>(at.wrapping_add(i * rs), at.wrapping_add(p * rs), cs) };
    }
}

/// Interchanges the rows of a matrix whose number of columns is a multiple of [`COLUMN_GROUP`], by the permutation that
/// the pairs make.
fn permute<T: Scalar>(mut a: MatMut<'_, T>, pairs: impl Iterator<Item = (usize, usize)>) {
    let ((m, n), rs, cs, at) = (a.shape(), a.row_stride(), a.col_stride(), a.as_mut_ptr());
    debug_assert!(n.is_multiple_of(COLUMN_GROUP));
    let mut rows = Workspace::<u32>::take(3 * m);
    let (sources, moved) = rows.elements().split_at_mut(m);
    sources.iter_mut().zip(0..).for_each(|(source, i)| *source = i);
    pairs.for_each(|(i, p)| sources.swap(i, p));
    // Each moved row as its destination and its source.
    let (moved, _) = moved.as_chunks_mut();
    let mut count = 0;
    for (i, &source) in (0..).zip(sources.iter()).filter(|&(i, &source)| i != source) {
        moved[count] = [i, source];
        count += 1;
    }
    let moved = &moved[..count];
    let mut kept = Workspace::take(count * COLUMN_GROUP);
    let (kept, _) = kept.elements().as_chunks_mut::<COLUMN_GROUP>();
    for j in (0..n).step_by(COLUMN_GROUP) {
        let row = |i: u32| at.wrapping_add(i as usize * rs + j * cs);
        for (&[_, from], kept) in moved.iter().zip(kept.iter_mut()) {
            // SAFETY: `from` is a row of A, because `sources` permutes its rows, and n is a multiple of COLUMN_GROUP.
            *kept = std::array::from_fn(|c| unsafe { *row(from).add(c * cs) });
        }
        for (&[to, _], kept) in moved.iter().zip(kept.iter()) {
            for (c, &x) in kept.iter().enumerate() {
                // SAFETY: `to` is a row of A, which is borrowed exclusively, and n is a multiple of COLUMN_GROUP.
                unsafe { *row(to).add(c * cs) = x };
            }
        }
    }
}

/// Exchanges the elements of two columns.
fn exchange_columns<T: Scalar>(mut x: MatMut<'_, T>, mut y: MatMut<'_, T>) {
    match (x.col_as_slice_mut(0), y.col_as_slice_mut(0)) {
        (Some(x), Some(y)) => x.swap_with_slice(y),
        _ => (0..x.nrows()).for_each(|i| std::mem::swap(&mut x[(i, 0)], &mut y[(i, 0)])),
    }
}
