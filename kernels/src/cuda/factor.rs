//! potrf. One kernel factors a block on the diagonal, another one solves with it, and cuBLAS does the rank-k update, or
//! a third kernel if the rest is small. Large tiles are halved first. The part below or beside a triangle takes part in
//! each step.
//!
//! The host does not wait for the outcome of a block. After a block that is not positive definite, later blocks compute
//! values that are not used, and the status keeps the first failing minor. The host reads the status when the device is
//! done. (cuSOLVER's potrf needs workspace whose size only a device can report, and the scratch of a task is requested
//! before it has one.)

use super::{
    program::{
        Family, RANK_K_EDGE, SOLVED_VECTORS, THREADS, UNIT_ORDER, URGENT_ROWS, URGENT_VECTORS, factor_order,
        factor_step,
    },
    stream::{Argument, Concurrency, Launch, LaunchOptions, Stream},
    triangular::Triangle,
};
use crate::{
    Diag, NotPositiveDefinite, Op, Scalar, Side, Symmetry, Uplo,
    device::{Call, Mat},
    operations::{Gemm, Potrf, RankK, Trapezoid},
};
use std::ops::Range;
use superscalar_runtime::DeviceError;

/// Up to this order a tile is factored block by block: each block updates all of the rest, in few and large launches.
/// Above it, halves have larger products. Up to this order solves by blocks are also faster than cuBLAS's.
const BLOCKED_ORDER_MAX: usize = 1024;

/// From this many on, a panel's rows below its triangle, or columns beside it, are computed in the side queue. With
/// fewer, that is faster in most processes and slower in some (docs/measurements/2026-11-23-gpu-cholesky-panels.md).
const SIDE_QUEUE_MIN: usize = 4096;

/// Computes A = L Lᴴ or Uᴴ U, below `first` rows of a matrix; for a trapezoid the rest, too.
pub(super) fn potrf<T: Scalar>(
    stream: &mut Stream<'_, T>,
    Potrf { uplo, first, a }: Potrf<Mat<T>>,
) -> Result<(), DeviceError> {
    if a.m.min(a.n) == 0 {
        return Ok(());
    }
    let status = stream.outcome(move |minor| match usize::try_from(minor) {
        Ok(0) => Ok(()),
        Ok(minor) => Err(DeviceError::outcome(NotPositiveDefinite { minor: first + minor })),
        Err(_) => Err(DeviceError::new(format!("potrf: the device reported {minor} as the order of a minor"))),
    })?;
    let order = order(stream)?;
    factor(stream, (uplo, order), a, status, 0)
}

/// Returns the order of the largest block that one kernel factors.
fn order<T: Scalar>(stream: &mut Stream<'_, T>) -> Result<usize, DeviceError> {
    let order = factor_order::<T>();
    // The solve needs more shared memory than the factorization.
    let blocks =
        stream.blocks_at_once((Family::Factor, "solve"), THREADS, solve_bytes::<T>(order, SOLVED_VECTORS[0]))?;
    Ok(if blocks == Some(0) { order / 2 } else { order })
}

/// Elements that a column of this many rows takes in shared memory, with its padding of 32 bytes.
fn padded<T: Scalar>(rows: usize) -> usize {
    rows + 32 / size_of::<T>()
}

/// Elements of a block of this order in shared memory.
fn block_elements<T: Scalar>(order: usize) -> usize {
    order * padded::<T>(order)
}

/// Shared memory for the factor of a block, which is padded to whole steps. A step's last column is read beyond its
/// end.
fn factor_bytes<T: Scalar>(n: usize) -> usize {
    let (step, order) = (factor_step::<T>(), n.next_multiple_of(factor_step::<T>()));
    // A block of a single step has more padding between its columns.
    (block_elements::<T>(order).max(order * 2 * step) + step) * size_of::<T>()
}

/// Shared memory for a solve with the factor. It holds the factor, and either the components of the vectors in one
/// step, or the inverses of the blocks on the diagonal with all components, or with a block for each warp. The kernels
/// that use such inverses exist for two orders.
fn solve_bytes<T: Scalar>(n: usize, vectors: usize) -> usize {
    let order = n.next_multiple_of(factor_order::<T>() / 2);
    // For f32, whose rows have less padding than is counted.
    let components = if size_of::<T>() < 8 {
        order * UNIT_ORDER + vectors * order
    } else {
        let blocks = (order / UNIT_ORDER + THREADS / 32) * UNIT_ORDER * (UNIT_ORDER + 4);
        blocks.max(factor_step::<T>() * (vectors + 1))
    };
    (block_elements::<T>(order) + components) * size_of::<T>()
}

