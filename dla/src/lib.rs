//! Tiled algorithms and drivers.
