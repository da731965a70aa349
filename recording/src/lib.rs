//! One recorded run as plain data, and the texts that show it: traces for Chrome and Perfetto, graphs for GraphViz.
//!
//! The recorder of the runtime fills a [`Recording`]; everything here only reads one. It knows no thread, no
//! scheduler and no runtime, so a recording can as well be built by hand, by a simulator or by a test. Times are
//! nanoseconds since the start of the recording (its *epoch*).
//!
//! | module | what is in it |
//! |---|---|
//! | `model`, `task`, `activity`, `host` | the data, which the recorder writes |
//! | `chrome/` | a recording as a trace, in one piece or growing; `layout`, `arrows`, `json` help |
//! | `dot` | the graph of tasks and hazards as text |
//!
//! Analyses are the business of `superscalar-traces`, which reads traces and shares the small types here.

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
mod task;

pub use activity::{Activity, ActivityKind, NodeId, Stall};
pub use chrome::{ChromeTrace, ChromeWritten, GrowingTrace};
pub use dot::Dot;
pub use error::RecordingError;
pub use host::{HostCapture, HostEvent};
pub use model::{Counter, CounterSample, Hazard, HazardRecord, Lane, LaneKind, Outcome, Recording, Span};
pub use superscalar_schedule::{BlasLevel, TaskId};
pub use task::{TaskRecord, TileIndex};
