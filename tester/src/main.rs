//! The tester.
fn main() {}
