//! The header in C and C++, alone and together with the system's `cblas.h`, `lapacke.h` and `f77blas.h` in either
//! order; and programs that are compiled and linked with the files that `install.sh` installs.

#![cfg(target_os = "linux")]

mod shared;

use shared::{Scratch, path, run};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

/// A compiler with a language and its standard.
#[derive(Clone, Copy)]
struct Compiler {
    command: &'static str,
    language: &'static str,
    standard: &'static str,
}

const COMPILERS: [Compiler; 2] = [
    Compiler { command: "cc", language: "c", standard: "-std=c99" },
    Compiler { command: "c++", language: "c++", standard: "-std=c++11" },
];

/// Returns the compilers that this system has.
fn compilers() -> Vec<Compiler> {
    let (here, missing): (Vec<_>, Vec<_>) = COMPILERS.into_iter().partition(|one| is_here(one.command));
    for Compiler { command, .. } in missing {
        println!("SKIPPED: the header with {command}: not installed");
    }
    here
}

fn is_here(command: &str) -> bool {
    Command::new(command).arg("--version").output().is_ok_and(|output| output.status.success())
}

impl Compiler {
    fn command(self) -> Command {
        let mut command = Command::new(self.command);
        command.args([self.standard, "-Wall", "-Wextra", "-Werror", "-x", self.language]);
        command
    }

    /// Returns whether this compiler finds a system header.
    fn has(self, header: &str) -> bool {
        let mut command = Command::new(self.command);
        command.args(["-x", self.language, "-fsyntax-only", "-include", header, "/dev/null"]);
        command.output().is_ok_and(|output| output.status.success())
    }
}

/// Compiles the program with these headers first, links it with the library that cargo built, and runs it.
fn compile_and_run(compiler: Compiler, headers: &[&str]) {
    let scratch = Scratch::new();
    let (program, library) = (scratch.join("program"), path());
    let folder = library.parent().expect("a file is in a folder");
    let mut command = compiler.command();
    if headers.is_empty() {
        // In C++, lapacke.h uses C99's complex numbers, which are an extension of that language.
        command.arg("-pedantic");
    }
    for header in headers {
        command.args(["-include", header]);
    }
    command.arg(format!("{FOLDER}/tests/c/program.c")).arg("-o").arg(&program);
    command.arg(format!("-I{FOLDER}/include")).arg("-L").arg(folder).arg("-lsuperscalar_blas");
    run(&mut command);
    run(Command::new(&program).env("LD_LIBRARY_PATH", folder));
}

#[test]
fn c_and_cpp_programs_run() {
    for compiler in compilers() {
        compile_and_run(compiler, &[]);
    }
}

#[test]
fn system_headers_are_compatible() {
    const OURS: &str = "superscalar.h";
    for compiler in compilers() {
        let (here, missing): (Vec<_>, Vec<_>) = ["cblas.h", "lapacke.h"].into_iter().partition(|one| compiler.has(one));
        for header in missing {
            println!("SKIPPED: the header beside {header}: not installed");
        }
        for header in &here {
            compile_and_run(compiler, &[header, OURS]);
            compile_and_run(compiler, &[OURS, header]);
        }
        compile_and_run(compiler, &[&here[..], &[OURS]].concat());
        compile_and_run(compiler, &[&[OURS], &here[..]].concat());
    }
}

/// Checks that a text compiles.
fn compiles(compiler: Compiler, text: &str) {
    let scratch = Scratch::new();
    let source = scratch.join("headers.c");
    fs::write(&source, text).expect("a file of this test");
    run(compiler.command().arg(format!("-I{FOLDER}/include")).arg("-fsyntax-only").arg(&source));
}

/// OpenBLAS's prototypes of the Fortran routines differ from those of this library in `const`.
#[test]
fn f77blas_header_is_compatible() {
    for compiler in compilers() {
        if !compiler.has("f77blas.h") {
            println!("SKIPPED: the header beside f77blas.h: not installed");
            continue;
        }
        compiles(compiler, "#include <f77blas.h>\n#include <superscalar.h>\n");
        compiles(compiler, "#include <superscalar.h>\n#include <f77blas.h>\n");
    }
}

/// Includes both headers, since a compiler refuses two declarations of a function with different types.
#[test]
fn lapacke_types_match() {
    // These routines do not change B, but LAPACKE's prototypes have no `const`. Renaming excludes them.
    const WITHOUT_CONST: [&str; 4] = ["dsgesv", "zcgesv", "dsposv", "zcposv"];
    let renamed = |name| format!("#define LAPACKE_{name} ours_{name}\n#define LAPACKE_{name}_work ours_{name}_work\n");
    let renamed: String = WITHOUT_CONST.map(renamed).concat();
    for compiler in compilers() {
        if !compiler.has("lapacke.h") {
            println!("SKIPPED: the header beside lapacke.h: not installed");
            continue;
        }
        let behind = "#define SUPERSCALAR_NO_FORTRAN\n#include <superscalar.h>\n";
        compiles(compiler, &format!("#include <lapacke.h>\n#undef _LAPACKE_H_\n{renamed}{behind}"));
    }
}

