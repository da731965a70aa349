//! Vector kernels: the code that is compiled for each element type and instruction set, where nearly all time is spent.
//!
//! An operation is passed as a value: a struct that names its operands and implements [`Kernel`]. The routines of
//! [`cpu`](crate::cpu) make these values and guarantee that shapes agree, factors are not empty, and operands do not
//! overlap. They pass them to the compiled kernels through [`backend`](crate::backend). Nothing here calls a routine.
//!
//! Each module uses the ones above it in this list. Most have a counterpart in BLIS; panels correspond to LAPACK's:
//!
//! | module | contents | elsewhere |
//! |---|---|---|
//! | [`dispatch`] | the choice of the instruction set | configurations |
//! | [`sizes`], [`planes`], [`workspace`] | block sizes; storage of complex numbers; scratch of a thread | |
//! | [`packing`] | operands in the order in which register tiles read them, some kept for later products | packm |
//! | [`tiles`] | register tiles: the loop of multiply-adds, small triangles, and the update of C | micro-kernels |
//! | [`blocks`] | blocks of packed operands, cut for the caches: products, rank-k updates, triangles | macro-kernels |
//! | [`unpacked`] | products that are too small, or too thin, to be packed | sup |
//! | [`panels`] | the panels of Cholesky, LU and QR | LAPACK's potf2, getf2, geqr2 |
//! | [`interleaved`] | many small matrices, one per lane | compact routines, in other libraries |
//! | [`loops`] | the loops of the Level-1 and Level-2 BLAS | level1v, level1f |
//!
//! Names of block sizes ([`sizes`]); ROWS and LANES depend on the instruction set and the type:
//!
//! | BLIS | here | what it is |
//! |---|---|---|
//! | MR | `NV * LANES` | rows of a register tile, which lie along the lanes |
//! | NR | `ROWS` | columns of a register tile, whose elements are broadcast |
//! | KC | `DEPTH` | columns of a block of A, and rows of a block of B |
//! | MC | from `block_bytes()` | rows of a block of A: as many as fit into these bytes |
//! | NC | `COLUMNS` | columns of a block of B |

mod blocks;
mod dispatch;
mod interleaved;
pub(crate) mod loops;
mod packing;
mod panels;
mod planes;
mod sizes;
mod tiles;
mod unpacked;
mod workspace;

pub use blocks::TriangularAction;
pub(crate) use blocks::{Blocks, Product, SmallRank, TriangularKernel, TriangularProduct};
pub(crate) use dispatch::{Kernel, dispatch};
pub(crate) use interleaved::{
    Form, GroupTriangle, InterleavedCholesky, InterleavedGemm, InterleavedLu, InterleavedQ, InterleavedQProduct,
    InterleavedQr, InterleavedSolve, Progress,
};
pub(crate) use packing::{Factor, Pack, Packed, Right, left};
pub use packing::{Operand, PackStore, PackedForms};
pub(crate) use panels::{Factorization, LuPanel, QrPanel, exchange_pieces};
pub(crate) use unpacked::{SMALL_PRODUCT, Small, THIN_COLUMNS, Thin};
pub(crate) use workspace::Workspace;
