//! cuBLAS's routines, by element type: what a [`Stream`] can be given besides kernels of our own.
//!
//! All are those of the 64-bit interface, with scalars in host memory, which cuBLAS reads before it returns. Real types take the routines
//! for symmetric matrices where complex ones have those for Hermitian matrices.

use super::stream::Stream;
use super::triangular::Triangle;
use crate::{
    Diag, Op, Scalar, Side, Symmetry, Uplo,
    device::Mat,
    operations::{Gemm, Rank2k, RankK, Symm},
};
use cudarc::cublas::sys::{
    self, cublasDiagType_t as DiagType, cublasFillMode_t as FillMode, cublasHandle_t as Handle,
    cublasOperation_t as Operation, cublasSideMode_t as SideMode, cublasStatus_t as Status,
};
use std::{ffi::c_void, sync::OnceLock};
use superscalar_devices::cuda::{Library, requires};
use superscalar_runtime::DeviceError;

/// A matrix as cuBLAS is told of it: its address and its leading dimension.
#[derive(Clone, Copy)]
struct Place(*mut c_void, i64);

/// A scalar in host memory.
type Number = *const c_void;
/// m, n and k, or n and k.
type Sizes<const N: usize> = [i64; N];
/// A matrix with the elements from one of the batch to the next.
type Batched = (Place, i64);
type Multiply = unsafe fn(Handle, [Operation; 2], Sizes<3>, Number, [Place; 2], Number, Place) -> Status;
type MultiplyBatch = unsafe fn(Handle, [Operation; 2], Sizes<3>, Number, [Batched; 2], Number, Batched, i64) -> Status;
type Update = unsafe fn(Handle, (FillMode, Operation), Sizes<2>, Number, Place, Number, Place) -> Status;
type Update2 = unsafe fn(Handle, (FillMode, Operation), Sizes<2>, Number, [Place; 2], Number, Place) -> Status;
type Symmetric = unsafe fn(Handle, (SideMode, FillMode), Sizes<2>, Number, [Place; 2], Number, Place) -> Status;
type Triangular =
    unsafe fn(Handle, (SideMode, FillMode, Operation, DiagType), Sizes<2>, Number, Place, Place) -> Status;

/// The routines of one element type.
struct Functions {
    /// What the library calls them: those before version 12 do not have all.
    names: &'static [&'static str],
    gemm: Multiply,
    batch: MultiplyBatch,
    /// symm and hemm, by [`of`].
    symmetric: [Symmetric; 2],
    /// syrk and herk.
    rank_k: [Update; 2],
    /// syr2k and her2k.
    rank_2k: [Update2; 2],
    trsm: Triangular,
}

/// Where the tables have a routine's two forms.
fn of(symmetry: Symmetry) -> usize {
    match symmetry {
        Symmetry::Symmetric => 0,
        Symmetry::Hermitian => 1,
    }
}

/// One of four tables: the routines' names, those for Hermitian matrices last.
macro_rules! functions {
    ($gemm:ident $batch:ident $trsm:ident; $symm:ident $syrk:ident $syr2k:ident; $hemm:ident $herk:ident $her2k:ident) => {
        Functions {
            names: &[
                stringify!($gemm), stringify!($batch), stringify!($trsm), stringify!($symm),
                stringify!($syrk), stringify!($syr2k), stringify!($hemm), stringify!($herk), stringify!($her2k),
            ],
            gemm: |h, [op_a, op_b], [m, n, k], alpha, [a, b], beta, c| {
                // SAFETY: the caller's, as for all that follow.
                unsafe {
                    sys::$gemm(h, op_a, op_b, m, n, k, alpha.cast(), a.0.cast(), a.1, b.0.cast(), b.1, beta.cast(), c.0.cast(), c.1)
                }
            },
            batch: |h, [op_a, op_b], [m, n, k], alpha, [(a, next_a), (b, next_b)], beta, (c, next_c), count| {
                // SAFETY: see above.
                unsafe {
                    sys::$batch(
                        h, op_a, op_b, m, n, k, alpha.cast(), a.0.cast(), a.1, next_a, b.0.cast(), b.1, next_b, beta.cast(),
                        c.0.cast(), c.1, next_c, count,
                    )
                }
            },
            symmetric: [functions!(@symmetric $symm), functions!(@symmetric $hemm)],
            rank_k: [functions!(@rank_k $syrk), functions!(@rank_k $herk)],
            rank_2k: [functions!(@rank_2k $syr2k), functions!(@rank_2k $her2k)],
            trsm: |h, (side, uplo, op, diag), [m, n], alpha, a, b| {
                // SAFETY: see above.
                unsafe { sys::$trsm(h, side, uplo, op, diag, m, n, alpha.cast(), a.0.cast(), a.1, b.0.cast(), b.1) }
            },
        }
    };
    (@symmetric $symm:ident) => {
        |h, (side, uplo), [m, n], alpha, [a, b], beta, c| {
            // SAFETY: see above.
            unsafe {
                sys::$symm(h, side, uplo, m, n, alpha.cast(), a.0.cast(), a.1, b.0.cast(), b.1, beta.cast(), c.0.cast(), c.1)
            }
        }
    };
    (@rank_k $syrk:ident) => {
        |h, (uplo, op), [n, k], alpha, a, beta, c| {
            // SAFETY: see above.
            unsafe { sys::$syrk(h, uplo, op, n, k, alpha.cast(), a.0.cast(), a.1, beta.cast(), c.0.cast(), c.1) }
        }
    };
    (@rank_2k $syr2k:ident) => {
        |h, (uplo, op), [n, k], alpha, [a, b], beta, c| {
            // SAFETY: see above.
            unsafe {
                sys::$syr2k(h, uplo, op, n, k, alpha.cast(), a.0.cast(), a.1, b.0.cast(), b.1, beta.cast(), c.0.cast(), c.1)
            }
        }
    };
}

