//! What a program can ask a runtime: its settings, its progress, and what was recorded.
//!
//! What concerns devices and their rates is beside the code that knows it: `devices.rs`.

#![forbid(unsafe_code)]

use super::Runtime;
use crate::{recorder::Recorder, recording::Recording};

impl Runtime {
    /// How many workers there are.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.shared.workers as usize
    }

    /// The name of the scheduling policy.
    #[must_use]
    pub fn policy(&self) -> &'static str {
        self.shared.policy.name()
    }

    /// The start of the recording's clock, to merge other traces with it; none if the runtime was not built to trace.
    #[must_use]
    pub fn recording_epoch(&self) -> Option<std::time::Instant> {
        self.shared.recorder.as_ref().map(Recorder::epoch)
    }

    /// How many tasks are done in the scopes that are open now: a measure of progress, for another thread to look at.
    #[must_use]
    pub fn tasks_done(&self) -> u64 {
        self.shared.scopes.done()
    }

    /// What was recorded so far, if the runtime was built to [`trace`](crate::Builder::trace); the recording starts anew. The trace
    /// that goes to a [file](crate::Builder::trace_file) has it nevertheless.
    ///
    /// Call it outside of scopes: of tasks in flight only a part is known.
    #[must_use]
    pub fn take_recording(&self) -> Option<Recording> {
        self.shared.recorder.as_ref().map(Recorder::take)
    }

    /// What the runtime has said that is no error, though its user may expect otherwise: capability weights of earlier runs that
    /// measurements contradict; tasks that a device can not have, because their data do not fit there or lie
    /// where it can not copy them; a device that is lost.
    ///
    /// Each stands in the trace, too, and was said once: to the program's subscriber of `tracing`, or on standard error if it has none.
    /// If capability weights can not be kept when the runtime ends, that is said in the same places, though nobody is left to ask.
    ///
    /// ```
    /// let rt = superscalar::Runtime::builder().workers(1).build()?;
    /// assert!(rt.notices().is_empty());
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        self.shared.notices.texts()
    }
}
