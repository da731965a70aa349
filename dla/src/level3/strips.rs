//! Triangles of products in strips: ranges of columns of a lower triangle, or of rows of an upper one, from the
//! diagonal on.
//!
//! Each strip is one task of full depth, so a worker packs the factors once per strip, into its own cache.

use crate::{codelets::task, plan::EDGE_MULTIPLE};
use std::ops::Range;
use superscalar_kernels::{MatMut, Scalar, Uplo};
use superscalar_runtime::{Error, Runtime};

/// Extra cost of the diagonal, in rows per column: register tiles that straddle it compute elements that are discarded.
const DIAGONAL_EXTRA_ROWS: f64 = 12.0;

/// Calls `update` with each strip (a trapezoid) of the triangle C and its range of columns (lower) or rows (upper), in
/// tasks called `name`. If `count` is at most one, calls it with all of C, without a task.
///
/// # Errors
/// Returns an error only if the scope is cancelled.
pub(super) fn in_strips<T: Scalar>(
    rt: &Runtime,
    name: &'static str,
    uplo: Uplo,
    count: usize,
    c: MatMut<'_, T>,
    update: impl Fn(Range<usize>, MatMut<'_, T>) + Sync,
) -> Result<(), Error> {
    let n = c.ncols();
    if count <= 1 {
        update(0..n, c);
        return Ok(());
    }
    let (update, is_lower) = (&update, uplo == Uplo::Lower);
    rt.scope(|s| {
        let mut rest = if is_lower { c } else { c.transpose() };
        for (at, here) in cuts(n, count).enumerate() {
            let (strip, behind) = rest.split_at_col(here.len());
            rest = behind;
            let strip = strip.submatrix(here.start..n, 0..here.len());
            let strip = s.own(if is_lower { strip } else { strip.transpose() });
            s.spawn(task(name, at, at, 0), strip.read_write(), move |strip: &mut MatMut<'_, T>| {
                update(here, strip.rb_mut());
            });
        }
    })
}

/// Returns the columns of the strips of a lower triangle of order n. The strips take nearly equal time, and none is
/// empty.
fn cuts(n: usize, count: usize) -> impl Iterator<Item = Range<usize>> {
    let order = n as f64;
    // Column x takes the time of `rows` - x rows; the columns before it take `rows` x - x² / 2.
    let rows = order + DIAGONAL_EXTRA_ROWS;
    let all = rows * order - order * order / 2.0;
    let cut = move |at: usize| {
        let before = all * at as f64 / count as f64;
        let column = rows - (rows * rows - 2.0 * before).sqrt();
        if at == count { n } else { ((column / EDGE_MULTIPLE as f64).round() as usize * EDGE_MULTIPLE).min(n) }
    };
    (0..count).map(move |at| cut(at)..cut(at + 1)).filter(|here| !here.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use superscalar_oracle::largest;

    #[test]
    fn strips_balance_the_triangle() {
        for (n, count) in [(512, 2), (4096, 2), (4097, 4), (10000, 6), (300, 1)] {
            let strips: Vec<_> = cuts(n, count).collect();
            assert_eq!(strips.len(), count);
            assert_eq!((strips[0].start, strips[count - 1].end), (0, n));
            assert!(strips.windows(2).all(|pair| pair[0].end == pair[1].start));
            let area = |here: &Range<usize>| here.clone().map(|j| n - j).sum::<usize>() as f64 * count as f64;
            let whole = (n * (n + 1) / 2) as f64;
            let worst = largest(strips.iter().map(|here| (area(here) / whole - 1.0).abs()));
            assert!(worst < 0.1, "{n} in {count}: {strips:?}");
        }
    }

    #[test]
    fn small_triangles_have_no_empty_strips() {
        for (n, count) in [(1, 2), (17, 2), (40, 9), (0, 3)] {
            let strips: Vec<_> = cuts(n, count).collect();
            assert!(strips.iter().all(|here| !here.is_empty()));
            assert_eq!(strips.iter().map(Range::len).sum::<usize>(), n);
        }
    }
}
