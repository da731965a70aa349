//! Finds the error handler for a wrong argument: the program's own `xerbla_`, `cblas_xerbla` or `LAPACKE_xerbla` if it
//! has one, else that of this library.
//!
//! A program's handler stops the program or raises an error of its language. The loader usually finds it before the
//! handler of this library. There are two exceptions: this library is preloaded and the handler is in another library
//! (R), or the handler is in a module that is not in the loader's global scope (Python). Then the routines of this
//! library and of other LAPACKs call the handler of this library, which passes the call on to the program's handler. It
//! searches the libraries after this one in the loader's order, and the libraries on the call stack. The handler of a
//! BLAS or LAPACK is not used, since the reference's handler stops the process.

use std::{
    ffi::{CStr, c_char, c_void},
    ptr::NonNull,
};

/// Returns the first symbol of this name in the loader's global scope.
pub(crate) fn find_global(name: &CStr) -> Option<NonNull<c_void>> {
    unsafe extern "C" {
        fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    }
    // SAFETY: a null handle is RTLD_DEFAULT, and `name` ends with a null byte and outlives the call.
    NonNull::new(unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) })
}

/// Returns the program's function of this name, although the loader finds this library's function first.
pub(crate) fn program_function(name: &CStr) -> Option<NonNull<c_void>> {
    #[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
    return search::program_function(name);
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")))]
    None
}

#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
mod search {
    use crate::loader::{Function, Object, callers, next};
    use std::ffi::CStr;

    /// Returns the program's function, or `None` if that function is the caller.
    pub(super) fn program_function(name: &CStr) -> Option<Function> {
        let mut callers = callers().filter(|object| !object.is_own()).peekable();
        if callers.peek().is_some_and(|nearest| nearest.symbol() == Some(name)) {
            return None;
        }
        let in_caller = |object: Object| object.function(name).filter(is_program_function);
        next(name).filter(is_program_function).or_else(|| callers.find_map(in_caller))
    }

    /// Returns whether the function belongs to neither this library nor another BLAS or LAPACK.
    fn is_program_function(function: &Function) -> bool {
        const LIBRARY_SYMBOLS: [&CStr; 5] = [c"dgemm_", c"dgemm_64_", c"dgetrf_", c"cblas_dgemm", c"LAPACKE_dgetrf"];
        let Some(object) = Object::of(*function) else { return true };
        if object.is_own() {
            return false;
        }
        // The main program has no handle.
        let Some(library) = object.library() else { return true };
        let is_library = LIBRARY_SYMBOLS.into_iter().any(|name| object.inside(library, name).is_some());
        library.close();
        !is_library
    }
}
