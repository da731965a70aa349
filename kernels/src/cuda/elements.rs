//! What touches each element once: scale, copy, transposition, and interchanges of rows.

use super::{
    program::{CHUNK, Family, SWAPPED_COLUMNS, THREADS, TRANSPOSED_BLOCK, TRANSPOSED_ROWS},
    stream::{Argument, GRID_MAX, Launch, Stream},
};
use crate::{Direction, Op, Scalar, Symmetry, Uplo, device::Mat, operations::Laswp};
use superscalar_runtime::DeviceError;

/// Elements of a column that a thread has.
const ELEMENTS: usize = 4;

/// The blocks of threads for m rows and n columns: a kernel goes on where there are more than a grid has.
pub(super) fn grid((m, n): (usize, usize)) -> [usize; 3] {
    [m.div_ceil(THREADS * ELEMENTS), n.min(GRID_MAX), 1]
}

/// How kernels are told which part of a matrix is meant.
pub(super) fn part_code(part: Option<Uplo>) -> i32 {
    match part {
        None => 0,
        Some(Uplo::Lower) => 1,
        Some(Uplo::Upper) => 2,
    }
}

/// A := beta A, or one triangle, with its diagonal made real or not.
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
            Argument::place(a.ld),
            Argument::place(a.m),
            Argument::place(a.n),
            Argument::code(part_code(part.map(|(_, uplo)| uplo))),
            Argument::code(is_hermitian.into()),
            Argument::value(beta),
        ],
        grid: grid(a.shape()),
        threads: [THREADS, 1],
    })
}

/// B := op(A).
pub(super) fn copy<T: Scalar>(stream: &mut Stream<'_, T>, op: Op, a: Mat<T>, b: Mat<T>) -> Result<(), DeviceError> {
    let [from, ld_from, to, ld_to] =
        [Argument::start(a), Argument::place(a.ld), Argument::start(b), Argument::place(b.ld)];
    let (m, n) = (Argument::place(a.m), Argument::place(a.n));
    if op == Op::None {
        let arguments = &[from, ld_from, to, ld_to, m, n];
        let (grid, threads) = (grid(a.shape()), [THREADS, 1]);
        return stream.launch(Launch { family: Family::Elements, kernel: "copy", arguments, grid, threads });
    }
    let conj = Argument::code((op == Op::ConjTrans).into());
    let [across, along] = [a.m, a.n].map(|size| size.div_ceil(TRANSPOSED_BLOCK));
    stream.launch(Launch {
        family: Family::Elements,
        kernel: "transpose",
        arguments: &[from, ld_from, to, ld_to, m, n, conj],
        grid: [across, along.min(GRID_MAX), 1],
        threads: [TRANSPOSED_BLOCK, TRANSPOSED_ROWS],
    })
}

/// B := A for a unit lower triangle A, with the ones and zeros that are not stored.
pub(super) fn complete<T: Scalar>(stream: &mut Stream<'_, T>, a: Mat<T>, b: Mat<T>) -> Result<(), DeviceError> {
    stream.launch(Launch {
        family: Family::Elements,
        kernel: "complete",
        arguments: &[
            Argument::start(a),
            Argument::place(a.ld),
            Argument::start(b),
            Argument::place(b.ld),
            Argument::place(a.n),
        ],
        grid: grid(a.shape()),
        threads: [THREADS, 1],
    })
}

/// C := W + beta C in one triangle of each block on C's diagonal. The blocks of W lie one behind the other.
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
            Argument::place(order),
            Argument::start(c),
            Argument::place(c.ld),
            Argument::place(c.n),
            Argument::code(part_code(Some(part))),
            Argument::value(beta),
        ],
        grid: [rows, columns, c.n.div_ceil(order)],
        threads: [THREADS, 1],
    })
}

/// The interchanges of successive blocks of rows, or the same backward. Fails, when the device is done, for an index outside of A.
pub(super) fn laswp<T: Scalar>(
    stream: &mut Stream<'_, T>,
    &Laswp { a, first, ref ipiv, direction }: &Laswp<T>,
) -> Result<(), DeviceError> {
    if a.m == 0 || a.n == 0 || ipiv.iter().all(|one| one.m == 0) {
        return Ok(());
    }
    // Kernels count rows in `int`, as interchanges do.
    let m = i32::try_from(a.m).map_err(|_| DeviceError::new(format!("laswp: {} rows are too many", a.m)))?;
    let status = stream.outcome(move |row| match row {
        0 => Ok(()),
        row => Err(DeviceError::new(format!("laswp: the interchange of row {row} is with none of {m} rows"))),
    })?;
    // Each block with the rows above it.
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
                Argument::place(a.ld),
                Argument::code(m),
                Argument::place(a.n),
                // No larger than m, as `check` has found.
                Argument::code(first as i32),
                Argument::start(*one),
                Argument::code(one.m as i32),
                Argument::code((direction == Direction::Backward).into()),
                status,
            ],
            grid: [a.n.div_ceil(SWAPPED_COLUMNS), usize::from(one.m > 0), 1],
            threads: [2 * CHUNK, 1],
        })?;
    }
    Ok(())
}
