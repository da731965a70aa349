//! OpenCL's objects. The owning Rust value releases each.
//!
//! `ocl::core` has such types, too, but they panic if a driver refuses to release an object, for example after a device
//! was lost. Its copies take slices, while the gaps between our columns belong to others. Therefore the functions are
//! called directly.

use super::failure::call_error;
use ocl::ffi;
use std::ffi::c_void;
use superscalar_runtime::DeviceError;

macro_rules! object {
    ($(#[$doc:meta])* $name:ident, $release:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(super) struct $name(*mut c_void);

        // SAFETY: OpenCL's objects are not tied to a thread. They are reference-counted, and this value owns one
        // reference.
        unsafe impl Send for $name {}

        impl $name {
            /// Takes the object that a call has returned, with the call's error code.
            ///
            /// # Safety
            /// If the code is a success, `raw` is an object of this type, whose reference nobody else releases.
            pub(super) unsafe fn made(raw: *mut c_void, code: ffi::cl_int, call: &str) -> Result<Self, DeviceError> {
                if code != ffi::CL_SUCCESS || raw.is_null() { Err(call_error(code, call)) } else { Ok(Self(raw)) }
            }

            pub(super) fn raw(&self) -> *mut c_void {
                self.0
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: this value owns one reference, and releases it once. A driver that refuses leaks it.
                let _ = unsafe { ffi::$release(self.0) };
            }
        }
    };
}

object!(
    /// A context.
    Context,
    clReleaseContext
);
object!(
    /// A command queue.
    Queue,
    clReleaseCommandQueue
);
object!(
    /// A buffer.
    Buffer,
    clReleaseMemObject
);
object!(
    /// A program.
    Program,
    clReleaseProgram
);
object!(
    /// A kernel with the arguments that were set last. It is not `Sync`, because only one thread may set arguments.
    Kernel,
    clReleaseKernel
);
object!(
    /// The event of a command.
    Event,
    clReleaseEvent
);
object!(
    /// A sub-device.
    SubDevice,
    clReleaseDevice
);

// SAFETY: several threads may call OpenCL's functions on one object at once, except `clSetKernelArg`.
unsafe impl Sync for Context {}
// SAFETY: several threads may call OpenCL's functions on one command queue at once.
unsafe impl Sync for Queue {}
// SAFETY: several threads may call OpenCL's functions on one buffer at once.
unsafe impl Sync for Buffer {}
// SAFETY: several threads may call OpenCL's functions on one program at once.
unsafe impl Sync for Program {}
// SAFETY: several threads may call OpenCL's functions on one event at once.
unsafe impl Sync for Event {}
// SAFETY: several threads may call OpenCL's functions on one sub-device at once.
unsafe impl Sync for SubDevice {}

impl Event {
    /// Returns an object that is no event, which the driver does not accept.
    #[cfg(test)]
    pub(super) fn invalid() -> Self {
        Self(std::ptr::null_mut())
    }

    /// Returns the state of its command: positive until it has ended, then zero, or a negative code if it ended
    /// abnormally.
    pub(super) fn state(&self) -> Result<ffi::cl_int, DeviceError> {
        let mut state: ffi::cl_int = 0;
        let size = size_of_val(&state);
        // SAFETY: this value owns the event, and the result's place has the given size.
        let code = unsafe {
            ffi::clGetEventInfo(
                self.0,
                ffi::CL_EVENT_COMMAND_EXECUTION_STATUS,
                size,
                (&raw mut state).cast(),
                std::ptr::null_mut(),
            )
        };
        super::failure::check(code, "clGetEventInfo").map(|()| state)
    }

    /// Returns when its command started and ended, by the device's clock, once it has ended.
    pub(super) fn times_ns(&self) -> Option<(u64, u64)> {
        let moment = |which| {
            let mut ns: ffi::cl_ulong = 0;
            let size = size_of_val(&ns);
            // SAFETY: this value owns the event, and the result's place has the given size.
            let code = unsafe {
                ffi::clGetEventProfilingInfo(self.0, which, size, (&raw mut ns).cast(), std::ptr::null_mut())
            };
            (code == ffi::CL_SUCCESS).then_some(ns)
        };
        Some((moment(ffi::CL_PROFILING_COMMAND_START)?, moment(ffi::CL_PROFILING_COMMAND_END)?))
    }
}
