//! Recordings: what is written from them and what is computed from them.

mod chrome;
mod dag;
mod dot;
mod file;
mod format;
mod host;
mod ring;
mod samples;
mod speed;
mod viewer;
