//! Code that must not be left by a panic.

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
