//! cuBLASXt: the Level-3 BLAS on matrices in host memory, over several GPUs.

use super::super::{FortranCall, Unavailable};
use super::api::{Api, at, word};
use std::ffi::c_void;
use superscalar_kernels::Scalar;

/// The default order of a block, the best of those tried for large matrices.
const BLOCK_ORDER_DEFAULT: usize = 4096;

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
        let (mut handle, mut gpus, block) =
            (std::ptr::null_mut::<c_void>(), gpus.to_vec(), block.unwrap_or(BLOCK_ORDER_DEFAULT));
        // SAFETY: the first function writes a handle to `handle`; the second reads `gpus.len()` `int`s; the third takes
        // an `int`. The variables outlive the calls, and additional words are ignored.
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

    pub fn call<T: Scalar>(&self, call: &mut FortranCall<'_, T>) -> Result<i32, Unavailable> {
        const ROUTINES: [&str; 9] = ["gemm", "symm", "hemm", "syrk", "herk", "syr2k", "her2k", "trmm", "trsm"];
        let name = call.name();
        if !ROUTINES.contains(&name) {
            return Err(Unavailable(format!("cuBLASXt has no {name}")));
        }
        let words = call
            .words_by_value()
            .ok_or_else(|| Unavailable(format!("cuBLASXt's {name} does not take these arguments")))?;
        let mut list = vec![self.handle];
        list.extend(&words);
        if name == "trmm" {
            // Its result may be another matrix: pass B and its leading dimension again.
            list.extend(&words[words.len() - 2..]);
        }
        // SAFETY: this is the BLAS routine's argument list after a handle, with sizes (`size_t`) by value. The arrays
        // are borrowed by `call`, and the function returns when the result is in host memory.
        unsafe { self.api.call(&format!("cublasXt{}{name}", T::LETTER.to_ascii_uppercase()), &list)? };
        Ok(0)
    }
}
