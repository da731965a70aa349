//! [`Solver`]: linear algebra on a chosen runtime, with chosen options.

mod auxiliary;
mod factor;
mod level3;

use crate::{Error, Runtime, dla::Options};
use std::sync::Arc;

/// Returns the runtime of the process, which is started at first use from the environment (`SUPERSCALAR_WORKERS`,
/// `SUPERSCALAR_DEVICES` and the other settings of the README). It ends with the process: see
/// [`process::runtime_or_start`](crate::process::runtime_or_start).
///
/// A program that wants other settings makes the runtime itself: before the first use by
/// [`process::set_runtime`](crate::process::set_runtime), or for some of its work by a [`Solver`].
///
/// # Errors
/// [`Setting`](crate::ErrorKind::Setting) if a setting in the environment is invalid;
/// [`Device`](crate::ErrorKind::Device) if a device that it names cannot be opened;
/// [`System`](crate::ErrorKind::System) if threads cannot be started. The next call tries again.
///
/// ```
/// let rt = superscalar::global_runtime()?;
/// assert!(rt.workers() >= 1);
/// # Ok::<(), superscalar::Error>(())
/// ```
pub fn global_runtime() -> Result<Arc<Runtime>, Error> {
    crate::process::runtime_or_start(|| Ok(crate::devices::builder()?.build()?))
}

/// A runtime together with the options of the routines that run on it.
///
/// Its methods are of two kinds. Those with names of words ([`cholesky`](Self::cholesky), [`solve`](Self::solve))
/// return new values and leave their arguments alone, but a [`Matrix`](crate::dla::Matrix) that is given away is
/// factored in place. Those with LAPACK's names ([`potrf`](Self::potrf), [`gemm`](Self::gemm)) work in place on
/// views, as the routines of [`dla`](crate::dla) do that have the same names.
///
/// A solver is cheap to clone: clones share the runtime, and so do the factorizations that it makes.
///
/// ```
/// use superscalar::{dla::Options, prelude::*};
///
/// let rt = Runtime::builder().workers(2).build()?;
/// let solver = Solver::new(rt).with_options(Options::default().nb(64));
/// let a = Matrix::from_fn(200, 200, |i, j| if i == j { 200.0 } else { 1.0 });
/// let f = solver.cholesky(a, Uplo::Upper)?; // no copy: `a` is given away
/// let x = f.solve(&[399.0; 200])?;
/// assert!((x[(7, 0)] - 1.0_f64).abs() < 1e-12);
/// # Ok::<(), superscalar::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Solver {
    runtime: Arc<Runtime>,
    options: Options,
}

impl Solver {
    /// Returns a solver on this runtime, with the default options. The runtime may be owned or an `Arc` of it.
    pub fn new(runtime: impl Into<Arc<Runtime>>) -> Self {
        Self { runtime: runtime.into(), options: Options::default() }
    }

    /// Returns a solver on [the runtime of the process](global_runtime), with the default options.
    ///
    /// # Errors
    /// As for [`global_runtime`].
    pub fn global() -> Result<Self, Error> {
        Ok(Self::new(global_runtime()?))
    }

    /// Returns the solver with other options: tile sizes, distribution over devices.
    #[must_use]
    pub fn with_options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// Returns the runtime, for scopes beside the solver's routines.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Returns the options of the routines.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }
}

/// Declares methods that call the routines of these names with the solver's runtime and options.
macro_rules! routines {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;)*) => {
        impl crate::Solver {
            $(
                $(#[$doc])*
                #[doc = concat!(
                    "\n\n# Errors\nThose of [`dla::", stringify!($name), "`](fn@crate::dla::", stringify!($name), ").",
                )]
                #[allow(clippy::too_many_arguments, reason = "the BLAS's own")]
                pub fn $name<T: crate::dla::Scalar>(&self, $($argument: $type),*) -> Result<$result, crate::Error> {
                    Ok(crate::dla::$name(self.runtime(), $($argument,)* self.options())?)
                }
            )*
        }
    };
}
use routines;
