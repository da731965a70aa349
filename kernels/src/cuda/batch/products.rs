//! gemm for batches. Kernels of this crate compute tiny products, those with one column, and those of batches with
//! tables. For other uniform products a table of measurements says whether cuBLAS is faster.

use super::{
    count_of,
    operand::{Operand, classes},
    tile_table::{HasTileLimits, TileTable},
};
use crate::cuda::{
    program::Family,
    stream::{Argument, Concurrency, Launch, LaunchOptions, Stream},
    tile::{ProductTile, TileLimits, pack},
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

impl<T: Scalar> Product<T> {
    /// Puts the products into the stream. They need no scratch.
    pub fn enqueue(&self, stream: &mut Stream<'_, T>) -> Result<(), DeviceError> {
        let &Self { ops: (op_a, op_b), alpha, a, c, count, .. } = self;
        let (m, n) = c.first.shape();
        let Some(gpu) = stream.queue.as_ref().map(|queue| queue.class()) else { return Ok(()) };
        if m == 0 || n == 0 || count == 0 {
            return Ok(());
        }
        if n == 1 && op_b == Op::None {
            return self.enqueue_vectors(stream);
        }
        if let Some(kernel) = tiny_kernel::<T>(m.max(n), gpu.tile_limits()) {
            return stream.launch(Launch {
                family: Family::BatchGemm,
                kernel,
                arguments: &self.arguments(vec![op_code(op_a), op_code(op_b)])?,
                grid: [count.div_ceil(WARP_PROBLEMS), 1, 1],
                threads: [WARP_KERNEL_THREADS, 1],
            });
        }
        let tuned = TileTable::of_gpu(gpu)?.nearest(T::LETTER, m.max(n));
        let tuned = tuned.ok_or_else(|| DeviceError::new("this GPU can run no kernel for batched products"))?;
        let depth = op_a.shape(a.first.shape()).1;
        if c.table.is_none() && depth > 0 && alpha != T::ZERO && tuned.is_for_cublas() {
            return self.enqueue_cublas(stream);
        }
        self.enqueue_tiles(stream, tuned.tile)
    }

    /// Computes the products of uniform batches with cuBLAS.
    pub fn enqueue_cublas(&self, stream: &mut Stream<'_, T>) -> Result<(), DeviceError> {
        let &Self { ops: (op_a, op_b), alpha, a, b, beta, c, count } = self;
        let first = Gemm { part: None, op_a, op_b, alpha, a: a.first, b: b.first, beta, c: c.first };
        stream.gemm_batch(&first, [a.stride, b.stride, c.stride], count)
    }

    /// Computes the products by tiles of this size. Each problem has as many as the largest of the launch.
    pub fn enqueue_tiles(&self, stream: &mut Stream<'_, T>, tile: ProductTile) -> Result<(), DeviceError> {
        let &Self { ops: (op_a, op_b), c, count, .. } = self;
        let (m, n) = c.first.shape();
        let are_trans = [op_a, op_b].map(|op| op != Op::None);
        let kernel = match are_trans {
            [false, false] => "gemm_nn",
            [false, true] => "gemm_nt",
            [true, false] => "gemm_tn",
            [true, true] => "gemm_tt",
        };
        let tiles = m.div_ceil(tile.rows).saturating_mul(n.div_ceil(tile.columns));
        let mut arguments = self.arguments(vec![op_code(op_a), op_code(op_b)])?;
        // No list of tiles.
        arguments.push(Argument::value(0_u64));
        let launch = Launch {
            family: Family::BatchTiles(tile),
            kernel,
            arguments: &arguments,
            grid: [count.saturating_mul(tiles), 1, 1],
            threads: [tile.threads(), 1],
        };
        let shared_bytes = tile.shared_bytes::<T>(are_trans);
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

/// Returns the kernel in which a warp has a product of this order, if there is one. It is faster than cuBLAS.
fn tiny_kernel<T: Scalar>(order: usize, limits: TileLimits) -> Option<&'static str> {
    let has_units = limits.has_units && size_of::<T::Real>() == size_of::<f64>();
    match order {
        ..=8 => Some("gemm_tiny_1"),
        9..=16 => Some("gemm_tiny_2"),
        17..=24 if has_units => Some("gemm_tiny_3"),
        _ => None,
    }
}
