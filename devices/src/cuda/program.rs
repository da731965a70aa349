//! [`Program`]: CUDA C++ as text, and what becomes of it on a device: compiled at first use, kept in memory and on disk.
//!
//! The key of the compiled form is the compiler's version, the architecture, the options and the text, so a program is compiled once for
//! all GPUs of one sort, and the driver, which loads any code for its architecture, is not a part of it.

use super::{
    context::Context,
    failure::{about, check},
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

/// A program's name, text and options: made once, used for every task.
#[derive(Clone, Debug)]
pub struct Program {
    name: Cow<'static, str>,
    source: Cow<'static, str>,
    options: Vec<String>,
    id: u128,
}

impl Program {
    /// A program in CUDA C++, with the compiler's options, such as `-DN=4`; the architecture is the device's. The name stands in messages.
    #[must_use]
    pub fn new(name: impl Into<Cow<'static, str>>, source: impl Into<Cow<'static, str>>, options: &[&str]) -> Self {
        let (name, source) = (name.into(), source.into());
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        let id = hash(options.iter().flat_map(|option| [option.as_bytes(), b"\0"]).chain([source.as_bytes()]));
        Self { name, source, options, id }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The compiler's options.
    pub fn options(&self) -> impl Iterator<Item = &str> {
        self.options.iter().map(String::as_str)
    }

    /// A number for options and text.
    pub(super) fn id(&self) -> u128 {
        self.id
    }
}

/// A device's programs, those that did not compile among them.
#[derive(Debug)]
pub(super) struct Programs {
    known: Mutex<HashMap<u128, Result<Arc<Loaded>, DeviceError>>>,
    cache: Cache,
}

/// A program on a device.
#[derive(Debug)]
pub(super) struct Loaded {
    module: CUmodule,
    context: Arc<Context>,
    /// What the compiler says of registers and spills; nothing for a program that was found on disk.
    pub(super) log: String,
}

// SAFETY: a module belongs to its context and to no thread; functions may be looked up in it by several at once.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

impl Drop for Loaded {
    fn drop(&mut self) {
        if self.context.can_destroy() {
            // SAFETY: it was loaded for this value, in this context. A driver that refuses leaks it.
            let _ = unsafe { sys::cuModuleUnload(self.module) };
        }
    }
}

impl Programs {
    pub(super) fn new(cache: Cache) -> Self {
        Self { known: Mutex::default(), cache }
    }

    /// The program, compiled and loaded when it is first asked for.
    pub(super) fn get(&self, context: &Arc<Context>, program: &Program) -> Result<Arc<Loaded>, DeviceError> {
        // Held while it is compiled, so that nobody else compiles it, too.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let made = known.entry(program.id()).or_insert_with(|| {
            let made = self.make(context, program).map(Arc::new);
            made.map_err(|error| about(&format!("program `{}`", program.name()), error))
        });
        made.clone()
    }

    fn make(&self, context: &Arc<Context>, program: &Program) -> Result<Loaded, DeviceError> {
        library::nvrtc()?;
        let arch = context.class().arch();
        let (major, minor) = nvrtc::version()?;
        let key = key(&format!("{major}.{minor}"), &arch, program);
        // A driver may refuse what another version of the compiler has made; then the text is compiled again.
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

/// All that a compiled program depends on.
pub(super) fn key(compiler: &str, arch: &str, program: &Program) -> Vec<u8> {
    let head = [compiler, arch].into_iter().chain(program.options());
    head.chain([program.source()]).collect::<Vec<_>>().join("\0").into_bytes()
}

fn load(context: &Arc<Context>, cubin: &[u8], log: String) -> Result<Loaded, DeviceError> {
    context.make_current()?;
    let mut module = ptr::null_mut();
    // SAFETY: the context is current; a cubin says itself how long it is, and the driver checks what it is.
    let code = unsafe { sys::cuModuleLoadData(&raw mut module, cubin.as_ptr().cast::<c_void>()) };
    check(code, "cuModuleLoadData")?;
    Ok(Loaded { module, context: Arc::clone(context), log })
}

impl Loaded {
    /// A function that the program declares `extern "C"`. It stays as long as the program is loaded.
    pub(super) fn function(&self, name: &str) -> Result<CUfunction, DeviceError> {
        let text = CString::new(name).map_err(|_| DeviceError::new("a kernel's name has a zero byte in it"))?;
        let mut function = ptr::null_mut();
        // SAFETY: the module is loaded, and the name ends with zero.
        let code = unsafe { sys::cuModuleGetFunction(&raw mut function, self.module, text.as_ptr()) };
        check(code, "cuModuleGetFunction").map_err(|error| about(&format!("kernel `{name}`"), error))?;
        Ok(function)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_text_do_not_run_together() {
        let id = |source: &'static str, options: &[&str]| Program::new("p", source, options).id();
        assert_ne!(id("b", &["a"]), id("", &["ab"]));
        assert_ne!(id("c", &["a", "b"]), id("c", &["ab"]));
        assert_eq!(id("c", &["a"]), id("c", &["a"]));
    }

    #[test]
    fn a_compiled_program_is_known_by_compiler_architecture_options_and_text() {
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
        // The name is for messages only.
        assert_eq!(key("13.0", "sm_90", &Program::new("q", "text", &["-DX=1"])), keys[0]);
    }
}
