//! NVIDIA's libraries for GPUs as peers: cuBLAS, cuBLASXt, cuSOLVER and cuSOLVERMg, on matrices in host memory.
//!
//! They are called with the argument lists of Fortran libraries. Except for cuBLASXt, which copies by itself, this
//! module copies the matrices to the GPUs and back as a part of the call and its time, using memory allocated for the
//! call.
//!
//! Their functions take and return only integers and addresses, each of which is one machine word.

mod api;
mod batched;
mod dense;
mod library;
mod mg;
mod xt;

use super::{BatchCall, FortranCall, Unavailable};
use crate::case::Location;
use library::{CUBLAS, CUSOLVER, Library};
use mg::Mg;
use std::time::Duration;
use superscalar_kernels::Scalar;
use xt::Xt;

/// One of the libraries.
pub enum Gpu {
    /// For batches only.
    Blas(Library),
    Xt(Xt),
    Dense(Library),
    Mg(Mg),
}

/// Returns whether a name is that of one of these libraries, and not of a file.
pub fn is_named(name: &str) -> bool {
    matches!(name, "cublas" | "cublasxt" | "cusolver" | "cusolvermg")
}

/// Why cuBLAS is not called for one problem.
const BATCHES_ONLY: &str = "cuBLAS is called for batches only; for one problem there is cublasxt";

impl Gpu {
    /// Opens the library with this name for these GPUs. `setting` is the order of the blocks that matrices are divided
    /// into, for libraries that have such a setting.
    pub fn open(name: &str, setting: &str, gpus: &[i32]) -> Result<Self, String> {
        let block = || match setting {
            "" => Ok(None),
            text => {
                text.parse().map(Some).map_err(|_| format!("{name},{text}: expected a number, the order of a block"))
            }
        };
        let opened = match name {
            "cublasxt" => Xt::open(block()?, gpus).map(Self::Xt),
            "cublas" | "cusolver" if !setting.is_empty() => {
                return Err(format!("{name},{setting}: this library has no block setting"));
            }
            "cublas" => Library::open(CUBLAS, gpus).map(Self::Blas),
            "cusolver" => Library::open(CUSOLVER, gpus).map(Self::Dense),
            _ => Mg::open(block()?, gpus).map(Self::Mg),
        };
        opened.map_err(|Unavailable(why)| format!("{name}: {why}"))
    }

    /// Describes the library, its GPUs and its timing.
    pub fn about(&self, location: Location) -> String {
        let copies = match location {
            Location::Host => "copies from the host and back are part of its time",
            Location::Device => "matrices are on GPUs when the clock starts",
        };
        match self {
            Self::Xt(xt) => xt.about(),
            Self::Blas(library) | Self::Dense(library) => format!("{}; {copies}", library.about()),
            Self::Mg(mg) => format!("{}; {copies}", mg.about()),
        }
    }

    /// Makes the calls of a batch and returns their duration: with `Location::Device` without the copies.
    pub fn call_batch<T: Scalar>(
        &self,
        batch: &mut BatchCall<'_, T>,
        location: Location,
    ) -> Result<Duration, Unavailable> {
        match self {
            Self::Blas(library) | Self::Dense(library) => library.call_batch(batch, location),
            Self::Xt(_) | Self::Mg(_) => Err(Unavailable("the library has no routines for batches".to_owned())),
        }
    }

    /// Makes the call. Returns its duration without the copies, and LAPACK's info.
    pub fn call_on_device<T: Scalar>(&self, call: &FortranCall<'_, T>) -> Result<(Duration, i32), Unavailable> {
        if call.is_too_large() {
            return Err(Unavailable(format!("a size does not fit the 32-bit integers of {}", call.name())));
        }
        match self {
            Self::Blas(_) => Err(Unavailable(BATCHES_ONLY.to_owned())),
            Self::Xt(_) => Err(Unavailable("cuBLASXt takes matrices in host memory".to_owned())),
            Self::Dense(solver) => solver.factor_one(call),
            Self::Mg(mg) => mg.call(call),
        }
    }

    /// Makes the call and returns LAPACK's info, or 0 for routines without it.
    pub fn call<T: Scalar>(&self, mut call: FortranCall<'_, T>) -> Result<i32, Unavailable> {
        loop {
            if call.is_too_large() {
                return Err(Unavailable(format!("a size does not fit the 32-bit integers of {}", call.name())));
            }
            let info = match self {
                Self::Blas(_) => return Err(Unavailable(BATCHES_ONLY.to_owned())),
                Self::Xt(xt) => xt.call(&mut call)?,
                Self::Dense(solver) => solver.factor_one(&call)?.1,
                Self::Mg(mg) => mg.call(&call)?.1,
            };
            match call.next() {
                Some(next) if info == 0 => call = next,
                _ => return Ok(info),
            }
        }
    }
}
