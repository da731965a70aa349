//! [`Program`]: CUDA C++ source, compiled at its first use on a device and cached in memory and on disk.
//!
//! The key of a compiled program consists of the compiler's version, the architecture, the options and the source. A
//! program is therefore compiled once for all GPUs of one architecture. The driver is not part of the key, as it loads
//! any machine code for its architecture.

use super::{
    context::Context,
    failure::{check, with_subject},
    library, nvrtc,
};
use crate::cache::{Cache, hash};
use cudarc::driver::sys::{self, CUfunction, CUmodule};
use std::{
    borrow::Cow,
    collections::HashMap,
    ffi::{CString, c_void},
    ptr,
    sync::{Arc, Mutex, PoisonError},
};
use superscalar_runtime::DeviceError;

/// The name, source and options of a program. It is made once and used for every task.
#[derive(Clone, Debug)]
pub struct Program {
    name: Cow<'static, str>,
    source: Cow<'static, str>,
    options: Vec<String>,
    id: u128,
}

impl Program {
    /// Makes a program from CUDA C++ source and compiler options such as `-DN=4`; the architecture is that of the
    /// device. The name is used in messages.
    #[must_use]
    pub fn new(name: impl Into<Cow<'static, str>>, source: impl Into<Cow<'static, str>>, options: &[&str]) -> Self {
        let (name, source) = (name.into(), source.into());
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        let id = hash(options.iter().flat_map(|option| [option.as_bytes(), b"\0"]).chain([source.as_bytes()]));
        Self { name, source, options, id }
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the source.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the compiler options.
    pub fn options(&self) -> impl Iterator<Item = &str> {
        self.options.iter().map(String::as_str)
    }

    /// Returns a hash of options and source.
    pub(super) fn id(&self) -> u128 {
        self.id
    }
}

/// The programs of a device, including those that failed to compile.
#[derive(Debug)]
pub(super) struct Programs {
    known: Mutex<HashMap<u128, Result<Arc<LoadedProgram>, DeviceError>>>,
    cache: Cache,
}

/// A program that is loaded on a device.
#[derive(Debug)]
pub(super) struct LoadedProgram {
    module: CUmodule,
    context: Arc<Context>,
    /// The compiler's log on registers and spills; empty for a program that was found on disk.
    pub(super) log: String,
}

// SAFETY: CUDA's modules belong to a context, which this value keeps, and not to a thread: any thread that makes the
// context current may use or unload them.
unsafe impl Send for LoadedProgram {}
// SAFETY: a shared `LoadedProgram` only looks up functions, and the driver's functions may be called by several threads
// at once. Unloading takes exclusive access.
unsafe impl Sync for LoadedProgram {}

impl Drop for LoadedProgram {
    fn drop(&mut self) {
        if self.context.can_destroy() {
            // SAFETY: this value owns the module, whose context `can_destroy` has made current. A driver that refuses
            // leaks it.
            let _ = unsafe { sys::cuModuleUnload(self.module) };
        }
    }
}

impl Programs {
    pub(super) fn new(cache: Cache) -> Self {
        Self { known: Mutex::default(), cache }
    }

    /// Returns the program; it is compiled and loaded at the first call.
    pub(super) fn get(&self, context: &Arc<Context>, program: &Program) -> Result<Arc<LoadedProgram>, DeviceError> {
        // Held during compilation, so that no other thread compiles it, too.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let made = known.entry(program.id()).or_insert_with(|| {
            let made = self.make(context, program).map(Arc::new);
            made.map_err(|error| with_subject(&format!("program `{}`", program.name()), error))
        });
        made.clone()
    }

    fn make(&self, context: &Arc<Context>, program: &Program) -> Result<LoadedProgram, DeviceError> {
        library::nvrtc()?;
        let arch = context.class().arch();
        let (major, minor) = nvrtc::version()?;
        let key = key(&format!("{major}.{minor}"), &arch, program);
        // A driver may refuse machine code from another version of the compiler. Then the source is compiled again.
        if let Some(cubin) = self.cache.get(&key)
            && let Ok(loaded) = load(context, &cubin, String::new())
        {
            return Ok(loaded);
        }
        let options: Vec<&str> = program.options().collect();
        let (cubin, log) = nvrtc::compile(program.source(), &options, &arch)?;
        let loaded = load(context, &cubin, log)?;
        self.cache.put(&key, &cubin);
        Ok(loaded)
    }
}

/// Returns the key of a compiled program: everything that it depends on.
pub(super) fn key(compiler: &str, arch: &str, program: &Program) -> Vec<u8> {
    let head = [compiler, arch].into_iter().chain(program.options());
    head.chain([program.source()]).collect::<Vec<_>>().join("\0").into_bytes()
}

fn load(context: &Arc<Context>, cubin: &[u8], log: String) -> Result<LoadedProgram, DeviceError> {
    context.make_current()?;
    let mut module = ptr::null_mut();
    // SAFETY: the context is current. A cubin contains its own length, and the driver validates it.
    let code = unsafe { sys::cuModuleLoadData(&raw mut module, cubin.as_ptr().cast::<c_void>()) };
    check(code, "cuModuleLoadData")?;
    Ok(LoadedProgram { module, context: Arc::clone(context), log })
}

impl LoadedProgram {
    /// Returns a function that the program declares `extern "C"`. It is valid while the program is loaded.
    pub(super) fn function(&self, name: &str) -> Result<CUfunction, DeviceError> {
        let text = CString::new(name).map_err(|_| DeviceError::new("the name of a kernel contains a zero byte"))?;
        let mut function = ptr::null_mut();
        // SAFETY: the module is loaded, and the name ends with a zero byte.
        let code = unsafe { sys::cuModuleGetFunction(&raw mut function, self.module, text.as_ptr()) };
        check(code, "cuModuleGetFunction").map_err(|error| with_subject(&format!("kernel `{name}`"), error))?;
        Ok(function)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_separates_options_and_source() {
        let id = |source: &'static str, options: &[&str]| Program::new("p", source, options).id();
        assert_ne!(id("b", &["a"]), id("", &["ab"]));
        assert_ne!(id("c", &["a", "b"]), id("c", &["ab"]));
        assert_eq!(id("c", &["a"]), id("c", &["a"]));
    }

    #[test]
    fn program_key_contains_all_inputs() {
        let program = Program::new("p", "text", &["-DX=1"]);
        let keys = [
            key("13.0", "sm_90", &program),
            key("13.1", "sm_90", &program),
            key("13.0", "sm_80", &program),
            key("13.0", "sm_90", &Program::new("p", "text", &["-DX=2"])),
            key("13.0", "sm_90", &Program::new("p", "Text", &["-DX=1"])),
        ];
        for (at, one) in keys.iter().enumerate() {
            assert!(keys[..at].iter().all(|other| other != one));
        }
        // The name is only used in messages.
        assert_eq!(key("13.0", "sm_90", &Program::new("q", "text", &["-DX=1"])), keys[0]);
    }
}
