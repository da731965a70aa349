//! cuBLAS's routines, by element type, as operations of a [`Stream`].
//!
//! All are routines of the 64-bit interface. Their scalars are in host memory, and cuBLAS reads them before a call
//! returns. Real types use the routines for symmetric matrices in place of those for Hermitian ones.

use super::stream::Stream;
use super::triangular::Triangle;
use crate::{
    Diag, Half, Op, Scalar, Side, Symmetry, Uplo,
    device::Mat,
    f16,
    operations::{Gemm, HalfGemm, HalfTarget, Rank2k, RankK, Symm},
    scalar::{LETTERS, index_of},
};
use cudarc::cublas::sys::{
    self, cublasComputeType_t as Compute, cublasDiagType_t as DiagType, cublasFillMode_t as FillMode,
    cublasGemmAlgo_t as Algorithm, cublasHandle_t as Handle, cublasMath_t as Math, cublasOperation_t as Operation,
    cublasSideMode_t as SideMode, cublasStatus_t as Status, cudaDataType_t,
};
use std::{ffi::c_void, sync::OnceLock};
use superscalar_devices::cuda::{Library, requires};
use superscalar_runtime::DeviceError;

/// A matrix as cuBLAS takes it: its address and its leading dimension.
#[derive(Clone, Copy)]
struct BlasMatrix {
    address: *mut c_void,
    ld: i64,
}

/// The matrices of a batch: the first one, and the elements from one to the next.
#[derive(Clone, Copy)]
struct BlasBatch {
    first: BlasMatrix,
    stride: i64,
}

/// The options of trsm.
struct TrsmModes {
    side: SideMode,
    uplo: FillMode,
    op: Operation,
    diag: DiagType,
}

/// A pointer to a scalar in host memory.
type ScalarPtr = *const c_void;
/// m, n and k, or n and k.
type Sizes<const N: usize> = [i64; N];
type GemmFn = unsafe fn(Handle, [Operation; 2], Sizes<3>, ScalarPtr, [BlasMatrix; 2], ScalarPtr, BlasMatrix) -> Status;
type GemmBatchFn =
    unsafe fn(Handle, [Operation; 2], Sizes<3>, ScalarPtr, [BlasBatch; 2], ScalarPtr, BlasBatch, i64) -> Status;
type RankKFn =
    unsafe fn(Handle, (FillMode, Operation), Sizes<2>, ScalarPtr, BlasMatrix, ScalarPtr, BlasMatrix) -> Status;
type Rank2kFn =
    unsafe fn(Handle, (FillMode, Operation), Sizes<2>, ScalarPtr, [BlasMatrix; 2], ScalarPtr, BlasMatrix) -> Status;
type SymmFn =
    unsafe fn(Handle, (SideMode, FillMode), Sizes<2>, ScalarPtr, [BlasMatrix; 2], ScalarPtr, BlasMatrix) -> Status;
type TrsmFn = unsafe fn(Handle, TrsmModes, Sizes<2>, ScalarPtr, BlasMatrix, BlasMatrix) -> Status;

/// The routines of one element type.
///
/// # Safety
/// A call is safe if the handle is valid, the matrices are in memory of the handle's device, with the given shapes,
/// while the routine runs, and the scalars have the routine's types and 16-byte alignment.
struct Routines {
    /// The names in the library. Versions before 12 do not have all of them.
    names: &'static [&'static str],
    gemm: GemmFn,
    batch: GemmBatchFn,
    /// symm and hemm, by [`table_index`].
    symmetric: [SymmFn; 2],
    /// syrk and herk, by [`table_index`].
    rank_k: [RankKFn; 2],
    /// syr2k and her2k, by [`table_index`].
    rank_2k: [Rank2kFn; 2],
    trsm: TrsmFn,
}

/// Returns the index of a routine's symmetric or Hermitian form in the tables.
fn table_index(symmetry: Symmetry) -> usize {
    match symmetry {
        Symmetry::Symmetric => 0,
        Symmetry::Hermitian => 1,
    }
}

