//! Cholesky factorization, and what is built on it.

pub(crate) mod lauum;
pub(crate) mod posv;
pub(crate) mod potrf;
mod potrf_columns;
pub(crate) mod potri;
pub(crate) mod potrs;
pub(crate) mod trtri;
