//! Tests of the output of hand-made and random recordings.

mod chrome;
mod dot;
mod format;
mod samples;
mod speed;
mod viewer;
