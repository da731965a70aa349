//! What the environment says. Devices, workers, traces and all else of the runtime have its own variables.

use crate::guard::say;
use std::sync::atomic::{AtomicPtr, Ordering};
use superscalar::cache::variable;

/// The settings of this library.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    /// Up to so many multiplications a product is computed on the calling thread.
    pub(crate) threshold: u64,
    /// The tiles' size, if it is not to be chosen.
    pub(crate) nb: Option<usize>,
    /// How many threads the environment asks for; none if it does not.
    pub(crate) threads: Option<usize>,
    /// The devices that are named; empty if there are none.
    pub(crate) has_devices: bool,
}

/// Below this a product takes less time than it takes to hand out parts of it: see `BlockSize` of `dla`.
const THRESHOLD: u64 = 160 * 160 * 160;

impl Settings {
    fn read() -> Self {
        Self {
            threshold: number("SUPERSCALAR_BLAS_THRESHOLD").unwrap_or(THRESHOLD),
            nb: number("SUPERSCALAR_BLAS_NB").filter(|&nb| nb > 0).map(|nb| nb as usize),
            // The runtime reads the first of these, too.
            threads: ["SUPERSCALAR_WORKERS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"]
                .into_iter()
                .find_map(|name| number(name).filter(|&threads| threads > 0))
                .map(|threads| threads as usize),
            has_devices: variable("SUPERSCALAR_DEVICES").is_some(),
        }
    }
}

/// A number in the environment. What is none is said, and left out.
fn number(name: &str) -> Option<u64> {
    let text = variable(name)?;
    // Lists, one number for each level of nesting, are OpenMP's.
    let first = text.to_str().and_then(|text| text.split(',').next()).map(str::trim);
    let number = first.and_then(|first| first.parse().ok());
    if number.is_none() {
        say(&format!("superscalar: {name}={}: expected a number; it is left out", text.display()));
    }
    number
}

/// As they were when somebody first asked, which is when the first routine is called: a program may set variables before that.
///
/// Without a lock, which a fork could find taken: of threads that come first together, all read the environment, and one's result stays.
pub(crate) fn settings() -> &'static Settings {
    static SETTINGS: AtomicPtr<Settings> = AtomicPtr::new(std::ptr::null_mut());
    let known = SETTINGS.load(Ordering::Acquire);
    // SAFETY: what is there was put there below, and is never freed.
    if let Some(known) = unsafe { known.as_ref() } {
        return known;
    }
    let read = Box::into_raw(Box::new(Settings::read()));
    match SETTINGS.compare_exchange(std::ptr::null_mut(), read, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: it is not freed any more.
        Ok(_) => unsafe { &*read },
        // SAFETY: nobody else has seen `read`; the other one is never freed.
        Err(known) => unsafe {
            drop(Box::from_raw(read));
            &*known
        },
    }
}
