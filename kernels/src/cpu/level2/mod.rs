//! The Level-2 BLAS: operations on a matrix and vectors.
//!
//! Dense, band and packed matrices differ in where a column begins and which rows it has. Each routine is therefore one
//! loop nest over the columns of a [`Stored`](crate::vector::loops::Stored) matrix, around the loops of
//! [`vectors`](crate::vector::loops). Dense matrices are processed in blocks of several columns.
//!
//! Conventions, beside those of [`cpu`](crate::cpu):
//! - a band matrix is passed as the array of its diagonals, `kl + ku + 1` or `k + 1` rows, as in the BLAS; elements of
//!   the array that are outside of the matrix are not touched;
//! - a packed triangle is passed as a vector of its n (n + 1) / 2 adjacent elements;
//! - a dense matrix may be stored by columns or by rows, so the transposed view of a matrix is also accepted;
//! - [`Conj`] conjugates what is read. Together with transposition it gives routines for matrices stored by rows;
//! - NaN is not hidden by zeros in a vector;
//! - products with an empty sum scale y, while the reference BLAS leaves it unchanged.
//!
//! Vectors whose elements are not adjacent are copied to a workspace first if they are read more than once.

mod general;
mod multiply;
mod operand;
mod rank_one;
mod rank_two;
mod solve;
mod symmetric;
mod triangle;

pub use general::{gbmv, gemv, gerc, geru};
pub use multiply::{tbmv, tpmv, trmv};
pub use operand::Conj;
pub(super) use operand::scale;
pub use rank_one::{her, hpr, spr, syr};
pub use rank_two::{her2, hpr2, spr2, syr2};
pub use solve::{tbsv, tpsv, trsv};
pub use symmetric::{hbmv, hemv, hpmv, sbmv, spmv, symv};
