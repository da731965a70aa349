//! The functions that set and get the number of threads. They also have the names of OpenBLAS, which tools that control
//! the threads of libraries look for.

use crate::engine;
use std::ffi::{c_char, c_int};

const CONFIG: &std::ffi::CStr = c"OpenBLAS 0.3.21 interface of Superscalar 0.1.0";

macro_rules! functions {
    ($($about:literal $arguments:tt -> $output:ty $body:block $($name:ident)*;)*) => {$($(
        #[doc = $about]
        // SAFETY: no other item of this library has this name.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name $arguments -> $output $body
    )*)*};
}

functions! {
    "Sets the number of threads; with a value below 1, the settings determine the number."
    (threads: c_int) -> () { engine::set_threads(usize::try_from(threads).unwrap_or(0)) }
    openblas_set_num_threads openblas_set_num_threads64_
    scipy_openblas_set_num_threads scipy_openblas_set_num_threads64_
    goto_set_num_threads superscalar_set_num_threads;

    "Returns the number of threads."
    () -> c_int { engine::threads() as c_int }
    openblas_get_num_threads openblas_get_num_threads64_
    scipy_openblas_get_num_threads scipy_openblas_get_num_threads64_
    superscalar_get_num_threads;

    "Returns the number of processors that this process may use."
    () -> c_int { engine::processors() as c_int }
    openblas_get_num_procs openblas_get_num_procs64_ scipy_openblas_get_num_procs scipy_openblas_get_num_procs64_;

    "Returns the name and version of this library."
    () -> *const c_char { CONFIG.as_ptr() }
    openblas_get_config openblas_get_config64_ scipy_openblas_get_config scipy_openblas_get_config64_;

    "Returns a constant name for the processor; the kernels choose their instructions at run time."
    () -> *const c_char { c"superscalar".as_ptr() }
    openblas_get_corename openblas_get_corename64_ scipy_openblas_get_corename scipy_openblas_get_corename64_;

    "Returns 1: the library uses threads of its own."
    () -> c_int { 1 }
    openblas_get_parallel openblas_get_parallel64_ scipy_openblas_get_parallel scipy_openblas_get_parallel64_;
}