/// The tables, in the order of the letters below.
static FUNCTIONS: [Functions; 4] = [
    functions! {
        cublasSgemm_v2_64 cublasSgemmStridedBatched_64 cublasStrsm_v2_64;
        cublasSsymm_v2_64 cublasSsyrk_v2_64 cublasSsyr2k_v2_64; cublasSsymm_v2_64 cublasSsyrk_v2_64 cublasSsyr2k_v2_64
    },
    functions! {
        cublasDgemm_v2_64 cublasDgemmStridedBatched_64 cublasDtrsm_v2_64;
        cublasDsymm_v2_64 cublasDsyrk_v2_64 cublasDsyr2k_v2_64; cublasDsymm_v2_64 cublasDsyrk_v2_64 cublasDsyr2k_v2_64
    },
    functions! {
        cublasCgemm_v2_64 cublasCgemmStridedBatched_64 cublasCtrsm_v2_64;
        cublasCsymm_v2_64 cublasCsyrk_v2_64 cublasCsyr2k_v2_64; cublasChemm_v2_64 cublasCherk_v2_64 cublasCher2k_v2_64
    },
    functions! {
        cublasZgemm_v2_64 cublasZgemmStridedBatched_64 cublasZtrsm_v2_64;
        cublasZsymm_v2_64 cublasZsyrk_v2_64 cublasZsyr2k_v2_64; cublasZhemm_v2_64 cublasZherk_v2_64 cublasZher2k_v2_64
    },
];

/// The table of a type, if the library has all of it.
fn functions(letter: char) -> Result<&'static Functions, DeviceError> {
    static CHECKED: [OnceLock<Result<(), DeviceError>>; 4] = [const { OnceLock::new() }; 4];
    let at = ['s', 'd', 'c', 'z'].iter().position(|&known| known == letter).unwrap_or_default();
    CHECKED[at].get_or_init(|| requires(Library::Blas, FUNCTIONS[at].names)).clone()?;
    Ok(&FUNCTIONS[at])
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

/// A conjugate transpose of real elements is a plain one, and not every routine takes it for that.
fn operation<T: Scalar>(op: Op) -> Operation {
    match op {
        Op::None => Operation::CUBLAS_OP_N,
        Op::ConjTrans if T::COMPLEX => Operation::CUBLAS_OP_C,
        Op::Trans | Op::ConjTrans => Operation::CUBLAS_OP_T,
    }
}

/// A scalar as cuBLAS wants it: aligned as C's complex types for CUDA are, which it reads by aligned instructions.
#[repr(C, align(16))]
struct Scalars<E>(E);

fn number<E>(x: &Scalars<E>) -> Number {
    (&raw const x.0).cast()
}

