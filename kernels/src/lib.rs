//! Tile kernels over strided views, in four precisions: the work inside one task.
//!
//! A tiled algorithm cuts its matrices into tiles ([`MatMut::into_tiles`]) and calls one kernel per task on them. The
//! kernels here are that call: single-threaded, generic over [`Scalar`] (`f32 f64 c32 c64`, LAPACK's s, d, c, z), on
//! views with any row and column stride. Parallelism belongs to the runtime, not to a kernel.
//!
//! | module | what is in it |
//! |---|---|
//! | [`scalar`] | the four element types behind one trait |
//! | [`Half`] | `f16` and `bf16`, whose products are summed in single precision |
//! | [`options`] | [`Uplo`], [`Op`], [`Side`], [`Diag`], [`Norm`], [`Part`], [`Direction`], [`Symmetry`] |
//! | [`view`] | strided views: [`MatRef`], [`MatMut`], [`VecRef`], [`VecMut`]; [`Tiles`] cuts them |
//! | [`Tile`], [`Reflector`] | a tile of a matrix, and a block of reflectors, as tasks receive them |
//! | [`Backing`], [`BatchBacking`] | host memory for a tile or a batch that stays on devices |
//! | [`operations`] | tile operations as values, independent of where the operands are |
//! | [`device`] | an operation in a device's heap ([`device::Call`]), and the table of backends |
//! | `sim`, `opencl`, `cuda` | the backends; the last two are cargo features |
//! | `simd`, `vector`, `backend` | vectors of each instruction set; vector kernels; their instances for each type |
//! | [`cpu`] | the tile kernels: the Level-1, Level-2 and Level-3 BLAS, panels of Cholesky, LU and QR |
//! | [`mod@reference`] | the same operations as textbook loops, against which the tests compare |
//! | [`peak`] | the multiply-add peak of the current core, to which rates are compared |
//!
//! With the cargo features `faer`, `ndarray` and `nalgebra`, views convert from and to those of these libraries.
//!
//! # Example
//! ```
//! use superscalar::kernels::{MatMut, MatRef, Op, cpu};
//!
//! let a = [1.0, 3.0, 2.0, 4.0]; // column major: [1 2; 3 4]
//! let mut c = [f64::NAN; 4]; // beta = 0 never reads C
//! let a = MatRef::from_col_major(&a, 2, 2, 2)?;
//! cpu::gemm(1.0, Op::None, a, Op::Trans, a, 0.0, MatMut::from_col_major(&mut c, 2, 2, 2)?);
//! assert_eq!(c, [5.0, 11.0, 11.0, 25.0]);
//! # Ok::<(), superscalar::kernels::ViewError>(())
//! ```

mod backend;
mod backends;
mod backing;
pub mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
mod half;
#[cfg(feature = "opencl")]
pub mod opencl;
pub mod operations;
pub mod options;
mod outcome;
mod pages;
pub mod peak;
pub mod reference;
mod reflector;
pub mod scalar;
#[cfg(any(feature = "cuda", feature = "opencl"))]
mod scratch;
mod sim;
mod simd;
mod tile;
mod vector;
pub mod view;

/// Tile operations for devices: operations as values ([`Call`](device::Call)), and the backends that execute them in a
/// device's queue.
///
/// A tiled algorithm's codelet makes a call of its operands. The backend is chosen when the task is issued. Each
/// backend is a folder of this crate and a row of the table in `backends.rs`.
pub mod device {
    pub use crate::backends::{DeviceBackend, DeviceCall, backends, on_devices};
    pub(crate) use crate::operations::Heap;
    pub use crate::operations::{
        Call, HalfCall, HalfGemm, HalfRound, HalfTarget, Mat, MatrixUse, cost_of_half_product,
    };
}

pub use backing::{Backing, BatchBacking};
pub use half::{Half, HalfResult, bf16, f16};
pub use options::{Diag, Direction, Norm, Op, ParseOptionError, Part, Side, Symmetry, Uplo};
pub use outcome::{NotPositiveDefinite, Singular};
pub use pages::{NoMemory, try_zeros, zeros};
pub use reflector::Reflector;
pub use scalar::{Real, Scalar, c32, c64};
pub use tile::{Tile, TileView};
pub use view::{
    AsMatrix, AsMatrixMut, BatchMut, BatchPlacement, BatchRef, BatchView, MatMut, MatRef, Tiles, VecMut, VecRef,
    ViewError, elements_spanned,
};
