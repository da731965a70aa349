//! What a program can ask a runtime: its settings, its progress, what was recorded, and what its devices' memories hold.
//!
//! What concerns devices and their rates is beside the code that knows it: `device/queries.rs`, `weights/mod.rs`.

#![forbid(unsafe_code)]

use crate::{
    memory::{MemoryInUse, Traffic},
    recorder::Recorder,
    recording::Recording,
    runtime::Runtime,
};

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

    /// What was copied between memory nodes so far: per link, direction and reason, as BLASX's Table V has it.
    #[must_use]
    pub fn traffic(&self) -> Vec<Traffic> {
        self.shared.memory.traffic(&self.shared.devices)
    }

    /// What the memories of the devices hold at the moment. Between scopes, and without handles and
    /// [resident](crate::Resident) values, nothing.
    #[must_use]
    pub fn memory_in_use(&self) -> Vec<MemoryInUse> {
        self.shared.memory.in_use(&self.shared.devices)
    }

    /// What was recorded so far, if the runtime was built to [`trace`](crate::Builder::trace); the recording starts anew. The trace
    /// that goes to a [file](crate::Builder::trace_file) has it nevertheless.
    ///
    /// Call it outside of scopes: of tasks in flight only a part is known.
    #[must_use]
    pub fn take_recording(&self) -> Option<Recording> {
        self.shared.recorder.as_ref().map(Recorder::take)
    }
}
