//! OpenCL's objects, each owned by a Rust value that releases it.
//!
//! `ocl::core` has such types, too, but theirs panic if a driver does not release an object, which may be so when a device is lost; and its
//! copies take slices, where ours have columns whose gaps belong to others. So the functions below are called directly.

use super::failure::refused;
use ocl::ffi;
use std::ffi::c_void;
use superscalar_runtime::DeviceError;

macro_rules! object {
    ($(#[$doc:meta])* $name:ident, $release:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(super) struct $name(*mut c_void);

        // SAFETY: OpenCL's objects belong to no thread. Releasing is counted, and this value's count is its own.
        unsafe impl Send for $name {}

        impl $name {
            /// Takes what a call has made, with the code that it gave.
            ///
            /// # Safety
            /// Without an error, it is an object of this type, and nobody else releases it.
            pub(super) unsafe fn made(raw: *mut c_void, code: ffi::cl_int, call: &str) -> Result<Self, DeviceError> {
                if code != ffi::CL_SUCCESS || raw.is_null() { Err(refused(code, call)) } else { Ok(Self(raw)) }
            }

            pub(super) fn raw(&self) -> *mut c_void {
                self.0
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: the object was made for this value, and is released once. A driver that refuses leaks it.
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
    /// A queue.
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
    /// A kernel, with the arguments that were set last. One thread sets them: it is not `Sync`.
    Kernel,
    clReleaseKernel
);
object!(
    /// A command's event.
    Event,
    clReleaseEvent
);
object!(
    /// A device that is a part of another.
    Part,
    clReleaseDevice
);

// SAFETY: all functions but `clSetKernelArg` may be called on an object by several threads at once.
unsafe impl Sync for Context {}
// SAFETY: as above.
unsafe impl Sync for Queue {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Program {}
// SAFETY: as above.
unsafe impl Sync for Event {}
// SAFETY: as above.
unsafe impl Sync for Part {}

impl Event {
    /// The state of its command: positive until it has ended, then zero, or a negative code if it ended abnormally.
    pub(super) fn state(&self) -> Result<ffi::cl_int, DeviceError> {
        let mut state: ffi::cl_int = 0;
        let size = size_of_val(&state);
        // SAFETY: the event is there, and the place is as large as said.
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

    /// When its command started and when it ended, by the device's clock, once it has ended.
    pub(super) fn times_ns(&self) -> Option<(u64, u64)> {
        let moment = |which| {
            let mut ns: ffi::cl_ulong = 0;
            let size = size_of_val(&ns);
            // SAFETY: the event is there, and the place is as large as said.
            let code = unsafe {
                ffi::clGetEventProfilingInfo(self.0, which, size, (&raw mut ns).cast(), std::ptr::null_mut())
            };
            (code == ffi::CL_SUCCESS).then_some(ns)
        };
        Some((moment(ffi::CL_PROFILING_COMMAND_START)?, moment(ffi::CL_PROFILING_COMMAND_END)?))
    }
}
