//! gemm for batches. cuBLAS computes large uniform products, and kernels of this crate the others: tiny ones, those
//! with one column, and those of batches with tables.

use super::{
    count_of,
    operand::{Operand, classes},
};
use crate::cuda::{
    program::Family,
    stream::{Argument, Concurrency, Launch, LaunchOptions, Stream},
};
use crate::{
    Op, Scalar,
    operations::{BatchMat, Gemm, op_code},
};
use superscalar_runtime::DeviceError;

/// Threads of a block of the kernels for vectors and tiny matrices, where a warp has a problem.
const WARP_KERNEL_THREADS: usize = 128;
const WARP_PROBLEMS: usize = WARP_KERNEL_THREADS / 32;
/// Columns of A for a block of `gemv_t`, and packs of rows for a block of `gemv_n`: see `text/batch_gemv.cu`.
const GEMV_COLUMNS: usize = 32;
const GEMV_PACKS: usize = 16;

/// C := alpha op(A) op(B) + beta C, for each problem.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product<T> {
    pub ops: (Op, Op),
    pub alpha: T,
    pub a: Operand<T>,
    pub b: Operand<T>,
    pub beta: T,
    pub c: Operand<T>,
    pub count: usize,
}

/// Computes the products of a call.
pub(super) fn gemm<T: Scalar>(
    stream: &mut Stream<'_, T>,
    (ops, alpha, beta): ((Op, Op), T, T),
    [a, b]: [&BatchMat<T>; 2],
    c: &BatchMat<T>,
) -> Result<(), DeviceError> {
    let key = |at| {
        let (m, n) = c.shape(at);
        match m.max(n) {
            most if most <= 32 => most.div_ceil(8),
            // More than four times as many tiles are another class, so that few blocks of a launch have no work.
            _ => 5 + (m.div_ceil(64) * n.div_ceil(64)).max(1).ilog2() as usize / 2,
        }
    };
    for range in classes(c.len(), c.layout().is_some(), key) {
        let of = |batch| Operand::of(batch, range.clone());
        Product { ops, alpha, a: of(a), b: of(b), beta, c: of(c), count: range.len() }.enqueue(stream)?;
    }
    Ok(())
}

/// Returns the elements of a 16-byte access.
pub(super) fn pack<T>() -> usize {
    16 / size_of::<T>()
}

/// Returns whether cuBLAS is faster for uniform products of these rows and columns of C.
fn is_for_blas<T: Scalar>((m, n): (usize, usize)) -> bool {
    let most = m.max(n);
    let is_own = match T::LETTER {
        's' => matches!(most, 0..=16 | 24..=64),
        'd' => most <= 24,
        'c' => most <= 16,
        _ => matches!(most, 0..=24 | 33..=64),
    };
    !is_own
}

impl<T: Scalar> Product<T> {
    /// Puts the products into the stream.
    pub fn enqueue(&self, stream: &mut Stream<'_, T>) -> Result<(), DeviceError> {
        let &Self { ops: (op_a, op_b), alpha, a, b, beta, c, count } = self;
        let (m, n) = c.first.shape();
        if m == 0 || n == 0 || count == 0 {
            return Ok(());
        }
        if n == 1 && op_b == Op::None {
            return self.enqueue_vectors(stream);
        }
        let depth = op_a.shape(a.first.shape()).1;
        if c.table.is_none() && depth > 0 && alpha != T::ZERO && is_for_blas::<T>((m, n)) {
            let first = Gemm { part: None, op_a, op_b, alpha, a: a.first, b: b.first, beta, c: c.first };
            return stream.gemm_batch(&first, [a.stride, b.stride, c.stride], count);
        }
        self.enqueue_own(stream)
    }

