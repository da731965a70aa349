//! cuBLASXt: the Level-3 BLAS on matrices in host memory, over several GPUs.

use super::super::{Call, Unavailable};
use super::api::{Api, at, word};
use std::ffi::c_void;
use superscalar_kernels::Scalar;

/// Of the orders that were tried, the best for large matrices.
const BLOCK: usize = 4096;

/// The library, with a handle.
pub struct Xt {
    api: Api,
    handle: *mut c_void,
    gpus: usize,
    block: usize,
}

impl Xt {
    pub fn open(block: Option<usize>, gpus: &[i32]) -> Result<Self, Unavailable> {
        let api = Api::open("cublas", &[13, 12, 11])?;
        let (mut handle, mut gpus, block) = (std::ptr::null_mut::<c_void>(), gpus.to_vec(), block.unwrap_or(BLOCK));
        // SAFETY: the first writes a handle; the second reads so many `int`s; the third takes an `int`. Words more are not looked at.
        unsafe {
            api.call("cublasXtCreate", &[at(&mut handle), word(0), word(0), word(0)])?;
            let ids = gpus.as_mut_ptr().cast();
            api.call("cublasXtDeviceSelect", &[handle, word(gpus.len()), ids, word(0)])?;
            api.call("cublasXtSetBlockDim", &[handle, word(block), word(0), word(0)])?;
        }
        Ok(Self { api, handle, gpus: gpus.len(), block })
    }

    pub fn about(&self) -> String {
        format!("cuBLASXt on {} GPUs, in blocks of {}; it copies from the host and back", self.gpus, self.block)
    }

    pub fn call<T: Scalar>(&self, call: &mut Call<'_, T>) -> Result<i32, Unavailable> {
        const ROUTINES: [&str; 9] = ["gemm", "symm", "hemm", "syrk", "herk", "syr2k", "her2k", "trmm", "trsm"];
        let name = call.name();
        if !ROUTINES.contains(&name) {
            return Err(Unavailable(format!("cuBLASXt has no {name}")));
        }
        let words = call.words_by_value().ok_or_else(|| Unavailable(format!("cuBLASXt has no such {name}")))?;
        let mut list = vec![self.handle];
        list.extend(&words);
        if name == "trmm" {
            // Its result may lie elsewhere: B and its leading dimension once more.
            list.extend(&words[words.len() - 2..]);
        }
        // SAFETY: it is the argument list of the routine in the BLAS, behind a handle, with sizes (`size_t`) by value; arrays are borrowed
        // until the call is over, and it returns when the result is in host memory.
        unsafe { self.api.call(&format!("cublasXt{}{name}", T::LETTER.to_ascii_uppercase()), &list)? };
        Ok(0)
    }
}
