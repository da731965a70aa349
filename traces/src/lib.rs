//! Reads, checks, analyses and draws the traces of runs.
//!
//! | module | contents |
//! |---|---|
//! | [`model`] | one run, as read from a file |
//! | [`read`](mod@read) | the reader of Chrome's trace event format |
//! | [`check`](mod@check) | consistency checks |
//! | [`merge`](mod@merge) | merges several files into one |
//! | [`analysis`] | where the time went, and what could be gained |
//! | [`report`] | the HTML page that shows a run |
//!
//! This crate works on trace files and does not depend on the runtime. It shares the types of lanes, hazards and
//! outcomes with the recorder (`superscalar-recording`).

#![forbid(unsafe_code)]

pub mod analysis;
pub mod check;
pub mod merge;
pub mod model;
pub mod read;
pub mod report;

mod graph;

pub use model::*;
pub use superscalar_recording::{Hazard, Lane, LaneKind, Outcome, TileIndex};
