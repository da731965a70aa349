//! The library's name for the loader; and it is never unloaded, since its threads would run on in what is gone.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for argument in ["-Wl,-soname,libsuperscalar_blas.so", "-Wl,-z,nodelete"] {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
}
