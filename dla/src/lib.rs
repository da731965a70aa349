//! Tiled dense linear algebra on the task runtime, in LAPACK's names, for `f32`, `f64`, `c32` and `c64` ([`Scalar`]).
//!
//! Each routine has two forms. The **blocking** form, at the root of this crate, takes matrices and returns when the
//! result is there, as LAPACK does. The **non-blocking** form, in [`spawn`], takes the tiled matrices of a scope,
//! inserts its tasks and returns. Such calls compose: what one routine writes and the next one reads is ordered tile
//! by tile, without a barrier.
//!
//! | routine | what |
//! |---|---|
//! | [`gemm`], [`gemmt`], [`symm`], [`hemm`], [`trmm`], [`trsm`] | the Level-3 BLAS: products and triangular solves |
//! | [`gemm_half`] | products of matrices of `f16` or `bf16`, summed in `f32` |
//! | [`syrk`], [`herk`], [`syr2k`], [`her2k`] | the Level-3 BLAS: updates of one triangle |
//! | [`getrf`] | LU factorization with partial pivoting: A = P L U |
//! | [`getrs`], [`getri`], [`gecon`] | from LU: the solution of op(A) X = B; the inverse; the condition number |
//! | [`gesv`] | factors and solves |
//! | [`geqrf`], [`gelqf`] | QR and LQ factorization: A = Q R, A = L Q |
//! | [`unmqr`], [`unmlq`], [`ungqr`], [`unglq`] | products with Q; Q itself |
//! | [`tsqr`] | QR factorization of tall matrices by a tree |
//! | [`gels`] | least squares, and solutions of least norm |
//! | [`potrf`] | Cholesky factorization: A = L Lᴴ or Uᴴ U |
//! | [`potrs`], [`potri`], [`pocon`] | from Cholesky: the solution of A X = B; the inverse; the condition number |
//! | [`posv`] | factors and solves |
//! | [`trtrs`], [`trtri`], [`lauum`] | for a triangle: solution, inverse, product with its adjoint |
//! | [`gesv_mixed`], [`posv_mixed`] | factor in the lower precision, refine in the higher |
//! | [`lange`], [`lansy`], [`lanhe`], [`lantr`] | norms |
//! | [`lacpy`], [`laset`], [`geadd`], [`swap`], [`laswp`] | copies, constants, sums, exchanges; interchanges of rows |
//!
//! The routines of [`batch`] work on many small matrices at once.
//!
//! [`matrix_market`] reads and writes Matrix Market files. This crate names no device.
//!
//! # Tiles and block columns
//!
//! A [`Tiled`] matrix is cut into tiles. Each tile is a handle of the scope, and a task names the tiles that it uses.
//! The Level-3 BLAS accepts any tiles whose shapes agree; Cholesky needs square tiles ([`Tiled::new`]). LU and QR
//! need block columns, which are tiles as high as the matrix ([`Tiled::columns`]), because their panels choose pivots
//! among whole columns and reflect whole columns. Their right-hand sides are in block columns, too. One scope can use
//! both kinds.
//!
//! The blocking forms choose tiles from the problem's size and the number of workers, unless [`Options`] name them.
//! They use a table that was measured on this machine if there is one (see [`tuning`]). A problem that is too small
//! to share is computed on the calling thread, without tasks.
//!
//! # Matrices on devices
//!
//! A matrix of the host is copied to devices where tasks need it, and is complete on the host again when a blocking
//! routine or a scope ends. A [`DeviceMatrix`] stays on the devices between scopes: each scope borrows it as a
//! [`Tiled`].
//!
//! # Errors
//!
//! Arguments that do not fit are refused before anything is changed: the blocking forms return an error of kind
//! [`ErrorKind::Shape`] or [`ErrorKind::Argument`], the non-blocking forms panic. A singular or indefinite matrix
//! gives an error whose [`Error::info`] is LAPACK's number. In a scope, such an outcome poisons what depends on it;
//! tasks that would use it are cancelled, all others run, and `?` converts what the scope returns into an [`Error`]
//! with the same `info`. NaN and Inf follow the rules of arithmetic.
//!
//! Results depend on the tiles, bit by bit, but not on the policy or on which worker ran which task: updates of one
//! tile are ordered.
//!
//! # Example
//!
//! ```
//! use superscalar::dla::{Matrix, Options, posv};
//! use superscalar::dla::Uplo;
//! use superscalar::Runtime;
//!
//! let rt = Runtime::new()?;
//! let mut a = Matrix::from_fn(3, 3, |i, j| if i == j { 4.0 } else { 1.0 });
//! let mut b = Matrix::from_fn(3, 1, |_, _| 6.0);
//! posv(&rt, Uplo::Lower, a.as_mut(), b.as_mut(), &Options::default())?;
//! assert!((b.at(2, 0) - 1.0f64).abs() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod auxiliary;
pub mod batch;
mod block_size;
mod block_table;
mod cholesky;
mod codelets;
mod columns;
mod condition;
mod device_matrix;
mod distribution;
mod error;
mod factorization_steps;
mod level3;
mod lu;
mod matrix;
mod measure;
mod memory;
mod mixed;
mod options;
mod plan;
mod product_plan;
mod qr;
mod scaling;
mod subtasks;
mod tiled;

