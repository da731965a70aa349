//! The driver's streams and events, each owned by a Rust value that destroys it.

use super::{
    context::Context,
    failure::{check, refused},
    library,
};
use cudarc::driver::sys::{self, CUevent, CUevent_flags, CUresult, CUstream, CUstream_flags};
use std::{ptr, sync::Arc};
use superscalar_runtime::DeviceError;

/// Which streams' blocks come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Urgency {
    /// Before all ordinary ones.
    Urgent,
    /// Before those of a lower rank.
    Ordinary(u16),
}

/// A stream that does not wait for the default one.
#[derive(Debug)]
pub(super) struct Stream {
    raw: CUstream,
    context: Arc<Context>,
    urgency: Urgency,
}

// SAFETY: a stream belongs to its context and to no thread.
unsafe impl Send for Stream {}
// SAFETY: as above; the driver's functions may be called on it by several threads.
unsafe impl Sync for Stream {}

impl Stream {
    /// A new one. Of two streams with kernels that wait for a free multiprocessor, the device takes the blocks of the more urgent one first;
    /// it tells a few ranks apart.
    pub(super) fn new(context: &Arc<Context>, urgency: Urgency) -> Result<Self, DeviceError> {
        context.make_current()?;
        let (mut raw, mut least, mut greatest) = (ptr::null_mut(), 0, 0);
        // SAFETY: the context is current.
        let code = unsafe { sys::cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest) };
        check(code, "cuCtxGetStreamPriorityRange")?;
        // Zero is what streams have that are not asked for another; the greatest are below it.
        let priority = match urgency {
            Urgency::Urgent => greatest,
            Urgency::Ordinary(rank) => (-i32::from(rank)).max(greatest + 1).min(0),
        };
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: as above.
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

    /// Whether everything in it has ended.
    pub(super) fn is_empty(&self) -> Result<bool, DeviceError> {
        self.context.make_current()?;
        // SAFETY: the stream is there.
        match unsafe { sys::cuStreamQuery(self.raw) } {
            CUresult::CUDA_SUCCESS => Ok(true),
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            code => Err(refused(code, "cuStreamQuery")),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.context.can_destroy() {
            // SAFETY: made for this value, and destroyed once; what is still in it goes on. A driver that refuses leaks it.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.raw) };
        }
    }
}

/// Makes what is put into the stream from now on wait until the event, as it was recorded last, has ended.
pub(super) fn wait_for(stream: CUstream, event: CUevent) -> Result<(), DeviceError> {
    // SAFETY: stream and event are there, as callers see to.
    check(unsafe { sys::cuStreamWaitEvent(stream, event, 0) }, "cuStreamWaitEvent")
}

/// Whether what the event was recorded behind has ended.
#[inline]
pub(super) fn is_over(event: CUevent) -> Result<bool, DeviceError> {
    // SAFETY: the event is there, as callers see to.
    match unsafe { sys::cuEventQuery(event) } {
        CUresult::CUDA_SUCCESS => Ok(true),
        CUresult::CUDA_ERROR_NOT_READY => Ok(false),
        code => Err(refused(code, "cuEventQuery")),
    }
}

/// What an event can do besides being waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    /// It knows when it ended.
    Timed,
}

/// An event of the driver's: a mark in a stream.
#[derive(Debug)]
pub(super) struct Mark {
    raw: CUevent,
    context: Arc<Context>,
}

// SAFETY: an event belongs to its context and to no thread.
unsafe impl Send for Mark {}
// SAFETY: as above; the driver's functions may be called on it by several threads.
unsafe impl Sync for Mark {}

impl Mark {
    pub(super) fn new(context: &Arc<Context>, kind: Kind) -> Result<Self, DeviceError> {
        let flags = match kind {
            Kind::Plain => CUevent_flags::CU_EVENT_DISABLE_TIMING as u32,
            Kind::Timed => CUevent_flags::CU_EVENT_DEFAULT as u32,
        };
        context.make_current()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the context is current.
        check(unsafe { sys::cuEventCreate(&raw mut raw, flags) }, "cuEventCreate")?;
        Ok(Self { raw, context: Arc::clone(context) })
    }

    #[inline]
    pub(super) fn raw(&self) -> CUevent {
        self.raw
    }

    /// Puts it behind everything that is in the stream.
    #[inline]
    pub(super) fn record(&self, stream: CUstream) -> Result<(), DeviceError> {
        // SAFETY: event and stream are there, and of one context.
        check(unsafe { sys::cuEventRecord(self.raw, stream) }, "cuEventRecord")
    }

    /// From another timed event to this one, if both have ended. Of times up to a tenth of a second it is exact to a few nanoseconds.
    pub(super) fn since_ns(&self, begin: &Self) -> Option<f64> {
        let elapsed_time = library::elapsed_time()?;
        let mut ms = 0.0f32;
        // SAFETY: both events are there.
        let code = unsafe { elapsed_time(&raw mut ms, begin.raw, self.raw) };
        (code == CUresult::CUDA_SUCCESS && ms >= 0.0).then_some(f64::from(ms) * 1e6)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        if self.context.can_destroy() {
            // SAFETY: made for this value, and destroyed once. A driver that refuses leaks it.
            let _ = unsafe { sys::cuEventDestroy_v2(self.raw) };
        }
    }
}
