//! The driver's streams and events. The owning Rust value destroys them.

use super::{
    context::Context,
    failure::{call_error, check},
    library,
};
use cudarc::driver::sys::{self, CUevent, CUevent_flags, CUresult, CUstream, CUstream_flags};
use std::{ptr, sync::Arc};
use superscalar_runtime::DeviceError;

/// Whose blocks run first when streams compete for multiprocessors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Urgency {
    /// Before all ordinary streams.
    Urgent,
    /// Before streams of a lower rank.
    Ordinary(u16),
}

/// A stream that does not synchronize with the default stream.
#[derive(Debug)]
pub(super) struct Stream {
    raw: CUstream,
    context: Arc<Context>,
    urgency: Urgency,
}

// SAFETY: a stream belongs to its context and is not tied to a thread.
unsafe impl Send for Stream {}
// SAFETY: several threads may call the driver's functions on one stream at once.
unsafe impl Sync for Stream {}

impl Stream {
    /// Creates a stream. If kernels of two streams wait for a free multiprocessor, the device runs the blocks of the
    /// more urgent stream first. It distinguishes only a few ranks.
    pub(super) fn new(context: &Arc<Context>, urgency: Urgency) -> Result<Self, DeviceError> {
        context.make_current()?;
        let (mut raw, mut least, mut greatest) = (ptr::null_mut(), 0, 0);
        // SAFETY: the context is current, and the places for the results are valid.
        let code = unsafe { sys::cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest) };
        check(code, "cuCtxGetStreamPriorityRange")?;
        // Zero is the default priority; higher priorities are negative numbers.
        let priority = match urgency {
            Urgency::Urgent => greatest,
            Urgency::Ordinary(rank) => (-i32::from(rank)).max(greatest + 1).min(0),
        };
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: the context is current, and the place for the stream is valid.
        let code = unsafe { sys::cuStreamCreateWithPriority(&raw mut raw, flags, priority) };
        check(code, "cuStreamCreateWithPriority")?;
        Ok(Self { raw, context: Arc::clone(context), urgency })
    }

    pub(super) fn raw(&self) -> CUstream {
        self.raw
    }

    pub(super) fn urgency(&self) -> Urgency {
        self.urgency
    }

    /// Returns whether everything in the stream has ended.
    pub(super) fn is_empty(&self) -> Result<bool, DeviceError> {
        self.context.make_current()?;
        // SAFETY: this value owns the stream.
        match unsafe { sys::cuStreamQuery(self.raw) } {
            CUresult::CUDA_SUCCESS => Ok(true),
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            code => Err(call_error(code, "cuStreamQuery")),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.context.can_destroy() {
            // SAFETY: this value owns the stream and destroys it once. Work in it still completes. A driver that
            // refuses leaks it.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.raw) };
        }
    }
}

/// Makes work that is put into the stream from now on wait for the event's latest record.
pub(super) fn wait_for(stream: CUstream, event: CUevent) -> Result<(), DeviceError> {
    // SAFETY: the callers keep stream and event alive during the call.
    check(unsafe { sys::cuStreamWaitEvent(stream, event, 0) }, "cuStreamWaitEvent")
}

/// Returns whether everything before the event's latest record has ended.
#[inline]
pub(super) fn is_over(event: CUevent) -> Result<bool, DeviceError> {
    // SAFETY: the callers keep the event alive during the call.
    match unsafe { sys::cuEventQuery(event) } {
        CUresult::CUDA_SUCCESS => Ok(true),
        CUresult::CUDA_ERROR_NOT_READY => Ok(false),
        code => Err(call_error(code, "cuEventQuery")),
    }
}

/// Whether an event records the time at which it is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timing {
    Untimed,
    /// Records the time.
    Timed,
}

/// A driver's event: a mark in a stream.
#[derive(Debug)]
pub(super) struct Mark {
    raw: CUevent,
    context: Arc<Context>,
}

// SAFETY: an event belongs to its context and is not tied to a thread.
unsafe impl Send for Mark {}
// SAFETY: several threads may call the driver's functions on one event at once.
unsafe impl Sync for Mark {}

impl Mark {
    pub(super) fn new(context: &Arc<Context>, timing: Timing) -> Result<Self, DeviceError> {
        let flags = match timing {
            Timing::Untimed => CUevent_flags::CU_EVENT_DISABLE_TIMING as u32,
            Timing::Timed => CUevent_flags::CU_EVENT_DEFAULT as u32,
        };
        context.make_current()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the context is current, and the place for the event is valid.
        check(unsafe { sys::cuEventCreate(&raw mut raw, flags) }, "cuEventCreate")?;
        Ok(Self { raw, context: Arc::clone(context) })
    }

    #[inline]
    pub(super) fn raw(&self) -> CUevent {
        self.raw
    }

    /// Records the mark behind everything that is in the stream.
    #[inline]
    pub(super) fn record(&self, stream: CUstream) -> Result<(), DeviceError> {
        // SAFETY: this value owns the event, the caller keeps the stream alive, and both belong to one context.
        check(unsafe { sys::cuEventRecord(self.raw, stream) }, "cuEventRecord")
    }

    /// Returns the time from another timed mark to this one, if both are reached. Up to 0.1 s it is exact to a few
    /// nanoseconds.
    pub(super) fn since_ns(&self, begin: &Self) -> Option<f64> {
        let elapsed_time = library::elapsed_time()?;
        let mut ms = 0.0f32;
        // SAFETY: both values own their events.
        let code = unsafe { elapsed_time(&raw mut ms, begin.raw, self.raw) };
        (code == CUresult::CUDA_SUCCESS && ms >= 0.0).then_some(f64::from(ms) * 1e6)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        if self.context.can_destroy() {
            // SAFETY: this value owns the event and destroys it once. A driver that refuses leaks it.
            let _ = unsafe { sys::cuEventDestroy_v2(self.raw) };
        }
    }
}
