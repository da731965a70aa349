//! [`Library`]: cuBLAS or cuSOLVER, on one GPU.

use super::super::Unavailable;
use super::api::{Api, Cuda, at, word};
use std::ffi::c_void;

/// What differs between the two libraries.
#[derive(Clone, Copy, Debug)]
pub struct LibraryNames {
    title: &'static str,
    file: &'static str,
    versions: &'static [u32],
    create: &'static str,
    /// What the names of routines begin with.
    pub prefix: &'static str,
    /// The routines for batches that the tester calls.
    pub batched: &'static [&'static str],
}

pub const CUBLAS: LibraryNames = LibraryNames {
    title: "cuBLAS",
    file: "cublas",
    versions: &[13, 12, 11],
    create: "cublasCreate_v2",
    prefix: "cublas",
    batched: &["gemm", "trsm", "getrf", "geqrf"],
};

pub const CUSOLVER: LibraryNames = LibraryNames {
    title: "cuSOLVER",
    file: "cusolver",
    versions: &[12, 11],
    create: "cusolverDnCreate",
    prefix: "cusolverDn",
    batched: &["potrf"],
};

/// One of the libraries, with a handle.
pub struct Library {
    pub names: LibraryNames,
    pub api: Api,
    pub cuda: Cuda,
    pub handle: *mut c_void,
    gpu: i32,
}

impl Library {
    /// Opens the library for the first of these GPUs.
    pub fn open(names: LibraryNames, gpus: &[i32]) -> Result<Self, Unavailable> {
        let (api, cuda) = (Api::open(names.file, names.versions)?, Cuda::open()?);
        let gpu = gpus.first().copied().unwrap_or(0);
        cuda.select(gpu)?;
        let mut handle = std::ptr::null_mut::<c_void>();
        // SAFETY: the function writes a handle to `handle`, which outlives the call; it ignores additional words.
        unsafe { api.call(names.create, &[at(&mut handle), word(0), word(0), word(0)])? };
        Ok(Self { names, api, cuda, handle, gpu })
    }

    pub fn about(&self) -> String {
        format!("{} on GPU {}", self.names.title, self.gpu)
    }

    /// Selects the GPU for the next calls.
    pub fn select(&self) -> Result<(), Unavailable> {
        self.cuda.select(self.gpu)
    }
}
