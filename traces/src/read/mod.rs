//! A streaming reader of Chrome's trace event format: bounded memory, and a position for each fault.
//!
//! | module | contents |
//! |---|---|
//! | `window` | the part of the file that is in memory |
//! | `cursor`, `number`, `event` | JSON tokens, exact integers, one event |
//! | `walk` | the structure around the events, in both forms of the format |
//! | `assembly` | builds a run from events; with `names`, `lanes`, `arrows`, `counters`, `spans` |
//! | `nesting` | nested slices, and the slices that arrows point at |
//!
//! The text passes through a window of a few hundred kilobytes, or of the longest event. Beyond that, only the names
//! are kept, each once. Events are parsed in place: strings are borrowed, numbers become integers without a conversion
//! to `f64`, and a text that ends within an event is parsed again with more of it. The JSON syntax of the whole file is
//! checked, also in parts that are skipped.

mod arrows;
mod assembly;
mod counters;
pub(crate) mod cursor;
mod error;
pub(crate) mod event;
mod lanes;
mod names;
mod nesting;
pub(crate) mod number;
mod oddities;
mod spans;
pub(crate) mod walk;
mod window;

pub(crate) use error::Stop;
pub use error::{Position, ReadError};
pub use oddities::{Oddities, Oddity, OddityKind};

use crate::Trace;
use assembly::Assembly;
use error::Repr;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Limits of the reader, beyond which a file is refused.
///
/// ```
/// use superscalar_traces::read::ReadOptions;
///
/// let options = ReadOptions { names_max: 1, ..ReadOptions::default() };
/// let text = r#"[{"ph":"B","ts":1,"name":"a"},{"ph":"B","ts":2,"name":"b"}]"#;
/// let error = options.read(text.as_bytes()).unwrap_err();
/// assert_eq!(error.to_string(), "line 1, column 31 (byte 30): more different names than the limit of 1");
/// assert!(error.is_limit());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOptions {
    /// The maximum bytes of one event, and of one member of `otherData`. Default 16 MiB.
    pub event_bytes_max: usize,
    /// The maximum number of different names of one kind: of kernels, of sites, of counters, of everything else.
    /// Default 2^20.
    pub names_max: u32,
    /// The maximum total bytes of the names of one kind. Default 256 MiB.
    pub name_bytes_max: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { event_bytes_max: 16 << 20, names_max: 1 << 20, name_bytes_max: 256 << 20 }
    }
}

/// A run, and what its file contains beyond it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Reading {
    /// The run, as far as the file could be read.
    pub trace: Trace,
    /// The error that ended reading before the end of the file, if there was one.
    pub broken: Option<ReadError>,
    /// The contents of the file that the reader corrected or left out.
    pub oddities: Oddities,
}

impl ReadOptions {
    /// Reads a trace from `input`, which need not be buffered.
    ///
    /// # Errors
    /// The first fault: invalid JSON, a field of an event that violates `FORMAT.md`, an exceeded limit, or an error of
    /// `input`.
    pub fn read(&self, input: impl Read) -> Result<Reading, ReadError> {
        let reading = self.read_whole_events(input)?;
        match reading.broken {
            Some(error) => Err(error),
            None => Ok(reading),
        }
    }

    /// Reads as far as possible: all events before the first fault, for example in a file that was cut short by a
    /// crash.
    ///
    /// ```
    /// use superscalar_traces::read::ReadOptions;
    ///
    /// let text = r#"{"traceEvents":[{"ph":"X","cat":"task","name":"gemm","ts":1,"dur":2,"args":{"task":0}},{"ph":"#;
    /// let reading = ReadOptions::default().read_whole_events(text.as_bytes())?;
    /// assert_eq!(reading.trace.tasks.len(), 1);
    /// assert!(reading.broken.is_some_and(|error| error.is_cut_short()));
    /// # Ok::<(), superscalar_traces::read::ReadError>(())
    /// ```
    ///
    /// # Errors
    /// If reading from `input` fails.
    pub fn read_whole_events(&self, input: impl Read) -> Result<Reading, ReadError> {
        let mut assembly = Assembly::new(self);
        let broken = walk::walk(input, self.event_bytes_max, &mut assembly).err();
        match broken {
            Some(error) if matches!(error.repr, Repr::Read(_)) => Err(error),
            broken => {
                let (trace, oddities) = assembly.finish();
                Ok(Reading { trace, broken, oddities })
            }
        }
    }

    /// Like [`read`](Self::read), but opens a file.
    ///
    /// # Errors
    /// As there, and if the file cannot be opened; the error names it.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Reading, ReadError> {
        named(path.as_ref(), |file| self.read(file))
    }

    /// Like [`read_whole_events`](Self::read_whole_events), but opens a file.
    ///
    /// # Errors
    /// As there, and if the file cannot be opened; the error names it.
    pub fn open_whole_events(&self, path: impl AsRef<Path>) -> Result<Reading, ReadError> {
        named(path.as_ref(), |file| {
            let mut reading = self.read_whole_events(file)?;
            if let Some(error) = &mut reading.broken {
                error.file = Some(path.as_ref().display().to_string());
            }
            Ok(reading)
        })
    }
}

/// Opens a file and reads it. Errors contain its name.
pub(crate) fn named<T>(path: &Path, read: impl FnOnce(File) -> Result<T, ReadError>) -> Result<T, ReadError> {
    let opened = File::open(path).map_err(|error| ReadError { file: None, position: None, repr: Repr::Open(error) });
    opened.and_then(read).map_err(|error| ReadError { file: Some(path.display().to_string()), ..error })
}

impl Trace {
    /// Reads a complete run in Chrome's trace event format; `input` need not be buffered.
    ///
    /// Use [`ReadOptions`] to set limits, or to read a file that was cut short.
    ///
    /// ```
    /// use superscalar_traces::Trace;
    ///
    /// let text = r#"{"traceEvents":[
    ///     {"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"worker 0","kind":"worker"}},
    ///     {"ph":"X","cat":"task","name":"gemm","pid":1,"tid":2,"ts":50.125,"dur":2.5,"args":{"task":7}}]}"#;
    /// let trace = Trace::read(text.as_bytes())?;
    /// assert_eq!(trace.lanes[0].name, "worker 0");
    /// assert_eq!((trace.tasks[0].id, trace.tasks[0].start_ns, trace.tasks[0].end_ns), (7, 50_125, 52_625));
    /// # Ok::<(), superscalar_traces::read::ReadError>(())
    /// ```
    ///
    /// # Errors
    /// See [`ReadOptions::read`].
    pub fn read(input: impl Read) -> Result<Self, ReadError> {
        Ok(ReadOptions::default().read(input)?.trace)
    }

    /// Reads a run from a file.
    ///
    /// # Errors
    /// See [`ReadOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        Ok(ReadOptions::default().open(path)?.trace)
    }
}
