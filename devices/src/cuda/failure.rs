//! What CUDA's libraries answer, as errors: which answers lose the device, and their names.

use cudarc::driver::sys::{self, CUresult};
use std::{ffi::CStr, ptr};
use superscalar_runtime::DeviceError;

/// Fails if a call of the driver was not answered with success.
#[inline]
pub(super) fn check(code: CUresult, call: &str) -> Result<(), DeviceError> {
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(refused(code, call)) }
}

/// A call that failed, or that told of earlier work which did.
#[cold]
pub(super) fn refused(code: CUresult, call: &str) -> DeviceError {
    let message = format!("{call} answers {} ({})", name(code), code as u32);
    if is_lasting(code) { DeviceError::lost(message) } else { DeviceError::new(message) }
}

/// Whether every later call on the device will be answered so, too: what ran there ended abnormally, or the device is gone. CUDA's
/// documentation calls the context of such a device unusable until the process ends.
pub(super) fn is_lasting(code: CUresult) -> bool {
    use CUresult::{
        CUDA_ERROR_ASSERT, CUDA_ERROR_CONTAINED, CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_DEINITIALIZED,
        CUDA_ERROR_DEVICE_UNAVAILABLE, CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_EXTERNAL_DEVICE,
        CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_INSTRUCTION,
        CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC, CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_TIMEOUT,
        CUDA_ERROR_MISALIGNED_ADDRESS, CUDA_ERROR_MPS_CLIENT_TERMINATED, CUDA_ERROR_NVLINK_UNCORRECTABLE,
        CUDA_ERROR_TENSOR_MEMORY_LEAK, CUDA_ERROR_UNKNOWN,
    };
    matches!(
        code,
        CUDA_ERROR_ASSERT
            | CUDA_ERROR_CONTAINED
            | CUDA_ERROR_CONTEXT_IS_DESTROYED
            | CUDA_ERROR_DEINITIALIZED
            | CUDA_ERROR_DEVICE_UNAVAILABLE
            | CUDA_ERROR_ECC_UNCORRECTABLE
            | CUDA_ERROR_EXTERNAL_DEVICE
            | CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUDA_ERROR_ILLEGAL_ADDRESS
            | CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUDA_ERROR_INVALID_PC
            | CUDA_ERROR_LAUNCH_FAILED
            | CUDA_ERROR_LAUNCH_TIMEOUT
            | CUDA_ERROR_MISALIGNED_ADDRESS
            | CUDA_ERROR_MPS_CLIENT_TERMINATED
            | CUDA_ERROR_NVLINK_UNCORRECTABLE
            | CUDA_ERROR_TENSOR_MEMORY_LEAK
            | CUDA_ERROR_UNKNOWN
    )
}

/// The name of an answer, as the driver has it; as the header has it where there is no driver to ask.
fn name(code: CUresult) -> String {
    let header = || format!("{code:?}");
    if super::library::driver().is_err() {
        return header();
    }
    let mut text = ptr::null();
    // SAFETY: the driver is loaded, and gives the address of a text of its own.
    let answer = unsafe { sys::cuGetErrorName(code, &raw mut text) };
    if answer != CUresult::CUDA_SUCCESS || text.is_null() {
        return header();
    }
    // SAFETY: the driver's texts end with zero and stay.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The same error, said of something: of a kernel, or of a device. An outcome stays what it is.
pub(super) fn about(what: &str, error: DeviceError) -> DeviceError {
    if error.is_outcome() {
        return error;
    }
    let message = format!("{what}: {error}");
    if error.is_lost() { DeviceError::lost(message) } else { DeviceError::new(message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_call_loses_the_device_only_if_the_error_lasts() {
        assert!(check(CUresult::CUDA_SUCCESS, "cuInit").is_ok());
        let error = refused(CUresult::CUDA_ERROR_INVALID_VALUE, "cuLaunchKernel");
        assert!(!error.is_lost());
        assert_eq!(error.to_string(), "cuLaunchKernel answers CUDA_ERROR_INVALID_VALUE (1)");
        assert!(!refused(CUresult::CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc").is_lost());
        assert!(!refused(CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "cuLaunchKernel").is_lost());
        for lasting in [
            CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
            CUresult::CUDA_ERROR_LAUNCH_FAILED,
            CUresult::CUDA_ERROR_ASSERT,
            CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
        ] {
            let error = refused(lasting, "cuEventQuery");
            assert!(error.is_lost() && error.to_string().starts_with("cuEventQuery answers CUDA_ERROR_"), "{error}");
        }
    }

    #[test]
    fn what_an_error_is_about_is_said_and_outcomes_stay() {
        let error = about("cuda:0", DeviceError::lost("gone"));
        assert!(error.is_lost());
        assert_eq!(error.to_string(), "cuda:0: gone");
        let outcome = about("cuda:0", DeviceError::outcome(std::fmt::Error));
        assert!(outcome.is_outcome() && outcome.outcome_ref::<std::fmt::Error>().is_some());
    }
}
