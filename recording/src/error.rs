//! The error of writing and reducing recordings.

use std::io;

use super::TaskId;

/// The error of writing a recording or reducing its graph.
///
/// The type is opaque, so that causes can be added; methods answer the questions that callers need.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct RecordingError(#[from] Repr);

/// The causes.
#[derive(Debug, thiserror::Error)]
pub(super) enum Repr {
    #[error("the hazards of task {0}, or of tasks before it, form a cycle, which is impossible in a serial program")]
    Cycle(TaskId),
    #[error(
        "the graph has {tasks} tasks; transitive reduction is limited to {limit}, because its memory grows \
         with the square of their number"
    )]
    TooManyTasks { tasks: usize, limit: usize },
    #[error("{what} is on lane {lane}, but the recording has {lanes} lanes")]
    UnknownLane { what: String, lane: u32, lanes: usize },
    #[error("{what} ends at {end_ns} ns, before its start at {start_ns} ns")]
    Backward { what: String, start_ns: u64, end_ns: u64 },
    #[error("the trace could not be written")]
    Io(#[source] io::Error),
}

impl RecordingError {
    /// Returns the I/O error, if writing failed.
    pub fn io(&self) -> Option<&io::Error> {
        match &self.0 {
            Repr::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for RecordingError {
    fn from(error: io::Error) -> Self {
        Self(Repr::Io(error))
    }
}
