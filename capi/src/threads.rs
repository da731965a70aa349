//! The functions by which a program sets and asks for the number of threads, under the names that OpenBLAS gave them: those that tools which
//! control libraries' threads look for.

use crate::engine;
use std::ffi::{c_char, c_int};

const CONFIG: &std::ffi::CStr = c"OpenBLAS 0.3.21 interface of Superscalar 0.1.0";

macro_rules! functions {
    ($($about:literal $arguments:tt -> $output:ty $body:block $($name:ident)*;)*) => {$($(
        #[doc = $about]
        // SAFETY: the name is given to nothing else here.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name $arguments -> $output $body
    )*)*};
}

functions! {
    "Sets how many threads compute; less than one means as many as the settings say."
    (threads: c_int) -> () { engine::set_threads(usize::try_from(threads).unwrap_or(0)) }
    openblas_set_num_threads openblas_set_num_threads64_ scipy_openblas_set_num_threads scipy_openblas_set_num_threads64_
    goto_set_num_threads superscalar_set_num_threads;

    "How many threads compute."
    () -> c_int { engine::threads() as c_int }
    openblas_get_num_threads openblas_get_num_threads64_ scipy_openblas_get_num_threads scipy_openblas_get_num_threads64_
    superscalar_get_num_threads;

    "How many processors this process may use."
    () -> c_int { engine::processors() as c_int }
    openblas_get_num_procs openblas_get_num_procs64_ scipy_openblas_get_num_procs scipy_openblas_get_num_procs64_;

    "What this library is."
    () -> *const c_char { CONFIG.as_ptr() }
    openblas_get_config openblas_get_config64_ scipy_openblas_get_config scipy_openblas_get_config64_;

    "The kernels' name for the processor; they choose their instructions when they run."
    () -> *const c_char { c"superscalar".as_ptr() }
    openblas_get_corename openblas_get_corename64_ scipy_openblas_get_corename scipy_openblas_get_corename64_;

    "How it is parallel: by threads of its own."
    () -> c_int { 1 }
    openblas_get_parallel openblas_get_parallel64_ scipy_openblas_get_parallel scipy_openblas_get_parallel64_;
}
