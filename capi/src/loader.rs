//! Access to the loader and to the list of libraries in this process, for the searches in `forward.rs` and
//! `handler.rs`. Empty on the systems on which `forward.rs` is empty.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    ptr::{NonNull, null, null_mut},
};

/// The address of a function of another library.
pub(crate) type Function = NonNull<c_void>;

/// Returns the first function of this name in the libraries after this one in the loader's order.
pub(crate) fn next(name: &CStr) -> Option<Function> {
    // SAFETY: the loader defines this handle, and `name` ends with a null byte and outlives the call.
    NonNull::new(unsafe { dlsym(RTLD_NEXT, name.as_ptr()) })
}

/// A handle of the loader.
#[derive(Clone, Copy)]
pub(crate) struct Library(pub(crate) NonNull<c_void>);

impl Library {
    /// Opens the library with this path or name, and loads it if necessary.
    pub(crate) fn open(path: &CStr) -> Option<Self> {
        // SAFETY: the path ends with a null byte and outlives the call. The user who names a library is responsible for
        // the initialisers that it runs.
        NonNull::new(unsafe { dlopen(path.as_ptr(), RTLD_LAZY) }).map(Self)
    }

    /// Opens the library with this path if it is already loaded.
    pub(crate) fn loaded(path: &CStr) -> Option<Self> {
        // SAFETY: the path ends with a null byte and outlives the call; nothing is loaded.
        NonNull::new(unsafe { dlopen(path.as_ptr(), RTLD_LAZY | RTLD_NOLOAD) }).map(Self)
    }

    /// Returns the function of this name in this library or in those that it needs.
    pub(crate) fn function(self, name: &CStr) -> Option<Function> {
        // SAFETY: the handle is open, and the name ends with a null byte and outlives the call.
        NonNull::new(unsafe { dlsym(self.0.as_ptr(), name.as_ptr()) })
    }

    /// Closes the handle, which must be that of a library that others have loaded too.
    pub(crate) fn close(self) {
        // SAFETY: the handle is open, and no caller uses it afterwards. Others keep the library loaded.
        unsafe { dlclose(self.0.as_ptr()) };
    }

    /// Returns the loader's message about this thread's last failed call.
    pub(crate) fn error() -> String {
        // SAFETY: the loader returns null or a string that is valid until this thread's next call of the loader.
        let text = unsafe { dlerror().as_ref().map(|text| CStr::from_ptr(text)) };
        text.map_or_else(|| "it cannot be opened".to_owned(), |text| text.to_string_lossy().into_owned())
    }
}

/// The loader's information about an address and the library that contains it: C's `Dl_info`.
#[repr(C)]
pub(crate) struct Object {
    path: *const c_char,
    /// The base address of the library. Two functions with the same base are in the same library.
    pub(crate) base: *mut c_void,
    symbol: *const c_char,
    address: *const c_void,
}

impl Object {
    pub(crate) fn of(address: Function) -> Option<Self> {
        let mut object = Self { path: null(), base: null_mut(), symbol: null(), address: null() };
        // SAFETY: the loader compares the address without reading from it, and writes to the local `object`.
        (unsafe { dladdr(address.as_ptr(), &mut object) } != 0).then_some(object)
    }

    /// Returns the name of the exported function that contains the address, if any.
    pub(crate) fn symbol(&self) -> Option<&CStr> {
        // SAFETY: the pointer is null or a string of the loader, which is valid while the library is loaded.
        unsafe { self.symbol.as_ref().map(|name| CStr::from_ptr(name)) }
    }

    /// Returns the information about this library.
    pub(crate) fn own() -> Option<Self> {
        static WITHIN: u8 = 0;
        Self::of(NonNull::from(&WITHIN).cast())
    }

    /// Returns whether this is the library that contains this code.
    pub(crate) fn is_own(&self) -> bool {
        Self::own().is_some_and(|own| own.base == self.base)
    }

    /// Returns the function of this name in the library or in those that it needs.
    pub(crate) fn function(&self, name: &CStr) -> Option<Function> {
        let library = self.library()?;
        let function = library.function(name);
        library.close();
        function
    }

    /// Returns the function of this name in the library itself. `library` is its handle; a search with the handle alone
    /// would also return functions of the libraries that it needs.
    pub(crate) fn inside(&self, library: Library, name: &CStr) -> Option<Function> {
        library.function(name).filter(|found| Self::of(*found).is_some_and(|it| it.base == self.base))
    }

    /// Opens a handle of the library. Returns `None` for the main program.
    pub(crate) fn library(&self) -> Option<Library> {
        // SAFETY: the path is null or a string of the loader, which is valid while the library is loaded.
        unsafe { self.path.as_ref().map(|path| CStr::from_ptr(path)) }.and_then(Library::loaded)
    }
}

/// Returns the libraries on the call stack, innermost first, as far as the stack can be unwound.
#[cfg(target_env = "gnu")]
pub(crate) fn callers() -> impl Iterator<Item = Object> {
    unsafe extern "C" {
        fn backtrace(addresses: *mut *mut c_void, length: c_int) -> c_int;
    }
    let mut addresses = [null_mut(); 64];
    // SAFETY: `backtrace` writes at most 64 addresses, for which the array has room, and returns their number.
    let count = unsafe { backtrace(addresses.as_mut_ptr(), 64) };
    let mut last = null_mut();
    addresses.into_iter().take(usize::try_from(count).unwrap_or(0)).filter_map(move |address| {
        let object = Object::of(NonNull::new(address)?)?;
        let is_another = std::mem::replace(&mut last, object.base) != object.base;
        is_another.then_some(object)
    })
}

/// Returns the paths of all loaded libraries, from the system's table of this process's memory.
///
/// The loader's own list (`dl_iterate_phdr`) is not used. A lock protects it that glibc's `fork` neither takes nor
/// resets, so a child that is forked while another thread holds the lock would wait forever.
pub(crate) fn loaded_paths() -> Vec<CString> {
    let table = std::fs::read("/proc/self/maps").unwrap_or_default();
    let path = |line: &[u8]| {
        // Range, permissions, offset, device, inode, path. The code of a library is usually one range.
        let is_code = line.split(|&byte| byte == b' ').nth(1)?.get(2) == Some(&b'x');
        let path = &line[line.iter().position(|&byte| byte == b'/')?..];
        CString::new(path).ok().filter(|_| is_code)
    };
    table.split(|&byte| byte == b'\n').filter_map(path).collect()
}

const RTLD_LAZY: c_int = 1;
const RTLD_NOLOAD: c_int = 4;
/// The handle for a search in the libraries after the calling one.
const RTLD_NEXT: *mut c_void = std::ptr::without_provenance_mut(usize::MAX);

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlclose(handle: *mut c_void) -> c_int;
    fn dlerror() -> *const c_char;
    fn dladdr(address: *const c_void, object: *mut Object) -> c_int;
}
