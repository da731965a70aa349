//! The BLAS and LAPACK as a C library: programs that were never written for Superscalar run their Level 3 and
//! factorizations on it, and have Levels 1 and 2 from its kernels.
//!
//! A call comes in through one of four names ([`fortran`](superscalar_macros::fortran),
//! [`cblas`](superscalar_macros::cblas)), has its arguments checked in the order of the reference BLAS, and becomes
//! views of the caller's memory. A product of few multiplications is computed at once on the calling thread, before any
//! lock, allocation or thread exists; a larger one by the tasks of a runtime, which the first such call starts
//! (`engine.rs`).
//!
//! | file | what is in it | |---|---| | `abi.rs` | the types of the interfaces | | `guard.rs` | nothing unwinds into C;
//! errors go to `xerbla_` and `cblas_xerbla` | | `engine.rs` | the runtime: its start, forks, the number of threads,
//! its end | | `settings.rs` | what the environment says, and a file | | `account.rs` | what was called: log and
//! statistics | | `threads.rs` | the functions by which programs set the number of threads | | `version.rs` | which
//! LAPACK it is like | | `level1.rs`, `level2/`, `level3/` | the routines of the BLAS; `batch.rs` has many products in
//! one call | | `parts.rs` | long vectors, and matrices that are touched once, on several threads | | `lapack/` |
//! the routines of LAPACK, for both interfaces | | `rows.rs` | Fortran's and C's interface of Levels 2 and 3: how a
//! call for rows becomes one for columns | | `header.rs` | tests: the C header `include/superscalar.h` is that of these
//! functions | | `forward.rs`, `loader.rs` | LAPACK's other routines, which go on to another library |
//!
//! The symbols that leave this library are listed in `symbols.txt`, and those that it forwards in `forwarded.txt`. A
//! test compares both with the library. `include/superscalar.h` declares them for C.

// Unit tests do not export the entries, or all of them would be compiled once more.
#![cfg_attr(test, allow(dead_code))]

mod abi;
mod account;
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
mod parts;
mod rows;
mod settings;
mod threads;
mod version;
