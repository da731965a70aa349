//! The error of a heap that cannot be allocated, the same for all drivers.

use superscalar_runtime::DeviceError;

/// Returns the error of a heap of this size, and how to have a smaller one. A device's memory may be in use: by other
/// programs, or because one GPU is a device of two drivers.
pub(crate) fn not_allocated(bytes: usize, error: &DeviceError) -> DeviceError {
    let message = format!(
        "cannot allocate a heap of {bytes} bytes: {error}. If something else uses the device's memory, set a limit, \
         such as SUPERSCALAR_DEVICE_MEMORY=8G"
    );
    if error.is_lost() { DeviceError::lost(message) } else { DeviceError::new(message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_names_the_setting_and_keeps_a_loss() {
        let error = not_allocated(7 << 30, &DeviceError::new("cuMemAlloc returned CUDA_ERROR_OUT_OF_MEMORY (2)"));
        let text = error.to_string();
        assert!(!error.is_lost() && text.contains("7516192768 bytes: cuMemAlloc"), "{text}");
        assert!(text.contains("SUPERSCALAR_DEVICE_MEMORY"), "{text}");
        assert!(not_allocated(1, &DeviceError::lost("gone")).is_lost());
    }
}
