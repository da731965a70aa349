//! Packing: operands in the order in which register tiles read them.
//!
//! In comes a [`Factor`]: a view with any strides, perhaps conjugated, perhaps of a symmetric matrix of which one
//! triangle is stored. Out go panels: for each column of the factor as many adjacent reals as a panel has rows, zeros
//! where the factor has no more of them, and for complex types the imaginary parts behind the real ones. The caller
//! gives the room for it, or gets a [`Packed`] that has its own and may be kept for the next products ([`Packs`]).
//!
//! Blocks and panels of factorizations call it; gemm asks it for packed forms that are kept. Packed panels are read by
//! [`tiles`](super::tiles); a rank-2k update also scales one, and a triangle is written into some.

mod factor;
mod mirror;
pub(crate) mod pack;
mod packed;

pub(crate) use factor::Factor;
pub use factor::Operand;
pub(crate) use packed::{Pack, Packed, Right, Role, left};
pub use packed::{PackStore, Packs};