/// Makes one of four tables from the routines' names; those for Hermitian matrices come last.
macro_rules! routines {
    (
        $gemm:ident $batch:ident $trsm:ident;
        $symm:ident $syrk:ident $syr2k:ident; $hemm:ident $herk:ident $her2k:ident
    ) => {
        Routines {
            names: &[
                stringify!($gemm), stringify!($batch), stringify!($trsm), stringify!($symm),
                stringify!($syrk), stringify!($syr2k), stringify!($hemm), stringify!($herk), stringify!($her2k),
            ],
            gemm: |h, [op_a, op_b], [m, n, k], alpha, [a, b], beta, c| {
                // SAFETY: the caller keeps the contract of `Routines`.
                unsafe {
                    sys::$gemm(
                        h, op_a, op_b, m, n, k, alpha.cast(), a.address.cast(), a.ld, b.address.cast(), b.ld,
                        beta.cast(), c.address.cast(), c.ld,
                    )
                }
            },
            batch: |h, [op_a, op_b], [m, n, k], alpha, [a, b], beta, c, count| {
                // SAFETY: the caller keeps the contract of `Routines`.
                unsafe {
                    sys::$batch(
                        h, op_a, op_b, m, n, k, alpha.cast(), a.first.address.cast(), a.first.ld, a.stride,
                        b.first.address.cast(), b.first.ld, b.stride, beta.cast(), c.first.address.cast(), c.first.ld,
                        c.stride, count,
                    )
                }
            },
            symmetric: [routines!(@symmetric $symm), routines!(@symmetric $hemm)],
            rank_k: [routines!(@rank_k $syrk), routines!(@rank_k $herk)],
            rank_2k: [routines!(@rank_2k $syr2k), routines!(@rank_2k $her2k)],
            trsm: |h, TrsmModes { side, uplo, op, diag }, [m, n], alpha, a, b| {
                // SAFETY: the caller keeps the contract of `Routines`.
                unsafe {
                    sys::$trsm(
                        h, side, uplo, op, diag, m, n, alpha.cast(), a.address.cast(), a.ld, b.address.cast(), b.ld,
                    )
                }
            },
        }
    };
    (@symmetric $symm:ident) => {
        |h, (side, uplo), [m, n], alpha, [a, b], beta, c| {
            // SAFETY: the caller keeps the contract of `Routines`.
            unsafe {
                sys::$symm(
                    h, side, uplo, m, n, alpha.cast(), a.address.cast(), a.ld, b.address.cast(), b.ld, beta.cast(),
                    c.address.cast(), c.ld,
                )
            }
        }
    };
    (@rank_k $syrk:ident) => {
        |h, (uplo, op), [n, k], alpha, a, beta, c| {
            // SAFETY: the caller keeps the contract of `Routines`.
            unsafe {
                sys::$syrk(
                    h, uplo, op, n, k, alpha.cast(), a.address.cast(), a.ld, beta.cast(), c.address.cast(), c.ld,
                )
            }
        }
    };
    (@rank_2k $syr2k:ident) => {
        |h, (uplo, op), [n, k], alpha, [a, b], beta, c| {
            // SAFETY: the caller keeps the contract of `Routines`.
            unsafe {
                sys::$syr2k(
                    h, uplo, op, n, k, alpha.cast(), a.address.cast(), a.ld, b.address.cast(), b.ld, beta.cast(),
                    c.address.cast(), c.ld,
                )
            }
        }
    };
}

/// The tables of s, d, c and z.
static ROUTINES: [Routines; 4] = [
    routines! {
        cublasSgemm_v2_64 cublasSgemmStridedBatched_64 cublasStrsm_v2_64;
        cublasSsymm_v2_64 cublasSsyrk_v2_64 cublasSsyr2k_v2_64; cublasSsymm_v2_64 cublasSsyrk_v2_64 cublasSsyr2k_v2_64
    },
    routines! {
        cublasDgemm_v2_64 cublasDgemmStridedBatched_64 cublasDtrsm_v2_64;
        cublasDsymm_v2_64 cublasDsyrk_v2_64 cublasDsyr2k_v2_64; cublasDsymm_v2_64 cublasDsyrk_v2_64 cublasDsyr2k_v2_64
    },
    routines! {
        cublasCgemm_v2_64 cublasCgemmStridedBatched_64 cublasCtrsm_v2_64;
        cublasCsymm_v2_64 cublasCsyrk_v2_64 cublasCsyr2k_v2_64; cublasChemm_v2_64 cublasCherk_v2_64 cublasCher2k_v2_64
    },
    routines! {
        cublasZgemm_v2_64 cublasZgemmStridedBatched_64 cublasZtrsm_v2_64;
        cublasZsymm_v2_64 cublasZsyrk_v2_64 cublasZsyr2k_v2_64; cublasZhemm_v2_64 cublasZherk_v2_64 cublasZher2k_v2_64
    },
];

