//! The settings from the environment and from a file. The runtime reads its own variables (devices, workers, traces),
//! which the file may set too.

use crate::messages::warn;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::atomic::{AtomicPtr, Ordering},
};
use superscalar::environment::{file_name, set_defaults, variable};

/// The settings of this library.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    /// The most multiplications that a call computes on the calling thread.
    pub(crate) threshold: u64,
    /// The fewest bytes for which several threads compute an operation that touches each byte once.
    pub(crate) stream_bytes: usize,
    /// The tile size; `None` if the library chooses it.
    pub(crate) nb: Option<usize>,
    /// The number of threads; `None` if it is not set.
    pub(crate) threads: Option<usize>,
    /// Whether `SUPERSCALAR_DEVICES` is set.
    pub(crate) has_devices: bool,
    /// The output for the statistics, written when the process ends.
    pub(crate) statistics: Option<Sink>,
    /// The output for the log of calls.
    pub(crate) log: Option<Sink>,
}

/// An output for text: standard error or a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sink {
    Stderr,
    File(PathBuf),
}

impl Sink {
    /// Parses `stderr` or the name of a file, in which `%p` stands for the process id.
    fn of(value: OsString) -> Self {
        match value.to_str() {
            Some("stderr") => Self::Stderr,
            Some(text) => Self::File(file_name(text).into()),
            None => Self::File(value.into()),
        }
    }

    /// Appends text in one write, so that lines of several threads do not mix.
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
            warn(&format!("superscalar: {}: {error}", path.display()));
        }
    }
}

/// The default of [`Settings::threshold`]: spawning tasks for a smaller product takes longer than computing it.
const THRESHOLD: u64 = 160 * 160 * 160;
/// The default of [`Settings::stream_bytes`]: for less, waking other threads takes longer than it saves.
const STREAM_BYTES: usize = 4 << 20;

impl Settings {
    fn read() -> Self {
        if let Some(file) = file() {
            set_defaults(values(&file));
        }
        let threshold = number("SUPERSCALAR_BLAS_THRESHOLD").unwrap_or(THRESHOLD);
        Self {
            threshold,
            // With a threshold of 0, the runtime computes everything.
            stream_bytes: if threshold == 0 { 0 } else { STREAM_BYTES },
            nb: number("SUPERSCALAR_BLAS_NB").filter(|&nb| nb > 0).map(|nb| nb as usize),
            // The runtime reads the first of these too.
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

/// Returns the path of the settings file: that of `SUPERSCALAR_CONFIG`, else the user's or the system's if it exists.
fn file() -> Option<PathBuf> {
    if let Some(named) = variable("SUPERSCALAR_CONFIG") {
        return Some(named.into());
    }
    let of_user = variable("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let of_user = of_user.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".config")));
    let folders = of_user.into_iter().chain([PathBuf::from("/etc")]);
    folders.map(|folder| folder.join("superscalar/blas.conf")).find(|path| path.is_file())
}

/// Reads the variables of a settings file. Each line is `NAME = value`; a line that begins with `#` is a comment. An
/// unreadable file and invalid lines are reported and ignored.
fn values(path: &Path) -> Vec<(String, OsString)> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            warn(&format!("superscalar: {}: {error}; no settings are read from it", path.display()));
            return Vec::new();
        }
    };
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.trim().starts_with('#'));
    let value = |(number, line): (usize, &str)| {
        let pair = line.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
        let pair = pair.filter(|(name, _)| name.starts_with("SUPERSCALAR_") || name.ends_with("_NUM_THREADS"));
        if pair.is_none() {
            let line = line.trim();
            warn(&format!("superscalar: {}:{number}: {line}: expected NAME = value; it is ignored", path.display()));
        }
        pair.map(|(name, value)| (name.to_owned(), value.into()))
    };
    lines.filter_map(value).collect()
}

/// Reads a number from an environment variable. A value that is not a number is reported and ignored.
fn number(name: &str) -> Option<u64> {
    let text = variable(name)?;
    // OpenMP allows a list with one number for each level of nesting.
    let first = text.to_str().and_then(|text| text.split(',').next()).map(str::trim);
    let number = first.and_then(|first| first.parse().ok());
    if number.is_none() {
        warn(&format!("superscalar: {name}={}: expected a number; it is ignored", text.display()));
    }
    number
}

/// Returns the settings, which are read at the first call of a routine. A program may set variables before that.
///
/// No lock is used, since a fork could copy it in the locked state. If several threads come first at the same time,
/// each reads the environment, and the result of one of them is kept.
pub(crate) fn settings() -> &'static Settings {
    static SETTINGS: AtomicPtr<Settings> = AtomicPtr::new(std::ptr::null_mut());
    let known = SETTINGS.load(Ordering::Acquire);
    // SAFETY: the pointer is null or was stored below with `AcqRel`, and its value is never freed or changed.
    if let Some(known) = unsafe { known.as_ref() } {
        return known;
    }
    let read = Box::into_raw(Box::new(Settings::read()));
    match SETTINGS.compare_exchange(std::ptr::null_mut(), read, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: `SETTINGS` now owns the value, which is never freed or changed.
        Ok(_) => unsafe { &*read },
        // SAFETY: `read` comes from `Box::into_raw` and was not shared; `known` is owned by `SETTINGS` and never freed.
        Err(known) => unsafe {
            drop(Box::from_raw(read));
            &*known
        },
    }
}
