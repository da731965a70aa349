//! The library as cargo built it.

use libloading::{Library, Symbol};
use std::path::PathBuf;

/// Where cargo put it: beside this test.
pub fn path() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a program");
    test.with_file_name("libsuperscalar_blas.so")
}

#[allow(dead_code, reason = "not every test calls it by itself")]
pub fn library() -> Library {
    // SAFETY: it has no initialisers that ask for anything.
    unsafe { Library::new(path()) }.expect("the library")
}

/// A function of the library, whose type the caller knows.
#[allow(dead_code, reason = "not every test looks one up by this")]
pub fn symbol<'a, T>(library: &'a Library, name: &str) -> Symbol<'a, T> {
    // SAFETY: whoever calls the function gives it the type of the routine.
    unsafe { library.get(name) }.expect(name)
}
