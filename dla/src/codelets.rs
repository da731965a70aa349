//! The codelets that the algorithms are made of: one per tile kernel, each with its cost.
//!
//! A codelet names no device. Its host implementation is the tile kernel. For devices it says which
//! [`Call`](superscalar_kernels::device::Call) its operands make; the backends carry that out. The panels
//! of LU and QR have such a half for backends that factor panels; others are bound by memory and by latency, and stay on the host.

mod cholesky;
mod cholesky_columns;
mod columns;
mod copying;
mod diagonal;
mod level3;
mod panel;
mod reflect;
mod team;
mod tree;

pub(crate) use cholesky::{Lauum, Potrf, Trtri};
pub(crate) use cholesky_columns::{HerkOfColumn, PotrfOfColumn, Rows, UpdateOfColumn, usual_update};
pub(crate) use columns::{Elimination, GemmOfColumns, Getrf, Laswp, TrsmOfColumns, Zero, two_parts};
pub(crate) use copying::Copying;
pub(crate) use diagonal::{Awaiting, Diagonal};
pub(crate) use level3::{Gemm, Gemmt, Rank2k, RankK, Scale, Symm, Triangle, trmm, trsm};
pub(crate) use reflect::{Application, Geqrf, Larfb, Larft, Ungqr, cost_of_larfb, identity, multiply_out};
pub(crate) use tree::{Branch, BranchApplication, Gather, Scatter};

use crate::tiled::Tile;
use superscalar_kernels::{MatMut, Scalar, device::Mat};
use superscalar_runtime::{BlasLevel, Codelet, Cost, DeviceError, Operand, Reads, TaskSpec, Updates};

/// A tile that a task changes.
pub(crate) type Changed<'s, T> = Tile<MatMut<'s, T>>;
/// A codelet that updates a tile.
pub(crate) type OnOne<'s, T, P> = Codelet<Updates<Changed<'s, T>>, P>;
/// A codelet that reads one tile and updates another.
pub(crate) type OnTwo<'s, T, V, P> = Codelet<(Reads<Tile<V>>, Updates<Changed<'s, T>>), P>;
/// A codelet that reads two tiles and updates a third.
pub(crate) type OnThree<'s, T, V, W, P> = Codelet<(Reads<Tile<V>>, Reads<Tile<W>>, Updates<Changed<'s, T>>), P>;

/// A task's name, and its place in the algorithm's loops.
pub(crate) fn task(name: &'static str, i: usize, j: usize, k: usize) -> TaskSpec {
    TaskSpec::new(name).index([i as u32, j as u32, k as u32])
}

/// The matrix that an operand is in a device's memory.
fn mat<T, V: ?Sized>(operand: Operand<V>) -> Result<Mat<T>, DeviceError> {
    Ok(Mat::new(operand.region()?))
}

/// The cost of a product of m x k by k x n that is added to.
pub(crate) fn cost_of_product<T: Scalar>(m: usize, n: usize, k: usize) -> Cost {
    let (m, n, k) = (m as f64, n as f64, k as f64);
    cost::<T>(m * n * k, m * n * k, m * k + k * n + 2.0 * m * n)
}

/// A cost from the number of multiplications and additions, and of elements touched.
fn cost<T: Scalar>(multiplications: f64, additions: f64, elements: f64) -> Cost {
    let flops = multiplications * f64::from(T::FLOPS_MUL) + additions * f64::from(T::FLOPS_ADD);
    Cost { flops, bytes: elements * size_of::<T>() as f64, level: Some(BlasLevel::Three) }
}
