//! Register tiles: the innermost loops, which take nearly all the time; BLIS calls them micro-kernels.
//!
//! The inputs are addresses and strides of operands, packed or in place ([`OperandStream`](micro::OperandStream)), and
//! a tile of accumulators. A tile is computed in registers ([`micro`]), optionally solved with a small triangle or
//! multiplied by it ([`small_triangle`]), and added to C ([`output`]) by whole vectors, masked vectors, or single
//! elements if rows are not adjacent. Only wanted elements of C are read or written, and with beta = 0 none is read.
//! Nothing here allocates or depends on block sizes.
//!
//! Blocks, unpacked products and panels of factorizations call this module.

pub(crate) mod micro;
pub(crate) mod output;
pub(crate) mod small_triangle;
