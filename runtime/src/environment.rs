//! Environment variables, and defaults for those that are not set.

use std::{
    collections::HashMap,
    ffi::OsString,
    sync::atomic::{AtomicPtr, Ordering},
};

/// Never freed. This is not a lock, because a fork could inherit it in the locked state.
static DEFAULTS: AtomicPtr<HashMap<String, OsString>> = AtomicPtr::new(std::ptr::null_mut());

/// Returns the value of an environment variable, or the default that [`set_defaults`] gave it. An empty variable counts
/// as not set.
///
/// ```
/// # extern crate superscalar_runtime as superscalar;
/// assert_eq!(superscalar::environment::variable("NO_VARIABLE_OF_THIS_NAME"), None);
/// ```
#[must_use]
pub fn variable(name: &str) -> Option<OsString> {
    let set = std::env::var_os(name).filter(|value| !value.is_empty());
    set.or_else(|| {
        // SAFETY: the pointer is null or came from `set_defaults`; the map is never freed or changed.
        let defaults = unsafe { DEFAULTS.load(Ordering::Acquire).as_ref() }?;
        defaults.get(name).filter(|value| !value.is_empty()).cloned()
    })
}

/// Sets defaults for variables that the environment does not set. A library uses this to apply a configuration file
/// that its host program does not know. Returns false and does nothing if defaults were set before.
///
/// ```
/// # extern crate superscalar_runtime as superscalar;
/// use superscalar::environment::{set_defaults, variable};
/// assert!(set_defaults([("SUPERSCALAR_WINDOW".to_owned(), "64".into())]));
/// assert_eq!(variable("SUPERSCALAR_WINDOW"), Some("64".into()));
/// assert!(!set_defaults([]));
/// ```
pub fn set_defaults(values: impl IntoIterator<Item = (String, OsString)>) -> bool {
    let defaults = Box::into_raw(Box::new(values.into_iter().collect()));
    let before = DEFAULTS.compare_exchange(std::ptr::null_mut(), defaults, Ordering::AcqRel, Ordering::Acquire);
    if before.is_err() {
        // SAFETY: the box was made above, and the failed exchange did not publish the pointer.
        drop(unsafe { Box::from_raw(defaults) });
    }
    before.is_ok()
}

/// Replaces `%p` in a file name by the number of this process.
///
/// ```
/// # extern crate superscalar_runtime as superscalar;
/// use superscalar::environment::file_name;
/// assert_eq!(file_name("log.%p"), format!("log.{}", std::process::id()));
/// ```
#[must_use]
pub fn file_name(value: &str) -> String {
    value.replace("%p", &std::process::id().to_string())
}
