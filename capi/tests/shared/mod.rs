//! The library as cargo built it, and what tests of it need.

use libloading::{Library, Symbol};
use std::{
    env, fs,
    path::PathBuf,
    process::{Command, Output},
    sync::atomic::{AtomicU32, Ordering},
};

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

/// A folder that is removed with what is in it.
#[allow(dead_code, reason = "not every test needs one")]
pub struct Scratch(pub PathBuf);

#[allow(dead_code, reason = "as above")]
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
        // What is left is in the system's folder for such files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs it, and fails with what it wrote if it does.
#[allow(dead_code, reason = "not every test runs a program")]
pub fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = [&output.stdout[..], &output.stderr].concat();
    assert!(output.status.success(), "{command:?}: {}: {}", output.status, String::from_utf8_lossy(&text));
    output
}

/// Runs a test of this program again in a process of its own, with these variables and `DROP_IN_CHILD`, and returns what
/// it wrote to standard error.
#[allow(dead_code, reason = "not every test needs a process")]
pub fn again(test: &str, variables: &[(&str, &str)]) -> String {
    in_a_process(&["--exact", test], variables)
}

/// Runs all tests of this program again but the one of that name, with every call computed by the runtime, in tiles of 5.
/// Returns the log of the calls.
#[allow(dead_code, reason = "as above")]
pub fn all_in_tiles(but: &str) -> String {
    let variables = [
        ("SUPERSCALAR_BLAS_THRESHOLD", "0"),
        ("SUPERSCALAR_BLAS_NB", "5"),
        ("SUPERSCALAR_BLAS_LOG", "stderr"),
        ("SUPERSCALAR_WORKERS", "2"),
    ];
    in_a_process(&["--skip", but], &variables)
}

fn in_a_process(arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(env::current_exe().expect("a test has a program"));
    command.args(arguments).arg("--nocapture").env("DROP_IN_CHILD", "1").envs(variables.iter().copied());
    String::from_utf8_lossy(&run(&mut command).stderr).into_owned()
}
