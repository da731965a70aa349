//! [`Tile`]: what a task gets of a tiled matrix.

pub use superscalar_kernels::{Tile, TileView};
