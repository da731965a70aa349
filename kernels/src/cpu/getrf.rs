//! getrf: the LU factorization with partial pivoting of one tile, or of a tile column.
//!
//! The algorithm is recursive on columns (Toledo, "Locality of Reference in LU Decomposition with Partial Pivoting",
//! 1997). The left half is factored, and its interchanges and its triangle are applied to the right half, which is
//! updated and factored in turn. Narrow matrices are factored by [`LuPanel`].

use super::gemm::add;
use super::laswp::laswp;
use super::trsm::trsm;
use crate::backend::backend;
use crate::scalar::division::size;
use crate::vector::{Factor, LuPanel, Workspace};
use crate::{Diag, Direction, MatMut, Op, Scalar, Side, Singular, Uplo};

/// Columns of a real panel that [`LuPanel`] factors at once.
struct PanelWidth {
    column_bytes_max: usize,
    columns: usize,
}

/// The widths of panels by the bytes of their columns. A higher panel is narrower, because the products within it fetch
/// all columns on their left. Measured: docs/measurements/2026-11-28-constants.md.
const PANEL_WIDTHS: [PanelWidth; 2] =
    [PanelWidth { column_bytes_max: 768, columns: 64 }, PanelWidth { column_bytes_max: 2048, columns: 32 }];
/// Columns of a real panel that is higher than the table's.
const HIGH_PANEL_COLUMNS: usize = 16;
/// Columns of a complex panel, which is copied.
const COMPLEX_PANEL_COLUMNS: usize = 32;

/// Factors the m x n matrix A = P L U: L, unit lower trapezoidal, and U, upper trapezoidal, overwrite A.
///
/// `ipiv` receives min(m, n) interchanges: row i was exchanged with row `ipiv[i] - 1`, in this order (see [`laswp`]).
/// The pivot of a column is its first element with the largest |re| + |im|.
///
/// # Errors
/// If a pivot is exactly zero; [`Singular`] names the first one. The factorization is complete nevertheless, but
/// solving with U would divide by zero.
///
/// # Panics
/// If the length of `ipiv` is not min(m, n), or m is larger than `i32::MAX`.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, cpu};
///
/// let (mut a, mut ipiv) = ([1.0, 2.0, 3.0, 4.0], [0; 2]);
/// cpu::getrf(MatMut::from_col_major(&mut a, 2, 2, 2)?, &mut ipiv)?;
/// assert_eq!((a, ipiv), ([2.0, 0.5, 4.0, 1.0], [2, 2]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn getrf<T: Scalar>(mut a: MatMut<'_, T>, ipiv: &mut [i32]) -> Result<(), Singular> {
    let (m, n) = a.shape();
    let k = m.min(n);
    assert_eq!(ipiv.len(), k, "getrf: the length of ipiv is not min(m, n)");
    assert!(i32::try_from(m).is_ok(), "getrf: {m} rows exceed the range of interchanges");
    if k == 0 {
        return Ok(());
    }
    let singular = factor(a.rb_mut().submatrix(0..m, 0..k), ipiv);
    if k < n {
        let (left, mut right) = a.split_at_col(k);
        laswp(right.rb_mut(), 0, ipiv, Direction::Forward);
        trsm(Side::Left, Uplo::Lower, Op::None, Diag::Unit, T::ONE, left.as_ref(), right);
    }
    singular.map_or(Ok(()), |column| Err(Singular { pivot: column + 1 }))
}

/// Up to this many rows the textbook loops are faster than a panel. Measured:
/// docs/measurements/2026-11-28-constants.md.
const TEXTBOOK_ROWS: usize = 16;

/// Returns the number of columns of a panel with m rows.
fn panel_columns<T: Scalar>(m: usize) -> usize {
    if T::COMPLEX {
        return COMPLEX_PANEL_COLUMNS;
    }
    let width = PANEL_WIDTHS.into_iter().find(|width| m * size_of::<T>() <= width.column_bytes_max);
    width.map_or(HIGH_PANEL_COLUMNS, |width| width.columns)
}

/// Factors a matrix with at least as many rows as columns, and returns the first column whose pivot is zero.
fn factor<T: Scalar>(mut a: MatMut<'_, T>, ipiv: &mut [i32]) -> Option<usize> {
    let (m, n) = a.shape();
    if m <= TEXTBOOK_ROWS {
        return factor_by_elements(a, ipiv);
    }
    let unit = panel_columns::<T>(m);
    if n <= unit {
        return backend::<T>().lu_panel(LuPanel { a, ipiv });
    }
    let half = (n / 2).next_multiple_of(unit.min(32));
    let (ipiv1, ipiv2) = ipiv.split_at_mut(half);
    let (mut left, mut right) = a.rb_mut().split_at_col(half);
    let singular = factor(left.rb_mut(), ipiv1);
    laswp(right.rb_mut(), 0, ipiv1, Direction::Forward);
    let (a11, mut a21) = left.split_at_row(half);
    let (mut a12, mut a22) = right.split_at_row(half);
    trsm(Side::Left, Uplo::Lower, Op::None, Diag::Unit, T::ONE, a11.as_ref(), a12.rb_mut());
    add(-T::ONE, Factor::plain(a21.as_ref()), Factor::plain(a12.as_ref()), T::ONE, a22.rb_mut());
    let singular = singular.or(factor(a22, ipiv2).map(|column| half + column));
    laswp(a21.rb_mut(), 0, ipiv2, Direction::Forward);
    ipiv2.iter_mut().for_each(|p| *p += half as i32);
    singular
}

/// Factors by the textbook loops, on a copy without gaps between its columns.
fn factor_by_elements<T: Scalar>(mut a: MatMut<'_, T>, ipiv: &mut [i32]) -> Option<usize> {
    let (m, mut scratch) = (a.nrows(), Workspace::take(a.nrows() * a.ncols()));
    let data = scratch.elements();
    let mut copy = |data: &mut [T], is_back: bool| {
        for (j, column) in data.chunks_exact_mut(m).enumerate() {
            match a.col_as_slice_mut(j) {
                Some(x) if is_back => x.copy_from_slice(column),
                Some(x) => column.copy_from_slice(x),
                None if is_back => (0..m).for_each(|i| a[(i, j)] = column[i]),
                None => (0..m).for_each(|i| column[i] = a[(i, j)]),
            }
        }
    };
    copy(data, false);
    let mut singular = None;
    for (j, pivot) in ipiv.iter_mut().enumerate() {
        let (left, right) = data.split_at_mut((j + 1) * m);
        let (before, column) = left.split_at_mut(j * m);
        let mut p = j;
        for i in j + 1..m {
            if size(column[i]) > size(column[p]) {
                p = i;
            }
        }
        *pivot = (p + 1) as i32;
        if p != j {
            before
                .chunks_exact_mut(m)
                .chain([&mut *column])
                .chain(right.chunks_exact_mut(m))
                .for_each(|x| x.swap(j, p));
        }
        let by = column[j];
        if by == T::ZERO {
            singular = singular.or(Some(j));
            continue;
        }
        let column = &mut column[j + 1..];
        column.iter_mut().for_each(|x| *x = x.quotient(by));
        for other in right.chunks_exact_mut(m) {
            let by = other[j];
            other[j + 1..].iter_mut().zip(&*column).for_each(|(x, &l)| *x -= l * by);
        }
    }
    copy(data, true);
    singular
}
