//! Register tiles: the loop that every kernel spends its time in, BLIS's micro-kernels.
//!
//! In come addresses and distances of operands, packed or where they lie ([`Stream`](micro::Stream)), and a tile of
//! accumulators. A tile is computed in registers ([`micro`]), solved with a small triangle or multiplied by it
//! ([`small_triangle`]), and goes to C ([`output`]) by whole vectors, masked ones, or single elements where rows are
//! not adjacent. Of C nothing but what is wanted is read or written, and with beta = 0 nothing is read. No function
//! here allocates, and none knows of block sizes.
//!
//! Blocks, unpacked products and panels of factorizations call it.

pub(crate) mod micro;
pub(crate) mod output;
pub(crate) mod small_triangle;
