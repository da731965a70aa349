//! Who is told of wrong arguments where the library is preloaded and the program's `xerbla_` is in another library.

#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

mod shared;

use libloading::{Library, Symbol};
use shared::{Scratch, path, run};
use std::{env, process::Command};

/// Set in the process in which a test runs: the module that it loads.
const MODULE: &str = "DROP_IN_MODULE";

#[test]
fn a_modules_and_a_librarys_functions_are_told() {
    let name = "a_modules_and_a_librarys_functions_are_told";
    if let Some(module) = env::var_os(MODULE) {
        // SAFETY: it has no initialisers, and by this name goes a function of that type.
        let told = unsafe {
            let module = Library::new(module).expect("the module");
            let wrong: Symbol<unsafe extern "C" fn() -> i32> = module.get("wrong").expect("the function");
            wrong()
        };
        assert_eq!(told, 13 + 4 + 9 + 2 - 400);
        return;
    }
    if !Command::new("cc").arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: a module with a function of its own: no compiler for C");
        return;
    }
    let folder = Scratch::new();
    let (module, own) = (folder.join("module.so"), path());
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/c/module.c");
    run(Command::new("cc")
        .args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-Wno-pedantic", source, "-o"])
        .arg(&module));
    // Only the module itself sees its functions; then they are behind this library.
    let behind = format!("{} {}", own.display(), module.display());
    for preloaded in [own.into_os_string(), behind.into()] {
        let mut test = Command::new(env::current_exe().expect("a test has a program"));
        run(test.args(["--exact", name, "--nocapture"]).env(MODULE, &module).env("LD_PRELOAD", preloaded));
    }
}
