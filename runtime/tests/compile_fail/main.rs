//! Programs that must not compile, with the expected position of the error.
//!
//! The code and the line of each error are compared. With FULL=1 the whole message is compared, which takes longer. The
//! messages beside the cases are those of one compiler; `FULL=1 TRYBUILD=overwrite cargo test --test compile_fail`
//! rewrites them.

mod codes;

/// The compiler that produced the expected messages.
const COMPILER: &str = "rustc 1.95";

#[test]
fn mistakes_do_not_compile() {
    let version = std::process::Command::new("rustc").arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    if std::env::var("FULL").as_deref() != Ok("1") || !version.starts_with(COMPILER) {
        println!("comparing codes and lines; messages are compared with FULL=1 and {COMPILER}, this is {version}");
        codes::check(&["tests/compile_fail/cases", "tests/compile_fail/built"]);
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/compile_fail/cases/*.rs");
    // This error appears only when the generic code is instantiated, which takes a build. A passing case makes trybuild
    // build.
    let built = trybuild::TestCases::new();
    built.pass("tests/compile_fail/built/reduction_without_state.rs");
    built.compile_fail("tests/compile_fail/built/reduction_with_state.rs");
}