/// Returns the table of a type, or an error if the library lacks one of its routines.
fn routines<T: Scalar>() -> Result<&'static Routines, DeviceError> {
    static CHECKED: [OnceLock<Result<(), DeviceError>>; LETTERS.len()] = [const { OnceLock::new() }; LETTERS.len()];
    let at = index_of::<T>();
    CHECKED[at].get_or_init(|| requires(Library::Blas, ROUTINES[at].names)).clone()?;
    Ok(&ROUTINES[at])
}

fn fill(uplo: Uplo) -> FillMode {
    match uplo {
        Uplo::Lower => FillMode::CUBLAS_FILL_MODE_LOWER,
        Uplo::Upper => FillMode::CUBLAS_FILL_MODE_UPPER,
    }
}

fn side_mode(side: Side) -> SideMode {
    match side {
        Side::Left => SideMode::CUBLAS_SIDE_LEFT,
        Side::Right => SideMode::CUBLAS_SIDE_RIGHT,
    }
}

/// Translates an operation. For real elements a conjugate transpose becomes a plain one, because not every routine for
/// real types accepts it.
fn operation<T: Scalar>(op: Op) -> Operation {
    match op {
        Op::None => Operation::CUBLAS_OP_N,
        Op::ConjTrans if T::COMPLEX => Operation::CUBLAS_OP_C,
        Op::Trans | Op::ConjTrans => Operation::CUBLAS_OP_T,
    }
}

/// A scalar with the alignment of CUDA's complex types, which cuBLAS reads by aligned instructions.
#[repr(C, align(16))]
struct AlignedScalar<E>(E);

fn scalar_ptr<E>(x: &AlignedScalar<E>) -> ScalarPtr {
    (&raw const x.0).cast()
}

