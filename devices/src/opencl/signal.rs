//! [`Signal`]: the issuer's sleep, which the driver's threads and other threads of the runtime end.

use super::object::Event;
use ocl::ffi::{self, cl_event, cl_int};
use std::{
    ffi::c_void,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Lets the issuer wait for a raise, including an earlier one.
#[derive(Debug, Default)]
pub(super) struct Signal {
    is_raised: Mutex<bool>,
    raised: Condvar,
}

impl Signal {
    pub(super) fn raise(&self) {
        *self.lock() = true;
        self.raised.notify_all();
    }

    /// Sleeps until there is an unconsumed raise, or for `at_most`.
    pub(super) fn wait(&self, at_most: Duration) {
        let asleep = self.raised.wait_timeout_while(self.lock(), at_most, |is_raised| !*is_raised);
        let (mut is_raised, _) = asleep.unwrap_or_else(PoisonError::into_inner);
        *is_raised = false;
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_raised.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Raises the signal when the event's command has ended, with or without an error. If the driver refuses, the
    /// issuer sleeps until its time-out.
    pub(super) fn raise_after(self: &Arc<Self>, event: &Event) {
        let data = Arc::into_raw(Arc::clone(self)).cast_mut().cast();
        // SAFETY: the event exists. `data` owns a reference, which passes to `command_ended`; that is called once.
        let code = unsafe { ffi::clSetEventCallback(event.raw(), ffi::CL_COMPLETE, Some(command_ended), data) };
        if code != ffi::CL_SUCCESS {
            // SAFETY: the driver has not taken `data`, so its reference still belongs to this function.
            drop(unsafe { Arc::from_raw(data.cast::<Signal>()) });
        }
    }
}

/// Called by the driver when the event's command has ended. This thread must not block or call OpenCL.
extern "C" fn command_ended(_: cl_event, _: cl_int, data: *mut c_void) {
    // SAFETY: `data` comes from `raise_after`, and the driver calls this once for it.
    let signal = unsafe { Arc::from_raw(data.cast::<Signal>()) };
    signal.raise();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn earlier_raise_ends_one_wait() {
        let signal = Signal::default();
        signal.raise();
        let begin = Instant::now();
        signal.wait(Duration::from_secs(60));
        assert!(begin.elapsed() < Duration::from_secs(30), "slept although it was raised");
        let begin = Instant::now();
        signal.wait(Duration::from_millis(20));
        assert!(begin.elapsed() >= Duration::from_millis(20), "woke of itself");
    }
}
