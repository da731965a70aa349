//! Tile kernels on one core, for strided views of any scalar type; and the Level-1 and Level-2 BLAS.
//!
//! Conventions, which are those of the BLAS and LAPACK:
//! - shapes are taken from the views, and a kernel panics when they do not agree: the drivers above check what users pass;
//! - the other triangle, and memory between the columns of a view, are neither read nor written;
//! - beta = 0 writes C without reading it, so C may hold NaN; alpha = 0 reads neither A nor B;
//! - NaN and Inf propagate otherwise;
//! - views with n = 0 or m = 0 are ordinary and do nothing, or only scale C.
//!
//! A kernel allocates nothing in the steady state: what it packs goes to a workspace of its thread.

mod columns;
mod factor;
mod gemm;
mod geqrf;
mod getrf;
mod larfb;
mod larft;
mod laswp;
mod level1;
mod level2;
mod micro;
mod mirror;
mod output;
mod pack;
mod packed;
mod panel_lu;
mod panel_qr;
mod panels;
mod potrf;
mod product;
mod rank_k;
mod reflector;
mod small;
mod small_rank;
mod small_triangle;
mod symm;
mod thin;
mod triangular;
mod triangular_product;
mod trmm;
mod trsm;
mod trtri;
mod vectors;
mod workspace;

pub use crate::simd::{InstructionSet, UnknownInstructionSet};
pub(crate) use factor::Factorization;
pub use gemm::gemm;
pub use geqrf::geqrf;
pub use getrf::{Singular, getrf};
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
pub(crate) use mirror::Mirror;
pub use packed::{Operand, PackStore, Packs};
pub(crate) use packed::{Pack, Packed};
pub(crate) use panel_lu::LuPanel;
pub(crate) use panel_qr::QrPanel;
pub use potrf::{NotPositiveDefinite, potrf};
pub(crate) use product::Blocks;
pub use rank_k::{gemmt, her2k, herk, syr2k, syrk};
pub(crate) use small::Small;
pub(crate) use small_rank::SmallRank;
pub use symm::{hemm, symm};
pub(crate) use thin::Thin;
pub(crate) use triangular::Triangular;
pub(crate) use triangular_product::TriangularProduct;
pub use trmm::trmm;
pub use trsm::trsm;
pub use trtri::{lauum, trtri};
pub(crate) use vectors::{ChooseVectors, VectorParts};
