//! One recorded run as plain data, and its output formats: traces for Chrome and Perfetto, graphs for GraphViz.
//!
//! The runtime's recorder fills a [`Recording`]; this crate only reads it. It depends neither on threads nor on the
//! runtime, so a recording can also be built by hand, by a simulator or by a test. Times are nanoseconds since the
//! start of the recording (its *epoch*).
//!
//! | module | contents |
//! |---|---|
//! | `model`, `task`, `activity`, `plan`, `host` | the data that the recorder writes |
//! | `chrome/` | writes a recording as a trace, at once or incrementally; uses `layout`, `arrows`, `json` |
//! | `dot` | writes the graph of tasks and hazards as text |
//!
//! Analyses are in `superscalar-traces`, which reads traces and shares the small types of this crate.

#![forbid(unsafe_code)]

mod activity;
mod arrows;
mod chrome;
mod dot;
mod error;
mod host;
mod json;
mod layout;
mod model;
mod named;
mod order;
mod plan;
mod task;

pub use activity::{Activity, ActivityKind, NodeId, Stall};
pub use chrome::{ChromeTrace, ChromeWritten, GrowingTrace};
pub use dot::Dot;
pub use error::RecordingError;
pub use host::{HostCapture, HostEvent};
pub use model::{Counter, CounterSample, Hazard, HazardRecord, Lane, LaneKind, Outcome, Recording, Span};
pub use plan::{PlanRecord, Prediction};
pub use superscalar_schedule::{BlasLevel, TaskId};
pub use task::{TaskRecord, TileIndex};
