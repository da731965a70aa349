//! The library's name for the loader; and it is never unloaded, since its threads would run on in what is gone.
//!
//! The list of forwarded routines becomes a call of the macro `forwarded`, which is in `forward.rs`.

use std::{env, fmt::Write, fs, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=forwarded.txt");
    for argument in ["-Wl,-soname,libsuperscalar_blas.so", "-Wl,-z,nodelete"] {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
    // A sanitizer's functions are in the program, and the library that a test opens has them from there.
    if env::var_os("CARGO_CFG_SANITIZE").is_some() {
        println!("cargo::rustc-link-arg-tests=-rdynamic");
    }
    let list = fs::read_to_string("forwarded.txt").expect("the list of routines is beside this program");
    let folder = env::var_os("OUT_DIR").expect("cargo names a folder");
    fs::write(Path::new(&folder).join("forwarded.rs"), forwarded(&list)).expect("cargo's folder can be written");
}

/// The macro's call: for each routine its number, its exported name as a name and as a text, and the position of its
/// INFO argument.
fn forwarded(list: &str) -> String {
    let mut call = String::from("forwarded! {\n");
    for (index, line) in list.lines().filter(|line| !line.starts_with('#')).enumerate() {
        let (name, info) =
            line.split_once(' ').unwrap_or_else(|| panic!("forwarded.txt: {line}: expected a name and a number"));
        writeln!(call, "    {index} {name}_ c\"{name}_\" {info};").expect("a string takes any text");
    }
    call.push_str("}\n");
    call
}
