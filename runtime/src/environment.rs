//! Variables of the environment, and what stands in for those that are not set.

use std::{
    collections::HashMap,
    ffi::OsString,
    sync::atomic::{AtomicPtr, Ordering},
};

/// Never freed. A lock would not do: a fork could find it taken.
static DEFAULTS: AtomicPtr<HashMap<String, OsString>> = AtomicPtr::new(std::ptr::null_mut());

/// What a variable of the environment is set to, or else the default that [`set_defaults`] gave it. One that is empty
/// is not set.
///
/// ```
/// assert_eq!(superscalar::environment::variable("NO_VARIABLE_OF_THIS_NAME"), None);
/// ```
#[must_use]
pub fn variable(name: &str) -> Option<OsString> {
    let set = std::env::var_os(name).filter(|value| !value.is_empty());
    set.or_else(|| {
        // SAFETY: what is there was put there by `set_defaults`, and is never freed or changed.
        let defaults = unsafe { DEFAULTS.load(Ordering::Acquire).as_ref() }?;
        defaults.get(name).filter(|value| !value.is_empty()).cloned()
    })
}

/// Gives variables values where the environment has none: those of a configuration file, for a library whose program
/// knows nothing of it. Returns false, and does nothing, if there were defaults before.
///
/// ```
/// use superscalar::environment::{set_defaults, variable};
/// assert!(set_defaults([("SUPERSCALAR_WINDOW".to_owned(), "64".into())]));
/// assert_eq!(variable("SUPERSCALAR_WINDOW"), Some("64".into()));
/// assert!(!set_defaults([]));
/// ```
pub fn set_defaults(values: impl IntoIterator<Item = (String, OsString)>) -> bool {
    let defaults = Box::into_raw(Box::new(values.into_iter().collect()));
    let before = DEFAULTS.compare_exchange(std::ptr::null_mut(), defaults, Ordering::AcqRel, Ordering::Acquire);
    if before.is_err() {
        // SAFETY: it was made above, and nobody else has seen it.
        drop(unsafe { Box::from_raw(defaults) });
    }
    before.is_ok()
}

/// A value of a variable that is the name of a file, in which `%p` is the process's number.
///
/// ```
/// use superscalar::environment::file_name;
/// assert_eq!(file_name("log.%p"), format!("log.{}", std::process::id()));
/// ```
#[must_use]
pub fn file_name(value: &str) -> String {
    value.replace("%p", &std::process::id().to_string())
}
