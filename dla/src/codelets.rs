//! The codelets that the algorithms consist of: one per tile kernel, each with its cost.
//!
//! A codelet names no device. Most codelets are an [operation](superscalar_kernels::operations) on parts of tiles
//! (module `tiles`). On the host, the operation runs on views of the tiles. For a device, it becomes a
//! [`Call`](superscalar_kernels::device::Call), which a backend carries out. Panels run on devices only if the backend
//! can factor panels; otherwise they stay on the host, because memory and latency limit them.

mod columns;
mod copy;
mod diagonal;
mod half;
mod level3;
mod panel;
mod reflectors;
mod sum;
mod team;
mod tiles;
mod tree;

pub(crate) use columns::{Getrf, Laswp, RowInterchanges, elimination, triangular_solve};
pub(crate) use copy::{TileCopy, TileMove};
pub(crate) use diagonal::{Diagonal, WaitForCheck};
pub(crate) use half::{HALF_SUM_TASK, HALF_TASK, HalfProduct, HalfSum};
pub(crate) use level3::{Gemm, Rank2k, RankK, Symm, SymmForm, Triangle, triangular_operation};
pub(crate) use reflectors::{Application, Geqrf, Larfb, cost_of_larfb};
pub(crate) use sum::TileSum;
pub(crate) use tiles::{OneTileCodelet, TilePart, TileRole, TwoTileCodelet, plan_critical, plan_operation};
pub(crate) use tree::{apply_block, factor_block, gather, scatter};

use crate::tiled::Tile;
use superscalar_kernels::{
    Diag, MatMut, Op, Scalar, Uplo,
    device::Mat,
    operations::{Operation as _, cost},
};
use superscalar_runtime::{Cost, DeviceError, Lent, Operand, TaskSpec};

/// Result of a task on the host.
type HostResult = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// A tile that a task may change.
pub(crate) type TileMut<'s, T> = Tile<MatMut<'s, T>>;
/// Handle of a tile that a task may change.
type TileMutHandle<'s, T> = Lent<'s, TileMut<'s, T>>;

/// The stored triangle of a triangular matrix, the op on it, and whether its diagonal is ones.
#[derive(Clone, Copy)]
pub(crate) struct TriangleForm {
    pub(crate) uplo: Uplo,
    pub(crate) op: Op,
    pub(crate) diag: Diag,
}

/// Returns a task with a name and its indices in the algorithm's loops.
pub(crate) fn task(name: &'static str, i: usize, j: usize, k: usize) -> TaskSpec {
    TaskSpec::new(name).index([i as u32, j as u32, k as u32])
}

/// Sets the cost of a task.
pub(crate) fn with_cost(spec: TaskSpec, Cost { flops, bytes, level }: Cost) -> TaskSpec {
    let spec = spec.flops(flops).bytes(bytes);
    level.map_or(spec, |level| spec.level(level))
}

/// Returns the matrix that an operand occupies in a device's heap.
fn mat<T, V: ?Sized>(operand: Operand<V>) -> Result<Mat<T>, DeviceError> {
    Ok(Mat::new(operand.region()?))
}

/// Returns the cost of adding the product of an m x k and a k x n matrix to a matrix.
pub(crate) fn cost_of_product<T: Scalar>(m: usize, n: usize, k: usize) -> Cost {
    elimination::<T>(Op::None, (0..m, k), 0..k, 0..m, n).cost()
}

/// Returns the cost of inverting a triangular matrix of order n, which equals that of multiplying it with its adjoint.
pub(crate) fn cost_of_triangle<T: Scalar>(n: usize) -> Cost {
    let n = n as f64;
    cost::<T>(n * n * n / 6.0, n * n * n / 6.0, n * n)
}
