//! Tile kernels on one core, for strided views of any scalar type, and the Level-1 and Level-2 BLAS.
//!
//! The conventions are those of the BLAS and LAPACK:
//! - shapes are taken from the views, and a kernel panics if they do not agree; the drivers above check what users
//!   pass;
//! - the other triangle, and memory between the columns of a view, are neither read nor written;
//! - beta = 0 writes C without reading it, so C may hold NaN; alpha = 0 reads neither A nor B;
//! - NaN and Inf propagate otherwise;
//! - views with n = 0 or m = 0 are valid; the kernel does nothing, or only scales C.
//!
//! In the steady state a kernel does not allocate: packed operands are in a workspace of its thread.

pub mod batch;
mod geadd;
mod gemm;
mod geqrf;
mod getrf;
mod half;
mod larfb;
mod larft;
mod laswp;
mod level1;
mod level2;
mod potrf;
mod rank_k;
mod symm;
mod triangular;
mod trmm;
mod trsm;
mod trtri;

pub use crate::outcome::{NotPositiveDefinite, Singular};
pub use crate::simd::{InstructionSet, UnknownInstructionSet};
pub use crate::vector::{Operand, PackStore, PackedForms};
pub use geadd::geadd;
pub use gemm::gemm;
pub use geqrf::geqrf;
pub use getrf::getrf;
pub use half::{gemm_half, round_sum};
pub use larfb::{BlockReflector, larfb};
pub use larft::larft;
pub use laswp::laswp;
pub use level1::{
    ModifiedRotation, Rotation, asum, axpby, axpy, copy, dotc, dotu, dsdot, iamax, nrm2, rot, rotg, rotm, rotmg, scal,
    scal_real, sdsdot, swap,
};
pub use level2::{
    Conj, gbmv, gemv, gerc, geru, hbmv, hemv, her, her2, hpmv, hpr, hpr2, sbmv, spmv, spr, spr2, symv, syr, syr2, tbmv,
    tbsv, tpmv, tpsv, trmv, trsv,
};
pub use potrf::potrf;
pub use rank_k::{gemmt, her2k, herk, syr2k, syrk};
pub use symm::{hemm, symm};
pub use trmm::trmm;
pub use trsm::trsm;
pub use trtri::{lauum, trtri};
