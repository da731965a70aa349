//! Block loops: operands of any size, cut for the caches, packed, and gone through in register tiles.
//!
//! In comes an operation with its views. C, or B, is overwritten by the result; nothing else is written but scratch
//! ([`Workspace`](super::Workspace)). That of a [`Product`] and a [`TriangularProduct`] is bounded by the
//! [block sizes](super::sizes). A [`Triangular`] takes a copy of its triangle, and a [`SmallRank`] one of its factors:
//! callers use these up to a bound. Of a triangle the other side is neither read nor written.
//!
//! The Level-3 routines of [`cpu`](crate::cpu) call it, by way of [`backend`](crate::backend).

mod product;
mod small_rank;
mod triangular;
mod triangular_product;

pub(crate) use product::{Blocks, Product};
pub(crate) use small_rank::SmallRank;
pub use triangular::Action;
pub(crate) use triangular::Triangular;
pub(crate) use triangular_product::TriangularProduct;
