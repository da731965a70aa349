//! Vector kernels: what is compiled for each element type and instruction set, and where all the time is spent.
//!
//! An operation comes in as a value: a struct that names its operands and is a [`Kernel`]. Shapes agree, factors are
//! not empty, and operands do not overlap: the routines of [`cpu`](crate::cpu), which make these values, see to that.
//! They hand them to the compiled kernels by [`backend`](crate::backend). Nothing here calls a routine.
//!
//! Each room uses the ones above it in this list. Most have a counterpart in BLIS; panels are LAPACK's:
//!
//! | room | what is in it | elsewhere |
//! |---|---|---|
//! | [`dispatch`] | the choice of instructions | configurations |
//! | [`sizes`], [`planes`], [`workspace`] | block sizes; how complex numbers lie; scratch of a thread | |
//! | [`packing`] | operands in the order in which register tiles read them, perhaps kept for the next product | packm |
//! | [`tiles`] | register tiles: the loop of multiply-adds, small triangles, and where tiles go | micro-kernels |
//! | [`blocks`] | blocks of packed operands, cut for the caches: products, rank-k updates, triangles | macro-kernels |
//! | [`unpacked`] | products that are too small, or too thin, to be packed | sup |
//! | [`panels`] | the panels of Cholesky, LU and QR | LAPACK's potf2, getf2, geqr2 |
//! | [`loops`] | the loops of the Level-1 and Level-2 BLAS | level1v, level1f |
//!
//! Block sizes have names of their own here ([`sizes`]; ROWS and LANES depend on the instruction set and the type):
//!
//! | BLIS | here | what it is |
//! |---|---|---|
//! | MR | `NV * LANES` | rows of a register tile, which lie along the lanes |
//! | NR | `ROWS` | its columns, of which one element each is broadcast |
//! | KC | `DEPTH` | columns of a block of A, and rows of one of B |
//! | MC | from `block_bytes()` | rows of a block of A: as many as take these bytes |
//! | NC | `COLUMNS` | columns of a block of B |

mod blocks;
mod dispatch;
pub(crate) mod loops;
mod packing;
mod panels;
mod planes;
mod sizes;
mod tiles;
mod unpacked;
mod workspace;

pub use blocks::Action;
pub(crate) use blocks::{Blocks, Product, SmallRank, Triangular, TriangularProduct};
pub(crate) use dispatch::{Kernel, dispatch};
pub(crate) use packing::{Factor, Pack, Packed, Right, left};
pub use packing::{Operand, PackStore, Packs};
pub(crate) use panels::{Factorization, LuPanel, QrPanel, exchange_pieces};
pub(crate) use unpacked::{SMALL_PRODUCT, Small, THIN_COLUMNS, Thin};
pub(crate) use workspace::Workspace;
