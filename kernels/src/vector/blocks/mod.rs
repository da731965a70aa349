//! Block loops: they divide operands of any size into cache-sized blocks, pack these, and run register tiles over them.
//!
//! An operation names its views. The result overwrites C, or B; nothing else is written but scratch
//! ([`Workspace`](super::Workspace)). The [block sizes](super::sizes) bound the scratch of a [`Product`] and a
//! [`TriangularProduct`]. A [`Triangular`] copies its triangle and a [`SmallRank`] one of its factors, so callers use
//! these up to a size limit. The other triangle of a matrix is neither read nor written.
//!
//! The Level-3 routines of [`cpu`](crate::cpu) call this module through [`backend`](crate::backend).

mod product;
mod small_rank;
mod triangular;
mod triangular_product;

pub(crate) use product::{Blocks, Product};
pub(crate) use small_rank::SmallRank;
pub use triangular::TriangularAction;
pub(crate) use triangular::TriangularKernel;
pub(crate) use triangular_product::TriangularProduct;
