//! What is said to whoever runs the program.

/// A line on standard error. That it can not be written is nobody's fault.
pub(crate) fn say(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}
