//! Compares the code and the line of each error. Other compiler versions differ in the texts and in the drawing below
//! the source.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The name of the case that has the error (empty if the error is in another file), its code (empty if it has none) and
/// its line (0 in another file).
type Fault = (String, String, usize);

/// Parses the errors in a compiler's output. Errors without a position are omitted, because they only count the others.
/// They may stand before a note of another program, which is compiled at the same time.
fn faults(output: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut code = None;
    for line in output.lines() {
        if line.starts_with("error: could not compile") || line.starts_with("error: aborting") {
            code = None;
        } else if let Some(rest) = line.strip_prefix("error") {
            let known = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(code, _)| code);
            code = Some(known.unwrap_or_default().to_owned());
        } else if line.starts_with("warning") {
            code = None;
        } else if let Some(place) = line.trim_start().strip_prefix("--> ")
            && let Some(code) = code.take()
        {
            let is_own = place.starts_with("src/bin/") || place.starts_with("tests/compile_fail/");
            let (path, line) = place.split_once(".rs:").filter(|_| is_own).unwrap_or_default();
            let line = line.split(':').next().and_then(|line| line.parse().ok()).unwrap_or(0);
            faults.push((path.rsplit('/').next().unwrap_or_default().to_owned(), code, line));
        }
    }
    faults.sort();
    faults
}

/// Compiles all programs of the package, two or more at once. Returns the compiler's output.
fn build(package: &Path) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--bins", "--keep-going", "--quiet", "--offline", "--color=never"])
        .current_dir(package)
        .env("CARGO_TARGET_DIR", package.join("target"))
        .output()
        .expect("cargo can be started");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Creates a package without programs that depends on the runtime, with the workspace's locked versions.
fn package() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile_fail");
    // An earlier run may have left cases that no longer exist.
    let src = package.join("src");
    if src.exists() {
        fs::remove_dir_all(&src).expect("the build folder is writable");
    }
    fs::create_dir_all(src.join("bin")).expect("the build folder is writable");
    let manifest = format!(
        "[package]\nname = \"cases\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
         superscalar-runtime = {{ path = {root:?} }}\n"
    );
    fs::write(package.join("Cargo.toml"), manifest).expect("the build folder is writable");
    fs::copy(root.join("../Cargo.lock"), package.join("Cargo.lock")).expect("the workspace has a lock file");
    package
}

/// Returns the path of a case's program.
fn program(package: &Path, name: &str) -> PathBuf {
    package.join("target/debug").join(name).with_extension(std::env::consts::EXE_EXTENSION)
}

/// Checks that each file of these folders fails as the `.stderr` file beside it says, and compiles if there is none.
/// Each is a program of one package.
pub fn check(folders: &[&str]) {
    let package = package();
    let (mut known, mut expected) = (Vec::new(), Vec::new());
    for folder in folders {
        let listed = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).expect("a folder with cases");
        let files = listed.map(|entry| entry.expect("a folder can be listed").path());
        for case in files.filter(|file| file.extension().is_some_and(|extension| extension == "rs")) {
            let name = case.file_stem().expect("a file").to_string_lossy().into_owned();
            fs::copy(&case, package.join(format!("src/bin/{name}.rs"))).expect("the build folder is writable");
            // The program of an earlier run, if there was one.
            let _ = fs::remove_file(program(&package, &name));
            let kept = fs::read_to_string(case.with_extension("stderr")).ok();
            let kept = kept.map(|kept| faults(&kept));
            assert!(kept.as_ref().is_none_or(|kept| !kept.is_empty()), "{name}: no error is expected");
            known.push((name, kept.is_none()));
            expected.extend(kept.unwrap_or_default());
        }
    }
    assert!(!known.is_empty(), "no case was found");
    expected.sort();
    let output = build(&package);
    assert_eq!(faults(&output), expected, "{output}");
    for (name, compiles) in known {
        assert_eq!(program(&package, &name).exists(), compiles, "the program {name}: {output}");
    }
}

#[test]
fn error_codes_are_parsed() {
    let output = "error[E0499]: twice\n  --> tests/compile_fail/cases/a.rs:12:9\n   |\nnote: here\n --> b.rs:1:1\n\n\
                  warning: w\n --> a.rs:3:1\n\nerror: lifetime\n --> src/bin/b.rs:7:3\n\n\
                  error[E0080]: of a library\n --> /rust/core/panic.rs:9:5\n\n\
                  error: aborting due to 2 previous errors\nnote: of another program\n --> src/bin/c.rs:1:1\n";
    let expected = [("", "E0080", 0), ("a", "E0499", 12), ("b", "", 7)];
    assert_eq!(faults(output), expected.map(|(case, code, line)| (case.to_owned(), code.to_owned(), line)));
}
