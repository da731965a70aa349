//! Tile kernels on one core, for strided views of any scalar type.
//!
//! Conventions, which are those of the BLAS and LAPACK:
//! - shapes are taken from the views, and a kernel panics when they do not agree: the drivers above check what users pass;
//! - the other triangle, and memory between the columns of a view, are neither read nor written;
//! - beta = 0 writes C without reading it, so C may hold NaN; alpha = 0 reads neither A nor B;
//! - NaN and Inf propagate otherwise;
//! - views with n = 0 or m = 0 are ordinary and do nothing, or only scale C.
//!
//! A kernel allocates nothing in the steady state: what it packs goes to a workspace of its thread.

mod factor;
mod gemm;
mod micro;
mod pack;
mod potrf;
mod product;
mod rank_k;
mod solve;
mod trsm;
mod workspace;

pub use gemm::gemm;
pub use potrf::{NotPositiveDefinite, potrf};
pub use rank_k::{herk, syrk};
pub use trsm::trsm;
