//! Foreign code that may panic, and code that must not be left by a panic.

/// Runs user code, and makes a panic into its message.
#[inline]
pub(crate) fn caught<R>(code: impl FnOnce() -> R) -> Result<R, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(code)).map_err(message)
}

#[cold]
fn message(payload: Box<dyn std::any::Any + Send>) -> String {
    let text = match payload.downcast_ref::<&'static str>() {
        Some(text) => (*text).to_owned(),
        None => payload.downcast_ref::<String>().cloned().unwrap_or_else(|| "(no message)".to_owned()),
    };
    // A payload may panic when it is dropped; a second payload is left alone.
    if let Err(second) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
    text
}

/// Drops a user's value. It may panic when it is dropped, which is nobody's failure.
pub(crate) fn drop_guarded<T>(value: T) {
    let _ = caught(|| drop(value));
}

/// Calls `inside`. A panic in it ends the process: `why` says what could not go on.
///
/// A scope that is left before it has joined would give back what its tasks still use, and a task that is lost on the way is waited for
/// for ever. Bodies, and what they own, are caught where they run; so this is for what is foreign and is not a task's, and for faults of
/// the runtime.
#[inline]
pub(crate) fn one_way<R>(why: &'static str, inside: impl FnOnce() -> R) -> R {
    let end = End(why);
    let result = inside();
    std::mem::forget(end);
    result
}

struct End(&'static str);

impl Drop for End {
    #[cold]
    fn drop(&mut self) {
        use std::io::Write;
        // Not by the macro, which would panic where there is no standard error.
        let _ = writeln!(std::io::stderr(), "superscalar: {}; the process ends", self.0);
        std::process::abort();
    }
}