pub use auxiliary::{
    geadd::geadd,
    lacpy::lacpy,
    lange::{lange, lanhe, lansy, lantr},
    laset::laset,
    laswp::laswp,
    swap::swap,
};
pub use block_size::BlockSize;
pub use cholesky::{lauum::lauum, posv::posv, potrf::potrf, potri::potri, potrs::potrs, trtri::trtri, trtrs::trtrs};
pub use condition::{gecon, pocon};
pub use device_matrix::{DeviceMatrix, Layout};
pub use error::{Error, ErrorKind};
pub use level3::{
    gemm::gemm,
    gemm_half::gemm_half,
    gemmt::gemmt,
    symm::{hemm, symm},
    syr2k::{her2k, syr2k},
    syrk::{herk, syrk},
    trmm::trmm,
    trsm::trsm,
};
pub use lu::{Pivots, gesv::gesv, getrf::getrf, getri::getri, getrs::getrs};
pub use matrix::Matrix;
pub use mixed::{MixedPrecision, gesv_mixed, posv_mixed};
pub use options::{Distribution, Options, PlanFeatures, UnknownDistribution};
pub use product_plan::ProductPlan;
pub use qr::{
    Reflectors, RowReflectors, TsqrFactors, gelqf::gelqf, gels::gels, geqrf::geqrf, tsqr::tsqr, unglq::unglq,
    ungqr::ungqr, unmlq::unmlq, unmqr::unmqr,
};
pub use superscalar_kernels::{
    AsMatrix, AsMatrixMut, BatchMut, BatchRef, Diag, Direction, Half, HalfResult, MatMut, MatRef, Norm,
    NotPositiveDefinite, Op, Part, Real, Side, Singular, Uplo, ViewError, bf16, c32, c64, f16,
};
pub use superscalar_matrix_market as matrix_market;

pub use tiled::{Tile, TileView, Tiled};

use auxiliary::Auxiliary;
use batch::Batches;
use cholesky::Cholesky;
use condition::Conditions;
use device_matrix::Transfers;
use level3::Level3;
use lu::Lu;
use matrix::Storage;
use measure::HasMeasure;
use qr::Qr;
use superscalar_macros::each_type;
use tiled::Tiling;

/// The element of a matrix: `f32`, `f64`, `c32` or `c64`, with the arithmetic of [`superscalar_kernels::Scalar`]. This
/// trait is sealed.
///
/// Its other supertraits contain the routines, so that this crate compiles them once for each type and programs do not
/// compile them again.
///
/// ```
/// use superscalar::{
///     Runtime,
///     dla::{Error, Matrix, Options, Scalar, Uplo, posv},
/// };
///
/// fn solution<T: Scalar>(rt: &Runtime, mut a: Matrix<T>, mut b: Matrix<T>) -> Result<Matrix<T>, Error> {
///     posv(rt, Uplo::Lower, a.as_mut(), b.as_mut(), &Options::default())?;
///     Ok(b)
/// }
/// let (a, b) = (Matrix::from_fn(1, 1, |_, _| 4.0), Matrix::from_fn(1, 1, |_, _| 12.0));
/// assert_eq!(solution(&Runtime::new()?, a, b)?.at(0, 0), 3.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
#[diagnostic::on_unimplemented(
    message = "the routines do not accept matrices of `{Self}`",
    note = "generic functions that call them need `T: superscalar::dla::Scalar`; the kernels' `Scalar` has no routines"
)]
pub trait Scalar:
    superscalar_kernels::Scalar
    + Level3
    + Lu
    + Qr
    + Cholesky
    + Conditions
    + Auxiliary
    + Batches
    + Tiling
    + Transfers
    + Storage
    + HasMeasure
{
}

