//! Catching panics of foreign code, and aborting where unwinding would be unsound.

/// Runs user code, and turns a panic into its message.
#[inline]
pub(crate) fn catch_panic<R>(code: impl FnOnce() -> R) -> Result<R, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(code)).map_err(message)
}

#[cold]
fn message(payload: Box<dyn std::any::Any + Send>) -> String {
    let text = match payload.downcast_ref::<&'static str>() {
        Some(text) => (*text).to_owned(),
        None => payload.downcast_ref::<String>().cloned().unwrap_or_else(|| "(no message)".to_owned()),
    };
    // A payload may panic when it is dropped. The payload of that second panic is leaked.
    if let Err(second) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
    text
}

/// Drops a user's value. A panic in its destructor is ignored.
pub(crate) fn drop_guarded<T>(value: T) {
    let _ = catch_panic(|| drop(value));
}

/// Calls `inside`, and ends the process if it panics; `why` is the message.
///
/// Unwinding out of a scope before its tasks have ended would release data that they still use, and a task that is lost
/// by unwinding would be waited for forever. Bodies and their captures are caught where they run. So this guards other
/// foreign code, such as policies, and bugs of the runtime itself.
#[inline]
pub(crate) fn abort_on_panic<R>(why: &'static str, inside: impl FnOnce() -> R) -> R {
    let end = AbortOnDrop(why);
    let result = inside();
    std::mem::forget(end);
    result
}

struct AbortOnDrop(&'static str);

impl Drop for AbortOnDrop {
    #[cold]
    fn drop(&mut self) {
        use std::io::Write;
        // Not `eprintln!`, which panics if there is no standard error.
        let _ = writeln!(std::io::stderr(), "superscalar: {}; the process is aborted", self.0);
        std::process::abort();
    }
}
