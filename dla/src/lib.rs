//! Tiled algorithms and drivers.

pub mod matrix_market;
