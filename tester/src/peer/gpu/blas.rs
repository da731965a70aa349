//! cuBLAS: products, triangular solves and factorizations of batches, on one GPU.

use super::super::{BatchCall, Unavailable};
use super::api::{Api, Cuda, at, word};
use super::batched::{Library, call};
use crate::case::Location;
use std::ffi::c_void;
use std::time::Duration;
use superscalar_kernels::Scalar;

/// The library, with a handle.
pub struct Blas {
    api: Api,
    cuda: Cuda,
    handle: *mut c_void,
    gpu: i32,
}

impl Blas {
    pub fn open(gpus: &[i32]) -> Result<Self, Unavailable> {
        let (api, cuda) = (Api::open("cublas", &[13, 12, 11])?, Cuda::open()?);
        let gpu = gpus.first().copied().unwrap_or(0);
        cuda.select(gpu)?;
        let mut handle = std::ptr::null_mut::<c_void>();
        // SAFETY: the function writes a handle to `handle`, which outlives the call; it ignores additional words.
        unsafe { api.call("cublasCreate_v2", &[at(&mut handle), word(0), word(0), word(0)])? };
        Ok(Self { api, cuda, handle, gpu })
    }

    pub fn about(&self) -> String {
        format!("cuBLAS on GPU {}", self.gpu)
    }

    /// Makes the calls of a batch and returns their duration.
    pub fn call_batch<T: Scalar>(
        &self,
        batch: &mut BatchCall<'_, T>,
        location: Location,
    ) -> Result<Duration, Unavailable> {
        self.cuda.select(self.gpu)?;
        let library = Library { api: self.api, cuda: self.cuda, handle: self.handle, is_solver: false };
        call(&library, batch, location)
    }
}
