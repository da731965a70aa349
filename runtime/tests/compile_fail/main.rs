//! What must not compile, and that the compiler says so where the mistake is.
//!
//! The code and the line of each error are compared. With FULL=1 all of the message is, which takes longer: the messages beside the cases
//! are those of one compiler, and `FULL=1 TRYBUILD=overwrite cargo test --test compile_fail` writes them anew.

mod codes;

/// The compiler whose messages are kept.
const COMPILER: &str = "rustc 1.95";

#[test]
fn mistakes_do_not_compile() {
    let version = std::process::Command::new("rustc").arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    if std::env::var("FULL").as_deref() != Ok("1") || !version.starts_with(COMPILER) {
        println!("by codes and lines: messages are compared with FULL=1 and {COMPILER}, this is {version}");
        codes::check(&["tests/compile_fail/cases", "tests/compile_fail/built"]);
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/compile_fail/cases/*.rs");
    // This one fails when its generic code is made for a type, which takes a build; a case that passes makes it one.
    let built = trybuild::TestCases::new();
    built.pass("tests/compile_fail/built/reduction_without_state.rs");
    built.compile_fail("tests/compile_fail/built/reduction_with_state.rs");
}
