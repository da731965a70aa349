//! Access to the library that cargo built, and helpers for tests of it.

use libloading::{Library, Symbol};
use std::{
    env, fs,
    path::PathBuf,
    process::{Command, Output},
    sync::atomic::{AtomicU32, Ordering},
};

/// Returns the path of the library, which is beside this test program.
pub fn path() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this program");
    test.with_file_name("libsuperscalar_blas.so")
}

#[allow(dead_code, reason = "not every test calls it directly")]
pub fn library() -> Library {
    // SAFETY: the initialiser of the library only registers handlers, which has no preconditions.
    unsafe { Library::new(path()) }.expect("the library")
}

/// Returns a function of the library. `T` must be its type.
#[allow(dead_code, reason = "not every test uses it")]
pub fn symbol<'a, T>(library: &'a Library, name: &str) -> Symbol<'a, T> {
    // SAFETY: every caller in these tests passes the type of the routine with this name.
    unsafe { library.get(name) }.expect(name)
}

/// A temporary folder that is removed with its content on drop.
#[allow(dead_code, reason = "not every test needs one")]
pub struct Scratch(pub PathBuf);

#[allow(dead_code, reason = "not every test needs one")]
impl Scratch {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("superscalar-test-{}-{count}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for files of this test");
        Self(folder)
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that cannot be removed is in the system's folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs a command, and panics with its output if it fails.
#[allow(dead_code, reason = "not every test runs a program")]
pub fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = [&output.stdout[..], &output.stderr].concat();
    assert!(output.status.success(), "{command:?}: {}: {}", output.status, String::from_utf8_lossy(&text));
    output
}

/// Runs one test of this program in a child process with these variables and `DROP_IN_CHILD`, and returns its standard
/// error.
#[allow(dead_code, reason = "not every test needs a process")]
pub fn run_in_child(test: &str, variables: &[(&str, &str)]) -> String {
    run_process(&["--exact", test], variables)
}

/// Runs all tests of this program except `skipped` in a child process in which the runtime computes every call, with
/// tiles of size 5. Returns the log of the calls.
#[allow(dead_code, reason = "not every test needs a process")]
pub fn run_all_tiled(skipped: &str) -> String {
    let variables = [
        ("SUPERSCALAR_BLAS_THRESHOLD", "0"),
        ("SUPERSCALAR_BLAS_NB", "5"),
        ("SUPERSCALAR_BLAS_LOG", "stderr"),
        ("SUPERSCALAR_WORKERS", "2"),
    ];
    run_process(&["--skip", skipped], &variables)
}

fn run_process(arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(env::current_exe().expect("the path of this program"));
    command.args(arguments).arg("--nocapture").env("DROP_IN_CHILD", "1").envs(variables.iter().copied());
    String::from_utf8_lossy(&run(&mut command).stderr).into_owned()
}
