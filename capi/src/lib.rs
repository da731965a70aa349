//! The BLAS and LAPACK as a C library. Unmodified programs run Level 3 and factorizations on the Superscalar runtime,
//! and Levels 1 and 2 on its kernels.
//!
//! The macros [`fortran`](superscalar_macros::fortran) and [`cblas`](superscalar_macros::cblas) export each routine
//! under four names. A routine checks its arguments in the order of the reference BLAS and makes views of the caller's
//! memory. It computes a small product on the calling thread, without locks, allocations or other threads. It runs a
//! larger product as tasks of a runtime, which the first such call starts (`engine.rs`).
//!
//! | file | content |
//! |---|---|
//! | `abi.rs` | the types of the interfaces |
//! | `guard.rs` | stops panics at the C boundary, and reports errors to `xerbla_` and `cblas_xerbla` |
//! | `handler.rs` | finds the program's own error handlers |
//! | `engine.rs` | the runtime: start, forks, number of threads, end |
//! | `settings.rs` | settings from the environment and from a file |
//! | `statistics.rs` | the log of calls and the statistics |
//! | `threads.rs` | the functions that set and get the number of threads |
//! | `version.rs` | the version of LAPACK whose interfaces are implemented |
//! | `level1.rs`, `level2/`, `level3/` | the routines of the BLAS; `batch.rs` computes many products in one call |
//! | `batch/` | the batched routines: many small problems in one call |
//! | `streaming.rs` | runs memory-bound routines on several threads |
//! | `lapack/` | the routines of LAPACK, for both interfaces |
//! | `rows.rs` | the interfaces of Levels 2 and 3: maps a row-major call to a column-major one |
//! | `header.rs` | tests that `include/superscalar.h` declares the exported functions |
//! | `forward.rs`, `loader.rs` | forwards LAPACK's other routines to another library |
//!
//! `symbols.txt` lists the exported symbols, and `forwarded.txt` the forwarded ones. A test compares both with the
//! library. `include/superscalar.h` declares the functions for C.

// Unit tests do not export the entries, so that the entries are not compiled a second time.
#![cfg_attr(test, allow(dead_code))]

mod abi;
mod batch;
mod engine;
mod forward;
mod guard;
mod handler;
#[cfg(all(test, target_os = "linux"))]
mod header;
mod lapack;
mod level1;
mod level2;
mod level3;
mod loader;
mod messages;
mod rows;
mod settings;
mod statistics;
mod streaming;
mod threads;
mod version;
