//! Operations that touch each element once: scale, copy, transposition, sum, and interchanges of rows.

use super::{
    program::{Family, INTERCHANGE_CHUNK, INTERCHANGED_COLUMNS, THREADS, TRANSPOSED_BLOCK, TRANSPOSED_ROWS},
    stream::{Argument, GRID_MAX, Launch, Stream},
};
use crate::{
    Direction, Op, Scalar, Symmetry, Uplo,
    device::Mat,
    operations::{Geadd, Laswp},
};
use superscalar_runtime::DeviceError;

/// Elements of a column that each thread processes.
const ELEMENTS: usize = 4;

/// Returns the blocks of threads for m rows and n columns. A kernel loops over what exceeds the largest grid.
pub(super) fn grid((m, n): (usize, usize)) -> [usize; 3] {
    [m.div_ceil(THREADS * ELEMENTS), n.min(GRID_MAX), 1]
}

/// Returns the number that tells a kernel which part of a matrix is meant.
pub(super) fn part_code(part: Option<Uplo>) -> i32 {
    match part {
        None => 0,
        Some(Uplo::Lower) => 1,
        Some(Uplo::Upper) => 2,
    }
}

/// Computes A := beta A, or one triangle of it. For a Hermitian matrix the diagonal is made real.
pub(super) fn scale<T: Scalar>(
    stream: &mut Stream<'_, T>,
    part: Option<(Symmetry, Uplo)>,
    beta: T,
    a: Mat<T>,
) -> Result<(), DeviceError> {
    let beta = part.map_or(beta, |(symmetry, _)| symmetry.factor(beta));
    let is_hermitian = T::COMPLEX && part.is_some_and(|(symmetry, _)| symmetry == Symmetry::Hermitian);
    if beta == T::ONE && !is_hermitian {
        return Ok(());
    }
    stream.launch(Launch {
        family: Family::Elements,
        kernel: "scale",
        arguments: &[
            Argument::start(a),
            Argument::index(a.ld),
            Argument::index(a.m),
            Argument::index(a.n),
            Argument::code(part_code(part.map(|(_, uplo)| uplo))),
            Argument::code(is_hermitian.into()),
            Argument::value(beta),
        ],
        grid: grid(a.shape()),
        threads: [THREADS, 1],
    })
}

/// Computes B := op(A).
pub(super) fn copy<T: Scalar>(stream: &mut Stream<'_, T>, op: Op, a: Mat<T>, b: Mat<T>) -> Result<(), DeviceError> {
    let [from, ld_from, to, ld_to] =
        [Argument::start(a), Argument::index(a.ld), Argument::start(b), Argument::index(b.ld)];
    let (m, n) = (Argument::index(a.m), Argument::index(a.n));
    if op == Op::None {
        let arguments = &[from, ld_from, to, ld_to, m, n];
        let (grid, threads) = (grid(a.shape()), [THREADS, 1]);
        return stream.launch(Launch { family: Family::Elements, kernel: "copy", arguments, grid, threads });
    }
    let conj = Argument::code((op == Op::ConjTrans).into());
    let arguments = &[from, ld_from, to, ld_to, m, n, conj];
    let (grid, threads) = transposing(a.shape());
    stream.launch(Launch { family: Family::Elements, kernel: "transpose", arguments, grid, threads })
}

/// Returns the blocks of threads, and the threads of each, for kernels that transpose a matrix of m rows and n columns.
fn transposing((m, n): (usize, usize)) -> ([usize; 3], [usize; 2]) {
    let [across, along] = [m, n].map(|size| size.div_ceil(TRANSPOSED_BLOCK));
    ([across, along.min(GRID_MAX), 1], [TRANSPOSED_BLOCK, TRANSPOSED_ROWS])
}

