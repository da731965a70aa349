//! Recordings: what is written from them and what is computed from them.

mod chrome;
mod dag;
mod dot;
mod format;
mod host;
mod samples;
mod speed;
mod viewer;