/// A kernel that solves, the vectors per block of threads, and its shared memory.
#[derive(Clone, Copy)]
struct Solver {
    kernel: &'static str,
    vectors: usize,
    shared_bytes: usize,
}

impl Solver {
    /// Selects the kernel for `count` vectors. The one with more vectors per block is used if there are more blocks
    /// than multiprocessors otherwise.
    fn for_block<T: Scalar>(stream: &mut Stream<'_, T>, n: usize, count: usize) -> Result<Self, DeviceError> {
        let [few, many] = SOLVED_VECTORS;
        let default = Self { kernel: "solve", vectors: few, shared_bytes: solve_bytes::<T>(n, few) };
        if count <= few * processors(stream) {
            return Ok(default);
        }
        let other = Self { kernel: "solve_many", vectors: many, shared_bytes: solve_bytes::<T>(n, many) };
        Ok(if other.is_possible(stream)? { other } else { default })
    }

    /// Selects the kernel for a whole triangle in an urgent queue, if the device has multiprocessors for all vectors at
    /// once.
    fn for_urgent<T: Scalar>(stream: &mut Stream<'_, T>, n: usize, count: usize) -> Result<Option<Self>, DeviceError> {
        let (vectors, rows) = (URGENT_VECTORS, URGENT_ROWS);
        let is_urgent = stream.queue.as_ref().is_some_and(|queue| queue.is_urgent());
        if !is_urgent || count > vectors * processors(stream) {
            return Ok(None);
        }
        // Each component is padded by a pack of 16 bytes.
        let known = n.next_multiple_of(rows) * (vectors + 16 / size_of::<T>());
        let elements = known + (THREADS / 32 * vectors + rows) * rows;
        let solver = Self { kernel: "solve_urgent", vectors, shared_bytes: elements * size_of::<T>() };
        Ok(if solver.is_possible(stream)? { Some(solver) } else { None })
    }

    fn is_possible<T: Scalar>(self, stream: &mut Stream<'_, T>) -> Result<bool, DeviceError> {
        let blocks = stream.blocks_at_once((Family::Factor, self.kernel), THREADS, self.shared_bytes)?;
        Ok(blocks.is_some_and(|blocks| blocks > 0))
    }
}

fn processors<T: Scalar>(stream: &Stream<'_, T>) -> usize {
    stream.queue.as_ref().map_or(1, |queue| queue.class().multiprocessors)
}

/// Computes L11 = chol(A11), L21 = A21 L11⁻ᴴ, L22 = chol(A22 − L21 L21ᴴ), or U11, U12 = U11⁻ᴴ A12, U22, below `row`
/// rows of the whole matrix. A is a trapezoid, and so is A22.
fn factor<T: Scalar>(
    stream: &mut Stream<'_, T>,
    (uplo, order): (Uplo, usize),
    mut a: Mat<T>,
    status: Argument,
    mut row: usize,
) -> Result<(), DeviceError> {
    loop {
        let ((m, n), k) = (a.shape(), a.m.min(a.n));
        if k <= order {
            return factor_block(stream, (uplo, order), a, status, row);
        }
        if k <= BLOCKED_ORDER_MAX && m.max(n) - k >= SIDE_QUEUE_MIN {
            return factor_tall(stream, (uplo, order), a, status, row);
        }
        let part = if k <= BLOCKED_ORDER_MAX { order } else { (k / 2).next_multiple_of(order) };
        let (panel, beside, op) = match uplo {
            Uplo::Lower => (a.submatrix(0..m, 0..part), a.submatrix(part..m, 0..part), Op::None),
            Uplo::Upper => (a.submatrix(0..part, 0..n), a.submatrix(0..part, part..n), Op::ConjTrans),
        };
        factor(stream, (uplo, order), panel, status, row)?;
        let rest = a.submatrix(part..m, part..n);
        if part == order {
            update_after_block(stream, (uplo, op), beside, rest)?;
        } else {
            update(stream, (uplo, op), beside, rest)?;
        }
        (a, row) = (rest, row + part);
    }
}

