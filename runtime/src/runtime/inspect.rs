//! Queries about a runtime: its settings, its progress, and its recording.
//!
//! Queries about devices and their rates are in `devices.rs`.

#![forbid(unsafe_code)]

use super::Runtime;
use crate::{recorder::Recorder, recording::Recording};
use std::fmt;

impl fmt::Debug for Runtime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runtime = out.debug_struct("Runtime");
        runtime.field("workers", &self.workers()).field("policy", &self.policy()).finish_non_exhaustive()
    }
}

impl Runtime {
    /// Returns the number of workers.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.shared.workers as usize
    }

    /// Returns the name of the scheduling policy.
    #[must_use]
    pub fn policy(&self) -> &'static str {
        self.shared.policy.name()
    }

    /// Returns the start of the recording's clock, for merging other traces with it, or `None` if the runtime does not
    /// record.
    #[must_use]
    pub fn recording_epoch(&self) -> Option<std::time::Instant> {
        self.shared.recorder.as_ref().map(Recorder::epoch)
    }

    /// Returns how many tasks are done in the currently open scopes. Another thread can use this to show progress.
    #[must_use]
    pub fn tasks_done(&self) -> u64 {
        self.shared.scopes.done()
    }

    /// Returns everything recorded since the start or the last call, if the runtime was built to
    /// [`trace`](crate::Builder::trace). A trace [file](crate::Builder::trace_file) still receives these records.
    ///
    /// Call this outside of scopes; of tasks in flight, only some records exist.
    #[must_use]
    pub fn take_recording(&self) -> Option<Recording> {
        self.shared.recorder.as_ref().map(Recorder::take)
    }

    /// Returns the notices so far: messages that are not errors, such as capability weights of earlier runs that
    /// measurements contradict, tasks that a device cannot run because their data do not fit or cannot be copied there,
    /// and lost devices.
    ///
    /// Each notice was also recorded in the trace and reported once: to the program's `tracing` subscriber, or on
    /// standard error if there is none. A failure to save the capability weights at the end of the runtime is reported
    /// there too.
    ///
    /// ```
    /// # extern crate superscalar_runtime as superscalar;
    /// let rt = superscalar::Runtime::builder().workers(1).build()?;
    /// assert!(rt.notices().is_empty());
    /// # Ok::<(), superscalar::Error>(())
    /// ```
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        self.shared.notices.texts()
    }
}