    fn enqueue_own(&self, stream: &mut Stream<'_, T>) -> Result<(), DeviceError> {
        let &Self { ops, c, count, .. } = self;
        let (m, n) = c.first.shape();
        let tiny = |kernel| (kernel, WARP_KERNEL_THREADS, count.div_ceil(WARP_PROBLEMS), 0);
        let tiled = |names: [&'static str; 4], tile: usize, threads, stages| {
            let kernel = names[usize::from(ops.0 != Op::None) * 2 + usize::from(ops.1 != Op::None)];
            let tiles = m.div_ceil(tile).saturating_mul(n.div_ceil(tile));
            (kernel, threads, count.saturating_mul(tiles), stages * stage_bytes::<T>(ops, tile))
        };
        let (kernel, threads, blocks, shared_bytes) = match m.max(n) {
            ..=8 => tiny("gemm_tiny_1"),
            9..=16 => tiny("gemm_tiny_2"),
            17..=24 if has_units(stream) => tiny("gemm_tiny_3"),
            17..=32 => tiled(["gemm_32_nn", "gemm_32_nt", "gemm_32_tn", "gemm_32_tt"], 32, 32, 2),
            _ => tiled(["gemm_64_nn", "gemm_64_nt", "gemm_64_tn", "gemm_64_tt"], 64, 128, 3),
        };
        let mut arguments = self.arguments(vec![op_code(ops.0), op_code(ops.1)])?;
        if shared_bytes > 0 {
            // No list of tiles: each problem has as many as the largest of the launch.
            arguments.push(Argument::value(0_u64));
        }
        let launch = Launch {
            family: Family::BatchGemm,
            kernel,
            arguments: &arguments,
            grid: [blocks, 1, 1],
            threads: [threads, 1],
        };
        stream.launch_with(launch, LaunchOptions { shared_bytes, concurrency: Concurrency::Any })
    }

    /// Computes products with one column: y = alpha op(A) x + beta y.
    fn enqueue_vectors(&self, stream: &mut Stream<'_, T>) -> Result<(), DeviceError> {
        let &Self { ops: (op, _), a, count, .. } = self;
        let ((m, n), is_trans) = (a.first.shape(), op != Op::None);
        let tiny_rows_max = if T::COMPLEX && size_of::<T>() > 8 && is_trans { 16 } else { 32 };
        let pick = |rows: usize, columns| if is_trans { columns } else { rows };
        let (kernel, blocks) = if m <= tiny_rows_max {
            let names = match m {
                ..=8 => ["gemv_n_tiny_8", "gemv_t_tiny_8"],
                9..=16 => ["gemv_n_tiny_16", "gemv_t_tiny_16"],
                _ => ["gemv_n_tiny_32", "gemv_t_tiny_32"],
            };
            (names[usize::from(is_trans)], count.div_ceil(WARP_PROBLEMS))
        } else {
            let parts = pick(m.div_ceil(GEMV_PACKS * pack::<T>()), n.div_ceil(GEMV_COLUMNS));
            (if is_trans { "gemv_t" } else { "gemv_n" }, count.saturating_mul(parts))
        };
        stream.launch(Launch {
            family: Family::BatchGemv,
            kernel,
            arguments: &self.arguments(vec![op_code(op)])?,
            grid: [blocks, 1, 1],
            threads: [WARP_KERNEL_THREADS, 1],
        })
    }

    fn arguments(&self, codes: Vec<i32>) -> Result<Vec<Argument>, DeviceError> {
        let &Self { alpha, a, b, beta, c, count, .. } = self;
        let mut all: Vec<Argument> = codes.into_iter().map(Argument::code).collect();
        all.push(Argument::value(alpha));
        all.extend(a.arguments());
        all.extend(b.arguments());
        all.push(Argument::value(beta));
        all.extend(c.arguments());
        all.push(count_of(&(0..count))?);
        Ok(all)
    }
}

/// Returns whether the device has matrix units for this type.
fn has_units<T: Scalar>(stream: &Stream<'_, T>) -> bool {
    let is_double = size_of::<T::Real>() == size_of::<f64>();
    is_double && stream.queue.as_ref().is_none_or(|queue| queue.compute_capability() >= (8, 0))
}

/// Returns the bytes of shared memory for one tile of each factor, `factor_tile` in `text/batch_gemm.cu`.
pub(super) fn stage_bytes<T: Scalar>((op_a, op_b): (Op, Op), out: usize) -> usize {
    let (pack, is_z) = (pack::<T>(), size_of::<T>() > 8);
    let deep = if is_z { 8 } else { 16 };
    let elements = |is_deep_fast: bool| {
        let (fast, slow) = if is_deep_fast { (deep, out) } else { (out, deep) };
        let padding = match T::LETTER {
            'd' => 4,
            'z' if is_deep_fast => 4,
            'z' => 2,
            _ => pack,
        };
        ((fast + padding) * slow).next_multiple_of(pack)
    };
    (elements(op_a != Op::None) + elements(op_b == Op::None)) * size_of::<T>()
}
