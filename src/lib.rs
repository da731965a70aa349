//! Serial task code, run in parallel on every processor of a machine, and dense linear algebra on top of it.
//!
//! # Three ways to use it
//!
//! **1. Call it for factorizations.** The matrices of the [`prelude`] have methods that factor and solve
//! ([`Linalg`]). They run on [the runtime of the process](global_runtime), which starts at first use; a [`Solver`]
//! has the same on another runtime, and every routine of this library under its LAPACK name.
//!
//! ```
//! use superscalar::prelude::*;
//!
//! let a = Matrix::from_fn(100, 100, |i, j| if i == j { 100.0 } else { 1.0 });
//! let f = a.cholesky(Uplo::Lower)?;
//! let x = f.solve(&[199.0; 100])?;
//! assert!((x[(0, 0)] - 1.0_f64).abs() < 1e-14);
//! # Ok::<(), superscalar::Error>(())
//! ```
//!
//! **2. Write serial task code.** A task names what it reads and writes. The runtime infers from the order of
//! insertion which tasks must wait for which, and runs everything else in parallel. The access decides whether the
//! body receives `&T` or `&mut T`, so a task can touch nothing that it did not declare, and user code needs no
//! `unsafe`.
//!
//! ```
//! use superscalar::Runtime;
//!
//! let rt = Runtime::new()?; // one worker per physical core
//! let (mut x, mut y) = (vec![1.0; 100], vec![1.0; 100]);
//! rt.scope(|s| {
//!     let (x, y) = (s.lend(&mut x), s.lend(&mut y));
//!     s.spawn("scale", x.read_write(), |x| x.iter_mut().for_each(|v| *v *= 2.0));
//!     s.spawn("axpy", (x.read(), y.read_write()), |(x, y)| for (y, x) in y.iter_mut().zip(x) { *y += x });
//! })?; // every task is done; the first error or panic comes back here
//! assert_eq!(y, vec![3.0; 100]);
//! # Ok::<(), superscalar::Error>(())
//! ```
//!
//! **3. Look at what happened.** [`Builder::trace_file`], or `SUPERSCALAR_TRACE=run.json` for any program, leaves a
//! trace for Chrome's tracing page or Perfetto. The program `superscalar-trace` reads it and says where the time
//! went.
//!
//! # Where to go
//!
//! | you want | look at |
//! |---|---|
//! | to factor, solve, invert | [`Linalg`], [`Cholesky`], [`Lu`], [`Qr`], [`Lq`] |
//! | LAPACK's routines in place, on any runtime | [`Solver`]; the same as functions in [`dla`] |
//! | several routines without barriers in between | [`dla::spawn`], [`dla::Tiled`] |
//! | many small problems at once | [`dla::batch`] |
//! | matrices of other crates | [`kernels::AsMatrix`], and the cargo features `ndarray`, `nalgebra`, `faer` |
//! | tasks | [`Runtime`], [`Scope`], [`TaskSpec`], [`reductions`] |
//! | GPUs and other devices | [`devices`], [`dla::DeviceMatrix`], [`Codelet`] |
//! | errors | [`Error`], [`ErrorKind`] |
//! | records of a run | [`recording`] |
//! | files | [`matrix_market`] |
//! | routines without a runtime, for bodies of tasks | [`dla::serial`], [`kernels::cpu`] |
//!
//! The guide in the repository (`docs/guide`) explains one subject a page. It has tables for those who come from
//! LAPACK, PLASMA, QUARK, StarPU or cuBLASXt.
//!
//! # Cargo features
//!
//! | feature | what it adds |
//! |---|---|
//! | `cuda` (default) | NVIDIA GPUs; nothing is linked, libraries are found at run time |
//! | `opencl` | OpenCL devices; links to the system's loader |
//! | `ndarray`, `nalgebra`, `faer` | conversions from and to the matrices of these crates |

#![forbid(unsafe_code)]

pub mod devices;
#[cfg(doctest)]
mod documents;
mod error;
mod factor;
mod linalg;
pub mod prelude;
mod solver;

pub use error::Error;
pub use factor::{Cholesky, LogDeterminant, Lq, Lu, Qr};
pub use linalg::{IntoMatrix, Linalg};
pub use solver::{Solver, global_runtime};
pub use superscalar_dla as dla;
pub use superscalar_dla::matrix_market;
pub use superscalar_kernels as kernels;
pub use superscalar_runtime::*;
