//! trsm and the interchanges of getrs for batches, and two small kernels for gels: one writes the table of its columns,
//! one finds zeros on the diagonal of R.

use super::{
    count_of,
    operand::{Operand, classes},
    outcomes,
    products::Product,
};
use crate::cuda::{
    program::Family,
    stream::{Argument, Concurrency, Launch, LaunchOptions, Stream},
};
use crate::{
    Diag, Direction, Op, Scalar, Side, Uplo,
    operations::{BatchMat, BatchTriangle, Mat, Systems, interchange_outcome, op_code},
};
use std::ops::Range;
use superscalar_runtime::DeviceError;

/// The largest triangle that a warp or a part of it solves with, and the most vectors that it solves for.
const TINY_ORDER_MAX: usize = 32;
const TINY_VECTORS_MAX: usize = 64;
const TINY_THREADS: usize = 128;
/// Threads of a block that solves for one vector.
const TRSV_THREADS: usize = 64;
/// Threads of a block that solves for several vectors, and their number.
const TRSM_THREADS: usize = 128;
const TRSM_VECTORS: usize = 32;
/// Above this order, uniform triangles with several vectors are solved with panel by panel, with products between.
const WHOLE_ORDER_MAX: usize = 128;
const PANEL_ORDER: usize = 64;
/// Threads of a block of the kernels of `text/batch_gels.cu`.
const GELS_THREADS: usize = 128;
/// Threads and columns of a block that interchanges rows, and the most shared memory that it uses.
const SWAP_THREADS: usize = 128;
const SWAPPED_COLUMNS: usize = 8;
const SWAP_BYTES_MAX: usize = 40 << 10;

/// The part of the systems that is solved at once.
#[derive(Clone, Copy, Debug)]
struct DiagonalBlock<T> {
    a: Operand<T>,
    b: Operand<T>,
    outcomes: Option<Mat<i32>>,
    count: usize,
}

/// Solves with one triangle of each A.
pub(super) fn trsm<T: Scalar>(
    stream: &mut Stream<'_, T>,
    options: BatchTriangle<T>,
    systems: Systems<'_, T>,
) -> Result<(), DeviceError> {
    parts(systems, options.side).into_iter().try_for_each(|(_, part)| part.solve(stream, options))
}

/// Interchanges rows of each B. The task fails if an interchange is not within the rows.
pub(super) fn laswp<T: Scalar>(
    stream: &mut Stream<'_, T>,
    direction: Direction,
    ipiv: &BatchMat<i32>,
    systems: Systems<'_, T>,
) -> Result<(), DeviceError> {
    let status = stream.outcome(interchange_outcome)?;
    parts(systems, Side::Left)
        .into_iter()
        .try_for_each(|(range, part)| part.interchange(stream, Operand::of(ipiv, range), status, direction))
}

/// Divides the systems into those that a launch can solve without many idle threads.
fn parts<T: Scalar>(systems: Systems<'_, T>, side: Side) -> Vec<(Range<usize>, DiagonalBlock<T>)> {
    let Systems { a, b, outcomes } = systems;
    let key = |at| {
        let (n, (rows, columns)) = (a.shape(at).1, b.shape(at));
        let vectors = if side == Side::Left { columns } else { rows };
        match n {
            ..=TINY_ORDER_MAX if vectors <= TINY_VECTORS_MAX => n.div_ceil(8),
            _ => 5 + vectors.div_ceil(TRSM_VECTORS).max(1).ilog2() as usize / 2,
        }
    };
    let ranges = classes(b.len(), b.layout().is_some(), key).into_iter();
    let part = |range: Range<usize>| DiagonalBlock {
        a: Operand::of(a, range.clone()),
        b: Operand::of(b, range.clone()),
        outcomes,
        count: range.len(),
    };
    ranges.map(|range| (range.clone(), part(range))).collect()
}

impl<T: Scalar> DiagonalBlock<T> {
    fn solve(self, stream: &mut Stream<'_, T>, options: BatchTriangle<T>) -> Result<(), DeviceError> {
        let (n, vectors) = self.sizes(options.side);
        let is_uniform = self.a.table.is_none() && self.outcomes.is_none();
        if n > WHOLE_ORDER_MAX && vectors > 1 && is_uniform && options.alpha != T::ZERO {
            return self.solve_by_panels(stream, options);
        }
        self.solve_whole(stream, options)
    }

    /// Returns the order of A and the number of vectors.
    fn sizes(self, side: Side) -> (usize, usize) {
        let (rows, columns) = self.b.first.shape();
        (self.a.first.n, if side == Side::Left { columns } else { rows })
    }

    /// Solves with one kernel.
    fn solve_whole(self, stream: &mut Stream<'_, T>, options: BatchTriangle<T>) -> Result<(), DeviceError> {
        let Self { a, b, outcomes, count } = self;
        let BatchTriangle { side, uplo, op, diag, alpha } = options;
        let (n, vectors) = self.sizes(side);
        if n == 0 || vectors == 0 || count == 0 {
            return Ok(());
        }
        let is_right = side == Side::Right;
        let (kernel, threads, blocks) = match n {
            ..=TINY_ORDER_MAX if vectors <= TINY_VECTORS_MAX => {
                let (kernel, lanes) = match n {
                    ..=8 => ("trsm_tiny_8", 8),
                    9..=16 => ("trsm_tiny_16", 16),
                    _ => ("trsm_tiny_32", 32),
                };
                (kernel, TINY_THREADS, count.div_ceil(TINY_THREADS / lanes))
            }
            _ if vectors == 1 && (op != Op::None) == is_right => ("trsv_columns", TRSV_THREADS, count),
            _ if vectors == 1 => ("trsv_rows", TRSV_THREADS, count),
            _ => ("trsm", TRSM_THREADS, count.saturating_mul(vectors.div_ceil(TRSM_VECTORS))),
        };
        let is_upper = uplo == Uplo::Upper;
        let codes = [is_right.into(), is_upper.into(), op_code(op), (diag == Diag::Unit).into()];
        let mut arguments: Vec<Argument> = codes.into_iter().map(Argument::code).collect();
        arguments.push(Argument::value(alpha));
        arguments.extend(a.arguments());
        arguments.extend(b.arguments());
        arguments.extend([outcomes_argument(outcomes), count_of(&(0..count))?]);
        stream.launch(Launch {
            family: Family::BatchSolve,
            kernel,
            arguments: &arguments,
            grid: [blocks, 1, 1],
            threads: [threads, 1],
        })
    }