impl<T: Scalar> Stream<'_, T> {
    fn at(&self, mat: Mat<T>) -> Result<Place, DeviceError> {
        let address = self.queue.as_ref().map_or(Ok(0), |queue| queue.address(mat.offset * size_of::<T>()))?;
        Ok(Place(std::ptr::with_exposed_provenance_mut(address as usize), mat.ld as i64))
    }

    /// Makes the call, unless the stream goes nowhere.
    fn blas(
        &mut self,
        routine: &'static str,
        call: impl FnOnce(&Functions, Handle) -> Status,
    ) -> Result<(), DeviceError> {
        let Some(queue) = &mut self.queue else { return Ok(()) };
        let handle = queue.blas()?;
        match call(functions(T::LETTER)?, handle) {
            Status::CUBLAS_STATUS_SUCCESS => Ok(()),
            status => Err(DeviceError::new(format!("cuBLAS's {}{routine}: {status:?}", T::LETTER))),
        }
    }

    /// C := alpha op(A) op(B) + beta C, all of C. No size is zero, here and in what follows.
    pub fn gemm(&mut self, gemm: &Gemm<T, Mat<T>>) -> Result<(), DeviceError> {
        let &Gemm { op_a, op_b, alpha, a, b, beta, c, .. } = gemm;
        let ops = [op_a, op_b].map(operation::<T>);
        let sizes = [c.m, c.n, op_a.shape(a.shape()).1].map(|size| size as i64);
        let (operands, place) = ([self.at(a)?, self.at(b)?], self.at(c)?);
        let (alpha, beta) = (Scalars(alpha), Scalars(beta));
        self.blas("gemm", |functions, handle| {
            // SAFETY: the handle is of the queue's context; the matrices lie in its heap, as `check` has found; and the scalars are
            // read before the call returns.
            unsafe { (functions.gemm)(handle, ops, sizes, number(&alpha), operands, number(&beta), place) }
        })
    }

    /// The same `count` times, each so many elements further in A, B and C.
    pub fn gemm_batch(&mut self, first: &Gemm<T, Mat<T>>, steps: [usize; 3], count: usize) -> Result<(), DeviceError> {
        let &Gemm { op_a, op_b, alpha, a, b, beta, c, .. } = first;
        let ops = [op_a, op_b].map(operation::<T>);
        let sizes = [c.m, c.n, op_a.shape(a.shape()).1].map(|size| size as i64);
        let [a_step, b_step, c_step] = steps.map(|step| step as i64);
        let (operands, c) = ([(self.at(a)?, a_step), (self.at(b)?, b_step)], (self.at(c)?, c_step));
        let (alpha, beta) = (Scalars(alpha), Scalars(beta));
        self.blas("gemmStridedBatched", |functions, handle| {
            // SAFETY: see `gemm`.
            unsafe { (functions.batch)(handle, ops, sizes, number(&alpha), operands, number(&beta), c, count as i64) }
        })
    }

    /// symm or hemm.
    pub fn symm(&mut self, symm: &Symm<T, Mat<T>>) -> Result<(), DeviceError> {
        let &Symm { symmetry, side, uplo, alpha, a, b, beta, c } = symm;
        let (modes, sizes) = ((side_mode(side), fill(uplo)), [c.m as i64, c.n as i64]);
        let (operands, place) = ([self.at(a)?, self.at(b)?], self.at(c)?);
        let (alpha, beta) = (Scalars(alpha), Scalars(beta));
        self.blas(symmetry.mm(), |functions, handle| {
            let symm = functions.symmetric[of(symmetry)];
            // SAFETY: see `gemm`.
            unsafe { symm(handle, modes, sizes, number(&alpha), operands, number(&beta), place) }
        })
    }

    /// syrk or herk, of a C that is square.
    pub fn rank_k(&mut self, update: &RankK<T, Mat<T>>) -> Result<(), DeviceError> {
        let &RankK { symmetry, uplo, op, alpha, a, beta, c } = update;
        let modes = (fill(uplo), operation::<T>(op));
        let sizes = [c.n, op.shape(a.shape()).1].map(|size| size as i64);
        let (a, c) = (self.at(a)?, self.at(c)?);
        let (real_alpha, real_beta) = (Scalars(alpha.re()), Scalars(beta.re()));
        let (alpha, beta) = (Scalars(alpha), Scalars(beta));
        self.blas(symmetry.rank_k(), |functions, handle| {
            let update = functions.rank_k[of(symmetry)];
            // SAFETY: see `gemm`. Scalars of herk are real; where it is syrk, so are all.
            unsafe {
                match symmetry {
                    Symmetry::Hermitian => update(handle, modes, sizes, number(&real_alpha), a, number(&real_beta), c),
                    Symmetry::Symmetric => update(handle, modes, sizes, number(&alpha), a, number(&beta), c),
                }
            }
        })
    }

    /// syr2k or her2k.
    pub fn rank_2k(&mut self, update: &Rank2k<T, Mat<T>>) -> Result<(), DeviceError> {
        let &Rank2k { symmetry, uplo, op, alpha, a, b, beta, c } = update;
        let modes = (fill(uplo), operation::<T>(op));
        let sizes = [c.n, op.shape(a.shape()).1].map(|size| size as i64);
        let (operands, c) = ([self.at(a)?, self.at(b)?], self.at(c)?);
        let (real_beta, alpha, beta) = (Scalars(beta.re()), Scalars(alpha), Scalars(beta));
        self.blas(symmetry.rank_2k(), |functions, handle| {
            let update = functions.rank_2k[of(symmetry)];
            let beta = if symmetry == Symmetry::Hermitian { number(&real_beta) } else { number(&beta) };
            // SAFETY: see `gemm`. beta is real for her2k.
            unsafe { update(handle, modes, sizes, number(&alpha), operands, beta, c) }
        })
    }

    /// B := alpha op(A)⁻¹ B or alpha B op(A)⁻¹.
    pub fn trsm(&mut self, triangle: &Triangle<T>) -> Result<(), DeviceError> {
        let &Triangle { side, uplo, op, diag, alpha, a, b, .. } = triangle;
        let diag = match diag {
            Diag::NonUnit => DiagType::CUBLAS_DIAG_NON_UNIT,
            Diag::Unit => DiagType::CUBLAS_DIAG_UNIT,
        };
        let modes = (side_mode(side), fill(uplo), operation::<T>(op), diag);
        let (sizes, a, b) = ([b.m as i64, b.n as i64], self.at(a)?, self.at(b)?);
        let alpha = Scalars(alpha);
        self.blas("trsm", |functions, handle| {
            // SAFETY: see `gemm`.
            unsafe { (functions.trsm)(handle, modes, sizes, number(&alpha), a, b) }
        })
    }
}
