//! The codelets that the algorithms are made of: one per tile kernel, each with its cost.
//!
//! A codelet names no device. Most are an [operation](superscalar_kernels::operations) on parts of tiles (`tiles`): on the host it is run with the
//! views of tiles, for a device it becomes a [`Call`](superscalar_kernels::device::Call), which the backends carry out. The panels
//! of factorizations have such a half for backends that factor panels; others are bound by memory and by latency, and stay on the host.

mod columns;
mod copying;
mod diagonal;
mod level3;
mod panel;
mod reflect;
mod team;
mod tiles;
mod tree;

pub(crate) use columns::{Getrf, Laswp, elimination, system};
pub(crate) use copying::Copying;
pub(crate) use diagonal::{Awaiting, Diagonal};
pub(crate) use level3::{Gemm, Rank2k, RankK, Symm, Triangle, triangular};
pub(crate) use reflect::{Application, Geqrf, Larfb, cost_of_larfb};
pub(crate) use tiles::{OnOne, OnTwo, Part, Which, plan, plan_awaited};
pub(crate) use tree::{apply_block, factor_block, gather, scatter};

use crate::tiled::Tile;
use superscalar_kernels::{
    MatMut, Op, Scalar,
    device::Mat,
    operations::{Operation as _, cost},
};
use superscalar_runtime::{Cost, DeviceError, Lent, Operand, TaskSpec};

/// What becomes of a task on the host.
type Outcome = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// A tile that a task changes.
pub(crate) type Changed<'s, T> = Tile<MatMut<'s, T>>;
/// The same as a handle.
type Target<'s, T> = Lent<'s, Changed<'s, T>>;

/// A task's name, and its place in the algorithm's loops.
pub(crate) fn task(name: &'static str, i: usize, j: usize, k: usize) -> TaskSpec {
    TaskSpec::new(name).index([i as u32, j as u32, k as u32])
}

/// The task with this cost.
pub(crate) fn costing(spec: TaskSpec, Cost { flops, bytes, level }: Cost) -> TaskSpec {
    let spec = spec.flops(flops).bytes(bytes);
    level.map_or(spec, |level| spec.level(level))
}

/// The matrix that an operand is in a device's memory.
fn mat<T, V: ?Sized>(operand: Operand<V>) -> Result<Mat<T>, DeviceError> {
    Ok(Mat::new(operand.region()?))
}

/// The cost of a product of m x k by k x n that is added to.
pub(crate) fn cost_of_product<T: Scalar>(m: usize, n: usize, k: usize) -> Cost {
    elimination::<T>(Op::None, (0..m, k), 0..k, 0..m, n).cost()
}

/// The cost of the inverse of a triangle of order n, and that of its product with its adjoint.
pub(crate) fn cost_of_triangle<T: Scalar>(n: usize) -> Cost {
    let n = n as f64;
    cost::<T>(n * n * n / 6.0, n * n * n / 6.0, n * n)
}
