//! Compares the code and the line of each error. Other compiler versions differ in the texts and in the drawing below
//! the source.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The code of an error (empty if it has none) and its line (0 if it is not in the case's own file).
type Fault = (String, usize);

/// Parses the errors in a compiler's output. Errors without a position are omitted, because they only count the others.
fn faults(output: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut code = None;
    for line in output.lines() {
        if let Some(rest) = line.strip_prefix("error") {
            let known = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(code, _)| code);
            code = Some(known.unwrap_or_default().to_owned());
        } else if line.starts_with("warning") {
            code = None;
        } else if let Some(place) = line.trim_start().strip_prefix("--> ")
            && let Some(code) = code.take()
        {
            let is_own = place.starts_with("src/main.rs:") || place.starts_with("tests/compile_fail/");
            let line = place.rsplit(':').nth(1).and_then(|line| line.parse().ok()).filter(|_| is_own);
            faults.push((code, line.unwrap_or(0)));
        }
    }
    faults.sort();
    faults
}

/// Compiles a case in the package; returns whether it compiles, and the compiler's output.
fn build(package: &Path, case: &Path) -> (bool, String) {
    fs::copy(case, package.join("src/main.rs")).expect("the build folder is writable");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--quiet", "--offline", "--color=never"])
        .current_dir(package)
        .env("CARGO_TARGET_DIR", package.join("target"))
        .output()
        .expect("cargo can be started");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Creates a package that depends on the runtime, with the workspace's locked versions.
fn package() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile_fail");
    fs::create_dir_all(package.join("src")).expect("the build folder is writable");
    let manifest = format!(
        "[package]\nname = \"cases\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
         superscalar-runtime = {{ path = {root:?} }}\n"
    );
    fs::write(package.join("Cargo.toml"), manifest).expect("the build folder is writable");
    fs::copy(root.join("../Cargo.lock"), package.join("Cargo.lock")).expect("the workspace has a lock file");
    package
}

/// Checks that each file of these folders fails as the `.stderr` file beside it says, and compiles if there is none.
pub fn check(folders: &[&str]) {
    let package = package();
    let mut cases = 0;
    for folder in folders {
        let listed = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).expect("a folder with cases");
        let files = listed.map(|entry| entry.expect("a folder can be listed").path());
        for case in files.filter(|file| file.extension().is_some_and(|extension| extension == "rs")) {
            let kept = fs::read_to_string(case.with_extension("stderr")).ok();
            let (is_built, output) = build(&package, &case);
            assert_eq!(is_built, kept.is_none(), "{}: {output}", case.display());
            if let Some(kept) = kept {
                let kept = faults(&kept);
                assert!(!kept.is_empty(), "{}: no error is expected", case.display());
                assert_eq!(faults(&output), kept, "{}: {output}", case.display());
            }
            cases += 1;
        }
    }
    assert!(cases > 0, "no case was found");
}

#[test]
fn error_codes_are_parsed() {
    let output = "error[E0499]: twice\n  --> tests/compile_fail/cases/a.rs:12:9\n   |\nnote: here\n --> b.rs:1:1\n\n\
                  warning: w\n --> a.rs:3:1\n\nerror: lifetime\n --> src/main.rs:7:3\n\n\
                  error[E0080]: of a library\n --> /rust/core/panic.rs:9:5\n\n\
                  error: aborting due to 2 previous errors\n";
    assert_eq!(faults(output), [(String::new(), 7), ("E0080".to_owned(), 0), ("E0499".to_owned(), 12)]);
}
