//! Superscalar: serial task code, run in parallel on every processor of a machine, and dense linear algebra on top of it.
//!
//! # Three ways to use it
//!
//! **Write serial task code.** A task says what it reads and writes; the runtime infers from the order of insertion which tasks
//! must wait for which (the hazards RaW, WaR and WaW, as in a superscalar processor) and runs everything else in parallel:
//!
//! ```
//! use superscalar::Runtime;
//!
//! let rt = Runtime::new()?; // every core
//! let (mut x, mut y) = (vec![1.0; 100], vec![1.0; 100]);
//! rt.scope(|s| {
//!     // Borrows for the length of the scope, joins at its end.
//!     let (x, y) = (s.lend(&mut x), s.lend(&mut y));
//!     s.spawn("scale", x.read_write(), |x| x.iter_mut().for_each(|v| *v *= 2.0));
//!     s.spawn("axpy", (x.read(), y.read_write()), |(x, y)| for (y, x) in y.iter_mut().zip(x) { *y += x });
//! })?; // the first error or panic comes back here
//! assert_eq!(y, vec![3.0; 100]);
//! # Ok::<(), superscalar::Error>(())
//! ```
//!
//! The access decides the type that the body sees, `&T` or `&mut T`, so a task can touch nothing that it did not declare, and
//! no user code needs `unsafe`.
//!
//! **Call it for factorizations.** [`dla`] has LAPACK's routines on tiles, in blocking forms and in forms that compose without
//! barriers:
//!
//! ```
//! use superscalar::{Runtime, dla::{Matrix, Options, posv}, kernels::Uplo};
//!
//! let rt = Runtime::new()?;
//! let mut a = Matrix::from_fn(100, 100, |i, j| if i == j { 100.0 } else { 1.0 });
//! let mut b = Matrix::from_fn(100, 1, |_, _| 199.0);
//! posv(&rt, Uplo::Lower, a.as_mut(), b.as_mut(), &Options::default())?;
//! assert!((b.at(0, 0) - 1.0f64).abs() < 1e-14);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Look at what happened.** A runtime built to [`trace`](Builder::trace), or any program run with `SUPERSCALAR_TRACE=file.json`,
//! leaves a trace for Chrome's tracing page or Perfetto; [`recording`] also prints the task graph. `superscalar-trace`
//! reads such a file and says where the time went.
//!
//! # Devices
//!
//! The same code runs on devices with memories of their own. [`devices`] opens them by name, and [`devices::builder`] those that
//! `SUPERSCALAR_DEVICES` names; a runtime that was built with them moves data where tasks need them, and back in the end.
//!
//! # The layers
//!
//! | crate | what | knows |
//! |---|---|---|
//! | `superscalar-recording` ([`recording`]) | the data of a recorded run, and its traces and graphs | no thread |
//! | `superscalar-runtime` (here at the root) | tasks, hazards, scheduling, recording | no device, no matrix |
//! | `superscalar-devices` ([`devices`]) | drivers of devices: simulated ones, OpenCL | no algorithm |
//! | `superscalar-kernels` ([`kernels`]) | what runs inside one task: tile kernels over strided views, and for devices | no algorithm |
//! | `superscalar-matrix-market` ([`dla::matrix_market`]) | Matrix Market files, read and written | none of the others |
//! | `superscalar-dla` ([`dla`]) | tiled algorithms | no driver |

#![forbid(unsafe_code)]

pub mod devices;

pub use superscalar_dla as dla;
pub use superscalar_kernels as kernels;
pub use superscalar_runtime::*;