impl<T: Scalar> Stream<'_, T> {
    fn matrix<E>(&self, mat: Mat<E>) -> Result<BlasMatrix, DeviceError> {
        let address = self.queue.as_ref().map_or(Ok(0), |queue| queue.address(mat.offset * size_of::<E>()))?;
        Ok(BlasMatrix { address: std::ptr::with_exposed_provenance_mut(address as usize), ld: mat.ld as i64 })
    }

    /// Calls a routine, unless the stream has no queue.
    fn blas(
        &mut self,
        routine: &'static str,
        call: impl FnOnce(&Routines, Handle) -> Status,
    ) -> Result<(), DeviceError> {
        let Some(queue) = &mut self.queue else { return Ok(()) };
        let handle = queue.blas()?;
        match call(routines::<T>()?, handle) {
            Status::CUBLAS_STATUS_SUCCESS => Ok(()),
            status => Err(DeviceError::new(format!("cuBLAS's {}{routine} failed: {status:?}", T::LETTER))),
        }
    }

    /// Computes C := alpha op(A) op(B) + beta C, for all of C. No size may be zero, here and in the methods below.
    pub fn gemm(&mut self, gemm: &Gemm<T, Mat<T>>) -> Result<(), DeviceError> {
        let &Gemm { op_a, op_b, alpha, a, b, beta, c, .. } = gemm;
        let ops = [op_a, op_b].map(operation::<T>);
        let sizes = [c.m, c.n, op_a.shape(a.shape()).1].map(|size| size as i64);
        let (operands, c) = ([self.matrix(a)?, self.matrix(b)?], self.matrix(c)?);
        let (alpha, beta) = (AlignedScalar(alpha), AlignedScalar(beta));
        self.blas("gemm", |routines, handle| {
            // SAFETY: the handle is of the queue's context; `check` has found the shapes to agree and the matrices to
            // be in the queue's heap, which the task may use; and the scalars are read before the call returns.
            unsafe { (routines.gemm)(handle, ops, sizes, scalar_ptr(&alpha), operands, scalar_ptr(&beta), c) }
        })
    }

    /// Computes a batch of `count` products, each `steps` elements further in A, B and C than the one before.
    pub fn gemm_batch(&mut self, first: &Gemm<T, Mat<T>>, steps: [usize; 3], count: usize) -> Result<(), DeviceError> {
        let &Gemm { op_a, op_b, alpha, a, b, beta, c, .. } = first;
        let ops = [op_a, op_b].map(operation::<T>);
        let sizes = [c.m, c.n, op_a.shape(a.shape()).1].map(|size| size as i64);
        let [a_step, b_step, c_step] = steps.map(|step| step as i64);
        let operands = [
            BlasBatch { first: self.matrix(a)?, stride: a_step },
            BlasBatch { first: self.matrix(b)?, stride: b_step },
        ];
        let c = BlasBatch { first: self.matrix(c)?, stride: c_step };
        let (alpha, beta) = (AlignedScalar(alpha), AlignedScalar(beta));
        self.blas("gemmStridedBatched", |routines, handle| {
            let (alpha, beta) = (scalar_ptr(&alpha), scalar_ptr(&beta));
            // SAFETY: as for `gemm`: every matrix of the batch is a part of the call's operands, or of its scratch.
            unsafe { (routines.batch)(handle, ops, sizes, alpha, operands, beta, c, count as i64) }
        })
    }

    /// Computes symm or hemm.
    pub fn symm(&mut self, symm: &Symm<T, Mat<T>>) -> Result<(), DeviceError> {
        let &Symm { symmetry, side, uplo, alpha, a, b, beta, c } = symm;
        let (modes, sizes) = ((side_mode(side), fill(uplo)), [c.m as i64, c.n as i64]);
        let (operands, c) = ([self.matrix(a)?, self.matrix(b)?], self.matrix(c)?);
        let (alpha, beta) = (AlignedScalar(alpha), AlignedScalar(beta));
        self.blas(symmetry.mm(), |routines, handle| {
            let symm = routines.symmetric[table_index(symmetry)];
            // SAFETY: as for `gemm`: handle and heap are the queue's, and the scalars are read before the call returns.
            unsafe { symm(handle, modes, sizes, scalar_ptr(&alpha), operands, scalar_ptr(&beta), c) }
        })
    }

    /// Computes syrk or herk, of a square C.
    pub fn rank_k(&mut self, update: &RankK<T, Mat<T>>) -> Result<(), DeviceError> {
        let &RankK { symmetry, uplo, op, alpha, a, beta, c } = update;
        let modes = (fill(uplo), operation::<T>(op));
        let sizes = [c.n, op.shape(a.shape()).1].map(|size| size as i64);
        let (a, c) = (self.matrix(a)?, self.matrix(c)?);
        let (real_alpha, real_beta) = (AlignedScalar(alpha.re()), AlignedScalar(beta.re()));
        let (alpha, beta) = (AlignedScalar(alpha), AlignedScalar(beta));
        self.blas(symmetry.rank_k(), |routines, handle| {
            let update = routines.rank_k[table_index(symmetry)];
            let (alpha, beta) = match symmetry {
                Symmetry::Hermitian => (scalar_ptr(&real_alpha), scalar_ptr(&real_beta)),
                Symmetry::Symmetric => (scalar_ptr(&alpha), scalar_ptr(&beta)),
            };
            // SAFETY: as for `gemm`: handle and heap are the queue's, and the scalars are read before the call returns.
            // herk's scalars are real; for real types it is syrk, whose scalars are real, too.
            unsafe { update(handle, modes, sizes, alpha, a, beta, c) }
        })
    }

    /// Computes syr2k or her2k.
    pub fn rank_2k(&mut self, update: &Rank2k<T, Mat<T>>) -> Result<(), DeviceError> {
        let &Rank2k { symmetry, uplo, op, alpha, a, b, beta, c } = update;
        let modes = (fill(uplo), operation::<T>(op));
        let sizes = [c.n, op.shape(a.shape()).1].map(|size| size as i64);
        let (operands, c) = ([self.matrix(a)?, self.matrix(b)?], self.matrix(c)?);
        let (real_beta, alpha, beta) = (AlignedScalar(beta.re()), AlignedScalar(alpha), AlignedScalar(beta));
        self.blas(symmetry.rank_2k(), |routines, handle| {
            let update = routines.rank_2k[table_index(symmetry)];
            let beta = if symmetry == Symmetry::Hermitian { scalar_ptr(&real_beta) } else { scalar_ptr(&beta) };
            // SAFETY: as for `gemm`: handle and heap are the queue's, and the scalars are read before the call returns.
            // her2k's beta is real.
            unsafe { update(handle, modes, sizes, scalar_ptr(&alpha), operands, beta, c) }
        })
    }

    /// Computes B := alpha op(A)⁻¹ B or alpha B op(A)⁻¹.
    pub fn trsm(&mut self, triangle: &Triangle<T>) -> Result<(), DeviceError> {
        let &Triangle { side, uplo, op, diag, alpha, a, b, .. } = triangle;
        let diag = match diag {
            Diag::NonUnit => DiagType::CUBLAS_DIAG_NON_UNIT,
            Diag::Unit => DiagType::CUBLAS_DIAG_UNIT,
        };
        let modes = TrsmModes { side: side_mode(side), uplo: fill(uplo), op: operation::<T>(op), diag };
        let (sizes, a, b) = ([b.m as i64, b.n as i64], self.matrix(a)?, self.matrix(b)?);
        let alpha = AlignedScalar(alpha);
        self.blas("trsm", |routines, handle| {
            // SAFETY: as for `gemm`: handle and heap are the queue's, and the scalar is read before the call returns.
            unsafe { (routines.trsm)(handle, modes, sizes, scalar_ptr(&alpha), a, b) }
        })
    }
}

