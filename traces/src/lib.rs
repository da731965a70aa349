//! Traces that explain a run: read, checked, analysed and drawn.
//!
//! | module | what is in it |
//! |---|---|
//! | [`model`] | a run, as it was read |
//! | [`read`](mod@read) | the reader of Chrome's trace event format |
//! | [`check`](mod@check) | whether a trace is consistent |
//! | [`merge`](mod@merge) | several files made one |
//! | [`analysis`] | where the time went, and what could be gained |
//! | [`report`] | the page that shows it |
//!
//! Knows nothing of the runtime: a trace is a file. The types of lanes, hazards and outcomes are those that the
//! recorder writes (`superscalar-recording`).

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