/// Computes C := C − op(A) op(A)ᴴ in a trapezoid, after the factorization of one block of columns or rows.
fn update_after_block<T: Scalar>(
    stream: &mut Stream<'_, T>,
    (uplo, op): (Uplo, Op),
    a: Mat<T>,
    c: Mat<T>,
) -> Result<(), DeviceError> {
    let is_upper = uplo == Uplo::Upper;
    let ((m, n), k) = if is_upper { ((c.n, c.m), a.m) } else { (c.shape(), a.n) };
    let (high, wide) = (m.div_ceil(RANK_K_EDGE), n.div_ceil(RANK_K_EDGE));
    let shared_bytes = 2 * padded::<T>(RANK_K_EDGE) * k.next_multiple_of(4) * size_of::<T>();
    // cuBLAS takes a launch for the triangle and one for the rows below it. With at most one tile for each
    // multiprocessor, the kernel ends before the host has launched both.
    let is_small = high * wide <= processors(stream) && k <= factor_order::<T>();
    let fits = |stream: &mut Stream<'_, T>| stream.blocks_at_once((Family::Factor, "rank_k"), THREADS, shared_bytes);
    if !is_small || fits(stream)? == Some(0) {
        return update(stream, (uplo, op), a, c);
    }
    let launch = Launch {
        family: Family::Factor,
        kernel: "rank_k",
        arguments: &[
            Argument::start(a),
            Argument::index(a.ld),
            // At most `factor_order`.
            Argument::code(k as i32),
            Argument::start(c),
            Argument::index(c.ld),
            Argument::index(m),
            Argument::index(n),
            Argument::code(is_upper.into()),
        ],
        grid: [high, wide, 1],
        threads: [THREADS, 1],
    };
    stream.launch_with(launch, LaunchOptions { shared_bytes, concurrency: Concurrency::Any })
}

/// Computes C := C − op(A) op(A)ᴴ in a trapezoid.
fn update<T: Scalar>(
    stream: &mut Stream<'_, T>,
    (uplo, op): (Uplo, Op),
    a: Mat<T>,
    c: Mat<T>,
) -> Result<(), DeviceError> {
    let update = RankK { symmetry: Symmetry::Hermitian, uplo, op, alpha: -T::ONE, a, beta: T::ONE, c };
    super::run(stream, &Call::RankK(update))
}

/// Like [`factor`] for a trapezoid that is much larger than its triangle. The triangle is factored block by block, and
/// the rest is computed in the side queue. There each block's part is updated by the blocks before while the block is
/// factored, and is solved with it while the next one is factored.
fn factor_tall<T: Scalar>(
    stream: &mut Stream<'_, T>,
    (uplo, order): (Uplo, usize),
    a: Mat<T>,
    status: Argument,
    row: usize,
) -> Result<(), DeviceError> {
    let (triangle, rest) = a.cut(uplo);
    let (n, is_lower) = (triangle.n, uplo == Uplo::Lower);
    // Block (i, j) of L, or block (j, i) of U.
    let block =
        |i: Range<usize>, j: Range<usize>| if is_lower { triangle.submatrix(i, j) } else { triangle.submatrix(j, i) };
    let part = |j| if is_lower { rest.submatrix(0..rest.m, j) } else { rest.submatrix(j, 0..rest.n) };
    for start in (0..n).step_by(order) {
        let here = start..n.min(start + order);
        stream.aside()?;
        if start > 0 {
            let (before, by, c) = (part(0..start), block(here.clone(), 0..start), part(here.clone()));
            let (ops, a, b) = match uplo {
                Uplo::Lower => ((Op::None, Op::ConjTrans), before, by),
                Uplo::Upper => ((Op::ConjTrans, Op::None), by, before),
            };
            Gemm::new(ops, -T::ONE, (a, b), T::ONE, c).enqueue(stream)?;
        }
        stream.back();
        factor_block(stream, (uplo, order), block(start..n, here.clone()), status, row + start)?;
        stream.fork()?;
        stream.aside()?;
        solve_with(stream, order, &Triangle::of_panel(uplo, block(here.clone(), here.clone()), part(here.clone())))?;
        stream.back();
        let below = here.end..n;
        if !below.is_empty() {
            let op = if is_lower { Op::None } else { Op::ConjTrans };
            update_after_block(stream, (uplo, op), block(below.clone(), here), block(below.clone(), below))?;
        }
    }
    stream.join()
}

/// Like [`factor`] for a trapezoid whose triangle one kernel factors.
fn factor_block<T: Scalar>(
    stream: &mut Stream<'_, T>,
    (uplo, order): (Uplo, usize),
    a: Mat<T>,
    status: Argument,
    row: usize,
) -> Result<(), DeviceError> {
    let (a, rest) = a.cut(uplo);
    let row = i32::try_from(row).map_err(|_| {
        DeviceError::new(format!("potrf: {row} rows above the tile exceed the range of a minor's order"))
    })?;
    let launch = Launch {
        family: Family::Factor,
        kernel: "potrf",
        arguments: &[
            Argument::start(a),
            Argument::index(a.ld),
            // At most `factor_order`.
            Argument::code(a.n as i32),
            Argument::code((uplo == Uplo::Upper).into()),
            status,
            Argument::code(row),
        ],
        grid: [1; 3],
        threads: [THREADS, 1],
    };
    stream
        .launch_with(launch, LaunchOptions { shared_bytes: factor_bytes::<T>(a.n), concurrency: Concurrency::Any })?;
    solve_with(stream, order, &Triangle::of_panel(uplo, a, rest))
}

