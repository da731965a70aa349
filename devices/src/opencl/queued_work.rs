//! [`QueuedWork`]: the commands of a task or a copy in a queue, from their insertion until the end is reported.

use super::{failure::abnormal_end, object::Event};
use ocl::ffi;
use std::{ffi::c_void, fmt, ptr::NonNull, sync::Arc};
use superscalar_runtime::DeviceError;

/// Checks bytes that a task has left in the heap.
pub(super) type OutcomeCheck = Box<dyn FnOnce(&[u8]) -> Result<(), DeviceError> + Send>;

/// The commands of a task or a copy.
#[derive(Default)]
pub(super) struct QueuedWork {
    /// The events of some commands, among them the last, which stands for all, as the queue is in order. If the work is
    /// timed, the first command has one, too.
    pub(super) events: Vec<Arc<Event>>,
    pub(super) is_timed: bool,
    /// Whether the host reads what a command has written to its memory.
    pub(super) is_read_by_host: bool,
    pub(super) checks: Vec<(ReadBack, OutcomeCheck)>,
    /// Why a part of it could not be put into the queue.
    pub(super) failed: Option<DeviceError>,
}

impl fmt::Debug for QueuedWork {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { events, checks, failed, .. } = self;
        write!(out, "QueuedWork {{ events: {}, checks: {}, failed: {failed:?} }}", events.len(), checks.len())
    }
}

/// The end of a task or a copy.
pub(super) struct WorkEnd {
    pub(super) busy_ns: Option<u64>,
    /// When the device ended it, by its own clock.
    pub(super) ended_ns: Option<u64>,
    pub(super) result: Result<(), DeviceError>,
}

impl QueuedWork {
    /// Returns whether all commands have ended. If the driver does not know the event any more, nothing more will
    /// happen.
    pub(super) fn is_over(&self) -> bool {
        self.events.last().is_none_or(|last| last.state().map_or(true, |state| state <= 0))
    }

    /// Returns how the work has ended. It must be over.
    pub(super) fn ended(self) -> WorkEnd {
        let times_ns = |event: Option<&Arc<Event>>| event.and_then(|event| event.times_ns());
        // These queries take the host some microseconds.
        let [first_ns, last_ns] =
            [self.events.first(), self.events.last()].map(|event| times_ns(event.filter(|_| self.is_timed)));
        let ended_ns = last_ns.map(|(_, end_ns)| end_ns);
        let busy_ns = first_ns.zip(ended_ns).and_then(|((start_ns, _), end_ns)| end_ns.checked_sub(start_ns));
        let result = self.driver_result();
        let Self { checks, failed, .. } = self;
        let result = checks.into_iter().fold(result.and(failed.map_or(Ok(()), Err)), |result, (read_back, judge)| {
            // SAFETY: the work is over, so the command that writes the bytes has ended.
            let bytes = unsafe { read_back.into_bytes() };
            result.and_then(|()| judge(&bytes))
        });
        WorkEnd { busy_ns, ended_ns, result }
    }

    fn driver_result(&self) -> Result<(), DeviceError> {
        for event in &self.events {
            let state = event.state()?;
            if state < 0 {
                return Err(abnormal_end(state));
            }
        }
        // Querying the state does not order accesses to the host's memory, but this call does. It returns immediately,
        // because the command has ended.
        let is_read = self.is_read_by_host || !self.checks.is_empty();
        let Some(last) = self.events.last().filter(|_| is_read) else { return Ok(()) };
        let raw = last.raw();
        // SAFETY: `self.events` owns a reference to the event, so the object is valid. The one address is that of
        // `raw`.
        super::failure::check(unsafe { ffi::clWaitForEvents(1, &raw const raw) }, "clWaitForEvents")
    }
}

/// Host memory that a command writes. Only [`into_bytes`](Self::into_bytes) frees it: if it is unknown whether the
/// command has ended, the memory is leaked.
pub(super) struct ReadBack(NonNull<[u8]>);

// SAFETY: it owns its memory, which only the driver accesses until the command has ended.
unsafe impl Send for ReadBack {}

impl ReadBack {
    pub(super) fn new(bytes: usize) -> Self {
        Self(NonNull::from(Box::leak(vec![0u8; bytes].into_boxed_slice())))
    }

    pub(super) fn place(&self) -> *mut c_void {
        self.0.as_ptr().cast()
    }

    /// Returns the bytes.
    ///
    /// # Safety
    /// The command that writes them has ended, or will not run.
    pub(super) unsafe fn into_bytes(self) -> Box<[u8]> {
        // SAFETY: made from a box in `new`, and taken once, since `self` is consumed.
        unsafe { Box::from_raw(self.0.as_ptr()) }
    }
}
