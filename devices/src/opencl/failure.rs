//! Converts OpenCL's error codes to errors: their names, and which of them lose the device.

use ocl::ffi::{
    CL_DEVICE_NOT_AVAILABLE, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_COMMAND_QUEUE,
    CL_INVALID_CONTEXT, CL_INVALID_DEVICE, CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY, CL_SUCCESS, cl_int,
};
use superscalar_runtime::DeviceError;

/// Fails if a call did not succeed.
pub(super) fn check(code: cl_int, call: &str) -> Result<(), DeviceError> {
    if code == CL_SUCCESS { Ok(()) } else { Err(call_error(code, call)) }
}

/// Returns the error of a failed call. The device is lost if an object of the call no longer exists.
pub(super) fn call_error(code: cl_int, call: &str) -> DeviceError {
    let message = format!("{call} returned {} ({code})", name(code));
    match code {
        CL_DEVICE_NOT_AVAILABLE | CL_INVALID_DEVICE | CL_INVALID_CONTEXT | CL_INVALID_COMMAND_QUEUE => {
            DeviceError::lost(message)
        }
        _ => DeviceError::new(message),
    }
}

/// Returns the error of a command that ended abnormally. The state of memory and of later commands in its queue is then
/// unspecified, so the device is lost. Exceptions are commands that did not start, because memory was missing or an
/// event that they waited for had failed.
pub(super) fn abnormal_end(code: cl_int) -> DeviceError {
    match code {
        CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST => awaited_failure(),
        CL_MEM_OBJECT_ALLOCATION_FAILURE | CL_OUT_OF_HOST_MEMORY => {
            DeviceError::new(format!("it did not run: {} ({code})", name(code)))
        }
        _ => DeviceError::lost(format!("it ended abnormally: {} ({code})", name(code))),
    }
}

/// Returns the error of work that waits for failed work.
pub(super) fn awaited_failure() -> DeviceError {
    DeviceError::new("it did not run, because an event that it waited for failed")
}

/// Returns the name of an error code in the specification.
fn name(code: cl_int) -> &'static str {
    NAMES.iter().find(|(named, _)| *named == code).map_or("an unknown code", |(_, name)| name)
}

const NAMES: [(cl_int, &str); 37] = [
    (-1, "CL_DEVICE_NOT_FOUND"),
    (-2, "CL_DEVICE_NOT_AVAILABLE"),
    (-3, "CL_COMPILER_NOT_AVAILABLE"),
    (-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"),
    (-5, "CL_OUT_OF_RESOURCES"),
    (-6, "CL_OUT_OF_HOST_MEMORY"),
    (-7, "CL_PROFILING_INFO_NOT_AVAILABLE"),
    (-8, "CL_MEM_COPY_OVERLAP"),
    (-11, "CL_BUILD_PROGRAM_FAILURE"),
    (-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"),
    (-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"),
    (-18, "CL_DEVICE_PARTITION_FAILED"),
    (-19, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"),
    (-30, "CL_INVALID_VALUE"),
    (-31, "CL_INVALID_DEVICE_TYPE"),
    (-32, "CL_INVALID_PLATFORM"),
    (-33, "CL_INVALID_DEVICE"),
    (-34, "CL_INVALID_CONTEXT"),
    (-35, "CL_INVALID_QUEUE_PROPERTIES"),
    (-36, "CL_INVALID_COMMAND_QUEUE"),
    (-38, "CL_INVALID_MEM_OBJECT"),
    (-42, "CL_INVALID_BINARY"),
    (-43, "CL_INVALID_BUILD_OPTIONS"),
    (-44, "CL_INVALID_PROGRAM"),
    (-45, "CL_INVALID_PROGRAM_EXECUTABLE"),
    (-46, "CL_INVALID_KERNEL_NAME"),
    (-48, "CL_INVALID_KERNEL"),
    (-49, "CL_INVALID_ARG_INDEX"),
    (-50, "CL_INVALID_ARG_VALUE"),
    (-51, "CL_INVALID_ARG_SIZE"),
    (-52, "CL_INVALID_KERNEL_ARGS"),
    (-53, "CL_INVALID_WORK_DIMENSION"),
    (-54, "CL_INVALID_WORK_GROUP_SIZE"),
    (-55, "CL_INVALID_WORK_ITEM_SIZE"),
    (-57, "CL_INVALID_EVENT_WAIT_LIST"),
    (-61, "CL_INVALID_BUFFER_SIZE"),
    (-68, "CL_INVALID_DEVICE_PARTITION_COUNT"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_device_is_lost() {
        assert!(check(CL_SUCCESS, "clFlush").is_ok());
        let error = call_error(-54, "clEnqueueNDRangeKernel");
        assert!(!error.is_lost());
        assert_eq!(error.to_string(), "clEnqueueNDRangeKernel returned CL_INVALID_WORK_GROUP_SIZE (-54)");
        assert!(call_error(CL_DEVICE_NOT_AVAILABLE, "clFlush").is_lost());
        assert!(call_error(CL_INVALID_COMMAND_QUEUE, "clFlush").is_lost());
    }

    #[test]
    fn abnormal_end_loses_the_device() {
        assert!(!abnormal_end(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST).is_lost());
        assert!(!abnormal_end(CL_MEM_OBJECT_ALLOCATION_FAILURE).is_lost());
        // A vendor-specific code, for example for an access out of bounds.
        assert!(abnormal_end(-9999).is_lost());
        assert!(abnormal_end(-5).is_lost());
    }
}
