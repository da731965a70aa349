//! NVIDIA's libraries for GPUs as peers: cuBLASXt, cuSOLVER and cuSOLVERMg, on matrices in host memory.
//!
//! They take the argument lists that Fortran libraries take. What cuBLASXt does not do by itself is done here as part of the call, and of its
//! time: matrices are copied to the GPUs and back, into memory that is taken for the call.
//!
//! Their functions take and return integers and addresses alone, each of which is one machine word.

mod api;
mod dense;
mod mg;
mod xt;

use super::{Call, Unavailable};
use crate::case::Location;
use dense::Dense;
use mg::Mg;
use std::time::Duration;
use superscalar_kernels::Scalar;
use xt::Xt;

/// One of the libraries.
pub enum Gpu {
    Xt(Xt),
    Dense(Dense),
    Mg(Mg),
}

/// Whether a name is one of theirs, and not that of a file.
pub fn is_named(name: &str) -> bool {
    matches!(name, "cublasxt" | "cusolver" | "cusolvermg")
}

impl Gpu {
    /// Opens the library of this name, for these GPUs. The setting is the order of the blocks that matrices are cut into, where the library has
    /// such.
    pub fn open(name: &str, setting: &str, gpus: &[i32]) -> Result<Self, String> {
        let block = || match setting {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| format!("{name},{text}: expected the order of a block")),
        };
        let opened = match name {
            "cublasxt" => Xt::open(block()?, gpus).map(Self::Xt),
            "cusolver" if !setting.is_empty() => return Err(format!("cusolver,{setting}: cuSOLVER has no blocks")),
            "cusolver" => Dense::open(gpus).map(Self::Dense),
            _ => Mg::open(block()?, gpus).map(Self::Mg),
        };
        opened.map_err(|Unavailable(why)| format!("{name}: {why}"))
    }

    /// What it is and where it runs.
    pub fn about(&self, location: Location) -> String {
        let copies = match location {
            Location::Host => "copies from the host and back are part of its time",
            Location::Device => "matrices lie on GPUs when the clock starts",
        };
        match self {
            Self::Xt(xt) => xt.about(),
            Self::Dense(dense) => format!("{}; {copies}", dense.about()),
            Self::Mg(mg) => format!("{}; {copies}", mg.about()),
        }
    }

    /// Makes the call, and says how long it took without the copies there and back.
    pub fn call_on_device<T: Scalar>(&self, call: &Call<'_, T>) -> Result<(Duration, i32), Unavailable> {
        if call.is_too_large() {
            return Err(Unavailable(format!("sizes beyond 32-bit integers in {}", call.name())));
        }
        match self {
            Self::Xt(_) => Err(Unavailable("cuBLASXt takes matrices in host memory".to_owned())),
            Self::Dense(dense) => dense.call(call),
            Self::Mg(mg) => mg.call(call),
        }
    }

    /// Makes the call; returns LAPACK's info, 0 for routines without.
    pub fn call<T: Scalar>(&self, mut call: Call<'_, T>) -> Result<i32, Unavailable> {
        loop {
            if call.is_too_large() {
                return Err(Unavailable(format!("sizes beyond 32-bit integers in {}", call.name())));
            }
            let info = match self {
                Self::Xt(xt) => xt.call(&mut call)?,
                Self::Dense(dense) => dense.call(&call)?.1,
                Self::Mg(mg) => mg.call(&call)?.1,
            };
            match call.next() {
                Some(next) if info == 0 => call = next,
                _ => return Ok(info),
            }
        }
    }
}
