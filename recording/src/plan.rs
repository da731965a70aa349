//! Predictions of planned operations.

use crate::NodeId;
use std::panic::Location;

/// What was predicted for an operation before it ran.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prediction {
    /// The operation's name.
    pub name: &'static str,
    /// How long it takes, in nanoseconds.
    pub time_ns: u64,
    /// The lengths of its tiles; empty if it has none.
    pub tile: Vec<u64>,
    /// The bytes over each link: source, target, bytes.
    pub traffic: Vec<(NodeId, NodeId, u64)>,
}

/// The record of a planned operation. A trace shows it as a slice that has the predicted length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanRecord {
    /// What was predicted.
    pub prediction: Prediction,
    /// The line of the program that inserted the operation's tasks.
    pub site: &'static Location<'static>,
    /// Index into [`Recording::lanes`](super::Recording::lanes).
    pub lane: u32,
    /// When the insertion of its tasks began, in nanoseconds since the recording's epoch.
    pub start_ns: u64,
    /// When the insertion of its tasks ended, in nanoseconds since the recording's epoch.
    pub inserted_ns: u64,
}

impl PlanRecord {
    /// Returns when the operation was predicted to end, in nanoseconds since the recording's epoch.
    #[must_use]
    pub fn predicted_end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.prediction.time_ns)
    }
}