/// Block sizes measured on this machine.
pub mod tuning {
    pub use crate::{block_table::*, measure::measure};
}

/// The non-blocking forms: each inserts its tasks into a scope and returns.
///
/// gesv_mixed, posv_mixed and trtrs have no such form, because they decide how to go on from numbers that they compute.
///
/// ```
/// use superscalar::{
///     Runtime,
///     dla::{Matrix, Tiled, Uplo, spawn},
/// };
///
/// let rt = Runtime::new()?;
/// let mut a = Matrix::from_fn(300, 300, |i, j| if i == j { 300.0 } else { 1.0 });
/// let mut b = Matrix::from_fn(300, 2, |_, _| 599.0);
/// rt.scope(|s| {
///     let a = Tiled::new(s, a.as_mut(), 64, 64);
///     let b = Tiled::new(s, b.as_mut(), 64, 64);
///     // The solution starts while the last tiles are still being factored.
///     spawn::potrf(s, Uplo::Lower, &a);
///     spawn::potrs(s, Uplo::Lower, &a, &b);
/// })?;
/// assert!((b.at(299, 1) - 1.0f64).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod spawn {
    pub use crate::auxiliary::{
        geadd::spawn as geadd,
        lacpy::spawn as lacpy,
        lange::{spawn_lange as lange, spawn_lanhe as lanhe, spawn_lansy as lansy, spawn_lantr as lantr},
        laset::spawn as laset,
        laswp::spawn as laswp,
        swap::spawn as swap,
    };
    pub use crate::cholesky::{
        lauum::spawn as lauum, posv::spawn as posv, potrf::spawn as potrf, potri::spawn as potri,
        potrs::spawn as potrs, trtri::spawn as trtri,
    };
    pub use crate::condition::{spawn_gecon as gecon, spawn_pocon as pocon};
    pub use crate::device_matrix::spawn_copy as copy;
    pub use crate::level3::{
        gemm::spawn as gemm,
        gemmt::spawn as gemmt,
        symm::{spawn_hemm as hemm, spawn_symm as symm},
        syr2k::{spawn_her2k as her2k, spawn_syr2k as syr2k},
        syrk::{spawn_herk as herk, spawn_syrk as syrk},
        trmm::spawn as trmm,
        trsm::spawn as trsm,
    };
    pub use crate::lu::{
        gesv::spawn as gesv,
        getrf::spawn as getrf,
        getri::spawn as getri,
        getrs::{pivots, spawn as getrs},
    };
    pub use crate::qr::{
        gelqf::spawn as gelqf,
        gels::spawn as gels,
        geqrf::spawn as geqrf,
        tsqr::spawn as tsqr,
        unglq::spawn as unglq,
        ungqr::spawn as ungqr,
        unmlq::{row_reflectors, spawn as unmlq},
        unmqr::{reflectors, spawn as unmqr},
    };
}

/// The routines on the calling thread, without a runtime, for small matrices and for the bodies of tasks. The blocking
/// forms call them for problems that are too small to share.
///
/// Like the kernels that complete this family ([`potrf`](superscalar_kernels::cpu::potrf),
/// [`getrf`](superscalar_kernels::cpu::getrf) and others), they panic if the shapes do not agree.
///
/// ```
/// use superscalar::dla::{Matrix, Uplo, serial};
///
/// let mut a = Matrix::from_fn(3, 3, |i, j| if i == j { 4.0 } else { 1.0 });
/// let mut b = Matrix::from_fn(3, 1, |_, _| 6.0);
/// serial::posv(Uplo::Lower, a.as_mut(), b.as_mut())?;
/// assert!((b.at(0, 0) - 1.0f64).abs() < 1e-15);
/// # Ok::<(), superscalar::dla::NotPositiveDefinite>(())
/// ```
pub mod serial {
    pub use crate::auxiliary::lange::{
        serial_lange as lange, serial_lanhe as lanhe, serial_lansy as lansy, serial_lantr as lantr,
    };
    pub use crate::cholesky::{posv::serial as posv, potri::serial as potri, potrs::serial as potrs};
    pub use crate::condition::{serial_gecon as gecon, serial_pocon as pocon};
    pub use crate::lu::{gesv::serial as gesv, getri::serial as getri, getrs::serial as getrs};
    pub use crate::qr::{
        gelqf::serial as gelqf, gels::serial as gels, geqrf::serial as geqrf, unglq::serial as unglq,
        ungqr::serial as ungqr, unmlq::serial as unmlq, unmqr::serial as unmqr,
    };
}
