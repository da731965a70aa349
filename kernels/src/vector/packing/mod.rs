//! Packing: copies operands into the order in which register tiles read them.
//!
//! The input is a [`Factor`]: a view with any strides, optionally conjugated, or of a symmetric matrix of which one
//! triangle is stored. The output is panels: for each column of the factor as many adjacent reals as a panel has rows,
//! padded with zeros, and for complex types the imaginary parts after the real ones. The caller provides the memory, or
//! gets a [`Packed`] that owns it and may be kept for later products ([`PackedForms`]).
//!
//! Blocks and panels of factorizations call this module, and gemm requests packed forms that are kept.
//! [`tiles`](super::tiles) read packed panels; a rank-2k update also scales one, and a triangle is written into some.

mod factor;
mod mirror;
pub(crate) mod pack;
mod packed;

pub(crate) use factor::Factor;
pub use factor::Operand;
pub(crate) use packed::{Pack, Packed, Right, Role, left};
pub use packed::{PackStore, PackedForms};