/// Returns cuBLAS's number for a type in half precision.
fn half_type<H: Half>() -> cudaDataType_t {
    if H::NAME == f16::NAME { cudaDataType_t::CUDA_R_16F } else { cudaDataType_t::CUDA_R_16BF }
}

impl Stream<'_, f32> {
    /// Computes C := alpha op(A) op(B) + beta C in half precision, summed in single precision. No size may be zero.
    pub fn gemm_half<H: Half>(&mut self, gemm: &HalfGemm<H>) -> Result<(), DeviceError> {
        static CHECKED: OnceLock<Result<(), DeviceError>> = OnceLock::new();
        let &HalfGemm { op_a, op_b, alpha, a, b, beta, c } = gemm;
        let [op_a_code, op_b_code] = [op_a, op_b].map(operation::<f32>);
        let (m, n) = c.shape();
        let [m, n, k] = [m, n, op_a.shape(a.shape()).1].map(|size| size as i64);
        let (a, b) = (self.matrix(a)?, self.matrix(b)?);
        let (c, c_type) = match c {
            HalfTarget::Half(c) => (self.matrix(c)?, half_type::<H>()),
            HalfTarget::Single(c) => (self.matrix(c)?, cudaDataType_t::CUDA_R_32F),
        };
        let Some(queue) = &mut self.queue else { return Ok(()) };
        CHECKED.get_or_init(|| requires(Library::Blas, &["cublasGemmEx_64", "cublasSetMathMode"])).clone()?;
        let handle = queue.blas()?;
        let (factor, keep) = (AlignedScalar(alpha), AlignedScalar(beta));
        // Partial sums of a product that is cut along k would be rounded to half precision.
        let modes = [Math::CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION, Math::CUBLAS_DEFAULT_MATH];
        // SAFETY: the handle is valid, and no other thread uses it.
        let set = |mode| unsafe { sys::cublasSetMathMode(handle, mode) };
        let mut status = set(modes[0]);
        if status == Status::CUBLAS_STATUS_SUCCESS {
            // SAFETY: the handle is of the queue's context; `check` has found the shapes to agree and the matrices to
            // be in the queue's heap, which the task may use; their types are the ones named; and the scalars, of the
            // type of the sums, are read before the call returns.
            status = unsafe {
                sys::cublasGemmEx_64(
                    handle,
                    op_a_code,
                    op_b_code,
                    m,
                    n,
                    k,
                    scalar_ptr(&factor),
                    a.address,
                    half_type::<H>(),
                    a.ld,
                    b.address,
                    half_type::<H>(),
                    b.ld,
                    scalar_ptr(&keep),
                    c.address,
                    c_type,
                    c.ld,
                    Compute::CUBLAS_COMPUTE_32F,
                    Algorithm::CUBLAS_GEMM_DEFAULT,
                )
            };
        }
        let reset = set(modes[1]);
        match if status == Status::CUBLAS_STATUS_SUCCESS { reset } else { status } {
            Status::CUBLAS_STATUS_SUCCESS => Ok(()),
            status => Err(DeviceError::new(format!("cuBLAS's GemmEx for {} failed: {status:?}", H::NAME))),
        }
    }
}
