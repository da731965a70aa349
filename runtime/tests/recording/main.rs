//! Recordings of real runs, and the trace file that grows during a run.

mod file;
#[allow(dead_code, reason = "the tests of the crate `superscalar-recording` use all of it")]
#[path = "../../../recording/tests/recording/format.rs"]
mod format;
mod host;
mod plan;
mod ring;