#[test]
fn header_parts_are_optional() {
    for compiler in compilers() {
        for parts in 0..8 {
            let defined = |(at, part)| {
                if parts >> at & 1 == 1 { format!("#define SUPERSCALAR_NO_{part}\n") } else { String::new() }
            };
            let definitions: String = ["CBLAS", "LAPACK", "FORTRAN"].into_iter().enumerate().map(defined).collect();
            compiles(compiler, &format!("{definitions}#include <superscalar.h>\n"));
        }
    }
}

/// Returns all files and links below a folder.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).expect("a folder of this test") {
            let path = entry.expect("a folder of this test").path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    let below = |path: &PathBuf| path.strip_prefix(folder).expect("below it").display().to_string();
    let mut names: Vec<String> = found.iter().map(below).collect();
    names.sort();
    names
}

fn install(destdir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("bash");
    command.arg(format!("{FOLDER}/install.sh")).args(arguments).env("DESTDIR", destdir);
    command
}

/// Returns the arguments that `pkg-config` prints for the package described in this folder.
fn pkg_config(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    command.args(arguments).arg("superscalar-blas").env("PKG_CONFIG_PATH", folder);
    let text = String::from_utf8(run(&mut command).stdout).expect("paths of this test");
    text.split_whitespace().map(str::to_owned).collect()
}

/// Installs below a folder, moves the files, compiles and runs a program with them, and uninstalls.
fn install_and_use(libdir: &str) {
    let (scratch, library) = (Scratch::new(), path());
    let (first, library) = (scratch.join("first"), library.to_str().expect("a path").to_owned());
    let (prefix, moved) = (first.join("opt/blas"), scratch.join("moved"));
    let all = ["--prefix", "/opt/blas", "--libdir", libdir];
    fs::create_dir_all(prefix.join("include")).expect("a folder of this test");
    fs::write(prefix.join("include/other.h"), "").expect("a file of this test");
    let output = run(install(&first, &all).args(["--library", &library]));
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(stdout.contains(&format!("LD_PRELOAD=/opt/blas/{libdir}/libopenblas-superscalar.so")), "{stdout}");
    let mut expected = [
        "include/other.h".to_owned(),
        "include/superscalar.h".to_owned(),
        format!("{libdir}/libopenblas-superscalar.so"),
        format!("{libdir}/libsuperscalar_blas.so"),
        format!("{libdir}/pkgconfig/superscalar-blas.pc"),
    ];
    expected.sort();
    assert_eq!(files(&prefix), expected);

    fs::rename(&prefix, &moved).expect("folders of this test");
    if is_here("pkg-config") {
        let (folder, program) = (moved.join(libdir).join("pkgconfig"), scratch.join("program"));
        assert_eq!(pkg_config(&folder, &["--modversion"]), [env!("CARGO_PKG_VERSION")]);
        let flags = pkg_config(&folder, &["--cflags", "--libs"]);
        let mut compile = COMPILERS[0].command();
        run(compile.arg(format!("{FOLDER}/tests/c/program.c")).args(flags).arg("-o").arg(&program));
        run(Command::new(&program).env("LD_LIBRARY_PATH", moved.join(libdir)));
    } else {
        println!("SKIPPED: programs by pkg-config: not installed");
    }
    fs::rename(&moved, &prefix).expect("folders of this test");

    // A second installation replaces the files.
    run(install(&first, &all).args(["--library", &library]));
    assert_eq!(files(&prefix), expected);
    run(install(&first, &all).arg("--uninstall"));
    assert_eq!(files(&first), ["opt/blas/include/other.h"]);
}

#[test]
fn installs_and_uninstalls() {
    install_and_use("lib");
    install_and_use("lib/x86_64-linux-gnu");
}

#[test]
fn install_refuses_wrong_arguments() {
    let scratch = Scratch::new();
    let wrong: [(&[&str], i32, &str); 7] = [
        (&["--prefix", "relative"], 2, "an absolute path is needed"),
        (&["--prefix"], 2, "--prefix needs a value"),
        (&["--prefix="], 2, "--prefix needs a value"),
        (&["--libdir", "/usr/lib"], 2, "not below the prefix /usr/local"),
        (&["--libdir", "../lib"], 2, "a plain path is needed"),
        (&["--everything"], 2, "unknown argument --everything"),
        (&["--library", "/no/such.so"], 1, "no such library: /no/such.so"),
    ];
    for (arguments, status, message) in wrong {
        let output = install(&scratch.0, arguments).output().expect("bash");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(status) && stderr.contains(message), "{arguments:?}: {output:?}");
    }
    assert!(files(&scratch.0).is_empty(), "{:?}", files(&scratch.0));
}
