//! Recordings of real runs, and the file that grows with them.

mod file;
#[allow(dead_code, reason = "the tests of recordings made by hand look at more of a trace")]
#[path = "../../../recording/tests/recording/format.rs"]
mod format;
mod host;
mod ring;
