//! Products of which packing would take longer than computing: small ones, and those with a few columns.
//!
//! In comes any product. `of` says whether it is one for this room, and gives C back or leaves it if it is not; what it
//! makes is computed from where the factors lie.
//!
//! gemm asks this room first, and the [blocks](super::blocks) if it says no.

mod small;
mod thin;

pub(crate) use small::{SMALL as SMALL_PRODUCT, Small};
pub(crate) use thin::{COLUMNS as THIN_COLUMNS, Thin};
