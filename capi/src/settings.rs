//! What the environment says, and a file. Devices, workers, traces and all else of the runtime have its own variables,
//! which the file may set, too.

use crate::messages::say;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::atomic::{AtomicPtr, Ordering},
};
use superscalar::environment::{file_name, set_defaults, variable};

/// The settings of this library.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    /// Up to so many multiplications a call is computed on the calling thread.
    pub(crate) threshold: u64,
    /// From so many bytes on, what touches each of them once is computed by several threads.
    pub(crate) stream_bytes: usize,
    /// The tiles' size, if it is not to be chosen.
    pub(crate) nb: Option<usize>,
    /// How many threads are asked for; none if nobody does.
    pub(crate) threads: Option<usize>,
    /// Whether devices are named.
    pub(crate) has_devices: bool,
    /// Where calls are summed up when the process ends, and where each is written down.
    pub(crate) statistics: Option<Sink>,
    pub(crate) log: Option<Sink>,
}

/// Where lines go.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sink {
    Stderr,
    File(PathBuf),
}

impl Sink {
    /// `stderr`, or a file, in whose name `%p` is the process's number.
    fn of(value: OsString) -> Self {
        match value.to_str() {
            Some("stderr") => Self::Stderr,
            Some(text) => Self::File(file_name(text).into()),
            None => Self::File(value.into()),
        }
    }

    /// Adds text to it, at once: lines of several threads stay whole.
    pub(crate) fn write(&self, text: &str) {
        use std::io::Write;
        let written = match self {
            Self::Stderr => std::io::stderr().write_all(text.as_bytes()),
            Self::File(path) => {
                let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
                file.and_then(|mut file| file.write_all(text.as_bytes()))
            }
        };
        if let (Err(error), Self::File(path)) = (written, self) {
            say(&format!("superscalar: {}: {error}", path.display()));
        }
    }
}

/// Below this a product takes less time than it takes to hand out parts of it: see `BlockSize` of `dla`.
const THRESHOLD: u64 = 160 * 160 * 160;
/// From so many bytes on, several threads get more from memory than one, with what it takes to wake them.
const STREAM_BYTES: usize = 4 << 20;

impl Settings {
    fn read() -> Self {
        if let Some(file) = file() {
            set_defaults(values(&file));
        }
        let threshold = number("SUPERSCALAR_BLAS_THRESHOLD").unwrap_or(THRESHOLD);
        Self {
            threshold,
            // Zero sends everything to the runtime.
            stream_bytes: if threshold == 0 { 0 } else { STREAM_BYTES },
            nb: number("SUPERSCALAR_BLAS_NB").filter(|&nb| nb > 0).map(|nb| nb as usize),
            // The runtime reads the first of these, too.
            threads: ["SUPERSCALAR_WORKERS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"]
                .into_iter()
                .find_map(|name| number(name).filter(|&threads| threads > 0))
                .map(|threads| threads as usize),
            has_devices: variable("SUPERSCALAR_DEVICES").is_some(),
            statistics: variable("SUPERSCALAR_BLAS_STATISTICS").map(Sink::of),
            log: variable("SUPERSCALAR_BLAS_LOG").map(Sink::of),
        }
    }
}

/// The file of settings: the one that is named, or else the user's, or else the system's, if there is one.
fn file() -> Option<PathBuf> {
    if let Some(named) = variable("SUPERSCALAR_CONFIG") {
        return Some(named.into());
    }
    let of_user = variable("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let of_user = of_user.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".config")));
    let folders = of_user.into_iter().chain([PathBuf::from("/etc")]);
    folders.map(|folder| folder.join("superscalar/blas.conf")).find(|path| path.is_file())
}

/// What a file says: a line for each variable, `NAME = value`; what follows `#` at a line's beginning is a comment.
/// What can not be read, and lines that are nothing of the kind, are said, and left out.
fn values(path: &Path) -> Vec<(String, OsString)> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            say(&format!("superscalar: {}: {error}; no settings are read from it", path.display()));
            return Vec::new();
        }
    };
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.trim().starts_with('#'));
    let value = |(number, line): (usize, &str)| {
        let pair = line.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
        let pair = pair.filter(|(name, _)| name.starts_with("SUPERSCALAR_") || name.ends_with("_NUM_THREADS"));
        if pair.is_none() {
            let line = line.trim();
            say(&format!("superscalar: {}:{number}: {line}: expected NAME = value; it is left out", path.display()));
        }
        pair.map(|(name, value)| (name.to_owned(), value.into()))
    };
    lines.filter_map(value).collect()
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
