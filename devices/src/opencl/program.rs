//! The programs of a device: compiled once, cached in memory and on disk.

use super::{
    class::{DeviceClass, answer},
    context::lock,
    failure::check,
    object::{Context, Program},
    source::Source,
};
use crate::cache::Cache;
use ocl::ffi::{self, cl_device_id, cl_int};
use std::{
    collections::HashMap,
    ffi::{CString, c_void},
    ptr,
    sync::{Arc, Mutex},
};
use superscalar_runtime::DeviceError;

/// The programs of a device, including those that failed to compile.
#[derive(Debug)]
pub(super) struct Programs {
    known: Mutex<HashMap<u128, Result<Arc<Program>, DeviceError>>>,
    cache: Cache,
}

/// The device that programs are compiled for.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) context: &'a Context,
    pub(super) device: cl_device_id,
    /// The device itself, or the whole device of a sub-device.
    pub(super) whole: cl_device_id,
    pub(super) class: &'a DeviceClass,
}

impl Programs {
    pub(super) fn new(cache: Cache) -> Self {
        Self { known: Mutex::default(), cache }
    }

    /// Returns the program of a source; it is compiled at the first call.
    pub(super) fn get(&self, target: Target<'_>, source: &Source) -> Result<Arc<Program>, DeviceError> {
        // Held during compilation, so that no other thread compiles it, too.
        let mut known = lock(&self.known);
        known.entry(source.id()).or_insert_with(|| self.make(target, source).map(Arc::new)).clone()
    }

    fn make(&self, target: Target<'_>, source: &Source) -> Result<Program, DeviceError> {
        let options =
            CString::new(source.options()).map_err(|_| DeviceError::new("the compiler options contain a zero byte"))?;
        let key = key(target.class, source);
        // A driver may refuse a binary from an earlier build of it. Then the source is compiled again.
        if let Some(program) = self.cache.get(&key).and_then(|binary| from_binary(target, &binary, &options).ok()) {
            return Ok(program);
        }
        let program = from_text(target, source.text())?;
        build(target, &program, &options)?;
        if let Ok(binary) = binary(target, &program) {
            self.cache.put(&key, &binary);
        }
        Ok(program)
    }
}

/// Returns the key of a compiled program: everything that it depends on.
pub(super) fn key(class: &DeviceClass, source: &Source) -> Vec<u8> {
    let units = class.compute_units.to_string();
    [&class.platform, &class.name, &class.driver, &units, source.options(), source.text()].join("\0").into_bytes()
}

fn from_text(target: Target<'_>, text: &str) -> Result<Program, DeviceError> {
    let (mut start, length, mut code) = (text.as_ptr().cast(), text.len(), 0);
    // SAFETY: the context exists, and `start` is a text of `length` bytes.
    unsafe {
        let raw =
            ffi::clCreateProgramWithSource(target.context.raw(), 1, &raw mut start, &raw const length, &raw mut code);
        Program::made(raw, code, "clCreateProgramWithSource")
    }
}

fn from_binary(target: Target<'_>, binary: &[u8], options: &CString) -> Result<Program, DeviceError> {
    let (start, length) = (binary.as_ptr(), binary.len());
    let (mut status, mut code): (cl_int, cl_int) = (0, 0);
    // SAFETY: context and device exist, and `start` is a binary of `length` bytes.
    let program = unsafe {
        let raw = ffi::clCreateProgramWithBinary(
            target.context.raw(),
            1,
            &raw const target.device,
            &raw const length,
            &raw const start,
            &raw mut status,
            &raw mut code,
        );
        Program::made(raw, code, "clCreateProgramWithBinary")?
    };
    check(status, "clCreateProgramWithBinary")?;
    build(target, &program, options)?;
    Ok(program)
}

/// Compiles and links a program. The error contains the compiler's log.
fn build(target: Target<'_>, program: &Program, options: &CString) -> Result<(), DeviceError> {
    // SAFETY: program and device exist. With no function to notify, the call returns when the build is done.
    let code = unsafe {
        ffi::clBuildProgram(program.raw(), 1, &raw const target.device, options.as_ptr(), None, ptr::null_mut())
    };
    check(code, "clBuildProgram").map_err(|error| {
        let log = answer("clGetProgramBuildInfo", |size, place, needed| {
            // SAFETY: program and device exist, and `answer` passes a buffer of this size.
            unsafe {
                let which = ffi::CL_PROGRAM_BUILD_LOG;
                ffi::clGetProgramBuildInfo(program.raw(), target.device, which, size, place, needed)
            }
        });
        let log = String::from_utf8_lossy(&log.unwrap_or_default()).trim_end_matches(['\0', '\n']).to_owned();
        let (name, options) = (&target.class.name, options.to_string_lossy());
        let message = format!("{error} for {name} with options `{options}`; the compiler's log:\n{log}");
        if error.is_lost() { DeviceError::lost(message) } else { DeviceError::new(message) }
    })
}

/// Returns the binary for the device. A program has one binary for each of its devices, in their order. Some drivers
/// list the whole device in place of a sub-device.
pub(super) fn binary(target: Target<'_>, program: &Program) -> Result<Vec<u8>, DeviceError> {
    let about = |which| {
        answer("clGetProgramInfo", |size, place, needed| {
            // SAFETY: the program exists, and `answer` passes a buffer of this size.
            unsafe { ffi::clGetProgramInfo(program.raw(), which, size, place, needed) }
        })
    };
    let none = || DeviceError::new("clGetProgramInfo returned no binary for the device");
    let devices = about(ffi::CL_PROGRAM_DEVICES)?;
    let sizes = about(ffi::CL_PROGRAM_BINARY_SIZES)?;
    let word = size_of::<usize>();
    let at = |device: cl_device_id| {
        let own = (device as usize).to_ne_bytes();
        devices.chunks_exact(word).position(|device| device == own)
    };
    let at = at(target.device).or_else(|| at(target.whole)).ok_or_else(none)?;
    let size = sizes.chunks_exact(word).nth(at).map(bytemuck::pod_read_unaligned::<usize>).ok_or_else(none)?;
    if size == 0 {
        return Err(none());
    }
    let mut bytes = vec![0u8; size];
    // Null addresses skip the binaries of other devices.
    let mut places: Vec<*mut c_void> = vec![ptr::null_mut(); sizes.len() / word];
    places[at] = bytes.as_mut_ptr().cast();
    let length = size_of_val(&places[..]);
    // SAFETY: there is one address per device, which is null or points to a buffer of that binary's size.
    let code = unsafe {
        ffi::clGetProgramInfo(
            program.raw(),
            ffi::CL_PROGRAM_BINARIES,
            length,
            places.as_mut_ptr().cast(),
            ptr::null_mut(),
        )
    };
    check(code, "clGetProgramInfo").map(|()| bytes)
}
