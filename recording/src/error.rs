//! What can go wrong when a recording is read.

use std::io;

use super::TaskId;

/// Why a recording could not be written or its graph reduced.
///
/// Opaque, so that reasons can be added; the questions that a caller acts on are methods.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct RecordingError(#[from] Kind);

/// The reasons. Each message says what was found, and where there is one, what to do.
#[derive(Debug, thiserror::Error)]
pub(super) enum Kind {
    #[error("the hazards of task {0}, or of tasks before it, form a cycle: the recording is of no serial program")]
    Cycle(TaskId),
    #[error(
        "transitive reduction of {tasks} tasks; it is limited to {limit}, since its memory grows \
         with their square"
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
    /// The error of the output, where writing failed.
    pub fn io(&self) -> Option<&io::Error> {
        match &self.0 {
            Kind::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for RecordingError {
    fn from(error: io::Error) -> Self {
        Self(Kind::Io(error))
    }
}
