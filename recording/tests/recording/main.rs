//! Recordings made by hand and by chance: what is written from them.

mod chrome;
mod dot;
mod format;
mod samples;
mod speed;
mod viewer;