/// Returns whether [`solve`] is used: for a unit triangle of moderate order whose first solution component is found
/// first.
pub(super) fn solves<T: Scalar>(triangle: &Triangle<T>) -> bool {
    let Triangle { side, uplo, op, diag, alpha, a, .. } = *triangle;
    // The vectors b of L x = b are B's rows for L = op(A)ᵀ, or its columns for L = op(A).
    let is_downward = ((uplo == Uplo::Lower) == (op == Op::None)) == (side == Side::Left);
    is_downward && diag == Diag::Unit && alpha == T::ONE && a.n <= BLOCKED_ORDER_MAX
}

/// Computes B := op(A)⁻¹ B or B op(A)⁻¹. In an urgent queue it uses more of the device in order to finish sooner.
pub(super) fn solve<T: Scalar>(stream: &mut Stream<'_, T>, triangle: &Triangle<T>) -> Result<(), DeviceError> {
    if let Some(solver) = Solver::for_urgent(stream, triangle.a.n, vectors_of(triangle))? {
        return solve_by(stream, solver, triangle);
    }
    let order = order(stream)?;
    solve_with(stream, order, triangle)
}

/// Returns the number of vectors: the rows or columns of B.
fn vectors_of<T: Scalar>(triangle: &Triangle<T>) -> usize {
    if triangle.side == Side::Right { triangle.b.m } else { triangle.b.n }
}

/// Solves by halves, until one kernel can solve with a block. A product subtracts the effect of the first half of the
/// solution from the other one.
fn solve_with<T: Scalar>(stream: &mut Stream<'_, T>, order: usize, triangle: &Triangle<T>) -> Result<(), DeviceError> {
    let Triangle { side, op, a, b, .. } = *triangle;
    let n = a.n;
    if n <= order {
        return solve_block(stream, triangle);
    }
    let part = (n / 2).next_multiple_of(order);
    let half = |range: Range<usize>| match side {
        Side::Left => b.submatrix(range, 0..b.n),
        Side::Right => b.submatrix(0..b.m, range),
    };
    let (first, rest) = (half(0..part), half(part..n));
    // The part of op(A) below or beside the first half's triangle.
    let beside = match (side == Side::Left) == (op == Op::None) {
        true => a.submatrix(part..n, 0..part),
        false => a.submatrix(0..part, part..n),
    };
    let (ops, left, right) = match side {
        Side::Left => ((op, Op::None), beside, first),
        Side::Right => ((Op::None, op), first, beside),
    };
    let triangle = |range: Range<usize>, b| Triangle { a: a.submatrix(range.clone(), range), b, ..*triangle };
    solve_with(stream, order, &triangle(0..part, first))?;
    Gemm::new(ops, -T::ONE, (left, right), T::ONE, rest).enqueue(stream)?;
    solve_with(stream, order, &triangle(part..n, rest))
}

/// Like [`solve_with`] for a triangle that is one block.
fn solve_block<T: Scalar>(stream: &mut Stream<'_, T>, triangle: &Triangle<T>) -> Result<(), DeviceError> {
    let solver = Solver::for_block(stream, triangle.a.n, vectors_of(triangle))?;
    solve_by(stream, solver, triangle)
}

/// Like [`solve_with`], by one kernel.
fn solve_by<T: Scalar>(stream: &mut Stream<'_, T>, solver: Solver, triangle: &Triangle<T>) -> Result<(), DeviceError> {
    let Triangle { side, op, diag, a, b, .. } = *triangle;
    let Solver { kernel, vectors, shared_bytes } = solver;
    let is_right = side == Side::Right;
    let is_trans = (op != Op::None) != is_right;
    let count = vectors_of(triangle);
    let order = i32::try_from(a.n)
        .map_err(|_| DeviceError::new(format!("trsm: the order {} exceeds the range of the kernel", a.n)))?;
    let launch = Launch {
        family: Family::Factor,
        kernel,
        arguments: &[
            Argument::start(a),
            Argument::index(a.ld),
            Argument::code(order),
            Argument::code(is_trans.into()),
            Argument::code((op == Op::ConjTrans).into()),
            Argument::code((diag == Diag::Unit).into()),
            Argument::start(b),
            Argument::index(b.ld),
            Argument::index(count),
            Argument::code(is_right.into()),
        ],
        grid: [count.div_ceil(vectors), usize::from(a.n > 0), 1],
        threads: [THREADS, 1],
    };
    stream.launch_with(launch, LaunchOptions { shared_bytes, concurrency: Concurrency::Any })
}
