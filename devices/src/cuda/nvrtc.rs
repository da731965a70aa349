//! NVRTC: from CUDA C++ to machine code for one architecture. It needs the compiler's library, and neither a GPU nor a driver.

use super::library;
use cudarc::nvrtc::sys::{self, nvrtcProgram, nvrtcResult};
use std::{
    ffi::{CStr, CString, c_char},
    ptr,
};
use superscalar_runtime::DeviceError;

/// From this version on the compiler keeps machine code of its own, beside the driver's, and for what it finds there it says nothing of registers
/// and spills. Compiled programs are kept by `program` anyway.
const CACHING_SINCE: (i32, i32) = (12, 9);

/// Compiles CUDA C++ for an architecture such as `sm_90`. Returns the machine code, and what the compiler says: its warnings, and for each
/// kernel registers, stack and spills ([`usage`](super::usage()) reads that).
///
/// # Errors
/// If NVRTC is not found or does not know the architecture, or the text can not be compiled: with what the compiler says.
///
/// # Examples
/// ```
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
    let texts: Vec<CString> = options.iter().map(|option| text(option)).collect::<Result<_, _>>()?;
    let program = Translation::new(source)?;
    let places: Vec<*const c_char> = texts.iter().map(|option| option.as_ptr()).collect();
    // SAFETY: the program is there, and there are so many options, each of which ends with zero.
    let code = unsafe { sys::nvrtcCompileProgram(program.0, places.len() as i32, places.as_ptr()) };
    let log = program.log()?;
    if code != nvrtcResult::NVRTC_SUCCESS {
        let (error, options) = (refused(code, "nvrtcCompileProgram"), options.join(" "));
        return Err(DeviceError::new(format!("{error} with options `{options}`; the compiler says:\n{log}")));
    }
    Ok((program.cubin()?, log))
}

/// The compiler's version, major and minor.
pub(super) fn version() -> Result<(i32, i32), DeviceError> {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the library is loaded, as callers have made sure, and both places are there.
    check(unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) }, "nvrtcVersion")?;
    Ok((major, minor))
}

fn text(of: &str) -> Result<CString, DeviceError> {
    CString::new(of).map_err(|_| DeviceError::new("a program or an option for the compiler has a zero byte in it"))
}

fn check(code: nvrtcResult, call: &str) -> Result<(), DeviceError> {
    if code == nvrtcResult::NVRTC_SUCCESS { Ok(()) } else { Err(refused(code, call)) }
}

fn refused(code: nvrtcResult, call: &str) -> DeviceError {
    // SAFETY: the library is loaded, and its texts end with zero and stay.
    let name = unsafe { CStr::from_ptr(sys::nvrtcGetErrorString(code)) };
    DeviceError::new(format!("{call} answers {} ({})", name.to_string_lossy(), code as u32))
}

/// NVRTC's object for one program.
struct Translation(nvrtcProgram);

impl Translation {
    fn new(source: &str) -> Result<Self, DeviceError> {
        let (source, mut program) = (text(source)?, ptr::null_mut());
        // SAFETY: the source ends with zero and is copied; there are no headers.
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
        // SAFETY: the program is there.
        check(unsafe { sys::nvrtcGetProgramLogSize(self.0, &raw mut size) }, "nvrtcGetProgramLogSize")?;
        let mut bytes = vec![0u8; size];
        // SAFETY: the place has the size that was asked for.
        check(unsafe { sys::nvrtcGetProgramLog(self.0, bytes.as_mut_ptr().cast()) }, "nvrtcGetProgramLog")?;
        Ok(String::from_utf8_lossy(&bytes).trim_end_matches(['\0', '\n']).to_owned())
    }

    fn cubin(&self) -> Result<Vec<u8>, DeviceError> {
        let mut size = 0;
        // SAFETY: the program is there.
        check(unsafe { sys::nvrtcGetCUBINSize(self.0, &raw mut size) }, "nvrtcGetCUBINSize")?;
        if size == 0 {
            return Err(DeviceError::new(
                "NVRTC has no machine code; the architecture must be a real one, such as sm_90",
            ));
        }
        let mut bytes = vec![0u8; size];
        // SAFETY: the place has the size that was asked for.
        check(unsafe { sys::nvrtcGetCUBIN(self.0, bytes.as_mut_ptr().cast()) }, "nvrtcGetCUBIN")?;
        Ok(bytes)
    }
}

impl Drop for Translation {
    fn drop(&mut self) {
        // SAFETY: made for this value, and destroyed once.
        let _ = unsafe { sys::nvrtcDestroyProgram(&raw mut self.0) };
    }
}
