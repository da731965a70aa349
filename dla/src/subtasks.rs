//! Splitting the work of one task into subtasks that idle workers can run.

use crate::{
    Scalar,
    plan::PART_MULTIPLICATIONS_MIN,
    tiled::{Tile, Tiled},
};
use std::ops::Range;
use superscalar_kernels::{MatMut, MatRef, Op, Part};
use superscalar_runtime::{Error, Nesting, TaskSpec};

/// Returns the number of rows in each part of m rows, where a row takes `row_multiplications` multiplications.
pub(crate) fn part_rows(nesting: Nesting<'_>, m: usize, row_multiplications: usize) -> usize {
    let worth = PART_MULTIPLICATIONS_MIN.div_ceil(row_multiplications.max(1));
    m.div_ceil(nesting.workers()).max(worth).next_multiple_of(8)
}

/// Splits A into blocks of rows and calls `part` for each, in tasks called `name`. A row takes `row_multiplications`
/// multiplications. These tasks have a higher priority than all tasks that are not parts.
///
/// # Errors
/// Returns an error only if the scope is cancelled.
pub(crate) fn split_rows<T: Scalar>(
    nesting: Nesting<'_>,
    name: &'static str,
    a: MatMut<'_, T>,
    row_multiplications: usize,
    part: impl Fn(Range<usize>, MatMut<'_, T>) + Sync,
) -> Result<(), Error> {
    let (m, n) = a.shape();
    let rows = part_rows(nesting, m, row_multiplications);
    if rows >= m || n == 0 {
        part(0..m, a);
        return Ok(());
    }
    let part = &part;
    nesting.scope(|s| {
        for (i, &block) in Tiled::new(s, a, rows, n).tiles().iter().enumerate() {
            let here = i * rows..m.min((i + 1) * rows);
            let spec = TaskSpec::new(name).priority(PART_PRIORITY);
            s.spawn(spec, block.read_write(), move |block: &mut Tile<MatMut<'_, T>>| part(here, block.view_mut()));
        }
    })
}

/// Splits A into blocks of columns and calls `part` for each, like [`split_rows`].
///
/// # Errors
/// See [`split_rows`].
pub(crate) fn split_columns<T: Scalar>(
    nesting: Nesting<'_>,
    name: &'static str,
    a: MatMut<'_, T>,
    column_multiplications: usize,
    part: impl Fn(MatMut<'_, T>) + Sync,
) -> Result<(), Error> {
    let n = a.ncols();
    let columns = part_rows(nesting, n, column_multiplications);
    if columns >= n || a.is_empty() {
        part(a);
        return Ok(());
    }
    let part = &part;
    nesting.scope(|s| {
        for block in Tiled::columns(s, a, columns).tiles() {
            let spec = TaskSpec::new(name).priority(PART_PRIORITY);
            s.spawn(spec, block.read_write(), move |block: &mut Tile<MatMut<'_, T>>| part(block.view_mut()));
        }
    })
}

/// Priority of parts, above that of panels.
pub(crate) const PART_PRIORITY: i32 = 5;

/// Returns the given rows of op(A).
pub(crate) fn rows_of_op<T: Scalar>(op: Op, a: MatRef<'_, T>, rows: Range<usize>) -> MatRef<'_, T> {
    let (m, n) = a.shape();
    if op == Op::None { a.submatrix(rows, 0..n) } else { a.submatrix(0..m, rows) }
}

/// Returns the given columns of op(A).
pub(crate) fn columns_of_op<T: Scalar>(op: Op, a: MatRef<'_, T>, columns: Range<usize>) -> MatRef<'_, T> {
    let (m, n) = a.shape();
    if op == Op::None { a.submatrix(0..m, columns) } else { a.submatrix(columns, 0..n) }
}

/// Returns the rows of column j, of m, that belong to `part`.
pub(crate) fn rows_in_part(part: Part, j: usize, m: usize) -> Range<usize> {
    match part {
        Part::All => 0..m,
        Part::Lower => j.min(m)..m,
        Part::Upper => 0..(j + 1).min(m),
    }
}

/// Copies the given part of A to B. Column 0 of A is column `first` of the whole matrix.
pub(crate) fn copy_part<T: Scalar>(part: Part, first: usize, a: MatRef<'_, T>, mut b: MatMut<'_, T>) {
    let (m, n) = a.shape();
    for j in 0..n {
        let rows = rows_in_part(part, first + j, m);
        b.rb_mut().submatrix(rows.clone(), j..j + 1).copy_from(a.submatrix(rows, j..j + 1));
    }
}
