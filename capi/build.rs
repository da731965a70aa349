//! Sets the library's soname and marks it as never unloaded, since its threads would otherwise run unmapped code.
//!
//! Turns the list of forwarded routines into a call of the macro `forwarded` of `forward.rs`.

use std::{env, fmt::Write, fs, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=forwarded.txt");
    for argument in ["-Wl,-soname,libsuperscalar_blas.so", "-Wl,-z,nodelete"] {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
    // A sanitizer's functions are in the test program, and the library that the test opens resolves them there.
    if env::var_os("CARGO_CFG_SANITIZE").is_some() {
        println!("cargo::rustc-link-arg-tests=-rdynamic");
    }
    let list = fs::read_to_string("forwarded.txt").expect("forwarded.txt exists beside build.rs");
    let folder = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&folder).join("forwarded.rs"), forwarded(&list)).expect("OUT_DIR is writable");
}

/// Returns the macro call, which lists for each routine its index, its exported name as an identifier and as a string,
/// and the position of its INFO argument.
fn forwarded(list: &str) -> String {
    let mut call = String::from("forwarded! {\n");
    for (index, line) in list.lines().filter(|line| !line.starts_with('#')).enumerate() {
        let (name, info) =
            line.split_once(' ').unwrap_or_else(|| panic!("forwarded.txt: {line}: expected a name and a number"));
        writeln!(call, "    {index} {name}_ c\"{name}_\" {info};").expect("writing into a string succeeds");
    }
    call.push_str("}\n");
    call
}