/// Computes B := alpha op(A) + beta B.
pub(super) fn add<T: Scalar>(stream: &mut Stream<'_, T>, sum: Geadd<T, Mat<T>>) -> Result<(), DeviceError> {
    let Geadd { op, alpha, a, beta, b } = sum;
    if alpha == T::ZERO {
        return scale(stream, None, beta, b);
    }
    let [from, ld_from, to, ld_to] =
        [Argument::start(a), Argument::index(a.ld), Argument::start(b), Argument::index(b.ld)];
    let (m, n) = (Argument::index(a.m), Argument::index(a.n));
    let (alpha, beta) = (Argument::value(alpha), Argument::value(beta));
    if op == Op::None {
        let arguments = &[from, ld_from, to, ld_to, m, n, alpha, beta];
        let (grid, threads) = (grid(a.shape()), [THREADS, 1]);
        return stream.launch(Launch { family: Family::Elements, kernel: "geadd", arguments, grid, threads });
    }
    let conj = Argument::code((op == Op::ConjTrans).into());
    let arguments = &[from, ld_from, to, ld_to, m, n, conj, alpha, beta];
    let (grid, threads) = transposing(a.shape());
    stream.launch(Launch { family: Family::Elements, kernel: "geadd_transposed", arguments, grid, threads })
}

/// Copies a unit lower triangle A to B, with its implicit ones and zeros.
pub(super) fn complete<T: Scalar>(stream: &mut Stream<'_, T>, a: Mat<T>, b: Mat<T>) -> Result<(), DeviceError> {
    stream.launch(Launch {
        family: Family::Elements,
        kernel: "complete",
        arguments: &[
            Argument::start(a),
            Argument::index(a.ld),
            Argument::start(b),
            Argument::index(b.ld),
            Argument::index(a.n),
        ],
        grid: grid(a.shape()),
        threads: [THREADS, 1],
    })
}

/// Computes C := W + beta C in one triangle of each block on C's diagonal. The blocks of W are stored one after the
/// other.
pub(super) fn fold<T: Scalar>(
    stream: &mut Stream<'_, T>,
    part: Uplo,
    w: Mat<T>,
    beta: T,
    c: Mat<T>,
) -> Result<(), DeviceError> {
    let order = w.m;
    let [rows, columns, _] = grid((order, order));
    stream.launch(Launch {
        family: Family::Elements,
        kernel: "fold",
        arguments: &[
            Argument::start(w),
            Argument::index(order),
            Argument::start(c),
            Argument::index(c.ld),
            Argument::index(c.n),
            Argument::code(part_code(Some(part))),
            Argument::value(beta),
        ],
        grid: [rows, columns, c.n.div_ceil(order)],
        threads: [THREADS, 1],
    })
}

/// Makes the interchanges of successive blocks of rows, forward or backward. The task fails if an index is outside of
/// A.
pub(super) fn laswp<T: Scalar>(
    stream: &mut Stream<'_, T>,
    &Laswp { a, first, ref ipiv, direction }: &Laswp<T>,
) -> Result<(), DeviceError> {
    if a.m == 0 || a.n == 0 || ipiv.iter().all(|one| one.m == 0) {
        return Ok(());
    }
    // Kernels count rows in `int`, as interchanges do.
    let m = i32::try_from(a.m)
        .map_err(|_| DeviceError::new(format!("laswp: {} rows exceed the range of interchanges", a.m)))?;
    let status = stream.outcome(move |row| match row {
        0 => Ok(()),
        row => Err(DeviceError::new(format!("laswp: the interchange of row {row} is outside of {m} rows"))),
    })?;
    // Each block of interchanges, with the number of rows above it.
    let mut blocks = Vec::with_capacity(ipiv.len());
    let mut above = first;
    for one in ipiv {
        blocks.push((above, one));
        above += one.m;
    }
    if direction == Direction::Backward {
        blocks.reverse();
    }
    for (first, one) in blocks {
        stream.launch(Launch {
            family: Family::Elements,
            kernel: "laswp",
            arguments: &[
                Argument::start(a),
                Argument::index(a.ld),
                Argument::code(m),
                Argument::index(a.n),
                // At most m, as `check` has found.
                Argument::code(first as i32),
                Argument::start(*one),
                Argument::code(one.m as i32),
                Argument::code((direction == Direction::Backward).into()),
                status,
            ],
            grid: [a.n.div_ceil(INTERCHANGED_COLUMNS), usize::from(one.m > 0), 1],
            threads: [2 * INTERCHANGE_CHUNK, 1],
        })?;
    }
    Ok(())
}
