//! The panels of factorizations: what of them is no product.
//!
//! In comes a matrix of moderate order for Cholesky; one with a few columns, and any number of rows, for LU and QR. It
//! is factored where it lies or in scratch, and overwritten by its factors; a pivot that is zero, or not positive, is
//! told and is no error here.
//!
//! potrf, getrf and geqrf call it for the ends of their recursions, by way of [`backend`](crate::backend).

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
