//! Products for which packing would take longer than computing: small ones, and those with a few columns.
//!
//! The constructors `of` decide whether a product belongs here, and give C back if it does not. The kernels read the
//! factors in place.
//!
//! gemm tries this module first, and then the [blocks](super::blocks).

mod small;
mod thin;

pub(crate) use small::{SMALL as SMALL_PRODUCT, Small};
pub(crate) use thin::{COLUMNS as THIN_COLUMNS, Thin};
