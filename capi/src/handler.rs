//! Who is told of a wrong argument: the program's `xerbla_`, `cblas_xerbla` or `LAPACKE_xerbla`, if it has one, else ours.
//!
//! A program's own function stops it, or raises an error of its language. Mostly it comes before this library's in the
//! loader's search. It does not where this library is preloaded and the function is in a library of the program's (R's),
//! or in a module whose names no search finds (Python's). Then ours is called, by us and by other LAPACKs, and it calls
//! the program's: what is behind this library, or in the libraries that call. Those of a BLAS or LAPACK are not taken:
//! the reference's stops the process.

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
    use std::{ffi::CStr, ptr::NonNull};

    /// Whether it is a function of this library.
    fn is_own(function: Function) -> bool {
        let own = NonNull::from(&OWN).cast();
        matches!((Object::of(function), Object::of(own)), (Some(one), Some(own)) if one.base == own.base)
    }

    /// Its address is within this library.
    static OWN: u8 = 0;

    /// The program's function, unless it is that which calls.
    pub(super) fn programs(name: &CStr) -> Option<Function> {
        let own = Object::of(NonNull::from(&OWN).cast())?.base;
        let mut callers = callers().filter(|object| object.base != own).peekable();
        if callers.peek().is_some_and(|nearest| nearest.symbol() == Some(name)) {
            return None;
        }
        let of_caller = |object: Object| {
            let library = object.library()?;
            let function = library.function(name).filter(is_programs);
            library.close();
            function
        };
        next(name).filter(is_programs).or_else(|| callers.find_map(of_caller))
    }

    /// Whether it is neither ours nor that of a BLAS or LAPACK.
    fn is_programs(function: &Function) -> bool {
        const COMPUTED: [&CStr; 5] = [c"dgemm_", c"dgemm_64_", c"dgetrf_", c"cblas_dgemm", c"LAPACKE_dgetrf"];
        if is_own(*function) {
            return false;
        }
        let Some(object) = Object::of(*function) else { return true };
        // The program itself has no handle.
        let Some(library) = object.library() else { return true };
        let has = |name| library.function(name).and_then(Object::of).is_some_and(|found| found.base == object.base);
        let computes = COMPUTED.into_iter().any(has);
        library.close();
        !computes
    }
}
