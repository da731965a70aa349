//! [`Work`]: what a task or a copy has in a queue, from when it is put there until its end is reported.

use super::{failure::abnormal, object::Event};
use ocl::ffi;
use std::{ffi::c_void, fmt, ptr::NonNull, sync::Arc};
use superscalar_runtime::DeviceError;

/// Looks at bytes that a task has left in the heap.
pub(super) type Judge = Box<dyn FnOnce(&[u8]) -> Result<(), DeviceError> + Send>;

/// The commands of a task or a copy.
#[derive(Default)]
pub(super) struct Work {
    /// One for each command; the last stands for all, as the queue is in order.
    pub(super) events: Vec<Arc<Event>>,
    pub(super) judges: Vec<(Landing, Judge)>,
    /// Why not all of it could be put into the queue.
    pub(super) failed: Option<DeviceError>,
}

impl fmt::Debug for Work {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { events, judges, failed } = self;
        write!(out, "Work {{ events: {}, judges: {}, failed: {failed:?} }}", events.len(), judges.len())
    }
}

/// How work has ended.
pub(super) struct Ended {
    pub(super) busy_ns: Option<u64>,
    /// When the device ended it, by its own clock.
    pub(super) ended_ns: Option<u64>,
    pub(super) result: Result<(), DeviceError>,
}

impl Work {
    /// Whether all of it is over. A driver that does not know the event any more will do nothing about it, either.
    pub(super) fn is_over(&self) -> bool {
        self.events.last().is_none_or(|last| last.state().map_or(true, |state| state <= 0))
    }

    /// How it has ended, once it is over.
    pub(super) fn ended(self) -> Ended {
        let (mut busy_ns, mut ended_ns) = (Some(0u64), None);
        for event in &self.events {
            let times_ns = event.times_ns();
            let took_ns = times_ns.and_then(|(start_ns, end_ns)| end_ns.checked_sub(start_ns));
            busy_ns = busy_ns.zip(took_ns).map(|(sum_ns, took_ns)| sum_ns + took_ns);
            ended_ns = times_ns.map(|(_, end_ns)| end_ns);
        }
        let result = self.driver_result();
        let Self { judges, failed, .. } = self;
        let result = judges.into_iter().fold(result.and(failed.map_or(Ok(()), Err)), |result, (landing, judge)| {
            // SAFETY: the command that writes it is over.
            let bytes = unsafe { landing.landed() };
            result.and_then(|()| judge(&bytes))
        });
        Ended { busy_ns, ended_ns, result }
    }

    fn driver_result(&self) -> Result<(), DeviceError> {
        for event in &self.events {
            let state = event.state()?;
            if state < 0 {
                return Err(abnormal(state));
            }
        }
        // A state that was asked for orders no memory; this does. It does not sleep, as the command is over.
        let Some(last) = self.events.last() else { return Ok(()) };
        let raw = last.raw();
        // SAFETY: the event is there.
        super::failure::check(unsafe { ffi::clWaitForEvents(1, &raw const raw) }, "clWaitForEvents")
    }
}

/// A place in host memory that a command writes. It is given back by [`landed`](Self::landed) alone: if nobody knows whether the command has
/// ended, it is better lost.
pub(super) struct Landing(NonNull<[u8]>);

// SAFETY: it is memory of its own, which only the driver touches until it has landed.
unsafe impl Send for Landing {}

impl Landing {
    pub(super) fn new(bytes: usize) -> Self {
        Self(NonNull::from(Box::leak(vec![0u8; bytes].into_boxed_slice())))
    }

    pub(super) fn place(&self) -> *mut c_void {
        self.0.as_ptr().cast()
    }

    /// The bytes.
    ///
    /// # Safety
    /// The command that writes them has ended, or does not run.
    pub(super) unsafe fn landed(self) -> Box<[u8]> {
        // SAFETY: made from a box, and taken once, as `self` is.
        unsafe { Box::from_raw(self.0.as_ptr()) }
    }
}