    /// Solves panel by panel, in the order in which components are found. A product subtracts what is known.
    fn solve_by_panels(self, stream: &mut Stream<'_, T>, options: BatchTriangle<T>) -> Result<(), DeviceError> {
        let Self { a, b, count, .. } = self;
        let BatchTriangle { side, uplo, op, alpha, .. } = options;
        let (n, _) = self.sizes(side);
        let is_lower = (uplo == Uplo::Lower) == (op == Op::None);
        let is_forward = is_lower == (side == Side::Left);
        let vectors = |range: Range<usize>| match side {
            Side::Left => b.part(range, 0..b.first.n),
            Side::Right => b.part(0..b.first.m, range),
        };
        let panels = n.div_ceil(PANEL_ORDER);
        for panel in 0..panels {
            let at = PANEL_ORDER * if is_forward { panel } else { panels - 1 - panel };
            let here = at..n.min(at + PANEL_ORDER);
            let known = if is_forward { 0..at } else { here.end..n };
            let c = vectors(here.clone());
            if panel > 0 {
                // The rows and columns of the block of op(A).
                let (rows, columns) = match side {
                    Side::Left => (here.clone(), known.clone()),
                    Side::Right => (known.clone(), here.clone()),
                };
                let block = if op == Op::None { a.part(rows, columns) } else { a.part(columns, rows) };
                let (ops, a, b) = match side {
                    Side::Left => ((op, Op::None), block, vectors(known)),
                    Side::Right => ((Op::None, op), vectors(known), block),
                };
                Product { ops, alpha: -T::ONE, a, b, beta: alpha, c, count }.enqueue(stream)?;
            }
            let alpha = if panel > 0 { T::ONE } else { alpha };
            let triangle = Self { a: a.part(here.clone(), here), b: c, ..self };
            triangle.solve_whole(stream, BatchTriangle { alpha, ..options })?;
        }
        Ok(())
    }

    /// Interchanges rows of B.
    fn interchange(
        self,
        stream: &mut Stream<'_, T>,
        ipiv: Operand<i32>,
        status: Argument,
        direction: Direction,
    ) -> Result<(), DeviceError> {
        let Self { b, outcomes, count, .. } = self;
        // A column of B, the source of each row, and the interchanges.
        let row_bytes = size_of::<T>() + 2 * size_of::<i32>();
        let rows_max = SWAP_BYTES_MAX / row_bytes;
        let codes = [i32::from(direction == Direction::Backward), rows_max as i32];
        let mut arguments: Vec<Argument> = codes.into_iter().map(Argument::code).collect();
        arguments.extend(ipiv.arguments());
        arguments.extend(b.arguments());
        arguments.extend([outcomes_argument(outcomes), status, count_of(&(0..count))?]);
        let (m, n) = b.first.shape();
        let launch = Launch {
            family: Family::BatchSolve,
            kernel: "laswp",
            arguments: &arguments,
            grid: [count.saturating_mul(n.div_ceil(SWAPPED_COLUMNS)), usize::from(m > 0), 1],
            threads: [SWAP_THREADS, 1],
        };
        let shared_bytes = m.min(rows_max) * row_bytes + 16;
        stream.launch_with(launch, LaunchOptions { shared_bytes, concurrency: Concurrency::Any })
    }
}

fn outcomes_argument(outcomes: Option<Mat<i32>>) -> Argument {
    outcomes.map_or(Argument::value(0_u64), Argument::start)
}

/// Writes the table of the columns of gels: see [`BatchKernels::write_column_table`].
///
/// [`BatchKernels::write_column_table`]: crate::operations::BatchKernels::write_column_table
pub(super) fn write_column_table<T: Scalar>(
    stream: &mut Stream<'_, T>,
    a: &BatchMat<T>,
    rows: usize,
    table: Mat<i64>,
) -> Result<(), DeviceError> {
    let last = [Argument::index(rows), Argument::start(table), count_of(&(0..a.len()))?];
    stream.launch(Launch {
        family: Family::BatchSolve,
        kernel: "column_table",
        arguments: &[&Operand::of(a, 0..a.len()).arguments()[..], &last].concat(),
        grid: [a.len().div_ceil(GELS_THREADS), 1, 1],
        threads: [GELS_THREADS, 1],
    })
}

/// Finds the first zero on the diagonal of each R, which is the problem's outcome.
pub(super) fn find_zeros<T: Scalar>(
    stream: &mut Stream<'_, T>,
    r: &BatchMat<T>,
    info: Option<Mat<i32>>,
) -> Result<(), DeviceError> {
    let (all, r) = (0..r.len(), Operand::of(r, 0..r.len()));
    stream.launch(Launch {
        family: Family::BatchSolve,
        kernel: "find_zero",
        arguments: &[&r.arguments()[..], &[outcomes(info), count_of(&all)?]].concat(),
        grid: [all.len().div_ceil(GELS_THREADS / 32), 1, 1],
        threads: [GELS_THREADS, 1],
    })
}
