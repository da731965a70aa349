//! Messages for the user of the program.

/// Writes a line to standard error. Errors of the write are ignored.
pub(crate) fn warn(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}
