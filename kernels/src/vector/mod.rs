//! Vector kernels: what is compiled for each element type and instruction set, and where all the time is spent.
//!
//! An operation comes in as a value: a struct that names its operands and is a [`Kernel`]. Shapes agree, factors are
//! not empty, and operands do not overlap: the routines of [`cpu`](crate::cpu), which make these values, see to that.
//! They hand them to the compiled kernels by [`backend`](crate::backend). Nothing here calls a routine.
//!
//! The rooms are those of BLIS. Each uses the ones above it in this list:
//!
//! | room | what is in it |
//! |---|---|
//! | [`dispatch`] | the choice of instructions |
//! | [`sizes`], [`planes`], [`workspace`] | block sizes; how complex numbers lie; scratch of a thread |
//! | [`packing`] | operands copied into the order in which register tiles read them, and kept so for the next product |
//! | [`tiles`] | register tiles: the loop of multiply-adds, small triangles, and where tiles go |
//! | [`blocks`] | blocks of packed operands, cut for the caches: products, rank-k updates, triangles |
//! | [`unpacked`] | products that are too small, or too thin, to be packed |
//! | [`panels`] | the panels of Cholesky, LU and QR |
//! | [`loops`] | the loops of the Level-1 and Level-2 BLAS |

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

pub(crate) use blocks::{Action, Blocks, Product, SmallRank, Triangular, TriangularProduct};
pub(crate) use dispatch::{Kernel, dispatch};
pub(crate) use packing::{Factor, Pack, Packed, Right, left};
pub use packing::{Operand, PackStore, Packs};
pub(crate) use panels::{Factorization, LuPanel, QrPanel, exchange_pieces};
pub(crate) use unpacked::{SMALL_PRODUCT, Small, THIN_COLUMNS, Thin};
pub(crate) use workspace::Workspace;
