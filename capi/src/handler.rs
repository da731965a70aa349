//! Who is told of a wrong argument: the program's `xerbla_`, `cblas_xerbla` or `LAPACKE_xerbla` if it has one, else
//! this library's.
//!
//! A program's own function stops the program, or raises an error of its language. The loader's search usually finds it
//! before this library's. It does not if this library is preloaded and the function is in another library (R's), or in
//! a module whose names no search finds (Python's). Then this library's function is called, by its own routines and by
//! other LAPACKs, and passes the call on to the program's. That one is looked for behind this library in the loader's
//! list, and in the libraries that the call came through. The function of a BLAS or a LAPACK does not count: the
//! reference's stops the process.

use std::{
    ffi::{CStr, c_char, c_void},
    ptr::NonNull,
};

/// The first of that name among all that is loaded.
pub(crate) fn first(name: &CStr) -> Option<NonNull<c_void>> {
    unsafe extern "C" {
        fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    }
    // SAFETY: a null handle is RTLD_DEFAULT; the name ends with a null byte.
    NonNull::new(unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) })
}

/// The program's function of that name, where ours came first.
pub(crate) fn programs(name: &CStr) -> Option<NonNull<c_void>> {
    #[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
    return behind::programs(name);
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")))]
    None
}

#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
mod behind {
    use crate::loader::{Function, Object, callers, next};
    use std::ffi::CStr;

    /// The program's function. None if that function is the one that calls.
    pub(super) fn programs(name: &CStr) -> Option<Function> {
        let mut callers = callers().filter(|object| !object.is_own()).peekable();
        if callers.peek().is_some_and(|nearest| nearest.symbol() == Some(name)) {
            return None;
        }
        let of_caller = |object: Object| object.function(name).filter(is_programs);
        next(name).filter(is_programs).or_else(|| callers.find_map(of_caller))
    }

    /// Whether it is neither this library's nor that of a BLAS or LAPACK.
    fn is_programs(function: &Function) -> bool {
        const COMPUTED: [&CStr; 5] = [c"dgemm_", c"dgemm_64_", c"dgetrf_", c"cblas_dgemm", c"LAPACKE_dgetrf"];
        let Some(object) = Object::of(*function) else { return true };
        if object.is_own() {
            return false;
        }
        // The program itself has no handle.
        let Some(library) = object.library() else { return true };
        let computes = COMPUTED.into_iter().any(|name| object.inside(library, name).is_some());
        library.close();
        !computes
    }
}
