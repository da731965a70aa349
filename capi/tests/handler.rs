//! Error handlers of a program whose `xerbla_` is in another library, with the library preloaded.

#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

mod shared;

use libloading::{Library, Symbol};
use shared::{Scratch, path, run};
use std::{env, process::Command};

/// The variable with the module that the child process loads.
const MODULE: &str = "DROP_IN_MODULE";

#[test]
fn program_handlers_are_called() {
    let name = "program_handlers_are_called";
    if let Some(module) = env::var_os(MODULE) {
        // SAFETY: the module has no initialisers, and its function `wrong` has this type.
        let sum = unsafe {
            let module = Library::new(module).expect("the module");
            let wrong: Symbol<unsafe extern "C" fn() -> i32> = module.get("wrong").expect("the function");
            wrong()
        };
        assert_eq!(sum, 13 + 4 + 9 + 2 - 400);
        return;
    }
    if !Command::new("cc").arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: a module with its own error handlers: no C compiler");
        return;
    }
    let folder = Scratch::new();
    let (module, own) = (folder.join("module.so"), path());
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/c/module.c");
    run(Command::new("cc")
        .args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-Wno-pedantic", source, "-o"])
        .arg(&module));
    // The module's functions are first private to it, and then global but after those of this library.
    let both = format!("{} {}", own.display(), module.display());
    for preloaded in [own.into_os_string(), both.into()] {
        let mut test = Command::new(env::current_exe().expect("the path of this program"));
        run(test.args(["--exact", name, "--nocapture"]).env(MODULE, &module).env("LD_PRELOAD", preloaded));
    }
}
