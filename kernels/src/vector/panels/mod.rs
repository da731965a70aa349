//! The panels of factorizations: the parts that are not products.
//!
//! A Cholesky panel is a matrix of moderate order; an LU or QR panel has a few columns and any number of rows. It is
//! factored in place or in scratch, and overwritten by its factors. A pivot that is zero or not positive is reported in
//! the result; it is not an error here.
//!
//! potrf, getrf and geqrf call this module at the ends of their recursions, through [`backend`](crate::backend).

mod cholesky;
mod cholesky_panels;
mod columns;
mod lu;
mod qr;
mod reflector;

pub(crate) use cholesky::Factorization;
pub(crate) use columns::exchange_pieces;
pub(crate) use lu::LuPanel;
pub(crate) use qr::QrPanel;
