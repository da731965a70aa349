//! Recordings of runs: re-exports of the crate `superscalar-recording`, and the capture of `tracing` spans of the host.

mod host_events;
mod host_spans;

pub use host_spans::{HostSpans, HostSpansError};
pub use superscalar_recording::{
    Activity, ActivityKind, BlasLevel, ChromeTrace, ChromeWritten, Counter, CounterSample, Dot, GrowingTrace, Hazard,
    HazardRecord, HostCapture, HostEvent, Lane, LaneKind, NodeId, Outcome, PlanRecord, Prediction, Recording,
    RecordingError, Span, Stall, TaskId, TaskRecord, TileIndex,
};
