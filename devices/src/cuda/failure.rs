//! Converts the error codes of CUDA's driver to errors: their names, and which of them lose the device.

use cudarc::driver::sys::{self, CUresult};
use std::{ffi::CStr, ptr};
use superscalar_runtime::DeviceError;

/// Fails if a call of the driver did not succeed.
#[inline]
pub(super) fn check(code: CUresult, call: &str) -> Result<(), DeviceError> {
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(call_error(code, call)) }
}

/// Returns the error of a call that failed or reported the failure of earlier work.
#[cold]
pub(super) fn call_error(code: CUresult, call: &str) -> DeviceError {
    let message = format!("{call} returned {} ({})", name(code), code as u32);
    if loses_device(code) { DeviceError::lost(message) } else { DeviceError::new(message) }
}

/// Returns whether every later call on the device will fail, too, because work on it ended abnormally or the device is
/// gone. According to CUDA's documentation, its context is unusable until the process ends.
pub(super) fn loses_device(code: CUresult) -> bool {
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

/// Returns the driver's name of an error code, or the header's if there is no driver.
fn name(code: CUresult) -> String {
    let header = || format!("{code:?}");
    if super::library::driver().is_err() {
        return header();
    }
    let mut text = ptr::null();
    // SAFETY: the driver is loaded; it returns the address of a static string.
    let answer = unsafe { sys::cuGetErrorName(code, &raw mut text) };
    if answer != CUresult::CUDA_SUCCESS || text.is_null() {
        return header();
    }
    // SAFETY: the driver's string ends with a zero byte and is static.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Prefixes an error with the kernel or device that it concerns. An outcome is returned unchanged.
pub(super) fn with_subject(what: &str, error: DeviceError) -> DeviceError {
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
    fn permanent_errors_lose_the_device() {
        assert!(check(CUresult::CUDA_SUCCESS, "cuInit").is_ok());
        let error = call_error(CUresult::CUDA_ERROR_INVALID_VALUE, "cuLaunchKernel");
        assert!(!error.is_lost());
        assert_eq!(error.to_string(), "cuLaunchKernel returned CUDA_ERROR_INVALID_VALUE (1)");
        assert!(!call_error(CUresult::CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc").is_lost());
        assert!(!call_error(CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "cuLaunchKernel").is_lost());
        for lasting in [
            CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
            CUresult::CUDA_ERROR_LAUNCH_FAILED,
            CUresult::CUDA_ERROR_ASSERT,
            CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
        ] {
            let error = call_error(lasting, "cuEventQuery");
            assert!(error.is_lost() && error.to_string().starts_with("cuEventQuery returned CUDA_ERROR_"), "{error}");
        }
    }

    #[test]
    fn errors_get_subjects_outcomes_do_not() {
        let error = with_subject("cuda:0", DeviceError::lost("gone"));
        assert!(error.is_lost());
        assert_eq!(error.to_string(), "cuda:0: gone");
        let outcome = with_subject("cuda:0", DeviceError::outcome(std::fmt::Error));
        assert!(outcome.is_outcome() && outcome.outcome_ref::<std::fmt::Error>().is_some());
    }
}
