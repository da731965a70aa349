//! What the loader and the system tell of the libraries in this process, for the searches in `forward.rs` and
//! `handler.rs`. Empty where the former is.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    ptr::{NonNull, null, null_mut},
};

/// A function of another library.
pub(crate) type Function = NonNull<c_void>;

/// The function that the loader finds behind this library.
pub(crate) fn next(name: &CStr) -> Option<Function> {
    // SAFETY: the handle is one that the loader defines; the name ends with a null byte.
    NonNull::new(unsafe { dlsym(RTLD_NEXT, name.as_ptr()) })
}

/// A handle of the loader's.
#[derive(Clone, Copy)]
pub(crate) struct Library(pub(crate) NonNull<c_void>);

impl Library {
    /// The library of that path or name, which is loaded if it is not yet.
    pub(crate) fn open(path: &CStr) -> Option<Self> {
        // SAFETY: the path ends with a null byte. What a library does when it is loaded is its own affair, and the
        // user's who named it.
        NonNull::new(unsafe { dlopen(path.as_ptr(), RTLD_LAZY) }).map(Self)
    }

    /// The library of that path, if it is loaded.
    pub(crate) fn loaded(path: &CStr) -> Option<Self> {
        // SAFETY: the path ends with a null byte; nothing is loaded.
        NonNull::new(unsafe { dlopen(path.as_ptr(), RTLD_LAZY | RTLD_NOLOAD) }).map(Self)
    }

    /// The function of that name, in this library or in those that it needs.
    pub(crate) fn function(self, name: &CStr) -> Option<Function> {
        // SAFETY: the handle is open, and the name ends with a null byte.
        NonNull::new(unsafe { dlsym(self.0.as_ptr(), name.as_ptr()) })
    }

    /// Gives the handle back, which must be one of a library that others have loaded.
    pub(crate) fn close(self) {
        // SAFETY: the handle is open, and not used afterwards.
        unsafe { dlclose(self.0.as_ptr()) };
    }

    /// Why this thread's last request was refused.
    pub(crate) fn error() -> String {
        // SAFETY: the loader returns null, or a text that stays until this thread's next request.
        let text = unsafe { dlerror().as_ref().map(|text| CStr::from_ptr(text)) };
        text.map_or_else(|| "it cannot be opened".to_owned(), |text| text.to_string_lossy().into_owned())
    }
}

/// What the loader knows of the library that an address lies in: C's `Dl_info`.
#[repr(C)]
pub(crate) struct Object {
    path: *const c_char,
    /// Where the library begins, by which two functions of one library are known.
    pub(crate) base: *mut c_void,
    symbol: *const c_char,
    address: *const c_void,
}

impl Object {
    pub(crate) fn of(address: Function) -> Option<Self> {
        let mut object = Self { path: null(), base: null_mut(), symbol: null(), address: null() };
        // SAFETY: the loader only compares the address, and writes to the value.
        (unsafe { dladdr(address.as_ptr(), &mut object) } != 0).then_some(object)
    }

    /// The name of the function that the address lies in, if others may see it.
    pub(crate) fn symbol(&self) -> Option<&CStr> {
        // SAFETY: null, or the loader's text, which stays as long as the library is loaded.
        unsafe { self.symbol.as_ref().map(|name| CStr::from_ptr(name)) }
    }

    /// The library that this code is in.
    pub(crate) fn own() -> Option<Self> {
        static WITHIN: u8 = 0;
        Self::of(NonNull::from(&WITHIN).cast())
    }

    /// Whether it is the library that this code is in.
    pub(crate) fn is_own(&self) -> bool {
        Self::own().is_some_and(|own| own.base == self.base)
    }

    /// The function of that name, in it or in the libraries that it needs.
    pub(crate) fn function(&self, name: &CStr) -> Option<Function> {
        let library = self.library()?;
        let function = library.function(name);
        library.close();
        function
    }

    /// The function of that name in itself. The search of `library`, its handle, would go on in those that it needs.
    pub(crate) fn inside(&self, library: Library, name: &CStr) -> Option<Function> {
        library.function(name).filter(|found| Self::of(*found).is_some_and(|it| it.base == self.base))
    }

    /// Its handle; none if it is the program itself.
    pub(crate) fn library(&self) -> Option<Library> {
        // SAFETY: the path is null, or the loader's text, which stays as long as the library is loaded.
        unsafe { self.path.as_ref().map(|path| CStr::from_ptr(path)) }.and_then(Library::loaded)
    }
}

/// The libraries that this call came through, the nearest first, as far as the system can tell.
#[cfg(target_env = "gnu")]
pub(crate) fn callers() -> impl Iterator<Item = Object> {
    unsafe extern "C" {
        fn backtrace(addresses: *mut *mut c_void, length: c_int) -> c_int;
    }
    let mut addresses = [null_mut(); 64];
    // SAFETY: it writes at most so many addresses, and returns how many.
    let count = unsafe { backtrace(addresses.as_mut_ptr(), 64) };
    let mut last = null_mut();
    addresses.into_iter().take(usize::try_from(count).unwrap_or(0)).filter_map(move |address| {
        let object = Object::of(NonNull::new(address)?)?;
        let is_another = std::mem::replace(&mut last, object.base) != object.base;
        is_another.then_some(object)
    })
}

/// The paths of all libraries that are loaded, as the system's table of this process's memory has them.
///
/// The loader's own list (`dl_iterate_phdr`) is under a lock that glibc's `fork` neither takes nor frees. If a thread
/// of the parent holds it, a child that asks for the list waits for ever: in 3 of 400 runs of a test, with glibc 2.36.
pub(crate) fn paths_of_loaded() -> Vec<CString> {
    let table = std::fs::read("/proc/self/maps").unwrap_or_default();
    let path = |line: &[u8]| {
        // Range, permissions, offset, device, file number, path. The code of a library is in one range, as a rule.
        let is_code = line.split(|&byte| byte == b' ').nth(1)?.get(2) == Some(&b'x');
        let path = &line[line.iter().position(|&byte| byte == b'/')?..];
        CString::new(path).ok().filter(|_| is_code)
    };
    table.split(|&byte| byte == b'\n').filter_map(path).collect()
}

const RTLD_LAZY: c_int = 1;
const RTLD_NOLOAD: c_int = 4;
/// The handle of what is behind the library that asks.
const RTLD_NEXT: *mut c_void = std::ptr::without_provenance_mut(usize::MAX);

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlclose(handle: *mut c_void) -> c_int;
    fn dlerror() -> *const c_char;
    fn dladdr(address: *const c_void, object: *mut Object) -> c_int;
}
