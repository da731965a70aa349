//! NVRTC: compiles CUDA C++ to machine code for one architecture. It needs the compiler's library, but neither a GPU
//! nor a driver.

use super::library;
use cudarc::nvrtc::sys::{self, nvrtcProgram, nvrtcResult};
use std::{
    ffi::{CStr, CString, c_char},
    ptr,
};
use superscalar_runtime::DeviceError;

/// From this version on the compiler has its own cache of machine code, and reports no registers and spills for
/// programs from that cache. `program` has a cache anyway.
const CACHING_SINCE: (i32, i32) = (12, 9);

/// Compiles CUDA C++ for an architecture such as `sm_90`. Returns the machine code and the compiler's log: warnings,
/// and the registers, stack and spills of each kernel ([`usage`](super::usage()) parses it).
///
/// # Errors
/// If NVRTC is not found, does not know the architecture, or rejects the program; the message contains the log.
///
/// # Examples
/// ```
/// # mod superscalar { pub use superscalar_devices as devices; pub use superscalar_runtime::*; }
/// use superscalar::devices::cuda;
///
/// let source = r#"extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }"#;
/// match cuda::compile(source, &["-DN=4"], "sm_90") {
///     Ok((cubin, log)) => assert!(!cubin.is_empty() && log.contains("twice")),
///     Err(error) => println!("no compiler here: {error}"),
/// }
/// ```
pub fn compile(source: &str, options: &[&str], arch: &str) -> Result<(Vec<u8>, String), DeviceError> {
    library::nvrtc()?;
    let given = options.iter().map(|&option| option.to_owned());
    let ours = [format!("-arch={arch}"), "--ptxas-options=-v".to_owned()];
    let uncached = (version()? >= CACHING_SINCE).then(|| "--no-cache".to_owned());
    let options: Vec<String> = given.chain(ours).chain(uncached).collect();
    let texts: Vec<CString> = options.iter().map(|option| c_string(option)).collect::<Result<_, _>>()?;
    let program = NvrtcProgram::new(source)?;
    let places: Vec<*const c_char> = texts.iter().map(|option| option.as_ptr()).collect();
    // SAFETY: the program exists, and `places` has `places.len()` addresses of strings that end with a zero byte.
    let code = unsafe { sys::nvrtcCompileProgram(program.0, places.len() as i32, places.as_ptr()) };
    let log = program.log()?;
    if code != nvrtcResult::NVRTC_SUCCESS {
        let (error, options) = (call_error(code, "nvrtcCompileProgram"), options.join(" "));
        return Err(DeviceError::new(format!("{error} with options `{options}`; the compiler's log:\n{log}")));
    }
    Ok((program.cubin()?, log))
}

/// Returns the compiler's major and minor version.
pub(super) fn version() -> Result<(i32, i32), DeviceError> {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the callers have loaded the library, and both places for the results are valid.
    check(unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) }, "nvrtcVersion")?;
    Ok((major, minor))
}

fn c_string(of: &str) -> Result<CString, DeviceError> {
    CString::new(of).map_err(|_| DeviceError::new("a program or an option for the compiler contains a zero byte"))
}

fn check(code: nvrtcResult, call: &str) -> Result<(), DeviceError> {
    if code == nvrtcResult::NVRTC_SUCCESS { Ok(()) } else { Err(call_error(code, call)) }
}

fn call_error(code: nvrtcResult, call: &str) -> DeviceError {
    // SAFETY: the library is loaded; its strings end with a zero byte and are static.
    let name = unsafe { CStr::from_ptr(sys::nvrtcGetErrorString(code)) };
    DeviceError::new(format!("{call} returned {} ({})", name.to_string_lossy(), code as u32))
}

/// NVRTC's object for one program.
struct NvrtcProgram(nvrtcProgram);

impl NvrtcProgram {
    fn new(source: &str) -> Result<Self, DeviceError> {
        let (source, mut program) = (c_string(source)?, ptr::null_mut());
        // SAFETY: the source ends with a zero byte and is copied by the call; there are no headers.
        let code = unsafe {
            sys::nvrtcCreateProgram(
                &raw mut program,
                source.as_ptr(),
                c"program.cu".as_ptr(),
                0,
                ptr::null(),
                ptr::null(),
            )
        };
        check(code, "nvrtcCreateProgram")?;
        Ok(Self(program))
    }

    fn log(&self) -> Result<String, DeviceError> {
        let mut size = 0;
        // SAFETY: this value owns the program, and the place for the size is valid.
        check(unsafe { sys::nvrtcGetProgramLogSize(self.0, &raw mut size) }, "nvrtcGetProgramLogSize")?;
        let mut bytes = vec![0u8; size];
        // SAFETY: the buffer has the size that NVRTC returned.
        check(unsafe { sys::nvrtcGetProgramLog(self.0, bytes.as_mut_ptr().cast()) }, "nvrtcGetProgramLog")?;
        Ok(String::from_utf8_lossy(&bytes).trim_end_matches(['\0', '\n']).to_owned())
    }

    fn cubin(&self) -> Result<Vec<u8>, DeviceError> {
        let mut size = 0;
        // SAFETY: this value owns the program, and the place for the size is valid.
        check(unsafe { sys::nvrtcGetCUBINSize(self.0, &raw mut size) }, "nvrtcGetCUBINSize")?;
        if size == 0 {
            return Err(DeviceError::new(
                "NVRTC returned no machine code: expected a real architecture, such as sm_90",
            ));
        }
        let mut bytes = vec![0u8; size];
        // SAFETY: the buffer has the size that NVRTC returned.
        check(unsafe { sys::nvrtcGetCUBIN(self.0, bytes.as_mut_ptr().cast()) }, "nvrtcGetCUBIN")?;
        Ok(bytes)
    }
}

impl Drop for NvrtcProgram {
    fn drop(&mut self) {
        // SAFETY: this value owns the program, and destroys it once.
        let _ = unsafe { sys::nvrtcDestroyProgram(&raw mut self.0) };
    }
}
